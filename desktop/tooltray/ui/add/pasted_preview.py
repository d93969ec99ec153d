"""A preview of one pasted server: its command, folder and variables, or its host, address and headers; the user can change name, secrets
and start."""

from collections.abc import Collection, Mapping
from typing import ClassVar

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.snapshots.servers import AccessChoice, usual_access
from tooltray.ui.add.new_server_preview import OWN, AccessField, PreviewBox
from tooltray.ui.confinement_words import is_entry_sandboxed
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.local_work import MoveSecrets, Pasted
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.code_view import FindSpans, covered
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.surface import column, row

FIRST_LINE = 24  # as high as a switch with its focus ring: the name stands beside the first line of a secret
LONGEST_NAME = 64  # what settings allow
NOTHING = "nothing"  # see Pasted.own_rules
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class NewServer(HidesFields, frozen=True):
    """A server to be added, with its entry for the settings; `secrets` are values by the names that the entry refers to; `access` is None
    where the entry itself says what it may do.
    """

    hidden: ClassVar = ("secrets",)

    name: str
    entry: Mapping[str, object]
    is_default: bool
    secrets: Mapping[str, str] = msgspec.field(default_factory=dict)
    project: str = ""  # a folder, into whose own file it goes; empty: into the settings
    access: AccessChoice | None = None


class SecretRow(QWidget):
    """A variable that looks like a secret: its value, and whether it is stored in the keyring."""

    changed = Signal()

    def __init__(self, theme: Theme, key: str, value: str) -> None:
        super().__init__()
        self.key = key
        lines = column(self, spacing=4)
        first = row(spacing=8)
        first.addWidget(ElidedLabel(theme, key, "mono", mode=Qt.TextElideMode.ElideMiddle), 1)
        first.addWidget(Icon(theme, "key", 14, "accent.text", "surface.raised"))
        first.addWidget(Label(theme, tr("Keep in the keyring"), "caption", "secondary"))
        self._switch = Switch(theme, tr("Keep {name} in the keyring", name=key), on=True)
        self._switch.clicked.connect(self.changed)
        first.addWidget(self._switch)
        lines.addLayout(first)
        self._field = _field(theme, tr("Value of {name}", name=key), value)
        self._field.setEchoMode(QLineEdit.EchoMode.Password)
        self._field.setPlaceholderText(tr("Paste its value"))
        self._field.textChanged.connect(self._on_typed)
        lines.addWidget(self._field)
        asked = row(spacing=8)
        self._note = Label(theme, "", "caption", "error", wrap=True)
        asked.addWidget(self._note, 1)
        self._leave = Button(theme, "", "link", small=True)
        self._leave.clicked.connect(self._on_leave)
        asked.addWidget(self._leave)
        self._asked = QWidget()
        self._asked.setLayout(asked)
        self._asked.hide()
        lines.addWidget(self._asked)
        self.is_left_out = False

    @property
    def is_missing(self) -> bool:
        """Whether it still needs a value."""
        return not self.value.strip() and not self.is_left_out

    def ask(self) -> None:
        """Requests the value, or the choice to add the server without it."""
        self._draw_asked()
        self._asked.show()
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_typed(self) -> None:
        self._asked.setVisible(self.is_left_out or (not self._asked.isHidden() and not self.value))
        self.changed.emit()

    def _on_leave(self) -> None:
        self.is_left_out = not self.is_left_out
        self._field.setVisible(not self.is_left_out)
        self._draw_asked()
        self.changed.emit()

    def _draw_asked(self) -> None:
        self._note.set_tone("muted" if self.is_left_out else "error")
        self._note.setText(tr("Added without it.") if self.is_left_out else tr("Enter its value, or add the server without it."))
        self._leave.setText(tr("Enter a value") if self.is_left_out else tr("Leave it out"))
        self._leave.setAccessibleName(
            tr("Enter a value for {name}", name=self.key) if self.is_left_out else tr("Leave out {name}", name=self.key)
        )

    @property
    def value(self) -> str:
        return self._field.text()

    @property
    def is_kept(self) -> bool:
        """Whether the value is stored in the keyring; otherwise it is saved in the settings."""
        return self._switch.isChecked()


def free_name(name: str, taken: Collection[str]) -> str:
    """Returns a name that is free here."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free


class PastedPreview(PreviewBox):
    """A preview of one pasted server. `changed`: the user edited it, so `is_ready` and `new_server` may have changed.

    Args:
        same: the name of a server that runs the same command, or has the same address, already; empty without one.
    """

    changed = Signal()

    def __init__(
        self, theme: Theme, pasted: Pasted, taken: Collection[str], *, find_secrets: FindSpans, move_secrets: MoveSecrets, same: str = ""
    ) -> None:
        super().__init__(theme)
        self._pasted, self._taken, self._move = pasted, taken, move_secrets
        self._shown_target = covered(pasted.target, find_secrets(pasted.target))
        self._rows: list[SecretRow] = []
        self._add_name()
        if pasted.is_remote:
            self._add_where_it_is()
        else:
            self._add_what_runs()
        self._add_secrets()
        self._add_start()
        self._add_access()
        if same:
            self.add_note(tr("You have this server already: {name}. Add it again only for another account.", name=same), "info", "info")
        self._add_notes()
        self._on_name_changed()

    def _add_where_it_is(self) -> None:
        pasted = self._pasted
        self.add_row(tr("Connects to"), CodeLabel(self._theme, pasted.host or self._shown_target), Chip(self._theme, pasted.transport))
        self.add_row(tr("Address"), CodeLabel(self._theme, self._shown_target, "secondary"))
        plain = [name for name in pasted.headers if name not in pasted.secrets]
        if plain:
            self.add_row(tr("Headers"), CodeLabel(self._theme, ", ".join(plain)))

    def _add_name(self) -> None:
        theme = self._theme
        self._name = _field(theme, tr("Name of the server"), free_name(self._pasted.name, self._taken))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.textChanged.connect(self._on_name_changed)
        self._chip = Chip(theme)
        self.add_row(tr("Name"), self._name, self._chip)

    def _add_what_runs(self) -> None:
        theme, config = self._theme, self._pasted.config
        self.add_row(tr("Command"), CodeLabel(theme, self._shown_target))
        if config.get("cwd"):
            self.add_row(tr("Folder"), CodeLabel(theme, str(config["cwd"])))
        variables = config.get("env")
        plain = [str(key) for key in variables if key not in self._pasted.secrets] if isinstance(variables, Mapping) else []
        if plain:
            self.add_row(tr("Variables"), CodeLabel(theme, ", ".join(plain)))

    def _add_secrets(self) -> None:
        for index, (key, value) in enumerate(self._pasted.secrets.items()):
            secret = SecretRow(self._theme, key, value)
            secret.changed.connect(self.changed)
            self._rows.append(secret)
            name = tr("Secret") if len(self._pasted.secrets) == 1 else tr("Secrets")
            self.add_row(name if index == 0 else "", secret, first_line=FIRST_LINE)

    def _add_start(self) -> None:
        theme = self._theme
        self._default = Switch(theme, tr("Start {name} with Tooltray", name=self._pasted.name), on=True)
        self._default.clicked.connect(self._on_default)
        self._default_words = Label(theme, "", "caption", "secondary")
        self.add_row(tr("Start"), self._default, self._default_words, stretch=True)
        self._on_default()

    def _add_access(self) -> None:
        says = [*map(say, self._pasted.own_rules), *([tr("its own sandbox")] if self._pasted.config.get("confinement") else [])]
        self._access = AccessField(self._theme, self._pasted.config, self.changed.emit, ", ".join(says))
        self.add_row(tr("Access"), self._access, first_line=self._theme.size("control"))
        self.show_access(None, can_sandbox=False)

    def show_access(self, setting: AccessChoice | None, *, can_sandbox: bool) -> None:
        """Shows which access it can have, and chooses one.

        Args:
            setting: `newServers` of the settings.
            can_sandbox: this computer can keep a server to its own files.
        """
        pasted = self._pasted
        offered: tuple[AccessChoice, ...] = ("trusted", "free")
        if can_sandbox and pasted.works_in_sandbox:
            offered = ("careful", *offered)
        wanted = "careful" if is_entry_sandboxed(pasted.config) else usual_access(setting, is_found=bool(pasted.origin))
        is_stricter = pasted.own_rules == (NOTHING,) or (not pasted.own_rules and wanted == "trusted" and pasted.config.get("confinement"))
        is_lacking = wanted not in offered and not is_stricter
        chosen = OWN if is_stricter else "trusted" if is_lacking else wanted
        self._access.show_choice(offered, chosen, is_lacking=is_lacking and not pasted.is_remote)

    def _add_notes(self) -> None:
        if self._pasted.origin:
            self.add_note(tr("It comes from {origin}. Add it only if you know the server.", origin=say(self._pasted.origin)))
        for warning in self._pasted.warnings:
            self.add_note(tr("Careful: {warning}.", warning=say(warning)))
        if self._pasted.is_remote and str(self._pasted.config.get("url", "")).startswith("http://") and not self._is_local:
            self.add_note(tr("The connection is not encrypted: others can read along."))
        for option in self._pasted.secret_arguments:
            text = tr("{option} looks like a secret. Other programs on this computer can read arguments.", option=option)
            self.add_note(text)

    @property
    def _is_local(self) -> bool:
        return self._pasted.host.rpartition(":")[0] in LOOPBACK or self._pasted.host in LOOPBACK

    @property
    def is_ready(self) -> bool:
        """Whether the server can be added."""
        return not self._complaint()

    @property
    def name(self) -> str:
        """The name for the server."""
        return self._name.text().strip()

    @property
    def missing(self) -> SecretRow | None:
        """The first secret that still needs a value, or None."""
        return next((row for row in self._rows if row.is_missing), None)

    @property
    def new_server(self) -> NewServer:
        """Returns the server to add. Values in its arguments and address that look like secrets are stored with the other secrets."""
        name, rows = self.name, [row for row in self._rows if not row.is_left_out]
        entry, secrets = self._pasted.stored_as(name, {row.key: row.value for row in rows if row.is_kept and row.value})
        plain: dict[str, str | None] = {row.key: row.value for row in rows if not (row.is_kept and row.value)}
        entry = self._pasted.filled_in(plain | {row.key: None for row in self._rows if row.is_left_out}, entry)
        entry, others = self._move(name, entry, {}, plain=[row.value for row in rows if not row.is_kept])
        return NewServer(name, entry, self._default.isChecked(), {**secrets, **others}, access=self._access.chosen)

    def _complaint(self) -> str:
        name = self.name
        if not name:
            return tr("needs a name")
        if "/" in name or not name.isprintable():
            return tr("not usable as a name")
        return tr("taken") if name in self._taken else ""

    def _on_name_changed(self) -> None:
        complaint = self._complaint()
        self._chip.set_word(complaint or tr("available"), "error" if complaint else "success")
        self.changed.emit()

    def _on_default(self) -> None:
        self._default_words.setText(tr("With Tooltray") if self._default.isChecked() else tr("When a client needs it"))


def _field(theme: Theme, name: str, text: str) -> QLineEdit:
    field = QLineEdit(text)
    field.setFont(theme.font("mono"))
    field.setFixedHeight(theme.size("control_small"))
    field.setMinimumWidth(120)
    field.setAccessibleName(name)
    return field
