"""The prompts, the resources and templates, or the skills, of all servers or of one: a table, and a preview of one of them."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.tools.offer_preview import OfferPreview, sheet_of
from tooltray.ui.tools.offered import PROMPT, SKILL, TEMPLATE, Offered, by_server, matching
from tooltray.ui.tools.offered_commands import OfferedCommands
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import leave_focus
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.row_model import Column, Heading, Kind
from tooltray.ui.widgets.surface import column
from tooltray.ui.widgets.table import Table

ROOM_BESIDE = 640  # px; a preview stands beside the list where there is so much, else in a sheet
PREVIEW_SHARE = 0.52
SHEET_WIDTH, SHEET_HEIGHT = 760, 520
LOOKED_AGAIN_MS = 300  # several lists change together


class OfferedList(QWidget):
    """A list of prompts, resources or skills.

    Args:
        kind: PROMPT, SKILL, or anything else for resources and templates.
        server: the only server; empty: all.
    """

    listed = Signal(int)  # how many there are

    def __init__(self, context: PageContext, kind: str, server: str = "") -> None:
        super().__init__()
        self._context, self._theme, self._kind, self._server = context, context.theme, kind, server
        self._offers: Sequence[Offered] | None = None
        self._text = ""
        self._preview: OfferPreview | None = None
        self.commands = OfferedCommands(context, kind, server)
        self._fault = FaultArea(self._theme)
        self._stack = QStackedWidget()
        self._table = Table(self._theme, self._columns(), self._title, lambda offer: (offer.kind, offer.server, offer.key))
        self._loading = EmptyState(self._theme, tr("Reading…"), "", ())
        self._none = EmptyState(self._theme, *self._empty_words(), ())
        for each in (self._loading, self._table, self._none):
            self._stack.addWidget(each)
        self._split = QWidget()
        self._stack.setParent(self._split)
        self._edge = QFrame(self._split)
        self._edge.setObjectName("Divider")
        column(self).addWidget(NoticesAbove(self._fault, self._split), 1)
        self._again = QTimer(self, singleShot=True, interval=LOOKED_AGAIN_MS)
        self._again.timeout.connect(self._look_if_seen)
        self._table.row_chosen.connect(self._on_row)
        self._table.switched.connect(self._on_switched)
        self.commands.listed.connect(self._on_listed)
        self.commands.failed.connect(self._on_failed)
        context.servers.server_changed.connect(self._on_server)

    @property
    def table(self) -> Table:
        return self._table

    @property
    def preview(self) -> OfferPreview | None:
        return self._preview

    def look(self) -> None:
        """Reads the list."""
        self.commands.look()

    def search(self, text: str) -> None:
        """Shows only the lines with these words."""
        self._text = text
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._preview is not None and self._preview.parent() is self._split:
            self.close_preview()
        else:
            super().keyPressEvent(event)

    def close_preview(self) -> None:
        """Shows only the list."""
        if (preview := self._preview) is not None:
            self._preview = None
            preview.leave()
            leave_focus(preview)
            preview.hide()
            preview.deleteLater()
            self._place()
            self._table.setFocus()

    @property
    def _title(self) -> str:
        return {PROMPT: tr("Prompts"), SKILL: tr("Skills")}.get(self._kind, tr("Resources"))

    def _empty_words(self) -> tuple[str, str]:
        if self._kind == PROMPT:
            return tr("No prompts"), tr("A server can offer ready texts for a model. None of those that run does.")
        if self._kind == SKILL:
            return tr("No skills"), tr("A server can offer instructions that AI clients load when they need them. This one does not.")
        return tr("No resources"), tr("A server can offer files and other data to read. None of those that run does.")

    def _columns(self) -> list[Column]:
        name = Column(tr("Name"), lambda offer: offer.title, Kind.TEXT, 0, lambda offer: offer.description or offer.key)
        if self._kind == PROMPT:
            return [name, Column(tr("Arguments"), _arguments, Kind.QUIET, 150, _arguments)]
        if self._kind == SKILL:
            held = Column(tr("State"), _state, Kind.CHIP, 100)
            return [name, held, Column(tr("Offered"), lambda offer: offer.is_enabled, Kind.SWITCH, 76)]
        chip = Column(tr("Kind"), _kind, Kind.CHIP, 120, lambda offer: offer.mime)
        return [name, chip]

    def _on_listed(self, offers: Sequence[Offered]) -> None:
        self._offers = offers
        self.listed.emit(len(offers))
        self._draw()

    def _on_failed(self, problem: Problem | None) -> None:
        if self._preview is None:
            self._fault.show_problem(problem)

    def _on_server(self, _server: object) -> None:
        self._again.start()

    def _look_if_seen(self) -> None:
        if self.isVisible() and self._offers is not None:
            self.look()

    def _draw(self) -> None:
        shown = matching(self._offers or (), self._text)
        lines: list[Offered | Heading] = []
        for server, offers in by_server(shown).items():
            lines += [*([] if self._server else [Heading(server, len(offers))]), *offers]
        self._table.set_rows(lines)
        self._none.set_title(tr("No matches") if self._offers else self._empty_words()[0])
        self._stack.setCurrentWidget(self._table if lines else self._loading if self._offers is None else self._none)

    def _on_row(self, row: object) -> None:
        if not isinstance(row, Offered):
            return
        self.close_preview()
        if self.width() < ROOM_BESIDE:
            preview = OfferPreview(self._context, row, self.commands, is_sheet=True)
            sheet = self._context.sheets.replace(sheet_of(preview, SHEET_WIDTH, SHEET_HEIGHT))
            preview.close_requested.connect(sheet.dismiss)
            sheet.closed.connect(preview.leave)
        else:
            preview = self._preview = OfferPreview(self._context, row, self.commands)
            preview.close_requested.connect(self.close_preview)
            preview.setParent(self._split)
            preview.show()
            self._place()
        if row.arguments:
            preview.focus()

    def _on_switched(self, row: object, on: bool) -> None:
        if isinstance(row, Offered):
            self.commands.switch_skill(row, on)

    def _place(self) -> None:
        width, height = self._split.width(), self._split.height()
        beside = int(width * PREVIEW_SHARE) if self._preview is not None else 0
        self._stack.setGeometry(0, 0, width - beside, height)
        self._edge.setVisible(self._preview is not None)
        if self._preview is not None:
            self._edge.setGeometry(width - beside, 0, 1, height)
            self._preview.setGeometry(width - beside + 1, 0, beside - 1, height)
            self._preview.raise_()


def _arguments(offer: Offered) -> str:
    return ", ".join(argument.name for argument in offer.arguments)


def _state(offer: Offered) -> tuple[str, str]:
    return (tr("Blocked until reviewed"), "warning") if offer.is_held else ("", "")


def _kind(offer: Offered) -> tuple[str, str]:
    return (tr("template"), "accent") if offer.kind == TEMPLATE else (offer.mime, "")
