"""What the user has allowed for longer than one call: for a time, or by a rule."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.ui.activity.approval_sheets import GrantSheet
from tooltray.ui.approval.approval_body import details, ends, granted, granted_to, own_permissions
from tooltray.ui.approval.rule_sheet import RuleSheet
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table

TICK_MS = 1000
SINCE, ROOM_FOR_SINCE = 2, 1040  # a column, and the px of the section below which it is in the details only


class TemporarySection(Section):
    """The section with the grants.

    Attributes:
        table: the grants, the newest first.
    """

    def __init__(self, context: PageContext) -> None:
        text = tr("Ends if the tool changes.")
        super().__init__(context, tr("Temporary approvals and rules"), ElidedLabel(context.theme, text, "caption", "muted"))
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)
        box = Surface(self._theme)
        lines = column(box, margins=(16, 1, 16, 1))
        self.table = Table(
            self._theme, _columns(), tr("Temporary approvals and rules"), lambda each: each.id, in_card=True, has_header=True
        )
        self.table.pressed.connect(self._on_pressed)
        self.table.row_chosen.connect(self.open_grant)
        lines.addWidget(self.table)
        self._none = Label(self._theme, own_permissions(0), "body", "muted", wrap=True)
        self._none.setContentsMargins(0, 14, 0, 14)
        lines.addWidget(self._none)
        self.body.addWidget(box)
        self.show_grants(())

    @property
    def grants(self) -> Sequence[GrantSnapshot]:
        """The grants that are shown."""
        return self.table.given

    async def read(self) -> None:
        """Reads the grants, and shows them."""
        self.show_grants(await self.hub.approvals.get_grants())

    def show_grants(self, grants: Sequence[GrantSnapshot]) -> None:
        self.table.set_rows(grants)
        self.table.fit_height()
        self.table.setVisible(bool(grants))
        self._none.setVisible(not grants)
        self._follow_time()

    def show_open_servers(self, count: int) -> None:
        """Shows how many servers run everything without asking, by their own settings."""
        self._none.setText(own_permissions(count))

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.table.setColumnHidden(SINCE, self.width() < ROOM_FOR_SINCE)

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
