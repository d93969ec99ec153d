"""The prompts, the resources and templates, or the skills, of all servers or of one: a table, and a preview of one of them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonObject
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.tools.offer_preview import (
    PROMPT,
    RESOURCE,
    SKILL,
    TEMPLATE,
    Offered,
    OfferPreview,
    prompt_of,
    resource_of,
    skill_of,
    template_of,
)
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import leave_focus
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.row_model import Column, Heading, Kind
from tooltray.ui.widgets.surface import column
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

ROOM_BESIDE = 640  # px; a preview stands beside the list where there is so much, else in a sheet
PREVIEW_SHARE = 0.52
SHEET_WIDTH, SHEET_HEIGHT = 760, 520
LOOKED_AGAIN_MS = 300  # several lists change together
List = Callable[[str | None], Awaitable[list[JsonObject]]]
Read = Callable[[str, Mapping[str, object]], Offered]


WORDS = {
    PROMPT: (
        Phrase("Prompts"),
        Phrase("No prompts"),
        Phrase("A server can offer ready texts for a model. None of those that run does."),
    ),
    SKILL: (
        Phrase("Skills"),
        Phrase("No skills"),
        Phrase("A server can offer instructions that AI clients load when they need them. This one does not."),
    ),
    RESOURCE: (
        Phrase("Resources"),
        Phrase("No resources"),
        Phrase("A server can offer files and other data to read. None of those that run does."),
    ),
}
"""Of each kind: its name, and the words without any."""


class OfferedList(QWidget, View):
    """A list of prompts, resources or skills.

    Args:
        kind: PROMPT, SKILL or RESOURCE, which includes templates.
        server: the only server; empty: all.
    """

    listed = Signal(int)  # how many there are

    def __init__(self, context: PageContext, kind: str, server: str = "") -> None:
        super().__init__()
        self.context, self._theme, self._kind, self._server = context, context.theme, kind, server
        self._offers: Sequence[Offered] | None = None
        self._text = ""
        self.preview: OfferPreview | None = None  # beside the list
        self.refresh = self.reading(self._read)
        self._fault = FaultArea(self._theme)
        title, none, none_text = map(say, WORDS[kind])
        self._stack = QStackedWidget()
        self.table = Table(self._theme, self._columns(), title, lambda offer: (offer.kind, offer.server, offer.key))
        self._loading = EmptyState(self._theme, tr("Reading…"), "", ())
        self._none = EmptyState(self._theme, none, none_text, ())
        for each in (self._loading, self.table, self._none):
            self._stack.addWidget(each)
        self._split = QWidget()
        self._stack.setParent(self._split)
        self._edge = QFrame(self._split)
        self._edge.setObjectName("Divider")
        column(self).addWidget(NoticesAbove(self._fault, self._split), 1)
        self._again = timer(self, LOOKED_AGAIN_MS, self._refresh_if_visible)
        self.table.row_chosen.connect(self._on_row)
        self.table.switched.connect(self._on_switched)
        context.servers.server_changed.connect(self._on_server)

    def search(self, text: str) -> None:
        """Shows only the lines with these words."""
        self._text = text
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.preview is not None:
            self.close_preview()
        else:
            super().keyPressEvent(event)

    def close_preview(self) -> None:
        """Shows only the list."""
        if (preview := self.preview) is not None:
            self.preview = None
            self._stop_following(preview)
            leave_focus(preview)
            preview.hide()
            preview.deleteLater()
            self._place()
            self.table.setFocus()

    def _stop_following(self, preview: OfferPreview) -> None:
        """Stops following changes, since the preview is closed."""
        if preview.is_following:
            self.run(self.hub.resources.unsubscribe_resource(preview.key))

    def _columns(self) -> list[Column]:
        name = Column(tr("Name"), lambda offer: offer.title, Kind.TEXT, 0, lambda offer: offer.description or offer.key)
        if self._kind == PROMPT:
            return [name, Column(tr("Arguments"), _arguments, Kind.QUIET, 150, _arguments)]
        if self._kind == SKILL:
            held = Column(tr("State"), _state, Kind.CHIP, 160)
            return [name, held, Column(tr("Offered"), lambda offer: offer.is_enabled, Kind.SWITCH, 76)]
        chip = Column(tr("Kind"), _kind, Kind.CHIP, 120, lambda offer: offer.mime)
        return [name, chip]

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure above the list; None removes it."""
        self._fault.show_problem(problem)

    async def _read(self) -> None:
        self._offers = await self._offered()
        self.listed.emit(len(self._offers))
        self._draw()

    async def _offered(self) -> list[Offered]:
        hub = self.hub
        if self._kind == PROMPT:
            return await self._all(hub.prompts.get_all_prompts, prompt_of)
        if self._kind == SKILL:
            return [skill_of(each) for each in await hub.skills.get_skills(self._server or None)]
        resources = await self._all(hub.resources.get_all_resources, resource_of)
        return [*resources, *await self._all(hub.resources.get_all_resource_templates, template_of)]

    async def _all(self, ask: List, read: Read) -> list[Offered]:
        """Returns the offers of all servers, or of the only one. Definitions do not name their server, so that each server is asked until
        all are found.
        """
        if self._server:
            return [read(self._server, each) for each in await ask(self._server)]
        left = len(await ask(None))
        found: list[Offered] = []
        for server in [each for each in self.context.servers.servers if not each.is_disabled] if left else ():
            if len(found) >= left:
                break
            try:
                found += [read(server.name, each) for each in await ask(server.name)]
            except TooltrayError:
                continue  # it was removed just now
        return found

    def _on_server(self, _server: object) -> None:
        self._again.start()

    def _refresh_if_visible(self) -> None:
        if self.isVisible() and self._offers is not None:
            self.refresh()

    def _draw(self) -> None:
        words, by_server = self._text.casefold().split(), dict[str, list[Offered]]()
        for each in sorted(self._offers or (), key=lambda offer: (offer.server.casefold(), offer.kind == TEMPLATE)):
            if all(word in each.text for word in words):
                by_server.setdefault(each.server, []).append(each)
        lines: list[Offered | Heading] = []
        for server, offers in by_server.items():
            lines += [*([] if self._server else [Heading(server, len(offers))]), *offers]
        self.table.set_rows(lines)
        self._none.set_title(tr("No matches") if self._offers else say(WORDS[self._kind][1]))
        self._stack.setCurrentWidget(self.table if lines else self._loading if self._offers is None else self._none)

    def _on_row(self, row: Offered) -> None:
        self.close_preview()
        if self.width() < px(ROOM_BESIDE):
            preview = OfferPreview(self.context, row, is_sheet=True)
            preview.setMaximumWidth(px(SHEET_WIDTH))
            preview.setMinimumHeight(px(SHEET_HEIGHT))
            sheet = self.context.sheets.replace(preview)
            preview.close_requested.connect(sheet.dismiss)
            sheet.closed.connect(partial(self._stop_following, preview))
        else:
            preview = self.preview = OfferPreview(self.context, row)
            preview.close_requested.connect(self.close_preview)
            preview.setParent(self._split)
            preview.show()
            self._place()
        if row.arguments:
            preview.focus()

    def _on_switched(self, row: Offered, on: bool) -> None:
        self.run(self.hub.skills.set_skill_enabled(row.server, row.own_key, on), then=self._read)  # the switch then shows what is true

    def _place(self) -> None:
        width, height = self._split.width(), self._split.height()
        beside = int(width * PREVIEW_SHARE) if self.preview is not None else 0
        self._stack.setGeometry(0, 0, width - beside, height)
        self._edge.setVisible(self.preview is not None)
        if self.preview is not None:
            self._edge.setGeometry(width - beside, 0, 1, height)
            self.preview.setGeometry(width - beside + 1, 0, beside - 1, height)
            self.preview.raise_()


def _arguments(offer: Offered) -> str:
    return ", ".join(argument.name for argument in offer.arguments)


def _state(offer: Offered) -> tuple[str, str]:
    return (tr("Blocked until reviewed"), "warning") if offer.is_held else ("", "")


def _kind(offer: Offered) -> tuple[str, str]:
    return (tr("template"), "accent") if offer.kind == TEMPLATE else (offer.mime, "")
