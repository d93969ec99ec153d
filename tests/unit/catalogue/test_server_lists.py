"""server_lists.py, as tools and offers use it"""

import asyncio
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import BARELY, FOR_EVER, hub_parts, one_server, settled, two_servers
from tests.fakes.lazy_hub import ready, ready_parts
from tests.fakes.offering import OfferingServer, all_kinds, keys, news, of_all, offer_parts, prompt, resource, started_offers, template
from tests.fakes.scripted_server import ScriptedServer, error, never, text, tool

from tooltray.catalogue import tool_manager
from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.list_pages import MAX_DEFINITIONS
from tooltray.catalogue.list_times import AT_ONCE
from tooltray.catalogue.offer import KINDS, PROMPTS, RESOURCES
from tooltray.catalogue.server_lists import ERROR_LISTED_FOR_S, READ_AT_ONCE
from tooltray.catalogue.tool_routes import OfferedTools, offered_tools
from tooltray.foundation.events import ConfigChanged, ProblemReported, PromptListChanged, ResourceListChanged, ToolListChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.upstream.managed_server import ManagedServer, ServerStateChanged

# listing


async def test_what_is_held_back_of_a_list_shows_on_the_servers_card(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("a")])
    async with started_offers(tmp_path, {"s": program}) as parts:
        shown: list[ServerStateChanged] = []
        parts.parts.bus.subscribe(ServerStateChanged, shown.append)
        for prompts, is_shown in (([prompt("a"), {"name": 5}], True), ([prompt("b"), {"name": 5}], False), ([prompt("b")], True)):
            shown.clear()
            program.prompts = prompts
            await parts.parts.other_lists.look(parts.servers.get("s"), [PROMPTS])
            assert bool(shown) is is_shown


async def test_a_change_during_a_listing_is_never_overwritten_by_what_was_asked_before(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    answers: list[asyncio.Future[Any]] = []

    async def answer(copy: Any, params: Any) -> Any:
        answers.append(asyncio.get_running_loop().create_future())
        return await answers[-1]

    program.handlers["prompts/list"] = answer
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.servers.start("s")
        await program.request("prompts/list")
        program.copy.notify("notifications/prompts/list_changed")
        await settled()
        assert len(answers) == 1
        answers[0].set_result({"prompts": [prompt("old")]})
        await program.request("prompts/list", count=2)
        assert not parts.offers.listed(parts.servers.get("s")).is_set()
        answers[1].set_result({"prompts": [prompt("new")]})
        await parts.heard.event(PromptListChanged)
        assert keys(parts, PROMPTS) == ["new"]
        assert len(news(parts)) == 1


async def test_a_server_that_changes_its_lists_all_the_time_is_listed_less_and_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("FIRST_PAUSE_S", "LONGEST_PAUSE_S", "CALM_AFTER_S"):
        monkeypatch.setattr(f"tooltray.catalogue.list_times.{pause}", 3600.0)
    program = OfferingServer(prompts=[prompt("p")])
    async with started_offers(tmp_path, {"s": program}):

        async def answer(copy: Any, params: Any) -> Any:
            program.copy.notify("notifications/prompts/list_changed")
            return {"prompts": [prompt(f"p{program.count('prompts/list')}")]}

        await settled()
        begun = program.count("prompts/list")
        program.handlers["prompts/list"] = answer
        program.copy.notify("notifications/prompts/list_changed")
        await program.request("prompts/list", count=begun + AT_ONCE)
        await settled()
        assert program.count("prompts/list") <= begun + AT_ONCE + 1  # whether the first one counts depends on how it came


async def test_a_copy_that_dies_while_it_lists_is_followed_by_the_next_one(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    deaths = iter([True])
    program.handlers["prompts/list"] = lambda copy, params: copy.die() if next(deaths, False) else {"prompts": program.prompts}
    async with offer_parts(tmp_path, {"s": program}) as parts:
        parts.servers.get("s").start()
        await parts.heard.event(PromptListChanged)
        assert await parts.prompt_names() == ["p"]


async def test_a_sudden_empty_list_is_believed_only_if_it_still_is_empty_after_a_while(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    async with started_offers(tmp_path, {"s": program}, empty_confirmed_after_s=0.01) as parts:
        lists = iter([[], [prompt("q")]])
        program.handlers["prompts/list"] = lambda copy, params: {"prompts": next(lists, [])}
        program.copy.notify("notifications/prompts/list_changed")
        await parts.heard.event(PromptListChanged, count=2)
        assert keys(parts, PROMPTS) == ["q"]
        program.copy.notify("notifications/prompts/list_changed")
        await parts.heard.event(PromptListChanged, count=3)
        assert keys(parts, PROMPTS) == []


async def test_a_long_list_is_read_whole_and_one_that_changes_while_it_is_read_is_listed_once_more(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(4 * READ_AT_ONCE)]
    program = OfferingServer(prompts=[prompt(name) for name in names])
    async with started_offers(tmp_path, {"s": program}) as parts:
        assert keys(parts, PROMPTS) == names
        for turns in range(1, AT_ONCE // 2):  # two changes in each
            assert program.prompts is not None
            program.prompts[0] = prompt(f"new {turns}")
            count = program.count("prompts/list")
            program.copy.notify("notifications/prompts/list_changed")
            await program.request("prompts/list", count=count + 1)
            for _ in range(turns):
                await asyncio.sleep(0)
            program.copy.notify("notifications/prompts/list_changed")
            await program.request("prompts/list", count=count + 2)
            await parts.heard.until(lambda turns=turns: keys(parts, PROMPTS)[0] == f"new {turns}")


@pytest.mark.parametrize(("count", "is_beside"), [(READ_AT_ONCE, False), (READ_AT_ONCE + 1, True)])
async def test_a_long_list_of_tools_is_made_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, is_beside: bool
) -> None:
    made_in: list[threading.Thread] = []

    def noted(managed: ManagedServer, definitions: Sequence[ToolDefinition]) -> OfferedTools:
        made_in.append(threading.current_thread())
        return offered_tools(managed, definitions)

    monkeypatch.setattr(tool_manager, "offered_tools", noted)
    async with ready_parts(tmp_path, "s", **one_server(ScriptedServer(*(tool(f"t{number}") for number in range(count))))) as parts:
        assert len(await parts.listed()) == count
        assert (made_in[-1] is not threading.main_thread()) is is_beside


async def test_one_list_that_fails_costs_neither_the_others_nor_what_was_known(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        program.handlers["resources/list"] = lambda copy, params: error(-32603, "not ready")
        program.templates = [template("y://{i}")]
        program.copy.notify("notifications/resources/list_changed")
        await parts.heard.event(ResourceListChanged, count=3)
        assert of_all(parts) == [["p"], ["x://1"], ["y://{i}"]]
        assert "the resources of 's' could not be listed: it answered resources/list with an error: not ready" in caplog.text


async def test_what_else_changes_of_a_server_is_no_reason_to_list_it(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        await parts.parts.conf.set_server("s", {"command": "s", "autoApprove": []})
        await settled()
        assert [program.count(kind.method) for kind in KINDS] == [1, 1, 1]


async def test_a_server_that_declares_no_tools_is_asked_for_them_all_the_same_and_for_nothing_else(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["initialize"] = lambda copy, params: {**copy.usual("initialize")(copy, params), "capabilities": {}}
    async with hub_parts(tmp_path, **one_server(program), waits=FOR_EVER) as parts:
        parts.servers.get("s").start()
        assert await parts.listed() == ["t"]
        await parts.offers.wait_for_first_listings()
        assert program.count("prompts/list") == 0


@pytest.mark.parametrize("silent", ["tools/list", "prompts/list"])
async def test_neither_tools_nor_all_else_wait_for_the_lists_of_the_other(tmp_path: Path, silent: str) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    program.tools = [tool("t")]
    program.handlers[silent] = never
    async with offer_parts(tmp_path, {"s": program}, **FOR_EVER) as parts:
        parts.servers.get("s").start()
        await program.request(silent)
        if silent == "tools/list":
            assert await parts.prompt_names() == ["p"]
        else:
            await parts.heard.event(ToolListChanged)
            assert await parts.parts.listed() == ["t"]


# waiting


async def test_the_first_list_waits_for_servers_that_were_never_listed(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    go_on = program.hold("prompts/list")
    async with offer_parts(tmp_path, {"s": program}, **FOR_EVER) as parts:
        parts.servers.get("s").start()
        listing = asyncio.create_task(parts.prompt_names())
        await program.request("prompts/list")
        assert not listing.done()
        go_on.set()
        assert await listing == ["p"]


async def test_the_first_list_waits_a_bounded_time_and_not_a_second_time(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    go_on = program.hold("initialize")
    async with offer_parts(tmp_path, {"s": program}, **BARELY) as parts:
        parts.servers.get("s").start()
        assert await parts.prompt_names() == []
        again = asyncio.create_task(parts.prompt_names())
        await settled()
        assert again.done()
        go_on.set()
        await parts.heard.event(PromptListChanged)
        assert await parts.prompt_names() == ["p"]


async def test_nobody_waits_for_a_server_that_is_given_up_or_cannot_list(tmp_path: Path) -> None:
    dying, silent = OfferingServer(), OfferingServer(prompts=[])
    dying.handlers["initialize"] = lambda copy, params: copy.die()
    silent.handlers["prompts/list"] = lambda copy, params: error(-32603, "no")
    async with offer_parts(tmp_path, {"dying": dying, "silent": silent}, **FOR_EVER) as parts:
        for server in parts.servers:
            server.start()
        assert await parts.prompt_names() == []


async def test_nobody_waits_for_a_server_that_is_removed_meanwhile(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    program.handlers["initialize"] = never
    async with offer_parts(tmp_path, {"s": program}, **FOR_EVER) as parts:
        parts.servers.get("s").start()
        await program.request("initialize")
        listing = asyncio.create_task(parts.prompt_names())
        await asyncio.sleep(0)
        await parts.parts.conf.remove_server("s")
        assert await listing == []


async def test_a_list_of_one_server_does_not_wait_for_another(tmp_path: Path) -> None:
    slow, quick = ScriptedServer(tool("slow")), ScriptedServer(tool("quick"))
    slow.handlers["initialize"] = never
    async with hub_parts(tmp_path, **two_servers(slow, quick), waits=FOR_EVER) as parts:
        parts.servers.get("a").start()
        await parts.servers.start("b")
        assert await parts.listed("b") == ["quick"]


# on disk


class SlowDisk(CatalogueStore):
    """Saves when a test lets it."""

    may_save = threading.Event()

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.may_save.wait(PATIENCE_S)
        super().save(*args, **kwargs)


async def test_who_waits_for_a_list_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    SlowDisk.may_save.clear()
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **one_server(program), waits=FOR_EVER, catalogues_type=SlowDisk) as parts:
        parts.servers.get("s").start()
        listing = asyncio.create_task(parts.listed())
        await program.request("tools/list")
        go_on.set()
        assert await listing == ["t"]
        assert list(tmp_path.glob("catalogue/*")) == []
        SlowDisk.may_save.set()


async def test_who_looks_waits_for_the_lists_that_it_wants_and_for_no_others(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        lists, server = parts.parts.other_lists, parts.servers.get("s")
        go_on = program.hold("resources/list")
        looks = [asyncio.create_task(lists.look(server, [RESOURCES])), asyncio.create_task(lists.look(server, [PROMPTS], max_age_s=600.0))]
        await program.request("resources/list", count=2)
        await settled()
        assert [look.done() for look in looks] == [False, True]
        go_on.set()
        await asyncio.gather(*looks)
        await parts.servers.stop("s")
        await lists.look(server)
        assert program.count("resources/list") == 2


async def test_the_last_known_lists_are_served_at_once_and_then_corrected(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"s": all_kinds(), "bare": OfferingServer()}) as parts:
        await parts.start("s", "bare")
        await parts.parts.ended()
    program = OfferingServer(prompts=[prompt("new")], resources=[resource("x://1")])
    async with offer_parts(tmp_path, known={"program": program}, **FOR_EVER) as parts:
        assert await parts.prompt_names() == ["p"]
        assert await parts.uris() == ["x://1"]
        assert [server.name for server in parts.offers.declaring(RESOURCES)] == ["s"]
        assert all(parts.offers.listed(server).is_set() for server in parts.servers if not server.is_builtin)
        parts.parts.programs = {"s": program}
        told = len(parts.heard.of(ResourceListChanged))
        await parts.start("s")
        await parts.heard.event(ResourceListChanged, count=told + 1)
        assert of_all(parts) == [["new"], ["x://1"], []]


async def test_a_list_that_is_as_it_was_is_not_written_again(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        await parts.parts.ended()
    files = [path for path in (tmp_path / "catalogue").iterdir() if any(kind.name in path.name for kind in KINDS)]
    before = [file.stat().st_mtime_ns for file in files]
    assert len(before) == 3
    async with offer_parts(tmp_path, known={"s": program}) as parts:
        told = len(news(parts))
        await parts.start("s")
        await program.request("resources/templates/list", count=2)
        await settled()
        assert len(news(parts)) == told
        await parts.parts.ended()
    assert [file.stat().st_mtime_ns for file in files] == before


async def test_a_server_that_is_removed_while_it_lists_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    program = all_kinds()
    go_on = program.hold("resources/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.servers.start("s")
        await program.request("resources/list")
        await parts.parts.conf.remove_server("s")
        go_on.set()
        await parts.parts.ended()
    assert list((tmp_path / "catalogue").iterdir()) == []


# states of a server


async def test_a_server_in_error_offers_what_it_did_for_a_while(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        program.handlers["initialize"] = lambda copy, params: copy.die()
        program.copy.die()
        await parts.heard.state("s", ServerState.ERROR)
        assert of_all(parts) == [["p"], ["x://1"], ["x://{i}"]]
        assert parts.parts.wheel.expire(ERROR_LISTED_FOR_S) >= 1
        assert of_all(parts) == [[], [], []]
        del program.handlers["initialize"]
        program.handlers["initialize"] = OfferingServer(prompts=[]).handlers["initialize"]
        await parts.start("s")
        assert keys(parts, PROMPTS) == ["p"]


async def test_nothing_is_left_of_a_server_in_error_that_is_removed(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        program.handlers["initialize"] = lambda copy, params: copy.die()
        program.copy.die()
        await parts.heard.state("s", ServerState.ERROR)
        await parts.parts.conf.remove_server("s")
        assert parts.parts.wheel.of(ERROR_LISTED_FOR_S) == []


async def test_a_server_with_other_settings_is_listed_anew_and_offers_the_old_until_then(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        program.prompts = [prompt("q")]
        go_on = program.hold("prompts/list")
        await parts.parts.conf.set_server("s", {"command": "s", "args": ["--new"], "autoApprove": ["all"]})
        await program.request("prompts/list", count=2)
        assert keys(parts, PROMPTS) == ["p"]
        go_on.set()
        await parts.heard.event(PromptListChanged, count=2)
        assert keys(parts, PROMPTS) == ["q"]
        await parts.offers.listed(parts.servers.get("s")).wait()
        await parts.parts.ended()
    async with offer_parts(tmp_path, known={"s": program}) as parts:
        assert of_all(parts) == [["q"], ["x://1"], ["x://{i}"]]


async def test_what_a_replaced_server_lists_at_last_ends_no_wait_for_its_successor(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        program.hold("resources/templates/list")
        program.copy.notify("notifications/resources/list_changed")
        asked = await program.request("resources/templates/list", count=2)
        late = b'{"jsonrpc":"2.0","id":%d,"result":{"resourceTemplates":[{"uriTemplate":"y:"}]}}' % asked.id
        parts.parts.bus.subscribe(ConfigChanged, lambda event: program.copy.say(late))
        await parts.parts.conf.set_server("s", {"command": "s", "args": ["--new"]})
        await settled()
        assert not parts.offers.listed(parts.servers.get("s")).is_set()


async def test_a_list_that_comes_from_a_server_replaced_meanwhile_is_not_taken_over(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("old")])
    go_on = program.hold("prompts/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.servers.start("s")
        await program.request("prompts/list")
        program.may_end.clear()
        await parts.parts.conf.set_server("s", {"command": "s", "args": ["--new"], "autoApprove": ["all"]})
        program.handlers["prompts/list"] = lambda copy, params: {"prompts": [prompt("new")]}
        go_on.set()
        await settled()
        assert keys(parts, PROMPTS) == []
        program.may_end.set()
        await parts.heard.event(PromptListChanged)
        assert keys(parts, PROMPTS) == ["new"]


# servers that nobody uses yet


async def test_a_server_that_was_never_listed_is_started_for_it_and_rests_when_all_is_listed(tmp_path: Path) -> None:
    program = all_kinds()
    go_on = program.hold("resources/templates/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        parts.parts.tools.list_unknown_servers()
        await program.request("resources/templates/list")
        await parts.parts.heard.event(PromptListChanged)
        await settled()
        assert parts.servers.get("s").state is ServerState.RUNNING
        go_on.set()
        await parts.heard.state("s", ServerState.ON_DEMAND)
        assert of_all(parts) == [["p"], ["x://1"], ["x://{i}"]]
        parts.parts.tools.list_unknown_servers()
        await settled()
        assert len(program.copies.all) == 1


async def test_a_server_of_which_only_the_tools_are_known_is_started_to_list_the_rest(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        await parts.parts.ended()
    for file in (tmp_path / "catalogue").glob("*.prompts.jsonl"):
        file.unlink()
    async with offer_parts(tmp_path, known={"s": program}, **FOR_EVER) as parts:
        parts.parts.tools.list_unknown_servers()
        assert await parts.prompt_names() == ["p"]


async def test_a_server_that_was_never_listed_is_started_once_to_be_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.tools.list_unknown_servers()
        await parts.heard.state("s", ServerState.ON_DEMAND)
        assert await parts.listed() == ["t"]
        parts.tools.list_unknown_servers()
        assert len(program.copies.all) == 1
        assert (await parts.call("t", arguments={"text": "hi"}))["result"] == text("hi")  # it starts when used
        assert len(program.running) == 1


async def test_a_server_that_was_used_while_it_was_listed_goes_on(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.tools.list_unknown_servers()
        await program.request("tools/list")
        await parts.servers.start("s")
        go_on.set()
        assert await parts.listed() == ["t"]
        await settled()
        assert parts.servers.get("s").state is ServerState.RUNNING


async def test_a_server_that_is_called_while_it_is_listed_goes_on(tmp_path: Path) -> None:
    program = all_kinds()
    program.tools = [tool("hang")]
    go_on = program.hold("resources/templates/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        server = parts.servers.get("s")
        parts.parts.tools.list_unknown_servers()
        await program.request("resources/templates/list")
        call = asyncio.create_task(parts.parts.call("hang"))  # of its tools, which are listed
        await program.call("hang")
        go_on.set()
        await parts.offers.listed(server).wait()
        await settled()
        assert (call.done(), server.state) == (False, ServerState.RUNNING)
        call.cancel()
        await asyncio.wait({call})


async def test_a_server_that_became_a_default_while_it_was_listed_goes_on(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.tools.list_unknown_servers()
        await program.request("tools/list")
        await parts.conf.set_default("s", True)
        go_on.set()
        assert await parts.listed() == ["t"]
        await settled()
        assert parts.servers.get("s").state is ServerState.RUNNING


async def test_a_server_that_is_removed_while_it_is_listed_leaves_nobody_waiting(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.handlers["tools/list"] = never
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.tools.list_unknown_servers()
        await program.request("tools/list")
        await parts.conf.remove_server("s")
        await parts.ended()  # waits for every task
        assert program.running == []


async def test_a_server_that_cannot_be_started_to_be_listed_is_in_error(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), env={"KEY": "${NOT_SET}"})) as parts:
        parts.tools.list_unknown_servers()
        await parts.heard.state("s", ServerState.ERROR)
        assert await parts.listed() == []


async def test_servers_that_are_switched_off_are_not_started_to_be_listed(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, **one_server(program, disable=True)) as parts:
        parts.tools.list_unknown_servers()
        assert parts.servers.get("s").state is ServerState.STOPPED
        assert program.copies.all == []


# lists that are too long


def too_many(name: str = "t") -> list[dict[str, Any]]:
    return [tool(f"{name}{number}") for number in range(MAX_DEFINITIONS + 1)]


def offering(tools: list[dict[str, Any]], **offers: Any) -> OfferingServer:
    program = OfferingServer(**offers)
    program.tools = tools
    return program


async def test_a_list_that_is_too_long_is_refused_with_words_and_all_else_lives_on(tmp_path: Path) -> None:
    program = offering([tool("a")], prompts=[prompt("p")])
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["a"]
        program.tools = too_many()
        program.copy.notify("notifications/tools/list_changed")
        report = await parts.heard.event(ProblemReported, server="s")
        assert str(report.problem) == (
            "'s' lists too much: its answer to tools/list is too large: more than 5,000 entries. The tools it listed "
            "before are still offered. Its own options may limit what it lists"
        )
        assert await parts.listed() == ["a"]  # what was listed before stays
        assert [each.key for each in parts.offers.offered(PROMPTS)["s"]] == ["p"]
        assert parts.snapshots.of(parts.servers.get("s")).problem == report.problem
        program.tools = [tool("b")]
        program.copy.notify("notifications/tools/list_changed")
        await parts.heard.until(lambda: parts.snapshots.of(parts.servers.get("s")).problem is None)
        assert await parts.listed() == ["b"]


async def test_prompts_are_bounded_as_tools_are(tmp_path: Path) -> None:
    program = offering([tool("a")], prompts=[prompt(f"p{number}") for number in range(MAX_DEFINITIONS + 1)])
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert "its answer to prompts/list is too large" in str(parts.snapshots.of(parts.servers.get("s")).problem)
        assert await parts.listed() == ["a"]
        assert parts.offers.offered(PROMPTS)["s"] == ()


async def test_the_same_refusal_is_reported_once_and_forgotten_with_the_configuration(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(offering(too_many()))) as parts:
        await parts.servers.restart("s")
        await ready(parts, "s")
        assert len(parts.heard.of(ProblemReported)) == 1
        await parts.conf.change_server("s", args=("--fewer",), disable=True)
        assert parts.snapshots.of(parts.servers.get("s")).problem is None


async def test_a_long_list_of_an_earlier_version_is_asked_for_again(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(offering([tool("a")]))) as parts:
        server = parts.servers.get("s")
        parts.catalogues.save("s", server.config_hash, [b'{"name":"t%d"}' % number for number in range(MAX_DEFINITIONS + 1)])
        await parts.ended()
    async with hub_parts(tmp_path, programs={"program": offering([tool("a")])}) as parts:
        assert parts.tools.tool_count("s") == 0
        assert not parts.tools.is_listed("s")
