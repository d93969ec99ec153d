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
_ESCAPED_BYTES = 6  # \u and four digits
_WHOLE = re.compile(rb"(?:[^\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.DOTALL)
_ENDS_WITH_HIGH_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")


def pieces(string: Raw) -> Iterator[bytes]:
    """What a JSON string says.

    Args:
        string: with its quotes.
    """
    inside = memoryview(string)[1:-1]
    at = 0
    while at < len(inside):
        piece = inside[at : at + PIECE_BYTES]
        if at + PIECE_BYTES < len(inside):
            piece = piece[: _end(piece, inside[at + PIECE_BYTES])]
        yield _unescaped(bytes(piece))
        at += len(piece)


def _end(piece: memoryview, next_byte: int) -> int:
    """Where a piece can end without an escape sequence, a pair of them or a character being cut in two."""
    match = _WHOLE.match(piece)
    end = match.end() if match else len(piece)
    if end < len(piece):
        next_byte = piece[end]
    if _ENDS_WITH_HIGH_HALF.search(piece, max(0, end - _ESCAPED_BYTES), end):
        return end - _ESCAPED_BYTES
    while next_byte & 0xC0 == 0x80:  # the middle of a character
        end -= 1
        next_byte = piece[end]
    return end


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
