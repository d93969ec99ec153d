"""The base of the tabs of the Permissions page."""

from typing import TYPE_CHECKING

from tooltray.foundation.errors import Problem
from tooltray.ui.approval.tool_sheet import ToolSheet
from tooltray.ui.kit.view import View

if TYPE_CHECKING:
    from tooltray.ui.approval.permissions_page import PermissionsPage


class PermissionsPart(View):
    """A part of the Permissions page.

    Attributes:
        page: set in the constructor, as `context`.
    """

    page: "PermissionsPage"

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure: in the sheet of a tool if that is open, else at the top of the page; None removes it from there."""
        panel = self.context.sheets.panel
        if problem is not None and isinstance(panel, ToolSheet):
            panel.show_problem(problem)
        else:
            self.page.show_problem(problem)
