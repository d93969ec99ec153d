"""The result of a tool, taken apart into what a model reads, in its order and with sizes.

Parts are views of the result's own bytes, and strings are decoded piece by piece: a text of 100 MB is never a Python string.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import load
from tooltray.protocol.member_scanner import elements_of, opened, scanned_elements

PIECE_BYTES = 2**18  # takes well under a millisecond, so that other threads get their turn
_ESCAPE_BYTES = 6  # \\u and four digits, the longest one
_HIGH_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
TEXT, JSON, BLOCK = "text", "json", "block"
CONTENT, STRUCTURED = "content", "structuredContent"
IMAGE_TOKENS = 1600  # what hosts count for one, whatever its bytes
BASE64_BYTES_PER_TOKEN = 1.4  # measured; for what hosts may hand on as text
MOST_PARTS = 10_000  # a content of more blocks is one part, read as JSON
MOST_BRACES = 1_000_000  # a content with no more is parsed at once, which takes 80 MB
LONGEST_WORD = 200  # characters of a URI or a MIME type in a title
_BLANKS = b" \t\r\n"


def pieces(string: Raw) -> Iterator[bytes]:
    """Yields the text of a JSON string as UTF-8, each piece of whole characters.

    Halves of surrogate pairs, which UTF-8 does not have, are written as Python's "surrogatepass" does.

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
    """Returns where a piece can end so that no escape sequence, pair of them or character is cut in two."""
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
    """Returns whether a backslash is not itself escaped: it is the first, third, ... of a row of them."""
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
    """Decodes a whole piece."""
    return utf8.decode("utf-8", "surrogatepass")


class ResultPart(msgspec.Struct, frozen=True):
    """A block of the content, or the structured content.

    Attributes:
        kind: TEXT and JSON are read page by page, a BLOCK as a whole.
        raw: the block as it is in the result; of JSON the value.
        string: of TEXT: the JSON string that it is in.
        title: describes it for the model: "text", "image image/png", ...
    """

    kind: str
    raw: Raw
    title: str
    string: Raw = Raw(b"")

    def pieces(self) -> Iterator[bytes]:
        """Yields what can be read page by page, as UTF-8."""
        if self.kind == TEXT:
            yield from pieces(self.string)
        else:
            view, at = memoryview(self.raw), 0
            while at < len(view):
                end = _character(view, at + 2**18)
                yield bytes(view[at:end])
                at = end

    @property
    def block_tokens(self) -> int:
        """The estimated number of tokens of a BLOCK."""
        return IMAGE_TOKENS if self.title.startswith("image") else round(len(memoryview(self.raw)) / BASE64_BYTES_PER_TOKEN)


def _character(view: memoryview, end: int) -> int:
    """Returns where a character begins, at `end` or shortly before it."""
    while end < len(view) and view[end] & 0xC0 == 0x80:
        end -= 1
    return min(end, len(view))


def parts_of(members: Mapping[str, Raw]) -> list[ResultPart] | None:
    """Returns the parts of a result, the structured content last; None if it is not the result of a tool.

    Args:
        members: of the result.
    """
    try:
        blocks = _blocks(members[CONTENT]) if CONTENT in members else []
        is_one = len(blocks) > MOST_PARTS
        parts = [ResultPart(JSON, members[CONTENT], CONTENT)] if is_one else [_part(block) for block in blocks]
    except ValueError:
        return None
    if STRUCTURED in members:
        parts.append(ResultPart(JSON, members[STRUCTURED], STRUCTURED))
    return parts


def _blocks(content: Raw) -> list[Raw]:
    """Returns the blocks of a content; only the first ones if there are too many."""
    view = memoryview(content)
    braces = sum(bytes(view[at : at + 2**20]).count(b"{") for at in range(0, len(view), 2**20)) if len(view) > MOST_BRACES else 0
    if braces <= MOST_BRACES:
        return elements_of(content)
    return [Raw(block) for block in islice(scanned_elements(view), MOST_PARTS + 1)]


def _part(block: Raw) -> ResultPart:
    members = opened(block)
    kind = _word(members.get("type"))
    if kind == "text" and _is_string(members.get("text")):
        return ResultPart(TEXT, block, "text", members["text"])
    if kind == "resource" and _is_object(members.get("resource")):
        inner = opened(members["resource"])
        title = " ".join(filter(None, ("resource", _word(inner.get("uri")), _word(inner.get("mimeType")))))
        if _is_string(inner.get("text")):
            return ResultPart(TEXT, block, title, inner["text"])
        return ResultPart(BLOCK, block, title)
    word = _word(members.get("mimeType")) or _word(members.get("uri"))
    return ResultPart(BLOCK, block, " ".join(filter(None, (kind or "content", word))))


def _is_string(value: Raw | None) -> bool:
    return value is not None and bytes(memoryview(value)[:1]) == b'"'


def _is_object(value: Raw | None) -> bool:
    return value is not None and bytes(memoryview(value)[:1]) == b"{"


def _word(value: Raw | None) -> str:
    """Returns a short string; empty for anything else."""
    if value is None or len(memoryview(value)) > LONGEST_WORD:
        return ""
    try:
        word = load(value)
    except ValueError:
        return ""
    return word if isinstance(word, str) else ""


def repeated(parts: Sequence[ResultPart]) -> ResultPart | None:
    """Returns the text that the structured content repeats; None if it has other content, or does not exist.

    It repeats the only text if both are the same JSON but for white space, or if it is the object that SDKs put around a text.
    """
    if len(parts) != 2 or parts[0].kind != TEXT or parts[1].kind != JSON:
        return None
    text, structured = parts
    if _is_wrapped(structured.raw, text.string):
        return text
    return text if _are_alike(text.pieces(), structured.pieces()) else None


def _is_wrapped(value: Raw, string: Raw) -> bool:
    try:
        members = opened(value)
    except ValueError:
        return False
    return list(members) == ["result"] and memoryview(members["result"]) == memoryview(string)


def _are_alike(first: Iterator[bytes], second: Iterator[bytes]) -> bool:
    """Returns whether two texts are equal but for white space."""
    one = other = b""
    while True:
        one, other = one or _next(first), other or _next(second)
        if not one or not other:
            return one == other
        length = min(len(one), len(other))
        if one[:length] != other[:length]:
            return False
        one, other = one[length:], other[length:]


def _next(pieces: Iterator[bytes]) -> bytes:
    for piece in pieces:
        if plain := piece.translate(None, _BLANKS):
            return plain
    return b""
