"""A tool's approval, wherever the tool is listed: opens its sheet, and changes what the user chooses there."""

from functools import partial

from tooltray.foundation.errors import Problem
from tooltray.ui.approval.permission_words import ToolRow, read_tools
from tooltray.ui.approval.tool_sheet import ToolSheet
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import Show, View


class ToolApproval(View):
    """Opens the sheets of tools.

    Args:
        show: shows why a tool cannot be read.
        read: reads what the view shows, and updates the open sheet, after each change; None: only the sheet is updated.
    """

    def __init__(self, context: PageContext, show: Show, read: Work | None = None) -> None:
        self.context, self._show, self._then = context, show, read or self._read

    def open(self, server: str, tool: str) -> None:
        """Opens the sheet of a tool; an open sheet of any kind stays."""
        self.run(self._open(server, tool), show=self._show)

    def open_row(self, of: ToolRow) -> None:
        """Opens the sheet of a tool that was read already; an open sheet of any kind stays."""
        sheet = ToolSheet(self.context, of, choose=self.choose, revoke=self._revoke)
        if self.context.sheets.show(sheet) is not None:
            sheet.run(sheet.read())

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure in the open sheet."""
        panel = self.context.sheets.panel
        if isinstance(panel, ToolSheet):
            panel.show_problem(problem)
        else:
            self._show(problem)

    async def _open(self, server: str, tool: str) -> None:
        if (of := (await read_tools(self.hub, server)).get((server, tool))) is not None:
            self.open_row(of)

    async def _read(self) -> None:
        """Updates the open sheet."""
        panel = self.context.sheets.panel
        if isinstance(panel, ToolSheet) and (now := (await read_tools(self.hub, panel.of.server)).get(panel.of.key)) is not None:
            panel.show_tool(now)

    def choose(self, of: ToolRow, choice: str) -> None:
        """Sets the choice for one tool: "always", "ask" or "default"."""
        tool = of.tool.tool
        words = {"always": tr("{tool} runs without asking", tool=tool), "ask": tr("{tool} asks first", tool=tool)}
        toast = words.get(choice) or tr("{tool} is as its server", tool=tool)
        change = partial(self.hub.approvals.set_tool_approval, of.server, tool)
        self.run(change(choice), then=self._then, toast=toast, undo=partial(change, of.tool.choice))

    def _revoke(self, grant: str) -> None:
        approvals = self.hub.approvals
        self.run(approvals.remove_grant(grant), then=self._then, toast=tr("Revoked"), undo=partial(approvals.restore_grant, grant))
