"""What the user has allowed for longer than one call: for a time, or by a rule."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent

from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.ui.activity.approval_sheets import GrantSheet
from tooltray.ui.approval.approval_body import details, ends, granted, granted_to, own_permissions
from tooltray.ui.approval.rule_sheet import RuleSheet
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import TableSection
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.table import Table

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
