"""A new server as the user reviews it before it is added: its description, and the box that shows it. Nothing is run."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, count
from typing import ClassVar, get_args
from urllib.parse import urlsplit

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.entries import NewServer
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.ui.confinement_words import choice_text, choice_title, entry_words, is_entry_sandboxed
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import ICONS
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.surface import Surface, clear, column, divider, fill, row
from tooltray.ui.zoom import px

NAME_COLUMN = 84
FIRST_LINE = 24  # as high as a switch with its focus ring: the name stands beside the first line of a secret
LONGEST_NAME = 64  # what settings allow
SECRET = "${secret:"  # begins a placeholder for one
OWN = "own"  # an access as the entry itself has it


class Candidate(HidesFields, frozen=True, kw_only=True):
    """A server that can be added.

    Attributes:
        name: proposed.
        entry: for the settings, as far as is known.
        target: the command line or the address, without secrets.
        host, transport: of a server that is reached by an address.
        plain: the names of its variables or headers that are no secrets.
        secrets: the names of those that are stored as secrets.
        asked: secrets whose values the user can change, by their names.
        has_start: the user chooses when it starts.
        access: what it may do at first; None: as the entry has it.
        offered: what can be chosen; empty: nothing.
        own_access: what the entry itself says, which can be chosen, too; empty: nothing.
        is_lacking: the settings want it to be careful, and it cannot be.
        origin: where it is from.
        notes: what to know before it is added: the text and a tone, "info" or "warning".
    """

    hidden: ClassVar = ("entry", "asked")

    name: str
    entry: Mapping[str, object]
    target: str
    host: str = ""
    transport: str = ""
    plain: Sequence[str] = ()
    secrets: Sequence[str] = ()
    asked: Mapping[str, str] = {}
    has_start: bool = False
    access: AccessChoice | None = None
    offered: Sequence[AccessChoice] = ()
    own_access: str = ""
    is_lacking: bool = False
    origin: str = ""
    notes: Sequence[tuple[str, str]] = ()


def candidate_of(new: NewServer) -> Candidate:
    """Describes a server as the engine would add it."""
    members = new.entry.get("headers" if new.url else "env")
    values = members if isinstance(members, Mapping) else {}
    return Candidate(
        name=new.name,
        entry=new.entry,
        target=new.url or joined(new.command),
        host=urlsplit(new.url).netloc,
        transport=str(new.entry.get("type", "http")) if new.url else "",
        plain=[str(name) for name, value in values.items() if SECRET not in str(value)],
        secrets=[name.rpartition("/")[2] for name in new.secrets],  # they may be those of the store
        access=new.access.choice if new.access is not None else None,
        offered=new.access.offered if new.access is not None else (),
        is_lacking=bool(new.url) and new.access is not None and new.access.choice == "trusted",  # of a process the engine warns
        origin=new.origin,
        notes=[(whole(warning), "warning") for warning in new.warnings],
    )


class AccessField(QWidget):
    """The choice of what a new server may do, with its meaning.

    Args:
        on_chosen: called when the user chose.
    """

    def __init__(self, theme: Theme, candidate: Candidate, on_chosen: Callable[[], object]) -> None:
        super().__init__()
        self._entry, self._own, self._report = candidate.entry, candidate.own_access, on_chosen
        self._choice = Choice(theme, [], name=tr("Access"), hint=choice_title(None))
        self._choice.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._choice.chosen_changed.connect(self._on_chosen)
        self._meaning = ElidedLabel(theme, "", "caption", "secondary")
        self._sandbox = Label(theme, "", "caption", "secondary", wrap=True)
        elsewhere = tr("Careful is not possible: a server with a URL cannot be sandboxed.")
        lacking = elsewhere if self._entry.get("url") else tr("Careful is not possible: it cannot be sandboxed on this computer.")
        self._lacking = Label(theme, lacking, "caption", "secondary" if self._entry.get("url") else "warning", wrap=True)
        fill(column(self, spacing=4), fill(row(spacing=8), self._choice, (self._meaning, 1)), self._sandbox, self._lacking)
        self._sandbox.setVisible(not self._entry.get("url"))  # nothing of it runs here
        self.show_choice(candidate)

    @property
    def chosen(self) -> AccessChoice | None:
        """None: as the entry has it."""
        return next((each for each in get_args(AccessChoice) if each == self._choice.chosen), None)

    def show_choice(self, candidate: Candidate) -> None:
        """Shows what can be chosen, and chooses what the candidate has at first."""
        self._lacking.setVisible(candidate.is_lacking)
        own = [(OWN, tr("As in the text: {rules}", rules=self._own))] if self._own else []
        meanings: dict[str, str] = {each: choice_text(each, is_process=not self._entry.get("url")) for each in candidate.offered}
        self._choice.set_options([*((each, choice_title(each)) for each in candidate.offered), *own], meanings)
        self.choose(candidate.access or (OWN if own else ""))

    def choose(self, access: str) -> None:
        self._choice.choose(access)
        self._draw()

    def _on_chosen(self) -> None:
        self._draw()
        self._report()

    def _draw(self) -> None:
        chosen, entry = self.chosen, self._entry
        approval = "trusted" if chosen == "careful" else chosen  # the sandbox is in the line below
        self._meaning.set_text(choice_text(approval, is_process=False) if approval else "")
        if chosen == "careful" and not is_entry_sandboxed(entry):
            entry = {"confinement": "own"}
        self._sandbox.setText(entry_words(entry if chosen in ("careful", None) else {}))


class SecretRow(QWidget):
    """A variable that looks like a secret: its value, and whether it is stored with the other secrets.

    Attributes:
        is_left_out: the server is added without it.
    """

    def __init__(self, theme: Theme, key: str, value: str, on_changed: Callable[[], object]) -> None:
        super().__init__()
        self.key, self._on_changed, self.is_left_out = key, on_changed, False
        self._place = Label(theme, "", "caption", "secondary")
        self._switch = Switch(theme, "", on=True)
        self._switch.clicked.connect(on_changed)
        name, sign = (
            ElidedLabel(theme, key, "mono", mode=Qt.TextElideMode.ElideMiddle),
            Icon(theme, "key", 14, "accent.text", "surface.raised"),
        )
        self._field = _field(theme, tr("Value of {name}", name=key), tr("Paste its value"), is_secret=True)
        self._field.setText(value)
        self._field.textChanged.connect(self._on_typed)
        self._asked = QWidget()
        self._note = Label(theme, "", "caption", "error", wrap=True)
        self._leave = Button(theme, "", "link", small=True, on_click=self._on_leave)
        fill(row(self._asked, spacing=8), (self._note, 1), self._leave)
        self._asked.hide()
        first = fill(row(spacing=8), (name, 1), sign, self._place, self._switch)
        fill(column(self, spacing=4), first, self._field, self._asked)

    @property
    def value(self) -> str:
        return self._field.text()

    @property
    def is_kept(self) -> bool:
        """Whether the value is stored with the other secrets; otherwise it is saved in the settings."""
        return self._switch.isChecked()

    @property
    def is_missing(self) -> bool:
        """Whether it still needs a value."""
        return not self.value.strip() and not self.is_left_out

    def show_place(self, place: str) -> None:
        """Shows where secrets are stored."""
        self._place.setText(tr("Keep in {place}", place=place))
        self._switch.setAccessibleName(tr("Keep {name} in {place}", name=self.key, place=place))

    def ask(self) -> None:
        """Requests the value, or the choice to add the server without it."""
        self._draw_asked()
        self._asked.show()
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_typed(self) -> None:
        self._asked.setVisible(self.is_left_out or (not self._asked.isHidden() and not self.value))
        self._on_changed()

    def _on_leave(self) -> None:
        self.is_left_out = not self.is_left_out
        self._field.setVisible(not self.is_left_out)
        self._draw_asked()
        self._on_changed()

    def _draw_asked(self) -> None:
        self._note.set_tone("muted" if self.is_left_out else "error")
        self._note.setText(tr("Added without it.") if self.is_left_out else tr("Enter its value, or add the server without it."))
        self._leave.setText(tr("Enter a value") if self.is_left_out else tr("Leave it out"))
        self._leave.setAccessibleName(
            tr("Enter a value for {name}", name=self.key) if self.is_left_out else tr("Leave out {name}", name=self.key)
        )


class ServerReview(Surface):
    """The box of a server that can be added: its parts, and what the user may change of it.

    Args:
        taken: names of servers.
        on_changed: called after the user changed something.
        place: where secrets are stored, as a part of a sentence.
        has_name: it is added under a name that the user may change.
    """

    def __init__(
        self, theme: Theme, taken: Collection[str], on_changed: Callable[[], object], place: str, *, has_name: bool = True
    ) -> None:
        super().__init__(theme, "surface.raised", "border", "m")
        self._taken, self._on_changed, self._place, self._has_name = taken, on_changed, place, has_name
        self.candidate: Candidate | None = None
        self._is_named = False
        self._wanted: AccessChoice | None = None  # as the user chose
        self._access: AccessField | None = None
        self._start: Switch | None = None
        self._stored: Label | None = None  # names secrets whose values the user gives elsewhere
        self.secrets: list[SecretRow] = []
        self._lines = self._parts = column(self, margins=(14, 4, 14, 4))
        self._name = _field(theme, tr("Name of the server"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.textEdited.connect(self._on_named)
        self._name.textChanged.connect(self._on_name_changed)
        self._chip = Chip(theme)
        if has_name:
            self._add_part(tr("Name"), self._name, self._chip)
        self._parts = column()  # are replaced when another server is shown
        self._lines.addLayout(self._parts)
        self._draw_chip()

    @property
    def name(self) -> str:
        """The name for the server."""
        return self._name.text().strip()

    @property
    def complaint(self) -> str:
        """What is wrong with the name; empty if nothing is."""
        if not self._has_name:
            return ""
        if not self.name:
            return tr("needs a name")
        if "/" in self.name or not self.name.isprintable():
            return tr("not usable as a name")
        return tr("taken") if self.name in self._taken else ""

    @property
    def is_ready(self) -> bool:
        """Whether the server can be added."""
        return self.candidate is not None and not self.complaint

    @property
    def access(self) -> AccessChoice | None:
        """What it may do; None: as the entry has it."""
        return self._access.chosen if self._access is not None else None

    @property
    def is_default(self) -> bool:
        """Whether it starts with Tooltray."""
        return self._start is None or self._start.isChecked()

    @property
    def missing(self) -> SecretRow | None:
        """The first secret that still needs a value, or None."""
        return next((secret for secret in self.secrets if secret.is_missing), None)

    def show_text(self, text: str, tone: str = "muted") -> None:
        """Shows a text in place of a server that is not known yet, or cannot be added."""
        self._clear()
        self._draw_chip()
        self._add_line(8).addWidget(Label(self._theme, text, "caption", tone, wrap=True))

    def show_candidate(self, candidate: Candidate) -> None:
        """Shows a server; the name and the access that the user chose stay."""
        self._clear()
        self.candidate = candidate
        theme = self._theme
        if not self._is_named:
            self._name.setText(candidate.name)
        if candidate.transport:
            host = CodeLabel(theme, candidate.host or candidate.target)
            self._add_part(tr("Connects to"), host, Chip(theme, candidate.transport))
            self._add_part(tr("Address"), CodeLabel(theme, candidate.target, "secondary"))
        else:
            self._add_part(tr("Command"), CodeLabel(theme, candidate.target))
        if folder := candidate.entry.get("cwd"):
            self._add_part(tr("Folder"), CodeLabel(theme, str(folder)))
        if candidate.plain:
            self._add_part(tr("Headers") if candidate.transport else tr("Variables"), CodeLabel(theme, ", ".join(candidate.plain)))
        self._add_secrets(candidate)
        if candidate.has_start:
            self._add_start(candidate)
        self._add_access(candidate)
        if candidate.origin:
            self._add_part(tr("From"), Label(theme, say(candidate.origin), "body", "secondary", wrap=True))
        for text, tone in candidate.notes:
            line = self._add_line(8)
            line.addWidget(Icon(theme, ICONS[tone], 14, f"{tone}.text", "surface.raised"), 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(Label(theme, text, "caption", tone, wrap=True), 1)
        self._draw_chip()

    def show_access(self, candidate: Candidate) -> None:
        """Shows another access of the same server, once it is known."""
        if self._access is not None and self._wanted is None:
            self.candidate = candidate
            self._access.show_choice(candidate)

    def show_place(self, place: str) -> None:
        """Shows where secrets are stored."""
        self._place = place
        if self._stored is not None and self.candidate is not None:
            self._stored.setText(tr("{names}, kept in {place}", names=", ".join(self.candidate.secrets), place=place))
        for secret in self.secrets:
            secret.show_place(place)

    def _clear(self) -> None:
        clear(self._parts)
        self.candidate = self._access = self._start = self._stored = None
        self.secrets = []

    def _add_secrets(self, candidate: Candidate) -> None:
        title = tr("Secret") if len(candidate.secrets or candidate.asked) == 1 else tr("Secrets")
        if candidate.secrets:
            self._stored = Label(self._theme, "", "body", wrap=True)
            self._add_part(title, self._stored)
        for key, value in candidate.asked.items():
            secret = SecretRow(self._theme, key, value, self._on_changed)
            self._add_part("" if self.secrets else title, secret, first_line=px(FIRST_LINE))
            self.secrets.append(secret)
        self.show_place(self._place)

    def _add_start(self, candidate: Candidate) -> None:
        start = self._start = Switch(self._theme, tr("Start {name} with Tooltray", name=candidate.name), on=True)
        words = Label(self._theme, tr("With Tooltray"), "caption", "secondary")
        start.toggled.connect(lambda is_on: words.setText(tr("With Tooltray") if is_on else tr("When a client needs it")))
        self._add_part(tr("Start"), start, words, stretch=True)

    def _add_access(self, candidate: Candidate) -> None:
        if candidate.offered:
            self._access = AccessField(self._theme, candidate, self._on_access)
            if self._wanted in candidate.offered:
                self._access.choose(self._wanted or "")
            self._add_part(tr("Access"), self._access, first_line=self._theme.size("control"))
        elif not candidate.transport:
            self._add_part(tr("Sandbox"), Label(self._theme, entry_words(candidate.entry), "body", wrap=True))

    def _add_part(self, name: str, value: QWidget, *notes: QWidget, first_line: int = 0, stretch: bool = False) -> None:
        """Adds a part with its name.

        Args:
            name: empty for a further line of the part above.
            first_line: the height of the value's first line, beside which the name stands; 0: in the middle.
            stretch: the value takes only the width that it needs.
        """
        line = self._add_line(5, has_divider=bool(name))
        label = ElidedLabel(self._theme, name, "caption", "muted", hugs=True)
        label.setFixedWidth(px(NAME_COLUMN))
        if first_line:
            label.setFixedHeight(first_line)
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop if first_line else Qt.AlignmentFlag.AlignVCenter)
        fill(line, (value, 0 if stretch else 1), *notes, *([1] if stretch else []))

    def _add_line(self, margin: int, *, has_divider: bool = True) -> QHBoxLayout:
        if has_divider and (self._parts.count() or self._lines.count() > 1):
            self._parts.addWidget(divider())
        widget = QWidget()
        self._parts.addWidget(widget)
        return row(widget, margins=(0, margin, 0, margin), spacing=8)

    def _on_access(self) -> None:
        self._wanted = self.access
        self._on_changed()

    def _on_named(self) -> None:
        self._is_named = True

    def _on_name_changed(self) -> None:
        self._draw_chip()
        self._on_changed()

    def _draw_chip(self) -> None:
        self._chip.setVisible(self._has_name and (self._is_named or self.candidate is not None))
        self._chip.set_word(self.complaint or tr("name is free"), "error" if self.complaint else "success")


def free_name(name: str, taken: Collection[str]) -> str:
    """Returns a name that is free here: the one that is wanted, or it with the first number that no server uses."""
    stem = name[: LONGEST_NAME - 4]
    return next(free for free in chain((name,), (f"{stem}-{number}" for number in count(2))) if free not in taken)


def _field(theme: Theme, name: str, placeholder: str = "", *, is_secret: bool = False) -> QLineEdit:
    field = text_line(theme, name, placeholder, style="mono", is_secret=is_secret)
    field.setFixedHeight(theme.size("control_small"))
    field.setMinimumWidth(px(120))
    return field
