"""Pages of UTF-8 text: as much as fits into a number of tokens, and the lines that have some words.

Tokens are estimated, which takes milliseconds a page; a tokenizer needs a process of its own with 100 MB of memory.
"""

import re
from collections.abc import Iterable, Iterator
from io import BufferedReader
from itertools import islice

import msgspec

LONGEST_TOKEN_BYTES = 16
_TOKEN = re.compile(  # compared with o200k_base: 0.8 (base64), 1.0 (numbers), 1.1 (JSON, English, Chinese) to 1.9 (German) times as many
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
        is_all: nothing is behind it.
    """

    utf8: bytes
    tokens: int
    is_all: bool


class Hit(msgspec.Struct, frozen=True):
    """A line with the words that were searched for; of a long line the words and what is around them.

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
    before = b""  # the end of what was read of a long line, where the words may begin
    while at < size and (block := file.read(min(READ_BYTES, size - at))):
        if not block.endswith(b"\n"):
            block += file.readline(min(READ_BYTES, size - at - len(block)))
        while (following := file.peek(1)[:1]) and following[0] & 0xC0 == 0x80:  # a long line is read in pieces of whole characters
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
