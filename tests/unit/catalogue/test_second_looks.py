"""second_looks.py, call_routes.py, prompt_manager.py: what appears unannounced is found, and nonsense does not list in a loop"""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts, one_server, refusal_of, settled, started, text_of, two_servers
from tests.fakes.offering import OfferingServer, offer_parts, prompt, started_offers, template
from tests.fakes.scripted_server import Copy, ScriptedServer, never, tool

from tooltray.catalogue.offer import TOOLS
from tooltray.catalogue.second_looks import MOST_NAMES, LookPatience
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import PromptListChanged, ToolListChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.envelope import NOT_DELIVERED, Envelope

AT_ONCE = {"look_patience": LookPatience(within_s=20.0, pause_s=0.0)}
RARELY = {"look_patience": LookPatience(within_s=0.05, name_again_after_s=600.0, pause_s=600.0)}
ALWAYS = {"look_patience": LookPatience(within_s=20.0, name_again_after_s=0.0, pause_s=0.0)}


def silent(*tools: dict[str, Any]) -> ScriptedServer:
    """A server that does not announce that its tools are others."""
    program = ScriptedServer(*tools)

    def greet(copy: Copy, params: Any) -> Any:
        return {**copy.usual("initialize")(copy, params), "capabilities": {"tools": {}}}  # type: ignore[dict-item]

    program.handlers["initialize"] = greet
    return program


async def running(parts: HubParts, *names: str) -> None:
    """Servers run, and a client has listed their tools."""
    await started(parts, *names)
    await parts.listed()


# tools


async def test_a_tool_that_appears_unannounced_is_called_and_then_listed_and_told(tmp_path: Path) -> None:
    program = silent(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        told = len(parts.heard.of(ToolListChanged))
        program.tools.append(tool("late"))
        assert await text_of(parts, "late", arguments={"text": "hi"}) == "hi"
        assert len(parts.heard.of(ToolListChanged)) == told + 1
        assert await parts.listed() == ["late", "t"]


async def test_a_server_that_announces_its_changes_is_listed_again_for_names_that_begin_with_its_own(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("x")), ScriptedServer(tool("x"))
    async with hub_parts(tmp_path, **two_servers(first, second), waits=AT_ONCE) as parts:
        await running(parts, "a", "b")
        first.tools.append(tool("y"))
        second.tools.append(tool("y"))
        assert await refusal_of(parts, "y") == "Unknown tool: y"
        assert [first.count("tools/list"), second.count("tools/list")] == [1, 1]
        assert await refusal_of(parts, "b_z") == "Unknown tool: b_z"
        assert [first.count("tools/list"), second.count("tools/list")] == [1, 2]


def lose_session(copy: Copy) -> Envelope:
    """Ends a connection whose server has forgotten its session: the request was never taken."""
    copy.has_expired = True
    copy.die()
    return NOT_DELIVERED


async def test_a_new_tool_is_found_where_the_session_is_lost_with_the_look(tmp_path: Path) -> None:
    program = silent(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        old = program.copy
        program.handlers["tools/list"] = lambda copy, params: lose_session(copy) if copy is old else copy.usual("tools/list")(copy, params)
        program.tools.append(tool("late"))
        assert await text_of(parts, "late", arguments={"text": "hi"}) == "hi"
        assert program.copy is not old


async def test_a_new_tool_of_a_server_that_is_being_started_again_is_waited_for(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        go_on = program.hold("initialize")
        program.tools.append(tool("late"))
        program.copy.die()
        await program.request("initialize", count=2)
        call = asyncio.create_task(text_of(parts, "late", arguments={"text": "hi"}))
        await settled()
        assert not call.done()
        go_on.set()
        assert await call == "hi"


async def test_a_new_tool_of_a_server_elsewhere_is_found_whatever_it_announces(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        server = parts.servers.get("s")
        server.config = server.config.model_copy(update={"type": "http"})
        program.tools.append(tool("late"))
        assert await text_of(parts, "late", arguments={"text": "hi"}) == "hi"


async def test_a_tool_that_was_taken_away_and_is_back_is_found_at_its_server_that_is_started_for_it(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), tool("back"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE | {"empty_confirmed_after_s": 0.0}) as parts:
        await running(parts, "s")
        del program.tools[1]
        program.copy.notify("notifications/tools/list_changed")
        await parts.heard.until(lambda: parts.tools.tool_count("s") == 1)
        assert await parts.listed() == ["t"]
        await parts.servers.get("s").stop(then=ServerState.ON_DEMAND)
        program.tools.append(tool("back"))
        assert await text_of(parts, "back", arguments={"text": "hi"}) == "hi"


async def test_a_server_that_cannot_start_says_so_to_a_call_of_a_tool_that_it_had(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), tool("gone"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        del program.tools[1]
        program.copy.notify("notifications/tools/list_changed")
        await parts.heard.until(lambda: parts.tools.tool_count("s") == 1)
        await parts.servers.get("s").stop(then=ServerState.ON_DEMAND)
        program.fails_to_open = TooltrayError("out of cheese")
        assert "out of cheese" in await refusal_of(parts, "gone")


async def test_a_tool_of_a_server_that_had_given_up_and_is_started_again_is_waited_for(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.fails_to_open = TooltrayError("its key is missing")
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        server = parts.servers.get("s")
        server.start()
        await parts.heard.until(lambda: server.state is ServerState.ERROR)
        program.fails_to_open = None
        go_on = program.hold("initialize")
        server.start()
        call = asyncio.create_task(text_of(parts, "t", arguments={"text": "hi"}))
        await program.request("initialize")
        await settled()
        assert not call.done()
        go_on.set()
        assert await call == "hi"


@pytest.mark.parametrize("settings", [{"disabledTools": ["late"]}, {"toolFilter": {"mode": "allow", "list": ["t"]}}])
async def test_a_tool_that_is_switched_off_is_not_looked_for(tmp_path: Path, settings: dict[str, Any]) -> None:
    program = silent(tool("t"), tool("late"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        await parts.conf.set_server("s", {"command": "program", "autoApprove": ["all"], **settings})
        assert await refusal_of(parts, "late") == "the tool 'late' is disabled in Tooltray"
        assert program.count("tools/list") == 1


async def test_nothing_is_looked_for_or_started_while_everything_is_paused(tmp_path: Path) -> None:
    program = silent(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        await parts.conf.set_enabled(False)
        assert await refusal_of(parts, "late") == "Unknown tool: late"
        assert program.count("tools/list") == 1


async def test_nothing_is_looked_for_at_a_server_that_a_session_has_not(tmp_path: Path) -> None:
    program = silent(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), settings={"profiles": {"p": {"servers": []}}}, waits=ALWAYS) as parts:
        await running(parts, "s")
        client = parts.client()
        client.state.profile = "p"
        program.tools = [tool("late")]
        for name in ("late", "t"):
            assert await refusal_of(parts, name, client=client) == f"Unknown tool: {name}"
        program.copy.notify("notifications/tools/list_changed")
        await parts.heard.until(lambda: "t" not in parts.tools.routes("s"))
        assert await refusal_of(parts, "t", client=client) == "Unknown tool: t"
        assert program.count("tools/list") == 2


async def test_a_session_with_a_copy_of_its_own_finds_what_that_has_for_it_alone(tmp_path: Path) -> None:
    program = silent(tool("t"), tool("late"))
    async with hub_parts(tmp_path, **one_server(program, isolation="session"), waits=AT_ONCE | {"present_for_s": 0.0}) as parts:
        await running(parts, "s")
        del program.tools[1]
        await parts.servers.restart("s")
        await parts.heard.until(lambda: parts.tools.tool_count("s") == 1)
        program.handlers["tools/list"] = lambda copy, params: {
            "tools": program.tools + ([] if copy is program.copies.all[1] else [tool("late")])
        }
        program.calls["late"] = lambda copy, params: {"content": [{"type": "text", "text": "mine"}]}
        assert await text_of(parts, "late") == "mine"


# how often


async def test_the_same_name_is_looked_for_once_in_a_while(tmp_path: Path) -> None:
    program = silent(tool("t"))
    patience = {"look_patience": LookPatience(within_s=20.0, name_again_after_s=600.0, pause_s=0.0)}
    async with hub_parts(tmp_path, **one_server(program), waits=patience) as parts:
        await running(parts, "s")
        for _ in range(3):
            assert await refusal_of(parts, "nonsense") == "Unknown tool: nonsense"
        assert program.count("tools/list") == 2


async def test_ever_new_nonsense_does_not_make_the_hub_list_in_a_loop_and_is_answered(tmp_path: Path) -> None:
    program = silent(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), waits=RARELY) as parts:
        await running(parts, "s")
        calls = [refusal_of(parts, f"nonsense_{number}") for number in range(50)]
        assert await asyncio.gather(*calls) == [f"Unknown tool: nonsense_{number}" for number in range(50)]
        assert program.count("tools/list") == 1  # it has just been listed


async def test_calls_that_come_together_share_one_look(tmp_path: Path) -> None:
    program = silent(tool("t"))
    async with hub_parts(tmp_path, **one_server(program), waits=AT_ONCE) as parts:
        await running(parts, "s")
        go_on = program.hold("tools/list")
        program.tools += [tool(f"late_{number}") for number in range(5)]
        calls = [asyncio.create_task(text_of(parts, f"late_{number}", arguments={"text": "hi"})) for number in range(5)]
        await program.request("tools/list", count=2)
        go_on.set()
        assert await asyncio.gather(*calls) == ["hi"] * 5
        assert program.count("tools/list") == 2


async def test_an_unknown_name_does_not_wait_for_a_server_that_does_not_list(tmp_path: Path) -> None:
    program = silent(tool("t"))
    patience = {"look_patience": LookPatience(within_s=0.02, pause_s=0.0)}
    async with hub_parts(tmp_path, **one_server(program), waits=patience) as parts:
        await running(parts, "s")
        program.handlers["tools/list"] = never
        assert await refusal_of(parts, "late") == "Unknown tool: late"


async def test_only_so_many_names_are_remembered(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(silent()), waits=RARELY) as parts:
        looks = parts.looks
        assert looks.is_due(TOOLS, "first")
        assert not looks.is_due(TOOLS, "first")
        assert looks.is_due(TOOLS, "first", "s")
        for number in range(MOST_NAMES):
            assert looks.is_due(TOOLS, f"other {number}")
        assert looks.is_due(TOOLS, "first")


async def test_the_hubs_own_server_is_never_listed_again(parts: HubParts) -> None:
    await started(parts, "hub")
    await parts.listed()
    assert await refusal_of(parts, "hub_nonsense") == "Unknown tool: hub_nonsense"
    assert list(parts.looks.likely(TOOLS, "hub_nonsense", is_reached=lambda server: True)) == []


# prompts and templates


async def test_a_prompt_that_appears_unannounced_is_found(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    async with started_offers(tmp_path, {"s": program}, **AT_ONCE) as parts:
        assert await parts.prompt_names() == ["p"]
        assert program.prompts is not None
        program.prompts.append(prompt("late"))
        assert (await parts.ask("prompts/get", name="late"))["result"]["description"] == '["late", null]'
        assert (await parts.ask("prompts/get", name="nonsense"))["error"]["message"] == "Unknown prompt: nonsense"


async def test_a_prompt_that_was_listed_since_the_last_list_that_a_client_saw_is_found(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    async with started_offers(tmp_path, {"s": program}, **RARELY) as parts:
        assert await parts.prompt_names() == ["p"]
        assert program.prompts is not None
        program.prompts.append(prompt("new"))
        program.copy.notify("notifications/prompts/list_changed")
        await parts.heard.event(PromptListChanged, count=2)
        assert (await parts.ask("prompts/get", name="new"))["result"]["description"] == '["new", null]'


async def test_the_prompts_of_a_working_server_in_the_place_of_a_broken_one_are_got_without_a_list(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    program.handlers["initialize"], works = lambda copy, params: copy.die(), program.handlers["initialize"]
    async with offer_parts(tmp_path, {"s": program}, **AT_ONCE) as parts:
        parts.servers.get("s").start()
        await parts.heard.state("s", ServerState.ERROR)
        old = parts.parts.client()
        assert await parts.prompt_names() == []
        assert "error" in await parts.ask("prompts/get", name="p", client=old)
        program.handlers["initialize"] = works
        go_on = program.hold("prompts/list")
        await parts.parts.conf.set_server("s", {"command": "s", "args": ["mended"], "autoApprove": ["all"]})
        await program.request("prompts/list")
        for client in (old, parts.parts.client()):
            got = asyncio.create_task(parts.ask("prompts/get", name="p", client=client))
            await settled()
            go_on.set()
            assert (await got)["result"]["description"] == '["p", null]'


async def test_a_template_that_appears_unannounced_is_completed(tmp_path: Path) -> None:
    program = OfferingServer(templates=[])
    program.handlers["initialize"] = lambda copy, params: {
        **copy.usual("initialize")(copy, params),  # type: ignore[dict-item]
        "capabilities": {"resources": {}},
    }
    async with started_offers(tmp_path, {"s": program}, **AT_ONCE) as parts:
        program.templates = [template("x://{i}")]
        ref = {"type": "ref/resource", "uri": "x://{i}"}
        reply = await parts.ask("completion/complete", ref=ref, argument={"name": "i", "value": ""})
        assert "x://{i}" in reply["result"]["completion"]["values"][0]
        ref = {"type": "ref/resource", "uri": "y://{i}"}
        reply = await parts.ask("completion/complete", ref=ref, argument={"name": "i", "value": ""})
        assert reply["error"]["message"] == "Unknown resource: y://{i}"
