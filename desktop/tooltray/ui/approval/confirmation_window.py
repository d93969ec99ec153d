"""The window for a command that waits for the user's approval."""

from collections.abc import Iterable

from msgspec.structs import replace
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from tooltray.foundation.snapshots.approvals import ConfirmationSnapshot
from tooltray.ui.approval.asking_window import AskingWindow
from tooltray.ui.approval.confirmation_body import ConfirmationBody, heading, origin, wish
from tooltray.ui.i18n import tr
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.surface import row


class ConfirmationWindow(AskingWindow[ConfirmationSnapshot]):
    """A window with a command's request. It is answered with whether it is approved."""

    def ask(self, request: ConfirmationSnapshot, count: int) -> None:
        place = tr("1 of {count}", count=count) if count > 1 else ""
        before = self._request
        if before is not None and isinstance(self._body, ConfirmationBody) and replace(before, count=request.count) == request:
            self._body.set_place(place)
            return
        self._request = request
        self.setAccessibleName(f"{heading()} {wish(request)}")
        self.setAccessibleDescription(origin(request))
        self._yes.show()
        self._no.setText(tr("No"))
        self._show_body(ConfirmationBody(self._theme, request, place))

    def _buttons(self) -> QHBoxLayout:
        line = row(margins=(24, 16, 24, 12))
        self._no = Button(self._theme, tr("No"), heeds_enter=False)
        self._yes = Button(self._theme, tr("Yes, allow it"), "primary", heeds_enter=False)
        self._yes.setToolTip("Ctrl+Enter")
        self._no.clicked.connect(self._on_no)
        self._yes.clicked.connect(self._on_yes)
        line.addStretch(1)
        line.addWidget(self._no)
        line.addWidget(self._yes)
        return line

    def _yes_buttons(self) -> Iterable[QPushButton]:
        return (self._yes,)

    def _no_button(self) -> QPushButton:
        return self._no

    def _on_yes(self) -> None:
        self._answer(True)

    def _on_no(self) -> None:
        self._answer(False)

    def _answer(self, is_yes: bool) -> None:
        self._send(is_yes)
