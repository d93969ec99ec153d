"""Opens an address or a file with the user's program for it, outside of the hub's job: a browser does not end with Tooltray.

The shell would start the program as a child of this process, in its job.
"""

import subprocess
import sys

from tooltray.foundation.platform.win32.jobs import CREATE_BREAKAWAY_FROM_JOB

assert sys.platform == "win32"

OPENER = ("rundll32.exe", "url.dll,FileProtocolHandler")  # takes files and folders, too


def open_outside(address: str) -> bool:
    """Opens it; returns whether Windows accepted that, which does not prove that a program for it exists."""
    try:
        subprocess.Popen([*OPENER, address], creationflags=CREATE_BREAKAWAY_FROM_JOB, close_fds=True)
    except OSError:  # no job, or one that no process may leave
        return False
    return True
