"""The page of what is allowed, and the sheets that belong to it.

Above it: the window, which shows the page and lends the place for a sheet. Below it: page, sheets, and commands.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.snapshots.approvals import ToolChange
from tooltray.ui.approvals.allow_tools import AllowToolsPanel
from tooltray.ui.approvals.grant_actions import GrantCommands, GrantSubjects
from tooltray.ui.approvals.grants_page import GrantsPage
from tooltray.ui.approvals.tool_change import ToolChangePanel
from tooltray.ui.servers.server_sheets import SheetPlace
from tooltray.ui.theme import Theme


class GrantPages(QObject):
    """`page` is the page; `need_person` says how many tools have changed since a person allowed them."""

    need_person = Signal(int)

    def __init__(self, theme: Theme, parent: QObject, *, place: SheetPlace, grants: GrantCommands) -> None:
        super().__init__(parent)
        self._theme, self._place, self._grants = theme, place, grants
        page = self.page = GrantsPage(theme)
        page.look_requested.connect(grants.look)
        page.allow_requested.connect(grants.begin)
        page.take_back_requested.connect(grants.take_back)
        page.change_requested.connect(self._open_change)
        grants.grants_changed.connect(page.show_grants)
        grants.open_servers_changed.connect(page.show_open_servers)
        grants.changes_changed.connect(self._on_changes)
        grants.failed.connect(page.show_fault)
        grants.began.connect(self._open_allow)

    def _on_changes(self, changes: Sequence[ToolChange]) -> None:
        self.page.show_changes(changes)
        self.need_person.emit(len(changes))

    def _open_allow(self, subjects: GrantSubjects) -> None:
        """Opens the sheet that allows tools; an open one of any kind stays."""
        if self._place.sheet is not None:
            return
        panel, grants = AllowToolsPanel(self._theme, subjects), self._grants
        panel.tools_requested.connect(grants.list_tools)
        panel.preview_requested.connect(grants.preview)
        panel.confirmed.connect(grants.allow)
        grants.tools_listed.connect(panel.show_tools)
        grants.previewed.connect(panel.show_preview)
        self._open(panel)

    def _open_change(self, change: ToolChange) -> None:
        if self._place.sheet is None:
            panel = ToolChangePanel(self._theme, change)
            panel.accepted.connect(self._grants.accept)
            self._open(panel)

    def _open(self, panel: AllowToolsPanel | ToolChangePanel) -> None:
        self._grants.refused.connect(panel.show_refusal)
        sheet = self._place.open_sheet(panel)
        panel.close_requested.connect(sheet.dismiss)
        self._grants.saved.connect(sheet.dismiss)
