"""Checks that the headers of a modern request match its body: a proxy that routes by headers must not be misled about the body.

routing_headers has the rules of 2026-07-28. The module knows no HTTP library.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from tooltray.protocol import envelope
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, failure
from tooltray.protocol.eras import (
    CLIENT_CAPABILITIES_KEY,
    HEADER_MISMATCH,
    MODERN_VERSIONS,
    PROTOCOL_VERSION_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    Head,
)
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.routing_headers import (
    METHOD_HEADER,
    NAME_HEADER,
    NAME_MEMBERS,
    PARAM_PREFIX,
    VERSION_HEADER,
    InvalidAnnotation,
    decode,
    marked_arguments,
    value_at,
    written,
)

NAME_IS_REQUIRED = frozenset({"tools/call", "prompts/get", "resources/read"})  # extensions may omit this header
_DECIMAL = re.compile(r"-?[0-9]+(?:\.0+)?")  # of an integer; some programs write 42 as 42.0


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
    if version in MODERN_VERSIONS:
        return None
    data = {"supported": list(MODERN_VERSIONS), "requested": version}
    return failure(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


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
        return f"{name} header is not what its base64 should be"
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
