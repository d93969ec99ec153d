"""What the reference asks of an AI client, and how it gets the answers in each era.

Legacy: a request to the client, and the call waits. Modern: the call ends with `input_required`, and comes again with the answers. So a
tool says what it needs, and is written once.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import mcp.types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from tool_table import Context, said

Json = dict[str, Any]
ROOTS: Json = {"method": "roots/list", "params": {}}
MESSAGES: Mapping[str, tuple[Any, Any]] = {
    "elicitation/create": (types.ElicitRequest, types.ElicitResult),
    "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
    "roots/list": (types.ListRootsRequest, types.ListRootsResult),
}


class NoAnswer(Exception):
    """A question was not answered; `result` is what the call ends with."""

    def __init__(self, result: Json) -> None:
        super().__init__()
        self.result = result


def form(message: str, schema: Json) -> Json:
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def sampling(prompt: str) -> Json:
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}}


def field(answer: Json, name: str) -> Any:
    """A value in the accepted form of an answer."""
    return (answer.get("content") or {}).get(name)


def is_modern(context: Context) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def state(context: Context) -> str:
    """The state that came with this call, if one did; what a client changed has been refused before."""
    return (context.params or {}).get("requestState") or ""


async def answers(context: Context, state: str = "", /, **questions: Json) -> dict[str, Json]:
    """The answers to questions, by the questions' keys.

    Args:
        state: what a modern client has to bring back with its answers.

    Raises:
        NoAnswer: a modern client has not answered all of them yet, or a legacy one refuses to.
    """
    if not is_modern(context):
        found = await asyncio.gather(*(_ask(context, question) for question in questions.values()))
        return dict(zip(questions, found, strict=True))
    given = (context.params or {}).get("inputResponses") or {}
    if questions.keys() <= given.keys():
        return {key: given[key] for key in questions}
    asked: Json = {"resultType": "input_required", "inputRequests": questions}
    raise NoAnswer(asked | ({"requestState": state} if state else {}))


async def _ask(context: Context, question: Json) -> Json:
    request, result = MESSAGES[question["method"]]
    belonging = ServerMessageMetadata(related_request_id=context.request_id)
    try:
        answer = await context.session.send_request(request.model_validate(question), result, metadata=belonging)
    except MCPError as error:
        raise NoAnswer({**said(f"{question['method']} failed: {error}"), "isError": True}) from None
    return dict(answer.model_dump(by_alias=True, mode="json", exclude_none=True))
