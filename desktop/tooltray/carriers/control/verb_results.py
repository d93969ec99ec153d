"""The types of the results of the API's verbs, for callers that get results as JSON from the control channel.

The types are named in resources/verbs.json, which is made from the verbs' own annotations (scripts/verb_table.py): importing the classes
with the verbs imports the engine, which takes longer than most commands.
"""

import importlib
from functools import cache
from typing import Any

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.programs import resource


class VerbEntry(msgspec.Struct, frozen=True):
    """A verb in the table.

    Attributes:
        part: name of the part of the API that has it.
        takes: its parameters, each with its type and default as Python writes them: `int = 30`.
        returns: module and name of the type of its result, with `[]` for a list; empty for plain JSON.
        about: the first paragraph of its docstring.
    """

    part: str
    takes: dict[str, str]
    returns: str
    about: str


@cache
def verb_entries() -> dict[str, VerbEntry]:
    """Returns all verbs by name."""
    return msgspec.json.decode(resource("verbs.json").read_bytes(), type=dict[str, VerbEntry])


@cache
def result_type(verb: str) -> Any:
    """Returns the type that a verb's JSON is converted to; `Any` for plain JSON and for a verb that the table does not have."""
    entry = verb_entries().get(verb)
    module, _, name = (entry.returns if entry else "").partition(":")
    if not module:
        return Any
    kind: Any = getattr(importlib.import_module(module), name.removesuffix("[]"))
    return list[kind] if name.endswith("[]") else kind


def typed_result(verb: str, value: object) -> Any:
    """Converts a verb's JSON to the type that the verb returned.

    Raises:
        TooltrayError: the JSON does not fit the type, as from a hub of a much older version.
    """
    try:
        return msgspec.convert(value, result_type(verb))
    except msgspec.ValidationError as error:
        hint = "If the hub is of another version, stop it with: tooltray stop"
        raise TooltrayError("The hub's answer makes no sense", f"{verb}: {error}", hint) from None
