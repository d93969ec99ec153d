"""A slot for one value: its name, its control, its description, and its errors. The maker of controls is passed with the place, since
controls of values with members need slots themselves."""

from typing import Protocol

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.schema_form.leaves import Faults, JsonControl, ValueControl
from tooltray.ui.schema_form.value_shapes import ABSENT, Schema, Shape, shape_of
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import leave_focus
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import column, row

LONGEST_LABEL = 80  # characters of a member's name


class MakeControl(Protocol):
    def __call__(self, place: "Place", shape: Shape, name: str, *, is_required: bool) -> ValueControl: ...


class Place(msgspec.Struct, frozen=True):
    """The context of a value in a form: the theme, the whole schema, the maker of controls, and the depth.

    `is_question`: the schema is a question to the user: its titles are shown for names, and its order is kept.
    """

    theme: Theme
    root: Schema
    make: MakeControl
    depth: int = 0
    is_question: bool = False

    @property
    def below(self) -> "Place":
        return msgspec.structs.replace(self, depth=self.depth + 1)


class Slot(QWidget):
    """One value: its name, its control, its description, and its errors. `changed`: the user edited it.

    A value that the control could not return exactly is shown as JSON.
    """

    changed = Signal()

    def __init__(self, place: Place, schema: object, label: str, *, is_required: bool, has_head: bool = True) -> None:
        super().__init__()
        self._place, self._is_required = place, is_required
        self._shape = shape_of(place.root, schema)
        self._label = one_line((place.is_question and self._shape.title) or label, LONGEST_LABEL)
        self._is_null = False
        self._layout = column(self, spacing=4)
        if has_head:
            self._layout.addLayout(self._head())
        self._control = self._made(self._shape)
        self._layout.addWidget(self._control)
        if self._shape.description and has_head:
            self._layout.addWidget(Label(place.theme, self._shape.description, "caption", "secondary", wrap=True))
        self._fault: Label | None = None  # made when there is something wrong

    @property
    def control(self) -> ValueControl:
        return self._control

    @property
    def default(self) -> object:
        return self._shape.default

    @property
    def value(self) -> object:
        if self._is_null:
            return None
        value = self._control.value
        return None if value is ABSENT and self._shape.is_nullable and self._is_required else value

    def set_value(self, value: object) -> None:
        """Shows a value; ABSENT empties it."""
        self._is_null = value is None and self._shape.is_nullable
        shown = ABSENT if self._is_null else value
        if shown is not ABSENT and not self._control.can_show(shown):
            self._replace(JsonControl(self._place.theme, self._label))
        self._control.set_value(shown)
        self._is_null = value is None and self._shape.is_nullable
        self._say("")

    def own_faults(self) -> Faults:
        """Returns why the text cannot be read, if so."""
        return {(): fault} if (fault := self._control.fault) else {}

    def show_faults(self, faults: Faults) -> None:
        """Shows errors here and at the members."""
        here = [words for path, words in faults.items() if not path]
        below = self._control.show_faults({path: words for path, words in faults.items() if path})
        self._say("\n".join([*([self._control.fault] if self._control.fault else here), *below]))

    def first_faulty(self) -> QWidget | None:
        """Returns the control of the first value with an error; None without errors."""
        inner = (each.first_faulty() for each in self._control.slots if isinstance(each, Slot))
        if (first := next(filter(None, inner), None)) is not None:
            return first
        return self._control.target if self._is_wrong else None

    def _head(self) -> QHBoxLayout:
        theme, line = self._place.theme, row(spacing=6)
        title = ElidedLabel(theme, self._label, "label")
        title.setSizePolicy(Label(theme, "").sizePolicy())
        line.addWidget(title)
        line.addWidget(Label(theme, kind_words(self._shape), "caption", "muted"))
        line.addStretch(1)
        if self._is_required:
            line.addWidget(Label(theme, tr("required"), "caption", "secondary"))
        return line

    def _made(self, shape: Shape) -> ValueControl:
        control = self._place.make(self._place, shape, self._label, is_required=self._is_required)
        control.target.setAccessibleDescription(". ".join(filter(None, [tr("required") if self._is_required else "", shape.description])))
        control.changed.connect(self._on_changed)
        return control

    def _replace(self, control: ValueControl) -> None:
        old, self._control = self._control, control
        control.changed.connect(self._on_changed)
        self._layout.replaceWidget(old, control)
        leave_focus(old)
        old.hide()
        old.deleteLater()

    def _on_changed(self) -> None:
        self._is_null = False
        if self._is_wrong:
            self._say(self._control.fault)
        self.changed.emit()

    @property
    def _is_wrong(self) -> bool:
        return self._fault is not None and bool(self._fault.text())

    def _say(self, fault: str) -> None:
        if self._fault is None:
            if not fault:
                return
            self._fault = Label(self._place.theme, "", "caption", "error", wrap=True)
            self._layout.addWidget(self._fault)
        self._fault.setText(fault)
        self._fault.setVisible(bool(fault))


def kind_words(shape: Shape) -> str:
    """Returns the kind of value, in a word or two."""
    words = {
        "text": tr("text"),
        "number": tr("number"),
        "integer": tr("whole number"),
        "boolean": tr("yes or no"),
        "list": tr("list"),
        "object": tr("object"),
        "json": tr("JSON"),
    }.get(shape.kind, "")
    format = shape.schema.get("format")
    return f"{words} · {one_line(format, 24)}" if shape.kind == "text" and isinstance(format, str) else words
