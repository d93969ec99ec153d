"""How tools are offered and called in the four protocols that AI clients speak to a model, each as a stream or whole.

OpenAI's chat completions and responses, Anthropic's messages and Gemini's `generateContent`; written
is as little as the clients' programs are content with.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Json = dict[str, Any]
MODEL = "scripted"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
RESPONSES_USAGE = {
    "input_tokens": 1,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 1,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 2,
}


class Tool(NamedTuple):
    """A tool as the model is told of it; `space` is where the protocol groups tools."""

    name: str
    space: str = ""


class Answer(NamedTuple):
    """What the model says: a call of a tool, or a text. `number`: which call it is, from 1."""

    call: Tool | None = None
    text: str = ""
    arguments: Json = {}
    number: int = 1


class Protocol(NamedTuple):
    """How one protocol writes what a request offers and what a model answers."""

    tools: Callable[[Json], Iterator[Tool]]
    results: Callable[[Json], Iterator[Any]]
    whole: Callable[[Answer], Json]
    stream: Callable[[Answer], Iterator[tuple[str, Json | str]]]


# chat completions


def _chat_tools(request: Json) -> Iterator[Tool]:
    for each in request.get("tools") or ():
        yield Tool(each.get("function", each).get("name", ""))


def _chat_results(request: Json) -> Iterator[Any]:
    for each in request.get("messages") or ():
        if each.get("role") == "tool":
            yield each.get("content")


def _chat_message(answer: Answer) -> Json:
    if answer.call is None:
        return {"role": "assistant", "content": answer.text}
    function = {"name": answer.call.name, "arguments": json.dumps(answer.arguments)}
    call = {"index": 0, "id": f"call_{answer.number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _chat_choice(answer: Answer, **content: Any) -> Json:
    ended = "stop" if answer.call is None else "tool_calls"
    return {"id": "c1", "created": 1, "model": MODEL, "choices": [{"index": 0, "finish_reason": ended, **content}]}


def _chat_whole(answer: Answer) -> Json:
    return {"object": "chat.completion", **_chat_choice(answer, message=_chat_message(answer)), "usage": USAGE}


def _chat_stream(answer: Answer) -> Iterator[tuple[str, Json | str]]:
    kind = {"object": "chat.completion.chunk"}
    yield "", {**kind, **_chat_choice(answer, delta=_chat_message(answer), finish_reason=None)}
    yield "", {**kind, **_chat_choice(answer, delta={})}
    yield "", {**kind, **_chat_choice(answer), "choices": [], "usage": USAGE}  # in a chunk of its own: one client reads nothing else there
    yield "", "[DONE]"


# responses


def _responses_tools(request: Json) -> Iterator[Tool]:
    for each in request.get("tools") or ():
        if each.get("type") == "namespace":
            yield from (Tool(inner["name"], each["name"]) for inner in each["tools"])
        else:
            yield Tool(each.get("name", ""))


def _responses_results(request: Json) -> Iterator[Any]:
    given = request.get("input")
    for each in given if isinstance(given, list) else ():
        if each.get("type") == "function_call_output":
            yield each.get("output")


def _responses_item(answer: Answer) -> Json:
    if answer.call is None:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        return {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    space = {"namespace": answer.call.space} if answer.call.space else {}
    item = {"id": f"f{answer.number}", "type": "function_call", "call_id": f"call_{answer.number}", "status": "completed"}
    return {**item, "name": answer.call.name, "arguments": json.dumps(answer.arguments), **space}


def _responses_whole(answer: Answer) -> Json:
    about = {"id": "r1", "object": "response", "created_at": 1, "model": MODEL, "status": "completed"}
    return {**about, "output": [_responses_item(answer)], "usage": RESPONSES_USAGE}


def _responses_stream(answer: Answer) -> Iterator[tuple[str, Json | str]]:
    whole, item = _responses_whole(answer), _responses_item(answer)
    begun = {**whole, "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": begun}
    yield "response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}
    if answer.call is None:
        delta = {"item_id": "m1", "output_index": 0, "content_index": 0, "delta": answer.text}
        yield "response.output_text.delta", {"type": "response.output_text.delta", **delta}
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield "response.completed", {"type": "response.completed", "response": whole}


# messages


def _messages_tools(request: Json) -> Iterator[Tool]:
    for each in request.get("tools") or ():
        yield Tool(each.get("name", ""))


def _messages_results(request: Json) -> Iterator[Any]:
    for message in request.get("messages") or ():
        content = message.get("content")
        for each in content if isinstance(content, list) else ():
            if each.get("type") == "tool_result":
                yield each.get("content")


def _messages_block(answer: Answer) -> Json:
    if answer.call is None:
        return {"type": "text", "text": answer.text}
    return {"type": "tool_use", "id": f"toolu_{answer.number}", "name": answer.call.name, "input": answer.arguments}


def _messages_whole(answer: Answer) -> Json:
    ended = "end_turn" if answer.call is None else "tool_use"
    about = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "stop_sequence": None, "stop_reason": ended}
    return {**about, "content": [_messages_block(answer)], "usage": {"input_tokens": 1, "output_tokens": 1}}


def _messages_stream(answer: Answer) -> Iterator[tuple[str, Json | str]]:
    whole, block = _messages_whole(answer), _messages_block(answer)
    empty = {**block, "text": ""} if answer.call is None else {**block, "input": {}}
    given = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
    piece = {"type": "text_delta", "text": answer.text} if answer.call is None else given
    events: list[Json] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    yield from ((each["type"], each) for each in events)


# generateContent


def _gemini_tools(request: Json) -> Iterator[Tool]:
    for group in request.get("tools") or ():
        yield from (Tool(each["name"]) for each in group.get("functionDeclarations") or ())


def _gemini_results(request: Json) -> Iterator[Any]:
    for content in request.get("contents") or ():
        for part in content.get("parts") or ():
            if "functionResponse" in part:
                yield part["functionResponse"].get("response")


def _gemini_whole(answer: Answer) -> Json:
    part: Json = {"text": answer.text} if answer.call is None else {"functionCall": {"name": answer.call.name, "args": answer.arguments}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL}


def _gemini_stream(answer: Answer) -> Iterator[tuple[str, Json | str]]:
    yield "", _gemini_whole(answer)


PROTOCOLS: Mapping[str, Protocol] = {  # by the end of the path, without its query
    "/chat/completions": Protocol(_chat_tools, _chat_results, _chat_whole, _chat_stream),
    "/responses": Protocol(_responses_tools, _responses_results, _responses_whole, _responses_stream),
    "/messages": Protocol(_messages_tools, _messages_results, _messages_whole, _messages_stream),
    ":generateContent": Protocol(_gemini_tools, _gemini_results, _gemini_whole, _gemini_stream),
    ":streamGenerateContent": Protocol(_gemini_tools, _gemini_results, _gemini_whole, _gemini_stream),
}
