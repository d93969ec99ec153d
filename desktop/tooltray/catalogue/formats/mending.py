"""Schemas as servers write them, made valid in JSON Schema 2020-12, the dialect that providers check: one invalid tool makes a provider
refuse the whole request. Old spellings become the new ones with the same meaning, and members that no dialect knows are removed; everything
else is unchanged.
"""

from collections.abc import Iterator, Mapping

from tooltray.catalogue.formats.json_schema import Schema, by_name, entries, required
from tooltray.foundation.remote import JsonObject

MAX_DEPTH = 64  # deeper levels stay unchanged; Python's recursion is limited

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_TYPE_WORDS = {each: each for each in TYPES} | {
    "str": "string",
    "text": "string",
    "date": "string",
    "datetime": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "none": "null",
}
"""Words of programming languages that servers use for types, in lower case."""

_SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMAS = (
    "items",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
)


def mended(schema: Schema) -> JsonObject:
    """Returns the schema made valid, without changing its argument. `$schema` is removed: it may name a dialect that the result is
    not in.
    """
    found = _mended(schema, 0)
    found.pop("$schema", None)
    return found


def _mended(schema: Schema, depth: int) -> JsonObject:
    if depth > MAX_DEPTH:
        return dict(schema)
    found = _modern(schema)
    for key in _SCHEMAS_BY_NAME:
        if key in found:
            found[key] = {name: _inner(each, depth) for name, each in by_name(found, key).items()}
    for key in _SCHEMA_LISTS:
        if key in found:
            found[key] = [_inner(each, depth) for each in entries(found, key)]
    for key in _SCHEMAS:
        if key in found:
            found[key] = _inner(found[key], depth)
    return found


def _inner(schema: object, depth: int) -> object:
    if isinstance(schema, Mapping):
        return _mended(schema, depth + 1)
    return schema if isinstance(schema, bool) else {}


def _modern(schema: Schema) -> JsonObject:
    """Returns one level in the newest spelling, without members whose value cannot be read."""
    found = {key: value for key, value in schema.items() if _is_readable(key, value)}
    if isinstance(found.get("items"), list):
        found["prefixItems"] = found.pop("items")
        if "additionalItems" in found:
            found["items"] = found.pop("additionalItems")
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(found.get(exclusive), bool):
            is_exclusive = found.pop(exclusive)
            if is_exclusive and limit in found:
                found[exclusive] = found.pop(limit)
    if "type" in found and (types := list(_types(found["type"]))):
        found["type"] = types[0] if len(types) == 1 else types
    else:
        found.pop("type", None)
    if "required" in found or any(_is_required(each) for each in by_name(found).values()):
        found["required"] = list(_required(found))
    return found


def _is_readable(key: str, value: object) -> bool:
    if key in _SCHEMAS_BY_NAME:
        return isinstance(value, Mapping)
    if key in _SCHEMA_LISTS or key == "enum":
        return isinstance(value, list) and bool(value)
    if key in ("description", "title", "format", "pattern", "$ref"):
        return isinstance(value, str)
    if key == "required":
        return isinstance(value, list)
    return value is not None or key in ("default", "const", "example")


def _types(value: object) -> Iterator[str]:
    words = value if isinstance(value, list) else [value]
    yield from dict.fromkeys(_TYPE_WORDS[word.lower()] for word in words if isinstance(word, str) and word.lower() in _TYPE_WORDS)


def _required(schema: Schema) -> Iterator[str]:
    """Yields the names from the list, and properties with a `required` of their own, as in the oldest dialect."""
    own = [name for name, each in by_name(schema).items() if _is_required(each)]
    yield from dict.fromkeys([*required(schema), *own])


def _is_required(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("required") is True
