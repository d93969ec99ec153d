"""Controls for values without members: text, numbers, switches, choices, and JSON for everything else. A control holds a value exactly as
it was given, or reports beforehand that it cannot."""

import json
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from tooltray.foundation.schema_check import FORMAT_EXAMPLES
from tooltray.ui.i18n import tr
from tooltray.ui.schema_form.value_shapes import ABSENT, Shape, same
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice, OptionList
from tooltray.ui.widgets.code_view import CHROME, CodeView
from tooltray.ui.widgets.keyboard import show_text
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.zoom import px

MOST_LINES = 8  # of a text in sight; more scroll
JSON_LINES = 3
EMPTY_JSON = "{ }"  # stands where nothing is typed yet; the same in every language
LONGEST_TEXT, LONGEST_NUMBER = 32_767, 64  # characters
LARGEST_NUMBER = 2**63  # one with more digits is written as JSON, and so is what is no number at all


Faults = dict[tuple[str | int, ...], str]
"""What is wrong, by the place below something."""


class ValueControl(QWidget):
    """The base of the controls for values. `changed`: the user edited it."""

    changed = Signal()
    _target: QWidget

    @property
    def value(self) -> object:
        """The value; ABSENT without one. Only without `fault`."""
        raise NotImplementedError

    @property
    def fault(self) -> str:
        """Why the content is not a value, in words; empty if it is one, or if the control is empty."""
        return ""

    @property
    def target(self) -> QWidget:
        """The widget for the keyboard."""
        return self._target

    @property
    def slots(self) -> Sequence[QWidget]:
        """The slots of the members that are built."""
        return ()

    def can_show(self, value: object) -> bool:
        """Returns whether `value` would return exactly this."""
        raise NotImplementedError

    def set_value(self, value: object) -> None:
        """Shows a value that `can_show` accepts, or ABSENT."""
        raise NotImplementedError

    def show_faults(self, faults: Faults) -> list[str]:
        """Shows at its members what is wrong with them; returns the texts that no member can show."""
        return [f"{'.'.join(str(part) for part in path)}: {words}" for path, words in faults.items()]


class GrowingText(QPlainTextEdit):
    """A text field as high as its lines, up to a few."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setFont(theme.font())
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(1)
        self.document().clearUndoRedoStacks()  # Ctrl+Z takes back what is typed, not the margin
        self._theme = theme
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        lines = max(1, min(MOST_LINES, int(self.document().size().height())))
        self.setFixedHeight(max(self._theme.size("control"), int(lines * QFontMetricsF(self.font()).lineSpacing()) + px(18)))

    def sizeHint(self) -> QSize:
        return QSize(px(200), self.height())


class TextControl(ValueControl):
    """A text; an empty text that was given stays a text until the user edits it."""

    def __init__(self, theme: Theme, shape: Shape, name: str) -> None:
        super().__init__()
        self._is_empty_given = False
        self._text = self._target = GrowingText(theme, name)
        self._text.setPlaceholderText(FORMAT_EXAMPLES.get(str(shape.schema.get("format")), ""))
        self._text.textChanged.connect(self._on_changed)
        column(self).addWidget(self._text)

    @property
    def value(self) -> object:
        text = self._text.toPlainText()
        return text if text or self._is_empty_given else ABSENT

    def can_show(self, value: object) -> bool:
        return isinstance(value, str) and len(value) <= LONGEST_TEXT and not set(value) & {"\r", "\0", "\u2028", "\u2029", "\xa0"}

    def set_value(self, value: object) -> None:
        show_text(self._text, value if isinstance(value, str) else "")
        self._is_empty_given = value == ""

    def _on_changed(self) -> None:
        self._is_empty_given = False
        self.changed.emit()


class NumberControl(ValueControl):
    """A number, in the user's notation: 3 stays 3, and 3.0 stays 3.0."""

    def __init__(self, theme: Theme, shape: Shape, name: str) -> None:
        super().__init__()
        self._is_whole = shape.kind == "integer"
        self._line = self._target = text_line(theme, name, bounds(shape))
        self._line.setMaxLength(LONGEST_NUMBER)
        self._line.setFont(theme.font(tabular=True))
        self._line.textChanged.connect(self.changed)
        column(self).addWidget(self._line)

    @property
    def value(self) -> object:
        text = self._line.text().strip()
        return ABSENT if not text or self.fault else read_number(text)

    @property
    def fault(self) -> str:
        text = self._line.text().strip()
        try:
            number = read_number(text) if text else 0
        except ValueError:
            return tr("This must be a number.")
        return tr("A whole number is needed") if self._is_whole and int(number) != number else ""

    def can_show(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST_NUMBER:
            return False
        return not self._is_whole or int(value) == value

    def set_value(self, value: object) -> None:
        show_text(self._line, "" if value is ABSENT else json.dumps(value))


def bounds(shape: Shape) -> str:
    """Returns the bounds of a number, as a hint."""
    least, most = shape.schema.get("minimum"), shape.schema.get("maximum")
    if least is not None and most is not None:
        return f"{least} – {most}"
    if least is not None:
        return f"≥ {least}"
    return f"≤ {most}" if most is not None else ""


class SwitchControl(ValueControl):
    """A switch. An optional one is omitted after `set_value(ABSENT)`, until the user switches it."""

    def __init__(self, theme: Theme, shape: Shape, name: str, *, is_required: bool) -> None:
        super().__init__()
        self._is_required = self._is_given = is_required
        self._default = shape.default is True
        self._switch = self._target = Switch(theme, name)
        self._word = Label(theme, tr("No"), "body", "secondary")
        self._switch.toggled.connect(self._on_changed)
        fill(row(self), self._switch, self._word, 1)

    @property
    def value(self) -> object:
        return self._switch.isChecked() if self._is_given else ABSENT

    def can_show(self, value: object) -> bool:
        return isinstance(value, bool)

    def set_value(self, value: object) -> None:
        self._switch.set_on(self._default if value is ABSENT else value is True)
        self._is_given = self._is_required or value is not ABSENT

    def _on_changed(self) -> None:
        self._is_given = True
        self._word.setText(tr("Yes") if self._switch.isChecked() else tr("No"))
        self.changed.emit()


class ChoiceControl(ValueControl):
    """A choice of a few values; an optional one may be left out."""

    def __init__(self, theme: Theme, options: Sequence[tuple[object, str]], name: str) -> None:
        super().__init__()
        self._options = options
        titles = [("", tr("Nothing chosen")), *((str(place), title) for place, (_, title) in enumerate(options))]
        self._choice = self._target = Choice(theme, titles, name=name)
        self._choice.chosen_changed.connect(self.changed)
        column(self).addWidget(self._choice)

    @property
    def value(self) -> object:
        chosen = self._choice.chosen
        return self._options[int(chosen)][0] if chosen else ABSENT

    def can_show(self, value: object) -> bool:
        return any(same(option, value) for option, _ in self._options)

    def set_value(self, value: object) -> None:
        places = [str(place) for place, (option, _) in enumerate(self._options) if value is not ABSENT and same(option, value)]
        self._choice.choose(places[0] if places else "")


class ChoicesControl(ValueControl):
    """A choice of any of a few values. That none is chosen is given only if the value is required, or was given so."""

    def __init__(self, theme: Theme, options: Sequence[tuple[object, str]], name: str, *, is_required: bool) -> None:
        super().__init__()
        self._options, self._is_required, self._is_empty_given = options, is_required, is_required
        self._list = OptionList(theme, [(str(place), title) for place, (_, title) in enumerate(options)], name=name, takes_many=True)
        self._list.changed.connect(self._on_changed)
        self._target = self._list.first
        column(self).addWidget(self._list)

    @property
    def value(self) -> object:
        chosen = [self._options[int(place)][0] for place in self._list.chosen]
        return chosen if chosen or self._is_empty_given else ABSENT

    def can_show(self, value: object) -> bool:
        if not isinstance(value, list | tuple):
            return False
        places = self._places(value)
        return len(places) == len(value) and places == sorted(set(places))

    def set_value(self, value: object) -> None:
        self._list.set_chosen([str(place) for place in self._places(value)])
        self._is_empty_given = self._is_required or value is not ABSENT

    def _places(self, value: object) -> list[int]:
        entries = value if isinstance(value, list | tuple) else ()
        return [place for entry in entries for place, (option, _) in enumerate(self._options) if same(option, entry)]

    def _on_changed(self) -> None:
        self._is_empty_given = self._is_required
        self.changed.emit()


class FixedControl(ValueControl):
    """A constant (`const` or `null`). Optional constants are omitted after `set_value(ABSENT)`."""

    def __init__(self, theme: Theme, value: object, *, is_required: bool) -> None:
        super().__init__()
        self._value, self._is_required, self._is_given = value, is_required, True
        self._target = CodeLabel(theme, json.dumps(value, ensure_ascii=False), "secondary")
        column(self).addWidget(self._target)

    @property
    def value(self) -> object:
        return self._value if self._is_given else ABSENT

    def can_show(self, value: object) -> bool:
        return same(value, self._value)

    def set_value(self, value: object) -> None:
        self._is_given = self._is_required or value is not ABSENT


class JsonControl(ValueControl):
    """A field for any value as JSON."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._code = self._target = CodeView(theme, "", name, editable=True, json=True)
        self._code.setFixedHeight(int(JSON_LINES * QFontMetricsF(self._code.font()).lineSpacing()) + px(CHROME))
        self._code.setPlaceholderText(EMPTY_JSON)
        self._code.textChanged.connect(self.changed)
        column(self).addWidget(self._code)

    @property
    def value(self) -> object:
        text = self._code.toPlainText()
        return ABSENT if not text.strip() or self.fault else read_json(text)

    @property
    def fault(self) -> str:
        return json_fault(self._code.toPlainText())

    def can_show(self, value: object) -> bool:
        return True

    def set_value(self, value: object) -> None:
        show_text(self._code, "" if value is ABSENT else json.dumps(value, ensure_ascii=False, indent=2))


def read_number(text: str) -> int | float:
    """Reads a number as the user writes it: 3 stays 3, 3.0 stays 3.0, and .5 is one, too.

    Raises:
        ValueError: the text cannot be read as a number.
    """
    try:
        number = read_json(text)
    except ValueError:
        number = float(text)
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number or abs(number) == float("inf"):
        raise ValueError(text)
    return number


def read_json(text: str) -> object:
    """Reads JSON; rejects what only Python accepts (NaN).

    Raises:
        ValueError: the text is not JSON.
    """
    value: object = json.loads(text, parse_constant=_no_constant)
    return value


def _no_constant(name: str) -> object:
    raise ValueError(name)


def json_fault(text: str) -> str:
    """Returns why a text is not JSON, with the line; empty if it is JSON, or empty."""
    if not text.strip():
        return ""
    try:
        read_json(text)
    except json.JSONDecodeError as error:
        return tr("Not valid JSON from line {line}: {reason}", line=error.lineno, reason=error.msg)
    except (ValueError, RecursionError):
        return tr("Not valid JSON.")
    return ""
