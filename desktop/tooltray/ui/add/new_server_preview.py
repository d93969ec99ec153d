"""What would be added, before the user approves: the command or the address, variables, secrets, access, origin and warnings. Nothing is
run."""

from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.entries import NewServer
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.ui.confinement_words import choice_text, choice_title, entry_words, is_entry_sandboxed
from tooltray.ui.i18n import say, tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

NAME_COLUMN = 84
SECRET = "${secret:"  # begins a placeholder for one
OWN = "own"  # an access as the entry itself has it


class PreviewBox(Surface):
    """A box with the parts of a server that is not added yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "surface.raised", "border", "m")
        self._lines = column(self, margins=(14, 4, 14, 4))

    def add_row(self, name: str, value: QWidget, *notes: QWidget, first_line: int = 0, stretch: bool = False) -> None:
        """Adds a part with its name.

        Args:
            name: empty for a further line of the part above.
            first_line: the height of the value's first line, beside which the name stands; 0: in the middle.
            stretch: the value takes only the width that it needs.
        """
        if self._lines.count() and name:
            self._lines.addWidget(divider())
        line = row(margins=(0, 5, 0, 5), spacing=8)
        label = ElidedLabel(self._theme, name, "caption", "muted", hugs=True)
        label.setFixedWidth(NAME_COLUMN)
        if first_line:
            label.setFixedHeight(first_line)
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop if first_line else Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(value, 0 if stretch else 1)
        for note in notes:
            line.addWidget(note)
        if stretch:
            line.addStretch(1)
        self._lines.addLayout(line)

    def add_note(self, text: str, icon: str = "alert", tone: str = "warning") -> None:
        if self._lines.count():
            self._lines.addWidget(divider())
        line = row(margins=(0, 8, 0, 8), spacing=8)
        line.addWidget(Icon(self._theme, icon, 14, f"{tone}.text", "surface.raised"), 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(Label(self._theme, text, "caption", tone, wrap=True), 1)
        self._lines.addLayout(line)

    def clear(self) -> None:
        clear(self._lines)


class AccessField(QWidget):
    """The choice of what a new server may do, with its meaning.

    Args:
        entry: of the server.
        on_chosen: called when the user chose.
        own: what the entry itself says, which can be chosen, too; empty: nothing.
    """

    def __init__(self, theme: Theme, entry: Mapping[str, object], on_chosen: Callable[[], object], own: str = "") -> None:
        super().__init__()
        self._entry, self._own, self._report = entry, own, on_chosen
        self._is_process = bool(entry.get("command")) and entry.get("type") != "inmemory"
        self._choice = Choice(theme, [], name=tr("Access"), hint=choice_title(None))
        self._choice.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._choice.chosen_changed.connect(self._on_chosen)
        self._meaning = ElidedLabel(theme, "", "caption", "secondary")
        self._sandbox = Label(theme, "", "caption", "secondary", wrap=True)
        lines, line = column(self, spacing=4), row(spacing=8)
        line.addWidget(self._choice)
        line.addWidget(self._meaning, 1)
        lines.addLayout(line)
        lines.addWidget(self._sandbox)
        self._lacking = Label(
            theme, tr("Careful is not possible: it cannot be sandboxed on this computer."), "caption", "warning", wrap=True
        )
        lines.addWidget(self._lacking)
        self._lacking.hide()

    @property
    def chosen(self) -> AccessChoice | None:
        """None: as the entry has it."""
        return next((each for each in get_args(AccessChoice) if each == self._choice.chosen), None)

    def show_choice(self, offered: Sequence[AccessChoice], chosen: str | None, *, is_lacking: bool = False) -> None:
        """
        Args:
            is_lacking: the settings want it to be careful, and it cannot be.
        """
        self._lacking.setVisible(is_lacking)
        own = [(OWN, tr("As in the text: {rules}", rules=self._own))] if self._own else []
        self._choice.set_options([*((each, choice_title(each)) for each in offered), *own])
        self._choice.choose(chosen or "")
        self._draw()

    def _on_chosen(self) -> None:
        self._draw()
        self._report()

    def _draw(self) -> None:
        chosen, entry = self.chosen, self._entry
        self._meaning.set_text(choice_text(chosen, is_process=self._is_process) if chosen else "")
        if chosen == "careful" and not is_entry_sandboxed(entry):
            entry = {"confinement": "own"}
        self._sandbox.setText(entry_words(entry if chosen in ("careful", None) else {}))


class NewServerPreview(PreviewBox):
    """The newest preview; before the first one, a text with what has to be done first.

    Args:
        on_access: called with the access that the user chose.
    """

    def __init__(self, theme: Theme, on_access: Callable[[AccessChoice | None], object]) -> None:
        super().__init__(theme)
        self._on_access = on_access
        self.show_words(tr("Fill in what is required to see what would run."))

    def show_words(self, text: str, tone: str = "muted") -> None:
        """Shows a text in place of a preview."""
        self.clear()
        box = QWidget()
        column(box, margins=(0, 8, 0, 8)).addWidget(Label(self._theme, text, "caption", tone, wrap=True))
        self._lines.addWidget(box)

    def show_problem(self, problem: Problem) -> None:
        self.show_words(whole(problem), "error")

    def show_server(self, server: NewServer, access: AccessChoice | None = None) -> None:
        """
        Args:
            access: the user's choice; None: not chosen yet.
        """
        self.clear()
        if server.command:
            self.add_row(tr("Command"), CodeLabel(self._theme, joined(server.command)))
        if server.url:
            self.add_row(tr("Connects to"), CodeLabel(self._theme, server.url))
        for title, key in ((tr("Variables"), "env"), (tr("Headers"), "headers")):
            if plain := _plain(server.entry.get(key)):
                self.add_row(title, CodeLabel(self._theme, ", ".join(plain)))
        if server.secrets:
            names = ", ".join(name.rpartition("/")[2] for name in server.secrets)  # they may be those of the store
            keys = Label(self._theme, tr("{names}, kept in the keyring", names=names), "body", wrap=True)
            self.add_row(tr("Secret") if len(server.secrets) == 1 else tr("Secrets"), keys)
        if server.access is not None:
            field = AccessField(self._theme, server.entry, lambda: self._on_access(field.chosen))
            field.show_choice(server.access.offered, access or server.access.choice)
            self.add_row(tr("Access"), field, first_line=self._theme.size("control"))
        elif server.command:
            self.add_row(tr("Sandbox"), Label(self._theme, entry_words(server.entry), "body", wrap=True))
        if server.origin:
            self.add_row(tr("From"), Label(self._theme, say(server.origin), "body", "secondary", wrap=True))
        for warning in server.warnings:
            self.add_note(whole(warning))


async def read_new_access(hub: QtMcpPresenter) -> tuple[AccessChoice | None, bool]:
    """Returns what the settings want new servers to do, and whether this computer can sandbox one."""
    chosen = (await hub.settings.get_settings()).settings.get("newServers")
    setting = next((each for each in get_args(AccessChoice) if each == chosen), None)
    return setting, (await hub.confinement.get_confinement_support()).files


def _plain(values: object) -> list[str]:
    """Returns the names of values that are not secrets."""
    return [str(name) for name, value in values.items() if SECRET not in str(value)] if isinstance(values, Mapping) else []
