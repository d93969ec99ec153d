"""A slot for each value of a form: its name, its control, its description, and its errors; and the controls for objects, lists and values
of several kinds, which consist of slots."""

from collections.abc import Mapping
from functools import partial
from itertools import count

import msgspec
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.schema_form import leaves, value_shapes
from tooltray.ui.schema_form.leaves import Faults, JsonControl, ValueControl
from tooltray.ui.schema_form.value_shapes import ABSENT, Schema, Shape, fits, properties_of, required_of, shape_of, variant_title
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton, leave_focus
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, fill, row

LONGEST_LABEL = 80  # characters of a member's name
AT_ONCE = 6  # fields that are built in one go: 2 to 4 ms each; the next ones come when the window has drawn these
FIRST_MEMBERS, MORE_MEMBERS = 24, 40  # fields that are there without a press, and by one
MOST_ENTRIES = 50  # of a list, as fields; a longer one is written as JSON
OPEN_TO = 2  # levels of members that have to be there; deeper ones are opened by a person


class Place(msgspec.Struct, frozen=True):
    """The context of a value in a form: the theme, the whole schema, and the depth.

    `is_question`: the schema is a question to the user: its titles are shown for names, and its order is kept.
    """

    theme: Theme
    root: Schema
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
        self.control = self._made()
        self._layout.addWidget(self.control)
        if self._shape.description and has_head:
            self._layout.addWidget(Label(place.theme, self._shape.description, "caption", "secondary", wrap=True))
        self._fault = Label(place.theme, "", "caption", "error", wrap=True)
        self._fault.hide()
        self._layout.addWidget(self._fault)

    @property
    def default(self) -> object:
        return self._shape.default

    @property
    def value(self) -> object:
        if self._is_null:
            return None
        value = self.control.value
        return None if value is ABSENT and self._shape.is_nullable and self._is_required else value

    def set_value(self, value: object) -> None:
        """Shows a value; ABSENT empties it."""
        is_null = value is None and self._shape.is_nullable
        shown = ABSENT if is_null else value
        if shown is not ABSENT and not self.control.can_show(shown):
            self._replace(JsonControl(self._place.theme, self._label))
        self.control.set_value(shown)
        self._is_null = is_null
        self._say("")

    def show_faults(self, faults: Faults) -> None:
        """Shows errors here and at the members; text that cannot be read is the only error here."""
        here = [self.control.fault] if self.control.fault else [words for path, words in faults.items() if not path]
        below = self.control.show_faults({path: words for path, words in faults.items() if path})
        self._say("\n".join([*here, *below]))

    def first_faulty(self) -> QWidget | None:
        """Returns the control of the first value with an error; None without errors."""
        inner = (each.first_faulty() for each in self.control.slots if isinstance(each, Slot))
        return next(filter(None, inner), self.control.target if self._fault.text() else None)

    def _head(self) -> QHBoxLayout:
        theme, line = self._place.theme, row(spacing=6)
        title = ElidedLabel(theme, self._label, "label")
        title.setSizePolicy(Label(theme, "").sizePolicy())
        fill(line, title, Label(theme, value_shapes.kind_words(self._shape), "caption", "muted"), 1)
        if self._is_required:
            line.addWidget(Label(theme, tr("required"), "caption", "secondary"))
        return line

    def _made(self) -> ValueControl:
        control = make_control(self._place, self._shape, self._label, is_required=self._is_required)
        words = [tr("required") if self._is_required else "", self._shape.description]
        described = control if control.slots else control.target  # the first member of an object has a description of its own
        described.setAccessibleDescription(". ".join(filter(None, words)))
        control.changed.connect(self._on_changed)
        return control

    def _replace(self, control: ValueControl) -> None:
        old, self.control = self.control, control
        control.changed.connect(self._on_changed)
        self._layout.replaceWidget(old, control)
        leave_focus(old)
        old.hide()
        old.deleteLater()

    def _on_changed(self) -> None:
        self._is_null = False
        if self._fault.text():
            self._say(self.control.fault)
        self.changed.emit()

    def _say(self, fault: str) -> None:
        self._fault.setText(fault)
        self._fault.setVisible(bool(fault))


class ObjectControl(ValueControl):
    """An object: a slot for each member, required ones first, except in a question.

    Args:
        is_open: its members are shown from the beginning; else when the user opens it.
        is_root: it is the whole form: nothing is drawn around it.
        can_go: it may be left out.
    """

    def __init__(self, place: Place, shape: Shape, name: str, *, is_open: bool, is_root: bool = False, can_go: bool = False) -> None:
        super().__init__()
        self._place, self._name, self._is_root, self._is_open = place, name, is_root, False
        members, required = properties_of(shape.schema), required_of(shape.schema)
        self._names = list(members) if place.is_question else sorted(members, key=lambda each: each not in required)
        self._members, self._required = members, required
        self._slots: dict[str, Slot] = {}
        self._kept: dict[str, object] = {}  # of members that have no field, or none yet
        self._wanted, self._are_defaults_wanted = 0, False  # how many fields are to be there, and what stands in new ones
        self._growing = QTimer(self, singleShot=True, interval=0)
        self._growing.timeout.connect(self._grow)
        self._add = Button(place.theme, tr("Fill in"), small=True, icon="plus", on_click=self._on_add)
        self._add.setAccessibleName(tr("Fill in {name}", name=name))
        self._box = QWidget() if is_root else Surface(place.theme, "surface", "border", "m")
        self._lines, self._can_go = column(spacing=14), can_go
        fill(column(self._box, margins=(0, 0, 0, 0) if is_root else (12, 10, 12, 12), spacing=12), self._lines, self._foot())
        fill(column(self), self._add, self._box)
        self._box.hide()
        if is_open:
            self._open({})

    @property
    def slots(self) -> list[Slot]:
        return list(self._slots.values())

    @property
    def value(self) -> object:
        if not self._is_open:
            return ABSENT
        given = {name: slot.value for name, slot in self._slots.items()}
        whole = {**self._kept, **{name: value for name, value in given.items() if value is not ABSENT}}
        order = {name: place for place, name in enumerate(self._members)}
        return dict(sorted(whole.items(), key=lambda item: order.get(item[0], len(order))))

    @property
    def target(self) -> QWidget:
        return next(iter(self._slots.values())).control.target if self._slots else self._add

    def can_show(self, value: object) -> bool:
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)

    def set_value(self, value: object) -> None:
        if isinstance(value, Mapping):
            self._open(dict(value), are_defaults_wanted=False)
        else:
            self._close()

    def show_faults(self, faults: Faults) -> list[str]:
        by_member: dict[str, Faults] = {}
        for path, words in faults.items():
            by_member.setdefault(str(path[0]), {})[path[1:]] = words
        for name in by_member:
            self._build_up_to(name)
        for name, slot in self._slots.items():
            slot.show_faults(by_member.pop(name, {}))
        unplaced = {(name, *path): words for name, below in by_member.items() for path, words in below.items()}
        return super().show_faults(unplaced)

    def _foot(self) -> QWidget:
        self._foot_line = QWidget()
        self._more = Button(self._place.theme, "", "link", small=True, on_click=self._on_more)
        remove = Button(self._place.theme, tr("Leave out"), "ghost", small=True, on_click=self._on_remove)
        remove.setAccessibleName(tr("Leave out {name}", name=self._name))
        fill(row(self._foot_line), self._more, 1, remove)
        remove.setVisible(self._can_go)
        return self._foot_line

    def _open(self, values: dict[str, object], *, are_defaults_wanted: bool = True) -> None:
        self._is_open = True
        self._kept = values
        if are_defaults_wanted:
            self._kept |= {
                name: default for name in self._names if name in self._required and (default := self._default(name)) is not ABSENT
            }
        for name, slot in self._slots.items():
            slot.set_value(self._kept.pop(name, ABSENT))
        self._are_defaults_wanted = are_defaults_wanted
        self._want(max(FIRST_MEMBERS, len(self._slots)))
        self._add.hide()
        self._box.show()

    def _close(self) -> None:
        self._is_open = False
        self._kept = {}
        self._box.hide()
        self._add.setVisible(not self._is_root)

    def _default(self, name: str) -> object:
        return shape_of(self._place.root, self._members[name]).default

    def _want(self, count: int) -> None:
        """Requests a number of fields, which are built a few at a time."""
        self._wanted = min(count, len(self._names))
        self._grow()

    def _grow(self) -> None:
        self._build(min(AT_ONCE, self._wanted - len(self._slots)))
        if len(self._slots) < self._wanted:
            self._growing.start()

    def _build(self, count: int) -> None:
        for name in self._names[len(self._slots) : len(self._slots) + max(0, count)]:
            slot = Slot(self._place.below, self._members[name], name, is_required=name in self._required)
            value = self._kept.pop(name, slot.default if self._are_defaults_wanted else ABSENT)
            if value is not ABSENT or not self._are_defaults_wanted:
                slot.set_value(value)
            slot.changed.connect(self.changed)
            self._slots[name] = slot
            self._lines.addWidget(slot)
        left = len(self._names) - max(self._wanted, len(self._slots))
        self._more.setText(tr("Show {count} more fields", count=min(left, MORE_MEMBERS)))
        self._more.setVisible(left > 0)
        self._foot_line.setVisible(left > 0 or self._can_go)

    def _build_up_to(self, name: str) -> None:
        if self._is_open and name in self._members and name not in self._slots:
            self._build(self._names.index(name) - len(self._slots) + 1)

    def _on_more(self) -> None:
        self._want(self._wanted + MORE_MEMBERS)

    def _on_add(self) -> None:
        self._open({})
        self.target.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def _on_remove(self) -> None:
        self._close()
        self._add.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()


def make_control(place: Place, shape: Shape, name: str, *, is_required: bool) -> ValueControl:
    """Makes the control for a value.

    Args:
        name: of the value, for screen readers.
    """
    theme = place.theme
    match shape.kind:
        case "text":
            return leaves.TextControl(theme, shape, name)
        case "number" | "integer":
            return leaves.NumberControl(theme, shape, name)
        case "boolean" if is_required or isinstance(shape.default, bool):
            return leaves.SwitchControl(theme, shape, name, is_required=is_required)
        case "boolean":
            return leaves.ChoiceControl(theme, ((True, tr("Yes")), (False, tr("No"))), name)
        case "choice":
            return leaves.ChoiceControl(theme, shape.options, name)
        case "choices":
            return leaves.ChoicesControl(theme, shape.options, name, is_required=is_required)
        case "const":
            return leaves.FixedControl(theme, shape.schema["const"], is_required=is_required)
        case "null":
            return leaves.FixedControl(theme, None, is_required=is_required)
        case "object":
            return ObjectControl(place, shape, name, is_open=is_required and place.depth <= OPEN_TO, can_go=not is_required)
        case "list":
            return ListControl(place, shape, name, is_required=is_required)
        case "variants":
            return VariantsControl(place, shape, name)
    return JsonControl(theme, name)


class ListControl(ValueControl):
    """A list: a slot for each entry, with a button that removes it. An empty list is given only if it is required."""

    def __init__(self, place: Place, shape: Shape, name: str, *, is_required: bool) -> None:
        super().__init__()
        self._place, self._name, self._items = place, name, shape.schema["items"]
        self._is_empty_given = is_required
        self._is_required = is_required
        self._entries: dict[Slot, QWidget] = {}  # each with its line
        self._lines = column(spacing=6)
        self._add = self._target = Button(place.theme, tr("Add"), small=True, icon="plus", on_click=self._on_add)
        self._add.setAccessibleName(tr("Add an entry to {name}", name=name))
        fill(column(self, spacing=6), self._lines, self._add)

    @property
    def slots(self) -> list[Slot]:
        return list(self._entries)

    @property
    def value(self) -> object:
        given = [value for slot in self._entries if (value := slot.value) is not ABSENT]
        return given if given or self._is_empty_given else ABSENT

    def can_show(self, value: object) -> bool:
        return isinstance(value, list | tuple) and len(value) <= MOST_ENTRIES

    def set_value(self, value: object) -> None:
        for slot in self.slots:
            self._take_out(slot)
        entries = value if isinstance(value, list | tuple) else ()
        for entry in entries:
            self._put_in().set_value(entry)
        self._is_empty_given = self._is_required or (value is not ABSENT and not entries)

    def show_faults(self, faults: Faults) -> list[str]:
        by_entry: dict[int, Faults] = {}
        for path, words in faults.items():
            by_entry.setdefault(int(path[0]) if isinstance(path[0], int) else -1, {})[path[1:]] = words
        numbers = count()
        for slot in self._entries:  # an empty one is none
            slot.show_faults(by_entry.pop(next(numbers), {}) if slot.value is not ABSENT else {})
        return [words for below in by_entry.values() for words in below.values()]

    def _on_add(self) -> None:
        slot = self._put_in()
        if slot.default is not ABSENT:
            slot.set_value(slot.default)
        slot.control.target.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def _put_in(self) -> Slot:
        widget, number = QWidget(), len(self._entries) + 1
        name = tr("Entry {number} of {name}", number=number, name=self._name)
        slot = Slot(self._place.below, self._items, name, is_required=True, has_head=False)
        slot.changed.connect(self.changed)
        take_out = tr("Take out entry {number} of {name}", number=number, name=self._name)
        remove = IconButton(self._place.theme, "x", take_out, on_click=partial(self._on_remove, slot))
        fill(row(widget, spacing=6), (slot, 1)).addWidget(remove, 0, Qt.AlignmentFlag.AlignTop)
        self._entries[slot] = widget
        self._lines.addWidget(widget)
        self._add.setEnabled(len(self._entries) < MOST_ENTRIES)
        return slot

    def _on_remove(self, slot: Slot) -> None:
        self._take_out(slot)
        self._add.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def _take_out(self, slot: Slot) -> None:
        widget = self._entries.pop(slot)
        self._lines.removeWidget(widget)
        leave_focus(widget)
        widget.hide()
        widget.deleteLater()
        self._add.setEnabled(True)


class VariantsControl(ValueControl):
    """A value of several kinds: a choice of the kind, and the slot for it, made when the kind is chosen."""

    def __init__(self, place: Place, shape: Shape, name: str) -> None:
        super().__init__()
        self._place, self._name, self._variants = place, name, shape.variants
        self._slot: Slot | None = None
        self._lines = column(self, spacing=6)
        titles = [(str(number), variant_title(place.root, each, number + 1)) for number, each in enumerate(shape.variants)]
        options = [("", tr("Nothing chosen")), *titles]
        self._choice = self._target = Choice(place.theme, options, name=tr("Kind of {name}", name=name))
        self._choice.chosen_changed.connect(self._on_chosen)
        self._lines.addWidget(self._choice)

    @property
    def slots(self) -> list[Slot]:
        return [self._slot] if self._slot is not None else []

    @property
    def value(self) -> object:
        return self._slot.value if self._slot is not None else ABSENT

    def can_show(self, value: object) -> bool:
        return self._fitting(value) is not None

    def set_value(self, value: object) -> None:
        number = None if value is ABSENT else self._fitting(value)
        self._choice.choose("" if number is None else str(number))
        self._show(number)
        if self._slot is not None:
            self._slot.set_value(value)

    def show_faults(self, faults: Faults) -> list[str]:
        if self._slot is None:
            return super().show_faults(faults)
        self._slot.show_faults(faults)
        return []

    def _fitting(self, value: object) -> int | None:
        return next((number for number, each in enumerate(self._variants) if fits(self._place.root, each, value)), None)

    def _on_chosen(self, value: str) -> None:
        self._show(int(value) if value else None)
        self.changed.emit()

    def _show(self, number: int | None) -> None:
        if self._slot is not None:
            leave_focus(self._slot)
            self._lines.removeWidget(self._slot)
            self._slot.hide()
            self._slot.deleteLater()
            self._slot = None
        if number is not None:
            self._slot = Slot(self._place.below, self._variants[number], self._name, is_required=True, has_head=False)
            if self._slot.default is not ABSENT:
                self._slot.set_value(self._slot.default)
            self._slot.changed.connect(self.changed)
            self._lines.addWidget(self._slot)
