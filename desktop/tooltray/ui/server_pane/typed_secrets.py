"""The secrets that a user typed into an entry: they are stored in the keyring when it is saved, unless the user chooses plain text.

Variables and headers have that choice in their own line. This widget has it for all others: arguments, parts of an address, and values in
the JSON for which the form has no line."""

from collections.abc import Callable, Collection, Mapping

from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.kit.local_work import MoveSecrets
from tooltray.ui.server_pane.entry_form import EntryForm
from tooltray.ui.server_pane.entry_values import Entry
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import row


class TypedSecrets(QWidget):
    """The secrets that were typed into a form.

    Args:
        server: the server's name, after which secrets are named.
        changed: called after the user chose another place for them.
    """

    def __init__(self, theme: Theme, server: str, form: EntryForm, move: MoveSecrets, changed: Callable[[], None]) -> None:
        super().__init__()
        self._server, self._form, self._move, self._changed = server, form, move, changed
        self._entry: Entry = {}
        self._moved: Mapping[str, str] = {}
        self._shown: tuple[str, ...] = ()  # values without a line of their own
        self._plain: set[str] = set()
        self._stored: Collection[str] = ()
        line = row(self, spacing=8)
        self._note = Label(theme, "", "caption", "muted", wrap=True)
        line.addWidget(self._note, 1)
        self._choice = Button(theme, tr("Save in plain text"), "link", small=True)
        self._choice.clicked.connect(self._on_choice)
        line.addWidget(self._choice)
        self.hide()

    @property
    def entry(self) -> Entry:
        """The entry to save, with placeholders for the values that are stored in the keyring."""
        return self._entry

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets to store when the entry is saved, by their names."""
        return {**self._moved, **self._form.secrets}

    def set_stored(self, names: Collection[str] | None) -> None:
        """Passes on the names of stored secrets; None: they are not known."""
        self._stored = names or ()

    def drop_choices(self) -> None:
        """Drops the user's choices to save values in plain text."""
        self._plain.clear()

    def refresh(self, base: Entry) -> None:
        """Searches the form's entry for secrets.

        Args:
            base: the entry as it is saved now.
        """
        form = self._form
        taken = {*self._stored, *form.secrets}
        self._entry, self._moved = self._move(self._server, form.entry, base, plain=form.plain | self._plain, taken=taken)
        form.show_moved(self._moved.values())
        lines = {each.value for row in form.rows if row.pairs is not None for each in row.pairs.rows}
        self._shown = tuple(value for value in self._moved.values() if not any(line.endswith(value) for line in lines))
        self._draw()

    def _draw(self) -> None:
        self.setVisible(bool(self._shown))
        names = ", ".join(sorted(name.partition("/")[2] for name, value in self._moved.items() if value in self._shown))
        self._note.setText(tr("Goes to the keyring when you save: {names}", names=names))
        self._choice.setAccessibleName(tr("Save {name} in plain text", name=names))

    def _on_choice(self) -> None:
        self._plain.update(self._shown)
        self._changed()
