"""operations.py: the table, and its OpenAPI document."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator
from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool
from tests.fakes.verb_table import PART_OF, VERBS

from tooltray.carriers.rest.operations import document, operations, operations_at
from tooltray.foundation.verbs import options_of

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def program() -> ScriptedServer:
    return ScriptedServer(tool("read_file", description="Reads a file.", inputSchema=SCHEMA))


async def test_a_tool_is_called_and_its_result_comes_as_the_server_gave_it(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "fs"})
        answer = await hub.ask("POST", "/api/tools/call_tool", {"name": "read_file", "arguments": {"text": "hello"}})
        assert (answer.status, answer.json["content"][0]["text"]) == (200, "hello")
        answer = await hub.ask("POST", "/api/tools/call_tool", {"name": "nothing", "arguments": {}})
        assert answer.status == 422


async def test_a_models_call_goes_there_and_back_in_its_own_format(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "fs"})
        use = {"type": "tool_use", "id": "u1", "name": "read_file", "input": {"text": "hello"}}
        call = (await hub.ask("POST", "/api/formats/anthropic_tool_use_to_mcp_tool", {"toolUse": use})).json
        assert (call["name"], call["arguments"]) == ("read_file", {"text": "hello"})
        response = await hub.ask("POST", "/api/tools/run_tool_call", {"call": call})
        assert (response.status, response.json["outcome"]) == (200, "ok")
        block = (await hub.ask("POST", "/api/formats/mcp_response_to_anthropic", {"response": response.json})).json
        assert (block["type"], block["tool_use_id"]) == ("tool_result", "u1")
        item = (await hub.ask("POST", "/api/formats/mcp_response_to_openai", {"response": response.json, "api": "responses"})).json
        assert item["type"] == "function_call_output"


OF_THE_PERSON = {
    "set_api_enabled",
    "get_api_token",
    "rotate_api_token",
    "list_api_tokens",
    "create_api_token",
    "revoke_api_token",
    "get_confirmations",
    "answer_confirmation",
    "get_passphrase_state",
    "confirm_with_passphrase",
    "set_passphrase",
    "remove_passphrase",
    "get_mcp_servers",
    "get_approval_diff",
    "get_approval_form",
    "get_try_diff",
    "keep_approval_open",
    "tell_screen_lock",
}
"""Who gives tokens to programs, and confirms what they want; entries with their secrets; and what only the window knows."""
OWN_PATHS = {"add_mcp_server", "update_mcp_server", "remove_mcp_server", "restart_server", "get_server_entry"}


def test_every_verb_is_reached_but_those_that_are_the_persons_alone() -> None:
    assert {verb for verb in VERBS if options_of(VERBS[verb]).access in ("person", "window")} == OF_THE_PERSON
    assert {operation.name for operation in operations()} == set(VERBS) - OF_THE_PERSON


def test_a_verb_has_the_path_of_its_part_and_name_and_get_where_it_only_reads() -> None:
    derived = {each.name: each for each in operations() if each.segments[0] != "mcp"}
    assert derived.keys() == set(VERBS) - OF_THE_PERSON - OWN_PATHS
    assert {name: each.path for name, each in derived.items()} == {name: f"/{PART_OF[name]}/{name}" for name in derived}
    assert all(each.needed_scope == "read" for each in derived.values() if each.method == "GET")
    assert derived["get_tools"].method == "GET"
    assert derived["get_activity_entry"].method == "POST"  # a query does not tell a number from a text
    assert (derived["call_tool"].needed_scope, derived["set_secret"].needed_scope, derived["set_secret"].status) == ("call", "manage", 204)


def test_the_description_has_every_operation_and_all_that_it_points_to() -> None:
    whole = document()
    described = [(method.upper(), path) for path, methods in whole["paths"].items() for method in methods]
    own = {("GET", path) for path in ("/api/mcp", "/api/events", "/api/openapi.json")}
    assert set(described) == {(operation.method, f"/api{operation.path}") for operation in operations()} | own
    assert len(described) == len(operations()) + len(own)
    ids = [operation["operationId"] for methods in whole["paths"].values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)
    text = json.dumps(whole)
    wanted = {part.partition('"')[0] for part in text.split('"$ref": "#/components/schemas/')[1:]}
    assert wanted <= whole["components"]["schemas"].keys()
    for schema in whole["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_operation_says_what_it_does_and_how_it_may_fail() -> None:
    for path, methods in document()["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            assert {"401", "403", "404"} <= operation["responses"].keys(), path


def test_what_is_written_out_goes_before_a_name() -> None:
    operation, path = operations_at(("mcp", "servers", "default"))["GET"]
    assert (operation.name, path) == ("get_snapshot", {"name": "default"})
    assert operations_at(("mcp", "servers", "")) == {}
