"""The sheet for a secret that a server lacks; the server starts as soon as the secret is stored."""

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.settings.secret_entry import SecretEntry
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import fill

WIDTH = 520


class SecretSheet(SheetView):
    def __init__(self, context: PageContext, server: str, secret: str) -> None:
        super().__init__(context, tr("A secret for {name}", name=server), WIDTH)
        self._server = server
        text = tr("Its settings name this secret, and none is stored. The server starts as soon as it is.")
        entry = SecretEntry(context, secret)
        entry.stored.connect(self._on_stored)
        fill(self.body, Label(context.theme, text, "body", "secondary", wrap=True), CodeLabel(context.theme, secret), entry)
        self.add_button(tr("Cancel"), self.leave)
        self.set_first_focus(entry)

    def _on_stored(self) -> None:
        self.close_requested.emit()
        self.context.say(tr("The secret is stored; {name} starts", name=self._server))
