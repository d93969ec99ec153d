"""The sheet with the address of a sign-in, where no browser could be opened."""

from PySide6.QtWidgets import QLineEdit

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.surface import fill

WIDTH = 560


class SignInAddressSheet(SheetView):
    def __init__(self, context: PageContext, server: str, url: str) -> None:
        super().__init__(context, tr("Sign in to {name}", name=server), WIDTH)
        theme, self.server, self._url = context.theme, server, url
        text = tr("Open this address in a browser on this computer. Tooltray waits for you to sign in there.")
        field = QLineEdit(url)
        field.setReadOnly(True)
        field.setFont(theme.font("mono"))
        field.setFixedHeight(theme.size("control"))
        field.setCursorPosition(0)
        field.setAccessibleName(tr("Address at which you sign in to {name}", name=server))
        fill(self.body, Banner(theme, "warning", tr("No browser could be opened"), text), field)
        self.add_button(tr("Close"), self.leave)
        self.set_first_focus(self.add_button(tr("Copy address"), self._on_copy, "primary", "copy"))

    def _on_copy(self) -> None:
        self.context.copy(self._url, tr("The address is copied"))
