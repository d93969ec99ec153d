"""A process and all that it starts, ended together, on every platform.

Above it: whoever starts a program that starts others. Below it: process_family_posix and process_family_windows.
"""

import sys

if sys.platform == "win32":
    from tooltray.servers.launch.process_family_windows import INSTANCE_VARIABLE, START_OPTIONS, ProcessFamily, command_line, new_mark
else:
    from tooltray.servers.launch.process_family_posix import INSTANCE_VARIABLE, START_OPTIONS, ProcessFamily, command_line, new_mark

__all__ = ["INSTANCE_VARIABLE", "START_OPTIONS", "ProcessFamily", "command_line", "new_mark"]
