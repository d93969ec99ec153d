"""The command palette: opens over the window, reads what it needs, and runs the chosen entry. Before an entry runs, the sheet is closed and
the focus restored, since the entry may open a sheet of its own."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import whole
from tooltray.ui.shell.palette_entry import Indexed, PageLine, PaletteContext, PaletteEntry, indexed, matches

if TYPE_CHECKING:  # imported when the palette is opened
    from tooltray.ui.shell.palette_panel import PalettePanel, Row

RECENT = "palette.recent"  # in the memory of the window: keys, the last one first
MOST_RECENT, SHOWN_RECENT = 30, 6
SLICE = 200  # entries that are made in one turn of the loop: 2 ms
LONGEST_PASTED = 20_000  # characters of the clipboard that are looked at


class Palette(QObject, View):
    """The palette of a window; `open` shows it."""

    def __init__(self, context: PageContext, pages: Sequence[PageLine], parent: QObject) -> None:
        super().__init__(parent)
        self.context, self._pages = context, pages
        self._panel: PalettePanel | None = None
        self._tools: Sequence[ToolSnapshot] = ()
        self._clients: Sequence[ClientModeSnapshot] = ()
        self._index: list[Indexed] = []
        self._long: list[Indexed] = []
        self._problem: Problem | None = None
        self._is_old, self._is_ready = True, False
        self._request = self.reading(self._read)
        context.tools.tool_list_changed.connect(self._on_tools_changed)

    @property
    def panel(self) -> "PalettePanel | None":
        """The panel while the palette is open, else None."""
        return self._panel

    def open(self) -> None:
        """Opens the palette; does nothing while something else lies over the window."""
        if self.context.sheets.sheet is not None:
            return
        from tooltray.ui.shell.palette_panel import PalettePanel

        panel = self._panel = PalettePanel(self.context.theme)
        panel.typed.connect(self._show)
        panel.chosen.connect(self._run)
        self._make_short()
        self._show()
        sheet = self.context.sheets.open(panel)
        sheet.closed.connect(self._on_closed)
        self._say_state()
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
        from tooltray.ui.shell.palette_sources import SOURCES

        context = self._palette_context()
        self._index = [indexed(entry) for source in SOURCES if not source.is_long for entry in source.entries(context)]

    async def _make_long(self) -> None:
        from tooltray.ui.shell.palette_sources import SOURCES

        context, made = self._palette_context(), []
        for source in SOURCES:
            if not source.is_long:
                continue
            for count, entry in enumerate(source.entries(context)):
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
        if self._panel is not None:
            if is_new:
                self._make_short()
            self._refresh()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows in the palette that tools could not be read; None removes it."""
        self._problem = problem
        self._refresh()

    def _on_tools_changed(self, _server: str) -> None:
        self._is_old = True
        if self._panel is not None:
            self._request()

    # what is shown

    def _refresh(self) -> None:
        """Searches for the same words again in newer data; the selection stays."""
        if self._panel is not None:
            marked = self._panel.list.entry
            self._panel.show_rows(self._rows(self._panel.field.text()), kept=marked.key if marked is not None else "")
            self._say_state()

    def _show(self, text: str = "") -> None:
        if self._panel is not None:
            self._panel.show_rows(self._rows(text))

    def _rows(self, text: str) -> "Sequence[Row]":
        recent = {key: ago for ago, key in enumerate(self.context.local.memory.texts(RECENT))}
        if text.strip():
            return matches(text, [*self._index, *self._long], recent)
        return self._beginning(recent)

    def _beginning(self, recent: dict[str, int]) -> "list[Row]":
        """Returns the rows before anything is typed: what needs the user now, recent entries, pages and actions."""
        everything = [each.entry for each in (*self._index, *self._long)]
        now = [entry for entry in everything if entry.is_now]
        last = sorted((entry for entry in everything if entry.key in recent and not entry.is_now), key=lambda entry: recent[entry.key])
        pages = [entry for entry in everything if entry.key.startswith("page:") and entry not in last[:SHOWN_RECENT]]
        actions = [entry for entry in everything if entry.key.startswith("do:") and not entry.is_now and entry not in last[:SHOWN_RECENT]]
        groups: tuple[tuple[str, Sequence[PaletteEntry]], ...] = (
            (tr("Now"), now),
            (tr("Last used"), last[:SHOWN_RECENT]),
            (tr("Pages"), pages),
            (tr("Actions"), actions),
        )
        rows: list[Row] = []
        for title, entries in groups:
            rows += [title, *entries] if entries else []
        return rows

    def _say_state(self) -> None:
        if self._panel is None:
            return
        if self._problem is not None:
            self._panel.show_note(tr("Tools could not be read"), whole(self._problem))
        elif not self._is_ready:
            self._panel.show_note(tr("Tools are being read…"))
        else:
            self._panel.show_note(tr("Servers, pages and {count} tools", count=f"{len(self._tools):,}"))

    # what is done

    def _run(self) -> None:
        entry = self._panel.list.entry if self._panel is not None else None
        if entry is None or (sheet := self.context.sheets.sheet) is None:
            return
        memory = self.context.local.memory
        memory.remember(RECENT, [entry.key, *(key for key in memory.texts(RECENT) if key != entry.key)][:MOST_RECENT])
        sheet.dismiss()
        entry.run()

    def _on_closed(self) -> None:
        self._panel = None
