"""JSON schemas as providers of models ask for them, checked by `jsonschema`."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

MAX_CHECKED = 50  # levels; the checker itself cannot follow deeper
COMBINED = {"anyOf", "oneOf", "allOf", "enum", "not", "const", "$ref"}


def check_parameters(schema: Mapping[str, Any]) -> None:
    """What providers refuse a request for."""
    if levels(schema) <= MAX_CHECKED:
        Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert "properties" in schema
    assert not schema.keys() & COMBINED


def check_is_whole(schema: Mapping[str, Any], original: Mapping[str, Any]) -> None:
    """Whether everything that may stand in it has stayed as it was."""
    expected = {key: value for key, value in original.items() if key not in COMBINED | {"$schema"}}
    added = {"properties"} - original.keys()
    if original.keys() & COMBINED:
        added |= {"description", "required"}
    assert {key: value for key, value in schema.items() if key not in added} == expected


def levels(value: Any) -> int:
    """How deep something is nested."""
    level, count = [value], 0
    while level := [each for outer in level for each in _inside(outer)]:
        count += 1
    return count


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
