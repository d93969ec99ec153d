"""output_schemas.py"""

import json
from typing import Any

import pytest
from msgspec import Raw

from tooltray.protocol.output_schemas import is_object, projection, schema_fault

NUMBERS = {"$defs": {"n": {"type": "number"}}}


def fault(schema: Any) -> str:
    return schema_fault(Raw(json.dumps(schema).encode()))


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": ["object", "null"]},
        {"$ref": "#/$defs/n", **NUMBERS},
        {"items": {"$ref": "#"}},
        {"items": [{"type": "string"}, True], "properties": {"a": {"$ref": "#/items/0"}, "b": {"$ref": "#/items/1"}}},
        {"$defs": {"a/b~c d": {}}, "$ref": "#/$defs/a~1b~0c%20d"},
        {"$defs": {"a": {"$anchor": "here"}}, "$ref": "#here"},
        {"$defs": {"a": {"$id": "https://a.example/a"}}, "$ref": "https://a.example/a"},
        {"$ref": "http://json-schema.org/draft-07/schema#"},
        {"prefixItems": [{"$id": [], "$anchor": {}}]},
        {"properties": {"id": {"type": "string"}, "pattern": {"type": "string"}, "$ref": {"type": "string"}}},
        {"type": "string", "nullable": True},
        {"const": {"$ref": "#/nowhere"}},
        *(
            {"pattern": each}
            for each in (r"^\\d+$", r"\p{L}\u{1F600}", r"(?<year>\d{4})\k<year>", r"\cJ", r"[\w\-]+", r"(?=a)(?!b)(?<=c)(?<!d)(?:e)", r"\/")
        ),
        {"patternProperties": {"^x-": {}}},
    ],
)
def test_schemas_that_clients_compile_have_no_fault(schema: Any) -> None:
    assert fault(schema) == ""


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "any"}, "any"),
        ({"properties": {"a": {"type": None}}}, "properties"),
        ({"id": "x"}, "$.id"),
        ({"enum": []}, "length >= 1"),
        ({"exclusiveMinimum": True}, "exclusiveMinimum"),
        ({"$ref": "#/$defs/m", **NUMBERS}, "it has no #/$defs/m, which a $ref names"),
        ({"items": {"$ref": "#/items/0"}}, "it has no #/items/0"),
        ({"items": [{}], "not": {"$ref": "#/items/1"}}, "it has no #/items/1"),
        ({"$ref": "#here"}, "it has no #here"),
        ({"$ref": "https://a.example/b"}, "it has no https://a.example/b"),
        ({"$ref": "#/title", "title": "x"}, "it has no #/title"),
        ({"properties": {"a": {"nullable": True}}}, "nullable has no type beside it"),
        *(
            ({"pattern": each}, "is not a JavaScript regular expression")
            for each in ("(", "(?P<x>a)", "(?i)a", r"\A", r"a\Z", r"\_", "x{99999999999}")
        ),
        ({"patternProperties": {"[": {}}}, "is not a JavaScript regular expression"),
    ],
)
def test_schemas_that_clients_cannot_compile_say_why(schema: Any, reason: str) -> None:
    assert reason in fault(schema)


@pytest.mark.parametrize(
    ("schema", "of_legacy", "of_modern"),
    [
        ({"type": "object"}, True, True),
        ({"type": ["object"]}, True, True),
        ({"type": ["object", "null"]}, True, False),
        ({"type": "array", "properties": {}}, False, False),
        ({"properties": {}}, True, True),
        ({"properties": {}, "enum": [1]}, False, False),
        ({}, False, False),
        ({"anyOf": [{"type": "object"}, {"properties": {}}]}, True, True),
        ({"oneOf": [{"type": "object"}, {"type": "null"}]}, False, False),
        ({"anyOf": []}, False, False),
        ({"anyOf": 5}, False, False),
        ({"allOf": [{"minProperties": 1}, {"type": "object"}]}, True, True),
        ({"allOf": [True]}, False, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, True, True),
        ({"$ref": "#/$defs/a"}, False, False),
        ({"$ref": "#"}, False, False),
        (True, False, False),
    ],
)
def test_whether_a_schema_allows_objects_alone_is_known(schema: Any, of_legacy: bool, of_modern: bool) -> None:
    assert (is_object(schema, is_modern=False), is_object(schema, is_modern=True)) == (of_legacy, of_modern)


def projected(schema: dict[str, Any]) -> Any:
    return json.loads(bytes(projection(schema)))


def test_a_projection_keeps_the_dialect_and_moves_references() -> None:
    natural = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/$defs/n"}, {"$dynamicRef": "#"}, {"$ref": "#anchor"}, {"$ref": "https://a.example/b"}]},
        "default": [{"$ref": "#/x"}],
        "$defs": {"n": {"properties": {"$ref": {"type": "string"}, "default": {"$ref": "#/$defs/n"}}}, "own": {"$id": "y", "$ref": "#/z"}},
    }
    assert projected(natural) == {
        "$schema": natural["$schema"],
        "type": "object",
        "properties": {
            "result": {
                **natural,
                "items": {
                    "anyOf": [
                        {"$ref": "#/properties/result/$defs/n"},
                        {"$dynamicRef": "#/properties/result"},
                        {"$ref": "#anchor"},
                        {"$ref": "https://a.example/b"},
                    ]
                },
                "$defs": {
                    "n": {"properties": {"$ref": {"type": "string"}, "default": {"$ref": "#/properties/result/$defs/n"}}},
                    "own": {"$id": "y", "$ref": "#/z"},
                },
            }
        },
        "required": ["result"],
    }


def test_references_in_a_schema_with_an_id_start_from_it_wherever_it_is() -> None:
    schema = {"$id": "https://a.example/s", "type": "array", "items": {"$ref": "#/$defs/n"}, **NUMBERS}
    assert projected(schema)["properties"] == {"result": schema}
    assert projected({"$id": "#s", "$ref": "#"})["properties"] == {"result": {"$id": "#s", "$ref": "#/properties/result"}}
