"""The sheet of a command that prints a secret: its name, what is run, and what uses it. Runs nothing: the hub does, when a server
starts."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.command_words import PREFIX, Commands, command_of
from tooltray.ui.settings.secret_words import used_by
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 560
LINES = 4  # of the command that are in sight
EXAMPLE_NAME, EXAMPLE = "op", "op\nread\nop://Work/GitHub/credential"
NOT_IN_NAMES = frozenset("{}")  # a placeholder ends there


class CommandPanel(SheetFrame):
    """A sheet that edits a command. Both signals carry its name and words; their receiver calls `show_problem`, or closes the sheet.

    Args:
        secret: the secret that the command prints; None: a new one.
        commands: all commands of the settings.
    """

    save_requested = Signal(str, object)
    remove_requested = Signal(str, object)

    def __init__(self, theme: Theme, secret: SecretSnapshot | None, commands: Commands) -> None:
        named = command_of(secret) if secret is not None else None
        self._old = named if named in commands else None
        self._commands, self._words_before = commands, tuple(commands[self._old]) if self._old is not None else ()
        super().__init__(theme, secret.name if secret is not None else tr("A command that prints a secret"), WIDTH)
        if secret is not None and secret.problem is not None:
            self.body.addWidget(Banner(theme, "warning", title(secret.problem), sentences(secret.problem)))
        self._add_fields(named or "", fixed=secret is not None)
        if secret is not None and secret.used_by:
            self.body.addWidget(Label(theme, tr("Used by: {users}", users=used_by(secret)), "caption", "muted", wrap=True))
        self._add_buttons()
        self._on_edited()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        first: QWidget = self._command if self._name.isHidden() else self._name
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add_fields(self, name: str, *, fixed: bool) -> None:
        theme = self._theme
        heading = Label(theme, tr("Name"), "strong")
        self.body.addWidget(heading)
        self._name = QLineEdit(name)
        self._name.setFont(theme.font("mono"))
        self._name.setFixedHeight(theme.size("control"))
        self._name.setAccessibleName(tr("Name"))
        self._name.setPlaceholderText(EXAMPLE_NAME)
        if fixed:  # entries name it so; the sheet's title says it
            heading.hide()
            self._name.hide()
        self._name.textChanged.connect(self._on_edited)
        self.body.addWidget(self._name)
        self._reference = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._reference)
        self.body.addWidget(Label(theme, tr("Command"), "strong"))
        self._command = CodeView(theme, "\n".join(self._words_before), tr("Command"), lines=LINES, editable=True)
        self._command.setPlaceholderText(EXAMPLE)
        self._command.textChanged.connect(self._on_edited)
        self._name.returnPressed.connect(self._command.setFocus)
        self.body.addWidget(self._command)
        text = tr(
            "The program on the first line, then each argument on a line of its own, without quotes. It prints the value and nothing else."
        )
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))

    def _add_buttons(self) -> None:
        if self._old is not None:
            remove = Button(self._theme, tr("Remove"), "danger", "trash")
            remove.clicked.connect(self._on_remove)
            self.buttons.addWidget(remove)
        self.buttons.addStretch(1)
        cancel = Button(self._theme, tr("Cancel"))
        cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(cancel)
        self._save = Button(self._theme, tr("Save"), "primary")
        self._save.clicked.connect(self._on_save)
        self.buttons.addWidget(self._save)

    @property
    def _words(self) -> tuple[str, ...]:
        """The typed words, without empty lines around them; an empty line between them is an empty argument."""
        return tuple(self._command.toPlainText().strip("\n").split("\n")) if self._command.toPlainText().strip() else ()

    def _on_edited(self) -> None:
        name = self._name.text().strip()
        self._reference.setText(tr("Settings refer to it as {reference}", reference=f"${{secret:{PREFIX}{name or 'NAME'}}}"))
        fault = self._fault_of(name)
        self.show_problem(fault)
        self._save.setEnabled(fault is None and bool(name and self._words) and self._words != self._words_before)

    def _fault_of(self, name: str) -> Problem | None:
        if not NOT_IN_NAMES.isdisjoint(name):
            return Problem(tr("A name has no { or } in it"))
        if name in self._commands and name != self._old:
            return Problem(tr("There is a command of this name"), hint=tr("Choose another name"))
        return None

    def _on_save(self) -> None:
        self.save_requested.emit(self._name.text().strip(), self._words)

    def _on_remove(self) -> None:
        self.remove_requested.emit(self._old, self._words_before)
