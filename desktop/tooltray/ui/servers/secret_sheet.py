"""The sheet for a secret that a server lacks; the server starts as soon as the secret is stored."""

from PySide6.QtGui import QShowEvent

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.secret_entry import SecretEntry
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 520


class SecretSheet(SheetFrame):
    def __init__(self, context: PageContext, server: str, secret: str) -> None:
        super().__init__(context.theme, tr("A secret for {name}", name=server), WIDTH)
        self._context, self._server = context, server
        text = tr("Its settings name this secret, and none is stored. The server starts as soon as it is.")
        self.body.addWidget(Label(context.theme, text, "body", "secondary", wrap=True))
        self.body.addWidget(CodeLabel(context.theme, secret))
        self._entry = SecretEntry(context, secret)
        self._entry.stored.connect(self._on_stored)
        self.body.addWidget(self._entry)
        self.buttons.addStretch(1)
        close = Button(context.theme, tr("Cancel"))
        close.clicked.connect(self.close_requested)
        self.buttons.addWidget(close)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._entry.focus_field()

    def _on_stored(self) -> None:
        self.close_requested.emit()
        self._context.say(tr("The secret is stored; {name} starts", name=self._server))
