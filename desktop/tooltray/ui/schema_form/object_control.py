"""The control for an object: a slot for each member. A member is built when it is opened: a schema that refers to itself ends where the
user stops, and one with thousands of members costs as much as the visible ones. Values without a field are kept unchanged."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.schema_form.leaves import Faults, ValueControl
from tooltray.ui.schema_form.slots import Place, Slot
from tooltray.ui.schema_form.value_shapes import ABSENT, Shape, properties_of, required_of, shape_of
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.surface import Surface, column, row

AT_ONCE = 6  # fields that are built in one go: 2 to 4 ms each; the next ones come when the window has drawn these
FIRST_MEMBERS, MORE_MEMBERS = 24, 40  # fields that are there without a press, and by one


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
        outer = column(self)
        self._add = Button(place.theme, tr("Fill in"), small=True, icon="plus")
        self._add.setAccessibleName(tr("Fill in {name}", name=name))
        self._add.clicked.connect(self._on_add)
        outer.addWidget(self._add)
        self._box = QWidget() if is_root else Surface(place.theme, "surface", "border", "m")
        self._body = column(self._box, margins=(0, 0, 0, 0) if is_root else (12, 10, 12, 12), spacing=12)
        self._lines = column(spacing=14)
        self._body.addLayout(self._lines)
        self._body.addWidget(self._foot(can_go=can_go))
        outer.addWidget(self._box)
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
    def fault(self) -> str:
        return ""

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
            slot.show_faults({**by_member.pop(name, {}), **slot.own_faults()})
        unplaced = {(name, *path): words for name, below in by_member.items() for path, words in below.items()}
        return super().show_faults(unplaced)

    def _foot(self, *, can_go: bool) -> QWidget:
        self._foot_line = QWidget()
        line = row(self._foot_line)
        self._more = Button(self._place.theme, "", "link", small=True)
        self._more.clicked.connect(self._on_more)
        line.addWidget(self._more)
        line.addStretch(1)
        remove = Button(self._place.theme, tr("Leave out"), "ghost", small=True)
        remove.setAccessibleName(tr("Leave out {name}", name=self._name))
        remove.clicked.connect(self._on_remove)
        line.addWidget(remove)
        remove.setVisible(can_go)
        self._can_go = can_go
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
