"""A sheet with a log: of a server, with its problem at the top, or of the hub."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import SERVER
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.logs.log_view import LogView
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row
from tooltray.ui.zoom import px

SIZE = QSize(960, 660)


class LogSheet(Surface):
    """A sheet with a log.

    Args:
        source: "hub" or "server:NAME".

    Attributes:
        log: the log itself.
    """

    close_requested = Signal()

    def __init__(self, context: PageContext, source: str) -> None:
        super().__init__(context.theme, "surface.raised", "border", "xl")
        self._context, self._server = context, source.removeprefix(SERVER) if source.startswith(SERVER) else ""
        self.setMaximumWidth(px(SIZE.width()))
        name = tr("Log of {name}", name=self._server) if self._server else tr("Tooltray's log")
        self.setAccessibleName(name)
        layout = column(self)
        head = row(margins=(24, 14, 16, 14))
        head.addWidget(ElidedLabel(context.theme, name, "heading"), 1)
        close = IconButton(context.theme, "x", tr("Close"), small=True)
        close.clicked.connect(self.close_requested)
        head.addWidget(close)
        layout.addLayout(head)
        layout.addWidget(divider())
        body = column(margins=(24, 14, 24, 18), spacing=12)
        self._fault = column()
        self._problem: Problem | None = None
        body.addLayout(self._fault)
        self.log = LogView(context, source)
        body.addWidget(self.log, 1)
        layout.addLayout(body, 1)
        context.servers.server_changed.connect(self._on_server_changed)
        context.servers.server_removed.connect(self._on_server_removed)
        if server := context.servers.find(self._server):
            self._show_problem(server.problem)

    def sizeHint(self) -> QSize:
        return SIZE * px(1.0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.log.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        if server.name == self._server and server.problem != self._problem:
            self._show_problem(server.problem)

    def _on_server_removed(self, name: str) -> None:
        if name == self._server:
            self.close_requested.emit()

    def _show_problem(self, problem: Problem | None) -> None:
        self._problem = problem
        clear(self._fault)
        if problem is not None:
            self._fault.addWidget(Banner(self._context.theme, "error", title(problem), sentences(problem)))
