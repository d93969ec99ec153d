"""A field for the value of one secret, wherever it is missing: a card, Why?, an import, the Secrets tab. The text is hidden, and cleared
once it is stored; nothing waits for a keyring that shows a prompt."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import KeyringWait, SecretsHelp, open_secrets
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.surface import clear, column, fill, row


class SecretEntry(QWidget, View):
    """A field for a secret's value. `stored`: the secret of this name was stored, and servers that waited for it are started again
    automatically.

    Args:
        secret_name: as settings name it.
        is_new: the secret is not stored yet; else it is replaced.
    """

    stored = Signal(str)

    def __init__(self, context: PageContext, secret_name: str, *, is_new: bool = True) -> None:
        super().__init__()
        self.context = context
        theme = self._theme = context.theme
        self.secret_name, self._is_new = "", is_new
        body = column(self, spacing=6)
        line = row(spacing=8)
        self._field = text_line(theme, "", tr("Paste or type the value") if is_new else tr("New value"), is_secret=True)
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_store)
        self._button = Button(theme, self._verb, on_click=self._on_store)
        fill(line, (self._field, 1), self._button)
        self._wait = KeyringWait(theme, context.hub)
        fill(body, line, self._wait)
        self._fault = column()
        body.addLayout(self._fault)
        self.setFocusProxy(self._field)
        self.set_name(secret_name)

    def set_name(self, secret_name: str) -> None:
        """Changes the name of the secret; with an empty name no value can be stored."""
        self.secret_name = secret_name
        self._field.setAccessibleName(tr("Value of {name}", name=secret_name) if secret_name else tr("Value"))
        self._button.setAccessibleName(f"{self._verb}, {secret_name}" if secret_name else self._verb)
        self._draw()

    @property
    def _verb(self) -> str:
        return tr("Store") if self._is_new else tr("Replace")

    def focus_field(self) -> None:
        """Moves the focus to the field."""
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows below the field why the value was not stored."""
        if problem is not None:
            self._set_busy(False)
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))

    def _on_store(self) -> None:
        if self._button.isEnabled():
            self._set_busy(True)
            self.run(self._store(self.secret_name, self._field.text()))

    def _on_place_chosen(self, kind: str, passphrase: str) -> None:
        if self._field.text():
            self._set_busy(True)
            self.run(self._store_elsewhere(kind, passphrase, self.secret_name, self._field.text()))

    async def _store(self, name: str, value: str) -> None:
        try:
            await self.hub.secrets.set_secret(name, value)
        except TooltrayError as error:
            if (await self.hub.secrets.get_secrets()).problem is None or not self.is_there:
                raise
            self._show_ways_out(error.problem)
        else:
            self._field.clear()
            self._set_busy(False)
            self.stored.emit(name)

    async def _store_elsewhere(self, kind: str, passphrase: str, name: str, value: str) -> None:
        """Opens another place for secrets, and stores the value there."""
        try:
            await open_secrets(self.hub, kind, passphrase)
        except TooltrayError as error:
            self._show_ways_out(error.problem)
        else:
            await self._store(name, value)

    def _show_ways_out(self, problem: Problem) -> None:
        """Shows that the place of the secrets cannot be used, and what to do."""
        self._set_busy(False)
        found = SecretsHelp(self._theme, problem, self.hub.secret_backend)
        found.chosen.connect(self._on_place_chosen)
        self._fault.addWidget(found)

    def _set_busy(self, is_busy: bool) -> None:
        clear(self._fault)
        if is_busy:
            self._wait.start()
        else:
            self._wait.stop()
        self._field.setReadOnly(is_busy)
        self._draw()

    def _draw(self) -> None:
        self._button.setEnabled(bool(self._field.text().strip() and self.secret_name) and not self._field.isReadOnly())
