"""Where in `settings.json` that stands which cannot be used: the line, in the words that all files with servers have.

Above it: settings_file. Below it: json_places, usable. Pure; reads the text only if there is something to look for.
"""

from collections.abc import Iterable
from functools import cached_property

from tooltray.errors import Problem
from tooltray.files.json_places import CannotRead, Lines, Value, read
from tooltray.phrases import Phrase
from tooltray.settings.usable import Path, Slip, printable
from tooltray.snapshots.files import FileProblem

MAX_VALUES = 100_000  # reading so many takes a second; in a longer file nobody is told a line


class SettingsPlaces:
    """
    Args:
        content: of the file, JSON.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content

    def located(self, slips: Iterable[Slip]) -> tuple[FileProblem, ...]:
        """What is wrong with its parts."""
        return tuple(_located(slip, self._line_of(slip.path)) for slip in slips)

    def repeated(self, key: str) -> str:
        """What there is to say of a key that stands twice in one object."""
        at = next((at for found, at in self._root.repeated() if found == key), None) if self._root else None
        return _with_line(self._line(at), Phrase("'{name}' stands here a second time; the last one counts", name=printable(key)))

    @cached_property
    def _text(self) -> str:
        return self._content.decode("utf-8-sig")

    @cached_property
    def _root(self) -> Value | None:
        try:
            return read(self._text, most_values=MAX_VALUES)
        except CannotRead:
            return None

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    def _line_of(self, path: Path) -> int:
        """Of the part itself, or of what it is missing in."""
        value, at = self._root, None
        for step in path:
            if value and step in value.members:
                at, value = value.members[str(step)]
            elif value and isinstance(step, int) and step < len(value.items):
                value = value.items[step]
                at = value.start
            else:
                break
        return self._line(at)

    def _line(self, at: int | None) -> int:
        """0: nobody knows."""
        return 0 if at is None else self._lines.place(at)[0]


def _located(slip: Slip, line: int) -> FileProblem:
    problem = slip.problem
    return FileProblem(Problem(problem.title, _with_line(line, problem.message), problem.hint), line, slip.entry)


def _with_line(line: int, reason: str) -> str:
    return Phrase("line {line}: {reason}", line=line, reason=reason) if line else reason
