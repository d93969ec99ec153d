"""The place above a page's content for what did not work there; nothing while all is well.

Above it: pages, which put it over their content with NoticesAbove. Below it: banners.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tooltray.errors import Problem
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.surface import clear, column


class FaultArea(QWidget):
    """
    Args:
        top: px above a banner.
    """

    def __init__(self, theme: Theme, *, top: int = 12) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("Notices")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._layout = column(self, margins=(24, top, 24, 12))
        self.hide()

    def show_fault(self, problem: Problem | None) -> None:
        """Says what did not work; None takes it away."""
        clear(self._layout)
        if problem is not None:
            self._layout.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        self.setVisible(problem is not None)
