"""Opens an address or a file with the person's program for it, outside of the hub's job: a browser does not end with Tooltray.

Above it: the window. Below it: jobs. The shell would start the program as a child of this process, in its job.
"""

import subprocess
import sys

from tooltray.foundation.platform.win32.jobs import CREATE_BREAKAWAY_FROM_JOB

assert sys.platform == "win32"

OPENER = ("rundll32.exe", "url.dll,FileProtocolHandler")  # takes files and folders, too


def open_outside(address: str) -> bool:
    """Returns whether Windows took it; says nothing of whether there is a program for it."""
    try:
        subprocess.Popen([*OPENER, address], creationflags=CREATE_BREAKAWAY_FROM_JOB, close_fds=True)
    except OSError:  # no job, or one that lets nobody leave
        return False
    return True
