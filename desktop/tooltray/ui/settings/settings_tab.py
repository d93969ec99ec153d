"""The base of the tabs of the Settings page: one column that scrolls, and its notice in the header of the page."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.setting_rows import group, heading
from tooltray.ui.widgets.surface import add_gap, column, fill

SECTION_GAP = 20  # px between two groups


class SettingsTab(Page):
    """A tab, which needs a hub as a whole.

    Args:
        name: of the column, for screen readers.
        spacing: px between what is added to it.

    Attributes:
        body: the layout of the column.
    """

    def __init__(self, context: PageContext, name: str, *, spacing: int = 10) -> None:
        super().__init__(context)
        self._theme, self._fault = context.theme, FaultArea(context.theme)
        area = ReadingScroll(name, spacing=spacing)
        self._content, self.body = area.content, area.body
        column(self).addWidget(NoticesAbove(self._fault, area))

    def add_group(self, title: str, *rows: QWidget, text: str = "") -> QWidget:
        """Adds a box of rows that belong together, below a heading with a sentence; returns the box."""
        if self.body.count():
            add_gap(self.body, SECTION_GAP)
        box, below = group(self._theme, *rows), Label(self._theme, text, "caption", "muted", wrap=True) if text else None
        fill(self.body, heading(self._theme, title, below), box)
        return box

    def enable(self, is_usable: bool) -> None:
        self._content.setEnabled(is_usable)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top; None removes it."""
        self._fault.show_problem(problem)
