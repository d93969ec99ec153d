"""A report of `tooltray_watch`, read as it grows: what a server did while it was watched.

Above it: the proposal, and Watches. Below it: the file. A line that is still being written is read the next time; one that is none is left
out.
"""

import json
import os
from collections.abc import Iterator, Set
from typing import get_args

from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.watch import SeenKind

KINDS = frozenset(get_args(SeenKind))
MOST_READ_BYTES = 64 << 20  # twice of what the tracer writes; a program that writes into its own report is not believed for ever
LONGEST_LINE_BYTES = 64 << 10  # a path of 4,096 characters, each escaped


class Watched:
    """
    Attributes:
        things: names by kind.
        addresses: of each name that was looked up, those that it was answered with.
        count: how many different things there are.
    """

    def __init__(self, path: str) -> None:
        self._path, self._offset = path, 0
        self.things: dict[str, set[str]] = {}
        self.addresses: dict[str, set[str]] = {}
        self.count = 0

    def __getitem__(self, kind: str) -> Set[str]:
        return self.things.get(kind, frozenset())

    def read(self) -> bool:
        """Reads what has come since; returns whether something has. Blocks."""
        before = self.count
        for line in self._new_lines():
            self._take(line)
        return self.count > before

    def _new_lines(self) -> Iterator[bytes]:
        try:
            with open(self._path, "rb", opener=open_regular) as file:
                file.seek(self._offset)
                data = file.read(max(0, MOST_READ_BYTES - self._offset))
        except OSError:
            return
        whole, newline, rest = data.rpartition(b"\n")
        if len(rest) > LONGEST_LINE_BYTES:
            self._offset = MOST_READ_BYTES  # not ours; nothing of what follows can be told apart
        self._offset += len(whole) + len(newline)
        yield from whole.split(b"\n")

    def _take(self, line: bytes) -> None:
        try:
            fact = json.loads(line)  # and not msgspec: a name that is no UTF-8 has lone surrogates
            kind, name = fact["kind"], fact["name"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if kind not in KINDS or not isinstance(name, str):
            return
        names = self.things.setdefault(kind, set())
        if name not in names:
            names.add(name)
            self.count += 1
        if kind == "name":
            found = fact.get("addresses")
            addresses = found if isinstance(found, list) else ()
            self.addresses.setdefault(name, set()).update(each for each in addresses if isinstance(each, str))


def printable(path: str) -> str:
    """A path as it can be shown: what is no UTF-8, or would break a line, as escapes."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in os.fsencode(path).decode(errors="replace")
    )


def is_text(path: str) -> bool:
    """Whether a path can stand in the settings: it is UTF-8, and no control character is in it."""
    return path.isprintable()
