"""The sheet that shows how a tool or a skill has changed since it was allowed."""

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ToolChange
from tooltray.ui.approval.approval_body import warnings
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.label import Label

WIDTH, MARGIN = 680, 24  # px; the margin is the frame's
SKILL = "skill"  # the kind of such a change


class ToolChangeSheet(SheetView):
    """A sheet that shows how a tool or a skill has changed.

    Args:
        read: reads what the page shows of changes.
    """

    def __init__(self, context: PageContext, change: ToolChange, read: Work) -> None:
        super().__init__(context, tr("{tool} of {server} has changed", tool=change.tool, server=change.server), WIDTH)
        theme, self._change, self._read = context.theme, change, read
        text = tr("The server has changed this tool since you allowed it. Until you accept the change, each call asks you again.")
        if change.kind == SKILL:
            text = tr("The server has put another skill in the place of this one. Until you accept the change, no AI client gets it.")
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        if change.warnings:
            self.body.addWidget(Banner(theme, "warning", tr("Look closely at this tool"), warnings(change.warnings)))
        self.body.addWidget(DiffView(theme, change.diff, tr("What is different in the tool's definition"), width=WIDTH - 2 * MARGIN))
        self.set_first_focus(self.add_button(tr("Not now"), self.close_requested.emit))
        self._accept = self.add_button(tr("Accept the change"), self._on_accept, "primary")

    def show_problem(self, problem: Problem | None) -> None:
        super().show_problem(problem)
        if problem is not None:
            self._accept.setEnabled(True)

    def _on_accept(self) -> None:
        self._accept.setEnabled(False)
        self.show_problem(None)
        self.run(self._accept_change(), then=self._read, toast=tr("{tool} is allowed as it is now", tool=self._change.tool))

    async def _accept_change(self) -> None:
        change = self._change
        await self.hub.approvals.accept_tool_change(change.server, change.tool, change.kind, change.revision)
        self.close_requested.emit()
