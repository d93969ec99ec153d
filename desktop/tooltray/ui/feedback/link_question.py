"""The question before a link of a report is opened, in the window of the report."""

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QGuiApplication

from tooltray.ui.addresses import LOOPBACK, can_follow, host_of
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import Surface, column, row

LONGEST_ADDRESS = 2000  # characters of an address; longer ones are cut, and not opened


class LinkQuestion(Surface):
    """A question before a link is opened."""

    open_requested = Signal(str)  # the address
    closed = Signal()

    def __init__(self, theme: Theme, address: str) -> None:
        url = QUrl(address)
        can_open = can_follow(url) and len(address) <= LONGEST_ADDRESS
        super().__init__(theme, "info.subtle" if can_open else "warning.subtle", None, "m")
        self._address = address
        tone = "info" if can_open else "warning"
        line = row(self, margins=(12, 8, 8, 8), spacing=10)
        line.addWidget(Icon(theme, "globe" if can_open else "alert", 16, f"{tone}.text"), 0, Qt.AlignmentFlag.AlignTop)
        words = column(spacing=2)
        title = tr("This link leads to {host}", host=host_of(url)) if can_open else tr("This link leads to no web page. It is not opened.")
        words.addWidget(Label(theme, title, "caption_strong", tone, wrap=True))
        words.addWidget(CodeLabel(theme, address[:LONGEST_ADDRESS], "secondary"))
        if can_open and url.scheme() == "http" and url.host() not in LOOPBACK:
            words.addWidget(Label(theme, tr("The connection is not encrypted: others can read along."), "caption", tone, wrap=True))
        line.addLayout(words, 1)
        self.setAccessibleName(f"{title} {address[:LONGEST_ADDRESS]}")
        if can_open:
            button = Button(theme, tr("Open page"), small=True)
            button.clicked.connect(self._on_open)
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        copy = IconButton(theme, "copy", tr("Copy the address"), small=True)
        copy.clicked.connect(self._on_copy)
        line.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        close = IconButton(theme, "x", tr("Close"), small=True)
        close.clicked.connect(self.closed)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)

    def _on_open(self) -> None:
        self.open_requested.emit(self._address)
        self.closed.emit()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._address)
        self.closed.emit()
