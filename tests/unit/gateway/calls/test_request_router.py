"""request_router.py, offer_requests.py, notifications.py, stages.py: where each request and notification of an AI client goes."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.everything_server import PROMPT, RESOURCE, TEMPLATE, answered, server_with
from tests.fakes.hub_parts import MODERN_META, entry, one_server, settled
from tests.fakes.lazy_hub import ready_parts
from tests.fakes.project_hub import project_hub
from tests.fakes.scripted_server import text, tool

from tooltray.foundation.events import ToolListChanged
from tooltray.protocol.envelope import Envelope, dump, success
from tooltray.protocol.eras import SERVER_INFO, Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.upstream.managed_server import ManagedServer

# all servers together


async def test_lists_of_all_servers_are_the_hubs_own_in_either_era(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        for method, listed in {
            "prompts/list": {"prompts": [PROMPT]},
            "resources/list": {"resources": [RESOURCE]},
            "resources/templates/list": {"resourceTemplates": [TEMPLATE]},
        }.items():
            assert (await answered(parts, method))["result"] == listed
            us = {"io.modelcontextprotocol/serverInfo": SERVER_INFO}
            modern = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": us, **listed}
            assert (await answered(parts, method, is_modern=True))["result"] == modern
        assert (await answered(parts, "tools/list", is_modern=True))["result"]["resultType"] == "complete"


async def test_what_is_asked_of_all_servers_goes_to_the_one_that_has_it(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        assert (await answered(parts, "tools/call", name="t", arguments={"text": "hi"}))["result"] == text("hi")
        await answered(parts, "prompts/list")
        assert (await answered(parts, "prompts/get", name="p"))["result"] == {"messages": ["p"]}
        assert (await answered(parts, "resources/read", uri="x://t/7"))["result"]["contents"][0]["uri"] == "x://t/7"
        completed = await answered(
            parts, "completion/complete", ref={"type": "ref/prompt", "name": "p"}, argument={"name": "a", "value": ""}
        )
        assert completed["result"] == {"completion": {"values": ["p"]}}


async def test_only_requests_that_may_be_answered_by_a_question_wait_for_one(tmp_path: Path) -> None:
    asked: list[tuple[str, str | None]] = []

    async def before(exchange: Exchange, server: str | None) -> Envelope | None:
        asked.append((exchange.request.method, server))
        return success({"asked": True}) if exchange.request.method == "prompts/get" else None

    meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        parts.projects.rounds.before = before
        await answered(parts, "tools/list", _meta=meta)
        await answered(parts, "tools/call", _meta=meta, name="t", arguments={})
        assert (await answered(parts, "prompts/get", _meta=meta, name="p"))["result"] == {"asked": True}
        await answered(parts, "resources/read", _meta=meta, server="s", uri="x://t/7")
    assert asked == [("tools/call", "s"), ("prompts/get", None), ("resources/read", "s")]


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
async def test_lists_wait_until_the_servers_of_the_project_are_known_and_other_requests_do_not(tmp_path: Path, method: str) -> None:
    looked: list[Session] = []

    async def look(session: Session) -> None:
        looked.append(session)

    async with ready_parts(tmp_path, **one_server(server_with()), waits={"look_at_project": look}) as parts:
        client = parts.client()
        await answered(parts, "prompts/get", client, name="p")
        assert looked == []
        await answered(parts, method, client)
        assert looked == [client]


async def test_what_is_read_of_a_server_is_told_to_the_flow_guard_where_it_is_on(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        noted: list[str] = []
        parts.flow_guard.note_other = lambda server, state: noted.append(server)
        for is_on in (False, True):
            parts.flow_guard.is_on = is_on
            await answered(parts, "prompts/list")
            await answered(parts, "prompts/get", name="p")
            await answered(parts, "resources/read", uri="x://t/7")
            await answered(parts, "resources/read", server="s", uri="x://t/7")
        assert noted == ["s", "s", "s"]
        await answered(parts, "later/method", server="s")  # may bring anything
        assert noted == ["s", "s", "s", "s"]
        await answered(
            parts, "completion/complete", server="s", ref={"type": "ref/prompt", "name": "p"}, argument={"name": "a", "value": ""}
        )
        assert noted == ["s", "s", "s", "s"]


@pytest.mark.parametrize(("method", "is_modern"), [("later/method", False), ("resources/subscribe", True), ("logging/setLevel", True)])
async def test_what_no_server_can_be_told_from_is_an_unknown_method(tmp_path: Path, method: str, is_modern: bool) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        error = (await answered(parts, method, is_modern=is_modern, uri="x://1", level="debug"))["error"]
        assert error == {"code": -32601, "message": "Method not found", "data": method}


async def test_a_level_set_for_all_servers_reaches_those_that_run_and_filters_what_the_client_hears(tmp_path: Path) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client()
        assert (await answered(parts, "logging/setLevel", client, level="error"))["result"] == {}
        assert program.count("logging/setLevel") == 1
        assert parts.notifications.wants_log_message(client, dump({"level": "alert"}))
        assert not parts.notifications.wants_log_message(client, dump({"level": "info"}))
        parts.notifications.end_session(client)
        await settled()
        assert program.count("logging/setLevel") == 1


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
async def test_a_cursor_that_the_hub_never_gave_is_an_invalid_parameter(tmp_path: Path, method: str) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        for is_modern in (False, True):
            error = (await answered(parts, method, is_modern=is_modern, cursor="2"))["error"]
            assert error == {"code": -32602, "message": "Invalid cursor: this list has one page"}
            assert "result" in await answered(parts, method, is_modern=is_modern, cursor="")  # some programs write what they have not set


# one server alone


async def test_one_server_alone_is_reached_by_any_method(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        assert (await answered(parts, "later/method", server="s", x=1))["result"] == {"later": {"x": 1}}
        assert (await answered(parts, "tools/list", server="s"))["result"] == {"tools": [tool("t")]}
        assert (await answered(parts, "later/method", server="gone"))["error"]["message"] == "server 'gone' not found"


async def test_what_is_read_of_one_server_may_be_a_skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    async def read_of_one(managed: ManagedServer, exchange: Exchange, send: Callable[[], Awaitable[Envelope]]) -> Envelope:
        read.append(exchange.request.method)
        return await send()

    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        monkeypatch.setattr(parts.skills, "read_of_one", read_of_one)
        assert (await answered(parts, "prompts/get", server="s", name="p"))["result"] == {"messages": ["p"]}
        assert (await answered(parts, "resources/read", server="s", uri="x://t/7"))["result"]["contents"][0]["uri"] == "x://t/7"
    assert read == ["resources/read"]


@pytest.mark.parametrize("method", ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"])
async def test_a_modern_client_finds_no_legacy_method_behind_a_legacy_server_either(tmp_path: Path, method: str) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        error = (await answered(parts, method, server="s", is_modern=True, uri="x://1", level="debug"))["error"]
        assert error == {"code": -32601, "message": "Method not found", "data": method}
        assert program.count(method) == 0


async def test_a_client_gets_one_page_however_many_the_server_makes(tmp_path: Path) -> None:
    program = server_with()
    pages = {None: ([1], "a"), "a": ([{"later": float("inf")}], "b"), "b": ([3], None)}

    def page(copy: Any, params: Any) -> Any:
        numbers, following = pages[params.get("cursor")]
        return {"prompts": numbers, "_meta": {"x": 1}} | ({"nextCursor": following} if following else {})

    async with ready_parts(tmp_path, **one_server(program)) as parts:
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
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        endless = {"prompts": [{"name": "p"}] * 2000}
        program.handlers["prompts/list"] = lambda copy, params: endless | {"nextCursor": params.get("cursor", "") + "1"}
        before = program.count("prompts/list")
        refused = await answered(parts, "prompts/list", server="s")
        assert refused["error"]["message"] == (
            "server 's' lists too much: its answer to prompts/list is too large: more than 5,000 entries"
        )
        assert program.count("prompts/list") - before == 3


async def test_an_error_on_a_later_page_is_the_answer_and_a_cursor_that_comes_again_ends_the_list(tmp_path: Path) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        program.handlers["prompts/list"] = lambda copy, params: {"prompts": [1], "nextCursor": "again"}
        assert (await answered(parts, "prompts/list", server="s"))["result"] == {"prompts": [1, 1]}
        refusal = Envelope(error=dump({"code": -7, "message": "no more"}))
        program.handlers["prompts/list"] = lambda copy, params: refusal if "cursor" in params else {"prompts": [1], "nextCursor": "n"}
        assert (await answered(parts, "prompts/list", server="s"))["error"]["code"] == -7


@pytest.mark.parametrize("result", [{"prompts": ["nextCursor"]}, {"prompts": [], "nextCursor": None}, {"prompts": [], "nextCursor": ""}])
async def test_a_list_without_a_next_page_is_given_verbatim(tmp_path: Path, result: Any) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        program.handlers["prompts/list"] = lambda copy, params: result
        assert (await answered(parts, "prompts/list", server="s"))["result"] == result


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"ttlMs": 50, "cacheScope": "public"}, {"ttlMs": 7, "cacheScope": "public"}, {"ttlMs": 7, "cacheScope": "public"}),
        ({"ttlMs": 5, "cacheScope": "public"}, {"ttlMs": 70, "cacheScope": "private"}, {"ttlMs": 5, "cacheScope": "private"}),
        ({"ttlMs": 5, "cacheScope": "private"}, {}, {"ttlMs": 0, "cacheScope": "private"}),
        ({"ttlMs": 5, "cacheScope": "public"}, {"ttlMs": "?", "cacheScope": "public"}, {"ttlMs": "?", "cacheScope": "public"}),
        ({}, {"ttlMs": 5}, {}),
    ],
)
async def test_pages_that_become_one_are_as_fresh_as_the_first_to_be_stale_and_private_if_one_is(
    tmp_path: Path, first: Any, second: Any, expected: Any
) -> None:
    program = server_with(eras=("modern",))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        pages: dict[str | None, Any] = {None: {"prompts": [1], "nextCursor": "2", **first}, "2": {"prompts": [2], **second}}
        program.handlers["prompts/list"] = lambda copy, params: pages[params.get("cursor")]
        assert (await answered(parts, "prompts/list", server="s", is_modern=True))["result"] == {"prompts": [1, 2], **expected}


async def test_an_empty_cursor_of_a_modern_server_is_followed(tmp_path: Path) -> None:
    program = server_with(eras=("modern",))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        pages: dict[str | None, Any] = {None: {"prompts": [1], "nextCursor": ""}, "": {"prompts": [2]}}
        program.handlers["prompts/list"] = lambda copy, params: pages[params.get("cursor")]
        assert (await answered(parts, "prompts/list", server="s", is_modern=True))["result"] == {"prompts": [1, 2]}


async def test_an_empty_cursor_of_a_legacy_server_ends_the_list_for_a_modern_client_too(tmp_path: Path) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        program.handlers["prompts/list"] = lambda copy, params: {"prompts": [1], "nextCursor": ""}
        before = program.count("prompts/list")
        assert (await answered(parts, "prompts/list", server="s", is_modern=True))["result"]["prompts"] == [1]
        assert program.count("prompts/list") == before + 1


@pytest.mark.parametrize(("before", "after"), [(None, None), (0, 1)])
async def test_calls_of_a_client_that_was_told_of_changed_tools_are_counted(tmp_path: Path, before: int | None, after: int | None) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        client = parts.client()
        client.state.calls_since_told = before
        await answered(parts, "tools/call", client, name="t", arguments={})
        assert client.state.calls_since_told == after


# a copy of one's own


async def test_a_session_with_its_own_copy_lists_and_calls_what_that_copy_offers(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["tools/list"] = lambda copy, params: {
        "tools": [tool("t"), tool("get_hidden")] + ([tool("get_own")] if copy is not program.copies.all[0] else [])
    }
    program.calls["get_own"] = lambda copy, params: text("mine")
    async with ready_parts(tmp_path, **one_server(program, isolation="session", disabledTools=["get_hidden"])) as parts:
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        assert [each["name"] for each in (await answered(parts, "tools/list", client, server="s"))["result"]["tools"]] == ["t", "get_own"]
        for _ in range(2):  # the second call goes the way that was composed for the first
            assert (await answered(parts, "tools/call", client, server="s", name="get_own"))["result"] == text("mine")
        assert (await answered(parts, "tools/call", client, server="s", name="get_hidden"))["error"]["message"].endswith("in Tooltray")
        assert [each["name"] for each in (await answered(parts, "tools/list", server="s"))["result"]["tools"]] == ["t"]


async def test_a_legacy_client_lists_and_calls_what_a_server_of_both_eras_offers_in_the_legacy_one(tmp_path: Path) -> None:
    program = server_with(eras=("modern", "legacy"))
    in_legacy = [tool("t")]
    program.handlers["tools/list"] = lambda copy, params: {"tools": [tool("t")] if copy is program.copies.all[0] else in_legacy}
    program.calls["late"] = lambda copy, params: text("legacy")
    async with ready_parts(tmp_path, **one_server(program)) as parts:
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


async def test_a_legacy_client_lists_the_prompts_and_resources_of_a_server_of_both_eras_as_the_legacy_one_has_them(tmp_path: Path) -> None:
    program = server_with(eras=("modern", "legacy"))

    def of(copy: Any) -> str:
        return "modern" if copy is program.copies.all[0] else "legacy"

    program.handlers |= {
        "prompts/list": lambda copy, params: {"prompts": [{"name": of(copy)}]},
        "resources/list": lambda copy, params: {"resources": [{"uri": f"x://{of(copy)}", "name": "r"}]},
        "resources/templates/list": lambda copy, params: {"resourceTemplates": [{"uriTemplate": f"x://{of(copy)}/{{id}}", "name": "t"}]},
    }
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        await settled()
        for is_modern, era in ((True, "modern"), (False, "legacy")):
            for method, member, key in (
                ("prompts/list", "prompts", "name"),
                ("resources/list", "resources", "uri"),
                ("resources/templates/list", "resourceTemplates", "uriTemplate"),
            ):
                listed = (await answered(parts, method, client, is_modern=is_modern))["result"][member]
                assert [era in each[key] for each in listed] == [True]


async def test_settings_that_change_count_at_once_for_what_an_own_copy_has_listed(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["tools/list"] = lambda copy, params: {"tools": [tool("t"), tool("drop_own")]}
    program.calls |= {name: lambda copy, params: text("done") for name in ("t", "drop_own")}
    async with ready_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        await answered(parts, "tools/list", client, server="s")
        await parts.conf.change_server("s", disabled_tools=["t"], auto_approve=["read"])
        off, unsafe = [await answered(parts, "tools/call", client, server="s", name=name) for name in ("t", "drop_own")]
        assert off["error"]["message"] == "the tool 't' is disabled in Tooltray"
        assert ", so it needs the user's approval" in unsafe["error"]["message"]
        await parts.conf.change_server("s", disabled_tools=[], auto_approve=["all"])
        for name in ("t", "drop_own"):
            assert (await answered(parts, "tools/call", client, server="s", name=name))["result"] == text("done")


async def test_an_own_copy_that_does_not_list_shows_what_the_shared_one_does(tmp_path: Path) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        client = parts.client()
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        program.handlers["tools/list"] = lambda copy, params: Envelope(error=dump({"code": -1, "message": "busy"}))
        assert (await answered(parts, "tools/list", client, server="s"))["result"] == {"tools": [tool("t")]}


async def test_what_clients_share_is_answered_for_one_server_too(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        assert (await answered(parts, "logging/setLevel", server="s", level="debug"))["result"] == {}


async def test_a_server_that_is_not_in_the_profile_lists_nothing_and_answers_nothing_else(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with()), settings={"profiles": {"none": {"servers": []}}}) as parts:
        client = parts.client()
        client.state.profile = "none"
        assert (await answered(parts, "tools/list", client, server="s"))["result"] == {"tools": []}
        assert (await answered(parts, "prompts/list", client, server="s", is_modern=True))["result"]["prompts"] == []
        assert "not in the profile" in (await answered(parts, "prompts/get", client, server="s", name="p"))["error"]["message"]


async def test_a_session_with_a_profile_lists_what_its_servers_have_of_each_kind(tmp_path: Path) -> None:
    options = {"servers": {"s": entry("program"), "o": entry("other")}, "settings": {"profiles": {"p": {"servers": ["s"]}}}}
    async with ready_parts(tmp_path, **options, programs={"program": server_with(), "other": server_with()}) as parts:
        client = parts.client()
        client.state.profile = "p"
        assert (await answered(parts, "resources/list", client))["result"]["resources"] == [RESOURCE]
        assert (await answered(parts, "resources/templates/list", client))["result"]["resourceTemplates"] == [TEMPLATE]


async def test_each_project_lists_the_resources_of_its_own_copy(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["resources/list"] = lambda copy, params: {"resources": [{"uri": f"x://{copy.launch.args[-1]}", "name": "r"}]}
    async with project_hub(tmp_path, program=program, startupArgsTemplate=["{project_name}"]) as hub:
        for name in ("one", "other"):
            client = await hub.session(hub.folder(name))
            await hub.opened(client)
            assert [each["uri"] for each in (await answered(hub.parts, "resources/list", client))["result"]["resources"]] == [f"x://{name}"]
