"""A form from a schema: each kind of value has its field, nothing is lost between fields and JSON, and no schema freezes or fools it."""

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPlainTextEdit, QWidget
from tests.fakes.desk import until
from tests.ui.seen import control, is_in_sight, words
from tests.ui.test_accessibility import nameless

from tooltray.ui.schema_form.schema_form import FIELDS, JSON, SchemaForm, faults_of
from tooltray.ui.schema_form.slots import AT_ONCE, FIRST_MEMBERS, MOST_ENTRIES, Slot
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice, Option
from tooltray.ui.widgets.page_frame import PageScroll

NODE = {"type": "object", "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/node"}}, "required": ["name"]}
BY_LINE = {"type": "object", "title": "By line", "properties": {"by": {"const": "line"}, "n": {"type": "integer"}}, "required": ["by", "n"]}
BY_TEXT = {"type": "object", "properties": {"by": {"const": "text"}, "t": {"type": "string"}}, "required": ["by", "t"]}
MEMBERS: dict[str, Any] = {
    "path": {"type": "string", "description": "A <b>path</b>\u202e."},
    "mode": {"enum": ["fast", "slow", 3]},
    "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
    "share": {"type": "number"},
    "dry": {"type": "boolean", "default": False},
    "maybe": {"type": "boolean"},
    "nick": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "edits": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]}},
    "where": {"oneOf": [BY_LINE, BY_TEXT]},
    "either": {"type": ["string", "integer"]},
    "level": {"oneOf": [{"const": 1, "title": "Low"}, {"const": 2, "title": "High"}]},
    "extra": {"type": "object", "additionalProperties": True},
    "tree": {"$ref": "#/$defs/node"},
    "kind": {"const": "x"},
    "both": {"allOf": [{"$ref": "#/$defs/node"}, {"properties": {"more": {"type": "string"}}}]},
}
SCHEMA = {"type": "object", "properties": MEMBERS, "required": ["path", "edits"], "$defs": {"node": NODE}}
WHOLE: dict[str, Any] = {
    "path": "/a",
    "mode": 3,
    "count": 4,
    "share": 2.0,
    "dry": True,
    "maybe": False,
    "nick": None,
    "edits": [{"old": "a\nb"}, {"old": ""}],
    "where": {"by": "text", "t": "q"},
    "either": 7,
    "level": 2,
    "extra": {"any": [1, {"thing": None}]},
    "tree": {"name": "r", "child": {"name": "s", "child": {"name": "t"}}},
    "kind": "x",
    "both": {"name": "n", "more": "m"},
    "unknown": [1],
}
ODD: dict[str, Any] = {
    "path": 7,
    "mode": "none of them",
    "count": "many",
    "share": True,
    "dry": "yes",
    "nick": 5,
    "edits": [{"old": str(number)} for number in range(MOST_ENTRIES + 1)],
    "where": {"by": "colour"},
    "extra": [],
    "tree": "no tree",
    "kind": "y",
}


async def made(theme: Theme, schema: dict[str, Any], values: dict[str, Any] | None = None) -> SchemaForm:
    form = SchemaForm(theme, schema, values=values)
    form.resize(600, 900)
    form.show()
    await until(lambda: not form.findChildren(QWidget) or form.isVisible())
    return form


async def there(form: SchemaForm, name: str) -> QAbstractButton:
    """A control, once the window has drawn it."""
    await until(lambda: any(name == each.accessibleName() and each.isVisibleTo(form) for each in form.findChildren(QAbstractButton)))
    return control(form, name)


def typed(form: SchemaForm, name: str, text: str) -> None:
    field = next(
        each for each in form.findChildren(QWidget) if each.accessibleName() == name and isinstance(each, QLineEdit | QPlainTextEdit)
    )
    field.setFocus()
    QTest.keyClicks(field, text)


def chosen(form: SchemaForm, name: str, title: str) -> None:
    choice = next(each for each in form.findChildren(Choice) if each.accessibleName().startswith(f"{name}: "))
    value = next(value for value, shown in choice._options if shown == title)
    choice.choose(value)
    choice.chosen_changed.emit(value)


async def test_what_is_typed_and_chosen_is_the_value_and_what_is_left_empty_is_not_in_it(theme: Theme) -> None:
    form = await made(theme, SCHEMA)
    await until(lambda: len(form.findChildren(Slot)) >= len(MEMBERS))
    assert form.value == {"edits": [], "count": 3, "dry": False, "kind": "x"}
    typed(form, "path", "/tmp/a")
    typed(form, "share", "0.5")
    chosen(form, "maybe", "Yes")
    chosen(form, "Kind of where", "By line")
    typed(form, "n", "12")
    chosen(form, "Kind of either", "string")
    typed(form, "either", "12")
    chosen(form, "level", "High")
    control(form, "Add an entry to edits").click()
    typed(form, "old", "this")
    (await there(form, "Fill in tree")).click()
    control(form, "dry").click()
    assert form.value == {
        "path": "/tmp/a",
        "count": 3,
        "share": 0.5,
        "dry": True,
        "maybe": True,
        "edits": [{"old": "this"}],
        "where": {"by": "line", "n": 12},
        "either": "12",
        "level": 2,
        "tree": {},
        "kind": "x",
    }
    assert "A <b>path</b>." in words(form)
    assert nameless(form) == []


@pytest.mark.parametrize("values", [WHOLE, ODD, {}, {"edits": []}, {"nick": "", "tree": {"name": ""}}])
async def test_nothing_is_lost_between_fields_and_json(theme: Theme, values: dict[str, Any]) -> None:
    form = await made(theme, SCHEMA, values)
    assert form.value == {"edits": [], **values}
    for view in (JSON, FIELDS, JSON):
        form.show_view(view)
        assert form.value == {"edits": [], **values}


async def test_json_that_cannot_be_read_stays_until_it_can_be(theme: Theme) -> None:
    form = await made(theme, SCHEMA)
    form.show_view(JSON)
    form._code.setPlainText('{"path": \n NaN}')
    form.show_view(FIELDS)
    assert (form.view, form.value, form.check()) == (JSON, None, False)
    assert "Not valid JSON." in words(form)
    form._code.setPlainText("{\n]")
    assert not form.check()
    assert "Not valid JSON from line 2: " in words(form)
    form._code.setPlainText("[]")
    assert not form.check()
    assert "The arguments have to be an object." in words(form)
    form._code.setPlainText('{"path": "a", "edits": [{"old": "b"}]}')
    assert form.check()
    form._code.setPlainText('{"path": "a"}')
    assert not form.check()
    assert "edits: Required." in words(form)


async def test_what_is_wrong_stands_at_its_field_and_the_keyboard_goes_to_the_first(theme: Theme) -> None:
    form = await made(theme, SCHEMA, {"edits": [{}], "count": 99, "where": {"by": "line", "n": "x"}})
    assert not form.check()
    shown = words(form)
    assert shown.count("Required.") == 2
    assert "At most 10." in shown
    assert form.isAncestorOf(form.focusWidget() or form)
    typed(form, "share", "much")
    assert not form.check()
    assert "This must be a number." in words(form)


async def test_the_first_fault_is_scrolled_to_wherever_the_form_is(theme: Theme) -> None:
    names = [f"field {number}" for number in range(20)]
    form = SchemaForm(theme, {"type": "object", "properties": {name: {"type": "integer", "maximum": 9} for name in names}})
    area = PageScroll("Arguments")
    area.setWidget(form)
    area.resize(500, 240)
    area.show()
    await until(lambda: len(form.findChildren(QLineEdit)) == len(names))
    typed(form, names[-2], "10")
    typed(form, names[0], "1")
    assert not form.check()
    faulty = next(each for each in form.findChildren(QLineEdit) if each.text() == "10")
    await until(lambda: is_in_sight(faulty))


async def test_what_was_typed_is_taken_back_by_ctrl_z_also_after_a_look_at_the_json(theme: Theme) -> None:
    form = await made(theme, SCHEMA, {"path": "/a", "count": 4})
    typed(form, "path", "b")
    typed(form, "count", "1")
    form.show_view(JSON)
    form.show_view(FIELDS)
    assert form.value == {"path": "b/a", "count": 41, "edits": []}
    for field in form.findChildren(QLineEdit) + form.findChildren(QPlainTextEdit):
        QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert form.value == {"path": "/a", "count": 4, "edits": []}


async def test_a_schema_that_refers_to_itself_ends_where_a_person_stops(theme: Theme) -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/b"}}, "required": ["a"]}
    form = await made(theme, endless)
    depth = len(form.findChildren(Slot))
    (await there(form, "Fill in a")).click()
    assert depth < len(form.findChildren(Slot)) < depth + 5
    form.check()


async def test_two_thousand_fields_come_in_portions_and_a_fault_in_a_late_one_is_shown(theme: Theme) -> None:
    many = {"type": "object", "properties": {f"f{number}": {"type": "string"} for number in range(2000)}, "required": ["f1999"]}
    form = SchemaForm(theme, many)
    assert len(form.findChildren(Slot)) == AT_ONCE
    form.show()
    await until(lambda: len(form.findChildren(Slot)) == FIRST_MEMBERS)
    control(form, "Show 40 more fields").click()
    await until(lambda: len(form.findChildren(Slot)) == FIRST_MEMBERS + 40)
    late = {"type": "object", "properties": {f"f{number}": {"type": "integer"} for number in range(100)}}
    form = await made(theme, late, {"f99": 1.5})
    form.check()
    assert form.value == {"f99": 1.5}
    await asyncio.sleep(0)


async def test_a_tool_that_takes_nothing_and_one_that_takes_anything(theme: Theme) -> None:
    assert (await made(theme, {"type": "object", "additionalProperties": False})).is_empty
    form = await made(theme, {"type": "object"})
    assert (form.is_empty, form.view, form.value) == (False, JSON, {})


def test_faults_are_worded_by_their_places() -> None:
    schema = {
        "properties": {
            "a": {"exclusiveMinimum": 1},
            "b": {"exclusiveMaximum": 1},
            "c": {"minLength": 2, "maxLength": 3},
            "d": {"maxItems": 1, "minItems": 1},
            "e": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["x"]}]},
            "f": {"anyOf": [{"type": "string"}, {"type": "array"}]},
            "g": {"multipleOf": 2},
            "h": {"pattern": "("},
            "i": {"minimum": 3},
        },
        "additionalProperties": False,
    }
    value = {"a": 1, "b": 1, "c": "a", "d": [], "e": {}, "f": 1, "g": 3, "h": "x", "i": 1, "j": 1}
    found = faults_of(schema, value)
    assert found[("a",)] == "More than 1."
    assert found[("b",)] == "Less than 1."
    assert found[("c",)] == "At least 2 characters"
    assert found[("d",)] == "At least 1 entry is needed."
    assert found[("e", "x")] == "Required."
    assert found[("f",)] == "This matches none of the allowed forms."
    assert "3" in found[("g",)]
    assert found[("i",)] == "At least 3."
    assert "'j'" in found[()]
    assert ("h",) not in found


def test_enter_in_a_text_makes_a_line(theme: Theme) -> None:
    form = SchemaForm(theme, {"type": "object", "properties": {"a": {"type": "string"}}})
    form.show()
    typed(form, "a", "x")
    field = form.findChildren(QPlainTextEdit)[0]
    QTest.keyClick(field, Qt.Key.Key_Return)
    typed(form, "a", "y")
    assert form.value == {"a": "x\ny"}


async def test_any_of_a_few_values_are_ticked_and_go_in_their_order(theme: Theme) -> None:
    tints = {"type": "array", "uniqueItems": True, "items": {"enum": ["r", "g", 3]}, "minItems": 1}
    schema = {"type": "object", "properties": {"must": tints, "may": tints}, "required": ["must"]}
    form = await made(theme, schema)
    assert form.value == {"must": []}
    assert not form.check()
    options = [each for each in form.findChildren(Option) if each.text() in ("r", "3")]
    options[1].click()
    options[0].click()
    assert form.value == {"must": ["r", 3]}
    options[2].click()
    assert form.value == {"must": ["r", 3], "may": ["r"]}
    options[2].click()
    assert form.check()
    for given in ({"must": ["g", 3], "may": []}, {"must": [3, "g"]}, {"must": ["r", "r"]}, {"must": "r"}, {"must": ["other"]}):
        form.set_value(given)  # another order, a value twice and another value are shown as JSON
        assert form.value == given


def test_the_choice_of_the_view_is_no_window_of_its_own_before_it_has_a_place(theme: Theme) -> None:
    for schema in (SCHEMA, {"type": "object"}):
        assert not SchemaForm(theme, schema).views.isVisible()
    line = QWidget()
    form = SchemaForm(theme, SCHEMA)
    form.views.setParent(line)
    assert form.views.isVisibleTo(line)


async def test_a_field_keeps_its_description_when_the_object_around_it_has_one(theme: Theme) -> None:
    path = {"type": "string", "description": "A path."}
    where = {"type": "object", "description": "A place.", "properties": {"path": path}, "required": ["path"]}
    form = await made(theme, {"type": "object", "properties": {"where": where}, "required": ["where"]})
    field = next(each for each in form.findChildren(QPlainTextEdit) if each.accessibleName() == "path")
    assert field.accessibleDescription() == "required. A path."
    assert [each for each in form.findChildren(QWidget) if each.accessibleDescription() == "required. A place."]
