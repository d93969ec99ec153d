"""One store for the equal files of sandboxed servers' packages: each is a hard link to a file of the store.

What is written to a linked file through one server's path is there for all others. So a file is linked only

- if nothing that a package runs can write it any more: its installation ran in a sandbox that no process can leave, all its processes
  have ended, and neither the server nor a later installation may write it. A server that runs outside of its sandbox, or may write all
  files, gets files of its own before (`separate`). Where a system cannot do or show all this (macOS, Windows), nothing is linked.
- if it came out of an archive of the package manager. A file that a script made could hold something private, and a package could contain
  guesses of it: the number of links would show the right one. Installations get no keys, and small files are not linked either.

What a server still learns is that another one has a package in common: the number of links shows it, and file events show that it is used.
No sandbox hides as much of any other file (its existence, size and dates), and the system's Python and Node.js are shared in any case.

Nothing is half-linked at any moment: a file is replaced by a rename, by one with the same content and mode. The store is in a folder that
no sandbox contains. Blocks on the disk.
"""

import hashlib
import os
import shutil
import stat
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.regular_file import open_regular

SMALLEST_BYTES = 4096  # a smaller file takes one block of the disk, and there are many


class SharedFiles:
    """The store of one home. A file in it is named for its content and its mode. Safe for threads."""

    def __init__(self, folder: Path) -> None:
        """
        Args:
            folder: on the disk of the servers' packages; it may be missing.
        """
        self._folder = folder
        self._new = folder / "new"  # takes the place of a file; not in a folder of a package, which may have changed it into a link
        self._lock = threading.Lock()

    def share(self, files: Iterable[str]) -> None:
        """Replaces files by links to equal ones in the store, and adds the others to it. A file that cannot be linked stays as it is."""
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
        for file in files:
            with suppress(OSError):
                self._share(file)

    def separate(self, folder: Path) -> None:
        """Replaces each file of a folder that has several links by a copy.

        Raises:
            OSError: one cannot be copied: the disk is full, ...
        """
        for file in (os.path.join(top, name) for top, _, names in os.walk(folder) for name in names):
            status = os.lstat(file)
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                with self._lock:
                    self._folder.mkdir(mode=0o700, exist_ok=True)
                    self._new.unlink(missing_ok=True)
                    shutil.copy2(file, self._new)
                    os.replace(self._new, file)

    def delete_unused(self) -> None:
        """Deletes the files that no server has any more."""
        with self._lock, suppress(OSError):
            self._new.unlink(missing_ok=True)
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.stat(follow_symlinks=False).st_nlink == 1:
                        os.unlink(entry)

    def _share(self, file: str) -> None:
        status = os.lstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size < SMALLEST_BYTES or _has_compiled(file):
            return
        stored = self._folder / (name := _name(file))
        with self._lock:  # for each file: installations that end together wait for a moment only
            if stored.exists() and _name(stored) == name:
                self._new.unlink(missing_ok=True)
                os.link(stored, self._new)
                os.replace(self._new, file)
            else:
                stored.unlink(missing_ok=True)  # damaged, as after a power cut
                os.link(file, stored)


def _name(file: str | Path) -> str:
    with open(file, "rb", opener=open_regular) as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return f"{digest}-{stat.S_IMODE(os.fstat(opened.fileno()).st_mode):o}"


def _has_compiled(file: str) -> bool:
    """Reports whether Python's compiled form of a file may exist. It is only for the file's own date, and a link has another."""
    return file.endswith(".py") and os.path.isdir(os.path.join(os.path.dirname(file), "__pycache__"))
