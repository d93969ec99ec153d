"""json_schema.py"""

from typing import Any

import pytest

from tooltray.catalogue.formats.json_schema import both, either, target

TEXT = {"type": "string"}
ROOT: dict[str, Any] = {
    "$defs": {
        "a": TEXT,
        "b": {"$ref": "#/$defs/a"},
        "round": {"$ref": "#/$defs/about"},
        "about": {"$ref": "#/$defs/round"},
        "a/b~c": {"type": "integer"},
        "named": {"$anchor": "here", "type": "array"},
        "no schema": 5,
    },
    "properties": {"list": {"prefixItems": [TEXT, {"type": "number"}]}},
}
A, B = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ({"properties": {"a": A}}, {"properties": {"b": B}}, {"properties": {"a": A, "b": B}}),
        ({"properties": {"a": A}}, {"properties": {"a": {"minLength": 1}}}, {"properties": {"a": {**A, "minLength": 1}}}),
        ({"properties": {"a": A}}, {"properties": 5}, {"properties": {"a": A}}),
        ({"properties": {"a": True}}, {"properties": {"a": A}}, {"properties": {"a": A}}),
        ({"properties": {"a": False}}, {"properties": {"a": A}}, {"properties": {"a": False}}),
        ({"required": ["a", "b"]}, {"required": ["b", "c"]}, {"required": ["a", "b", "c"]}),
        ({"minimum": 1, "maximum": 9}, {"minimum": 3, "maximum": 10}, {"minimum": 3, "maximum": 9}),
        ({"minimum": "x"}, {"minimum": 3}, {"minimum": "x"}),
        ({"type": ["string", "integer"]}, {"type": ["integer", "null"]}, {"type": "integer"}),
        ({"type": ["string", "null"]}, {"type": ["string", "null", "array"]}, {"type": ["string", "null"]}),
        ({"type": "number"}, {"type": "integer"}, {"type": "integer"}),
        ({"type": "integer"}, {"type": "number"}, {"type": "integer"}),
        ({"type": "string"}, {"type": "object"}, {"type": "string"}),
        ({"enum": [1, 2]}, {"enum": [2, 3]}, {"enum": [2]}),
        ({"enum": [1]}, {"enum": [3]}, {"enum": [1]}),
        ({"items": A}, {"items": {"minLength": 1}}, {"items": {**A, "minLength": 1}}),
        ({"description": "one"}, {"description": "two"}, {"description": "one\ntwo"}),
        ({"anyOf": [A, B]}, {"anyOf": [{"title": "x"}]}, {"anyOf": [{**A, "title": "x"}, {**B, "title": "x"}]}),
        ({"anyOf": [A] * 10}, {"anyOf": [B] * 10}, {"anyOf": [A] * 10}),
        ({"allOf": [A]}, {"allOf": [B]}, {"allOf": [A, B]}),
        ({"pattern": "a"}, {"pattern": "b"}, {"pattern": "a"}),
        (
            {"properties": {"a": A}, "additionalProperties": False},
            {"properties": {"b": B}},
            {"properties": {"a": A, "b": B}},
        ),
        ({"additionalProperties": False}, {"title": "x"}, {"additionalProperties": False, "title": "x"}),
    ],
)
def test_two_schemas_that_both_hold_become_one(first: dict[str, Any], second: dict[str, Any], joined: dict[str, Any]) -> None:
    assert both(first, second) == joined


@pytest.mark.parametrize(
    ("schemas", "one"),
    [
        ([A, A], A),
        ([A, B], {"anyOf": [A, B]}),
        ([{"const": "a"}, {"type": "string", "const": "b"}], {"type": "string", "enum": ["a", "b"]}),
        ([{"enum": ["a", "b"]}, {"const": "b"}, {"const": "c"}], {"enum": ["a", "b", "c"]}),
        ([{"const": "a"}, {"const": 1}], {"anyOf": [{"const": "a"}, {"const": 1}]}),
        ([{"const": "a", "title": "A"}, {"const": "b"}], {"anyOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
        ([True, A], {"anyOf": [True, A]}),
    ],
)
def test_schemas_of_which_one_holds_become_one(schemas: list[Any], one: Any) -> None:
    assert either(schemas) == one


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("#/$defs/a", TEXT),
        ("#/$defs/b", TEXT),
        ("#/$defs/a~1b~0c", {"type": "integer"}),
        ("#/%24defs/a", TEXT),
        ("#/properties/list/prefixItems/1", {"type": "number"}),
        ("#here", {"$anchor": "here", "type": "array"}),
        ("#", ROOT),
        ("#/", ROOT),
    ],
)
def test_a_reference_into_the_schema_is_followed(reference: str, schema: Any) -> None:
    assert target(ROOT, reference) == schema


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/gone",
        "#/$defs/a/type/deeper",
        "#/$defs/no schema",
        "#/properties/list/prefixItems/2",
        "#/properties/list/prefixItems/x",
        "#gone",
        "#/$defs/round",
        "https://example.org/schema.json",
        "other.json#/a",
        5,
        None,
    ],
)
def test_other_references_lead_nowhere(reference: Any) -> None:
    assert target(ROOT, reference) is None


def test_a_schema_without_definitions_has_no_anchors() -> None:
    assert target({"$defs": 5}, "#here") is None
