"""Finds tools by words and by what words mean: ranked over names, titles, descriptions and names of parameters.

A part of a tool's score is Okapi BM25 over fields of different weight: a word also finds longer words that begin with it and, with less
weight, words of much the same meaning. The rest is how like the meaning of the query is to that of the tool (`meanings.py`).
"""

import asyncio
import math
import sqlite3
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from operator import mul
from typing import NamedTuple

from msgspec import Raw

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Entry, ListTerms
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.meanings import SCALE, MeaningIndex, WordMeanings
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.search_words import QueryWords, whole_words, words_of
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.tasks import SLICE, finish_in_thread
from tooltray.protocol.envelope import NOTHING, load
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.records.journal.journal_event import CALL
from tooltray.records.journal.journal_reader import JournalReader
from tooltray.servers.upstream.mcp_client import McpClient

SATURATION, LENGTH_WEIGHT = 2.0, 0.4  # k1 and b of BM25, for short texts
NAME, TITLE, SERVER, PARAMETERS, DESCRIPTION, DETAILS = 4.0, 3.0, 2.0, 1.5, 1.0, 0.7  # the weight of a word in each field
BEGINNING = 0.3  # the weight of a word that only begins with the query's word
RELATED = 0.5  # the weight of a word of much the same meaning
LEAST_BEGINNING = 3  # characters; shorter ones begin too many
MAX_BEGINNINGS = 64  # of one word
MEANING = 0.55  # the part of a score that is meaning if every word of a need is known; the rest is words
MEANT_NAME = 0.45  # the part of a tool's meaning that is its name's; the rest is that of all its words
MEANT_DESCRIPTION, MEANT_OTHER = 3, 1  # the weight of a word in that
LEAST_LIKENESS = 0.15  # of a tool that has no word of the query
CALLED_LATELY = 0.05  # what the best score is raised by, of which a whole one is 1: it decides between tools that fit about as well
LATELY = 100  # calls
ONE_NEED = 0.5  # the weight of what a tool is for one of several needs, beside what it is for all of them
FEW = 20  # tools that have too little in common to say what is not worth saying in this list
MAX_TEXT = 2000  # characters of a description that are searched; a tool's purpose comes first
MAX_DETAILS = 1000  # characters of what is said of parameters that are searched
MOST_INDEXES = 64  # two for all servers together, and one for each server that a session has as its only one


class ToolText(NamedTuple):
    """The searched texts of one tool."""

    name: str
    server: str = ""
    title: str = ""
    description: str = ""
    parameters: tuple[str, ...] = ()
    details: str = ""  # the descriptions and values of the parameters


def text_of(definition: Raw, *, server: str = "") -> ToolText:
    """Returns the searched texts of a definition; members of a wrong kind are left out."""
    members = opened(definition)
    name, title, description = (_text(members.get(key, NOTHING)) for key in ("name", "title", "description"))
    parameters = _parameters(members.get("inputSchema", NOTHING))
    details = " ".join(islice(_details(parameters.values()), MAX_DETAILS))[:MAX_DETAILS]
    return ToolText(name, server, title, description[:MAX_TEXT], tuple(parameters), details)


class Fit(NamedTuple):
    """How well tools fit a need."""

    words: dict[int, float]  # by place, of those that have any of its words
    likeness: list[float]  # of each tool's meaning to that of the need
    known: float  # the share of what it says whose meaning is known


class ToolIndex:
    """An index of a fixed number of tools, which are identified by their places."""

    def __init__(self, texts: Iterable[ToolText], query_words: QueryWords | None = None, meanings: WordMeanings | None = None) -> None:
        """
        Args:
            query_words: without it no words are related.
            meanings: without it tools are found by words alone.
        """
        self._query_words = query_words or QueryWords()
        self._meanings = meanings or WordMeanings()
        self._texts: list[ToolText] = []  # without their descriptions
        lengths: list[float] = []
        self._found: dict[str, dict[int, float]] = {}  # by word: its places, and its weight there
        names: list[array[int]] = []
        wholes: list[array[int]] = []
        for place, text in enumerate(texts):
            weights = _weights(text)
            self._texts.append(text._replace(description="", details=""))
            lengths.append(sum(weights.values()))
            for word in set(words_of(text.details)):
                weights[word] += DETAILS  # type: ignore[assignment]  # a Counter of fractions
            for word, weight in weights.items():
                self._found.setdefault(word, {})[place] = weight
            names.append(array("h", self._meanings.of(Counter(whole_words(text.name))) or ()))
            wholes.append(array("h", self._meanings.of(_meant(text)) or ()))
        self._words = sorted(self._found)
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        self._halves = [
            SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean) for length in lengths
        ]  # half of the most is due there
        self._likeness = MeaningIndex(_vectors(names, wholes, self._meanings.size)).likeness

    def find(
        self,
        query: str,
        limit: int,
        *,
        among: Callable[[int], bool] = lambda place: True,
        is_preferred: Callable[[int], bool] = lambda place: False,
    ) -> list[int]:
        """Returns the places of the best tools, the best first; if the query has no word, the first tools by name.

        Args:
            among: whether a place may be in the answer.
            is_preferred: whether a place goes before others of the answer that fit about as well; it brings no tool into the answer.
        """
        needs = [self._scored(need) for need in self._query_words.needs(query)]
        scores = _for_all(needs) if needs else dict.fromkeys(range(len(self._texts)), 0.0)
        ranked = sorted(scores, key=lambda place: (-scores[place], self._texts[place].name))
        best = islice(filter(among, ranked), limit)
        return sorted(best, key=lambda place: -(scores[place] + CALLED_LATELY * is_preferred(place)))

    def why(self, query: str, place: int) -> str:
        """Returns in about three words why a query finds a tool: the field and the word in it that counts most, e.g. "name: shell".

        "meaning: shell" is for a query that has no word of the tool, but one of much the same meaning as this one of its name. Empty if
        nothing speaks for the tool, as where the query has no word.

        Args:
            place: one of those that `find` returned for the same query.
        """
        counted = {word: self._scores(word, related).get(place, 0.0) for word, related in self._query_words.of(query).items()}
        text = self._texts[place]
        if best := max(counted, key=counted.__getitem__, default=None) if any(counted.values()) else None:
            related = self._query_words.of(query)[best]
            for field, whole in _fields(text):
                for word in whole_words(whole):
                    bare = set(words_of(word))
                    if best in bare or bare.intersection(related) or any(each.startswith(best) for each in bare):
                        return f"{field}: {word}"
            said = (word for word in whole_words(query) if best in words_of(word))
            return f"description: {next(said, best)}"
        return self._nearest(query, text)

    def _scored(self, need: str) -> Fit:
        whole = self._query_words.whole(need)
        weights = {bare: self._meanings.weight(word) for word in whole for bare in words_of(word)}
        scores: dict[int, float] = {}
        for word, related in self._query_words.of(need).items():
            weight = weights.get(word, 1.0)
            for place, score in self._scores(word, related).items():
                scores[place] = scores.get(place, 0.0) + weight * score
        said = self._query_words.meant(whole)
        meant = self._meanings.of(said)
        return Fit(scores, [], 0.0) if meant is None else Fit(scores, self._likeness(meant), self._meanings.known(said))

    def _nearest(self, query: str, text: ToolText) -> str:
        asked = self._meanings.of(self._query_words.meant(self._query_words.whole(query)))
        known = {word: vector for _, whole in _fields(text) for word in whole_words(whole) if (vector := self._meanings.of({word: 1}))}
        if asked is None or not known:
            return ""
        return f"meaning: {max(known, key=lambda word: sum(map(mul, asked, known[word])))}"

    def _scores(self, word: str, related: Iterable[str]) -> dict[int, float]:
        counts = dict(self._found.get(word, {}))
        for longer in self._longer(word):
            for place, weight in self._found[longer].items():
                counts[place] = max(counts.get(place, 0.0), BEGINNING * weight)
        for other in related:
            if other != word:
                for place, weight in self._found.get(other, {}).items():
                    counts[place] = counts.get(place, 0.0) + RELATED * weight
        rarity = math.log(1 + (len(self._texts) - len(counts) + 0.5) / (len(counts) + 0.5))
        most, halves = rarity * (SATURATION + 1), self._halves
        return {place: most * count / (count + halves[place]) for place, count in counts.items()}

    def _longer(self, word: str) -> Iterator[str]:
        if len(word) >= LEAST_BEGINNING:
            start = bisect_left(self._words, word)
            for other in islice(self._words, start, start + MAX_BEGINNINGS):
                if not other.startswith(word):
                    return
                if other != word:
                    yield other


class FoundTool(NamedTuple):
    """A tool that a search has found, and in about three words why; see `ToolIndex.why`."""

    entry: Entry
    why: str


class ToolSearch:
    """The search in the tools that a session may call. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        tools: ToolManager,
        profiles: Profiles,
        query_words: QueryWords,
        meanings: WordMeanings,
        clients: KnownClients,
        journal_reader: JournalReader,
    ) -> None:
        self._tools, self._profiles, self._clients, self._journal = tools, profiles, clients, journal_reader
        self._query_words, self._meanings = query_words, meanings
        self._lock = asyncio.Lock()
        self._indexes: dict[tuple[str | None, bool], tuple[Sequence[Entry], ToolIndex]] = {}

    async def found(self, query: str, limit: int, state: SessionState, *, client: McpClient | None) -> list[FoundTool]:
        """Returns the tools that fit a query best, the best first. `client`: see ViewLists.listing."""
        entries = await self._tools.entries(state.server, client=client, terms=ListTerms(with_views=state.shows_views))
        index = await self._index(entries, (state.server, state.shows_views))
        lately = await self._called_lately(state)

        def may_call(place: int) -> bool:
            route = entries[place].route
            return route.definition.view.is_for_models and self._profiles.includes(state, route.server, route.definition.name)

        def was_called(place: int) -> bool:
            route = entries[place].route
            return (route.server, route.definition.name) in lately

        def find() -> list[tuple[int, str]]:
            places = index.find(query, limit, among=may_call, is_preferred=was_called)
            return [(place, index.why(query, place)) for place in places]

        found = await finish_in_thread(find) if len(entries) > SLICE else find()
        return [FoundTool(self._tools.in_room(entries[place], self._clients.list_terms(state)), why) for place, why in found]

    async def _called_lately(self, state: SessionState) -> set[tuple[str, str]]:
        """Returns server and tool of the last calls of a session's client, in the project that it works on; none without a journal."""
        if not state.client:
            return set()
        projects = (state.project.path,) if state.project else ()
        wanted = ActivityFilter(kinds=(CALL,), outcomes=("ok",), clients=(state.client,), projects=projects)
        try:
            rows = await finish_in_thread(self._journal.rows, wanted, 0, LATELY, collapsed=False)
        except sqlite3.Error:
            return set()
        return {(row.entry.server, row.entry.tool) for row in rows}

    async def _index(self, entries: Sequence[Entry], key: tuple[str | None, bool]) -> ToolIndex:
        async with self._lock:  # simultaneous searches wait for one index
            kept = self._indexes.pop(key, None)
            if kept is None or kept[0] is not entries:
                kept = entries, await finish_in_thread(_index_of, entries, self._query_words, self._meanings)
            self._indexes[key] = kept
            if len(self._indexes) > MOST_INDEXES:
                del self._indexes[next(iter(self._indexes))]
            return kept[1]


def _index_of(entries: Sequence[Entry], query_words: QueryWords, meanings: WordMeanings) -> ToolIndex:
    return ToolIndex((text_of(entry.definition, server=entry.route.server) for entry in entries), query_words, meanings)


def _for_all(needs: Sequence[Fit]) -> dict[int, float]:
    """Returns the scores for all needs together, and of several for the one that a tool serves best."""
    if len(needs) == 1:
        return _joined(needs[0])
    words: Counter[int] = Counter()
    best: dict[int, float] = {}
    for need in needs:
        words.update(need.words)
        for place, score in _joined(need).items():
            best[place] = max(best.get(place, 0.0), score)
    likeness = [sum(each) / len(needs) for each in zip(*(need.likeness for need in needs if need.likeness), strict=True)]
    together = Fit(words, likeness, sum(need.known for need in needs) / len(needs))  # type: ignore[arg-type]  # a Counter of fractions
    return {place: score + ONE_NEED * best.get(place, 0.0) for place, score in _joined(together).items()}


def _joined(fit: Fit) -> dict[int, float]:
    """Returns the scores of words and of meaning, each in parts of the highest, as one."""
    most, like = max(fit.words.values(), default=0.0) or 1.0, max(fit.likeness, default=0.0)
    if like <= 0:
        return fit.words
    meaning = MEANING * fit.known
    found = {place for place, each in enumerate(fit.likeness) if each >= LEAST_LIKENESS}.union(fit.words)
    return {place: (1 - meaning) * fit.words.get(place, 0.0) / most + meaning * max(fit.likeness[place], 0.0) / like for place in found}


def _meant(text: ToolText) -> Counter[str]:
    weights: Counter[str] = Counter()
    fields = (MEANT_DESCRIPTION, text.description), (MEANT_DESCRIPTION, text.title), (MEANT_OTHER, text.name), (MEANT_OTHER, text.server)
    for weight, content in (*fields, (MEANT_OTHER, " ".join(text.parameters))):
        for word in whole_words(content):
            weights[word] += weight
    return weights


def _vectors(names: Sequence[Sequence[int]], wholes: Sequence[Sequence[int]], size: int) -> Iterator[list[int]]:
    """Yields the meaning of each tool: its name's, and how that of all its words differs from what all tools have in common."""
    nothing = [0] * size  # a name that says nothing is not like any question
    common = [sum(column) / (len(wholes) + FEW) for column in zip(*(each or nothing for each in wholes), strict=True)]
    for name, whole in zip(names, wholes, strict=True):
        own = [number - shared for number, shared in zip(whole, common, strict=False)]
        length = math.hypot(*own) / SCALE / (1 - MEANT_NAME) or 1.0
        yield [round(MEANT_NAME * one + other / length) for one, other in zip(name or nothing, own or nothing, strict=True)]


def _fields(text: ToolText) -> Iterator[tuple[str, str]]:
    yield from (("name", text.name), ("title", text.title), ("server", text.server))
    yield "parameter", " ".join(text.parameters)


def _weights(text: ToolText) -> Counter[str]:
    weights: Counter[str] = Counter()
    fields = (NAME, text.name), (TITLE, text.title), (SERVER, text.server), (DESCRIPTION, text.description)
    for weight, content in (*fields, *((PARAMETERS, name) for name in text.parameters)):
        for word in words_of(content):
            weights[word] += weight  # type: ignore[assignment]  # a Counter of fractions
    return weights


def _parameters(schema: Raw) -> dict[str, Raw]:
    try:
        return opened(opened(schema).get("properties", NOTHING))
    except ValueError:
        return {}


def _details(parameters: Iterable[Raw]) -> Iterator[str]:
    """Yields the descriptions of parameters and the values from which they are chosen; other members are left out."""
    for parameter in parameters:
        with suppress(ValueError):
            members = opened(parameter)
            yield _text(members.get("description", NOTHING))
            values = load(members.get("enum", NOTHING))
            yield from (each for each in values if isinstance(each, str)) if isinstance(values, list) else ()


def _text(value: Raw) -> str:
    try:
        found = load(value)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""
