"""A file with servers while it is read: positions of its entries, and the problems found in it.

A problem quotes no value: it may be an API key.
"""

import json
import re
from collections.abc import Callable, Mapping

from tooltray.config.settings.file_server import FileEntry
from tooltray.config.settings.given_entries import read_given_entry
from tooltray.config.settings.json_model import printable
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.json_places import Lines, Value
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import FileProblem

MAX_NAME_LENGTH = 200  # of a server in such a file; Tooltray gives it a name that fits
MAX_ENTRIES = 1000  # in one file; real ones have less than a tenth
MAX_ENTRY_CHARACTERS = 100_000  # of one server; an environment is smaller, and the user who approves an entry has to read it
MAX_PLACEHOLDERS = 200  # in one server; the search for the end of each takes time in proportion to the entry
MAX_REMARKS = 20  # of one file; once these are corrected, the next ones are shown
_SHOWN_CHARACTERS = 64

Convert = Callable[["RawEntry"], FileEntry]
"""Translates an entry of one format into ours; raises CannotUse or TooltrayError for an unusable one."""


class CannotUse(Exception):
    """A part of a file that cannot be used.

    Attributes:
        reason: for the user.
        at: index of the character where it is; None: at the entry.
    """

    def __init__(self, reason: str, at: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


class ConfigSource:
    """Collects the problems of one file while it is read.

    Attributes:
        path: the file.
        problems: in the order in which they were found.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.problems: list[FileProblem] = []
        self._lines = Lines(text)
        self._remarks = 0

    def line(self, at: int) -> int:
        return self._lines.place(at)[0]

    def place_in_words(self, at: int) -> str:
        line, column = self._lines.place(at)
        return Phrase("line {line}, column {column}", line=line, column=column)

    def refuse(self, name: str, reason: str, at: int) -> None:
        """Adds the problem of an entry that is not used."""
        title = Phrase("The server '{server}' of {file} is not used", server=shown(name), file=_file_name(self.path))
        self.problems.append(self._problem(title, reason, at, name if _can_be_read(name) else shown(name) or "?"))

    def remark(self, reason: str, at: int | None) -> None:
        """Adds a problem that keeps no server from being used: part of the file has no effect. `at`: None: the whole file."""
        self._remarks += 1
        if self._remarks <= MAX_REMARKS:
            title = Phrase("{file} is not fully used", file=_file_name(self.path))
            self.problems.append(self._problem(title, reason, at or 0, ""))

    def remark_repeated(self, value: Value) -> None:
        """Adds a remark for each key that occurs twice in one object."""
        for key, at in value.repeated():
            self.remark(Phrase("'{name}' occurs twice; the last one counts", name=shown(key)), at)

    def entries(self, holder: Value, convert: Convert) -> tuple[FileEntry, ...]:
        """Reads an object's members as servers; an unusable one is refused and does not affect the others."""
        found: list[FileEntry] = []
        for count, (name, (at, value)) in enumerate(holder.members.items()):
            if count == MAX_ENTRIES:
                self.remark(Phrase("only the first {number} servers are used", number=MAX_ENTRIES), at)
                break
            try:
                found.append(self._entry(name, at, value, convert))
            except CannotUse as reason:
                self.refuse(name, reason.reason, at if reason.at is None else reason.at)
            except TooltrayError as error:
                self.refuse(name, printable(error.problem.message), at)
        return tuple(found)

    def _entry(self, name: str, at: int, value: Value, convert: Convert) -> FileEntry:
        if not _can_be_read(name):
            raise CannotUse(Phrase("a server's name has 1 to {number} visible characters", number=MAX_NAME_LENGTH))
        if not isinstance(value.content, dict):
            raise CannotUse(Phrase("its entry must be an object"), value.start)
        written = json.dumps(value.content, ensure_ascii=False)
        if len(written) > MAX_ENTRY_CHARACTERS:
            raise CannotUse(Phrase("its entry has more than {number} characters", number=MAX_ENTRY_CHARACTERS))
        if written.count("${") > MAX_PLACEHOLDERS:
            raise CannotUse(Phrase("its entry has more than {number} placeholders", number=MAX_PLACEHOLDERS))
        return convert(RawEntry(self, name, at, value, value.content))

    def _problem(self, title: str, reason: str, at: int, entry: str) -> FileProblem:
        line = self.line(at)
        message = Phrase("line {line}: {reason}", line=line, reason=reason)
        return FileProblem(Problem(title, message, Phrase("Correct it in {file}", file=printable(self.path))), line, entry)


class RawEntry:
    """One entry as it is in the file, with its position.

    Attributes:
        at: index of the character where its name begins.
        written: its fields.
    """

    def __init__(self, source: ConfigSource, name: str, at: int, value: Value, written: Mapping[str, object]) -> None:
        self.source, self.name, self.at, self.value, self.written = source, name, at, value, written

    @property
    def line(self) -> int:
        return self.source.line(self.at)

    def place_of(self, key: str) -> int:
        """Returns the index of one of its fields; that of the entry if it lacks the field."""
        return self.value.members[key][0] if key in self.value.members else self.at

    def checked(self, entry: Mapping[str, object]) -> MCPServerConfig:
        """Validates an entry.

        Args:
            entry: with the fields of our settings.

        Raises:
            TooltrayError: it cannot be used.
        """
        return read_given_entry(self.name, entry)


def shown(name: str) -> str:
    """Returns an untrusted name as it may be displayed: cut to 64 characters and made visible."""
    cut = name if len(name) <= _SHOWN_CHARACTERS else name[: _SHOWN_CHARACTERS - 1] + "…"
    return printable(cut)


def _can_be_read(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME_LENGTH and name.isprintable() and name == name.strip()


def _file_name(path: str) -> str:
    return shown(re.split(r"[/\\]", path)[-1])
