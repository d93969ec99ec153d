"""As much of a text as fits in so many tokens, cut behind a line or at least behind a character.

Above it: ResultFitting and ResultReading. Below it: the tokenizer. It looks at no more of a text than it needs. Blocks while tokens are
counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from tooltray.catalogue.token_counts import estimated
from tooltray.catalogue.views.tool_costs import Count
from tooltray.gateway.kept_results.result_parts import text_of

BYTES_FIRST = 8  # for each token, in the first look: prose has 4 to 5, indented JSON up to 7
SLICES = 128  # of what is looked at; their tokens are counted one by one, so a page is at most a hundredth short
SHORTEST_SLICE_BYTES = 32
WORTH_A_LINE = 0.75  # a page is cut behind its last line where so much of it remains


class Page(msgspec.Struct, frozen=True):
    """
    Attributes:
        utf8: the text.
        tokens: at most so many.
        is_all: nothing is behind it.
    """

    utf8: bytes
    tokens: int
    is_all: bool


def page(pieces: Iterable[bytes], tokens: int, count: Count) -> Page:
    """The beginning of a text.

    Args:
        pieces: of UTF-8, each of whole characters.
        tokens: at most so many; the page has one character all the same.
    """
    source, taken, used, size = _Source(iter(pieces)), bytearray(), 0, max(tokens, 1) * BYTES_FIRST
    while block := source.take(size):
        if used + len(block) <= tokens:  # a token has at least a byte
            taken, used = taken + block, used + len(block)
            continue
        slices = _sliced(block)
        for each, amount in zip(slices, _counted(slices, count), strict=True):
            if used + amount > tokens:
                taken += _within(each, max(tokens - used, 0 if taken else 1))
                return Page(_at_line(bytes(taken)), tokens, False)
            taken, used = taken + each, used + amount
        size *= 2
    return Page(bytes(taken), used, True)


class _Source:
    """Pieces, taken in other sizes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def take(self, size: int) -> bytes:
        """So many bytes or a few less; empty at the end."""
        taken: list[bytes] = []
        while size > 0 and (piece := next(self._pieces, b"")):
            first = _within(piece, size)
            taken.append(first)
            if len(first) < len(piece):
                self._pieces = chain([piece[len(first) :]], self._pieces)
                break
            size -= len(first)
        return b"".join(taken)


def _within(utf8: bytes, size: int) -> bytes:
    """The first bytes, whole characters; at least one of them, unless `size` is 0."""
    end = min(size, len(utf8))
    while 0 < end < len(utf8) and utf8[end] & 0xC0 == 0x80:
        end -= 1
    if end or not size:
        return utf8[:end]
    end = 1
    while end < len(utf8) and utf8[end] & 0xC0 == 0x80:
        end += 1
    return utf8[:end]


def _sliced(block: bytes) -> list[bytes]:
    size = max(len(block) // SLICES, SHORTEST_SLICE_BYTES)
    slices, at = list[bytes](), 0
    while at < len(block):
        cut = _within(block[at : at + size + 4], size)  # 4: a character's longest form
        space = cut.rfind(b" ", len(cut) // 2)  # tokens begin with one, so that none is counted twice
        slices.append(cut[:space] if space > 0 and at + len(cut) < len(block) else cut)
        at += len(slices[-1])
    return slices


def _counted(slices: Sequence[bytes], count: Count) -> list[int]:
    counts = count([text_of(each) for each in slices])
    return [estimated(len(each)) for each in slices] if counts is None else counts


def _at_line(utf8: bytes) -> bytes:
    end = utf8.rfind(b"\n") + 1
    return utf8[:end] if end >= len(utf8) * WORTH_A_LINE else utf8
