"""The folder of a confined server: subfolders that it may always write, and its installed packages. Blocks on the disk.

A server may write `tmp`, `cache` and `work`, never the folder above them: otherwise it could replace one by a link, and the next start
would allow it the link's target. Only installations write `packages`, and they get no data of the server.
"""

import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from tooltray.foundation.home.home import file_stem


class StateFolder(msgspec.Struct, frozen=True):
    """The folder of one server.

    Attributes:
        root: absolute.
    """

    root: Path

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def work(self) -> Path:
        """Returns where the server runs unless its entry names another place."""
        return self.root / "work"

    @property
    def packages(self) -> Path:
        return self.root / "packages"

    @property
    def written(self) -> tuple[str, ...]:
        """Returns the folders that the server itself may write."""
        return tuple(map(str, (self.tmp, self.cache, self.work)))

    def prepare(self) -> None:
        """Creates missing folders, each 0700.

        Raises:
            OSError: one cannot be created.
        """
        for folder in (self.root.parent, self.root, self.tmp, self.cache, self.work, self.packages):
            folder.mkdir(mode=0o700, exist_ok=True)


def state_folder(confined: Path, server: str) -> StateFolder:
    """Returns the folder of a server.

    Args:
        confined: the folder of all confined servers.
    """
    return StateFolder(confined / file_stem(server))


def forget(confined: Path, server: str) -> None:
    """Deletes the folder of a server that was removed."""
    with suppress(OSError):
        shutil.rmtree(state_folder(confined, server).root)
