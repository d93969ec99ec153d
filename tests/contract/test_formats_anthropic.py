"""formats/ against the types of the `anthropic` package, on the definitions of all real servers of the tests."""

import re
from typing import Any

import pytest
from anthropic.types import DocumentBlockParam, ImageBlockParam, TextBlockParam, ToolParam, ToolResultBlockParam, ToolUseBlock
from pydantic import TypeAdapter
from tests.contract.json_schemas import check_is_whole, check_parameters
from tests.contract.recorded_definitions import recorded, usable
from tests.contract.results import RESULTS, responded

from tooltray.catalogue.formats import FORMATS

ANTHROPIC = FORMATS["anthropic"]
SERVERS = recorded()
BLOCKS: dict[str, Any] = {"text": TextBlockParam, "image": ImageBlockParam, "document": DocumentBlockParam}


@pytest.mark.parametrize("server", SERVERS)
def test_every_real_tool_is_a_tool(server: str) -> None:
    definitions = usable(SERVERS[server])
    tools = ANTHROPIC.tools(definitions)
    TypeAdapter(list[ToolParam]).validate_python(tools)
    assert len({tool["name"] for tool in tools}) == len(definitions)
    for tool in tools:
        assert set(tool) <= set(ToolParam.__annotations__)
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"])
        schema = tool["input_schema"]
        check_parameters(schema)
        assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in schema["properties"])


@pytest.mark.parametrize("server", SERVERS)
def test_a_real_schema_goes_whole(server: str) -> None:
    for definition, tool in zip(usable(SERVERS[server]), ANTHROPIC.tools(usable(SERVERS[server])), strict=True):
        check_is_whole(tool["input_schema"], definition["inputSchema"])


def test_a_tool_use_is_read() -> None:
    made = ToolUseBlock.model_validate({"id": "toolu_1", "type": "tool_use", "name": "add", "input": {"a": 1}})
    call = ANTHROPIC.call(made.model_dump())
    assert (call.id, call.name, call.arguments) == ("toolu_1", "add", {"a": 1})


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_is_a_tool_result(result: str) -> None:
    block = ANTHROPIC.response(responded(RESULTS[result]))
    TypeAdapter(ToolResultBlockParam).validate_python(block)
    assert set(block) <= set(ToolResultBlockParam.__annotations__)
    assert block["content"], "the API refuses text that is empty"
    for each in block["content"]:
        TypeAdapter(BLOCKS[each["type"]]).validate_python(each)
        assert set(each) <= set(BLOCKS[each["type"]].__annotations__)
        assert each.get("text", "x").strip()
