"""The sheet of a command that prints a secret: its name, what is run, and what uses it. Runs nothing: the hub does, when a server
starts."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.command_words import PREFIX, SETTING, Commands, command_of
from tooltray.ui.settings.secret_words import used_by
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import Label

WIDTH = 560
LINES = 4  # of the command that are in sight
EXAMPLE_NAME, EXAMPLE = "op", "op\nread\nop://Work/GitHub/credential"
NOT_IN_NAMES = frozenset("{}")  # a placeholder ends there


class CommandSheet(SheetView):
    """A sheet that edits a command, or removes it.

    Args:
        secret: the secret that the command prints; None: a new one.
        commands: all commands of the settings.
        saved: called with the command's name.
        removed: called with its name and its words, too.
    """

    def __init__(
        self,
        context: PageContext,
        secret: SecretSnapshot | None,
        commands: Commands,
        *,
        saved: Callable[[str], None],
        removed: Callable[[str, Sequence[str]], None],
    ) -> None:
        named = command_of(secret) if secret is not None else None
        self._old = named if named in commands else None
        self._commands, self._words_before = commands, tuple(commands[self._old]) if self._old is not None else ()
        self._saved, self._removed = saved, removed
        super().__init__(context, secret.name if secret is not None else tr("A command that prints a secret"), WIDTH)
        theme = context.theme
        if secret is not None and secret.problem is not None:
            self.body.addWidget(Banner(theme, "warning", title(secret.problem), sentences(secret.problem)))
        self._add_fields(named or "", fixed=secret is not None)
        if secret is not None and secret.used_by:
            self.body.addWidget(Label(theme, tr("Used by: {users}", users=used_by(secret)), "caption", "muted", wrap=True))
        self._add_buttons()
        self.set_first_focus(self._command if secret is not None else self._name)
        self._on_edited()

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
            remove.clicked.connect(lambda: self.run(self._remove(), button=remove))
            self.buttons.addWidget(remove)
            self.buttons.addStretch(1)
        self.add_button(tr("Cancel"), self.close_requested.emit)
        self._save_button = self.add_button(tr("Save"), lambda: self.run(self._save(), button=self._save_button), "primary")

    @property
    def _words(self) -> tuple[str, ...]:
        """The typed words, without empty lines around them; an empty line between them is an empty argument."""
        return tuple(self._command.toPlainText().strip("\n").split("\n")) if self._command.toPlainText().strip() else ()

    def _on_edited(self) -> None:
        name = self._name.text().strip()
        self._reference.setText(tr("Settings refer to it as {reference}", reference=f"${{secret:{PREFIX}{name or 'NAME'}}}"))
        fault = self._fault_of(name)
        self.show_problem(fault)
        self._save_button.setEnabled(fault is None and bool(name and self._words) and self._words != self._words_before)

    def _fault_of(self, name: str) -> Problem | None:
        if not NOT_IN_NAMES.isdisjoint(name):
            return Problem(tr("A name has no { or } in it"))
        if name in self._commands and name != self._old:
            return Problem(tr("There is a command of this name"), hint=tr("Choose another name"))
        return None

    async def _save(self) -> None:
        name = self._name.text().strip()
        await self.hub.settings.change_settings({SETTING: {name: list(self._words)}})
        self._saved(name)
        self.close_requested.emit()

    async def _remove(self) -> None:
        assert self._old is not None
        await self.hub.settings.change_settings({SETTING: {self._old: None}})
        self._removed(self._old, self._words_before)
        self.close_requested.emit()
