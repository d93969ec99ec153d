"""The texts of a Gemini schema: title, and a description with the keywords that its `Schema` has no field for.

Above it: gemini_schema. Below it: json_schema and contents (JSON as text).
"""

import math
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from tooltray.api import JsonObject
from tooltray.formats.contents import as_json
from tooltray.formats.json_schema import Schema, entries, string

MAX_WORDS = 300  # characters of a schema within a description

FORMATS = {
    "string": ("email", "byte", "date", "date-time", "password"),
    "integer": ("int32", "int64"),
    "number": ("float", "double"),
}
"""The formats in the documentation of `Schema.format`; others go into the description, because the API refuses some."""
_DESCRIBED = (
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedProperties",
    "contentEncoding",
    "contentMediaType",
    "multipleOf",
)
"""Keywords without a field in `Schema`; they go into the description as JSON."""
_EXCLUSIVE = {"exclusiveMinimum": "More than", "exclusiveMaximum": "Less than"}


def texts(schema: Schema) -> JsonObject:
    """Title, description with the keywords that have no field, default and example."""
    found: JsonObject = {}
    if schema.get("title"):
        found["title"] = schema["title"]
    lines = [string(schema, "description"), *_described(schema)]
    if words := "\n".join(line for line in lines if line):
        found["description"] = words
    example = schema.get("example", next(iter(entries(schema, "examples")), None))
    values = {"default": schema.get("default"), "example": example}
    return found | {key: value for key, value in values.items() if _fits(value, schema.get("type"))}


def said(schema: Schema) -> JsonObject:
    return {key: schema[key] for key in ("title", "description", "default", "example", "examples") if key in schema}


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def type_of(value: object) -> str:
    """The type of a value, as JSON Schema names it."""
    kinds = ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (list, "array"), (dict, "object"))
    return next((kind for each, kind in kinds if isinstance(value, each)), "null")


def short_json(value: object) -> str:
    return as_json(value, longest=MAX_WORDS)


def _fits(value: object, kind: object) -> bool:
    """Whether a default or an example is of this type. With alternatives any value fits: it is repeated in each of them."""
    found = type_of(value)
    return found != "null" and (found == kind or not isinstance(kind, str) or (found, kind) == ("integer", "number"))


def _described(schema: Schema) -> Iterator[str]:
    """Lines with the keywords that `Schema` has no field for."""
    kind = schema.get("type")
    values = entries(schema, "enum")
    if values and (kind != "string" or "" in values):  # the API refuses an empty text among them, and lists of anything but texts
        yield f"One of: {', '.join(short_json(value) for value in values)}"
    if "format" in schema and not values and schema["format"] not in FORMATS.get(str(kind), ()):
        yield f"Format: {schema['format']}"
    if kind == "number":
        yield from (f"{word} {short_json(schema[key])}" for key, word in _EXCLUSIVE.items() if is_number(schema.get(key)))
    further = schema.get("additionalProperties")
    if further is False:
        yield "No other properties."
    elif isinstance(further, Mapping) and further:
        yield f"Other properties: {short_json(further)}"
    if "prefixItems" in schema:
        yield f"Entries in this order: {short_json(schema['prefixItems'])}"
    yield from (
        f"{key}: {short_json(schema[key])}" for key in _DESCRIBED if not isinstance(schema.get(key, True), bool) and schema[key] != {}
    )
    if schema.get("uniqueItems") is True:
        yield "No entry twice."
