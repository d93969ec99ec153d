"""Facts that both a card and the details of a server show: its projects, and the file of its entry."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerSnapshot
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.origins import origin
from tooltray.ui.problem_words import whole
from tooltray.ui.state_language import look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import clear, column, divider, row


def clients_words(count: int) -> str:
    if not count:
        return tr("No AI client")
    return many(count, "1 AI client", "{count} AI clients")


class ProjectCopies(QWidget):
    """The copies of a server, one for each project. `reset_requested`: stop every copy of all such servers."""

    reset_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._copies: tuple[ProjectCopySnapshot, ...] | None = None
        layout = column(self, spacing=4)
        head = row(spacing=8)
        head.addWidget(Label(theme, tr("Runs for"), "caption_strong", "muted"), 1)
        reset = Button(theme, tr("Reset projects"), "link", small=True)
        reset.setToolTip(tr("Stops every server that runs for a project; they wait again"))
        reset.clicked.connect(self.reset_requested)
        head.addWidget(reset)
        layout.addLayout(head)
        self._lines: QVBoxLayout = column()
        layout.addLayout(self._lines)
        self.set_copies(())

    def set_copies(self, copies: Sequence[ProjectCopySnapshot]) -> None:
        if tuple(copies) == self._copies:
            return
        self._copies = tuple(copies)
        clear(self._lines)
        for index, copy in enumerate(self._copies):
            if index:
                self._lines.addWidget(divider())
            self._lines.addWidget(self._line(copy))
        self.setVisible(bool(self._copies))

    def _line(self, copy: ProjectCopySnapshot) -> QWidget:
        widget = QWidget()
        widget.setAccessibleName(f"{copy.name}, {look(copy.state).word}")
        lines = column(widget, margins=(0, 6, 0, 6), spacing=2)
        lines.addLayout(self._name(copy))
        below = row(margins=(24, 0, 0, 0), spacing=8)
        path = ElidedLabel(self._theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        path.set_text(copy.path, copy.target)
        below.addWidget(path, 1)
        below.addWidget(Label(self._theme, clients_words(copy.session_count), "caption", "muted", tabular=True))
        lines.addLayout(below)
        if copy.problem is not None:
            fault = Label(self._theme, whole(copy.problem), "caption", "error", wrap=True)
            fault.setContentsMargins(24, 0, 0, 0)
            lines.addWidget(fault)
        return widget

    def _name(self, copy: ProjectCopySnapshot) -> QHBoxLayout:
        line = row(spacing=8)
        line.addWidget(Icon(self._theme, "folder", 16, "text.secondary"))
        line.addWidget(ElidedLabel(self._theme, copy.name, "label", mode=Qt.TextElideMode.ElideMiddle), 1)
        line.addWidget(StateBadge(self._theme, look(copy.state)))
        return line


HEIGHT = 28


class OriginLine(QWidget):
    """A line with the file of a server's entry; it has buttons for files other than the settings."""

    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__()
        self._wishes, self._file = wishes, ""
        self.setFixedHeight(HEIGHT)
        line = row(self, spacing=2)
        self._words = ElidedLabel(theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        line.addWidget(self._words, 1)
        self._look = IconButton(theme, "external", tr("Open the file of {name}", name=server.name), small=True)
        self._look.clicked.connect(self._on_look)
        self._place = IconButton(theme, "folder", tr("Open the folder of the file of {name}", name=server.name), small=True)
        self._place.clicked.connect(self._on_place)
        for button in (self._look, self._place):
            line.addWidget(button)
        self.set_server(server)

    def set_server(self, server: ServerSnapshot) -> None:
        self._file = server.file
        self._words.set_text(origin(server), server.file)
        for button in (self._look, self._place):
            button.setVisible(bool(server.file))

    def _on_look(self) -> None:
        self._wishes.file_requested.emit(self._file)

    def _on_place(self) -> None:
        self._wishes.file_place_requested.emit(self._file)
