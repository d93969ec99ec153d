"""Reads a report of `tooltray_watch` as it grows: what a server did while it was watched. A line that is still being written is read the
next time; an invalid one is left out."""

import json
import os
from collections.abc import Iterator, Set
from typing import get_args

from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.watch import SeenKind

KINDS = frozenset(get_args(SeenKind))
MOST_READ_BYTES = 64 << 20  # twice of what the tracer writes; a program that writes into its own report is ignored from then on
LONGEST_LINE_BYTES = 64 << 10  # a path of 4,096 characters, each escaped


class Watched:
    """What a server did.

    Attributes:
        things: names by kind.
        addresses: of each name that was looked up, the addresses in the answers.
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
        """Reads what has been added since the last call; reports whether something new was found. Blocks."""
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
            self._offset = MOST_READ_BYTES  # not written by the tracer; what follows cannot be separated into lines
        self._offset += len(whole) + len(newline)
        yield from whole.split(b"\n")

    def _take(self, line: bytes) -> None:
        try:
            fact = json.loads(line)  # and not msgspec: a name that is not UTF-8 has lone surrogates
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
    """Returns a path as it can be shown: what is not UTF-8, or would break a line, as escapes."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in os.fsencode(path).decode(errors="replace")
    )


def is_text(path: str) -> bool:
    """Reports whether a path can be written into the settings: it is UTF-8, without control characters."""
    return path.isprintable()
