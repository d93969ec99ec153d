"""A JSON file of the home with the user's decisions, or what waits for them: the store of grants, skills, proposals, tokens and trust.

A file that cannot be read counts as an empty one, so that nothing is allowed by it.
"""

import json
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import all_set_aside, read_own, set_aside, write_atomically
from tooltray.foundation.moments import LAST_TIME_S
from tooltray.foundation.phrases import Phrase

T = TypeVar("T", bound=msgspec.Struct)
UnixTime = Annotated[float, msgspec.Meta(ge=0, lt=LAST_TIME_S)]
Hex = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]+\Z")]
"""Types of members in such files. Tooltray writes no other times and texts, so a file with others cannot be read."""
NOTHING_CHANGED = Phrase("No changes.")


class KeptFile(Generic[T]):
    """The file of one home. The constructor and `write` block on the disk; one write at a time.

    Attributes:
        content: the content as last read or written.
        problem: why the file could not be read; a damaged one is set aside first.
    """

    def __init__(self, path: Path, kind: type[T], *, most_bytes: int, unread: str, remedy: str, unsaved: str) -> None:
        """
        Args:
            kind: of the content; it can be made without arguments.
            most_bytes: a larger file was not written by Tooltray.
            unread: title of the problem of a file that cannot be read.
            remedy: what the user can do if a damaged file was set aside.
            unsaved: title of the error of a failed write.
        """
        self._path, self._unsaved = path, unsaved
        self.content: T = kind()
        self.problem: Problem | None = None
        self._is_unread = False  # the file exists, but its content is unknown
        try:
            self.content = msgspec.convert(json.loads(read_own(path, most_bytes)), type=kind)
        except FileNotFoundError:
            pass
        except (ValueError, RecursionError):
            aside = set_aside(path)
            self._is_unread = aside == path
            self.problem = Problem(unread, Phrase("what was in {file} is now in {other}", file=path.name, other=aside), remedy)
        except OSError as error:
            self._is_unread = True
            self.problem = Problem(unread, f"{path}: {error.strerror or error}", "Make it readable, and start Tooltray again.")

    @property
    def lost(self) -> tuple[str, ...]:
        """Paths of files whose content is unknown: this one if it cannot be read, and those that were set aside."""
        return (*([str(self._path)] if self._is_unread else []), *map(str, all_set_aside(self._path)))

    def write(self, content: T) -> None:
        """Replaces the content. A file that could not be read is set aside first, so that a later start can still read it.

        Raises:
            TooltrayError: the file cannot be written; nothing has changed.
        """
        if self._is_unread:
            self._is_unread = set_aside(self._path) == self._path
        try:
            write_atomically(self._path, json.dumps(msgspec.to_builtins(content), indent=2).encode())  # half characters are allowed
        except OSError as error:
            message = Phrase("{place}: {reason}", place=self._path, reason=error.strerror or str(error))
            raise TooltrayError(self._unsaved, message, NOTHING_CHANGED) from None
        self.content = content
