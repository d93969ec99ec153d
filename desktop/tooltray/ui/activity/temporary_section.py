"""What the user has allowed for longer than one call: for a time, or by a rule."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout

from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.snapshots.approvals import GrantSnapshot, JudgedCall, RulePreview
from tooltray.ui.activity.activity_words import whole_time
from tooltray.ui.approval.approval_body import details, ends, facts_box, granted, granted_to, granted_until, lines_box, own_permissions
from tooltray.ui.approval.permission_words import cautions, covered, of_late
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import CallsWhere, OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import TableSection
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import clear, column, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

GRANT_WIDTH, RULE_WIDTH = 560, 600
TIME_WIDTH = 92  # px
MOST_CALLS = 6  # of each kind that are shown
TICK_MS = 1000
SINCE, ROOM_FOR_SINCE = 2, 1040  # a column, and the px of the section below which it is in the details only


class TemporarySection(TableSection):
    """The section with the grants.

    Attributes:
        table: the grants, the newest first.
    """

    def __init__(self, context: PageContext) -> None:
        name = tr("Temporary approvals and rules")
        table = Table(context.theme, _columns(), name, lambda each: each.id, in_card=True, has_header=True)
        narrow = (SINCE, ROOM_FOR_SINCE)
        super().__init__(context, name, tr("Ends if the tool changes."), table, nothing=own_permissions(0), narrow=narrow)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)
        table.pressed.connect(self._on_pressed)
        table.row_chosen.connect(self.open_grant)

    @property
    def grants(self) -> Sequence[GrantSnapshot]:
        """The grants that are shown."""
        return self.table.given

    async def read(self) -> None:
        """Reads the grants, and shows them."""
        self.show_grants(await self.hub.approvals.get_grants())

    def show_grants(self, grants: Sequence[GrantSnapshot]) -> None:
        self.show_rows(grants)
        self._follow_time()

    def show_open_servers(self, count: int) -> None:
        """Shows how many servers run everything without asking, by their own settings."""
        self._nothing.setText(own_permissions(count))

    def revoke(self, grant: str) -> None:
        approvals = self.hub.approvals
        self.run(approvals.remove_grant(grant), then=self.read, toast=tr("Revoked"), undo=partial(approvals.restore_grant, grant))

    def open_grant(self, grant: GrantSnapshot) -> None:
        """Opens the sheet of a grant; an open sheet of any kind stays."""
        if grant.kind != "rule":
            self.context.sheets.show(GrantSheet(self.context, grant, self.revoke))
        elif self.context.sheets.show(sheet := RuleSheet(self.context, grant, self.revoke)) is not None:
            sheet.run(sheet.read())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick()
        self._follow_time()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    def _follow_time(self) -> None:
        """Runs one timer that counts down for all rows, while the section is visible and a grant in it ends."""
        if self.isVisible() and any(grant.expires_at for grant in self.grants):
            self._clock.start()
        else:
            self._clock.stop()

    def _tick(self) -> None:
        self.table.viewport().update()

    def _on_pressed(self, grant: GrantSnapshot) -> None:
        self.revoke(grant.id)


def _columns() -> list[Column]:
    def tip(grant: GrantSnapshot) -> str:
        return details(grant, datetime.now())

    return [
        Column(tr("What"), granted, tip=granted),
        Column(tr("For"), granted_to, Kind.QUIET, 132, granted_to),
        Column(tr("Since"), lambda each: moment(each.created_at, datetime.now()), Kind.QUIET, 96),
        Column(tr("Until"), lambda each: ends(each, datetime.now()), Kind.CHIP, 176, tip),
        Column("", lambda _: tr("Revoke"), Kind.BUTTON, 84),
    ]


class _GrantView(SheetView):
    """The base of the sheets of a grant.

    Args:
        revoke: revokes a grant, given by its id.
    """

    def __init__(self, context: PageContext, name: str, width: int, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, name, width)
        self._grant, self._revoke = grant, revoke

    def _add_buttons(self, revoke: str) -> None:
        remove = Button(self._theme, revoke, "danger")
        remove.clicked.connect(self._on_revoke)
        self.buttons.addWidget(remove)
        self.buttons.addStretch(1)
        self.add_button(tr("Close"), self.leave)

    def _on_revoke(self) -> None:
        self._revoke(self._grant.id)
        self.close_requested.emit()


class GrantSheet(_GrantView):
    """A sheet with what was allowed for a tool, or for all that reads of a server."""

    def __init__(self, context: PageContext, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, granted(grant), GRANT_WIDTH, grant, revoke)
        if grant.is_held:
            text = tr("Changed since you allowed it, so it asks again: {tools}", tools=", ".join(grant.held_tools))
            self.body.addWidget(Banner(context.theme, "warning", tr("Blocked until reviewed"), text))
        until = granted_until(grant, datetime.now())
        about = [(tr("For"), granted_to(grant)), (tr("Since"), whole_time(grant.created_at)), (tr("Until"), until)]
        self.body.addWidget(facts_box(context.theme, about, has_words=True))
        line = row(spacing=16)
        if grant.tool:
            line.addWidget(self._link(tr("Show its calls"), self._on_calls))
        line.addWidget(self._link(tr("Change what {name} may do", name=grant.server), self._on_server))
        line.addStretch(1)
        self.body.addLayout(line)
        self._add_buttons(tr("Revoke"))

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


class RuleSheet(_GrantView):
    """A sheet with a rule on arguments that the user has made: what it covers, and which recent calls it covers or does not."""

    def __init__(self, context: PageContext, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, tr("A rule on calls of {server}", server=grant.server), RULE_WIDTH, grant, revoke)
        theme = context.theme
        self.body.addWidget(Label(theme, covered(grant.words), "body", wrap=True))
        until = details(grant, datetime.now())
        self.body.addWidget(Label(theme, tr("For: {client}", client=granted_to(grant)) + "\n" + until, "caption", "muted", wrap=True))
        self._past = Label(theme, tr("Reading…"), "strong", wrap=True)
        self.body.addWidget(self._past)
        self._lists = column(spacing=10)
        self.body.addLayout(self._lists)
        self._add_buttons(tr("Revoke it"))

    async def read(self) -> None:
        """Reads which recent calls the rule would have covered, and shows them."""
        self._show_preview(await self.hub.approvals.preview_rule(self._grant.server, dict(self._grant.rule)))

    def _show_preview(self, preview: RulePreview) -> None:
        clear(self._lists)
        self._past.setText(of_late(preview))
        if text := cautions(preview):
            self._lists.addWidget(Banner(self._theme, "warning", tr("Look closely at this rule"), text))
        for title, is_covered in ((tr("Covered"), True), (tr("Not covered"), False)):
            if some := [each for each in preview.calls if each.is_covered is is_covered][:MOST_CALLS]:
                self._lists.addWidget(Label(self._theme, title, "label"))
                self._lists.addWidget(lines_box(self._theme, map(self._line, some)))

    def _line(self, call: JudgedCall) -> QHBoxLayout:
        line = row(margins=(0, 7, 0, 7), spacing=10)
        when = Label(self._theme, moment(call.at, datetime.now()), "caption", "muted", tabular=True)
        when.setFixedWidth(px(TIME_WIDTH))
        line.addWidget(when)
        line.addWidget(CodeLabel(self._theme, call.line), 1)
        return line
