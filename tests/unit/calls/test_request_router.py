"""calls/request_router.py: where each request and notification of an AI client goes."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, entry, hub_parts, one_server, opened, settled
from tests.fakes.scripted_server import ScriptedServer, never, text, tool

from tooltray.events import ToolListChanged
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era

EVERYTHING = {"tools": {}, "prompts": {}, "resources": {"subscribe": True}, "logging": {}, "completions": {}}
PROMPT, RESOURCE, TEMPLATE = {"name": "p"}, {"uri": "x://1", "name": "r"}, {"uriTemplate": "x://t/{id}", "name": "t"}


def server_with(capabilities: Any = EVERYTHING, *, eras: tuple[str, ...] = ("legacy",)) -> ScriptedServer:
    """A server that offers one of everything."""
    program = ScriptedServer(tool("t"), eras=eras)
    greeting = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}}
    discovered = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities,
        "ttlMs": 0,
        "cacheScope": "private",
    }
    if "legacy" in eras:
        program.handlers["initialize"] = lambda copy, params: greeting
    if "modern" in eras:
        program.handlers["server/discover"] = lambda copy, params: discovered
    program.handlers |= {
        "prompts/list": lambda copy, params: {"prompts": [PROMPT]},
        "prompts/get": lambda copy, params: {"messages": [params["name"]]},
        "resources/list": lambda copy, params: {"resources": [RESOURCE]},
        "resources/templates/list": lambda copy, params: {"resourceTemplates": [TEMPLATE]},
        "resources/read": lambda copy, params: {"contents": [{"uri": params["uri"], "text": "read"}]},
        "resources/subscribe": lambda copy, params: {"subscribed": 1},
        "resources/unsubscribe": lambda copy, params: {},
        "logging/setLevel": lambda copy, params: {},
        "completion/complete": lambda copy, params: {"completion": {"values": [params["ref"]["name"]]}},
        "later/method": lambda copy, params: {"later": params},
    }
    return program


async def answered(
    parts: HubParts, method: str, client: Client | None = None, *, server: str | None = None, is_modern: bool = False, **params: Any
) -> dict[str, Any]:
    client = client or parts.client()
    if is_modern:
        params["_meta"] = MODERN_META
    request = Envelope(id=Raw(b"1"), method=method, params=dump(params))
    return opened(await parts.router.answer(exchange_of(request, client, server=server)))


async def ready(parts: HubParts) -> None:
    await parts.servers.start("s")
    await parts.offers.listed(parts.servers.get("s")).wait()


# all servers together


async def test_lists_of_all_servers_are_the_hubs_own_in_either_era(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(server_with())) as parts:
        await ready(parts)
        for method, listed in {
            "prompts/list": {"prompts": [PROMPT]},
            "resources/list": {"resources": [RESOURCE]},
            "resources/templates/list": {"resourceTemplates": [TEMPLATE]},
        }.items():
            assert (await answered(parts, method))["result"] == listed
            modern = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **listed}
            assert (await answered(parts, method, is_modern=True))["result"] == modern
        assert (await answered(parts, "tools/list", is_modern=True))["result"]["resultType"] == "complete"


async def test_what_is_asked_of_all_servers_goes_to_the_one_that_has_it(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(server_with())) as parts:
        await ready(parts)
        assert (await answered(parts, "tools/call", name="t", arguments={"text": "hi"}))["result"] == text("hi")
        await answered(parts, "prompts/list")
        assert (await answered(parts, "prompts/get", name="p"))["result"] == {"messages": ["p"]}
        assert (await answered(parts, "resources/read", uri="x://t/7"))["result"]["contents"][0]["uri"] == "x://t/7"
        completed = await answered(
            parts, "completion/complete", ref={"type": "ref/prompt", "name": "p"}, argument={"name": "a", "value": ""}
        )
        assert completed["result"] == {"completion": {"values": ["p"]}}


@pytest.mark.parametrize(("method", "is_modern"), [("later/method", False), ("resources/subscribe", True), ("logging/setLevel", True)])
async def test_what_no_server_can_be_told_from_is_an_unknown_method(tmp_path: Path, method: str, is_modern: bool) -> None:
    async with hub_parts(tmp_path, **one_server(server_with())) as parts:
        await ready(parts)
        error = (await answered(parts, method, is_modern=is_modern, uri="x://1", level="debug"))["error"]
        assert error == {"code": -32601, "message": "Method not found", "data": method}


async def test_a_subscription_goes_to_the_server_of_the_resource_and_ends_there(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        client = parts.client()
        assert "result" in await answered(parts, "resources/subscribe", client, uri="x://1")
        [running] = parts.servers.running_clients()
        assert parts.notifications.hearers(running, dump({"uri": "x://1"})) == ("x://1", [(client, "x://1")])
        assert "result" in await answered(parts, "resources/unsubscribe", client, uri="x://1")
        assert parts.notifications.hearers(running, dump({"uri": "x://1"}))[1] == []
        assert [asked.params["uri"] for asked in program.asked.all if "subscribe" in asked.method] == ["x://1", "x://1"]


@pytest.mark.parametrize("params", [{}, {"uri": 5}])
async def test_a_subscription_to_nothing_is_refused(tmp_path: Path, params: dict[str, Any]) -> None:
    async with hub_parts(tmp_path, **one_server(server_with())) as parts:
        await ready(parts)
        assert "error" in await answered(parts, "resources/subscribe", **params)


async def test_a_subscription_where_no_server_has_resources_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(server_with({"tools": {}}))) as parts:
        await ready(parts)
        assert (await answered(parts, "resources/subscribe", uri="x://1"))["error"]["code"] == -32002


async def test_a_level_set_for_all_servers_reaches_those_that_run_and_filters_what_the_client_hears(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        client = parts.client()
        assert (await answered(parts, "logging/setLevel", client, level="error"))["result"] == {}
        assert program.count("logging/setLevel") == 1
        assert parts.notifications.wants_log_message(client, dump({"level": "alert"}))
        assert not parts.notifications.wants_log_message(client, dump({"level": "info"}))
        parts.notifications.end_session(client)
        await settled()
        assert program.count("logging/setLevel") == 1


# one server alone


async def test_one_server_alone_is_reached_by_any_method(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(server_with())) as parts:
        await ready(parts)
        assert (await answered(parts, "later/method", server="s", x=1))["result"] == {"later": {"x": 1}}
        assert (await answered(parts, "tools/list", server="s"))["result"] == {"tools": [tool("t")]}
        assert (await answered(parts, "later/method", server="gone"))["error"]["message"] == "there is no server 'gone'"


@pytest.mark.parametrize("method", ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"])
async def test_a_modern_client_finds_no_legacy_method_behind_a_legacy_server_either(tmp_path: Path, method: str) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        error = (await answered(parts, method, server="s", is_modern=True, uri="x://1", level="debug"))["error"]
        assert error == {"code": -32601, "message": "Method not found", "data": method}
        assert program.count(method) == 0


@pytest.mark.parametrize("method", ["logging/setLevel", "resources/subscribe"])
async def test_a_server_without_such_a_thing_says_so_itself(tmp_path: Path, method: str) -> None:
    program = server_with({"tools": {}, "resources": {}})
    program.handlers[method] = lambda copy, params: Envelope(error=dump({"code": -1, "message": "its own words"}))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        assert (await answered(parts, method, server="s", level="info", uri="x://1"))["error"]["message"] == "its own words"


async def test_a_level_and_a_subscription_of_one_server_are_kept_for_its_next_start(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        client = parts.client()
        assert (await answered(parts, "logging/setLevel", client, server="s", level="debug"))["result"] == {}
        assert (await answered(parts, "resources/subscribe", client, server="s", uri="x://9"))["result"] == {"subscribed": 1}
        program.copy.die()
        level = await program.asked.wait(lambda asked: asked.method == "logging/setLevel", count=2)
        again = await program.asked.wait(lambda asked: asked.method == "resources/subscribe", count=2)
        assert (level.params, again.params) == ({"level": "debug"}, {"uri": "x://9"})


async def test_a_modern_server_takes_the_level_of_a_legacy_client_without_a_request(tmp_path: Path) -> None:
    program = server_with(eras=("modern",))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        assert (await answered(parts, "logging/setLevel", server="s", level="debug"))["result"] == {}
        assert program.count("logging/setLevel") == 0


async def test_what_clients_share_is_refused_while_paused_and_when_the_server_does_not_run(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["initialize"] = lambda copy, params: copy.die()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        assert "out of cheese" in (await answered(parts, "logging/setLevel", server="s", level="info"))["error"]["message"]
        await parts.conf.set_enabled(False)
        assert "paused" in (await answered(parts, "logging/setLevel", server="s", level="info"))["error"]["message"]


async def test_a_client_gets_one_page_however_many_the_server_makes(tmp_path: Path) -> None:
    program = server_with()
    pages = {None: ([1], "a"), "a": ([{"later": float("inf")}], "b"), "b": ([3], None)}

    def page(copy: Any, params: Any) -> Any:
        numbers, following = pages[params.get("cursor")]
        return {"prompts": numbers, "_meta": {"x": 1}} | ({"nextCursor": following} if following else {})

    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        program.handlers["prompts/list"] = page
        listed = await answered(parts, "prompts/list", server="s", y=2)
        assert listed["result"] == {"prompts": [1, {"later": None}, 3], "_meta": {"x": 1}}
        assert [asked.params for asked in program.asked.all if asked.method == "prompts/list"][-3:] == [
            {"y": 2},
            {"y": 2, "cursor": "a"},
            {"y": 2, "cursor": "b"},
        ]
        one_page = await answered(parts, "prompts/list", server="s", cursor="a")
        assert one_page["result"]["nextCursor"] == "b"


async def test_pages_of_a_server_alone_are_joined_up_to_a_limit(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        endless = {"prompts": [{"name": "p"}] * 2000}
        program.handlers["prompts/list"] = lambda copy, params: endless | {"nextCursor": params.get("cursor", "") + "1"}
        before = program.count("prompts/list")
        refused = await answered(parts, "prompts/list", server="s")
        assert refused["error"]["message"] == (
            "server 's' lists too much: it answers prompts/list with more than is taken: more than 5,000 entries"
        )
        assert program.count("prompts/list") - before == 3


async def test_an_error_on_a_later_page_is_the_answer_and_a_cursor_that_comes_again_ends_the_list(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        program.handlers["prompts/list"] = lambda copy, params: {"prompts": [1], "nextCursor": "again"}
        assert (await answered(parts, "prompts/list", server="s"))["result"] == {"prompts": [1, 1]}
        refusal = Envelope(error=dump({"code": -7, "message": "no more"}))
        program.handlers["prompts/list"] = lambda copy, params: refusal if "cursor" in params else {"prompts": [1], "nextCursor": "n"}
        assert (await answered(parts, "prompts/list", server="s"))["error"]["code"] == -7


@pytest.mark.parametrize(
    "result", [["nextCursor"], {"prompts": ["nextCursor"]}, {"prompts": [], "nextCursor": None}, {"prompts": [], "nextCursor": ""}]
)
async def test_a_list_without_a_next_page_is_given_verbatim(tmp_path: Path, result: Any) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        program.handlers["prompts/list"] = lambda copy, params: result
        assert (await answered(parts, "prompts/list", server="s"))["result"] == result


# a copy of one's own


async def test_a_session_with_its_own_copy_lists_and_calls_what_that_copy_offers(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["tools/list"] = lambda copy, params: {
        "tools": [tool("t"), tool("get_hidden")] + ([tool("get_own")] if copy is not program.copies.all[0] else [])
    }
    program.calls["get_own"] = lambda copy, params: text("mine")
    async with hub_parts(tmp_path, **one_server(program, isolation="session", disabledTools=["get_hidden"])) as parts:
        await ready(parts)
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        assert [each["name"] for each in (await answered(parts, "tools/list", client, server="s"))["result"]["tools"]] == ["t", "get_own"]
        assert (await answered(parts, "tools/call", client, server="s", name="get_own"))["result"] == text("mine")
        assert (await answered(parts, "tools/call", client, server="s", name="get_hidden"))["error"]["message"].endswith("in Tooltray")
        assert [each["name"] for each in (await answered(parts, "tools/list", server="s"))["result"]["tools"]] == ["t"]


async def test_a_legacy_client_lists_and_calls_what_a_server_of_both_eras_offers_in_the_legacy_one(tmp_path: Path) -> None:
    program = server_with(eras=("modern", "legacy"))
    in_legacy = [tool("t")]
    program.handlers["tools/list"] = lambda copy, params: {"tools": [tool("t")] if copy is program.copies.all[0] else in_legacy}
    program.calls["late"] = lambda copy, params: text("legacy")
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        changes: list[ToolListChanged] = []
        parts.bus.subscribe(ToolListChanged, changes.append)
        in_legacy.append(tool("late"))
        program.copies.all[1].notify("notifications/tools/list_changed")
        await settled()
        assert ToolListChanged("s") in changes
        assert [each["name"] for each in (await answered(parts, "tools/list", client, server="s"))["result"]["tools"]] == ["t", "late"]
        assert (await answered(parts, "tools/call", client, server="s", name="late"))["result"] == text("legacy")
        modern = await answered(parts, "tools/list", server="s", is_modern=True)
        assert [each["name"] for each in modern["result"]["tools"]] == ["t"]


async def test_settings_that_change_count_at_once_for_what_an_own_copy_has_listed(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["tools/list"] = lambda copy, params: {"tools": [tool("t"), tool("drop_own")]}
    program.calls |= {name: lambda copy, params: text("done") for name in ("t", "drop_own")}
    async with hub_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        await ready(parts)
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        await answered(parts, "tools/list", client, server="s")
        await parts.conf.change_server("s", disabled_tools=["t"], auto_approve=["read"])
        off, unsafe = [await answered(parts, "tools/call", client, server="s", name=name) for name in ("t", "drop_own")]
        assert off["error"]["message"] == "the tool 't' is switched off in Tooltray"
        assert "needs a person's yes" in unsafe["error"]["message"]
        await parts.conf.change_server("s", disabled_tools=[], auto_approve=["all"])
        for name in ("t", "drop_own"):
            assert (await answered(parts, "tools/call", client, server="s", name=name))["result"] == text("done")


async def test_an_own_copy_that_does_not_list_shows_what_the_shared_one_does(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        await ready(parts)
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        program.handlers["tools/list"] = lambda copy, params: Envelope(error=dump({"code": -1, "message": "busy"}))
        assert (await answered(parts, "tools/list", client, server="s"))["result"] == {"tools": [tool("t")]}


# listening


async def test_what_a_modern_client_listens_to_is_asked_of_the_servers_before_it_is_told_so(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        client = parts.client()
        await parts.notifications.listen_to_resources(client, Raw(b"7"), ["x://1", "x://t/2"], server=None)
        assert sorted(asked.params["uri"] for asked in program.asked.all if asked.method == "resources/subscribe") == ["x://1", "x://t/2"]
        parts.notifications.end_listening(client, Raw(b"7"))
        await program.asked.wait(lambda asked: asked.method == "resources/unsubscribe", count=2)
        await parts.notifications.listen_to_resources(client, Raw(b"8"), ["x://5"], server="s")
        assert program.asked.all[-1].params == {"uri": "x://5"}
        await parts.notifications.listen_to_resources(client, Raw(b"9"), [], server="s")


async def test_listening_where_nobody_has_resources_asks_nobody(tmp_path: Path) -> None:
    program = server_with({"tools": {}})
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        await parts.notifications.listen_to_resources(parts.client(), Raw(b"7"), ["x://1"], server=None)
        assert program.count("resources/subscribe") == 0


# notifications


async def test_changed_roots_are_told_to_every_legacy_server_that_the_client_reaches(tmp_path: Path) -> None:
    one_program, other = server_with(), server_with()
    servers = {"s": entry("program"), "o": entry("other")}
    async with hub_parts(tmp_path, servers=servers, programs={"program": one_program, "other": other}) as parts:
        await ready(parts)
        await parts.servers.start("o")
        parts.notifications.take(parts.client(), "notifications/roots/list_changed", Raw(b""), server=None)
        for program in (one_program, other):
            await program.told.wait(lambda told: told.method == "notifications/roots/list_changed")
        parts.notifications.take(parts.client(), "notifications/roots/list_changed", Raw(b""), server="o")
        await other.told.wait(lambda told: told.method == "notifications/roots/list_changed", count=2)
        assert sum(told.method == "notifications/roots/list_changed" for told in one_program.told.all) == 1


async def test_a_server_that_the_profile_does_not_have_hears_nothing_of_the_client(tmp_path: Path) -> None:
    one_program, other = server_with(), server_with()
    options = {"servers": {"s": entry("program"), "o": entry("other")}, "settings": {"profiles": {"p": {"servers": ["o"]}}}}
    async with hub_parts(tmp_path, **options, programs={"program": one_program, "other": other}) as parts:
        await ready(parts)
        await parts.servers.start("o")
        client = parts.client()
        client.state.profile = "p"
        await answered(parts, "logging/setLevel", client, level="debug")
        parts.notifications.take(client, "notifications/roots/list_changed", Raw(b""), server=None)
        await other.told.wait(lambda told: told.method == "notifications/roots/list_changed")
        assert "notifications/roots/list_changed" not in [told.method for told in one_program.told.all]
        assert (one_program.count("logging/setLevel"), other.count("logging/setLevel")) == (0, 1)


async def test_progress_on_a_question_goes_to_the_server_that_asked_it_and_to_no_other(tmp_path: Path) -> None:
    program, other = server_with(), server_with()
    servers = {"s": entry("program"), "o": entry("other")}
    async with hub_parts(tmp_path, servers=servers, programs={"program": program, "other": other}) as parts:
        await ready(parts)
        await parts.servers.start("o")
        client = parts.client(capabilities={"elicitation": {}}, answer=lambda method: never(program.copy, None))
        program.tools.append(tool("hang"))
        calling = parts.keeper.spawn(answered(parts, "later/method", client, server="s"), name="call")
        program.handlers["later/method"] = never
        await program.request("later/method")
        asking = parts.keeper.spawn(program.copy.ask("elicitation/create"), name="ask")
        await client.asked.wait()
        parts.notifications.take(client, "notifications/progress", Raw(b'{"progressToken":1,"progress":1}'), server=None)
        told = await program.told.wait(lambda told: told.method == "notifications/progress")
        assert told.params == {"progressToken": 1, "progress": 1}
        assert not any(told.method == "notifications/progress" for told in other.told.all)
        for task in (asking, calling):
            task.cancel()


async def test_what_else_a_client_says_goes_to_its_one_server_in_its_era_or_to_nobody(tmp_path: Path) -> None:
    program = server_with(eras=("legacy", "modern"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await ready(parts)
        legacy, modern = parts.client(introduction=Raw(b"{}")), parts.client()
        own = await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        assert own.era is Era.LEGACY
        parts.notifications.take(legacy, "notifications/later", Raw(b"{}"), server="s")
        assert (await program.told.wait(lambda told: told.method == "notifications/later")).copy is own.transport
        parts.notifications.take(modern, "notifications/later", Raw(b"{}"), server="s")
        assert (await program.told.wait(lambda told: told.method == "notifications/later", count=2)).copy is not own.transport
        for server in (None, "gone"):
            parts.notifications.take(legacy, "notifications/later", Raw(b"{}"), server=server)
        await settled()
        assert sum(told.method == "notifications/later" for told in program.told.all) == 2
