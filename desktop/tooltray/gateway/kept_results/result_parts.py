"""Splits the result of a tool into the parts that a model reads, in order and with sizes.

Parts are views of the result's own bytes, and strings are decoded piece by piece: a text of 100 MB is never a Python string. Tokens of
pages are estimated: a tokenizer needs a process of its own.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from itertools import islice

import msgspec
from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.protocol.envelope import load
from tooltray.protocol.member_scanner import elements_of, opened, scanned_elements

LONGEST_TOKEN_BYTES = 16
_TOKEN = lazy_pattern(  # compared with o200k_base: 0.8 (base64), 1.0 (numbers), 1.1 (JSON, English, Chinese) to 1.9 (German) times as many
    rb" ?[A-Z]?[a-z]{1,9}| ?[A-Z]{1,3}|[0-9]{1,3}|\s{1,16}|(?:[\xc2-\xdf][\x80-\xbf]){1,3}|[\xe0-\xff][\x80-\xbf]*"
    rb"|[^A-Za-z0-9\s\xc2-\xff]{1,3}"
)
WORTH_A_LINE = 0.75  # a page is cut behind its last line if at least this much remains
READ_BYTES = 2**18  # takes well under a millisecond, so that other threads get their turn
LONGEST_LINE_BYTES = 400  # longer lines are shown in part
AROUND_BYTES = 200  # shown before and behind words in a long line


class Page(msgspec.Struct, frozen=True):
    """The beginning of a text.

    Attributes:
        tokens: how many it has, estimated.
        is_all: the page reaches the end of the text.
    """

    utf8: bytes
    tokens: int
    is_all: bool


class Hit(msgspec.Struct, frozen=True):
    """A line with the words that were searched for; of a long line only the words and their surroundings.

    Attributes:
        number: the line's, from 1.
        at: where `utf8` begins in the text, in bytes.
        is_whole: `utf8` is the whole line.
    """

    number: int
    at: int
    utf8: bytes
    is_whole: bool


def page(pieces: Iterable[bytes], tokens: int) -> Page:
    """Returns the beginning of a text, cut behind a line or at least behind a character. Reads no more of the text than it needs.

    Args:
        pieces: UTF-8, each of whole characters; or one piece that is longer than `tokens` of the longest tokens.
        tokens: the most that it may have; 0 counts as 1.
    """
    text, tokens = bytearray(), max(tokens, 1)
    for piece in pieces:
        text += piece
        if len(text) > tokens * LONGEST_TOKEN_BYTES:
            break
    ends = [token.end() for token in islice(_TOKEN.finditer(text), tokens + 1)]
    if len(ends) <= tokens:
        return Page(bytes(text), len(ends), True)
    cut = bytes(text[: ends[tokens - 1]])
    line = cut.rfind(b"\n") + 1
    return Page(cut[:line] if line >= len(cut) * WORTH_A_LINE else cut, tokens, False)


def estimate_tokens(utf8: bytes) -> int:
    return len(_TOKEN.findall(utf8))


def search(file: BufferedReader, size: int, words: bytes, *, at: int, number: int) -> Iterator[Hit]:
    """Yields the lines with some words, in their order.

    Args:
        words: without a line end.
        size: of the whole text, in bytes.
        at: the byte of the text at which the file is positioned.
        number: the number of the line at `at`, from 1.
    """
    before = b""  # the end of the part of a long line that was read, where the words may begin
    while at < size and (block := file.read(min(READ_BYTES, size - at))):
        if not block.endswith(b"\n"):
            block += file.readline(min(READ_BYTES, size - at - len(block)))
        while (following := file.peek()) and following[0] & 0xC0 == 0x80:  # a long line is read in pieces of whole characters
            block += file.read(1)
        text, start = before + block, at - len(before)
        at += len(block)
        found, counted = text.find(words), 0
        while found >= 0:
            first, last = text.rfind(b"\n", 0, found) + 1, text.find(b"\n", found)
            last = len(text) if last < 0 else last
            is_whole = last - first <= LONGEST_LINE_BYTES and (first > 0 or not before)
            if not is_whole:
                first, last = _around(text, max(first, found - AROUND_BYTES), min(last, found + len(words) + AROUND_BYTES))
            number, counted = number + text.count(b"\n", counted, found), found
            yield Hit(number, start + first, text[first:last], is_whole)
            found = text.find(words, max(last - len(words), found) + 1)
        number += text.count(b"\n", counted)
        before = b"" if text.endswith(b"\n") else text[len(text) - len(words) + 1 :]


def _around(text: bytes, first: int, last: int) -> tuple[int, int]:
    """Returns where to cut a long line around words, between characters."""
    while text[first] & 0xC0 == 0x80:
        first += 1
    while last < len(text) and text[last] & 0xC0 == 0x80:
        last -= 1
    return first, last


PIECE_BYTES = 2**18  # takes well under a millisecond, so that other threads get their turn
_ESCAPE_BYTES = 6  # \\u and four digits, the longest escape
_HIGH_HALF = lazy_pattern(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
TEXT, JSON, BLOCK = "text", "json", "block"
CONTENT, STRUCTURED = "content", "structuredContent"
IMAGE_TOKENS = 1600  # what hosts count for one image, whatever its size
BASE64_BYTES_PER_TOKEN = 1.4  # measured; for binary data that hosts may pass on as text
MOST_PARTS = 10_000  # a result with more blocks is one part, read as JSON
MOST_BRACES = 1_000_000  # up to here a result is parsed in one step, which takes 80 MB
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
    """Returns the text that the structured content repeats; None if the structured content differs or does not exist. It repeats the only
    text if both are the same JSON except for white space, or if it is the object that SDKs wrap around a text.
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
