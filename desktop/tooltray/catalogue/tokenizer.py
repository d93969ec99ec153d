"""The tokenizer `o200k_base`: the text is split into words, and each word into tokens by byte pair encoding.

Its tokens are in resources/tokenizer, in the order of their ranks: each is a byte with its length and then its own bytes, all compressed
by zlib. They take 30 MB of memory, so only a process that ends soon should load them.
"""

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from tooltray.foundation.programs import resource

_SPACES = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


class Tokenizer:
    """Counts the tokens of texts; every word is split once."""

    def __init__(self) -> None:
        packed = zlib.decompress(resource("tokenizer", "o200k_base.bin").read_bytes())
        self._ranks = dict[bytes, int]()
        start = 0
        while start < len(packed):
            end = start + 1 + packed[start]
            self._ranks[packed[start + 1 : end]] = len(self._ranks)
            start = end
        self._words = dict[str, int]()

    def count(self, texts: Iterable[str]) -> list[int]:
        """Returns the number of tokens of each text. Texts that look like special tokens count as any other text."""
        found = list(texts)
        words = _pattern(set().union(*found))
        return [sum(map(self._count_word, words.findall(text))) for text in found]

    def _count_word(self, text: str) -> int:
        known = self._words.get(text)
        if known is None:
            known = self._words[text] = self._split(text.encode())
        return known

    def _split(self, word: bytes) -> int:
        """Counts the tokens of a word. The two neighbours that make the token of the lowest rank are joined, until no two make a token.

        A part is known by where it starts. `following` has where the next one starts, and -1 for a part that was joined to another.
        """
        if word in self._ranks:
            return 1
        end = count = len(word)
        following, previous = list(range(1, end + 1)), list(range(-1, end))

        def pairs(*starts: int) -> Iterable[tuple[int, int, int, int]]:
            for start in starts:
                if start >= 0 and (middle := following[start]) < end:
                    stop = following[middle]
                    if (rank := self._ranks.get(word[start:stop])) is not None:
                        yield rank, start, middle, stop

        waiting = list(pairs(*range(end)))
        heapify(waiting)
        while waiting:
            _, start, middle, stop = heappop(waiting)
            if following[start] != middle or following[middle] != stop:
                continue  # one of the two was joined to another since
            following[start], following[middle], previous[stop] = stop, -1, start
            count -= 1
            for pair in pairs(start, previous[start]):
                heappush(waiting, pair)
        return count


def _pattern(characters: Iterable[str]) -> re.Pattern[str]:
    """Returns the expression for words, with Unicode's categories spelled out for these characters: `re` has no `\\p`."""
    categories = defaultdict[str, str](str)
    for each in sorted(characters):
        if not each.isascii():
            categories[unicodedata.category(each)] += each
    marks = "".join(categories[name] for name in ("Lm", "Lo", "Mn", "Mc", "Me"))
    upper, lower = "A-Z" + categories["Lu"] + categories["Lt"] + marks, "a-z" + categories["Ll"] + marks
    digits = "0-9" + categories["Nd"] + categories["Nl"] + categories["No"]
    letters = "A-Za-z" + "".join(categories[name] for name in ("Lu", "Lt", "Ll", "Lm", "Lo"))
    ending = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    return re.compile(
        rf"[^\r\n{letters}{digits}]?[{upper}]*[{lower}]+{ending}|[^\r\n{letters}{digits}]?[{upper}]+[{lower}]*{ending}|[{digits}]{{1,3}}"
        rf"| ?[^{_SPACES}{letters}{digits}]+[\r\n/]*|[{_SPACES}]*[\r\n]+|[{_SPACES}]+(?![^{_SPACES}])|[{_SPACES}]+"
    )
