"""The place of secrets: its kind, whether it can be used, and what to do if it cannot. Draws a frozen snapshot."""

from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import StoredSecrets
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import SecretsHelp, open_secrets
from tooltray.ui.kit.section import Section
from tooltray.ui.settings.secret_words import place_look, places
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, setting_row
from tooltray.ui.widgets.surface import clear

CHOICE_WIDTH = 240


class PlaceSection(Section):
    """The section about the place of secrets.

    Args:
        read: reads what the tab shows.
    """

    def __init__(self, context: PageContext, read: Work) -> None:
        theme = context.theme
        stays = tr("What another place has stays there, and comes back when you choose that place again.")
        super().__init__(context, tr("Where stored secrets are kept"), ElidedLabel(theme, stays, "caption", "muted"))
        self._read, self._backend = read, ""
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
        self.body.addWidget(group(theme, *rows))
        self._draw()

    def show_secrets(self, secrets: StoredSecrets) -> None:
        if self._backend != secrets.backend:
            self._backend = secrets.backend
            clear(self._fault)
            self._choice.choose(secrets.backend)
            self._passphrase.clear()
        self._state.set_look(place_look(secrets))
        self.show_problem(secrets.problem)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the place cannot be used, with ways out; None removes it."""
        if problem is None:
            clear(self._fault)
            return
        item = self._fault.itemAt(0)
        shown = item.widget() if item is not None else None
        if isinstance(shown, SecretsHelp):  # a passphrase that is being typed stays
            shown.set_problem(problem)
            return
        found = SecretsHelp(self._theme, problem, self._backend)
        found.chosen.connect(self._use_place)
        self._fault.addWidget(found)

    def _on_check(self) -> None:
        self.run(open_secrets(self.hub, "", ""), then=self._read, button=self._check)

    def _on_chosen(self, kind: str) -> None:
        self._draw()
        if kind != "file" and kind != self._backend:
            self._use_place(kind, "")
        elif kind == "file":
            self._passphrase.setFocus()

    def _on_use_file(self) -> None:
        if self._use.isEnabled():
            self._use_place("file", self._passphrase.text())

    def _use_place(self, kind: str, passphrase: str) -> None:
        """Opens the place of the secrets, or another one; a keyring may show its prompt."""
        self.run(open_secrets(self.hub, kind, passphrase), then=self._read)

    def _draw(self) -> None:
        """Shows the field for a passphrase, and enables the button once a passphrase is typed."""
        self._passphrase_row.setVisible(self._choice.chosen == "file" and self._backend != "file")
        self._use.setEnabled(bool(self._passphrase.text()))
