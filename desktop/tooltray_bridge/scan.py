"""Finds a message's members wherever they are, for the few lines whose ends do not show its id.

Above it: tracker, which comes here only when its cheap look has failed. A line is read string by string, so the cost is that of its
number of strings. Of a line that is no JSON it tells whatever it could make out.
"""

QUOTE = b'"'
BACKSLASH = 0x5C
OPENING, CLOSING, COMMA, COLON = b"{[", b"}]", 0x2C, 0x3A


def end_of_string(line: bytes, at: int) -> int:
    """Where the string ends whose first quote is at `at`: behind its last quote, or -1 if it has none."""
    end = at
    while True:
        end = line.find(QUOTE, end + 1)
        if end < 0:
            return -1
        before = end - 1
        while line[before] == BACKSLASH:
            before -= 1
        if (end - before) % 2:  # an even number of backslashes: each pair is one of the text, none belongs to the quote
            return end + 1


def members(line: bytes) -> dict[bytes, tuple[int, int]]:
    """Where the values of an object's members start and end, by name. Of two with one name the last counts, as for JSON readers."""
    found: dict[bytes, tuple[int, int]] = {}
    name = b""
    depth = at = 0
    value_at = -1  # where the value starts that is being read; -1 in front of a name
    while True:
        quote = line.find(QUOTE, at)
        between = line[at:quote] if quote >= 0 else line[at:]
        closing = between.count(b"}") + between.count(b"]")
        if closing < depth - 1:  # deep inside a value, and staying there
            depth += between.count(b"{") + between.count(b"[") - closing
        else:
            for offset, mark in enumerate(between, at):
                if depth == 1 and value_at >= 0 and (mark == COMMA or mark in CLOSING):
                    found[name] = value_at, offset
                    value_at = -1
                elif depth == 1 and mark == COLON:
                    value_at = offset + 1
                depth += (mark in OPENING) - (mark in CLOSING)
        if quote < 0:
            return found
        at = end_of_string(line, quote)
        if at < 0:
            return found
        if depth == 1 and value_at < 0:
            name = line[quote + 1 : at - 1]


def value_of(line: bytes, span: tuple[int, int] | None) -> bytes:
    """The value that stands there, as it is written; empty if there is none."""
    return line[span[0] : span[1]].strip() if span else b""
