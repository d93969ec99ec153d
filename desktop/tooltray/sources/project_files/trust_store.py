"""Stores the consents to entries of projects' own files over restarts: `trust.json` in the home.

Above it: Trust. Below it: atomic_file. Of each entry it has the digest of the content that the person saw and the server's name in the hub,
never the content, which may contain keys.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import all_set_aside, read_own, set_aside, write_atomically
from tooltray.foundation.phrases import Phrase

LARGEST_BYTES = 32 * 2**20  # some hundred thousand entries
LAST_TIME_S = 1e11  # the year 5138


class KeptEntry(msgspec.Struct, rename="camel", frozen=True):
    """
    Attributes:
        server: the server's name in the hub, assigned when the entry was first seen.
        digest: digest of the content to which a person consented; empty for none.
        trusted_at: time of the consent in unix seconds.
        is_own: whether Tooltray itself wrote the content.
        files: digests of the project's files that it starts, as they were then, by their paths; None: they are taken at the next start
            (of a consent of an older version, and of what Tooltray has written).
    """

    server: str
    digest: str = ""
    trusted_at: float = 0.0
    is_own: bool = False
    files: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        """Rejects times out of range, which were not written by us."""
        if not 0 <= self.trusted_at < LAST_TIME_S:
            raise ValueError("a time is out of range")


Kept = dict[str, dict[str, KeptEntry]]
"""By the project's folder and the entry's name in its file."""


class _File(msgspec.Struct):
    version: Literal[1] = 1
    projects: Kept = {}


class TrustStore:
    """The store of one home. `write` blocks on the disk and must not run concurrently.

    If the file cannot be read, nothing is trusted: it is set aside, and `problem` reports it.
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
        """Paths of files whose projects are unknown: the store's file if it cannot be read, and files that were set aside."""
        return (*([str(self._path)] if self._is_unreadable else []), *map(str, all_set_aside(self._path)))

    def write(self, kept: Mapping[str, Mapping[str, KeptEntry]]) -> None:
        """Replaces all consents.

        Raises:
            TooltrayError: the file cannot be written; the earlier consents stay.
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
