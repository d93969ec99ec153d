"""The sheets of the Approvals page: what is to be allowed, and how a tool has changed. An open sheet of any kind stays.

Above it: the page. Below it: those sheets, and GrantCommands.
"""

from PySide6.QtCore import QObject

from tooltray.snapshots.approvals import ToolChange
from tooltray.ui.approvals.allow_tools import AllowToolsPanel
from tooltray.ui.approvals.grant_commands import GrantCommands, GrantSubjects
from tooltray.ui.approvals.tool_change import ToolChangePanel
from tooltray.ui.pages.page_context import PageContext


class GrantSheets(QObject):
    def __init__(self, context: PageContext, parent: QObject, *, commands: GrantCommands) -> None:
        super().__init__(parent)
        self._theme, self._place, self._commands = context.theme, context.sheets, commands

    def open_allow(self, subjects: GrantSubjects) -> None:
        """Opens the sheet that allows tools."""
        if self._place.sheet is not None:
            return
        panel, commands = AllowToolsPanel(self._theme, subjects), self._commands
        panel.tools_requested.connect(commands.list_tools)
        panel.preview_requested.connect(commands.preview)
        panel.confirmed.connect(commands.allow)
        commands.tools_listed.connect(panel.show_tools)
        commands.previewed.connect(panel.show_preview)
        self._open(panel)

    def open_change(self, change: ToolChange) -> None:
        """Opens the sheet of a tool that has changed."""
        if self._place.sheet is None:
            panel = ToolChangePanel(self._theme, change)
            panel.accepted.connect(self._commands.accept)
            self._open(panel)

    def _open(self, panel: AllowToolsPanel | ToolChangePanel) -> None:
        self._commands.refused.connect(panel.show_refusal)
        sheet = self._place.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        self._commands.saved.connect(sheet.dismiss)
