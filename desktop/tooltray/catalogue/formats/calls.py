"""Turns a model's tool call, as its provider passes it on, into an MCPToolCall.

Some providers pass arguments as text, as the model wrote it, which is not always valid JSON. A mistake that can be corrected in only one
way is corrected; any other is refused with its place, so that the model can correct it.
"""

import json
import re
import uuid
from collections.abc import Mapping

from tooltray.catalogue.formats.lenient_json import NotMeant, read
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.calls import MCPToolCall

MADE_UP = "tooltray-"  # begins the ids of calls whose provider gave none
MAX_ENCODINGS = 3  # JSON within a JSON text within ...; some models encode once too often

_FENCED = re.compile(r"```[A-Za-z0-9]*[ \t]*\r?\n(?P<inside>.*?)\r?\n?[ \t]*```", re.DOTALL)


def tool_call(call: Mapping[str, object], *, kind: str, id: object, arguments: object) -> MCPToolCall:
    """Builds a call; tool and arguments still have the provider's names.

    Args:
        call: the provider's object, whose `name` is the tool.
        kind: what the object should be, in words, for errors.
        id: the provider's id; without one a new id is made.
        arguments: JSON text or an object.

    Raises:
        TooltrayError: the call names no tool, or its arguments are not a JSON object.
    """
    name = call.get("name")
    if not isinstance(name, str) or not name:
        raise no_call(kind, "it names no tool")
    return MCPToolCall(id if isinstance(id, str) and id else f"{MADE_UP}{uuid.uuid4().hex}", name, read_arguments(name, arguments))


def no_call(kind: str, reason: str) -> TooltrayError:
    return TooltrayError(f"this is no {kind}", reason)


def read_arguments(tool: str, given: object) -> JsonObject:
    """Returns the arguments of a call as an object.

    Args:
        tool: the tool's name, for errors.
        given: JSON text or an object; None or an empty text means no arguments.

    Raises:
        TooltrayError: they are not an object, or cannot be parsed, with the place.
    """
    value = given
    for _ in range(MAX_ENCODINGS):
        if not isinstance(value, str):
            break
        value = _read(tool, value)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _no_object(tool, f"they are {_kind(value)}, not an object")
    return dict(value)


def _read(tool: str, text: str) -> object:
    text = text.strip().removeprefix("\ufeff")
    if fenced := _FENCED.fullmatch(text):
        text = fenced["inside"].strip()
    if not text:
        return None
    try:
        return json.loads(text, strict=False, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        pass
    try:
        return read(text)
    except NotMeant as error:
        line, column = text.count("\n", 0, error.place) + 1, error.place - text.rfind("\n", 0, error.place)
        raise _no_object(tool, f"line {line}, column {column}: {error.reason}") from None


def _no_object(tool: str, reason: str) -> TooltrayError:
    return TooltrayError(f"the arguments for '{tool}' are no JSON object", reason, "Call the tool again with one JSON object.")


def _kind(value: object) -> str:
    kinds = ((str, "a text"), (bool, "true or false"), (list, "an array"), (int | float, "a number"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "something else")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
