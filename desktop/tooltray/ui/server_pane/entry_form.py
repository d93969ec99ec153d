"""The form of a server's entry: the fields that most servers need, all others folded in groups, and errors at their fields.

It holds an entry, changes what the user edits, and leaves everything else in it unchanged."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.entries import EntryError
from tooltray.ui import problem_words
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.local_work import MoveSecrets
from tooltray.ui.schema_form.leaves import json_fault, read_json, read_number
from tooltray.ui.server_pane import entry_fields
from tooltray.ui.server_pane.entry_fields import ADVANCED, APPROVAL, BASIC, FIELDS, Entry, EntryField
from tooltray.ui.server_pane.secret_pairs import LooksSecret, PairRow, SecretPairs, SecretPlace
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.keyboard import replace_text, show_text
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.setting_rows import Fold, text_line
from tooltray.ui.widgets.surface import column, fill, row

FEWEST_LINES, MOST_LINES = 2, 8
ChooseFolder = Callable[[str, Callable[[str], None]], None]
"""Asks for a folder under a title, and hands it over."""
MakePairs = Callable[[str], SecretPairs]
"""Makes the lines of a field with variables or headers, under its title."""


class EntryFieldRow(QWidget):
    """A row for one field of an entry. `changed`: the user edited it; `value` has changed, unless there is a `fault`.

    Attributes:
        fault: why the text is not a valid value; empty if it is.
        has_fault: whether something is wrong with the value, here or for the settings.
    """

    changed = Signal()

    def __init__(self, theme: Theme, field: EntryField, make_pairs: MakePairs, choose_folder: ChooseFolder) -> None:
        super().__init__()
        self._theme, self.field = theme, field
        self._was_there = self._is_showing = self.has_fault = False
        self.fault = ""
        title = say(field.title)
        head = fill(row(spacing=8), (Label(theme, title, "label", wrap=True), 1))
        layout = fill(column(self, spacing=4), head)
        self.control = self._make(title, make_pairs)
        (head if field.kind == "switch" else layout).addWidget(self.control)
        if field.path in (("cwd",), ("projects",)):
            choose = partial(choose_folder, title, self._on_folder)
            button = Button(theme, tr("Choose…"), "link", "folder", small=True, on_click=choose)
            button.setAccessibleName(tr("Choose {name}", name=title))
            head.addWidget(button)
        if hint := say(field.hint):
            layout.addWidget(Label(theme, hint, "caption", "muted", wrap=True))
        self._note = Label(theme, "", "caption", "error", wrap=True)
        self._note.hide()
        layout.addWidget(self._note)

    @property
    def pairs(self) -> SecretPairs | None:
        """The lines of a field with variables or headers."""
        return self.control if isinstance(self.control, SecretPairs) else None

    @property
    def is_ambiguous(self) -> bool:
        """Whether two of its lines have the same name."""
        return self.pairs is not None and self.pairs.is_ambiguous

    @property
    def target(self) -> QWidget:
        """The widget for the keyboard."""
        return self.control.target if isinstance(self.control, SecretPairs) else self.control

    @property
    def value(self) -> object:
        """The user's value; None without one, so that the default applies. Only without `fault`."""
        match self.control:
            case Switch() as switch:
                on = switch.isChecked()
                return on if on is not self.field.default or self._was_there else None
            case Choice() as choice:
                return json.loads(choice.chosen) if choice.chosen else None
            case SecretPairs() as pairs:
                return pairs.pairs or None
            case CodeView() as lines:
                return self._read(lines.toPlainText())
        return self._read(cast(QLineEdit, self.control).text())

    def set_entry(self, entry: Entry) -> None:
        """Shows an entry's value, without `changed`."""
        value = entry_fields.value_in(entry, self.field)
        self._was_there = value is not None
        self.setVisible(entry_fields.is_wanted(entry, self.field))
        is_other = entry_fields.is_odd(entry, self.field)
        self.control.setEnabled(not is_other)
        was_odd, self.fault = bool(self.fault), ""
        self._say(tr("It is written in another way than fits here; change it in the JSON.") if is_other else "", "muted")
        if is_other:
            self._show(None)
        elif was_odd or not isinstance(self.control, QLineEdit) or value != self._value_or_none():
            self._show(value)

    def show_fault(self, fault: str) -> None:
        """Shows below the control what is wrong with the value; empty: nothing."""
        self.has_fault = bool(self.fault or fault)
        if self.control.isEnabled():
            self._say(self.fault or fault, "error")

    def _value_or_none(self) -> object:
        try:
            return self.value
        except ValueError:
            return None

    def _read(self, text: str) -> object:
        """Raises:
        ValueError: the text is not a valid value, with a word for it.
        """
        match self.field.kind:
            case "lines":
                lines = [line for line in text.splitlines() if line.strip()]
                return lines if lines or (self._was_there and self.field.path == ("autoApprove",)) else None
            case "number":
                number = read_number(text) if text.strip() else None
                return int(number) if isinstance(number, float) and number.is_integer() else number
            case "json":
                return read_json(text) if text.strip() else None
        return text if text.strip() else None

    def _show(self, value: object) -> None:
        self._is_showing = True
        match self.control:
            case Switch() as switch:
                switch.set_on(bool(self.field.default if value is None else value))
            case Choice() as choice:
                choice.set_options(entry_fields.options_of(self.field, value))
                choice.choose(entry_fields.choice_of(value))
            case SecretPairs() as pairs:
                pairs.set_pairs(cast(Mapping[str, str], value or {}))
            case CodeView() as lines:
                self._show_lines(lines, value)
            case QLineEdit() as line:
                show_text(line, "" if value is None else f"{value:.15g}" if isinstance(value, int | float) else str(value))
                line.setCursorPosition(0)
        self._is_showing = False

    def _show_lines(self, lines: CodeView, value: object) -> None:
        if self.field.kind == "json":
            text = "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
        else:
            text = "\n".join(cast(list[str], value or []))
        if [line for line in lines.toPlainText().splitlines() if line.strip()] != text.splitlines():
            show_text(lines, text)
        _fit(lines)

    def _make(self, title: str, make_pairs: MakePairs) -> QWidget:
        theme, field = self._theme, self.field
        match field.kind:
            case "switch":
                switch = Switch(theme, title, on=field.default is True)
                switch.clicked.connect(self._on_edited)
                return switch
            case "lines" | "json":
                lines = CodeView(theme, "", title, lines=FEWEST_LINES, editable=True, json=field.kind == "json")
                lines.setPlaceholderText(say(field.placeholder))
                lines.textChanged.connect(self._on_edited)
                return lines
            case "choice":
                choice = Choice(theme, entry_fields.options_of(field, None), name=title)
                choice.chosen_changed.connect(self._on_edited)
                return choice
            case "pairs":
                pairs = make_pairs(title)
                pairs.changed.connect(self._on_edited)
                return pairs
            case "text" | "number":
                line = text_line(theme, title, say(field.placeholder), style="mono" if field.is_code else "body")
                line.textEdited.connect(self._on_edited)
                return line

    def _on_edited(self, *_value: object) -> None:
        if self._is_showing:
            return
        if isinstance(self.control, CodeView):
            _fit(self.control)
        try:
            _ = self.value
            self.fault = ""
        except ValueError:
            control = self.control
            self.fault = json_fault(control.toPlainText()) if isinstance(control, CodeView) else tr("This must be a number.")
        self.show_fault("")
        self.changed.emit()

    def _on_folder(self, folder: str) -> None:
        if isinstance(self.control, QLineEdit):
            replace_text(self.control, folder)
            self._on_edited()
        elif isinstance(self.control, CodeView):
            written = self.control.toPlainText().rstrip("\n")
            replace_text(self.control, f"{written}\n{folder}" if written else folder)

    def _say(self, text: str, tone: str) -> None:
        self._note.setText(text)
        self._note.set_tone(tone)
        self._note.setVisible(bool(text))
        if isinstance(self.control, QLineEdit | CodeView):
            self.control.setAccessibleDescription(text)


def _fit(lines: CodeView) -> None:
    lines.set_lines(max(FEWEST_LINES, min(MOST_LINES, lines.blockCount())))


BETWEEN_GROUPS, BETWEEN_FIELDS = 22, 14


class EntryForm(QWidget):
    """A form for an entry. `changed`: the user edited a field, and `entry` has changed; `access_requested`: the user wants the tab Access.

    Args:
        server: the name of the entry's server.
        choose_folder: prompts for a folder.
        place: returns where secrets are stored, as a part of a sentence.
    """

    changed, access_requested = Signal(), Signal()

    def __init__(self, theme: Theme, server: str, *, looks_secret: LooksSecret, choose_folder: ChooseFolder, place: SecretPlace) -> None:
        super().__init__()
        self._theme, self.place = theme, place
        self.entry: Entry = {}
        self.stored: Collection[str] = ()  # names of secrets, as far as they are known
        make_pairs = partial(SecretPairs, theme, server=server, looks_secret=looks_secret, place=place)
        self.rows = [EntryFieldRow(theme, each, make_pairs, choose_folder) for each in FIELDS]
        self._pairs = [each.pairs for each in self.rows if each.pairs is not None]
        self._groups: list[tuple[QWidget, Sequence[EntryFieldRow]]] = []
        self._advanced = Fold(theme, tr("Advanced"), spacing=BETWEEN_GROUPS)
        self._advanced.folded.connect(self._show_faults)
        fill(column(self, spacing=BETWEEN_FIELDS), *self.rows[: len(BASIC)], self._advanced)
        fill(self._advanced.body, *(self._group(*each) for each in ADVANCED.items()))
        for each in self.rows:
            each.changed.connect(partial(self._on_changed, each))

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets to store when the entry is saved, by their names."""
        return {name: value for pairs in self._pairs for name, value in pairs.secrets.items()}

    @property
    def plain(self) -> set[str]:
        """The values of variables and headers that the user chose to save in plain text."""
        return set[str]().union(*(pairs.plain for pairs in self._pairs))

    @property
    def lines(self) -> set[str]:
        """The values of variables and headers."""
        return {line.value for pairs in self._pairs for line in pairs.rows}

    def show_moved(self, values: Collection[str]) -> None:
        """Shows which variables and headers are stored as secrets when the entry is saved."""
        for pairs in self._pairs:
            pairs.show_moved(values)

    @property
    def is_complete(self) -> bool:
        """Whether all fields have valid values."""
        return not any(each.fault or each.is_ambiguous for each in self.rows)

    def set_entry(self, entry: Entry) -> None:
        """Shows an entry, without `changed`."""
        self.entry = entry
        for each in self.rows:
            each.set_entry(entry)
        self._draw_groups()

    def set_stored(self, names: Collection[str] | None) -> None:
        """Passes on the names of stored secrets; None: they are not known."""
        self.stored = names or ()
        for pairs in self._pairs:
            pairs.set_stored(names)

    def show_slips(self, slips: Sequence[EntryError]) -> None:
        """Shows errors at their fields."""
        for each in self.rows:
            path = entry_fields.path_in(self.entry, each.field)
            found = next((slip for slip in slips if slip.path[: len(path)] == path), None)
            each.show_fault(problem_words.title(Problem(found.message)) if found is not None else "")
        self._show_faults()

    def field(self, *path: str) -> EntryFieldRow:
        """Returns the row of a field, by its path in our spelling."""
        return next(each for each in self.rows if each.field.path == path)

    def focus_secret(self, name: str) -> bool:
        """Moves the focus to the value of a secret; returns whether the entry names it."""
        line = next((line for pairs in self._pairs for line in pairs.rows if f"${{secret:{name}}}" in line.value), None)
        if line is not None:
            line.focus_secret()
        return line is not None

    def drop_secrets(self) -> None:
        """Drops the secrets that were typed into the form, with their lines; `set_entry` shows the others again."""
        for pairs in self._pairs:
            pairs.set_pairs({})

    def first_faulty(self) -> QWidget | None:
        """Returns the control of the first field that needs a correction, unfolded; None without one."""
        faulty = (each for each in self.rows if each.has_fault or each.is_ambiguous)
        found = next((each for each in faulty if each.control.isEnabled() and not each.isHidden()), None)
        self._show_faults()
        return found.target if found is not None else None

    def missing(self, before: Entry) -> PairRow | None:
        """Returns the first secret that was left empty, unless it is empty in the saved entry, too."""
        for each in self.rows:
            held = entry_fields.value_in(before, each.field) if each.pairs is not None else None
            if each.pairs is not None and (found := each.pairs.missing(held if isinstance(held, Mapping) else {})):
                return found
        return None

    def _group(self, title: str, fields: Sequence[EntryField]) -> QWidget:
        widget = QWidget()
        layout = fill(column(widget, spacing=BETWEEN_FIELDS), Label(self._theme, say(title), "caption_strong", "muted"))
        if title == APPROVAL:
            layout.addWidget(
                Button(self._theme, tr("Sandbox and approval: Access"), "link", small=True, on_click=self.access_requested.emit)
            )
        rows = [each for each in self.rows if each.field in fields]
        fill(layout, *rows)
        self._groups.append((widget, rows))
        return widget

    def _draw_groups(self) -> None:
        """Hides groups without a field, and shows how many fields differ from the default."""
        for widget, rows in self._groups:
            widget.setVisible(any(not each.isHidden() for each in rows))
        count = sum(entry_fields.is_changed(self.entry, each.field) for each in self.rows[len(BASIC) :])
        self._advanced.set_title(tr("Advanced ({count} changed)", count=count) if count else tr("Advanced"))

    def _show_faults(self) -> None:
        """Unfolds the fields that need a correction."""
        if any(each.has_fault for each in self.rows[len(BASIC) :]):
            self._advanced.set_open(True)

    def _on_changed(self, line: EntryFieldRow) -> None:
        if not line.fault:
            self.entry = entry_fields.with_value(self.entry, line.field, line.value)
            for each in self.rows:  # what a field means may have changed with another one
                if each is not line and not each.fault:  # what cannot be read yet stays
                    each.set_entry(self.entry)
            self._draw_groups()
        self.changed.emit()


class TypedSecrets(QWidget):
    """The secrets that were typed into a form: they are stored when it is saved, unless the user chooses plain text.

    Variables and headers have that choice in their own line; this widget has it for all others, as in arguments, addresses and the JSON.

    Args:
        server: the server's name, after which secrets are named.
        changed: called after the user chose another place for them.
    """

    def __init__(self, theme: Theme, server: str, form: EntryForm, move: MoveSecrets, changed: Callable[[], None]) -> None:
        super().__init__()
        self._server, self._form, self._move, self._changed = server, form, move, changed
        self.entry: Entry = {}
        self._moved: Mapping[str, str] = {}
        self._shown: tuple[str, ...] = ()  # values without a line of their own
        self._plain: set[str] = set()
        line = row(self, spacing=8)
        self._note = Label(theme, "", "caption", "muted", wrap=True)
        self._choice = Button(theme, tr("Save in plain text"), "link", small=True, on_click=self._on_choice)
        fill(line, (self._note, 1), self._choice)
        self.hide()

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets to store when the entry is saved, by their names."""
        return {**self._moved, **self._form.secrets}

    def drop_choices(self) -> None:
        """Drops the user's choices to save values in plain text."""
        self._plain.clear()

    def refresh(self, base: Entry) -> None:
        """Searches the form's entry for secrets.

        Args:
            base: the entry as it is saved now.
        """
        form = self._form
        taken = {*form.stored, *form.secrets}
        self.entry, self._moved = self._move(self._server, form.entry, base, plain=form.plain | self._plain, taken=taken)
        form.show_moved(self._moved.values())
        lines = form.lines
        self._shown = tuple(value for value in self._moved.values() if not any(line.endswith(value) for line in lines))
        self.setVisible(bool(self._shown))
        names = ", ".join(sorted(name.partition("/")[2] for name, value in self._moved.items() if value in self._shown))
        self._note.setText(tr("Goes to {place} when you save: {names}", place=self._form.place(), names=names))
        self._choice.setAccessibleName(tr("Save {name} in plain text", name=names))

    def _on_choice(self) -> None:
        self._plain.update(self._shown)
        self._changed()


def same_entry(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Returns whether two entries are equal, including their order."""
    return one == other and list(one) == list(other)
