"""The place of secrets: its kind, whether it can be used, and what to do if it cannot. Draws a frozen snapshot."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import StoredSecrets
from tooltray.ui.i18n import tr
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.settings.secret_words import place_look, places
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import clear, column

CHOICE_WIDTH = 240


class PlaceSection(QWidget):
    """A section with the place of secrets. `chosen` carries "keyring", "file" or "memory", and the passphrase of the file."""

    chosen = Signal(str, str)
    check_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._backend = theme, ""
        body = column(self, spacing=10)
        stays = tr("What another place has stays there, and comes back when you choose that place again.")
        body.addLayout(heading(theme, tr("Where stored secrets are kept"), ElidedLabel(theme, stays, "caption", "muted")))
        self._help = column()
        body.addLayout(self._help)
        self._choice = Choice(theme, places(), name=tr("Place"))
        self._choice.setMinimumWidth(CHOICE_WIDTH)
        self._choice.chosen_changed.connect(self._on_chosen)
        self._state = StateBadge(theme, place_look(StoredSecrets("")))
        self._check = Button(theme, tr("Try it"), small=True)
        self._check.clicked.connect(self._on_check)
        self._passphrase = QLineEdit()
        self._passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self._passphrase.setFont(theme.font())
        self._passphrase.setFixedHeight(theme.size("control"))
        self._passphrase.setMinimumWidth(CHOICE_WIDTH)
        self._passphrase.setAccessibleName(tr("Passphrase for the file"))
        self._passphrase.textChanged.connect(self._draw)
        self._passphrase.returnPressed.connect(self._on_use_file)
        self._use = Button(theme, tr("Use the file"))
        self._use.clicked.connect(self._on_use_file)
        text = tr("Opens the file, or becomes the passphrase of a new one.")
        self._passphrase_row = setting_row(theme, tr("Passphrase"), text, self._passphrase, self._use)
        rows = (
            setting_row(theme, tr("Place"), "", self._choice),
            self._passphrase_row,
            setting_row(theme, tr("State"), "", self._state, self._check),
        )
        body.addWidget(group(theme, *rows))
        self._draw()

    def show_secrets(self, secrets: StoredSecrets) -> None:
        if self._backend != secrets.backend:
            self._backend = secrets.backend
            clear(self._help)
            self._choice.choose(secrets.backend)
            self._passphrase.clear()
        self._state.set_look(place_look(secrets))
        self._check.setEnabled(True)
        self.show_problem(secrets.problem)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the place cannot be used, with ways out; None removes it."""
        self._check.setEnabled(True)
        if problem is None:
            clear(self._help)
            return
        item = self._help.itemAt(0)
        shown = item.widget() if item is not None else None
        if isinstance(shown, SecretsHelp):  # a passphrase that is being typed stays
            shown.set_problem(problem)
            return
        found = SecretsHelp(self._theme, problem, self._backend)
        found.chosen.connect(self.chosen)
        self._help.addWidget(found)

    def _on_check(self) -> None:
        self._check.setEnabled(False)
        self.check_requested.emit()

    def _on_chosen(self, kind: str) -> None:
        self._draw()
        if kind != "file" and kind != self._backend:
            self.chosen.emit(kind, "")
        elif kind == "file":
            self._passphrase.setFocus()

    def _on_use_file(self) -> None:
        if self._use.isEnabled():
            self.chosen.emit("file", self._passphrase.text())

    def _draw(self) -> None:
        """Shows the field for a passphrase, and enables the button once a passphrase is typed."""
        self._passphrase_row.setVisible(self._choice.chosen == "file" and self._backend != "file")
        self._use.setEnabled(bool(self._passphrase.text()))
