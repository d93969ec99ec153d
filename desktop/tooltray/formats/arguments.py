"""A model's arguments as an object, from what its provider passes on.

Above it: the formats. Below it: lenient_json. Providers that pass arguments as text pass what the model wrote, which is not always JSON.
What can only have been meant in one way is taken as that; everything else is refused with its place, so that the model can be told.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from tooltray.errors import TooltrayError
from tooltray.formats.lenient_json import NotMeant, read

MAX_ENCODINGS = 3  # JSON within a JSON text within ...; some models encode once too often

_FENCED = re.compile(r"```[A-Za-z0-9]*[ \t]*\r?\n(?P<inside>.*?)\r?\n?[ \t]*```", re.DOTALL)


def read_arguments(tool: Any, given: Any) -> dict[str, Any]:
    """The arguments of a call.

    Args:
        tool: its name, for errors.
        given: JSON text or an object; nothing at all means no arguments.

    Raises:
        TooltrayError: they are no object, or cannot be read; says where.
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


def _read(tool: Any, text: str) -> Any:
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


def _no_object(tool: Any, reason: str) -> TooltrayError:
    return TooltrayError(f"the arguments for '{tool}' are no JSON object", reason, "Call the tool again with one JSON object.")


def _kind(value: Any) -> str:
    kinds = ((str, "a text"), (bool, "true or false"), (list, "an array"), (int | float, "a number"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "something else")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
