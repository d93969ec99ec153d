"""To what of projects' own files a person said yes, kept over restarts: `trust.json` in the home.

Above it: the presenter's Trust. Below it: atomic_file. Of each entry there is the digest of the content that the person saw, and how its
server is called here; never the content, which may hold keys.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from tooltray.errors import Problem, TooltrayError
from tooltray.files.atomic_file import all_set_aside, read_own, set_aside, write_atomically
from tooltray.phrases import Phrase

LARGEST_BYTES = 32 * 2**20  # some hundred thousand entries
LAST_TIME_S = 1e11  # the year 5138


class KeptEntry(msgspec.Struct, rename="camel", frozen=True):
    """
    Attributes:
        server: how it is called here, from when it was first seen.
        digest: of the content that a person said yes to; empty: to none.
        trusted_at: unix seconds.
        is_own: Tooltray itself wrote that content.
    """

    server: str
    digest: str = ""
    trusted_at: float = 0.0
    is_own: bool = False

    def __post_init__(self) -> None:
        """A time that no clock shows was not written by us."""
        if not 0 <= self.trusted_at < LAST_TIME_S:
            raise ValueError("a time is out of range")


Kept = dict[str, dict[str, KeptEntry]]
"""By the project's folder and the entry's name in its file."""


class _File(msgspec.Struct):
    version: Literal[1] = 1
    projects: Kept = {}


class TrustStore:
    """That of one home. `write` blocks on the disk; one at a time.

    A file that cannot be read trusts nothing: it is set aside, and `problem` says so.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.kept: Kept = {}
        self.problem: Problem | None = None
        self._is_unreadable = False
        try:
            self.kept = msgspec.convert(json.loads(read_own(path, LARGEST_BYTES)), type=_File).projects
        except FileNotFoundError:
            pass
        except (ValueError, RecursionError):
            self._set_aside()
        except OSError as error:
            self._is_unreadable = True
            self.problem = _unusable(f"{path}: {error.strerror or error}", "Make it readable, and start Tooltray again.")

    @property
    def lost(self) -> tuple[str, ...]:
        """The paths of files that name projects which are not known here: this one if it may not be read, and those that were set aside."""
        return (*([str(self._path)] if self._is_unreadable else []), *map(str, all_set_aside(self._path)))

    def write(self, kept: Mapping[str, Mapping[str, KeptEntry]]) -> None:
        """Replaces all of it.

        Raises:
            TooltrayError: the file cannot be written; what was trusted before stays as it was.
        """
        file = {"version": 1, "projects": {folder: dict(entries) for folder, entries in kept.items() if entries}}
        try:
            write_atomically(self._path, json.dumps(msgspec.to_builtins(file), indent=2).encode())
        except OSError as error:
            message = Phrase("{place}: {reason}", place=self._path, reason=error.strerror or str(error))
            raise TooltrayError(Phrase("what is trusted cannot be saved"), message, Phrase("Nothing has changed.")) from None

    def _set_aside(self) -> None:
        aside = set_aside(self._path)
        self._is_unreadable = aside == self._path
        self.problem = _unusable(
            Phrase("what was in {file} is now in {other}", file=self._path.name, other=aside),
            Phrase("Trust the servers of your projects again."),
        )


def _unusable(message: str, hint: str) -> Problem:
    return Problem(Phrase("what you trusted of projects' own files cannot be read, so none of it counts"), message, hint)
