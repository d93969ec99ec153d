"""Gemini's API, in the spelling of its REST interface, which the types of google-genai read as well. Arguments are declared in
`parameters`, not in `parametersJsonSchema`. The `Schema` of `parameters` is supported by all models, and the vendor's types check each of
its members. In `parametersJsonSchema` nothing is checked: the API ignores some keywords of JSON Schema (`pattern`, lengths, `default`), and
refuses all tools if it cannot follow one reference. Keywords that `Schema` does not have are put into descriptions.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from tooltray.catalogue.formats import contents, json_schema
from tooltray.catalogue.formats.calls import MADE_UP, no_call, tool_call
from tooltray.catalogue.formats.contents import Media, as_json
from tooltray.catalogue.formats.declared import Declared, declared, renamed, with_words
from tooltray.catalogue.formats.json_schema import Schema, alternatives, both, by_name, either, entries, required, string, target
from tooltray.catalogue.formats.names import NameMap, NameRule
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.verbs import JsonObject

KIND = "`functionCall` part of Gemini's API"
INLINE = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf"})
"""The media types that the API accepts within a function's response."""
ALL_BESIDE = "(The result is shown beside this.)"


class Gemini:
    name = "gemini"
    tool_names = NameRule(lazy_pattern(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII), 64, "tool")  # older models know no other characters
    argument_names = NameRule(lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII), 64, "argument")

    def tools(self, definitions: Iterable[Mapping[str, object]]) -> list[JsonObject]:
        """Returns the `tools` of a request: one with all functions; an empty list without functions, because the API refuses an
        empty one.
        """
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{"functionDeclarations": [_declaration(each) for each in found]}] if found else []

    def call(self, call: Mapping[str, object]) -> MCPToolCall:
        """Reads a `functionCall`, or the part that contains it."""
        inner = call.get("functionCall", call.get("function_call", call))
        if not isinstance(inner, Mapping):
            raise no_call(KIND, "its `functionCall` is not an object")
        return tool_call(inner, kind=KIND, id=inner.get("id"), arguments=inner.get("args"))

    def response(self, response: MCPToolResponse) -> JsonObject:
        """Returns a part with a `functionResponse`: text in `result` or `error`, images and PDF in `parts`."""
        blocks = contents.as_blocks(response, text=_text, media=_media)
        text = "\n\n".join(str(block["text"]) for block in blocks if "text" in block)
        shown = [block for block in blocks if "text" not in block]
        found: JsonObject = {
            "name": NameMap([response.tool], self.tool_names).theirs(response.tool),
            "response": {"error" if contents.is_error(response) else "result": text or ALL_BESIDE},
        }
        if shown:
            found["parts"] = shown
        if response.tool_call_id and not response.tool_call_id.startswith(MADE_UP):
            found["id"] = response.tool_call_id
        return {"functionResponse": found}


def _declaration(tool: Declared) -> JsonObject:
    """Returns a function; without arguments `parameters` is left out, because the API refuses an object without properties."""
    schema = gemini_schema(tool.schema)
    if "properties" in schema:
        return {**tool.head, "parameters": renamed(schema, tool.arguments)}
    return with_words(tool.head, words) if (words := string(schema, "description")) else tool.head


def _text(text: str) -> JsonObject:
    return {"text": text}


def _media(media: Media) -> JsonObject | None:
    return {"inlineData": {"mimeType": media.mime_type, "data": media.data}} if media.mime_type in INLINE else None


MAX_TURNS = 2  # how often a definition may occur within itself
MAX_DEPTH = 32  # levels of the expanded schema; models are confused long before
MAX_WRITTEN = 10_000  # schemas of one tool; alternatives within alternatives multiply
MAX_REFERRED = 4000  # schemas that replace references, of one tool: definitions that use each other twice grow without end

_COUNTS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_ANYTHING: tuple[JsonObject, ...] = (
    {"type": "string"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "object"},
    {"type": "array", "items": {"type": "string"}},
)
_PLAIN_TYPES = ("string", "number", "integer", "boolean", "null")
_SIGNS = {
    "object": ("properties", "required", "additionalProperties", "minProperties", "maxProperties", "patternProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("pattern", "minLength", "maxLength", "format", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""Keywords that show the type of a schema without `type`."""


def gemini_schema(schema: Schema) -> JsonObject:
    """Returns Gemini's `Schema`, a selection of OpenAPI 3.0, for a schema that `object_schema` made, which is not changed.

    References are expanded, `null` becomes `nullable`, type lists and `oneOf` become `anyOf`, `const` becomes an `enum`. `anyOf` allows no
    other member beside it, so these go into each of its branches.
    """
    return _Writer(schema).write(schema, (), 0)


class _Writer:
    """A writer of one tool's schema."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._written = self._referred = 0

    def write(self, schema: object, within: tuple[str, ...], depth: int) -> JsonObject:
        """Writes a schema.

        Args:
            within: the references that lead here from the top.
            depth: how deep this schema is in the written result.
        """
        self._written += 1
        self._referred += bool(within)
        plain, within = self._written_out(schema if isinstance(schema, Mapping) else {}, within, 0)
        if self._is_too_much(within, depth) and plain.get("type") not in _PLAIN_TYPES:
            return {"type": "OBJECT", **texts(plain)}
        branches, is_nullable = _branches(plain)
        if len(branches) == 1:
            return self._typed(branches[0], is_nullable, within, depth)
        return {"anyOf": [self._typed(each, is_nullable, within, depth + 1) for each in branches]}

    def _is_too_much(self, within: tuple[str, ...], depth: int) -> bool:
        return depth > MAX_DEPTH or self._written > MAX_WRITTEN or (bool(within) and self._referred > MAX_REFERRED)

    def _typed(self, schema: Schema, is_nullable: bool, within: tuple[str, ...], depth: int) -> JsonObject:
        """Writes a schema of one type; also one whose values turn out to have several types."""
        kind = schema.get("type")
        if schema.keys() & {"$ref", "allOf", "anyOf", "oneOf"} or not isinstance(kind, str):
            return _nullable(self.write(schema, within, depth + 1), is_nullable)
        found = {"type": kind.upper(), **texts(schema), **_limits(schema, kind)}
        if kind == "object":
            found |= self._members(schema, within, depth)
        elif kind == "array":
            found["items"] = self.write(_items(schema), within, depth + 1)
        return _nullable(found, is_nullable)

    def _members(self, schema: Schema, within: tuple[str, ...], depth: int) -> JsonObject:
        properties = {name: each for name, each in by_name(schema).items() if each is not False}
        found: JsonObject = {}
        if properties:
            found["properties"] = {name: self.write(each, within, depth + 1) for name, each in properties.items()}
        if names := [name for name in required(schema) if name in properties]:
            found["required"] = names
        return found

    def _written_out(self, schema: Schema, within: tuple[str, ...], depth: int) -> tuple[Schema, tuple[str, ...]]:
        """Returns the schema without a reference and without `allOf`; and the references that lead to it."""
        found = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        if depth > json_schema.MAX_DEPTH:
            return found, within
        if isinstance(reference := schema.get("$ref"), str):
            meant = target(self._root, reference)
            if meant is None or within.count(reference) >= MAX_TURNS:
                return both({"type": "object", "description": f"As {reference.rpartition('/')[2]}"}, found), within
            inner, within = self._written_out(meant, (*within, reference), depth + 1)
            found = both(found, inner)
        for part in alternatives(schema, "allOf"):
            inner, within = self._written_out(part, within, depth + 1)
            found = both(found, inner)
        return found, within


def _branches(schema: Schema) -> tuple[list[Schema], bool]:
    """Returns the alternatives of a schema, each of one type if the type is known, and whether null is one of them."""
    key = next((key for key in ("anyOf", "oneOf") if key in schema), None)
    if key:
        base = {name: value for name, value in schema.items() if name != key}
        return _without_null(alternatives(schema, key), base)
    if "const" in schema:
        schema = {**schema, "enum": [schema["const"]]}
    if "enum" in schema:
        return _by_values(schema)
    types = schema.get("type") or _guessed(schema)
    is_nullable = schema.get("nullable") is True
    if isinstance(types, str):
        return [{**schema, "type": types}], is_nullable
    if not isinstance(types, list) or not types:
        return [{**each, **said(schema)} for each in _ANYTHING], is_nullable
    return [{**schema, "type": each} for each in types if each != "null"], is_nullable or "null" in types


def _without_null(branches: list[Schema], base: Schema) -> tuple[list[Schema], bool]:
    kept = [each for each in branches if not _is_null(each)]
    is_nullable = len(kept) < len(branches) or base.get("nullable") is True
    if not kept:
        return [{**base, "type": "null"} if branches else base], False
    if all(set(each) <= {"required"} for each in kept):  # an object that needs one of several parts
        words = "; or ".join(" and ".join(required(each)) for each in kept)
        return [both(base, {"description": f"One of these is needed: {words}."})], is_nullable
    if len(kept) > 1 and isinstance(one := either(kept), Mapping) and one.keys() != {"anyOf"}:
        kept = [one]
    return [both(base, each) for each in kept], is_nullable


def _is_null(schema: Schema) -> bool:
    return schema.get("type") == "null" or ("const" in schema and schema["const"] is None) or schema.get("enum") == [None]


def _by_values(schema: Schema) -> tuple[list[Schema], bool]:
    """Returns the alternatives for listed values: one for each type of the values, unless the schema names one type for all."""
    values: dict[str, list[object]] = {}
    for value in entries(schema, "enum"):
        values.setdefault(type_of(value), []).append(value)
    is_nullable = values.pop("null", None) is not None or schema.get("nullable") is True
    if not values:
        return [{"type": "null", **said(schema)}], False
    if isinstance(kind := schema.get("type"), str):
        values = {kind: [value for listed in values.values() for value in listed]}
    return [{**schema, "type": kind, "enum": listed} for kind, listed in values.items()], is_nullable


def _guessed(schema: Schema) -> str | None:
    return next((kind for kind, signs in _SIGNS.items() if schema.keys() & set(signs)), None)


def _items(schema: Schema) -> object:
    """Returns the schema of any entry; separate schemas for single places are joined into one of alternatives."""
    places, others = entries(schema, "prefixItems"), schema.get("items")
    if not places:
        return others
    return either([*places, *([others] if isinstance(others, Mapping) else [])])


def _limits(schema: Schema, kind: str) -> JsonObject:
    found: JsonObject = {key: int(count) for key in _COUNTS.get(kind, ()) if is_number(count := schema.get(key)) and count >= 0}
    if kind == "array" and "prefixItems" in schema and schema.get("items") is False:
        found.setdefault("maxItems", len(entries(schema, "prefixItems")))
    if kind in ("integer", "number"):
        found |= {key: schema[key] for key in ("minimum", "maximum") if is_number(schema.get(key))}
        found |= _whole_limits(schema) if kind == "integer" else {}
    if kind == "string" and "pattern" in schema:
        found["pattern"] = schema["pattern"]
    if schema.get("format") in FORMATS.get(kind, ()):
        found["format"] = schema["format"]
    if kind == "string" and (
        values := [each if isinstance(each, str) else short_json(each) for each in entries(schema, "enum") if each != ""]
    ):
        found |= {"enum": values, "format": "enum"}
    return found


def _whole_limits(schema: Schema) -> JsonObject:
    """Converts exclusive limits of whole numbers into inclusive ones."""
    found: JsonObject = {}
    if is_number(low := schema.get("exclusiveMinimum")):
        found["minimum"] = max(math.floor(low) + 1, least if is_number(least := schema.get("minimum")) else low)
    if is_number(high := schema.get("exclusiveMaximum")):
        found["maximum"] = min(math.ceil(high) - 1, most if is_number(most := schema.get("maximum")) else high)
    return found


def _nullable(schema: Schema, is_nullable: bool) -> JsonObject:
    """Returns a schema that also allows null; in a schema with branches each branch does, since `anyOf` allows no other member beside
    it.
    """
    if not is_nullable:
        return dict(schema)
    if "anyOf" in schema:
        return {"anyOf": [_nullable(each, True) for each in alternatives(schema, "anyOf")]}
    return {**schema, "nullable": True}


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
    """Returns title, description with the keywords that have no field, default and example."""
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
    """Returns the type of a value, as JSON Schema names it."""
    kinds = ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (list, "array"), (dict, "object"))
    return next((kind for each, kind in kinds if isinstance(value, each)), "null")


def short_json(value: object) -> str:
    return as_json(value, longest=MAX_WORDS)


def _fits(value: object, kind: object) -> bool:
    """Reports whether a default or an example is of this type. With alternatives any value fits: it is repeated in each of them."""
    found = type_of(value)
    return found != "null" and (found == kind or not isinstance(kind, str) or (found, kind) == ("integer", "number"))


def _described(schema: Schema) -> Iterator[str]:
    """Yields lines with the keywords that `Schema` has no field for."""
    kind = schema.get("type")
    values = entries(schema, "enum")
    if values and (kind != "string" or "" in values):  # the API refuses lists with an empty text, and lists of other values than texts
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
        yield "No duplicate entries."
