"""api.py, own_calls.py, through McpPresenter's verbs"""

from pathlib import Path

import pytest
from tests.fakes.everything_server import ready, server_with
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, error, text

from tooltray.foundation.events import PromptListChanged, ToolCallResult, ToolListChanged
from tooltray.foundation.snapshots.tools import MCPToolCall
from tooltray.gateway.calls.api import is_of

NO_SERVER = "server 'gone' not found"


async def test_tools_are_given_as_definitions_and_as_snapshots(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.presenter.start_server("hub")
    definitions = await parts.presenter.get_all_tool_definitions()
    assert [each["name"] for each in definitions] == ["drop", "get_it", "list_servers"]
    assert [each["name"] for each in await parts.presenter.get_all_tool_definitions("hub")] == ["list_servers"]
    snapshots = await parts.presenter.get_tools("s")
    assert [(each.name, each.category, each.description) for each in snapshots] == [("get_it", "read", "Gets it"), ("drop", "write", "")]
    assert len(await parts.presenter.get_tools()) == 3
    assert (await refusal(parts.presenter.get_tools("gone"))).startswith(NO_SERVER)


async def test_a_new_server_of_a_project_has_no_tools_before_it_is_trusted(parts: HubParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts.proposals, "is_new", {"new"}.__contains__)
    assert await parts.presenter.get_tools("new") == []


async def test_a_tool_is_switched_off_and_on_by_its_own_name(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    for _ in range(2):
        await parts.presenter.set_tool_enabled("s", "drop", False)
    assert parts.settings_on_disk["mcpServers"]["s"]["disabledTools"] == ["drop"]
    assert await parts.listed() == ["get_it"]
    await parts.presenter.set_tool_enabled("s", "drop", True)
    assert await parts.listed() == ["drop", "get_it"]


async def test_a_tool_is_called_by_the_name_that_clients_see(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.start_server("s")
    assert await parts.presenter.call_tool("get_it", {"text": "hi"}) == text("hi")
    [call] = parts.heard.of(ToolCallResult)
    assert (call.response.client, call.response.outcome) == ("tooltray", "ok")


async def test_a_call_that_fails_says_why(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = lambda copy, params: error(-1, "no such thing")
    await parts.presenter.start_server("s")
    assert await refusal(parts.presenter.call_tool("get_it", {})) == "'get_it' could not be called: no such thing"
    assert await refusal(parts.presenter.call_tool("unknown", {})) == "Tool 'unknown' not found. See which there are: tooltray tools list"
    await parts.presenter.set_mcp_enabled(False)
    assert "Tooltray is paused" in await refusal(parts.presenter.call_tool("get_it", {}))


async def test_a_model_is_told_to_ask_the_user_and_the_user_what_to_do(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    await parts.presenter.stop_server("s")
    response = await parts.presenter.run_tool_call(MCPToolCall("1", "get_it", {}))
    assert response.result
    assert response.result["content"][0]["text"].endswith("Ask the user to look at it in Tooltray")
    assert (await refusal(parts.presenter.call_tool("get_it", {}))).endswith("Start it in Tooltray")


async def test_names_can_be_forgotten_and_clients_hear_that_lists_change(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("program")}, programs={"program": server_with()}) as parts:
        await ready(parts)
        assert await parts.listed() == ["t"]
        parts.heard.all.clear()
        await parts.presenter.reset_tool_names()
        assert [event.server for event in parts.heard.of(ToolListChanged)] == ["s"]
        assert [event.server for event in parts.heard.of(PromptListChanged)] == ["s"]
        assert await parts.listed() == ["t"]


async def test_an_answer_to_no_question_is_refused(parts: HubParts) -> None:
    assert "has ended" in await refusal(parts.presenter.answer_elicitation("gone", "accept", {}))


@pytest.mark.parametrize(
    ("server", "owner", "expected"),
    [(None, None, True), (None, ("s", "x"), True), ("s", ("s", "x"), True), ("s", ("t", "x"), False), ("s", None, False)],
)
def test_a_definition_belongs_to_its_server_and_any_will_do_where_none_is_asked_for(
    server: str | None, owner: tuple[str, str] | None, expected: bool
) -> None:
    assert is_of(server, owner) is expected
