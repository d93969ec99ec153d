"""What a server may ask of an AI client while a call runs, and whether the client said that it can answer.

Above it: calls across eras. The rules are those of both eras: a capability that is not declared must not be used, nor a mode of it. Below
it: the protocol's words.
"""

from typing import Any

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.protocol import CAPABILITY_FOR

MAY_ASK = frozenset({"tools/call", "prompts/get", "resources/read"})  # the only requests that 2026-07-28 answers with `input_required`


class Question(msgspec.Struct):
    """A server's request, as it stands in an `input_required` result too."""

    method: str
    params: Raw = NOTHING

    def to_json(self) -> dict[str, Any]:
        return {"method": self.method} | ({"params": self.params} if self.params else {})


class _Params(msgspec.Struct):
    mode: str = "form"
    tools: Raw = NOTHING
    tool_choice: Raw = msgspec.field(name="toolChoice", default=NOTHING)


def can_be_asked(method: str, capabilities: Raw) -> bool:
    """Whether a client that declared `capabilities` can answer a method at all."""
    return _declared(method, capabilities) is not None


def lacking(question: Question, capabilities: Raw) -> dict[str, Any]:
    """What a client would have to declare besides `capabilities` for a question of `CAPABILITY_FOR`; empty if it can answer."""
    name = CAPABILITY_FOR[question.method]
    declared = _declared(question.method, capabilities)
    if declared is None:
        return {name: {}}
    needed = _mode(question)
    is_plain_form = needed == "form" and not declared.keys() & {"form", "url"}  # before 2025-11-25 there was but one mode
    return {name: {needed: {}}} if needed and needed not in declared and not is_plain_form else {}


def _declared(method: str, capabilities: Raw) -> dict[str, Any] | None:
    try:
        declared = msgspec.json.decode(capabilities)
    except (ValueError, RecursionError):
        return None
    found = declared.get(CAPABILITY_FOR.get(method)) if isinstance(declared, dict) else None
    return found if isinstance(found, dict) else None


def _mode(question: Question) -> str:
    """The part of its capability that a question needs; empty if it needs none."""
    try:
        params = msgspec.json.decode(question.params, type=_Params) if question.params else _Params()
    except (ValueError, RecursionError):
        return ""  # the client's to judge
    if question.method == "elicitation/create":
        return params.mode
    is_with_tools = question.method == "sampling/createMessage" and (params.tools or params.tool_choice)
    return "tools" if is_with_tools else ""
