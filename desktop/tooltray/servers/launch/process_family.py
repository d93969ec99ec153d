"""Chooses the platform's ProcessFamily: a process and all that it starts, ended together."""

import sys

if sys.platform == "win32":
    from tooltray.servers.launch.process_family_windows import INSTANCE_VARIABLE, START_OPTIONS, ProcessFamily, command_line, new_mark
else:
    from tooltray.servers.launch.process_family_posix import INSTANCE_VARIABLE, START_OPTIONS, ProcessFamily, command_line, new_mark

__all__ = ["INSTANCE_VARIABLE", "START_OPTIONS", "ProcessFamily", "command_line", "new_mark"]
