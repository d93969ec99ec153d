"""The sheets of the Secrets tab: one secret in full, and a new one. The value of a stored secret is never shown."""

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.secret_entry import SecretEntry
from tooltray.ui.settings.secret_words import user_name
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, row

WIDTH = 560
EXAMPLE = "github/GITHUB_TOKEN"


class SecretDetailsSheet(SheetView):
    """A sheet about one secret: what uses it, a field for another value, and a button that removes it, or signs out.

    Args:
        stored: called with the secret's name after another value was stored.
        end: called to remove the secret.
    """

    def __init__(
        self, context: PageContext, secret: SecretSnapshot, *, stored: Callable[[str], None], end: Callable[[SecretSnapshot], None]
    ) -> None:
        super().__init__(context, secret.name, WIDTH)
        self._secret, self._stored, self._end = secret, stored, end
        self._entry: SecretEntry | None = None
        theme = self._theme
        if secret.kind == "own":
            text = tr("Tooltray keeps this for itself: which tokens you trust, or what its backups are encrypted with.")
            self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        elif secret.kind == "sign-in":
            text = tr("The tokens of your sign-in. They are renewed automatically.")
            self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
            self._add_users()
        elif secret.kind == "provided":
            self._add_origin()
            self._add_users()
        else:
            self._add_users()
            self._add_entry()
        if secret.is_stored and secret.kind != "own":
            word = tr("Sign out") if secret.kind == "sign-in" else tr("Remove")
            button = Button(theme, word, "danger", "trash")
            button.clicked.connect(self._on_end)
            self.buttons.addWidget(button)
            self.buttons.addStretch(1)
        close = self.add_button(tr("Close"), self.close_requested.emit)
        self.set_first_focus(self._entry or close)

    def _add_origin(self) -> None:
        secret = self._secret
        text = tr("It is fetched from {origin} each time a server starts, and never stored.", origin=say(secret.origin))
        self.body.addWidget(Label(self._theme, text, "body", "secondary", wrap=True))
        if secret.problem is not None:
            self.body.addWidget(Banner(self._theme, "warning", title(secret.problem), sentences(secret.problem)))

    def _add_users(self) -> None:
        theme, users = self._theme, self._secret.used_by
        self.body.addWidget(Label(theme, tr("Used by"), "strong"))
        if not users:
            self.body.addWidget(Label(theme, tr("No server that is known here."), "body", "secondary", wrap=True))
        else:
            self.body.addWidget(self._user_box(users))
        if files := self._secret.perhaps_used_by:
            text = tr("What they use is not known: {files}", files=", ".join(files))
            self.body.addWidget(Banner(theme, "warning", tr("Some files cannot be read"), text))

    def _user_box(self, users: tuple[str, ...]) -> Surface:
        box = Surface(self._theme, "surface", "border", "m")
        lines = column(box, margins=(14, 2, 8, 2))
        for index, user in enumerate(users):
            if index:
                lines.addWidget(divider())
            line = row(margins=(0, 5, 0, 5))
            line.addWidget(CodeLabel(self._theme, user), 1)
            if user_name(user) == user:
                show = Button(self._theme, tr("Show"), "link", small=True)
                show.setAccessibleName(tr("Show the server {name}", name=user))
                show.clicked.connect(partial(self._on_server, user))
                line.addWidget(show)
            lines.addLayout(line)
        return box

    def _add_entry(self) -> None:
        secret = self._secret
        self.body.addSpacing(4)
        self.body.addWidget(Label(self._theme, tr("Value"), "strong"))
        self._entry = SecretEntry(self.context, secret.name, is_new=secret.is_stored is False)
        self._entry.stored.connect(self._on_stored)
        self.body.addWidget(self._entry)
        self.body.addWidget(Label(self._theme, _note(secret), "caption", "muted", wrap=True))

    def _on_stored(self, name: str) -> None:
        self.close_requested.emit()
        self._stored(name)

    def _on_server(self, name: str) -> None:
        self.close_requested.emit()
        self.context.go(OpenServer(name))

    def _on_end(self) -> None:
        self._end(self._secret)
        self.close_requested.emit()


def _note(secret: SecretSnapshot) -> str:
    if secret.is_stored is None:
        return tr("Whether it is stored is not known: the place of the secrets does not answer.")
    return tr("The current value is not shown.") if secret.is_stored else tr("It is not stored, so servers that use it cannot start.")


class NewSecretSheet(SheetView):
    """A sheet with fields for a new secret's name and value.

    Args:
        stored: called with its name after it was stored.
    """

    def __init__(self, context: PageContext, *, stored: Callable[[str], None]) -> None:
        super().__init__(context, tr("New secret"), WIDTH)
        self._stored = stored
        theme = context.theme
        self.body.addWidget(Label(theme, tr("Name"), "strong"))
        self._name = QLineEdit()
        self._name.setFont(theme.font("mono"))
        self._name.setFixedHeight(theme.size("control"))
        self._name.setAccessibleName(tr("Name"))
        self._name.setPlaceholderText(EXAMPLE)
        self._name.textChanged.connect(self._on_name_changed)
        self._name.returnPressed.connect(self._on_name_done)
        self.body.addWidget(self._name)
        self._reference = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._reference)
        self.body.addWidget(Label(theme, tr("Value"), "strong"))
        self._entry = SecretEntry(context, "")
        self._entry.stored.connect(self._on_stored)
        self.body.addWidget(self._entry)
        self.add_button(tr("Cancel"), self.close_requested.emit)
        self.set_first_focus(self._name)
        self._on_name_changed("")

    def _on_stored(self, name: str) -> None:
        self.close_requested.emit()
        self._stored(name)

    def _on_name_changed(self, text: str) -> None:
        name = text.strip()
        self._reference.setText(tr("Settings refer to it as {reference}", reference=f"${{secret:{name or 'NAME'}}}"))
        self._entry.set_name(name)

    def _on_name_done(self) -> None:
        if self._name.text().strip():
            self._entry.focus_field()
