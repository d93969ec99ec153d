"""What a request of 2026-07-28 repeats in HTTP headers, so that gateways can route it without reading the body: written, and checked.

Source: the specification's "Streamable HTTP" of that version: `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, and one `Mcp-Param-*` for
each argument that the tool's schema marks with `x-mcp-header`. A request whose headers contradict its body is refused: a proxy that routes
by headers must not be misled about the body.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, failure
from tooltray.protocol.eras import (
    CLIENT_CAPABILITIES_KEY,
    HEADER_MISMATCH,
    MODERN_VERSIONS,
    PROTOCOL_VERSION_KEY,
    Head,
    unsupported_version,
)
from tooltray.protocol.member_scanner import opened

VERSION_HEADER, METHOD_HEADER, NAME_HEADER, PARAM_PREFIX = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-"
ANNOTATION = "x-mcp-header"
NAME_MEMBERS: Mapping[str, str] = {  # of params, by method: what `Mcp-Name` repeats
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
REMEMBERED_SCHEMAS = 256  # whose marked arguments are cached

_PLAIN = lazy_pattern(r"(?:[!-~](?:[ -~]*[!-~])?)?")  # visible ASCII, no blank at either end
_WRAPPED = lazy_pattern(r"=\?base64\?(.*)\?=")
_TOKEN = lazy_pattern(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110: the name of a header
_TYPES = ("string", "integer", "boolean")  # no "number": programs disagree on how to write those
# JSON Schema 2020-12: the keywords whose values are schemas, besides `properties`; the values of others are data
_ONE_SCHEMA = {
    *("items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("not", "if", "then", "else", "contentSchema"),
}
_LIST_OF_SCHEMAS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_MAP_OF_SCHEMAS = {"patternProperties", "dependentSchemas", "$defs", "definitions"}

Path = tuple[str, ...]
NAME_IS_REQUIRED = frozenset({"tools/call", "prompts/get", "resources/read"})  # extensions may omit this header
_DECIMAL = lazy_pattern(r"-?[0-9]+(?:\.0+)?")  # of an integer; some programs write 42 as 42.0


class InvalidAnnotation(ValueError):
    """A mark in a tool's schema that the specification forbids; a client over HTTP must not use such a tool."""


def modern_version(params: Raw) -> str:
    """Returns the version that a request's `_meta` names; empty for a legacy request."""
    meta = _members(_members(params).get("_meta", NOTHING))
    return _text(meta.get(PROTOCOL_VERSION_KEY, NOTHING))


def request_headers(method: str, params: Raw, tool_schema: Callable[[str], Raw | None]) -> dict[str, str]:
    """Returns the headers of a modern request; empty for a legacy one.

    Args:
        tool_schema: returns the `inputSchema` of a tool by the server's own name for it; None if the tool was never listed.
    """
    version = modern_version(params)
    if not version:
        return {}
    headers = {VERSION_HEADER: version, METHOD_HEADER: encode(method)}
    members = _members(params)
    name = _text(members.get(NAME_MEMBERS.get(method, ""), NOTHING))
    if name:
        headers[NAME_HEADER] = encode(name)
    if method == "tools/call" and (schema := tool_schema(name)):
        headers |= param_headers(schema, members.get("arguments", NOTHING))
    return headers


def param_headers(schema: Raw, arguments: Raw) -> dict[str, str]:
    """Returns one header for each given argument that the schema marks; empty if the schema marks them wrongly."""
    try:
        marked = marked_arguments(schema)
        values = envelope.load(arguments) if marked else None
    except ValueError:
        return {}
    found = {header: written(value_at(values, path)) for path, header in marked.items()}
    return {PARAM_PREFIX + header: encode(value) for header, value in found.items() if value is not None}


def marked_arguments(schema: Raw) -> Mapping[Path, str]:
    """Returns the names of headers, without prefix, by the place of the argument.

    Raises:
        InvalidAnnotation: a mark is in a forbidden place or names no possible header; explains which and why.
    """
    text = bytes(schema)
    return _marked_arguments(text) if b"x-mcp-header" in text else {}


@lru_cache(maxsize=REMEMBERED_SCHEMAS)
def _marked_arguments(text: bytes) -> Mapping[Path, str]:
    marked: dict[Path, str] = {}
    for path, schema in schemas_in(envelope.load(Raw(text))):
        if ANNOTATION in schema:
            header = _checked(path, schema)
            if header.lower() in (other.lower() for other in marked.values()):
                raise InvalidAnnotation(f"{ANNOTATION} {header!r} occurs twice")
            marked[path or ()] = header
    return marked


def _checked(path: Path | None, schema: Mapping[str, object]) -> str:
    header = schema[ANNOTATION]
    if not path:
        raise InvalidAnnotation(f"{ANNOTATION} is not at an argument")
    where = ".".join(path)
    if not isinstance(header, str) or not _TOKEN.fullmatch(header):
        raise InvalidAnnotation(f"{where}: {ANNOTATION} is not the name of a header")
    if schema.get("type") not in _TYPES:
        raise InvalidAnnotation(f"{where}: {ANNOTATION} is for arguments of type {', '.join(_TYPES)}")
    return header


def schemas_in(root: object) -> Iterator[tuple[Path | None, dict[str, object]]]:
    """Yields every schema in a schema, with the path of the argument it describes; None if it describes no argument of its own."""
    waiting: list[tuple[Path | None, object]] = [((), root)]
    while waiting:
        path, schema = waiting.pop()
        if isinstance(schema, dict):
            yield path, schema
            for keyword, value in schema.items():
                if keyword == "properties" and isinstance(value, dict):
                    waiting += [(None if path is None else (*path, name), each) for name, each in value.items()]
                else:
                    waiting += [(None, each) for each in _schemas_under(keyword, value)]


def _schemas_under(keyword: str, value: object) -> list[object]:
    if keyword in _ONE_SCHEMA:
        return [value]
    if keyword in _LIST_OF_SCHEMAS and isinstance(value, list):
        return value
    if keyword in _MAP_OF_SCHEMAS and isinstance(value, dict):
        return list(value.values())
    return []


def value_at(arguments: object, path: Path) -> object:
    """Returns the argument at a place; None if it is missing."""
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, dict) else None
    return arguments


def written(value: object) -> str | None:
    """Returns a value as a header spells it; None if no header can hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 42.0, as some programs write an integer
    return str(value) if isinstance(value, str | int | float) else None


def encode(value: str) -> str:
    """Returns a text as the value of a header: unchanged if that is safe, else in base64."""
    if _PLAIN.fullmatch(value) and not _WRAPPED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='replace')).decode()}?="


def decode(value: str) -> str | None:
    """Returns the text that `encode` was given; None for a value that `encode` cannot have made."""
    if not (wrapped := _WRAPPED.fullmatch(value)):
        return value
    try:
        decoded = base64.b64decode(wrapped[1], validate=True)
        is_canonical = base64.b64encode(decoded).decode() == wrapped[1]
        return decoded.decode() if is_canonical else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _members(raw: Raw) -> dict[str, Raw]:
    try:
        return opened(raw) if raw else {}
    except ValueError:
        return {}


def _text(raw: Raw) -> str:
    try:
        return msgspec.json.decode(raw, type=str) if raw else ""
    except ValueError:
        return ""


class Headers(Protocol):
    """The headers of a request; names are case-insensitive."""

    def get(self, name: str) -> str | None: ...
    def getall(self, name: str, default: Sequence[str]) -> Sequence[str]: ...


def fault_of(request: Envelope, head: Head | None, headers: Headers) -> Envelope | None:
    """Returns the first error of a request whose envelope is incomplete, or whose headers contradict its body."""
    for name in (VERSION_HEADER, METHOD_HEADER, NAME_HEADER):
        if len(headers.getall(name, ())) > 1:
            return _mismatch(f"{name} header appears more than once")
    if head is None or not (head.meta.version and head.meta.capabilities):
        wanted = f"{PROTOCOL_VERSION_KEY} and {CLIENT_CAPABILITIES_KEY}"
        return failure(INVALID_PARAMS, f"params._meta must be an object with {wanted}")
    version = headers.get(VERSION_HEADER)
    if version is None or version != _value(head.meta.version):
        return _mismatch(f"{VERSION_HEADER} header does not match the version in params._meta")
    if headers.get(METHOD_HEADER) != request.method:
        return _mismatch(f"{METHOD_HEADER} header does not match the method in the body")
    if not _is_name_right(request, headers):
        return _mismatch(f"{NAME_HEADER} header does not match the body's {NAME_MEMBERS[request.method]!r}")
    return version_fault(version)


def version_fault(version: str) -> Envelope | None:
    """Returns the error for a version that is not supported here."""
    return None if version in MODERN_VERSIONS else unsupported_version(version)


def argument_fault(request: Envelope, headers: Headers, tool_schema: Callable[[str], Raw | None]) -> Envelope | None:
    """Returns the error of a tool call whose `Mcp-Param-*` headers contradict its arguments.

    Args:
        tool_schema: returns the `inputSchema` of a tool by the name that the client uses; None if it is not known.
    """
    try:
        params = opened(request.params)
        name, arguments = _value(params.get("name", NOTHING)), params.get("arguments", NOTHING)
        schema = tool_schema(name) if isinstance(name, str) else None
        marked = marked_arguments(schema) if schema else {}
        values = envelope.load(arguments) if marked else None
    except (ValueError, InvalidAnnotation):  # no client can send headers for a tool that marks its arguments wrongly
        return None
    faults = (_fault_at(path, header, values, headers) for path, header in marked.items())
    return next((_mismatch(fault) for fault in faults if fault), None)


def _fault_at(path: tuple[str, ...], header: str, arguments: Any, headers: Headers) -> str:
    name, value = PARAM_PREFIX + header, value_at(arguments, path)
    given = headers.getall(name, ())
    expected, where = written(value), ".".join(path)
    if len(given) > 1:
        return f"{name} header appears more than once"
    if expected is None:  # a missing argument, or one that no header can repeat
        return f"{name} header is given, and the argument {where!r} is not" if given else ""
    if not given:
        return f"{name} header is missing, and the argument {where!r} is given"
    found = decode(given[0])
    if found is None:
        return f"{name} header is not valid base64"
    return "" if found == expected or _is_same_integer(value, found) else f"{name} header does not match the argument {where!r}"


def _is_same_integer(value: object, text: str) -> bool:
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        return False
    try:
        return bool(_DECIMAL.fullmatch(text)) and int(text.partition(".")[0]) == int(value)
    except ValueError:  # thousands of digits
        return False


def _is_name_right(request: Envelope, headers: Headers) -> bool:
    member, given = NAME_MEMBERS.get(request.method), headers.get(NAME_HEADER)
    if member is None or (given is None and request.method not in NAME_IS_REQUIRED):
        return True
    expected = _value(opened(request.params).get(member, NOTHING))
    return expected is None or (decode(given) if given is not None else None) == expected


def _value(raw: Raw) -> Any:
    """Decodes a value; returns None for a missing or unreadable one."""
    try:
        return msgspec.json.decode(raw) if raw else None
    except (ValueError, RecursionError):
        return None


def _mismatch(message: str) -> Envelope:
    return failure(HEADER_MISMATCH, message)
