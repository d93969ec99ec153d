"""The log of one server: its last lines of stderr, what is wrong with it in full, and a way to copy both."""

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.errors import TooltrayError
from tooltray.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.presenter.qt_mcp_client import QtMcpClient
from tooltray.ui.problem_words import sentences, title, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import Surface, column, divider, row

LINES = 500  # as many as a person scrolls through
LOOK_EVERY_MS = 1000  # while it is on the screen
SIZE = QSize(860, 580)


class LogPanel(Surface):
    """`copy_requested` carries the text for the clipboard."""

    close_requested = Signal()
    copy_requested = Signal(str)

    def __init__(self, theme: Theme, client: QtMcpClient, tasks: TaskKeeper) -> None:
        super().__init__(theme, "surface.raised", "border", "xl")
        self._client, self._tasks = client, tasks
        client.setParent(self)
        self._lines: list[str] | None = None
        self._is_open = False
        self.setMaximumWidth(SIZE.width())
        self.setAccessibleName(tr("Log of {name}", name=client.name))
        layout = column(self)
        head = row(margins=(24, 14, 16, 14))
        head.addWidget(ElidedLabel(theme, tr("Log of {name}", name=client.name), "heading"), 1)
        close = IconButton(theme, "x", tr("Close"), small=True)
        close.clicked.connect(self.close_requested)
        head.addWidget(close)
        layout.addLayout(head)
        layout.addWidget(divider())
        body = QWidget()
        self._body = column(body, margins=(24, 16, 24, 16), spacing=12)
        self._banner: Banner | None = None
        self._view = CodeView(theme, "", tr("Lines that {name} wrote", name=client.name))
        self._view.setPlaceholderText(tr("Nothing yet. What the server writes to its error output appears here."))
        self._view.setMinimumHeight(160)
        self._body.addWidget(self._view, 1)
        layout.addWidget(body, 1)
        layout.addWidget(divider())
        buttons = row(margins=(24, 14, 24, 14))
        self._copy = Button(theme, tr("Copy all"), icon="copy")
        self._copy.clicked.connect(self._on_copy)
        buttons.addWidget(self._copy)
        buttons.addStretch(1)
        done = Button(theme, tr("Close"))
        done.clicked.connect(self.close_requested)
        buttons.addWidget(done)
        layout.addLayout(buttons)
        self._timer = QTimer(self, interval=LOOK_EVERY_MS, singleShot=True)
        self._timer.timeout.connect(self._look)
        client.snapshot_changed.connect(self._show_problem)
        client.removed.connect(self.close_requested)
        self._show_problem()

    def sizeHint(self) -> QSize:
        return SIZE

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._is_open = True
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._is_open = False
        self._timer.stop()

    @property
    def text(self) -> str:
        return self._view.toPlainText()

    def _show_problem(self) -> None:
        if self._banner is not None:
            self._body.removeWidget(self._banner)
            self._banner.hide()
            self._banner.deleteLater()
            self._banner = None
        server = self._client.snapshot
        if server is not None and server.problem is not None:
            self._banner = Banner(self._theme, "error", title(server.problem), sentences(server.problem))
            self._body.insertWidget(0, self._banner)

    def _look(self) -> None:
        self._tasks.spawn(self._read(), name=f"log of {self._client.name}")

    async def _read(self) -> None:
        try:
            lines = await self._client.get_server_log(LINES)
        except TooltrayError as error:
            lines = [whole(error.problem)]
        if not self._is_open:
            return
        if lines != self._lines:
            self._lines = lines
            self._show_lines("\n".join(lines))
        self._timer.start()

    def _show_lines(self, text: str) -> None:
        bar = self._view.verticalScrollBar()
        is_at_end, place = bar.value() >= bar.maximum() - 1, bar.value()
        if self._view.textCursor().hasSelection():
            return  # somebody is about to copy it
        self._view.setPlainText(text)
        bar.setValue(bar.maximum() if is_at_end else place)

    def _on_copy(self) -> None:
        server = self._client.snapshot
        head = f"{whole(server.problem)}\n\n" if server is not None and server.problem is not None else ""
        self.copy_requested.emit(head + "\n".join(self._lines or ()))
