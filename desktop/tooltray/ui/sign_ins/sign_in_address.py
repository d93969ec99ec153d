"""The address of a page at which a person signs in to a server, where no browser could be opened: to be copied, and opened by hand."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.sheet_frame import SheetFrame

WIDTH = 560


class SignInAddressPanel(SheetFrame):
    """`copy_requested` carries the address."""

    copy_requested = Signal(str)

    def __init__(self, theme: Theme, server: str, url: str) -> None:
        super().__init__(theme, tr("Sign in to {name}", name=server), WIDTH)
        self._server, self._url = server, url
        text = tr("Open this address in a browser on this computer. Tooltray waits for you to sign in there.")
        self.body.addWidget(Banner(theme, "warning", tr("No browser could be opened"), text))
        field = QLineEdit(url)
        field.setReadOnly(True)
        field.setFont(theme.font("mono"))
        field.setFixedHeight(theme.size("control"))
        field.setCursorPosition(0)
        field.setAccessibleName(tr("Address at which you sign in to {name}", name=server))
        self.body.addWidget(field)
        self.buttons.addStretch(1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.close_requested)
        self.buttons.addWidget(close)
        self._copy = Button(theme, tr("Copy address"), "primary", "copy")
        self._copy.clicked.connect(self._on_copy)
        self.buttons.addWidget(self._copy)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._copy.setFocus(Qt.FocusReason.OtherFocusReason)

    def on_sign_in_over(self, server: str) -> None:
        """The person has signed in to a server, or does not any more: its address is good for nothing."""
        if server == self._server:
            self.close_requested.emit()

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._url)
