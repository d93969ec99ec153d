"""rest_api.py: who is let in, what is at a path, and how what goes wrong is told."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict
from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import TOKEN, rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool


async def test_nothing_is_there_while_it_is_switched_off_and_it_is_there_as_soon_as_it_is_on(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, is_on=False) as hub:
        for path in ("/servers", "/api", "/api/openapi.json", "/api/mcp"):
            assert (await hub.ask("GET", path)).status == 404
        await hub.parts.conf.edit(lambda document: document["publish"]["http"]["api"].update(enabled=True))
        assert (await hub.ask("GET", "/servers")).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer a client's"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": ""},
    ],
)
async def test_who_does_not_show_the_token_is_told_so_and_sees_nothing(tmp_path: Path, headers: dict[str, str]) -> None:
    async with rest_hub(tmp_path) as hub:
        answer = await hub.ask("GET", f"/servers?token={TOKEN}", token=None, headers=headers)
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert answer.json["type"] == "urn:tooltray:problem:no-token"
        assert b"wrong" not in answer.body


async def test_the_token_opens_nothing_for_ai_clients(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        assert (await hub.ask("POST", "/api/../mcp", {}, headers={"X": "1"})).status in (401, 404)
        async with hub.http.post(f"{hub.url}/mcp", headers={"Authorization": f"Bearer {TOKEN}"}) as answer:
            assert answer.status == 401


@pytest.mark.parametrize(
    "headers",
    [
        [("Host", "evil.example")],
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
        [("Origin", "http://127.0.0.1:{port}"), ("Origin", "https://evil.example")],
        [("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "")],
    ],
)
async def test_pages_and_places_of_others_are_kept_out_even_with_the_token(tmp_path: Path, headers: list[tuple[str, str]]) -> None:
    async with rest_hub(tmp_path) as hub:
        given = CIMultiDict([*((name, value.format(port=hub.port)) for name, value in headers), ("Authorization", f"Bearer {TOKEN}")])
        answer = await hub.ask("GET", "/servers", token=None, headers=given)
        is_doubled = len(headers) > 1
        assert (answer.status, answer.headers["Content-Type"]) == (400 if is_doubled else 403, "application/problem+json")
        assert not [name for name in answer.headers if name.startswith("Access-Control")]


async def test_a_person_who_types_the_address_is_let_in(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        assert (await hub.ask("GET", "/servers", headers={"Sec-Fetch-Site": "none"})).status == 200


async def test_a_path_that_there_is_not_and_a_method_that_there_is_not_are_told(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        for path in ("/nothing", "/servers/", "/servers/a/b/c/d", "/api/", "/servers/%0A/x"):
            answer = await hub.ask("GET", path)
            assert (answer.status, answer.json["status"]) == (404, 404), path
        answer = await hub.ask("PATCH", "/servers")
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, POST, HEAD, OPTIONS")
        answer = await hub.ask("OPTIONS", "/servers")
        assert (answer.status, answer.headers["Allow"], answer.body) == (204, "GET, POST, HEAD, OPTIONS", b"")
        answer = await hub.ask("DELETE", "/api/openapi.json")
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


async def test_head_says_what_get_would_without_saying_it(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        whole, head = await hub.ask("GET", "/servers"), await hub.ask("HEAD", "/servers")
        assert (head.status, head.body) == (200, b"")
        assert head.headers["Content-Length"] == whole.headers["Content-Length"]
        assert (await hub.ask("HEAD", "/api/events")).headers["Content-Type"] == "text/event-stream"


async def test_where_things_are_stands_at_the_beginning(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        index = (await hub.ask("GET", "/api/mcp")).json
        assert (await hub.ask("GET", index["openapi"])).json["openapi"] == "3.1.0"
        assert (await hub.ask("GET", index["events"])).body.startswith(b"event: Told")


async def test_answers_are_not_kept_by_anybody(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        answer = await hub.ask("GET", "/servers")
        assert (answer.headers["Cache-Control"], answer.headers["X-Content-Type-Options"]) == ("no-store", "nosniff")


@pytest.mark.expected_warnings("POST /api/hub/set_mcp_enabled failed")
async def test_a_bug_is_an_answer_and_says_nothing_of_the_inside(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:

        async def breaks(enabled: bool) -> None:
            raise KeyError("hunter2")

        hub.parts.conf.set_enabled = breaks  # type: ignore[method-assign]
        answer = await hub.ask("POST", "/api/hub/set_mcp_enabled", {"enabled": False})
        assert (answer.status, answer.json["title"]) == (500, "Something is wrong in Tooltray")
        assert b"hunter2" not in answer.body


async def test_what_a_verb_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, is_trusted=True) as hub:
        answer = await hub.ask("POST", "/api/secrets/set_secret_backend", {"kind": "drawer"})
        assert answer.status == 422
        assert answer.json["title"] == "'drawer' is no place for secrets"
        assert answer.json["hint"]
        answer = await hub.ask("DELETE", "/servers/nobody")
        assert (answer.status, answer.json["type"]) == (404, "urn:tooltray:problem:not-found")


async def test_lists_come_in_pages_that_lead_from_one_to_the_next(tmp_path: Path) -> None:
    servers = {f"s{number}": entry("p", disable=True) for number in range(5)}
    async with rest_hub(tmp_path, servers=servers) as hub:
        path, seen = "/servers?limit=2", list[str]()
        while path:
            answer = await hub.ask("GET", path)
            seen += [each["name"] for each in answer.json]
            link = re.fullmatch(r'<(.*)>; rel="next"', answer.headers.get("Link", ""))
            path = link[1] if link else ""
        assert seen == list(servers)


async def test_results_that_no_text_could_hold_are_told_and_not_lost(tmp_path: Path) -> None:
    program = ScriptedServer(tool("deep"), tool("odd"))
    deep: Any = []
    for _ in range(700):
        deep = [deep]
    program.calls["deep"] = lambda copy, params: {"content": [], "structuredContent": {"deep": deep}}
    program.calls["odd"] = lambda copy, params: {"content": [], "structuredContent": {"huge": 10**30}}
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": program}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        answer = await hub.ask("POST", "/api/tools/call_tool", {"name": "odd", "arguments": {}})
        assert answer.json["structuredContent"] == {"huge": 10**30}
        answer = await hub.ask("POST", "/api/tools/call_tool", {"name": "deep", "arguments": {}})
        assert answer.status in (200, 422)


async def test_what_would_say_yes_for_a_person_is_denied_unless_the_person_allowed_that(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    asked: list[tuple[str, Any]] = [
        ("approvals/answer_approval", {"id": "a", "answer": "once"}),
        ("questions/answer_elicitation", {"id": "a", "action": "accept"}),
        ("approvals/add_grant", {"server": "s"}),
        ("approvals/accept_tool_change", {"server": "s", "tool": "t"}),
        ("files/trust_entries", {"project": "/p", "entries": {"a": "b"}}),
        ("projects/allow_folder", {"path": str(folder)}),
        ("views/set_client_auto_approve", {"client": "c", "rules": ["all"]}),
        ("projects/start_for_project", {"server": "s", "path": str(folder)}),
        ("projects/set_session_project", {"session": "x", "path": str(folder)}),
        ("approvals/set_server_auto_approve", {"server": "s", "rules": ["all"]}),
        ("projects/set_deferred", {"server": "s", "deferred": True, "template": ["-c", "x"]}),
        ("tools/set_tool_enabled", {"server": "s", "tool": "t", "enabled": True}),
        ("views/set_tool_override", {"server": "s", "tool": "t", "description": "Harmless."}),
        ("setup/apply_remedy", {"server": "s", "kind": "use_absolute_path", "value": "/x/p"}),
        ("secrets/set_secret", {"name": "known", "value": "another"}),
        ("secrets/remove_secret", {"name": "known"}),  # else its place were free for another value
        ("secrets/set_secret", {"name": "awaited", "value": "another"}),
        ("views/remove_profile", {"name": "few"}),
        ("secrets/set_secret_backend", {"kind": "file"}),
        ("registries/set_custom_npm_registry", {"url": "http://127.0.0.1:9/"}),
        ("registries/set_auto_detect_npm_registry", {"enabled": True}),
        ("views/set_profile", {"name": "few", "profile": {"servers": ["s"]}}),
        ("views/set_client_profile", {"client": "c"}),
        ("access/create_client_token", {"name": "mine"}),
        ("settings/change_settings", {"changes": {"allowedFolders": ["/"]}}),
        ("access/set_http_enabled", {"enabled": True}),
        ("setup/import_setup", {"setup": {"mcpServers": {}}}),
        ("setup/reset_to_default_servers", None),
        ("ai_clients/preview_client_import", {"file": str(folder / "other.json")}),
        ("activity/clear_activity", None),
        ("activity/undo_clear_activity", None),
        ("activity/export_activity", {"path": str(folder / "out")}),
    ]
    servers = {"s": {"command": "p", "disable": True, "env": {"A": "${secret:known}", "B": "${secret:awaited}"}}}
    settings = {"profiles": {"few": {"servers": []}}, "publish": {"clients": {"c": {"profile": "few"}}}}
    async with rest_hub(tmp_path / "home", servers=servers, settings=settings) as hub:
        await hub.parts.secrets.set("known", "dummy-value")
        before = hub.parts.home.settings.read_bytes()
        for path, content in asked:
            answer = await hub.ask("POST", f"/api/{path}", content)
            assert (answer.status, answer.json["title"]) == (403, "A program may not do this"), path
        assert (
            await hub.ask("POST", "/api/questions/answer_elicitation", {"id": "a", "action": "decline"})
        ).status == 404  # there is none, and no is no yes
        assert hub.parts.home.settings.read_bytes() == before
        assert await hub.parts.secrets.get("known") == "dummy-value"
    async with rest_hub(tmp_path / "other", servers=servers, programs={"p": ScriptedServer()}, is_trusted=True) as hub:
        for path, content in asked:
            assert (await hub.ask("POST", f"/api/{path}", content)).status != 403, path
        entries = await hub.parts.trail.entries()
        assert {(each.answer, each.way, each.who) for each in entries} == {("yes", "program", "panel")}
        assert {each.verb for each in entries} >= {"add_grant", "remove_secret", "set_http_enabled"}


async def test_a_program_that_goes_away_ends_its_call(tmp_path: Path) -> None:
    program = ScriptedServer(tool("hang"))
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": program}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        call = asyncio.ensure_future(hub.ask("POST", "/api/tools/call_tool", {"name": "hang", "arguments": {}}))
        await program.asked.wait(lambda asked: asked.method == "tools/call")
        call.cancel()
        await program.cancelled.wait()
