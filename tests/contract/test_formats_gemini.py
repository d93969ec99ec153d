"""formats/ against the types of the `google-genai` package, on the definitions of all real servers of the tests."""

import json
import re

import pytest
from google.genai import types
from tests.contract.gemini_shape import check_tools
from tests.contract.recorded_definitions import recorded, usable
from tests.contract.results import RESULTS, responded

from tooltray.catalogue.formats import FORMATS

GEMINI = FORMATS["gemini"]
SERVERS = recorded()


@pytest.mark.parametrize("server", SERVERS)
def test_every_real_tool_is_a_function(server: str) -> None:
    definitions = usable(SERVERS[server])
    functions = check_tools(GEMINI.tools(definitions))
    assert len({each.name for each in functions}) == len(definitions)
    assert all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", each.name or "") for each in functions)


@pytest.mark.parametrize("server", SERVERS)
def test_every_argument_of_a_real_tool_is_there(server: str) -> None:
    for definition, function in zip(usable(SERVERS[server]), check_tools(GEMINI.tools(usable(SERVERS[server]))), strict=True):
        schema = definition["inputSchema"]
        found = function.parameters.properties if function.parameters and function.parameters.properties else {}
        assert set(found) == set(schema.get("properties", {}))
        needed = function.parameters.required if function.parameters else None
        assert set(needed or ()) == set(schema.get("required", ())) & set(found)


def test_a_function_call_is_read() -> None:
    made = types.FunctionCall(id="1", name="add", args={"a": 1})
    for shown in (made.model_dump(), types.Part(function_call=made).model_dump(), types.Part(function_call=made).model_dump(by_alias=True)):
        call = GEMINI.call(shown)
        assert (call.id, call.name, call.arguments) == ("1", "add", {"a": 1})


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_is_a_function_response(result: str) -> None:
    part = types.Part.model_validate(GEMINI.response(responded(RESULTS[result])))
    found = part.function_response
    assert found
    assert found.name == "add"
    assert found.response
    for each in found.parts or []:
        assert each.inline_data
        assert json.loads(each.model_dump_json(by_alias=True, exclude_none=True))["inlineData"]["data"]
