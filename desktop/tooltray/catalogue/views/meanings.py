"""What words mean, as vectors: words that are used alike point the same way, and so do the sums of the words of two texts on one subject.

The table comes with Tooltray; `scripts/word_meanings.py` makes it. It is read at the first search. Numbers of a vector are packed into one
large integer, 32 bits for each: Python adds and multiplies such integers at the speed of C, and needs no library for it.
"""

import math
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import mul
from pathlib import Path

from tooltray.catalogue.views.search_words import singular

MAGIC = b"Tooltray meanings 1\n"
FIELD = 4  # bytes of a number in a packed integer
ZERO = 8  # what is added to each number of the table, so that 4 bits hold it
SCALE = 1000  # of a vector of length 1, so that its numbers are whole
UNKNOWN = 1.2  # the weight of a word that is not in the table: it is rare
LEAST_PART, LONGEST = 4, 24  # characters of each of two words that are written as one, such as "sheetname", and of both
MIDDLE = 1 << 31  # is added to each field of a sum, so that none is negative


class WordMeanings:
    """The table: a vector for each of the most frequent English words. A vector is longer the more its word says about a text."""

    def __init__(self, path: Path | None = None) -> None:
        """
        Args:
            path: without it no word has a vector. It is read when the first is asked for.
        """
        self._path = path

    @cached_property
    def _table(self) -> tuple[int, int, memoryview, memoryview]:
        """How many numbers a vector has, the length of most, the hashes of the words in ascending order, and the vectors in the same order.

        Raises:
            OSError, ValueError: the installation is broken.
        """
        if self._path is None:
            return 0, 1, memoryview(array("I")), memoryview(b"")
        data = self._path.read_bytes()
        begin = len(MAGIC) + 3 * FIELD
        if not data.startswith(MAGIC):
            raise ValueError(f"{self._path} is no table of meanings")
        size, count, typical = memoryview(data)[len(MAGIC) : begin].cast("I")
        end = begin + count * FIELD
        return size, typical, memoryview(data)[begin:end].cast("I"), memoryview(data)[end:]

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return self._table[0]

    def weight(self, word: str) -> float:
        """Returns how much a word in lower case says about a text: 1 for most, less for "find" and "show", more for names of things."""
        vectors = self._vectors(word)
        if not vectors:
            return UNKNOWN
        return math.sqrt(math.dist(fields_of(sum(vectors), self.size), [ZERO * len(vectors)] * self.size) / self._table[1])

    def known(self, words: Mapping[str, int]) -> float:
        """Returns the share of a text, by the weights of its words, that has a meaning: 0 to 1.

        Args:
            words: the weight of each word of the text, at least one.
        """
        return sum(weight for word, weight in words.items() if self._vectors(word)) / sum(words.values())

    def _vectors(self, word: str) -> Sequence[int]:
        """Returns the packed vector of a word in lower case, or two vectors if the word is unknown and joins two known ones."""
        if (vector := self._packed(word)) is not None:
            return (vector,)
        cuts = range(LEAST_PART, len(word) - LEAST_PART + 1) if len(word) <= LONGEST else ()
        for cut in sorted(cuts, key=lambda cut: abs(2 * cut - len(word))):
            if (first := self._packed(word[:cut])) is not None and (second := self._packed(word[cut:])) is not None:
                return first, second
        return ()

    def _packed(self, word: str) -> int | None:
        """Returns the vector of a word in lower case or, without one, of its singular, ZERO added to each number."""
        size, _, hashes, vectors = self._table
        for known in dict.fromkeys((word, singular(word))):
            wanted = hash_of(known)
            place = bisect_left(hashes, wanted)
            if place < len(hashes) and hashes[place] == wanted:
                half = size // 2
                both = int.from_bytes(vectors[place * half : (place + 1) * half], "little")
                low = int.from_bytes(b"\x0f" * half, "little")
                fields = bytearray(size * FIELD)
                fields[: half * FIELD : FIELD] = (both & low).to_bytes(half, "little")
                fields[half * FIELD :: FIELD] = (both >> 4 & low).to_bytes(half, "little")
                return int.from_bytes(fields, "little")
        return None

    def of(self, words: Mapping[str, int]) -> list[int] | None:
        """Returns the meaning of a text, as a vector of the length SCALE.

        Args:
            words: the weight of each word of the text: below 2 ** 27 in all.

        Returns: None if no word is known.
        """
        total, weights = 0, 0
        for word, weight in words.items():
            vectors = self._vectors(word)
            total += weight * sum(vectors)
            weights += weight * len(vectors)
        if not weights:
            return None
        numbers = [field - ZERO * weights for field in fields_of(total, self.size)]
        length = math.hypot(*numbers)
        return [round(SCALE * number / length) for number in numbers] if length else None


def hash_of(word: str) -> int:
    """Returns the number by which a word is found in the table. Of the words in it no two have the same, or the table is not made."""
    return zlib.crc32(word.encode("utf-8", "replace"))


def fields_of(packed: int, count: int) -> Sequence[int]:
    """Returns the numbers in a packed integer."""
    return memoryview(packed.to_bytes(count * FIELD, "little")).cast("I")


class MeaningIndex:
    """The meanings of a fixed number of texts, which are identified by their places."""

    def __init__(self, vectors: Iterable[Sequence[int]]) -> None:
        """
        Args:
            vectors: parts of WordMeanings.of, added, of a length up to SCALE; zeros are like nothing.
        """
        rows = [array("h", vector) for vector in vectors]  # 2 bytes for each number while columns are made
        self._count = len(rows)
        self._columns = [_packed([number + SCALE for number in column]) for column in zip(*rows, strict=True)]
        self._middle = _packed([MIDDLE] * self._count)

    def likeness(self, vector: Sequence[int]) -> list[float]:
        """Returns for each place how like the meanings are: for vectors of the length SCALE, the cosine of their angle."""
        total = sum(map(mul, vector, self._columns), self._middle)
        offset = MIDDLE + SCALE * sum(vector)
        return [(field - offset) / SCALE**2 for field in fields_of(total, self._count)]


def _packed(numbers: Sequence[int]) -> int:
    return int.from_bytes(array("I", numbers).tobytes(), "little")
