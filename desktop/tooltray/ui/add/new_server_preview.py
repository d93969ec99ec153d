"""What would be added, before the user approves: the command or the address, variables, secrets, origin and warnings. Nothing is run."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.entries import NewServer
from tooltray.ui.confinement_words import entry_words, is_entry_sandboxed, new_words
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

NAME_COLUMN = 84
SECRET = "${secret:"  # begins a placeholder for one


class NewServerPreview(Surface):
    """The newest preview; before the first one, a text with what has to be done first."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "surface.raised", "border", "m")
        self._rows = column(self, margins=(14, 4, 14, 4))
        self.show_words(tr("Fill in what is required to see what would run."))

    def show_words(self, text: str, tone: str = "muted") -> None:
        """Shows a text in place of a preview."""
        clear(self._rows)
        self._add_widget(Label(self._theme, text, "caption", tone, wrap=True), margin=8)

    def show_problem(self, problem: Problem) -> None:
        self.show_words(whole(problem), "error")

    def show_server(self, server: NewServer) -> None:
        clear(self._rows)
        if server.command:
            self._add(tr("Command"), CodeLabel(self._theme, joined(server.command)))
        if server.url:
            self._add(tr("Connects to"), CodeLabel(self._theme, server.url))
        for title, key in ((tr("Variables"), "env"), (tr("Headers"), "headers")):
            if plain := _plain(server.entry.get(key)):
                self._add(title, CodeLabel(self._theme, ", ".join(plain)))
        if server.secrets:
            names = ", ".join(name.rpartition("/")[2] for name in server.secrets)  # they may be those of the store
            keys = Label(self._theme, tr("{names}, kept in the keyring", names=names), "body", wrap=True)
            self._add(tr("Secret") if len(server.secrets) == 1 else tr("Secrets"), keys)
        if (rules := list(server.entry.get("autoApprove") or ["read"])) in (["read"], ["all"]):
            words = new_words(asks=rules == ["read"], is_sandboxed=is_entry_sandboxed(server.entry))
            self._add(tr("Access"), Label(self._theme, words, "body", wrap=True))
        if server.command:
            self._add(tr("Sandbox"), Label(self._theme, entry_words(server.entry), "body", wrap=True))
        if server.origin:
            self._add(tr("From"), Label(self._theme, say(server.origin), "body", "secondary", wrap=True))
        for warning in server.warnings:
            self._warn(warning)

    def _add(self, name: str, value: QWidget) -> None:
        line = QWidget()
        layout: QHBoxLayout = row(line, margins=(0, 5, 0, 5), spacing=8)
        label = Label(self._theme, name, "caption", "muted")
        label.setFixedWidth(NAME_COLUMN)
        layout.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(value, 1)
        self._add_widget(line)

    def _warn(self, warning: Problem) -> None:
        line = QWidget()
        layout = row(line, margins=(0, 8, 0, 8), spacing=8)
        layout.addWidget(Icon(self._theme, "alert", 14, "warning.text", "surface.raised"), 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(Label(self._theme, whole(warning), "caption", "warning", wrap=True), 1)
        self._add_widget(line)

    def _add_widget(self, widget: QWidget, margin: int = 0) -> None:
        if self._rows.count():
            self._rows.addWidget(divider())
        if margin:
            box = QWidget()
            column(box, margins=(0, margin, 0, margin)).addWidget(widget)
            widget = box
        self._rows.addWidget(widget)


def _plain(values: object) -> list[str]:
    """Returns the names of values that are not secrets."""
    return [str(name) for name, value in values.items() if SECRET not in str(value)] if isinstance(values, Mapping) else []
