"""Opens a file that several processes append to. appending_windows has the same name."""

import os
from pathlib import Path

from tooltray.foundation.regular_file import open_regular


def open_to_append(path: Path) -> int:
    """Opens a file for reading and for appending; creates it if it does not exist, only for this user.

    Returns:
        a descriptor. Each write goes to the end in one step, also between the writes of other processes.

    Raises:
        OSError: it cannot be opened.
    """
    return open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
