"""Whether the protocol messages of a server are recorded, until when, and the button that changes it."""

from datetime import datetime

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.surface import clear, column

FOR_S = 600.0  # long enough to try something; who wants more presses again


class MessageRecording(QWidget, View):
    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__()
        self.context, self._server = context, server
        self._until = -1.0
        self._layout = column(self)
        self.hide()

    def set_until(self, until: float) -> None:
        """Shows until when messages are recorded, in unix seconds; 0: not at all."""
        if until != self._until:
            self._until = until
            self._draw(None)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why recording could not be changed."""
        if problem is not None:
            self._draw(problem)

    def _draw(self, problem: Problem | None) -> None:
        theme = self.context.theme
        clear(self._layout)
        if self._until:
            button = Button(theme, tr("Stop and forget"), small=True)
            button.clicked.connect(lambda: self._record(0.0))
            title = tr("Recording until {time}", time=f"{datetime.fromtimestamp(self._until):%H:%M}")
            banner = Banner(theme, "warning", title, tr("Full arguments and results, only in memory."), button)
        else:
            button = Button(theme, tr("Record for 10 minutes"), small=True)
            button.clicked.connect(lambda: self._record(FOR_S))
            text = tr("What passes between Tooltray and the server, whole, while you look for a fault. Kept in memory, secrets hidden.")
            banner = Banner(theme, "info", tr("Messages are not recorded"), text, button)
        self._layout.addWidget(banner)
        if problem is not None:
            self._layout.addWidget(Banner(theme, "error", problem.title, problem.message))

    def _record(self, for_s: float) -> None:
        self.run(self.hub.logs.set_protocol_log(self._server, for_s))
