"""How a tool that was allowed is defined now: it asks again until a person has seen the difference."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.errors import Problem
from tooltray.snapshots.approvals import ToolChange
from tooltray.ui.approvals.approval_words import warnings
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.diff_view import DiffView
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet_frame import SheetFrame

WIDTH, MARGIN = 680, 24  # px; the margin is the frame's


class ToolChangePanel(SheetFrame):
    """`accepted`: the tool is allowed as it is now; whoever carries it out calls `show_refusal`, or closes the sheet."""

    accepted = Signal(str, str)  # the server; its own name for the tool

    def __init__(self, theme: Theme, change: ToolChange) -> None:
        super().__init__(theme, tr("{tool} of {server} has changed", tool=change.tool, server=change.server), WIDTH)
        self._change = change
        text = tr("You allowed this tool, and its server defines it in another way since. Until you accept that, each call asks again.")
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
        self.show_fault(problem)

    def _on_accept(self) -> None:
        self._accept.setEnabled(False)
        self.show_fault(None)
        self.accepted.emit(self._change.server, self._change.tool)
