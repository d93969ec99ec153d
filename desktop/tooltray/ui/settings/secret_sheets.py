"""The sheets of the Secrets tab: one secret in full, a new one, and a command that prints one; and the field for a value, wherever one is
missing. The value of a stored secret is never shown, and no command is run: the hub does that, when a server starts."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import KeyringWait, SecretsHelp, open_secrets
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.secret_words import PREFIX, SETTING, Commands, command_of, used_by, user_name
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import add_lines, text_line
from tooltray.ui.widgets.surface import Surface, add_gap, clear, column, fill, row

WIDTH = 560
EXAMPLE = "github/GITHUB_TOKEN"
LINES = 4  # of the command that are in sight
COMMAND_NAME, COMMAND = "op", "op\nread\nop://Work/GitHub/credential"
NOT_IN_NAMES = frozenset("{}")  # a placeholder ends there


class SecretEntry(QWidget, View):
    """A field for a secret's value, which is hidden, and cleared once it is stored; nothing waits for a keyring that shows a prompt.
    `stored`: the secret of this name was stored, and servers that waited for it are started again automatically.

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
        self._field = text_line(theme, "", tr("Paste or type the value") if is_new else tr("New value"), is_secret=True)
        self._field.textChanged.connect(self._draw)
        self._button = Button(theme, self._verb, on_click=self._on_store)
        self._field.returnPressed.connect(self._button.click)
        self._wait, self._fault = KeyringWait(theme, context.hub), column()
        fill(column(self, spacing=6), fill(row(spacing=8), (self._field, 1), self._button), self._wait, self._fault)
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

    def show_problem(self, problem: Problem | None) -> None:
        """Shows below the field why the value was not stored."""
        if problem is not None:
            self._set_busy(False)
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))

    def _on_store(self) -> None:
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
        self._secret, self._end = secret, end
        theme = self._theme
        texts = {
            "own": tr("Tooltray keeps this for itself: which tokens you trust, or what its backups are encrypted with."),
            "sign-in": tr("The tokens of your sign-in. They are renewed automatically."),
            "provided": tr("It is fetched from {origin} each time a server starts, and never stored.", origin=say(secret.origin)),
        }
        if text := texts.get(secret.kind):
            self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        if secret.kind == "provided" and secret.problem is not None:
            self.body.addWidget(Banner(theme, "warning", title(secret.problem), sentences(secret.problem)))
        if secret.kind != "own":
            self._add_users()
        entry = self._add_entry(stored) if secret.kind == "value" else None
        if secret.is_stored and secret.kind != "own":
            word = tr("Sign out") if secret.kind == "sign-in" else tr("Remove")
            fill(self.buttons, Button(theme, word, "danger", "trash", on_click=self._on_end), 1)
        close = self.add_button(tr("Close"), self.leave)
        self.set_first_focus(entry or close)

    def _add_users(self) -> None:
        theme, users = self._theme, self._secret.used_by
        none = Label(theme, tr("No server that is known here."), "body", "secondary", wrap=True)
        fill(self.body, Label(theme, tr("Used by"), "strong"), self._user_box(users) if users else none)
        if files := self._secret.perhaps_used_by:
            text = tr("What they use is not known: {files}", files=", ".join(files))
            self.body.addWidget(Banner(theme, "warning", tr("Some files cannot be read"), text))

    def _user_box(self, users: tuple[str, ...]) -> Surface:
        box = Surface(self._theme, "surface", "border", "m")
        add_lines(column(box, margins=(14, 2, 8, 2)), map(self._user_line, users))
        return box

    def _user_line(self, user: str) -> QHBoxLayout:
        line = fill(row(margins=(0, 5, 0, 5)), (CodeLabel(self._theme, user), 1))
        if user_name(user) == user:
            show = Button(self._theme, tr("Show"), "link", small=True, on_click=partial(self._on_server, user))
            show.setAccessibleName(tr("Show the server {name}", name=user))
            line.addWidget(show)
        return line

    def _add_entry(self, stored: Callable[[str], None]) -> SecretEntry:
        theme, secret = self._theme, self._secret
        add_gap(self.body, 4)
        entry = SecretEntry(self.context, secret.name, is_new=secret.is_stored is False)
        entry.stored.connect(self.close_requested)
        entry.stored.connect(stored)
        fill(self.body, Label(theme, tr("Value"), "strong"), entry, Label(theme, _note(secret), "caption", "muted", wrap=True))
        return entry

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
        theme = context.theme
        self._name = text_line(theme, tr("Name"), EXAMPLE, style="mono")
        self._name.textChanged.connect(self._on_name_changed)
        self._name.returnPressed.connect(self._on_name_done)
        self._reference = Label(theme, "", "caption", "muted", wrap=True)
        self._entry = SecretEntry(context, "")
        self._entry.stored.connect(self.close_requested)
        self._entry.stored.connect(stored)
        fill(self.body, Label(theme, tr("Name"), "strong"), self._name, self._reference, Label(theme, tr("Value"), "strong"), self._entry)
        self.add_button(tr("Cancel"), self.leave)
        self.set_first_focus(self._name)
        self._on_name_changed("")

    def _on_name_changed(self, text: str) -> None:
        name = text.strip()
        self._reference.setText(tr("Settings refer to it as {reference}", reference=f"${{secret:{name or 'NAME'}}}"))
        self._entry.set_name(name)

    def _on_name_done(self) -> None:
        if self._name.text().strip():
            self._entry.setFocus()


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
        self._name = text_line(theme, tr("Name"), COMMAND_NAME, style="mono")
        self._name.setText(name)
        if fixed:  # entries name it so; the sheet's title says it
            heading.hide()
            self._name.hide()
        self._name.textChanged.connect(self._on_edited)
        self._reference = Label(theme, "", "caption", "muted", wrap=True)
        self._command = CodeView(theme, "\n".join(self._words_before), tr("Command"), lines=LINES, editable=True)
        self._command.setPlaceholderText(COMMAND)
        self._command.textChanged.connect(self._on_edited)
        self._name.returnPressed.connect(self._command.setFocus)
        text = tr(
            "The program on the first line, then each argument on a line of its own, without quotes. It prints the value and nothing else."
        )
        fill(self.body, heading, self._name, self._reference, Label(theme, tr("Command"), "strong"), self._command)
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))

    def _add_buttons(self) -> None:
        if self._old is not None:
            remove = Button(self._theme, tr("Remove"), "danger", "trash")
            remove.clicked.connect(lambda: self.run(self._remove(), button=remove))
            fill(self.buttons, remove, 1)
        self.add_button(tr("Cancel"), self.leave)
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
