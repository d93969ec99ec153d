"""Merges schemas into one: `both` for two that hold together (allOf), `either` for alternatives (anyOf).

Above it: schemas and gemini_schema. The result never refuses a value that the originals accept together. Where two keywords cannot be
merged, the first one counts; the server validates the arguments in any case.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_PAIRS = 32  # combinations of two lists of alternatives

Schema = Mapping[str, Any]


def both(first: Schema, second: Schema) -> dict[str, Any]:
    """A schema for values that are valid under both."""
    found = dict(first)
    for key, value in second.items():
        if key not in found:
            found[key] = value
        elif found[key] != value and key in _JOINS:
            found[key] = _JOINS[key](found[key], value)
    if first.get("additionalProperties") != second.get("additionalProperties") and "properties" in first and "properties" in second:
        found.pop("additionalProperties", None)  # on each side it refers to that side's own properties
    return found


def either(schemas: Sequence[Any]) -> Any:
    """A schema for values that are valid under one of these; fixed values become one list of values."""
    distinct = [schema for place, schema in enumerate(schemas) if schema not in schemas[:place]]
    if len(distinct) == 1:
        return distinct[0]
    values = [_fixed_values(each) for each in distinct]
    if all(values):
        said = {key: value for each in distinct for key, value in each.items() if key not in ("const", "enum")}
        flat = [value for each in values for value in each]
        return {**said, "enum": [value for place, value in enumerate(flat) if value not in flat[:place]]}
    return {"anyOf": distinct}


def _fixed_values(schema: Any) -> list[str]:
    """The values of a schema that lists strings and has no other keyword, which would be lost."""
    if not isinstance(schema, Mapping) or set(schema) - {"type", "const", "enum"} or schema.get("type", "string") != "string":
        return []
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return values if all(isinstance(value, str) for value in values) else []


def _properties(first: Schema, second: Schema) -> dict[str, Any]:
    joined = {name: _joined(each, second[name]) if name in second else each for name, each in first.items()}
    return {**joined, **{name: each for name, each in second.items() if name not in first}}


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return both(first, second)
    return second if first is True else first


def _types(first: Any, second: Any) -> Any:
    """The types in both; an integer is a number, too. If there is none, no value would be valid, and the first one counts."""
    ours, others = _listed(first), _listed(second)
    kept = [each for each in ours if each in others or (each == "integer" and "number" in others)]
    if "number" in ours and "integer" in others and "integer" not in kept:
        kept.append("integer")
    return (kept[0] if len(kept) == 1 else kept) if kept else first


def _values(first: Sequence[Any], second: Sequence[Any]) -> Sequence[Any]:
    return [each for each in first if each in second] or first


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _pairs(first: Sequence[Any], second: Sequence[Any]) -> Sequence[Any]:
    if len(first) * len(second) > MAX_PAIRS:
        return first
    return [_joined(one, other) for one in first for other in second]


def _if_numbers(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda first, second: choose(first, second) if isinstance(first, int | float) and isinstance(second, int | float) else first


_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "properties": _properties,
    "required": lambda first, second: list(dict.fromkeys([*first, *second])),
    "items": _joined,
    "type": _types,
    "enum": _values,
    "anyOf": _pairs,
    "oneOf": _pairs,
    "allOf": lambda first, second: [*first, *second],
    "description": lambda first, second: f"{first}\n{second}",
    **{key: _if_numbers(max) for key in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")},
    **{key: _if_numbers(min) for key in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")},
}
