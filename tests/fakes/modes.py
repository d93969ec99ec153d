"""The permissions of files, as tests ask for them."""

import os
import stat
from pathlib import Path


def has_mode(path: Path, mode: int) -> bool:
    """Whether a file or folder has these permissions and no others. On Windows always: there the home's access list keeps others out."""
    return os.name == "nt" or stat.S_IMODE(path.stat().st_mode) == mode
