"""Finds tools by words: ranked over names, titles, descriptions and names of parameters.

Above it: the tool `find_tools`. Knows texts and places, nothing of servers and of how tools are called. The ranking is Okapi BM25 over
fields of different weight; words are split where names join them, endings of English words make no difference, a word that begins another
finds it too, and scripts that put no spaces between words are searched by pairs of characters.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from msgspec import Raw

from tooltray.wire.envelope import NOTHING, load
from tooltray.wire.member_scanner import opened

SATURATION, LENGTH_WEIGHT = 1.2, 0.75  # k1 and b of BM25, as everybody has them
NAME, TITLE, SERVER, PARAMETERS, DESCRIPTION = 4.0, 3.0, 2.0, 1.5, 1.0  # what one word counts in each
BEGINNING = 0.5  # what a word counts that only begins with the one asked for
LEAST_BEGINNING = 3  # characters; shorter ones begin too many
MAX_BEGINNINGS = 64  # of one word
MAX_WORDS = 32  # of a query; a model that sends a page of text is served by its beginning
MAX_TEXT = 2000  # characters of a description that are searched; what a tool is for stands in front
LEAST_STEM = 3  # characters that an ending leaves
_UNSAID = """
a about all am an and any are as at be by can could do does for from get has have how i if in into is it its let like make me my need of on
or our please should so some something that the their them there these this those to tool tools use used using want was we were what when
where which who will with would you your
"""
UNSAID = frozenset(_UNSAID.split())  # words of a question that say nothing of what is looked for; each is in a few descriptions

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PART = re.compile(rf"[{_UNSPACED}]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")


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

    def __init__(self, texts: Iterable[ToolText]) -> None:
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
        words = list(dict.fromkeys(islice(_asked_for(query), MAX_WORDS)))
        scores: dict[int, float] = {} if words else dict.fromkeys(range(len(self._names)), 0.0)
        for word in words:
            for place, score in self._scores(word).items():
                scores[place] = scores.get(place, 0.0) + score
        ranked = sorted(scores, key=lambda place: (-scores[place], self._names[place]))
        return list(islice(filter(among, ranked), limit))

    def _scores(self, word: str) -> dict[int, float]:
        counts = dict(self._found.get(word, {}))
        for longer in self._longer(word):
            for place, weight in self._found[longer].items():
                counts[place] = max(counts.get(place, 0.0), BEGINNING * weight)
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
        for word in _words_of(content):
            weights[word] += weight  # type: ignore[assignment]  # a Counter of fractions
    return weights


def _asked_for(query: str) -> Iterable[str]:
    """The words of a query that say something; all of them where none does."""
    said = " ".join(word for word in query.split() if word.casefold().strip("?!.,;:'\"") not in UNSAID)
    return _words_of(said if _WORD.search(said) else query)


def _words_of(text: str) -> Iterator[str]:
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    for joined in _WORD.findall(plain):
        for part in _PART.findall(joined):
            if _IS_UNSPACED.match(part):
                yield from part
                yield from map("".join, pairwise(part))
            else:
                yield _bare(part.casefold())


def _bare(word: str) -> str:
    """Without the endings of English words, so that "files" finds "file", and "merging" finds "merge"."""
    word = _singular(word)
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= LEAST_STEM:
            return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    return word[:-1] if word.endswith("e") and len(word) > LEAST_STEM else word


def _singular(word: str) -> str:
    if len(word) <= LEAST_STEM or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies") and len(word) > LEAST_STEM + 1:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


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
