"""Opens a file that several processes append to.

Above it: log_files, which uses this or appending_windows (the same name). Below it: the disk.
"""

import os
from pathlib import Path

from tooltray.foundation.regular_file import open_regular


def open_to_append(path: Path) -> int:
    """Opens a file for reading, and for writing at its end alone; makes it if it is not there, for this user alone.

    Returns:
        a descriptor. Each write goes to the end in one step, also between the writes of other processes.

    Raises:
        OSError: it cannot be opened.
    """
    return open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
