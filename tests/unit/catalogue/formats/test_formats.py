"""__init__.py, anthropic.py, calls.py, gemini.py, openai.py: what all formats have in common."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from tests.contract.json_schemas import check_parameters
from tests.contract.results import RESULTS, responded
from tests.unit.catalogue.formats.test_gemini import SCHEMAS

from tooltray.catalogue.formats import FORMATS, find_format
from tooltray.foundation.errors import TooltrayError

CALLS: dict[str, Any] = {
    "openai_chat": lambda name, arguments, id: {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}},
    "openai_responses": lambda name, arguments, id: {"type": "function_call", "call_id": id, "name": name, "arguments": arguments},
    "anthropic": lambda name, arguments, id: {"type": "tool_use", "id": id, "name": name, "input": arguments},
    "gemini": lambda name, arguments, id: {"functionCall": {"id": id, "name": name, "args": arguments}},
}


def test_a_format_is_found_by_its_name() -> None:
    assert FORMATS.keys() >= CALLS.keys()
    assert all(find_format(name).name == name for name in FORMATS)


def test_a_format_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(TooltrayError) as raised:
        find_format("openai_x")
    assert "openai_x" in raised.value.problem.title
    assert "anthropic" in raised.value.problem.message


@pytest.mark.parametrize("name", CALLS)
def test_no_tools_are_no_tools(name: str) -> None:
    assert FORMATS[name].tools([]) == []


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("arguments", ['{"a": [1]}', {"a": [1]}, "{'a': [1],}"])
def test_a_call_is_read(name: str, arguments: Any) -> None:
    call = FORMATS[name].call(CALLS[name]("add", arguments, "id-1"))
    assert (call.id, call.name, call.arguments, call.server) == ("id-1", "add", {"a": [1]}, "")


@pytest.mark.parametrize("name", CALLS)
def test_a_call_without_an_id_gets_one_of_its_own(name: str) -> None:
    calls = [FORMATS[name].call(CALLS[name]("add", {}, id)) for id in (None, "")]
    assert calls[0].id
    assert calls[0].id != calls[1].id


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("tool", [None, "", 5])
def test_a_call_of_no_tool_is_refused(name: str, tool: Any) -> None:
    with pytest.raises(TooltrayError, match=r"this is not a .* it names no tool"):
        FORMATS[name].call(CALLS[name](tool, {}, "1"))


@pytest.mark.parametrize("name", CALLS)
def test_arguments_that_are_no_object_are_refused(name: str) -> None:
    with pytest.raises(TooltrayError, match="the arguments for 'add' are not a JSON object"):
        FORMATS[name].call(CALLS[name]("add", "[1]", "1"))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("openai_chat", {"id": "1", "type": "custom", "custom": {}}),
        ("openai_chat", {"function": "add"}),
        ("openai_responses", {"type": "message"}),
        ("openai_responses", {"name": "add"}),
        ("anthropic", {"type": "text", "text": "x"}),
        ("anthropic", {}),
        ("gemini", {"text": "x"}),
        ("gemini", {"functionCall": "add"}),
    ],
)
def test_what_is_no_call_is_refused(name: str, call: dict[str, Any]) -> None:
    with pytest.raises(TooltrayError, match="this is not a "):
        FORMATS[name].call(call)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("result", RESULTS)
def test_a_response_is_json_and_says_whose_call_it_answers(name: str, result: str) -> None:
    given = copy.deepcopy(RESULTS[result])
    found = FORMATS[name].response(responded(given))
    assert '"call_1"' in json.dumps(found)
    assert given == RESULTS[result], "what was given has been changed"


@pytest.mark.parametrize("name", CALLS)
def test_an_event_is_no_response(name: str) -> None:
    with pytest.raises(TooltrayError, match="has no result"):
        FORMATS[name].response(responded(None))


@given(SCHEMAS)
def test_whatever_a_server_writes_becomes_an_object_with_properties(schema: Any) -> None:
    before = copy.deepcopy(schema)
    definitions = [{"name": "add", "inputSchema": schema}]
    for tool in FORMATS["openai_responses"].tools(definitions):
        assert tool["parameters"]["type"] == "object"
    (tool,) = FORMATS["anthropic"].tools(definitions)
    assert all(FORMATS["anthropic"].argument_names.fits(name) for name in tool["input_schema"]["properties"])
    assert repr(schema) == repr(before), "what was given has been changed"


def test_hundreds_of_arguments_go_whole() -> None:
    properties = {f"p{n}": {"type": "string", "description": f"The {n}th"} for n in range(200)}
    for name in ("openai_chat", "openai_responses", "anthropic"):
        (tool,) = FORMATS[name].tools([{"name": "add", "inputSchema": {"type": "object", "properties": properties}}])
        schema = tool.get("function", tool).get("parameters") or tool["input_schema"]
        check_parameters(schema)
        assert schema["properties"] == properties
