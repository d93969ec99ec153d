"""Finds tools by words: ranked over names, titles, descriptions and names of parameters. The ranking is Okapi BM25 over fields of different
weight. A word also finds longer words that begin with it and, with less weight, words of much the same meaning. Joined words in names are
split, endings of English words make no difference, and scripts without spaces between words become characters and pairs of them.
"""

import asyncio
import json
import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from msgspec import Raw

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Entry, ListTerms
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.profiles import Profiles
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.tasks import SLICE, finish_in_thread
from tooltray.protocol.envelope import NOTHING, load
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.mcp_client import McpClient

LEAST_STEM = 3  # characters that an ending leaves
WORD = lazy_pattern(r"[^\W_]+")

_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PART = lazy_pattern(rf"[{_UNSPACED}]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d{_UNSPACED}]+")
_IS_UNSPACED = lazy_pattern(rf"[{_UNSPACED}]")
SATURATION, LENGTH_WEIGHT = 1.2, 0.75  # k1 and b of BM25, the usual values
NAME, TITLE, SERVER, PARAMETERS, DESCRIPTION = 4.0, 3.0, 2.0, 1.5, 1.0  # the weight of a word in each field
BEGINNING = 0.5  # the weight of a word that only begins with the query's word
RELATED = 0.3  # the weight of a word of much the same meaning
LEAST_BEGINNING = 3  # characters; shorter ones begin too many
MAX_BEGINNINGS = 64  # of one word
MAX_TEXT = 2000  # characters of a description that are searched; a tool's purpose comes first
MOST_INDEXES = 64  # two for all servers together, and one for each server that a session has as its only one
MAX_WORDS = 32  # words of a query; of a long text only the beginning is searched
MAX_QUERY = 2000  # characters of a query that are read; far more than so many words have
_STOP_WORDS = """
a about all am an and any are as at be by can could d do does don for from get has have how i if in into is it its let like ll m make me my
need of on or our please re s should so some something somewhere t that the their them there these this those to tool tools use used using
ve want was we were what when where which who will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())  # words of a question without meaning in a search; each is in a few descriptions
_FITS_NOWHERE = lazy_pattern(r"(?!)")


def without_accents(text: str) -> str:
    """Removes accents, and replaces full-width and half-width letters by ordinary ones."""
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def words_of(text: str) -> Iterator[str]:
    """Yields the words of a text, each as often as it occurs."""
    for joined in WORD.findall(without_accents(text)):
        for part in _PART.findall(joined):
            if _IS_UNSPACED.match(part):
                yield from part
                yield from map("".join, pairwise(part))
            else:
                yield _bare(part.casefold())


def _bare(word: str) -> str:
    """Removes the endings of English words, so that "files" finds "file", and "merging" finds "merge"."""
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


class QueryWords:
    """The words of a query without stop words, with words of much the same meaning, and with English ones for common Chinese ones.

    Most tools are described in English. The table is small and general; a word that is not in it is searched for unchanged.
    """

    def __init__(self, related: Mapping[str, str] | None = None, chinese: Mapping[str, str] | None = None) -> None:
        """
        Args:
            related: by words, the words of much the same meaning, separated by spaces.
            chinese: by words, the English ones that replace them; empty for words without meaning in a search.
        """
        self._related = {bare: tuple(words_of(value)) for words, value in (related or {}).items() for bare in words_of(words)}
        self._english = {word: value for words, value in (chinese or {}).items() for word in words.split()}
        longest_first = sorted(self._english, key=len, reverse=True)
        self._chinese = lazy_pattern("|".join(map(re.escape, longest_first))) if longest_first else _FITS_NOWHERE

    def of(self, query: str) -> dict[str, tuple[str, ...]]:
        """Returns the words to search for, each with words of much the same meaning; a query of only stop words keeps them."""
        plain = without_accents(query[:MAX_QUERY])
        words = list(self._without_stop_words(plain)) or list(islice(words_of(plain), MAX_WORDS))
        return {word: self._related.get(word, ()) for word in words}

    def _without_stop_words(self, query: str) -> Iterator[str]:
        english = " ".join(self._english[word] for word in self._chinese.findall(query))
        yield from islice(words_of(english), MAX_WORDS)
        rest = self._chinese.sub(lambda found: found[0] if self._english[found[0]] else " ", query)
        kept = " ".join(word for word in WORD.findall(rest) if word.casefold() not in STOP_WORDS)
        yield from islice(words_of(kept), MAX_WORDS)


def read_query_words(path: Path) -> QueryWords:
    """Reads the table that comes with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    table = json.loads(path.read_bytes())
    return QueryWords(table["related"], table["chinese"])


class ToolText(NamedTuple):
    """The searched texts of one tool."""

    name: str
    server: str = ""
    title: str = ""
    description: str = ""
    parameters: tuple[str, ...] = ()


def text_of(definition: Raw, *, server: str = "") -> ToolText:
    """Returns the searched texts of a definition; members of a wrong kind are left out."""
    members = opened(definition)
    name, title, description = (_text(members.get(key, NOTHING)) for key in ("name", "title", "description"))
    return ToolText(name, server, title, description[:MAX_TEXT], tuple(_parameters(members.get("inputSchema", NOTHING))))


class ToolIndex:
    """An index of a fixed number of tools, which are identified by their places."""

    def __init__(self, texts: Iterable[ToolText], query_words: QueryWords | None = None) -> None:
        """
        Args:
            query_words: without it no words are related.
        """
        self._query_words = query_words or QueryWords()
        self._names: list[str] = []
        self._lengths: list[float] = []
        self._found: dict[str, dict[int, float]] = {}  # by word: its places, and its weight there
        for place, text in enumerate(texts):
            weights = _weights(text)
            self._names.append(text.name)
            self._lengths.append(sum(weights.values()))
            for word, weight in weights.items():
                self._found.setdefault(word, {})[place] = weight
        self._words = sorted(self._found)
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0

    def find(self, query: str, limit: int, *, among: Callable[[int], bool] = lambda place: True) -> list[int]:
        """Returns the places of the best tools, the best first; if the query has no word, the first tools by name.

        Args:
            among: whether a place may be in the answer.
        """
        words = self._query_words.of(query)
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


class ToolSearch:
    """The search in the tools that a session may call. Belongs to the engine's loop."""

    def __init__(self, *, tools: ToolManager, profiles: Profiles, query_words: QueryWords, clients: KnownClients) -> None:
        self._tools, self._profiles, self._query_words, self._clients = tools, profiles, query_words, clients
        self._lock = asyncio.Lock()
        self._indexes: dict[tuple[str | None, bool], tuple[Sequence[Entry], ToolIndex]] = {}

    async def found(self, query: str, limit: int, state: SessionState, *, client: McpClient | None) -> list[Entry]:
        """Returns the tools that fit a query best, the best first. `client`: see ViewLists.listing."""
        entries = await self._tools.entries(state.server, client=client, terms=ListTerms(with_views=state.shows_views))
        index = await self._index(entries, (state.server, state.shows_views))

        def may_call(place: int) -> bool:
            route = entries[place].route
            return route.definition.view.is_for_models and self._profiles.includes(state, route.server, route.definition.name)

        find = partial(index.find, query, limit, among=may_call)
        places = await finish_in_thread(find) if len(entries) > SLICE else find()
        return [self._tools.in_room(entries[place], self._clients.list_terms(state)) for place in places]

    async def _index(self, entries: Sequence[Entry], key: tuple[str | None, bool]) -> ToolIndex:
        async with self._lock:  # simultaneous searches wait for one index
            kept = self._indexes.pop(key, None)
            if kept is None or kept[0] is not entries:
                kept = entries, await finish_in_thread(_index_of, entries, self._query_words)
            self._indexes[key] = kept
            if len(self._indexes) > MOST_INDEXES:
                del self._indexes[next(iter(self._indexes))]
            return kept[1]


def _index_of(entries: Sequence[Entry], query_words: QueryWords) -> ToolIndex:
    return ToolIndex((text_of(entry.definition, server=entry.route.server) for entry in entries), query_words)


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
