"""schemas.py"""

import copy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tooltray.catalogue.formats.declared import object_schema

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


@pytest.mark.parametrize("nothing", [None, 5, "x", [], {}, True, {"type": "object"}, {"type": ["object", "null"]}, {"type": "string"}])
def test_what_is_no_schema_of_arguments_stands_for_none(nothing: Any) -> None:
    assert object_schema(nothing) == {"type": "object", "properties": {}}


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
    assert object_schema(schema) == {
        "definitions": schema["definitions"],
        "properties": {"a": TEXT},
        "required": ["a"],
        "type": "object",
    }


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
    found = object_schema({"anyOf": [{"type": "null"}, {"properties": {"a": TEXT}, "description": "With a"}, TEXT, True]})
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
