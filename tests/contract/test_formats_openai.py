"""formats/ against the types of the `openai` package, on the definitions of all real servers of the tests."""

import re
from typing import Any

import pytest
from openai.types.chat import (
    ChatCompletionContentPartTextParam,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionToolMessageParam,
)
from openai.types.responses import FunctionToolParam, ResponseFunctionToolCall
from openai.types.responses.response_input_item_param import FunctionCallOutput
from openai.types.shared_params import FunctionDefinition
from pydantic import TypeAdapter
from tests.contract.json_schemas import check_is_whole, check_parameters
from tests.contract.recorded_definitions import recorded, usable
from tests.contract.results import RESULTS, responded

from tooltray.catalogue.formats import FORMATS

CHAT, RESPONSES = FORMATS["openai_chat"], FORMATS["openai_responses"]
SERVERS = recorded()
BLOCKS = {
    "input_text": {"type", "text"},
    "input_image": {"type", "image_url", "detail"},
    "input_file": {"type", "filename", "file_data"},
}


@pytest.mark.parametrize("server", SERVERS)
def test_every_real_tool_is_a_tool_of_the_chat_api(server: str) -> None:
    definitions = usable(SERVERS[server])
    tools = CHAT.tools(definitions)
    TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(tools, strict=True)
    check_names([tool["function"]["name"] for tool in tools], definitions)
    for tool in tools:
        assert set(tool) <= set(ChatCompletionFunctionToolParam.__annotations__)
        assert set(tool["function"]) <= set(FunctionDefinition.__annotations__)
        check_parameters(tool["function"]["parameters"])


@pytest.mark.parametrize("server", SERVERS)
def test_every_real_tool_is_a_tool_of_the_responses_api(server: str) -> None:
    definitions = usable(SERVERS[server])
    tools = RESPONSES.tools(definitions)
    TypeAdapter(list[FunctionToolParam]).validate_python(tools, strict=True)
    check_names([tool["name"] for tool in tools], definitions)
    for tool in tools:
        assert set(tool) <= set(FunctionToolParam.__annotations__)
        assert tool["strict"] is False
        check_parameters(tool["parameters"])


@pytest.mark.parametrize("server", SERVERS)
def test_a_real_schema_goes_whole(server: str) -> None:
    for definition, tool in zip(usable(SERVERS[server]), CHAT.tools(usable(SERVERS[server])), strict=True):
        check_is_whole(tool["function"]["parameters"], definition["inputSchema"])


def test_a_call_of_the_chat_api_is_read() -> None:
    made = ChatCompletionMessageFunctionToolCall.model_validate(
        {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    )
    call = CHAT.call(made.model_dump())
    assert (call.id, call.name, call.arguments) == ("call_1", "add", {"a": 1})


def test_a_call_of_the_responses_api_is_read() -> None:
    made = ResponseFunctionToolCall.model_validate({"type": "function_call", "call_id": "call_1", "name": "add", "arguments": '{"a": 1}'})
    call = RESPONSES.call(made.model_dump())
    assert (call.id, call.name, call.arguments) == ("call_1", "add", {"a": 1})


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_is_a_message_of_the_chat_api(result: str) -> None:
    message = CHAT.response(responded(RESULTS[result]))
    TypeAdapter(ChatCompletionToolMessageParam).validate_python(message, strict=True)
    TypeAdapter(str | list[ChatCompletionContentPartTextParam]).validate_python(message["content"])
    assert set(message) == {"role", "tool_call_id", "content"}


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_is_an_item_of_the_responses_api(result: str) -> None:
    item = RESPONSES.response(responded(RESULTS[result]))
    TypeAdapter(FunctionCallOutput).validate_python(item)
    assert set(item) == {"type", "call_id", "output"}
    for block in item["output"] if isinstance(item["output"], list) else []:
        assert set(block) == BLOCKS[block["type"]]


def check_names(names: list[str], definitions: list[dict[str, Any]]) -> None:
    assert len(set(names)) == len(definitions)
    for name, definition in zip(names, definitions, strict=True):
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
        assert name == definition["name"] or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", definition["name"])
