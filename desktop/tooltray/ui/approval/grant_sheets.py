"""The sheets of the Approvals page: a new grant, and how a tool has changed. An open sheet of any kind stays."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ToolChange
from tooltray.ui.approval.allow_tools import AllowToolsPanel
from tooltray.ui.approval.approval_body import warnings
from tooltray.ui.approval.grant_commands import GrantCommands, GrantSubjects
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH, MARGIN = 680, 24  # px; the margin is the frame's
SKILL = "skill"  # the kind of such a change


class ToolChangePanel(SheetFrame):
    """A sheet that shows how a tool has changed. `accepted`: the tool is allowed as it is now; its receiver calls `show_refusal`, or closes
    the sheet.
    """

    accepted = Signal(object)  # ToolChange

    def __init__(self, theme: Theme, change: ToolChange) -> None:
        super().__init__(theme, tr("{tool} of {server} has changed", tool=change.tool, server=change.server), WIDTH)
        self._change = change
        text = tr("The server has changed this tool since you allowed it. Until you accept the change, each call asks you again.")
        if change.kind == SKILL:
            text = tr("The server has put another skill in the place of this one. Until you accept the change, no AI client gets it.")
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        if change.warnings:
            self.body.addWidget(Banner(theme, "warning", tr("Look closely at this tool"), warnings(change.warnings)))
        self.body.addWidget(DiffView(theme, change.diff, tr("What is different in the tool's definition"), width=WIDTH - 2 * MARGIN))
        self.buttons.addStretch(1)
        self._later = Button(theme, tr("Not now"))
        self._later.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._later)
        self._accept = Button(theme, tr("Accept the change"), "primary")
        self._accept.clicked.connect(self._on_accept)
        self.buttons.addWidget(self._accept)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._later.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_refusal(self, problem: Problem) -> None:
        self._accept.setEnabled(True)
        self.show_problem(problem)

    def _on_accept(self) -> None:
        self._accept.setEnabled(False)
        self.show_problem(None)
        self.accepted.emit(self._change)


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
