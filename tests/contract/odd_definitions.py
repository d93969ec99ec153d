"""Definitions with members that are null, of a wrong type, or at a wrong depth; and what the SDKs say of what the hub makes of them."""

import copy
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp_types.jsonrpc import JSONRPCResponse, jsonrpc_message_adapter
from mcp_types.methods import validate_server_result
from msgspec import Raw
from pydantic import AnyUrl, TypeAdapter

from tooltray.catalogue.definition import read_definitions
from tooltray.catalogue.offer import PROMPTS, RESOURCES, TEMPLATES, TOOLS, OfferKind, listing_of, read_offers

SCHEMAS = Path(__file__).parents[1] / "conformance" / "schema"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
RESULT_OF = {
    TOOLS: "ListToolsResult",
    PROMPTS: "ListPromptsResult",
    RESOURCES: "ListResourcesResult",
    TEMPLATES: "ListResourceTemplatesResult",
}
DEEP = 2000  # levels; no SDK reads them

_ICONS = [{"src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}]
_ANNOTATIONS = {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"}
_COMMON = {"name": "n", "title": "T", "description": "d", "icons": _ICONS, "_meta": {"a": {"b": [1]}}}
_INPUT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}, "b": {"type": "array", "items": {"$ref": "#/$defs/c"}}},
    "required": ["a"],
    "$defs": {"c": {"type": "object", "properties": {"d": {"type": "integer", "minimum": 1}}}},
    "additionalProperties": False,
}
WHOLE: Mapping[OfferKind, Mapping[str, Any]] = {
    TOOLS: {
        **_COMMON,
        "inputSchema": _INPUT,
        "outputSchema": {**_INPUT, "anyOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}]},
        "annotations": {"title": "t", "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
        "execution": {"taskSupport": "optional"},
    },
    PROMPTS: {**_COMMON, "arguments": [{"name": "a", "title": "A", "description": "d", "required": True}, {"name": "b"}]},
    RESOURCES: {**_COMMON, "uri": "x://a/b", "mimeType": "text/plain", "annotations": _ANNOTATIONS, "size": 12},
    TEMPLATES: {**_COMMON, "uriTemplate": "x://{a}", "mimeType": "text/plain", "annotations": _ANNOTATIONS},
}
"""One definition of each kind, with each member that the protocol knows."""

ODD_SCHEMAS = (
    *({}, {"$schema": "x"}, {"anyOf": [{"type": "object"}, {"type": "array"}]}, {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}),
    *({"type": ["object", "null"]}, {"type": "string"}, {"type": "Object"}, {"type": "array", "items": {"$ref": "#"}}, {"type": "null"}),
    *({"type": "object", "properties": []}, {"type": "object", "properties": {"a": True, "b": False, "c": "string", "d": None}}),
    *({"type": "object", "required": True}, {"type": "object", "properties": {"a": {"pattern": "(?P<x>a)"}}}, {"properties": {"a": {}}}),
    *({"type": "object", "$ref": "#/nowhere"}, {"type": "object", "id": "x"}, {"type": "object", "properties": {"a": {"type": "any"}}}),
    *(
        {"type": "object", "exclusiveMinimum": True},
        {"type": "object", "enum": []},
        {"type": "object", "properties": {"a": {"nullable": True}}},
    ),
)
_LEAVES = (
    *(
        None,
        True,
        False,
        0,
        12,
        -1,
        2.0,
        0.5,
        2**70,
        1e300,
        "",
        "12",
        "user",
        "2025-01-12",
        "2025-02-30",
        "object",
        "48x48",
        "\ud800",
        "é\0",
    ),
    *([], [None], ["a", 1], {}, {"a": None}, {"type": "object"}),
)
_values = st.sampled_from((*_LEAVES, *ODD_SCHEMAS)) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Returns where something stands in a value, at any depth."""
    inside: list[tuple[str | int, Any]] = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        inside = list(enumerate(value))
    return [place for step, each in inside for place in ((*at, step), *_places(each, (*at, step)))]


@st.composite
def odd(draw: st.DrawFn, kind: OfferKind) -> Any:
    """A definition with up to four of its members replaced, left out, or replaced by what stands elsewhere in it."""
    definition: Any = copy.deepcopy(dict(WHOLE[kind]))
    if kind is TOOLS and draw(st.booleans()):
        definition[draw(st.sampled_from(("inputSchema", "outputSchema")))] = copy.deepcopy(draw(st.sampled_from(ODD_SCHEMAS)))
    for _ in range(draw(st.integers(0, 4))):
        if not (places := _places(definition)):
            break
        place = draw(st.sampled_from(places))
        parent = _at(definition, place[:-1])
        match draw(st.integers(0, 4)):
            case 0:
                del parent[place[-1]]
            case 1:
                parent[place[-1]] = copy.deepcopy(_at(definition, draw(st.sampled_from(places))))
            case _:
                parent[place[-1]] = copy.deepcopy(draw(_values))
    return definition


def _at(value: Any, place: Sequence[str | int]) -> Any:
    for step in place:
        value = value[step]
    return value


def published(kind: OfferKind, definitions: Sequence[Any], *, is_modern_server: bool, version: str) -> list[Raw]:
    """Returns what clients of all servers get of a server's list."""
    raws = [Raw(each if isinstance(each, bytes) else json.dumps(each).encode()) for each in definitions]
    if kind is not TOOLS:
        return [each.published for each in read_offers(kind, raws)[0] if not each.is_held]
    tools = read_definitions(raws, is_modern=is_modern_server).tools
    left = [(tool, tool.renamed(f"s_{place}")) for place, tool in enumerate(tools)]
    return [tool.output.replaced(raw) if tool.output and version == LEGACY else raw for tool, raw in left]


def check_is_read(kind: OfferKind, definitions: Sequence[Raw], version: str) -> None:
    """Checks a list as the SDKs of an era check it, the Python SDK 1.x and its URIs included.

    Raises:
        ValueError: one of them refuses the list.
    """
    message = jsonrpc_message_adapter.validate_json(b'{"jsonrpc":"2.0","id":1,"result":%b}' % bytes(listing_of(kind, definitions)))
    assert isinstance(message, JSONRPCResponse)
    result = message.result
    for resource in result.get("resources", ()):
        TypeAdapter(AnyUrl).validate_python(resource["uri"])
    if version == MODERN:
        result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    validate_server_result(kind.method, version, result)
    for fault in _validator(version, RESULT_OF[kind]).iter_errors(result):
        raise ValueError(f"{fault.json_path}: {fault.message}")


@lru_cache
def _validator(version: str, name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{version}.json").read_bytes())
    return Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{name}"})
