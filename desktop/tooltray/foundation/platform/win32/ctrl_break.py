"""Sends Ctrl+Break to a process group, from its own process: `python -m tooltray.foundation.platform.win32.ctrl_break PID`.

A process can have one console, and the signal reaches only processes that share it. So a hub, with or without a console, cannot send it to
a server with a hidden console of its own.
"""

import ctypes
import sys

CTRL_BREAK_EVENT = 1


def main() -> int:
    """Returns 0; 1: the process has ended, or has no console."""
    assert sys.platform == "win32"
    kernel = ctypes.WinDLL("kernel32")
    pid = int(sys.argv[1])
    kernel.FreeConsole()
    sent = kernel.AttachConsole(pid) and kernel.GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, pid)
    return 0 if sent else 1


if __name__ == "__main__":
    sys.exit(main())
