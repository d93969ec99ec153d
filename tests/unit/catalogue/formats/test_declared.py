"""declared.py, json_schema.py"""

import copy
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tooltray.catalogue.formats import declared as schemas
from tooltray.catalogue.formats.declared import MAX_DEPTH, argument_names, declared, object_schema, renamed
from tooltray.catalogue.formats.names import PLAIN, NameRule
from tooltray.foundation.errors import TooltrayError

TOOLS = NameRule(PLAIN, 64, "tool")
ARGUMENTS = NameRule(re.compile(r"[a-z]+"), 20, "argument")
ODD = {
    "type": "object",
    "properties": {"城市": {"type": "string", "description": "Where"}, "days": True, "x y": True},
    "required": ["城市", "days"],
}


def of(**members: Any) -> Any:
    (found,) = declared([{"name": "add", **members}], tools=TOOLS, arguments=ARGUMENTS)
    return found


@pytest.mark.parametrize(
    ("members", "description"),
    [
        ({"description": "D", "title": "T"}, "D"),
        ({"description": " ", "title": "T"}, "T"),
        ({"annotations": {"title": "A"}}, "A"),
        ({"annotations": 5, "title": 5}, ""),
        ({}, ""),
    ],
)
def test_a_tool_is_described_by_the_best_words_there_are(members: dict[str, Any], description: str) -> None:
    assert of(**members).description == description


def test_of_two_tools_with_one_name_the_first_stays() -> None:
    found = declared([{"name": "a", "title": "1"}, {"name": "b"}, {"name": "a", "title": "2"}], tools=TOOLS, arguments=ARGUMENTS)
    assert [(each.name, each.description) for each in found] == [("a", "1"), ("b", "")]


def test_a_definition_without_a_name_is_refused() -> None:
    with pytest.raises(TooltrayError, match="a tool's definition has no name"):
        declared([{"title": "T"}], tools=TOOLS, arguments=ARGUMENTS)


def test_odd_names_of_arguments_are_mapped_and_their_true_names_told() -> None:
    found = of(inputSchema=ODD)
    schema = renamed(found.schema, found.arguments)
    city, days, other = schema["properties"]
    assert re.fullmatch("argument_[0-9a-f]{8}", city)
    assert days == "days"
    assert schema["properties"][city]["description"] == "Where\nThe tool calls this '城市'."
    assert schema["properties"][other] == {"description": "The tool calls this 'x y'."}
    assert schema["required"] == [city, "days"]
    assert argument_names({"inputSchema": ODD}, ARGUMENTS).arguments({city: 1, other: 2}) == {"城市": 1, "x y": 2}


def test_references_into_arguments_follow_their_names() -> None:
    schema = {
        "properties": {"a/b": {"type": "object", "properties": {"c": {}}}, "other": {"anyOf": [{"$ref": "#/properties/a~1b/properties/c"}]}}
    }
    found = of(inputSchema=schema)
    theirs = found.arguments.theirs("a/b")
    assert renamed(found.schema, found.arguments)["properties"]["other"] == {"anyOf": [{"$ref": f"#/properties/{theirs}/properties/c"}]}


def test_plain_names_stay_with_everything_else() -> None:
    found = of(inputSchema={"properties": {"a": {"$ref": "#/properties/b"}, "b": {}}})
    assert renamed(found.schema, found.arguments) == found.schema


def test_a_schema_that_is_nested_very_deeply_can_be_renamed() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(900):
        schema = {"items": schema}
    found = of(inputSchema={"properties": {"x y": schema}})
    inner: Any = renamed(found.schema, found.arguments)["properties"][found.arguments.theirs("x y")]
    for _ in range(MAX_DEPTH):
        inner = inner["items"]
    assert inner


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
NO_OBJECT = {"type": ["string", "null"], "properties": {"b": TEXT}}


@pytest.mark.parametrize("nothing", [None, 5, "x", [], {}, True, {"type": "object"}, {"type": ["object", "null"]}, {"type": "string"}])
def test_what_is_no_schema_of_arguments_stands_for_none(nothing: Any) -> None:
    assert object_schema(nothing) == {"type": "object", "properties": {}}


def test_parts_within_parts_count_as_deep_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "MAX_NESTED", 1)
    schema: dict[str, Any] = {}
    for name in "cba":
        schema = {"allOf": [{"properties": {name: TEXT}, **schema}]}
    assert object_schema(schema)["properties"] == {"a": TEXT, "b": TEXT}


def test_what_stands_below_the_top_stays() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [TEXT, {"allOf": [NUMBER]}], "default": "x"}, "b": {"$ref": "#/$defs/B"}},
        "$defs": {"B": {"type": "object", "properties": {"c": TEXT}, "required": ["c"]}},
        "required": ["b"],
        "additionalProperties": False,
    }
    assert object_schema(schema) == schema


def test_all_of_becomes_one_object() -> None:
    schema = {
        "properties": {"a": TEXT},
        "required": ["a"],
        "allOf": [{"properties": {"b": NUMBER}, "required": ["b"]}, {"$ref": "#/$defs/C"}, True],
        "$defs": {"C": {"properties": {"c": TEXT}, "description": "With c"}},
    }
    assert object_schema(schema) == {
        "properties": {"a": TEXT, "b": NUMBER, "c": TEXT},
        "required": ["a", "b"],
        "$defs": schema["$defs"],
        "description": "With c",
        "type": "object",
    }


def test_a_reference_at_the_top_is_followed() -> None:
    schema = {"$ref": "#/definitions/Args", "definitions": {"Args": {"properties": {"a": TEXT}, "required": ["a"]}}}
    assert object_schema(schema) == {"definitions": schema["definitions"], "properties": {"a": TEXT}, "required": ["a"], "type": "object"}


def test_alternatives_become_one_object_that_takes_them_all_and_says_what_belongs_together() -> None:
    circle = {"properties": {"kind": {"const": "circle"}, "radius": NUMBER}, "required": ["kind", "radius"], "additionalProperties": False}
    square = {"properties": {"kind": {"const": "square"}, "side": NUMBER}, "required": ["kind", "side"], "additionalProperties": False}
    found = object_schema({"type": "object", "oneOf": [circle, square]})
    assert found == {
        "type": "object",
        "properties": {"kind": {"enum": ["circle", "square"]}, "radius": NUMBER, "side": NUMBER},
        "required": ["kind"],
        "additionalProperties": False,
        "description": "One of these is needed: radius; or side.",
    }


def test_an_argument_that_differs_between_alternatives_takes_what_any_of_them_takes() -> None:
    schema = {
        "properties": {"a": {"description": "A"}, "other": TEXT},
        "anyOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"a": NUMBER}}, {"title": "none"}],
    }
    found = object_schema(schema)
    assert found["properties"] == {
        "a": {"anyOf": [{"description": "A", "type": "string"}, {"description": "A", "type": "number"}, {"description": "A"}]},
        "other": TEXT,
    }
    assert "required" not in found
    assert found["description"] == "Belong together, where given: a."


@pytest.mark.parametrize(
    ("base", "branches", "is_closed"),
    [
        ({}, [{"additionalProperties": False}, {"additionalProperties": False}], True),
        ({}, [{"additionalProperties": False}, {"required": ["a"]}], False),
        ({}, [{"required": ["a"]}], False),
        ({"additionalProperties": False}, [{"required": ["a"]}, {"required": ["b"]}], True),
    ],
)
def test_other_arguments_are_refused_only_where_nothing_takes_them(base: Any, branches: Any, is_closed: bool) -> None:
    found = object_schema({"properties": {"a": TEXT, "b": TEXT}, **base, "anyOf": branches})
    assert found.get("additionalProperties") == (False if is_closed else None)


def test_alternatives_that_are_no_objects_are_none_of_a_tools() -> None:
    found = object_schema({"anyOf": [{"type": "null"}, {"properties": {"a": TEXT}, "description": "With a"}, TEXT, NO_OBJECT, True]})
    assert found == {"type": "object", "properties": {"a": TEXT}, "description": "With a"}
    assert object_schema({"anyOf": [TEXT]}) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("not", {"required": ["a", "b"]}, 'All arguments together, not: {"required": ["a", "b"]}'),
        ("enum", [{"a": 1}], 'All arguments together, enum: [{"a": 1}]'),
        ("const", {"a": "天"}, 'All arguments together, const: {"a": "天"}'),
    ],
)
def test_what_may_not_stand_at_the_top_is_said(key: str, value: Any, words: str) -> None:
    assert object_schema({"description": "D", key: value}) == {"description": f"D\n{words}", "type": "object", "properties": {}}
    assert object_schema({"not": {}}) == {"type": "object", "properties": {}}


def test_alternatives_without_end_end() -> None:
    schema = {"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"properties": {"a": TEXT}}]}}, "$ref": "#/$defs/A"}
    assert object_schema(schema)["properties"] == {"a": TEXT}


def test_what_is_given_stays_as_it_is() -> None:
    schema = {"allOf": [{"properties": {"a": TEXT}, "required": ["a"]}], "properties": {"a": {"type": "str"}}, "required": None}
    given = copy.deepcopy(schema)
    object_schema(schema)
    assert schema == given


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"b": NUMBER}, "required": ["b"]}]},
        {"properties": {"a": TEXT, "b": NUMBER}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"allOf": [{"properties": {"a": TEXT}}, {"properties": {"b": NUMBER}, "required": ["b"]}]},
    ],
)
@pytest.mark.parametrize("arguments", [{"a": "x"}, {"b": 1}, {"a": "x", "b": 1}, {}])
def test_arguments_that_the_server_takes_are_never_refused(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    if Draft202012Validator(schema).is_valid(arguments):
        Draft202012Validator(object_schema(schema)).validate(arguments)
