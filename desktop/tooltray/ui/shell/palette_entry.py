"""The entries of the palette, their sources, the data that sources use, and the search for the entries that fit the typed words.

15,000 entries take some milliseconds: first it searches for whole words and parts of words, at the speed of the interpreter's own search;
only where that finds little, for letters in their order."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.kit.destinations import Destination
from tooltray.ui.kit.page_context import PageContext

Run = Callable[[], object]


class PaletteEntry(msgspec.Struct, frozen=True):
    """One line.

    Attributes:
        key: the same for the same thing, so that what was done last comes first.
        title: what is shown or done.
        run: does it, once the palette is closed.
        icon: its file.
        kind: what it is, in a word, at the right.
        detail: what distinguishes it from others of its name.
        also: other words by which it is found; in English, too, whatever language is spoken.
        rank: of two that fit alike the higher one comes first.
        is_now: it needs the user now, and is listed before anything is typed.
        is_change: it may change something at once, so that letters in their order alone do not find it.
    """

    key: str
    title: str
    run: Run
    icon: str
    kind: str
    detail: str = ""
    also: str = ""
    rank: int = 0
    is_now: bool = False
    is_change: bool = False


class PageLine(msgspec.Struct, frozen=True):
    """A page of the window."""

    place: Destination
    icon: str
    title: str


class PaletteContext(msgspec.Struct, frozen=True):
    """The data that entries are made of.

    Attributes:
        tools, clients: as they were last read.
        pasted: names of the servers in the clipboard; `pasted_text` is the text of the clipboard.
    """

    page: PageContext
    pages: Sequence[PageLine]
    tools: Sequence[ToolSnapshot] = ()
    clients: Sequence[ClientModeSnapshot] = ()
    pasted: Sequence[str] = ()
    pasted_text: str = ""

    def link(self, destination: Destination) -> Run:
        """Returns a function that shows a place in the window."""
        return lambda: self.page.go(destination)


class PaletteSource(msgspec.Struct, frozen=True):
    """A source of entries.

    Args:
        name: in code and tests.
        entries: made each time that the palette opens.
        is_long: there may be thousands; they are made a few at a time, and kept while the tools are the same.
    """

    name: str
    entries: Callable[[PaletteContext], Iterable[PaletteEntry]]
    is_long: bool = False


MOST_SHOWN = 60  # nobody reads further; they type another letter
MOST_SCORED = 1500  # of those that have the words: one letter alone fits nearly all
FEW = 8  # found by words; below that letters in their order count, too
SHORTEST_FUZZY = 3  # letters; fewer are in nearly every title
WHOLE_WORD, WORD_START, INSIDE, ELSEWHERE, LETTERS = 40, 30, 14, 10, 4  # points of a word
TITLE_IS, TITLE_STARTS, RECENT = 60, 20, 24


class Indexed(msgspec.Struct, frozen=True):
    """An entry with its words in the form that is compared: in lower case, each word with a space before it."""

    entry: PaletteEntry
    title: str
    all: str


def indexed(entry: PaletteEntry) -> Indexed:
    title = f" {plain(entry.title)} "
    return Indexed(entry, title, f"{title}{plain(entry.detail)} {plain(entry.also)} ")


def plain(text: str) -> str:
    """Returns a text in the form that is compared: folded to lower case; names with joints also in their parts."""
    folded = text.casefold()
    parted = JOINTS.sub(" ", folded)
    return folded if parted == folded else f"{folded} {parted}"


JOINTS = re.compile(r"[-_./:]+")


def matches(query: str, entries: Sequence[Indexed], recent: Mapping[str, int]) -> list[PaletteEntry]:
    """Returns the entries that fit, the best first.

    Args:
        query: contains more than spaces.
        recent: how long ago an entry was used, by its key; 0: it was the last one.
    """
    words = query.casefold().split()
    found = _with_words(words, entries)
    scored = [(_points(query, words, each, recent), each.entry) for each in found[:MOST_SCORED]]
    if len(found) < FEW:
        there = {each.entry.key for each in found}
        others = (each for each in _with_letters(words, entries) if each.entry.key not in there)
        scored += [(LETTERS + each.entry.rank + _recency(each, recent), each.entry) for each in others]
    scored.sort(key=lambda each: -each[0])
    return [entry for _, entry in scored[:MOST_SHOWN]]


def _with_words(words: Sequence[str], entries: Sequence[Indexed]) -> Sequence[Indexed]:
    for word in words:
        starts = f" {word}"
        found = [each for each in entries if starts in each.all]
        entries = found if len(word) == 1 else [*found, *(each for each in entries if word in each.all and starts not in each.all)]
    return entries


def _with_letters(words: Sequence[str], entries: Sequence[Indexed]) -> list[Indexed]:
    """Returns the entries whose titles contain each word's letters in order, from the beginning of a word; none that changes something."""
    found = [each for each in entries if not each.entry.is_change]
    for word in words:
        if len(word) < SHORTEST_FUZZY:
            found = [each for each in found if f" {word}" in each.all]
            continue
        letters = re.compile(rf" {re.escape(word[0])}" + "".join(f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in word[1:]))
        found = [each for each in found if letters.search(each.title)]
    return found[:MOST_SCORED]


def _points(query: str, words: Sequence[str], each: Indexed, recent: Mapping[str, int]) -> float:
    title = each.title
    points = float(each.entry.rank) - len(title) / 16 + _recency(each, recent)
    for word in words:
        if f" {word} " in title:
            points += WHOLE_WORD
        elif f" {word}" in title:
            points += WORD_START
        elif word in title:
            points += INSIDE
        else:
            points += ELSEWHERE
    said = query.casefold().strip()
    if each.entry.title.casefold() == said:
        points += TITLE_IS
    elif title.startswith(f" {said}"):
        points += TITLE_STARTS
    return points


def _recency(each: Indexed, recent: Mapping[str, int]) -> float:
    ago = recent.get(each.entry.key)
    return RECENT / (ago + 1) ** 0.5 if ago is not None else 0.0
