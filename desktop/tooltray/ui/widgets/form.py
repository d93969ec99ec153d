"""A form: a field for each value that a server needs, and what is wrong with it, at the field. The values leave the form only through
`values`; nothing is remembered."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QWidget

from tooltray.foundation.snapshots.entries import FieldValue, FormField
from tooltray.ui.i18n import say, tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.surface import column, fill, row

LONGEST_TEXT = 32_767  # characters; what a line of Qt's holds
LIST_LINES = 3  # in sight; more scroll

ChoosePath = Callable[[str, bool, Callable[[str], None]], None]
"""Asks for a file, or with True for a folder, under a title, and hands its path over."""


def number_text(value: float) -> str:
    """Returns a number in the user's notation."""
    return f"{value:.15g}"


def field_fault(field: FormField, text: str) -> str:
    """Returns what is wrong with the user's input, in words; empty if nothing is.

    Args:
        text: of a list, its lines.
    """
    if not text.strip():
        return tr("Required.") if field.is_required else ""
    if field.kind != "number":
        return ""
    for line in text.splitlines() if field.is_list else [text]:
        if line.strip() and (fault := _number_fault(field, line)):
            return fault
    return ""


def _number_fault(field: FormField, text: str) -> str:
    try:
        number = float(text)
    except ValueError:
        return tr("This must be a number.")
    if number != number or number in (float("inf"), float("-inf")):
        return tr("This must be a number.")
    if field.minimum is not None and number < field.minimum:
        return tr("At least {number}.", number=number_text(field.minimum))
    if field.maximum is not None and number > field.maximum:
        return tr("At most {number}.", number=number_text(field.maximum))
    return ""


class FieldRow(QWidget):
    """A row for one field. `changed`: the user edited it.

    Attributes:
        control: the widget for the keyboard.
    """

    changed = Signal()

    def __init__(self, theme: Theme, field: FormField, choose_path: ChoosePath) -> None:
        super().__init__()
        field = replace(field, label=say(field.label), description=say(field.description), placeholder=say(field.placeholder))
        self._theme, self.field, self._choose_path = theme, field, choose_path
        self._is_fault_shown = False
        self.control: QWidget
        self._fault = Label(theme, "", "caption", "error", wrap=True)
        self._fault.hide()
        meaning = [Label(theme, field.description, "caption", "secondary", wrap=True)] if field.description else []
        fill(column(self, spacing=4), self._title(), self._answer(), *meaning, self._fault)

    @property
    def value(self) -> FieldValue | None:
        """The user's value, or None. Only without `fault`."""
        field, text = self.field, self._text.strip()
        if isinstance(self.control, Switch):
            return self.control.isChecked()
        if not text:
            return None
        if field.is_list:
            return tuple(line.strip() for line in text.splitlines() if line.strip())
        return float(text) if field.kind == "number" else self._text if field.is_secret else text

    @property
    def fault(self) -> str:
        """What is wrong with the value, in words; empty if nothing is."""
        return "" if isinstance(self.control, Switch) else field_fault(self.field, self._text)

    def show_fault(self) -> None:
        """Shows what is wrong from now on, also while the user corrects it."""
        self._is_fault_shown = True
        self._fault.setText(self.fault)
        self._fault.setVisible(bool(self.fault))

    @property
    def _text(self) -> str:
        match self.control:
            case QPlainTextEdit() as lines:
                return lines.toPlainText()
            case Choice() as choice:
                return choice.chosen
            case QLineEdit() as line:
                return line.text()
        return ""

    def _title(self) -> QHBoxLayout:
        line = row(spacing=6)
        if self.field.is_secret:
            line.addWidget(Icon(self._theme, "key", 14, "accent.text", "surface.raised"), 0, Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(Label(self._theme, self.field.label, "label", wrap=True), 1)
        if self.field.kind != "boolean":
            word, tone = (tr("required"), "secondary") if self.field.is_required else (tr("optional"), "muted")
            line.addWidget(Label(self._theme, word, "caption", tone))
        return line

    def _answer(self) -> QHBoxLayout:
        line, field = row(), self.field
        if field.kind == "boolean":
            self.control, word = self._make_switch()
            fill(line, self.control, word, 1)
        elif field.is_list:
            self.control = self._make_lines()
            fill(line, (self.control, 1))
        elif field.kind == "choice" or field.choices:
            self.control = self._make_choice()
            fill(line, (self.control, 1))
        else:
            self.control = edit = self._make_line()
            fill(line, (edit, 1), *([self._reveal_button(edit)] if field.is_secret else []))
        if field.kind in ("file", "folder"):
            line.addWidget(self._browse_button(), 0, Qt.AlignmentFlag.AlignTop)
        self._describe()
        return line

    def _make_switch(self) -> tuple[Switch, Label]:
        """Makes a switch, and the word beside it."""
        is_on, words = bool(self.field.default), {True: tr("Yes"), False: tr("No")}
        switch, word = Switch(self._theme, self.field.label, on=is_on), Label(self._theme, words[is_on], "body", "secondary")
        switch.toggled.connect(lambda is_now: word.setText(words[is_now]))
        switch.toggled.connect(self._on_changed)
        return switch, word

    def _make_line(self) -> QLineEdit:
        field, default = self.field, self.field.default
        style = "mono" if field.kind in ("file", "folder") or field.is_secret else "body"
        line = text_line(self._theme, field.label, field.placeholder or _bounds(field), style=style, is_secret=field.is_secret)
        line.setMaxLength(LONGEST_TEXT)
        line.setText("" if default is None else number_text(default) if isinstance(default, int | float) else str(default))
        line.textChanged.connect(self._on_changed)
        return line

    def _make_lines(self) -> QPlainTextEdit:
        default = self.field.default
        text = "\n".join(default) if isinstance(default, tuple) else "" if default is None else str(default)
        lines = CodeView(self._theme, text, self.field.label, lines=LIST_LINES, editable=True)
        lines.setPlaceholderText(self.field.placeholder or tr("One on each line"))
        lines.textChanged.connect(self._on_changed)
        return lines

    def _make_choice(self) -> Choice:
        field = self.field
        options = [(choice, choice) for choice in field.choices]
        if not field.is_required or field.default is None:
            options.insert(0, ("", tr("Nothing chosen")))
        choice = Choice(self._theme, options, name=field.label)
        if field.default is not None:
            choice.choose(str(field.default))
        choice.chosen_changed.connect(self._on_changed)
        return choice

    def _reveal_button(self, line: QLineEdit) -> Button:
        button = Button(self._theme, tr("Show"), "ghost", small=True)
        button.setAccessibleName(tr("Show {name}", name=self.field.label))
        button.clicked.connect(partial(self._on_reveal, line, button))
        return button

    def _browse_button(self) -> Button:
        browse = partial(self._choose_path, self.field.label, self.field.kind == "folder", self._on_path)
        button = Button(self._theme, tr("Choose…"), icon="folder", on_click=browse)
        button.setAccessibleName(tr("Choose {name}", name=self.field.label))
        return button

    def _describe(self) -> None:
        control, field = self.control, self.field
        if not isinstance(control, Choice):
            control.setAccessibleName(field.label)
        needed = tr("required") if field.is_required else tr("optional")
        control.setAccessibleDescription(f"{needed}. {field.description}" if field.description else needed)

    def _on_reveal(self, line: QLineEdit, button: Button) -> None:
        is_hidden = line.echoMode() is QLineEdit.EchoMode.Password
        line.setEchoMode(QLineEdit.EchoMode.Normal if is_hidden else QLineEdit.EchoMode.Password)
        button.setText(tr("Hide") if is_hidden else tr("Show"))

    def _on_path(self, path: str) -> None:
        if isinstance(self.control, QPlainTextEdit):
            written = self.control.toPlainText().rstrip("\n")
            self.control.setPlainText(f"{written}\n{path}" if written else path)
        elif isinstance(self.control, QLineEdit):
            self.control.setText(path)

    def _on_changed(self, *_value: object) -> None:
        if self._is_fault_shown:
            self.show_fault()
        self.changed.emit()


class Form(QWidget):
    """Fields below each other, required ones first. `changed`: the user edited one of them.

    Args:
        choose_path: prompts for a file or a folder; by default with the system's dialog.
    """

    changed = Signal()

    def __init__(self, theme: Theme, fields: Sequence[FormField], *, choose_path: ChoosePath | None = None) -> None:
        super().__init__()
        layout = column(self, spacing=14)
        required_first = sorted(fields, key=lambda field: not field.is_required)
        self.rows = [FieldRow(theme, field, choose_path or self._choose_path) for field in required_first]
        for each in self.rows:
            each.changed.connect(self.changed)
            layout.addWidget(each)
        if not fields:
            self.hide()  # shown by whatever it is put into: until then it would be a window of its own

    @property
    def values(self) -> dict[str, FieldValue]:
        """The user's values, by the fields' keys, without empty ones. Only if it `is_complete`."""
        given = {each.field.key: each.value for each in self.rows}
        return {key: value for key, value in given.items() if value is not None}

    @property
    def is_complete(self) -> bool:
        """Whether all fields are valid."""
        return not any(each.fault for each in self.rows)

    def check(self) -> bool:
        """Shows each field's error and goes to the first one; returns whether the form has no errors."""
        for each in self.rows:
            each.show_fault()
        return not self.focus()

    def focus(self) -> bool:
        """Moves the focus to the first invalid field; returns whether there is one."""
        first = next((each for each in self.rows if each.fault), None)
        if first is not None:
            first.control.setFocus(Qt.FocusReason.OtherFocusReason)
        return first is not None

    def _choose_path(self, title: str, is_folder: bool, use: Callable[[str], None]) -> None:
        dialog = QFileDialog(self.window(), title, str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory if is_folder else QFileDialog.FileMode.ExistingFile)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, is_folder)
        dialog.fileSelected.connect(use)
        dialog.open()


def _bounds(field: FormField) -> str:
    """Returns the bounds of a number, as a hint in the field."""
    if field.kind != "number" or (field.minimum is None and field.maximum is None):
        return ""
    if field.maximum is None:
        return tr("At least {number}.", number=number_text(field.minimum or 0.0)).rstrip(".。")
    if field.minimum is None:
        return tr("At most {number}.", number=number_text(field.maximum)).rstrip(".。")
    return f"{number_text(field.minimum)} – {number_text(field.maximum)}"
