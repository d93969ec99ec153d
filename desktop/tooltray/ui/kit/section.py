"""A section of a page: its heading, a place for its failures, and its content."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.banner import show_error
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import Surface, column, fill
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px


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
        show_error(self._fault, self._theme, problem)


class TableSection(Section):
    """A section with a table, or a text in place of its rows.

    Args:
        text: a sentence below the heading.
        actions: buttons at the right of it.
        nothing: the text without rows.
        narrow: a column, and the px of the section below which it is hidden.
    """

    def __init__(
        self,
        context: PageContext,
        name: str,
        text: str | QWidget,
        table: Table,
        *actions: QWidget,
        nothing: str,
        narrow: tuple[int, int] | None = None,
    ) -> None:
        below = ElidedLabel(context.theme, text, "caption", "muted") if isinstance(text, str) else text
        super().__init__(context, name, below, *actions)
        self.table, self._narrow = table, narrow
        self._nothing = Label(context.theme, nothing, "body", "muted", wrap=True)
        self._nothing.setContentsMargins(0, px(14), 0, px(14))
        box = Surface(context.theme)
        fill(column(box, margins=(16, 1, 16, 1)), table, self._nothing)
        self.body.addWidget(box)
        self.show_rows(())

    def show_rows(self, rows: Sequence[object], nothing: str = "") -> None:
        """Shows the rows; `nothing`: another text without rows."""
        if nothing:
            self._nothing.setText(nothing)
        self.table.set_rows(rows)
        self.table.fit_height()
        self.table.setVisible(bool(rows))
        self._nothing.setVisible(not rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._narrow is not None:
            hidden, room = self._narrow
            self.table.setColumnHidden(hidden, self.width() < px(room))


def keep_in_sight(area: PageScroll, *tables: Table) -> None:
    """Scrolls a page to the current rows of its tables, which are as high as their rows and do not scroll."""

    def follow(table: Table, current: QModelIndex, _before: QModelIndex) -> None:
        content = area.widget()
        if content is not None and current.isValid() and table.hasFocus():
            middle = table.viewport().mapTo(content, table.visualRect(current).center())
            area.ensureVisible(0, middle.y(), 0, table.verticalHeader().defaultSectionSize())

    for table in tables:
        table.selectionModel().currentChanged.connect(partial(follow, table))
