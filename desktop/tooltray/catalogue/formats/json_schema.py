"""JSON schemas: reads their members, follows references inside them, and merges two into one. A member of a type that its keyword does not
allow counts as absent. Only references within the same schema are followed; nothing is ever fetched. A merged schema never refuses a value
that the originals accept together: `both` is for two that hold together (allOf), `either` for alternatives (anyOf). If two keywords cannot
be merged, the first one is used; the server validates the arguments in any case.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from tooltray.foundation.verbs import JsonObject

MAX_CHAIN = 16  # references to references; a longer chain is circular, or no real schema
MAX_PAIRS = 32  # combinations of two lists of alternatives

Schema = Mapping[str, object]
_Join = Callable[[object, object], object]


# members


def by_name(schema: Schema, key: str = "properties") -> Schema:
    """Returns the object under a keyword, such as the schema of each property."""
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def entries(schema: Schema, key: str) -> list[object]:
    """Returns the list under a keyword."""
    found = schema.get(key)
    return found if isinstance(found, list) else []


def alternatives(schema: Schema, key: str) -> list[Schema]:
    """Returns the schemas listed under a keyword such as `anyOf`."""
    return [each for each in entries(schema, key) if isinstance(each, Mapping)]


def required(schema: Schema) -> list[str]:
    return [name for name in entries(schema, "required") if isinstance(name, str)]


def string(schema: Schema, key: str) -> str:
    found = schema.get(key)
    return found if isinstance(found, str) else ""


# references


def target(root: Schema, reference: object) -> Schema | None:
    """Returns the schema that a reference points to; None if the reference is dangling, external or circular."""
    for _ in range(MAX_CHAIN):
        found = _pointed(root, reference)
        if not isinstance(found, Mapping):
            return None
        if set(found) != {"$ref"}:
            return found
        reference = found["$ref"]
    return None


def _pointed(root: Schema, reference: object) -> object:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if reference in ("#", "#/"):
        return root
    place: object = root
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping):
            place = place.get(step)
        elif isinstance(place, list) and step.isdecimal() and int(step) < len(place):
            place = place[int(step)]
        else:
            return None
    return place if reference.startswith("#/") else _anchored(root, reference[1:])


def _anchored(root: Schema, name: str) -> Schema | None:
    """Returns the definition with this `$anchor`; anchors are used only among the definitions."""
    for group in ("$defs", "definitions"):
        for schema in by_name(root, group).values():
            if isinstance(schema, Mapping) and schema.get("$anchor") == name:
                return schema
    return None


# merging


def both(first: Schema, second: Schema) -> JsonObject:
    """Returns a schema for values that are valid under both."""
    found = dict(first)
    for key, value in second.items():
        if key not in found:
            found[key] = value
        elif found[key] != value and key in _JOINS:
            found[key] = _JOINS[key](found[key], value)
    if first.get("additionalProperties") != second.get("additionalProperties") and "properties" in first and "properties" in second:
        found.pop("additionalProperties", None)  # on each side it refers to that side's own properties
    return found


def either(schemas: Sequence[object]) -> object:
    """Returns a schema for values that are valid under one of these; fixed values become one list of values."""
    distinct = [schema for place, schema in enumerate(schemas) if schema not in schemas[:place]]
    if len(distinct) == 1:
        return distinct[0]
    values = [_fixed_values(each) for each in distinct]
    if not all(values):
        return {"anyOf": distinct}
    types = {"type": "string"} if any(isinstance(each, Mapping) and "type" in each for each in distinct) else {}
    return {**types, "enum": list(dict.fromkeys(value for each in values for value in each))}


def _fixed_values(schema: object) -> list[str]:
    """Returns the values of a schema that lists strings and has no other keyword, which would be lost."""
    if not isinstance(schema, Mapping) or set(schema) - {"type", "const", "enum"} or schema.get("type", "string") != "string":
        return []
    values = [schema["const"]] if "const" in schema else entries(schema, "enum")
    texts = [value for value in values if isinstance(value, str)]
    return texts if len(texts) == len(values) else []


def _joined(first: object, second: object) -> object:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return both(first, second)
    return second if first is True else first


def _properties(first: object, second: object) -> object:
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return first
    joined = {name: _joined(each, second[name]) if name in second else each for name, each in first.items()}
    return joined | {name: each for name, each in second.items() if name not in first}


def _common_types(first: object, second: object) -> object:
    """Returns the types in both; an integer is a number, too. Without a common type no value would be valid, so the first schema's types
    are used.
    """
    ours, others = (value if isinstance(value, list) else [value] for value in (first, second))
    kept = [each for each in ours if each in others or (each == "integer" and "number" in others)]
    if "number" in ours and "integer" in others and "integer" not in kept:
        kept.append("integer")
    return (kept[0] if len(kept) == 1 else kept) if kept else first


def _values(first: list[object], second: list[object]) -> list[object]:
    return [each for each in first if each in second] or first


def _pairs(first: list[object], second: list[object]) -> list[object]:
    if len(first) * len(second) > MAX_PAIRS:
        return first
    return [_joined(one, other) for one in first for other in second]


def _if_lists(join: Callable[[list[object], list[object]], list[object]]) -> _Join:
    return lambda first, second: join(first, second) if isinstance(first, list) and isinstance(second, list) else first


def _if_numbers(choose: Callable[[float, float], float]) -> _Join:
    return lambda first, second: choose(first, second) if isinstance(first, int | float) and isinstance(second, int | float) else first


_JOINS: dict[str, _Join] = {
    "properties": _properties,
    "required": _if_lists(lambda first, second: list(dict.fromkeys([*first, *second]))),
    "items": _joined,
    "type": _common_types,
    "enum": _if_lists(_values),
    "anyOf": _if_lists(_pairs),
    "oneOf": _if_lists(_pairs),
    "allOf": _if_lists(lambda first, second: [*first, *second]),
    "description": lambda first, second: f"{first}\n{second}",
    **{key: _if_numbers(max) for key in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")},
    **{key: _if_numbers(min) for key in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")},
}


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
    """Returns the schema made valid in JSON Schema 2020-12, without changing its argument: one invalid tool makes a provider refuse the
    whole request. `$schema` is removed: it may name a dialect that the result is not in.
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
