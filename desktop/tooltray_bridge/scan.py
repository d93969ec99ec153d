"""Finds a message's members wherever they are, for the few lines whose ends do not show its id, and the messages of a batch. A line is read
string by string, so the cost is proportional to its number of strings. For an invalid line it returns whatever could be read."""

from itertools import pairwise

QUOTE = b'"'
BACKSLASH = 0x5C
COLON = 0x3A
OPENING, CLOSING, MARKS = b"{[", b"}]", b"{[}],:"


def end_of_string(line: bytes, at: int) -> int:
    """Returns the index behind the string that begins with the quote at `at`; -1 if the string has no end."""
    end = at
    while True:
        end = line.find(QUOTE, end + 1)
        if end < 0:
            return -1
        before = end - 1
        while line[before] == BACKSLASH:
            before -= 1
        if (end - before) % 2:  # an even number of backslashes: each pair is one in the text, none belongs to the quote
            return end + 1


def marks(line: bytes) -> list[tuple[int, int]]:
    """Returns where the outermost object or array begins and ends, the commas and colons between its parts, and which mark it is."""
    found: list[tuple[int, int]] = []
    depth = at = 0
    while True:
        quote = line.find(QUOTE, at)
        between = line[at:quote] if quote >= 0 else line[at:]
        closing = between.count(b"}") + between.count(b"]")
        if closing < depth - 1:  # deep inside a value, and staying there
            depth += between.count(b"{") + between.count(b"[") - closing
        else:
            for offset, mark in enumerate(between, at):
                depth += mark in OPENING
                if depth == 1 and mark in MARKS:
                    found.append((offset, mark))
                depth -= mark in CLOSING
        if quote < 0:
            return found
        at = end_of_string(line, quote)
        if at < 0:
            return found


def members(line: bytes) -> dict[bytes, tuple[int, int]]:
    """Returns where the values of an object's members start and end, by name. The last of two with one name counts, as in JSON parsers."""
    found: dict[bytes, tuple[int, int]] = {}
    name = b""
    at, value_at = -1, -1  # the index behind the last mark; the start of the value that is being read, -1 in front of a name
    for offset, mark in marks(line):
        if mark == COLON and value_at < 0:
            name, value_at = line[at:offset].strip()[1:-1], offset + 1
        elif value_at >= 0 and mark != COLON:
            found[name] = value_at, offset
            value_at = -1
        at = offset + 1
    return found


def elements(line: bytes) -> list[bytes]:
    """Returns the elements of an array, as they are written."""
    ends = [offset for offset, mark in marks(line) if mark != COLON]
    return [line[start + 1 : end].strip() for start, end in pairwise(ends)]


def value_of(line: bytes, span: tuple[int, int] | None) -> bytes:
    """Returns the value in a span, as it is written; empty without a span."""
    return line[span[0] : span[1]].strip() if span else b""
