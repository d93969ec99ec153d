"""The base of the parts of the Permissions page: its tabs, and the area above them."""

from typing import TYPE_CHECKING

from tooltray.foundation.errors import Problem
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
        """Shows a failure at the top of the page; None removes it."""
        self.page.show_problem(problem)
