"""rest_api.py: who is let in, what is at a path, and how what goes wrong is told."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict
from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import CALL_TOKEN, READ_TOKEN, TOKEN, RestHub, rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.carriers.rest.rest_api import ProgramAsker
from tooltray.consent.tokens.api_tokens import TokenHolder
from tooltray.foundation.confirm_widening import Wish
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.records.audit_trail import AuditTrail


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
async def test_who_does_not_show_the_token_is_told_so_and_sees_nothing(hub: RestHub, headers: dict[str, str]) -> None:
    answer = await hub.ask("GET", f"/servers?token={TOKEN}", token=None, headers=headers)
    assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json["type"] == "urn:tooltray:problem:no-token"
    assert b"wrong" not in answer.body


async def test_the_token_opens_nothing_for_ai_clients(hub: RestHub) -> None:
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
async def test_pages_and_places_of_others_are_kept_out_even_with_the_token(hub: RestHub, headers: list[tuple[str, str]]) -> None:
    given = CIMultiDict([*((name, value.format(port=hub.port)) for name, value in headers), ("Authorization", f"Bearer {TOKEN}")])
    answer = await hub.ask("GET", "/servers", token=None, headers=given)
    is_doubled = len(headers) > 1
    assert (answer.status, answer.headers["Content-Type"]) == (400 if is_doubled else 403, "application/problem+json")
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


async def test_a_person_who_types_the_address_is_let_in(hub: RestHub) -> None:
    assert (await hub.ask("GET", "/servers", headers={"Sec-Fetch-Site": "none"})).status == 200


async def test_a_path_that_there_is_not_and_a_method_that_there_is_not_are_told(hub: RestHub) -> None:
    for path in ("/nothing", "/servers/", "/servers/a/b/c/d", "/api/", "/servers/%0A/x"):
        answer = await hub.ask("GET", path)
        assert (answer.status, answer.json["status"]) == (404, 404), path
    answer = await hub.ask("PATCH", "/servers")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, POST, HEAD, OPTIONS")
    answer = await hub.ask("OPTIONS", "/servers")
    assert (answer.status, answer.headers["Allow"], answer.body) == (204, "GET, POST, HEAD, OPTIONS", b"")
    answer = await hub.ask("DELETE", "/api/openapi.json")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


async def test_head_says_what_get_would_without_saying_it(hub: RestHub) -> None:
    whole, head = await hub.ask("GET", "/servers"), await hub.ask("HEAD", "/servers")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]
    assert (await hub.ask("HEAD", "/api/events")).headers["Content-Type"] == "text/event-stream"


async def test_where_things_are_stands_at_the_beginning(hub: RestHub) -> None:
    index = (await hub.ask("GET", "/api/mcp")).json
    assert (await hub.ask("GET", index["openapi"])).json["openapi"] == "3.1.0"
    assert (await hub.ask("GET", index["events"])).body.startswith(b"event: Told")


async def test_answers_are_not_kept_by_anybody(hub: RestHub) -> None:
    answer = await hub.ask("GET", "/servers")
    assert (answer.headers["Cache-Control"], answer.headers["X-Content-Type-Options"]) == ("no-store", "nosniff")


@pytest.mark.expected_warnings("POST /api/hub/set_mcp_enabled failed")
async def test_a_bug_is_an_answer_and_says_nothing_of_the_inside(hub: RestHub) -> None:

    async def breaks(enabled: bool) -> None:
        raise KeyError("hunter2")

    hub.parts.conf.set_enabled = breaks  # type: ignore[method-assign]
    answer = await hub.ask("POST", "/api/hub/set_mcp_enabled", {"enabled": False})
    assert (answer.status, answer.json["title"]) == (500, "Internal error in Tooltray")
    assert b"hunter2" not in answer.body


async def test_what_a_verb_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, is_trusted=True) as hub:
        answer = await hub.ask("POST", "/api/secrets/set_secret_backend", {"kind": "drawer"})
        assert answer.status == 422
        assert answer.json["title"] == "'drawer' is not a place for secrets"
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
        ("ai_clients/preview_own_skill", {"folder": str(folder)}),
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
            assert (answer.status, answer.json["title"]) == (403, "Programs may not do this"), path
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


@pytest.mark.parametrize(("is_trusted", "status"), [(False, 403), (True, 204)])
async def test_a_program_allows_a_call_that_waits_only_if_the_person_allowed_that(tmp_path: Path, is_trusted: bool, status: int) -> None:
    servers, programs = {"s": entry("p", autoApprove=[])}, {"p": ScriptedServer(tool("t"))}
    async with rest_hub(tmp_path, servers=servers, programs=programs, is_trusted=is_trusted) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        assert "error" in await hub.parts.call("t")
        [question] = await hub.parts.presenter.get_approvals()
        answer = await hub.ask("POST", "/api/approvals/answer_approval", {"id": question.id, "answer": "once"})
        assert answer.status == status
        assert is_trusted or answer.json["title"] == "Programs may not do this"
        assert [each.verb for each in await hub.parts.trail.entries()] == ["answer_approval"] * is_trusted
        assert "result" in await hub.parts.call("t") if is_trusted else "error" in await hub.parts.call("t")
        assert (await hub.ask("POST", "/api/approvals/answer_approval", {"id": "a", "answer": "once"})).status == 404


async def test_a_program_that_goes_away_ends_its_call(tmp_path: Path) -> None:
    program = ScriptedServer(tool("hang"))
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": program}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        call = asyncio.ensure_future(hub.ask("POST", "/api/tools/call_tool", {"name": "hang", "arguments": {}}))
        await program.asked.wait(lambda asked: asked.method == "tools/call")
        call.cancel()
        await program.cancelled.wait()


def on_disk(hub: RestHub) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(hub.parts.home.settings.read_text())
    return document


@pytest.mark.parametrize(
    ("token", "method", "path", "needed"),
    [
        (READ_TOKEN, "POST", "/api/tools/call_tool", "call"),
        (READ_TOKEN, "POST", "/servers", "manage"),
        (READ_TOKEN, "DELETE", "/servers/s", "manage"),
        (CALL_TOKEN, "POST", "/api/settings/change_settings", "manage"),
        (CALL_TOKEN, "POST", "/api/servers/stop_server", "manage"),
    ],
)
async def test_a_token_does_what_its_scope_covers_and_is_told_what_it_would_need(
    tmp_path: Path, token: str, method: str, path: str, needed: str
) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p", disable=True)}) as hub:
        answer = await hub.ask(method, path, {}, token=token)
        assert (answer.status, answer.json["scope"]) == (403, needed)
        assert f"this requires {needed}" in answer.json["detail"]
        assert f'scope="{needed}"' in answer.headers["WWW-Authenticate"]
        assert "s" in on_disk(hub)["mcpServers"]
        for path in ("/servers", "/api/settings/get_settings", "/api/events", "/api/openapi.json"):
            assert (await hub.ask("GET", path, token=token)).status == 200


async def test_a_token_of_the_scope_call_calls_tools(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": ScriptedServer(tool("t"))}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        assert (await hub.ask("POST", "/api/tools/call_tool", {"name": "t", "arguments": {}}, token=CALL_TOKEN)).status == 200


async def test_a_token_that_was_seen_beyond_its_end_is_saved_as_ended(hub: RestHub) -> None:
    hub.tokens.is_saved = False
    assert (await hub.ask("GET", "/servers", token="nobody's")).status == 401
    async with asyncio.timeout(10):
        while len(hub.parts.keeper):  # noqa: ASYNC110 - not all tasks: the refused connection stays open for 15 s
            await asyncio.sleep(0)
    assert hub.tokens.saved == 1


@pytest.mark.expected_warnings("the tokens cannot be saved")
async def test_a_save_of_ended_tokens_that_fails_is_only_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with rest_hub(tmp_path) as hub:

        def fails() -> None:
            raise TooltrayError("the tokens cannot be saved")

        hub.tokens.is_saved, hub.tokens.save = False, fails  # type: ignore[method-assign]
        assert (await hub.ask("GET", "/servers")).status == 200
        await hub.parts.ended()
    assert "the tokens cannot be saved" in caplog.text
    caplog.clear()


class Trusting:
    async def has(self, digest: str) -> bool:
        return True


async def test_what_a_trusted_program_widens_or_narrows_is_recorded_and_what_it_reads_is_not(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    asker = ProgramAsker(TokenHolder("script", "manage", "digest", may_be_trusted=True), Trusting(), AuditTrail(path))
    asker.on_asked(60.0)  # it waits for a person as long as it likes
    await asker.confirm(Wish(Phrase("Reading a secret"), is_reading=True))
    assert not path.exists()
    await asker.confirm(Wish(Phrase("Allowing a folder")))
    await asker.note(Wish(Phrase("A folder")))
    assert [each in line for each, line in zip(("yes", "narrowed"), path.read_text().splitlines(), strict=True)] == [True, True]


@pytest.mark.parametrize(
    "changes",
    [
        {"allowedFolders": ["/"]},
        {"fileServers": {}},
        {"publish": {"http": {"host": "0.0.0.0"}}},
        {"publish": {"clients": {"c": {"autoApprove": ["all"]}}}},
        {"publish": {"clients": {"c": None}}},
        {"publish": {"clients": None}},
        {"publish": None},
        {"publish": "x"},
        {"publish": {"clients": {"known": {"profile": None}}}},
        {"profiles": {"few": {"servers": None}}},
        {"customNpmRegistry": "http://127.0.0.1:9/"},
        {"npmRegistries": [{"url": "http://127.0.0.1:9/"}]},
        {"autoDetectNpmRegistry": True},
        {"secrets": {"backend": "file"}},
    ],
)
async def test_settings_that_let_more_happen_unasked_are_for_trusted_programs(tmp_path: Path, changes: dict[str, Any]) -> None:
    settings = {"profiles": {"few": {"servers": []}}, "autoDetectNpmRegistry": False}
    settings |= {"publish": {"clients": {"known": {"profile": "few"}}}}
    async with rest_hub(tmp_path, settings=settings) as hub:
        before = hub.parts.home.settings.read_bytes()
        assert (await hub.ask("POST", "/api/settings/change_settings", {"changes": changes})).status == 403
        assert hub.parts.home.settings.read_bytes() == before


@pytest.mark.parametrize("http", [{"api": {"trusted": True}}, {"api": None}, None, "x"])
async def test_no_program_changes_what_programs_may_do(tmp_path: Path, http: Any) -> None:
    async with rest_hub(tmp_path, is_trusted=True) as hub:
        answer = await hub.ask("POST", "/api/settings/change_settings", {"changes": {"publish": {"http": http}}})
        assert (answer.status, answer.json["hint"]) == (403, "See `tooltray http api`.")
        for path in ("/http/api", "/api/token", "/http/token"):
            assert (await hub.ask("GET", path)).status == 404


async def test_other_settings_are_changed_by_what_is_to_be_different(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, settings={"mine": {"a": 1}}) as hub:
        seen = await hub.ask("GET", "/api/settings/get_settings")
        assert (seen.json["settings"]["mine"], seen.headers["ETag"]) == ({"a": 1}, f'"{seen.json["revision"]}"')
        merge = {"Content-Type": "application/merge-patch+json", "If-Match": seen.headers["ETag"]}
        changed = await hub.ask(
            "POST",
            "/api/settings/change_settings",
            {"changes": {"publish": {"feedback": False, "clients": {"c": {"mode": "lazy"}}}}},
            headers=merge,
        )
        assert changed.json["settings"]["publish"]["feedback"] is False
        again = await hub.ask("POST", "/api/settings/change_settings", {"changes": {"publish": {"feedback": True}}}, headers=merge)
        assert (again.status, again.json["type"]) == (412, "urn:tooltray:problem:changed-meanwhile")
        assert json.loads(hub.parts.home.settings.read_text())["publish"]["feedback"] is False


async def test_a_folder_in_one_that_a_person_allowed_is_allowed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "src" / "shop", tmp_path / "other"
    inside.mkdir(parents=True)
    outside.mkdir()
    async with rest_hub(tmp_path / "home", settings={"allowedFolders": [str(tmp_path / "src")]}) as hub:
        assert (await hub.ask("POST", "/api/projects/allow_folder", {"path": str(inside)})).status == 200
        assert (await hub.ask("POST", "/api/projects/allow_folder", {"path": str(outside)})).status == 403
        assert (await hub.ask("GET", "/api/projects/get_allowed_folders")).json[0] == str(tmp_path / "src")


async def test_what_no_path_can_be_is_refused_like_any_other(tmp_path: Path) -> None:
    async with rest_hub(tmp_path / "home") as hub:
        for odd in ("/a\0b", "/\ud800"):
            assert (await hub.ask("POST", "/api/projects/allow_folder", {"path": odd})).status == 422
        assert (await hub.ask("GET", "/servers?project=%00")).status in (400, 422)


async def test_rules_beside_all_are_nothing_more(tmp_path: Path) -> None:
    servers = {"s": {"command": "p", "disable": True, "autoApprove": ["all"]}}
    async with rest_hub(tmp_path, servers=servers) as hub:
        answer = await hub.ask("PUT", "/servers/s", {"command": "p", "disable": True, "autoApprove": ["write", "all"]})
        assert answer.status == 200


async def test_an_entry_with_two_ways_to_be_reached_says_which_by_transport(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": {"command": "p", "disable": True}}) as hub:
        both = {"command": "p", "url": "http://127.0.0.1:9/", "transport": "stdio", "disable": True}
        assert (await hub.ask("PUT", "/servers/s", both)).json["transport"] == "stdio"
        assert (await hub.ask("PUT", "/servers/s", {**both, "autoApprove": "all"})).status == 422


async def test_secrets_are_named_and_never_shown(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        assert (await hub.ask("POST", "/api/secrets/set_secret", {"name": "s/KEY", "value": "hunter2"})).status == 204
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == ["s/KEY"]
        assert (await hub.ask("POST", "/api/secrets/remove_secret", {"name": "s/KEY"})).status == 204
        assert (await hub.ask("GET", "/api/secrets/get_secret_names")).json == []


OTHERS = ({"command": "q"}, {"args": ["more"]}, {"env": {"NODE_OPTIONS": "-r x"}}, {"command": None, "url": "http://127.0.0.1:9/"})


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("rules", [["all"], ["read"]])
async def test_another_program_waits_whatever_was_allowed_to_the_one_before(
    tmp_path: Path, other: dict[str, Any], rules: list[str]
) -> None:
    there = {"command": "p", "env": {"API_KEY": "${secret:s/API_KEY}"}, "disable": True, "autoApprove": rules}
    given = {key: value for key, value in {**there, **other}.items() if value is not None}
    async with rest_hub(tmp_path, servers={"s": there}) as hub:
        answer = await hub.ask("PUT", "/servers/s", given)
        assert (answer.status, answer.json["waiting"]) == (200, True)
        assert (await hub.ask("GET", "/servers/s/entry")).json == there
    async with rest_hub(tmp_path / "trusted", servers={"s": there}, is_trusted=True) as hub:
        answer = await hub.ask("PUT", "/servers/s", given)
        assert (answer.status, answer.json["waiting"]) == (200, False)


async def test_the_same_program_keeps_what_was_allowed_also_where_its_key_is_put_away(tmp_path: Path) -> None:
    there = {"command": "p", "env": {"API_KEY": "sk-ant-dummy0123456789abcdefghijklmnop"}, "disable": True, "autoApprove": ["all"]}
    async with rest_hub(tmp_path, servers={"s": there}) as hub:
        entry = (await hub.ask("GET", "/servers/s/entry")).json
        assert entry["env"] == {"API_KEY": "${secret:s/API_KEY}"}
        assert (await hub.ask("PUT", "/servers/s", {**entry, "descriptions": "Notes"})).status == 200


async def test_another_program_in_a_projects_file_does_not_get_what_a_person_chose_for_the_one_there(tmp_path: Path) -> None:
    async with rest_hub(tmp_path / "home", programs={"p": ScriptedServer(tool("t"))}) as hub:
        folder = tmp_path.resolve() / "shop"
        folder.mkdir()
        presenter = hub.parts.presenter
        await presenter.allow_folder(str(folder))
        name = await presenter.add_mcp_server("db", {"command": "p"}, project=str(folder))
        await presenter.set_server_auto_approve(name, ["all"])
        for body in ({"command": "q"}, {"command": "q", "autoApprove": ["read"]}):
            assert (await hub.ask("PUT", f"/servers/{name}", body)).json["waiting"]
        assert "q" not in (folder / ".mcp.json").read_text().split('"')
        assert (await hub.ask("PUT", f"/servers/{name}", {"command": "p", "descriptions": "Data"})).status == 200
