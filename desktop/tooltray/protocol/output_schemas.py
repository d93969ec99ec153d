"""Whether AI clients can compile a tool's `outputSchema`, and what legacy clients get of one that is not an object.

Until 2025-11-25 the root of an output schema, and so structured content, is an object; 2026-07-28 allows any JSON. A legacy client gets the
projection that the official SDKs make: a schema of `{"result": ...}`, and structured content to match.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.verbs import JsonMapping
from tooltray.protocol.definition_shapes import Node, OutputSchema, decoded
from tooltray.protocol.envelope import dump, load
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.routing_headers import schemas_in

MOST_STEPS = 16  # of references that a root leads to

_node = msgspec.json.Decoder(Node)
_output_schema = msgspec.json.Decoder(OutputSchema)
_LOOKED_INTO = lazy_pattern(rb'"(?:\$ref|\$id|\$anchor|pattern|patternProperties|nullable)"')
_DATA = {"const", "enum", "default", "examples"}
_MAPS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
_COMBINED = {"anyOf", "oneOf", "allOf", "$ref", "enum", "const"}
_DRAFTS = lazy_pattern(r"http://json-schema\.org/draft-07/schema#?")
# syntax that only regular expressions of JavaScript (with the flag `u`) have, and that only Python's have
_FOR_PYTHON = (
    (lazy_pattern(r"\\[pP]\{[^}]*\}|\\u\{[0-9a-fA-F]+\}"), r"\\w"),
    (lazy_pattern(r"\(\?<(?![=!])"), "(?P<"),
    (lazy_pattern(r"\\k<([^>]*)>"), r"(?P=\1)"),
    (lazy_pattern(r"\\c[A-Za-z]"), "x"),
)
_PYTHON_ALONE = lazy_pattern(r"\(\?(?![:=!<])|\(\?<?P|\\(?![dDsSwWbBnrtfv0-9xukpPc^$\\.*+?()\[\]{}|/-])")


class LegacyOutput(msgspec.Struct, frozen=True):
    """What legacy clients get of an output schema that they cannot read.

    Attributes:
        schema: the replacement; None: no schema, so that nothing is promised.
        is_wrapped: whether all structured content of this tool is wrapped; else only content that is not an object.
    """

    schema: Raw | None
    is_wrapped: bool = False

    def replaced(self, definition: Raw) -> Raw:
        """Returns a definition with `schema` in place of its output schema."""
        members = opened(definition)
        members.pop("outputSchema", None)
        return closed(members if self.schema is None else members | {"outputSchema": self.schema})


def is_for_all(schema: Raw) -> bool:
    """Returns whether clients of both eras can read an output schema, by a quick check."""
    return decoded(_output_schema, schema) is not None


def schema_fault(raw: Raw) -> str:
    """Returns why clients cannot compile a schema; empty if they can.

    Args:
        raw: a JSON object.
    """
    try:
        _node.decode(raw)
    except (ValueError, RecursionError) as error:
        return str(error)
    return _fault_inside(load(raw)) if _LOOKED_INTO.search(raw) else ""


def is_plain(definition: bytes) -> bool:
    """Returns whether no schema in a definition needs a closer check."""
    return not _LOOKED_INTO.search(definition)


def _fault_inside(root: Any) -> str:
    schemas = [schema for _, schema in schemas_in(root)]
    known = {str(schema.get("$id")) for schema in schemas} | {f"#{schema.get('$anchor')}" for schema in schemas}
    for schema in schemas:
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref not in known and not _DRAFTS.fullmatch(ref) and not _is_there(root, ref):
            return f"it has no {ref}, which a $ref names"
        if "nullable" in schema and "type" not in schema:
            return "nullable has no type beside it"
        patterns = schema.get("patternProperties")
        for pattern in (schema.get("pattern"), *(patterns if isinstance(patterns, dict) else ())):
            if isinstance(pattern, str) and not _is_pattern(pattern):
                return f"{pattern[:60]!r} is not a JavaScript regular expression"
    return ""


def _is_there(root: object, ref: str) -> bool:
    """Returns whether a reference within a schema leads to a schema."""
    return isinstance(_target(root, ref), dict | bool)


def _target(root: object, ref: str) -> object:
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return None
    at = root
    for step in unquote(ref[2:]).split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list) and name.isascii() and name.isdigit():
            at = at[int(name)] if int(name) < len(at) else None
        else:
            at = at.get(name) if isinstance(at, dict) else None
    return at


def _is_pattern(pattern: str) -> bool:
    if _PYTHON_ALONE.search(pattern.replace("\\\\", "")):
        return False
    for of_javascript, of_python in _FOR_PYTHON:
        pattern = of_javascript.sub(of_python, pattern)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def is_object(schema: object, *, is_modern: bool) -> bool:
    """Returns whether a schema allows only objects, or may be taken to do so.

    Args:
        is_modern: whether the server is modern: its structured content may be any JSON; a legacy server's is an object or absent.
    """
    return _is_object(schema, schema, is_modern, MOST_STEPS)


def _is_object(schema: object, root: object, is_modern: bool, steps: int) -> bool:
    if not isinstance(schema, dict) or steps == 0:
        return False
    kind = schema.get("type")
    if kind is not None:
        return kind in ("object", ["object"]) or (not is_modern and isinstance(kind, list) and "object" in kind)

    def are_objects(keyword: str) -> list[bool]:
        branches = schema.get(keyword)
        return [_is_object(each, root, is_modern, steps - 1) for each in branches] if isinstance(branches, list) else []

    if any(found and all(found) for found in map(are_objects, ("anyOf", "oneOf"))) or any(are_objects("allOf")):
        return True
    if isinstance(ref := schema.get("$ref"), str):
        return _is_object(_target(root, ref), root, is_modern, steps - 1)
    return "properties" in schema and not schema.keys() & _COMBINED


def projection(natural: JsonMapping) -> Raw:
    """Returns the schema of `{"result": ...}` for a schema; references within it lead to the new places of their targets."""
    result = natural if _is_base(natural) else _moved(natural, is_map=False)
    schema: dict[str, object] = {"$schema": natural["$schema"]} if "$schema" in natural else {}
    return dump({**schema, "type": "object", "properties": {"result": result}, "required": ["result"]})


def _is_base(schema: Mapping[str, object]) -> bool:
    """Returns whether references in a schema start from its own `$id`."""
    return "$id" in schema and not str(schema["$id"]).startswith("#")


def _moved(value: object, *, is_map: bool) -> object:
    """Returns a part of a schema with its references moved. `is_map`: its author chose the names of its members; they are not keywords."""
    if isinstance(value, list):
        return [_moved(each, is_map=False) for each in value]
    if not isinstance(value, dict) or (not is_map and _is_base(value)):
        return value
    return {name: _moved_member(name, each, is_map) for name, each in value.items()}


def _moved_member(name: str, value: object, is_map: bool) -> object:
    if is_map:
        return _moved(value, is_map=False)
    if name in ("$ref", "$dynamicRef") and isinstance(value, str) and (value == "#" or value.startswith("#/")):
        return f"#/properties/result{value[1:]}"
    return value if name in _DATA else _moved(value, is_map=name in _MAPS)
