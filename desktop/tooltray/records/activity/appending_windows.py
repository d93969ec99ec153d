"""Opens a file that several processes append to. appending_posix has the same name.

Python's O_APPEND is of no use here: the C library looks for the end and writes in two steps. A handle that may append but not write makes
Windows do both in one ("File Access Rights Constants", FILE_APPEND_DATA).
"""

import _winapi
import msvcrt
import os
import sys
from pathlib import Path

assert sys.platform == "win32"

APPEND_DATA = 0x0004  # FILE_APPEND_DATA
SHARED = 0x0007  # FILE_SHARE_READ, _WRITE and _DELETE: others may append too, and remove old files
OPEN_ALWAYS, NORMAL = 4, 0x80  # FILE_ATTRIBUTE_NORMAL


def open_to_append(path: Path) -> int:
    """Opens a file for reading and for appending; creates it if it does not exist, with the access list of its folder.

    Returns:
        a descriptor. Each write goes to the end in one step, also between the writes of other processes.

    Raises:
        OSError: it cannot be opened.
    """
    handle = _winapi.CreateFile(str(path), _winapi.GENERIC_READ | APPEND_DATA, SHARED, 0, OPEN_ALWAYS, NORMAL, 0)
    return msvcrt.open_osfhandle(handle, os.O_BINARY)
