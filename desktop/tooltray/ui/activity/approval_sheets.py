"""The sheets of one grant and of one decision. Every text of a server or a client is plain text."""

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import starmap

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout

from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.snapshots.approvals import AuditEntry, GrantSnapshot
from tooltray.ui.activity.activity_words import whole_time
from tooltray.ui.activity.decision_words import answer_words, facts, way_words
from tooltray.ui.approval.approval_body import FACT_WIDTH, granted, granted_to, granted_until, lines_box
from tooltray.ui.i18n import shipped, tr
from tooltray.ui.kit.destinations import CallsWhere, OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label, breakable
from tooltray.ui.widgets.surface import Surface, row

WIDTH = 560


class GrantSheet(SheetView):
    """A sheet with what was allowed for a tool, or for all that reads of a server.

    Args:
        revoke: revokes a grant, given by its id.
    """

    def __init__(self, context: PageContext, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, granted(grant), WIDTH)
        self._grant, self._revoke = grant, revoke
        if grant.is_held:
            text = tr("Changed since you allowed it, so it asks again: {tools}", tools=", ".join(grant.held_tools))
            self.body.addWidget(Banner(context.theme, "warning", tr("Blocked until reviewed"), text))
        until = granted_until(grant, datetime.now())
        about = [(tr("For"), granted_to(grant)), (tr("Since"), whole_time(grant.created_at)), (tr("Until"), until)]
        self.body.addWidget(_facts(context.theme, about))
        line = row(spacing=16)
        if grant.tool:
            line.addWidget(self._link(tr("Show its calls"), self._on_calls))
        line.addWidget(self._link(tr("Change what {name} may do", name=grant.server), self._on_server))
        line.addStretch(1)
        self.body.addLayout(line)
        remove = Button(context.theme, tr("Revoke"), "danger")
        remove.clicked.connect(self._on_revoke)
        self.buttons.addWidget(remove)
        self.buttons.addStretch(1)
        self.add_button(tr("Close"), self.close_requested.emit)

    def _link(self, text: str, slot: Callable[[], None]) -> Button:
        link = Button(self.context.theme, text, "link", small=True)
        link.clicked.connect(slot)
        return link

    def _on_calls(self) -> None:
        wanted = ActivityFilter(servers=(self._grant.server,), tools=(self._grant.tool,))
        self.close_requested.emit()
        self.context.go(CallsWhere(wanted))

    def _on_server(self) -> None:
        self.close_requested.emit()
        self.context.go(OpenServer(self._grant.server, "access"))

    def _on_revoke(self) -> None:
        self._revoke(self._grant.id)
        self.close_requested.emit()


class DecisionSheet(SheetView):
    """A sheet with everything that is recorded of a decision."""

    def __init__(self, context: PageContext, entry: AuditEntry) -> None:
        super().__init__(context, shipped(entry.what), WIDTH)
        about = [(tr("Answer"), answer_words(entry)), (tr("When"), whole_time(entry.at)), (tr("By"), way_words(entry)), *facts(entry)]
        self.body.addWidget(_facts(context.theme, about))
        self.add_button(tr("Close"), self.close_requested.emit)


def _facts(theme: Theme, facts: Iterable[tuple[str, str]]) -> Surface:
    """Returns a box with facts: their names and values, in words."""

    def line(name: str, value: str) -> QHBoxLayout:
        result = row(margins=(0, 7, 0, 7))
        label = ElidedLabel(theme, name, "caption", "muted", hugs=True)
        label.setFixedWidth(FACT_WIDTH)
        label.setMinimumHeight(theme.line("body"))
        result.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        words = Label(theme, breakable(value), "body", wrap=True)
        words.setAccessibleName(value)
        result.addWidget(words, 1)
        return result

    return lines_box(theme, starmap(line, facts))
