"""Folders of earlier versions, which the installer for Windows leaves: programs may still run from them.

The installer (packaging/windows/tooltray.nsi) gives each version a folder, and puts a file into all others that names the version in use.
A bridge in a marked folder starts the hub of that version (tooltray_bridge/start.py).
"""

import shutil
from pathlib import Path

SUPERSEDED = "superseded.txt"
"""The mark: its text is the name of the folder beside it whose version is in use."""


def remove_old_versions(own: Path) -> bool:
    """Removes the marked folders beside this version's own from which no process runs. Blocks on the disk.

    Args:
        own: the folder of the running version; nothing is removed if it is marked itself.

    Returns:
        Whether a marked folder is left.
    """
    if (own / SUPERSEDED).exists():
        return False
    left = [mark for mark in own.parent.glob(f"*/{SUPERSEDED}") if not _remove(mark.parent)]
    return bool(left)


def _remove(folder: Path) -> bool:
    programs = list(folder.glob("*.exe"))
    try:
        for program in programs:
            program.open("r+b").close()  # the system refuses it while the program runs
        for program in programs:
            program.unlink()
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != SUPERSEDED:
                path.unlink()
        (folder / SUPERSEDED).unlink()  # last: what is left after a failure is found the next time
        folder.rmdir()
    except OSError:
        return False
    return True
