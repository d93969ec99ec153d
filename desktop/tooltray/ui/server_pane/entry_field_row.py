"""One field of an entry as the user edits it: a line, several lines, variables, a number, a choice, a switch, or JSON."""

import json
from collections.abc import Callable, Mapping
from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.ui.i18n import say, tr
from tooltray.ui.schema_form.leaves import json_fault, read_json, read_number, text_line
from tooltray.ui.server_pane.entry_fields import Entry, EntryField, choice_of, is_odd, is_wanted, options_of, value_in
from tooltray.ui.server_pane.secret_pairs import LooksSecret, SecretPairs
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.keyboard import replace_text, show_text
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

FEWEST_LINES, MOST_LINES = 2, 8
ChooseFolder = Callable[[str, Callable[[str], None]], None]
"""Asks for a folder under a title, and hands it over."""


class EntryFieldRow(QWidget):
    """A row for one field of an entry. `changed`: the user edited it; `value` has changed, unless there is a `fault`.

    Attributes:
        has_fault: whether something is wrong with the value, here or for the settings.
    """

    changed = Signal()

    def __init__(self, theme: Theme, field: EntryField, *, server: str, looks_secret: LooksSecret, choose_folder: ChooseFolder) -> None:
        super().__init__()
        self._theme, self.field, self._choose_folder = theme, field, choose_folder
        self._was_there = self._is_showing = self.has_fault = False
        self._own_fault = ""
        title = say(field.title)
        layout = column(self, spacing=4)
        head = row(spacing=8)
        head.addWidget(Label(theme, title, "label", wrap=True), 1)
        layout.addLayout(head)
        self.control = self._make(title, server, looks_secret)
        (head if field.kind == "switch" else layout).addWidget(self.control)
        if field.path in (("cwd",), ("projects",)):
            button = Button(theme, tr("Choose…"), "link", "folder", small=True)
            button.setAccessibleName(tr("Choose {name}", name=title))
            button.clicked.connect(self._on_choose)
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
    def fault(self) -> str:
        """Why the text is not a valid value; empty if it is."""
        return self._own_fault

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
        value = value_in(entry, self.field)
        self._was_there = value is not None
        self.setVisible(is_wanted(entry, self.field))
        is_other = is_odd(entry, self.field)
        self.control.setEnabled(not is_other)
        was_odd, self._own_fault = bool(self._own_fault), ""
        self._say(tr("It is written in another way than fits here; change it in the JSON.") if is_other else "", "muted")
        if is_other:
            self._show(None)
        elif was_odd or not isinstance(self.control, QLineEdit) or value != self._value_or_none():
            self._show(value)

    def show_fault(self, fault: str) -> None:
        """Shows below the control what is wrong with the value; empty: nothing."""
        self.has_fault = bool(self._own_fault or fault)
        if self.control.isEnabled():
            self._say(self._own_fault or fault, "error")

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
                choice.set_options(options_of(self.field, value))
                choice.choose(choice_of(value))
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

    def _make(self, title: str, server: str, looks_secret: LooksSecret) -> QWidget:
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
                choice = Choice(theme, options_of(field, None), name=title)
                choice.chosen_changed.connect(self._on_edited)
                return choice
            case "pairs":
                pairs = SecretPairs(theme, title, server, looks_secret)
                pairs.changed.connect(self._on_edited)
                return pairs
            case "text" | "number":
                line = text_line(theme, title, placeholder=say(field.placeholder), font="mono" if field.is_code else "body")
                line.textEdited.connect(self._on_edited)
                return line

    def _on_edited(self, *_value: object) -> None:
        if self._is_showing:
            return
        if isinstance(self.control, CodeView):
            _fit(self.control)
        try:
            _ = self.value
            self._own_fault = ""
        except ValueError:
            control = self.control
            self._own_fault = json_fault(control.toPlainText()) if isinstance(control, CodeView) else tr("This must be a number.")
        self.show_fault("")
        self.changed.emit()

    def _on_choose(self) -> None:
        self._choose_folder(say(self.field.title), self._on_folder)

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
