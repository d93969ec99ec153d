"""A JSON string as UTF-8, piece by piece: a text of 100 MB never stands in memory as a Python string.

Above it: ResultParts. Below it: msgspec. Halves of surrogate pairs, which UTF-8 does not have, are written as Python's "surrogatepass"
does.
"""

import json
import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

PIECE_BYTES = 2**18  # takes well under a millisecond, so that other threads get their turn
_ESCAPE_BYTES = 6  # \\u and four digits, the longest one
_HIGH_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")


def pieces(string: Raw) -> Iterator[bytes]:
    """What a JSON string says.

    Args:
        string: with its quotes.
    """
    inside = memoryview(string)[1:-1]
    at = 0
    while at < len(inside):
        end = at + PIECE_BYTES
        end = _end(inside, at, end) if end < len(inside) else len(inside)
        yield _unescaped(bytes(inside[at:end]))
        at = end


def _end(inside: memoryview, at: int, end: int) -> int:
    """Where a piece can end without an escape sequence, a pair of them or a character being cut in two."""
    last = bytes(inside[end - _ESCAPE_BYTES : end]).rfind(b"\\")
    if last < 0:
        while inside[end] & 0xC0 == 0x80:  # the middle of a character
            end -= 1
        return end
    last += end - _ESCAPE_BYTES
    if not _begins_escape(inside, at, last):
        return last + 1
    before = last - _ESCAPE_BYTES
    is_pair = before > at and _HIGH_HALF.match(inside, before, last) and _begins_escape(inside, at, before)
    return before if is_pair else last


def _begins_escape(inside: memoryview, at: int, last: int) -> bool:
    """Whether a backslash is not itself escaped: it is the first, third, ... of those that stand together."""
    first = last
    while first > at and inside[first - 1] == ord("\\"):
        first -= 1
    return (last - first) % 2 == 0


def _unescaped(piece: bytes) -> bytes:
    if b"\\" not in piece:
        return piece
    quoted = b'"%b"' % piece
    try:
        return msgspec.json.decode(quoted, type=str).encode()
    except ValueError:  # half a surrogate pair
        return str(json.loads(quoted.decode("utf-8", "surrogatepass"), strict=False)).encode("utf-8", "surrogatepass")


def text_of(utf8: bytes) -> str:
    """The reverse for a whole piece."""
    return utf8.decode("utf-8", "surrogatepass")
