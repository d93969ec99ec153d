"""The folders of a person that a manifest may name: home, desktop, documents, downloads.

Above it: bundle_start. Below it: the disk: on Linux the desktop's own file says where they are, for their names are in
the person's language.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

MAX_BYTES = 64 * 1024  # of a file with eight lines
_FOLDERS = {"DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOADS": "Downloads"}
_XDG = {"DESKTOP": "DESKTOP", "DOCUMENTS": "DOCUMENTS", "DOWNLOADS": "DOWNLOAD"}


def system_folders(home: Path, config: Path | None = None) -> Mapping[str, str]:
    """Where they are, by the names that manifests use; looks at the disk.

    Args:
        config: the folder with `user-dirs.dirs`; None: `.config` of the person, where the system is one that has it.
    """
    text = _read((config or home / ".config") / "user-dirs.dirs") if config or sys.platform == "linux" else ""
    folders = {"HOME": str(home)}
    for name, usual in _FOLDERS.items():
        found = re.search(rf'^XDG_{_XDG[name]}_DIR="([^"\n]*)"', text, re.MULTILINE)
        path = found[1].replace("$HOME", str(home), 1) if found else ""
        folders[name] = path if os.path.isabs(path) else str(home / usual)
    return folders


def _read(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
