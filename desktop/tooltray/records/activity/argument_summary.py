"""Describes a request's parameters for the log: names, types and sizes, never values.

The only value in the log is the tool's name of `tools/call`.
"""

import json
from itertools import islice

import msgspec

MAX_DESCRIBED_BYTES = 64 * 1024  # of larger parameters only the size is logged; parsing them would delay calls
MAX_NAMES = 32
MAX_NAME_LENGTH = 64  # characters

_TYPES = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


def describe(method: str, params: bytes) -> dict[str, object]:
    """Returns fields for the log.

    Args:
        params: JSON as received; bytes, `Raw` or another buffer.

    Returns:
        `arguments`: `{"path": "string(24)", "recursive": "boolean", "edits": "array(3)"}`, with the number of characters, elements or
        members; only the type if they are not an object; for `tools/call` the arguments of the tool. `argumentsLeftOut`: the number of
        arguments that are not listed. `tool`: the tool's name. Empty if the parameters cannot be parsed.
    """
    try:
        values = msgspec.json.decode(params) if len(params) else {}
    except (ValueError, RecursionError):
        try:
            values = json.loads(bytes(params))  # takes halves of surrogate pairs and 1e400
        except (ValueError, RecursionError):
            return {}
    found: dict[str, object] = {}
    if method == "tools/call" and type(values) is dict:
        if type(name := values.get("name")) is str:
            found["tool"] = name if len(name) <= MAX_NAME_LENGTH else _cut(name)
        values = values.get("arguments", {})
    if type(values) is not dict:
        return {**found, "arguments": _kind(values)}
    kinds = found["arguments"] = dict[str, object]()
    for name, value in islice(values.items(), MAX_NAMES):  # a comprehension, and a call for each short name, would cost each line more
        kinds[name if len(name) <= MAX_NAME_LENGTH else _cut(name)] = _kind(value)
    if len(values) > MAX_NAMES:
        found["argumentsLeftOut"] = len(values) - MAX_NAMES
    return found


def _kind(value: object) -> str:
    name = _TYPES[type(value)]
    return f"{name}({len(value)})" if isinstance(value, str | list | dict) else name


def _cut(name: str) -> str:
    return name[:MAX_NAME_LENGTH] + "…"
