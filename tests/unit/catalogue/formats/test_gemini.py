"""gemini.py"""

import re
from typing import Any

from tests.contract.results import PIXEL, RESULTS, responded

from tooltray.catalogue.formats.calls import MADE_UP
from tooltray.catalogue.formats.gemini import Gemini

GEMINI = Gemini()
NAME = {"type": "STRING"}


def response(result: str, **members: Any) -> Any:
    return GEMINI.response(responded(RESULTS[result], **members))["functionResponse"]


def test_all_tools_are_functions_of_one() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    assert GEMINI.tools([{"name": "add", "description": "Adds", "inputSchema": schema}, {"name": "list", "title": "Lists"}]) == [
        {
            "functionDeclarations": [
                {
                    "name": "add",
                    "description": "Adds",
                    "parameters": {"type": "OBJECT", "properties": {"a": NAME}, "required": ["a"], "description": "No other properties."},
                },
                {"name": "list", "description": "Lists"},
            ]
        }
    ]


def test_a_function_without_arguments_says_what_its_schema_said() -> None:
    ((tool,),) = [
        each["functionDeclarations"] for each in GEMINI.tools([{"name": "a", "description": "A", "inputSchema": {"description": "B"}}])
    ]
    assert tool == {"name": "a", "description": "A\nB"}


def test_odd_names_are_changed_everywhere() -> None:
    schema = {"properties": {"城市": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "2nd": True}, "required": ["城市"]}
    (tool,) = GEMINI.tools([{"name": "2fast", "inputSchema": schema}])
    (function,) = tool["functionDeclarations"]
    assert re.fullmatch("tool_2fast_[0-9a-f]{8}", function["name"])
    city, second = function["parameters"]["properties"]
    assert re.fullmatch("argument_[0-9a-f]{8}", city)
    assert re.fullmatch("argument_2nd_[0-9a-f]{8}", second)
    assert function["parameters"]["required"] == [city]
    told = "The tool calls this '城市'."
    assert function["parameters"]["properties"][city] == {
        "anyOf": [{"type": "STRING", "description": told}, {"type": "NUMBER", "description": told}]
    }


def test_a_call_is_read_from_the_part_or_from_the_call_itself() -> None:
    call = {"name": "add", "args": {"a": 1}, "id": "1"}
    for shown in (call, {"functionCall": call}, {"function_call": call, "text": None}):
        assert GEMINI.call(shown).arguments == {"a": 1}
    assert GEMINI.call({"name": "add"}).arguments == {}


def test_a_result_is_an_object_with_media_beside_it() -> None:
    assert response("image") == {
        "name": "add",
        "id": "call_1",
        "response": {"result": "here"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": PIXEL}}],
    }


def test_media_alone_are_pointed_at() -> None:
    found = GEMINI.response(responded({"content": RESULTS["image"]["content"][1:]}))["functionResponse"]
    assert found["response"] == {"result": "(The result is shown beside this.)"}
    assert len(found["parts"]) == 1


def test_an_error_stands_under_its_own_name() -> None:
    assert response("error")["response"] == {"error": "no such file"}


def test_an_id_that_was_made_up_is_not_told_to_the_api() -> None:
    assert "id" not in response("text", id=GEMINI.call({"name": "add"}).id)
    assert "id" not in response("text", id="")
    assert GEMINI.call({"name": "add"}).id.startswith(MADE_UP)


def test_a_response_names_the_function_as_the_api_knows_it() -> None:
    (tool,) = GEMINI.tools([{"name": "天气"}])
    assert response("text", tool="天气")["name"] == tool["functionDeclarations"][0]["name"]
