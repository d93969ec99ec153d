"""mending.py"""

import copy
from typing import Any

import pytest

from tooltray.catalogue.formats.json_schema import MAX_DEPTH, mended

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
