"""What the user has allowed for longer than one call, and tools that have changed since."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.snapshots.approvals import GrantSnapshot, ToolChange
from tooltray.ui.approval.approval_body import details, ends, granted, granted_to, own_permissions
from tooltray.ui.approval.permissions_part import PermissionsPart
from tooltray.ui.approval.rule_sheet import RuleSheet
from tooltray.ui.approval.tool_change_sheet import ToolChangeSheet
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import card_section
from tooltray.ui.widgets.table import Table

if TYPE_CHECKING:
    from tooltray.ui.approval.permissions_page import PermissionsPage

TICK_MS = 1000


class GrantedTab(QStackedWidget, PermissionsPart):
    """A tab with the grants."""

    def __init__(self, page: "PermissionsPage") -> None:
        super().__init__()
        self.page, self.context = page, page.context
        theme = self._theme = page.context.theme
        self._grants: Sequence[GrantSnapshot] = ()
        self._changes: Sequence[ToolChange] = ()
        text = tr("Calls that are not allowed ask you first. Longer permissions are listed here; you can revoke them.")
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)
        self._none = EmptyState(theme, own_permissions(0), text, ())
        self.addWidget(self._none)
        self.addWidget(self._lists())

    @property
    def grants(self) -> Sequence[GrantSnapshot]:
        """The grants that are shown."""
        return self._grants

    @property
    def changes(self) -> Sequence[ToolChange]:
        """The changed tools that are shown."""
        return self._changes

    @property
    def total(self) -> int:
        """The number of grants."""
        return len(self._grants)

    async def read(self) -> None:
        """Reads the grants and the changed tools, and shows them."""
        grants = await self.hub.approvals.get_grants()
        self.show_grants(grants)
        self.page.draw()
        self.show_changes(await self.hub.approvals.get_tool_changes())
        self.page.draw()

    def show_grants(self, grants: Sequence[GrantSnapshot]) -> None:
        self._grants = grants
        self._table.set_rows(grants)
        self._table.fit_height()
        self._table.viewport().update()  # a switch that a refused wish has moved stands as before
        self._granted.setVisible(bool(grants))
        self._draw()
        self._follow_time()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick()
        self._follow_time()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    def _follow_time(self) -> None:
        """Runs one timer that counts down for all rows, while the tab is visible and a grant in it ends."""
        if self.isVisible() and any(grant.expires_at for grant in self._grants):
            self._clock.start()
        else:
            self._clock.stop()

    def _tick(self) -> None:
        self._table.viewport().update()

    def show_changes(self, changes: Sequence[ToolChange]) -> None:
        self._changes = changes
        self._held.set_rows(changes)
        self._held.fit_height()
        self._changed.setVisible(bool(changes))
        self._draw()

    def show_open_servers(self, count: int) -> None:
        """Shows how many servers run everything without asking, by their own settings."""
        self._none.set_title(own_permissions(count))

    def _draw(self) -> None:
        self.setCurrentIndex(1 if self._grants or self._changes else 0)

    def _lists(self) -> QWidget:
        area = self._area = ReadingScroll(tr("Allowed"), spacing=20)
        body = area.body
        title = tr("Changed tools and skills")
        self._held = Table(self._theme, self._held_columns(), title, lambda each: (each.server, each.tool), in_card=True)
        self._held.row_chosen.connect(self.open_change)
        self._held.selectionModel().currentChanged.connect(partial(self._follow, self._held))
        text = tr("Until you review the changes, tools ask again and skills are blocked.")
        self._changed = card_section(self._theme, body, title, text, self._held)
        self._table = Table(self._theme, self._columns(), tr("Allowed"), lambda each: each.id, in_card=True, has_header=True)
        self._table.switched.connect(self._on_switched)
        self._table.row_chosen.connect(self.open_grant)
        self._table.selectionModel().currentChanged.connect(partial(self._follow, self._table))
        text = tr("Ends if the tool changes. Switch off to revoke.")
        self._granted = card_section(self._theme, body, tr("Allowed"), text, self._table)
        body.addStretch(1)
        return area

    def _held_columns(self) -> list[Column]:
        return [
            Column(tr("Tool"), lambda each: tr("{tool} of {server}", tool=each.tool, server=each.server)),
            Column(
                tr("State"),
                lambda each: (tr("Look closely"), "warning") if each.warnings else (tr("Blocked until reviewed"), "warning"),
                Kind.CHIP,
                130,
            ),
            Column(tr("Change"), lambda _: tr("See what is different"), Kind.QUIET, 180),
        ]

    def _columns(self) -> list[Column]:
        def tip(grant: GrantSnapshot) -> str:
            return details(grant, datetime.now())

        return [
            Column(tr("What"), granted, tip=granted),
            Column(tr("For"), granted_to, Kind.QUIET, 132, granted_to),
            Column(tr("Since"), lambda each: moment(each.created_at, datetime.now()), Kind.QUIET, 96),
            Column(tr("Until"), lambda each: ends(each, datetime.now()), Kind.CHIP, 132, tip),
            Column(tr("Allowed"), lambda _: True, Kind.SWITCH, 76),
        ]

    def _follow(self, table: Table, current: QModelIndex, _before: QModelIndex) -> None:
        """Scrolls the page to the current row, since the tables are as high as their rows."""
        content = self._area.widget()
        if content is not None and current.isValid() and table.hasFocus():
            row_middle = table.viewport().mapTo(content, table.visualRect(current).center())
            self._area.ensureVisible(0, row_middle.y(), 0, table.verticalHeader().defaultSectionSize())

    def _on_switched(self, grant: GrantSnapshot, _on: bool) -> None:
        self.revoke(grant.id)

    def revoke(self, grant: str) -> None:
        approvals = self.hub.approvals
        self.run(approvals.remove_grant(grant), then=self.read, toast=tr("Revoked"), undo=partial(approvals.restore_grant, grant))

    def open_grant(self, grant: GrantSnapshot) -> None:
        """Opens the sheet of a rule, or what the server of another grant may do; an open sheet of any kind stays."""
        if grant.kind == "rule":
            sheet = RuleSheet(self.context, grant, self.revoke)
            if self.context.sheets.show(sheet) is not None:
                sheet.run(sheet.read())
        else:
            self.context.links.part_asked.emit("servers", "access", grant.server)

    def open_change(self, change: ToolChange) -> None:
        """Opens the sheet of a tool that has changed; an open sheet of any kind stays."""
        self.context.sheets.show(ToolChangeSheet(self.context, change, self.read))
