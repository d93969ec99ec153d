"""What the log says about a request's parameters: names, types and sizes, never values.

Above it: StructuredLog's writer thread. Below it: nothing. The one value that is told is the tool's name in `tools/call`.
"""

import json
from itertools import islice
from typing import Any

import msgspec

MAX_DESCRIBED_BYTES = 64 * 1024  # larger parameters are only weighed; opening them would cost the hub's calls time
MAX_NAMES = 32
MAX_NAME_LENGTH = 64  # characters

_TYPES = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
_COUNTED = frozenset({"string", "array", "object"})


def describe(method: str, params: bytes) -> dict[str, Any]:
    """Fields for the log.

    Args:
        params: JSON as it came; bytes, `Raw` or another buffer.

    Returns:
        `arguments`: `{"path": "string(24)", "recursive": "boolean", "edits": "array(3)"}`, with characters, elements and members counted;
        the bare type if they are no object; for `tools/call` those of the tool. `argumentsLeftOut`: how many are not in it. `tool`: the
        tool's name. Nothing if they cannot be read.
    """
    try:
        values = _values(params)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, Any] = {}
    if method == "tools/call" and type(values) is dict:
        if type(name := values.get("name")) is str:
            found["tool"] = _cut(name)
        values = values.get("arguments", {})
    if type(values) is not dict:
        return {**found, "arguments": _kind(values)}
    found["arguments"] = {_cut(name): _kind(value) for name, value in islice(values.items(), MAX_NAMES)}
    if len(values) > MAX_NAMES:
        found["argumentsLeftOut"] = len(values) - MAX_NAMES
    return found


def _values(params: bytes) -> Any:
    if not len(params):
        return {}
    try:
        return msgspec.json.decode(params)
    except (ValueError, RecursionError):
        return json.loads(bytes(params))  # takes halves of surrogate pairs and 1e400


def _kind(value: Any) -> str:
    name = _TYPES[type(value)]
    return f"{name}({len(value)})" if name in _COUNTED else name


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else name[:MAX_NAME_LENGTH] + "…"
