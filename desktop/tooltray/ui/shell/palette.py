"""The command palette: its entries, their sources, the search for those that fit the typed words, and the palette itself, which opens over
the window, reads what it needs, and runs the chosen entry. Before an entry runs, the sheet is closed and the focus restored, since the
entry may open a sheet of its own.

15,000 entries take some milliseconds: first it searches for whole words and parts of words, at the speed of the interpreter's own search;
only where that finds little, for letters in their order."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Destination
from tooltray.ui.kit.page import PageEntry
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import whole

if TYPE_CHECKING:  # imported when the palette is opened
    from tooltray.ui.shell.palette_panel import PalettePanel, Row

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


class PaletteContext(msgspec.Struct, frozen=True):
    """The data that entries are made of.

    Attributes:
        tools, clients: as they were last read.
        pasted: names of the servers in the clipboard; `pasted_text` is the text of the clipboard.
    """

    page: PageContext
    pages: Sequence[PageEntry]
    tools: Sequence[ToolSnapshot] = ()
    clients: Sequence[ClientModeSnapshot] = ()
    pasted: Sequence[str] = ()
    pasted_text: str = ""

    def link(self, destination: Destination) -> Run:
        """Returns a function that shows a place in the window."""
        return lambda: self.page.go(destination)


MOST_SHOWN = 60  # nobody reads further; they type another letter
MOST_SCORED = 1500  # of those that have the words: one letter alone fits nearly all
FEW = 8  # found by words; below that letters in their order count, too
SHORTEST_FUZZY = 3  # letters; fewer are in nearly every title
WHOLE_WORD, WORD_START, INSIDE, ELSEWHERE, LETTERS = 40, 30, 14, 10, 4  # points of a word
TITLE_IS, TITLE_STARTS, USED_LAST = 60, 20, 24


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
    return USED_LAST / (ago + 1) ** 0.5 if ago is not None else 0.0


RECENT = "palette.recent"  # in the memory of the window: keys, the last one first
MOST_RECENT, SHOWN_RECENT = 30, 6
SLICE = 200  # entries that are made in one turn of the loop: 2 ms
LONGEST_PASTED = 20_000  # characters of the clipboard that are looked at


class Palette(QObject, View):
    """The palette of a window; `open` shows it."""

    def __init__(self, context: PageContext, pages: Sequence[PageEntry], parent: QObject) -> None:
        super().__init__(parent)
        self.context, self._pages = context, pages
        self.panel: PalettePanel | None = None  # while the palette is open
        self._tools: Sequence[ToolSnapshot] = ()
        self._clients: Sequence[ClientModeSnapshot] = ()
        self._index: list[Indexed] = []
        self._long: list[Indexed] = []
        self._problem: Problem | None = None
        self._is_old, self._is_ready = True, False
        self._request = self.reading(self._read)
        context.tools.tool_list_changed.connect(self._on_tools_changed)

    def open(self) -> None:
        """Opens the palette; does nothing while something else lies over the window."""
        if self.context.sheets.sheet is not None:
            return
        from tooltray.ui.shell.palette_panel import PalettePanel

        self.panel = PalettePanel(self.context.theme, typed=self._show, chosen=self._run)
        self._make_short()
        self._refresh()
        self.context.sheets.open(self.panel).closed.connect(self._on_closed)
        if self._is_old:
            self._request()

    # what there is

    def _palette_context(self) -> PaletteContext:
        text = QGuiApplication.clipboard().text()[: LONGEST_PASTED + 1]
        names = self._pasted(text)
        return PaletteContext(self.context, self._pages, self._tools, self._clients, names, text if names else "")

    def _pasted(self, text: str) -> list[str]:
        """Returns the names of servers in the clipboard that are not in use yet."""
        if not text.strip() or len(text) > LONGEST_PASTED:
            return []
        try:
            names = [each.name for each in self.context.local.read_pasted(text)]
        except TooltrayError:
            return []
        return [name for name in names if self.context.servers.find(name) is None]

    def _make_short(self) -> None:
        from tooltray.ui.shell.palette_sources import SHORT_SOURCES

        context = self._palette_context()
        self._index = [indexed(entry) for entries in SHORT_SOURCES for entry in entries(context)]

    async def _make_long(self) -> None:
        from tooltray.ui.shell.palette_sources import tools

        made = []
        for count, entry in enumerate(tools(self._palette_context())):
            made.append(indexed(entry))
            if count % SLICE == 0:
                await asyncio.sleep(0)
        self._long = made

    async def _read(self) -> None:
        self._is_old = False
        try:
            clients = await self.context.hub.views.get_client_modes()
            self._tools = await self.context.hub.tools.get_tools(None)
        except TooltrayError:
            self._is_old = True
            raise
        is_new, self._clients = clients != self._clients, clients
        await self._make_long()
        self._is_ready = True
        if self.panel is not None and is_new:
            self._make_short()
        self._refresh()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows in the palette that tools could not be read; None removes it."""
        self._problem = problem
        self._refresh()

    def _on_tools_changed(self, _server: str) -> None:
        self._is_old = True
        if self.panel is not None:
            self._request()

    # what is shown

    def _refresh(self) -> None:
        """Searches for the same words again in newer data; the selection stays."""
        if self.panel is None:
            return
        marked = self.panel.list.entry
        self.panel.show_rows(self._rows(self.panel.field.text()), kept=marked.key if marked is not None else "")
        if self._problem is not None:
            self.panel.show_note(tr("Tools could not be read"), whole(self._problem))
        elif not self._is_ready:
            self.panel.show_note(tr("Tools are being read…"))
        else:
            self.panel.show_note(tr("Servers, pages and {count} tools", count=f"{len(self._tools):,}"))

    def _show(self, text: str) -> None:
        if self.panel is not None:
            self.panel.show_rows(self._rows(text))

    def _rows(self, text: str) -> "Sequence[Row]":
        recent = {key: ago for ago, key in enumerate(self.context.local.memory.texts(RECENT))}
        if text.strip():
            return matches(text, [*self._index, *self._long], recent)
        return self._beginning(recent)

    def _beginning(self, recent: dict[str, int]) -> "list[Row]":
        """Returns the rows before anything is typed: what needs the user now, recent entries, pages and actions."""
        everything = [each.entry for each in (*self._index, *self._long)]
        others = [entry for entry in everything if not entry.is_now]
        last = sorted((entry for entry in others if entry.key in recent), key=lambda entry: recent[entry.key])[:SHOWN_RECENT]
        groups = {
            tr("Now"): [entry for entry in everything if entry.is_now],
            tr("Last used"): last,
            tr("Pages"): [entry for entry in others if entry.key.startswith("page:") and entry not in last],
            tr("Actions"): [entry for entry in others if entry.key.startswith("do:") and entry not in last],
        }
        rows: list[Row] = []
        for title, entries in groups.items():
            rows += [title, *entries] if entries else []
        return rows

    # what is done

    def _run(self) -> None:
        entry = self.panel.list.entry if self.panel is not None else None
        if entry is None or (sheet := self.context.sheets.sheet) is None:
            return
        memory = self.context.local.memory
        memory.remember(RECENT, [entry.key, *(key for key in memory.texts(RECENT) if key != entry.key)][:MOST_RECENT])
        sheet.dismiss()
        entry.run()

    def _on_closed(self) -> None:
        self.panel = None
