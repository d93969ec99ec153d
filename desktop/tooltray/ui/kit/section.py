"""A section of a page: its heading, a place for its failures, and its content."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import clear, column


class Section(QWidget, View):
    """The base of sections that await verbs.

    Args:
        name: the heading.
        text: a sentence below it.
        actions: buttons at the right of it.

    Attributes:
        body: the layout for the content.
    """

    def __init__(self, context: PageContext, name: str, text: QWidget | None = None, *actions: QWidget) -> None:
        super().__init__()
        self.context, self._theme = context, context.theme
        self.body = column(self, spacing=10)
        self.body.addLayout(heading(context.theme, name, text, *actions))
        self._fault = column()
        self.body.addLayout(self._fault)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure below the heading; None removes it."""
        clear(self._fault)
        if problem is not None:
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
