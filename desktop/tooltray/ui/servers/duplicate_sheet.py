"""The sheet for the name of a server's copy: for another account of the same service, or for the same program with other arguments."""

from collections.abc import Callable, Collection

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.label import Label

WIDTH = 480
LONGEST_NAME = 64  # what settings allow


class DuplicateSheet(SheetView):
    """A sheet that duplicates a server.

    Args:
        show_copy: opens the settings of the copy, by its name.
    """

    def __init__(self, context: PageContext, server: ServerSnapshot, show_copy: Callable[[str], object]) -> None:
        super().__init__(context, tr("Duplicate {name}", name=server.name), WIDTH)
        theme, self._server, self._show_copy = context.theme, server.name, show_copy
        self._taken = frozenset(each.name for each in context.servers.servers)
        self.body.addWidget(Label(theme, tr("Name of the copy"), "label"))
        self._field = QLineEdit(free_name(server.name, self._taken))
        self._field.setMaxLength(LONGEST_NAME)
        self._field.setFont(theme.font())
        self._field.setFixedHeight(theme.size("control"))
        self._field.setAccessibleName(tr("Name of the copy"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_duplicate)
        self.body.addWidget(self._field)
        self._note = Label(theme, "", "caption", "error", wrap=True)
        self.body.addWidget(self._note)
        text = tr(
            "It has the same settings, rules and secrets, and starts when it is used. Its settings open next, for an account of its own."
        )
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self.add_button(tr("Cancel"), self.leave)
        self._go = self.add_button(tr("Duplicate"), self._on_duplicate, "primary")
        QShortcut(QKeySequence("Ctrl+Return"), self, self._on_duplicate).setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.set_first_focus(self._field)
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._field.selectAll()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it was not duplicated; the field keeps its content."""
        super().show_problem(problem)
        self._draw()

    def _draw(self) -> None:
        name = self._field.text().strip()
        self._note.setText(tr("There is a server of this name.") if name in self._taken else "")
        self._note.setVisible(bool(self._note.text()))
        self._go.setEnabled(bool(name) and name not in self._taken)

    def _on_duplicate(self) -> None:
        if self._go.isEnabled():
            self._go.setEnabled(False)  # once
            self.run(self._duplicate(self._field.text().strip()))

    async def _duplicate(self, name: str) -> None:
        self._show_copy(await self.hub.servers.duplicate_mcp_server(self._server, name))
        self.close_requested.emit()


def free_name(name: str, taken: Collection[str]) -> str:
    """Returns the name with the first number that no server uses."""
    stem = name[: LONGEST_NAME - 4]
    return next(found for number in range(2, len(taken) + 3) if (found := f"{stem}-{number}") not in taken)
