"""Finds tools by words: ranked over names, titles, descriptions and names of parameters.

Above it: the tool `find_tools`. Knows texts and places, nothing of servers and of how tools are called. The ranking is Okapi BM25 over
fields of different weight; a word that begins another finds it too, and so does, for less, one that means much the same.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import Raw

from tooltray.catalogue.words import words_of
from tooltray.protocol.envelope import NOTHING, load
from tooltray.protocol.member_scanner import opened
from tooltray.views.asked_words import AskedWords

SATURATION, LENGTH_WEIGHT = 1.2, 0.75  # k1 and b of BM25, as everybody has them
NAME, TITLE, SERVER, PARAMETERS, DESCRIPTION = 4.0, 3.0, 2.0, 1.5, 1.0  # what one word counts in each
BEGINNING = 0.5  # what a word counts that only begins with the one asked for
RELATED = 0.3  # what a word counts that means much the same
LEAST_BEGINNING = 3  # characters; shorter ones begin too many
MAX_BEGINNINGS = 64  # of one word
MAX_TEXT = 2000  # characters of a description that are searched; what a tool is for stands in front


class ToolText(NamedTuple):
    """What of one tool is searched."""

    name: str
    server: str = ""
    title: str = ""
    description: str = ""
    parameters: tuple[str, ...] = ()


def text_of(definition: Raw, *, server: str = "") -> ToolText:
    """What of a definition is searched; members that are of another kind than they should be are left out."""
    members = opened(definition)
    name, title, description = (_text(members.get(key, NOTHING)) for key in ("name", "title", "description"))
    return ToolText(name, server, title, description[:MAX_TEXT], tuple(_parameters(members.get("inputSchema", NOTHING))))


class ToolIndex:
    """Of a fixed number of tools, which are told by their places."""

    def __init__(self, texts: Iterable[ToolText], words: AskedWords | None = None) -> None:
        """
        Args:
            words: what questions ask for; without it no word means the same as another one.
        """
        self._asked = words or AskedWords()
        self._names: list[str] = []
        self._lengths: list[float] = []
        self._found: dict[str, dict[int, float]] = {}  # by word: where it stands, and how much it counts there
        for place, text in enumerate(texts):
            weights = _weights(text)
            self._names.append(text.name)
            self._lengths.append(sum(weights.values()))
            for word, weight in weights.items():
                self._found.setdefault(word, {})[place] = weight
        self._words = sorted(self._found)
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0

    def find(self, query: str, limit: int, *, among: Callable[[int], bool] = lambda place: True) -> list[int]:
        """The places of the best, the best first; where the query holds no word, of the first ones by name.

        Args:
            among: whether a place may be in the answer.
        """
        words = self._asked.of(query)
        scores: dict[int, float] = {} if words else dict.fromkeys(range(len(self._names)), 0.0)
        for word, related in words.items():
            for place, score in self._scores(word, related).items():
                scores[place] = scores.get(place, 0.0) + score
        ranked = sorted(scores, key=lambda place: (-scores[place], self._names[place]))
        return list(islice(filter(among, ranked), limit))

    def _scores(self, word: str, related: Iterable[str]) -> dict[int, float]:
        counts = dict(self._found.get(word, {}))
        for longer in self._longer(word):
            for place, weight in self._found[longer].items():
                counts[place] = max(counts.get(place, 0.0), BEGINNING * weight)
        for other in related:
            if other != word:
                for place, weight in self._found.get(other, {}).items():
                    counts[place] = counts.get(place, 0.0) + RELATED * weight
        rarity = math.log(1 + (len(self._names) - len(counts) + 0.5) / (len(counts) + 0.5))
        return {place: rarity * self._saturated(place, count) for place, count in counts.items()}

    def _saturated(self, place: int, count: float) -> float:
        length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * self._lengths[place] / self._mean
        return count * (SATURATION + 1) / (count + SATURATION * length)

    def _longer(self, word: str) -> Iterator[str]:
        if len(word) >= LEAST_BEGINNING:
            start = bisect_left(self._words, word)
            for other in islice(self._words, start, start + MAX_BEGINNINGS):
                if not other.startswith(word):
                    return
                if other != word:
                    yield other


def _weights(text: ToolText) -> Counter[str]:
    weights: Counter[str] = Counter()
    fields = (NAME, text.name), (TITLE, text.title), (SERVER, text.server), (DESCRIPTION, text.description)
    for weight, content in (*fields, *((PARAMETERS, name) for name in text.parameters)):
        for word in words_of(content):
            weights[word] += weight  # type: ignore[assignment]  # a Counter of fractions
    return weights


def _parameters(schema: Raw) -> Iterator[str]:
    try:
        yield from opened(opened(schema).get("properties", NOTHING))
    except ValueError:
        return


def _text(value: Raw) -> str:
    try:
        found = load(value)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""
