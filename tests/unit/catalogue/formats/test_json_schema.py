"""json_schema.py"""

import copy
from typing import Any

import pytest

from tooltray.catalogue.formats.json_schema import MAX_DEPTH, both, either, mended, target

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
        ({"type": ["integer", "null"]}, {"type": ["null", "string"]}, {"type": "null"}),
        ({"type": "number"}, {"type": "integer"}, {"type": "integer"}),
        ({"type": ["string", "integer"]}, {"type": "number"}, {"type": "integer"}),
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
        ({"properties": {"a": A}, "additionalProperties": False}, {"properties": {"b": B}}, {"properties": {"a": A, "b": B}}),
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
        *("#/$defs/gone", "#/$defs/a/type/deeper", "#/$defs/no schema", "#/properties/list/prefixItems/2"),
        *("#/properties/list/prefixItems/x", "#gone", "#/$defs/round", "https://example.org/schema.json", "other.json#/a", 5, None),
    ],
)
def test_other_references_lead_nowhere(reference: Any) -> None:
    assert target(ROOT, reference) is None


def test_a_schema_without_definitions_has_no_anchors() -> None:
    assert target({"$defs": 5}, "#here") is None


WHOLE = {
    "type": "object",
    "title": "T",
    "$defs": {"Pet": {"type": "object", "properties": {"name": {"type": "string", "default": None}}, "required": ["name"]}},
    "properties": {
        "pet": {"$ref": "#/$defs/Pet"},
        "many": {"type": "array", "items": {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "null"}]}, "minItems": 1},
        "n": {"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 9, "default": 3, "enum": [1, 2, None]},
        "free": True,
        "never": False,
        "fixed": {"const": None},
    },
    "patternProperties": {"^x-": {"type": "string"}},
    "additionalProperties": False,
    "required": ["pet"],
    "if": {"required": ["n"]},
    "then": {"required": ["many"]},
    "x-of-a-vendor": {"anything": [1]},
}


def test_a_valid_schema_stays_as_it_is_whole() -> None:
    assert mended(WHOLE) == WHOLE
    assert list(mended(WHOLE)) == list(WHOLE)


def test_the_name_of_the_dialect_goes() -> None:
    assert mended({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}) == {"type": "object"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"items": [{"type": "string"}, True]}, {"prefixItems": [{"type": "string"}, True]}),
        ({"items": [{}], "additionalItems": False}, {"prefixItems": [{}], "items": False}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": True}, {"exclusiveMaximum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"exclusiveMinimum": True}, {}),
        ({"properties": {"a": {"required": True}, "b": {}}}, {"properties": {"a": {}, "b": {}}, "required": ["a"]}),
        ({"properties": {"a": {"required": False}}}, {"properties": {"a": {}}}),
        ({"required": ["a", "a", 5]}, {"required": ["a"]}),
        ({"required": None}, {}),
        ({"required": []}, {"required": []}),
        ({"type": "String"}, {"type": "string"}),
        ({"type": ["int", "none", "what", 5]}, {"type": ["integer", "null"]}),
        ({"type": ["dict"]}, {"type": "object"}),
        ({"type": "any"}, {}),
        ({"type": None}, {}),
        ({"type": {"a": 1}}, {}),
        ({"enum": []}, {}),
        ({"enum": "a"}, {}),
        ({"anyOf": []}, {}),
        ({"anyOf": [5, {"type": "bool"}]}, {"anyOf": [{}, {"type": "boolean"}]}),
        ({"properties": []}, {}),
        ({"properties": {"a": "string"}}, {"properties": {"a": {}}}),
        ({"description": 5, "title": None, "pattern": [], "$ref": {}}, {}),
        ({"default": None, "example": None, "items": None}, {"default": None, "example": None}),
        ({"not": {"type": "float"}}, {"not": {"type": "number"}}),
        ({"dependentSchemas": {"a": {"type": "list"}}}, {"dependentSchemas": {"a": {"type": "array"}}}),
    ],
)
def test_an_old_or_wrong_spelling_becomes_one_that_is_valid(old: dict[str, Any], new: dict[str, Any]) -> None:
    given = copy.deepcopy(old)
    assert mended(old) == new
    assert mended({"properties": {"x": old}}) == {"properties": {"x": new}}
    assert old == given, "what was given has been changed"


def test_what_is_nested_very_deeply_stays_as_it_is() -> None:
    schema: dict[str, Any] = {"type": "str"}
    for _ in range(900):
        schema = {"items": schema}
    found: Any = mended(schema)
    for _ in range(MAX_DEPTH):
        found = found["items"]
    assert "items" in found
