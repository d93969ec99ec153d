"""import_plan.py: each server is offered once, compared with those that are here."""

import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.fakes.hub_parts import HubParts, Shell, hub_parts

from tooltray.config.foreign_configs.document_lines import Positions
from tooltray.config.foreign_configs.documents import Content, Document
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.files.file_text import FileText
from tooltray.foundation.phrases import Phrase, as_json
from tooltray.foundation.snapshots.ai_clients import FoundSecret, ImportCandidate
from tooltray.sources.clients.client_kinds import ClientKind, read_client_kinds
from tooltray.sources.clients.found_entries import FoundEntry, entries_in
from tooltray.sources.clients.import_offers import Found, Offer, of_clients, of_text
from tooltray.sources.clients.import_plan import Program, count_new, looked_up, offers, program_of, usual_name

KINDS = {kind.id: kind for kind in read_client_kinds()}
TOKEN = "ghp_dummy0123456789"
GITHUB = {"command": "npx", "args": ["-y", "github-server"], "env": {"GITHUB_TOKEN": TOKEN}}


def entries(client: str, content: Mapping[str, Any], project: str = "", path: str = "") -> list[FoundEntry]:
    kind: ClientKind = KINDS[client]
    document = Document(Path(path or f"/home/me/{client}"), kind.format, FileText(), Content(content, Positions))
    return entries_in(kind, document, project=project)


async def planned(parts: HubParts, found: list[Found], secrets: Any = None) -> list[Offer]:
    secrets = secrets or parts.secrets
    return await offers(found, config=parts.config, secrets=secrets, environ=parts.environ, user_folder=parts.user_folder)


async def offered(parts: HubParts, *found: FoundEntry) -> list[Offer]:
    return await planned(parts, of_clients(found))


async def candidates(parts: HubParts, *found: FoundEntry) -> list[ImportCandidate]:
    return [offer.candidate for offer in await offered(parts, *found)]


async def test_nine_clients_with_the_same_server_have_one_candidate(tmp_path: Path) -> None:
    words = ["-y", "github-server"]
    env, named = {"GITHUB_TOKEN": TOKEN}, {"GITHUB_TOKEN": "{env:GITHUB_TOKEN}"}
    nine = [
        *entries("claude-code", {"mcpServers": {"github": {"type": "stdio", **GITHUB}}}),
        *entries("cursor", {"mcpServers": {"GitHub": {**GITHUB, "env": {"GITHUB_TOKEN": "${env:GITHUB_TOKEN}"}}}}),
        *entries("vscode", {"servers": {"github": {"type": "stdio", **GITHUB, "env": {"GITHUB_TOKEN": "${input:token}"}}}}),
        *entries("codex", {"mcp_servers": {"gh": {"command": "npx", "args": words, "env_vars": ["GITHUB_TOKEN"]}}}),
        *entries("gemini-cli", {"mcpServers": {"github": {**GITHUB, "env": {"GITHUB_TOKEN": "$GITHUB_TOKEN"}, "timeout": 5000}}}),
        *entries("copilot-cli", {"mcpServers": {"github": {"type": "local", **GITHUB, "tools": ["*"]}}}),
        *entries("opencode", {"mcp": {"github": {"type": "local", "command": ["npx", *words], "environment": named}}}),
        *entries("goose", {"extensions": {"github": {"type": "stdio", "cmd": "npx", "args": words, "env_keys": ["GITHUB_TOKEN"]}}}),
        *entries("cline", {"mcpServers": {"github": {"command": "cmd", "args": ["/c", "npx", *words], "env": env, "autoApprove": ["x"]}}}),
    ]  # fmt: skip
    assert len({each.client.id for each in nine}) == 9
    async with hub_parts(tmp_path, servers={}, shell=Shell(GITHUB_TOKEN=TOKEN)) as parts:
        (offer,) = await offered(parts, *nine)
        candidate = offer.candidate
        assert (candidate.name, candidate.state, candidate.is_chosen, len(candidate.sources)) == ("github", "new", True, 9)
        assert candidate.secrets == (FoundSecret("GITHUB_TOKEN", "form"),)
        assert candidate.entry["env"] == {"GITHUB_TOKEN": "${secret:github/GITHUB_TOKEN}"}
        assert "callTimeout" not in candidate.entry
        assert ("autoApprove" in candidate.entry, candidate.asks) == (False, ())
        assert candidate.target == "npx -y github-server"
        assert TOKEN not in repr(offer)
        assert TOKEN not in json.dumps(as_json(candidate))


def test_programs_that_no_server_here_has_are_counted_without_their_keys(tmp_path: Path) -> None:
    given = of_clients(
        [
            *entries("cursor", {"mcpServers": {"a": GITHUB, "b": {"url": "https://x.example/mcp/"}, "odd": {}}}),
            *entries("vscode", {"servers": {"b": {"url": "https://x.example/mcp"}, "c": {"command": "uvx", "args": ["--key", TOKEN]}}}),
        ]
    )
    assert count_new(given, [], tmp_path) == 3
    here = [{**GITHUB, "env": {"GITHUB_TOKEN": "${secret:a/GITHUB_TOKEN}"}}, {"command": "uvx", "args": ["--key", "${secret:c/KEY}"]}]
    assert count_new(given, here, tmp_path) == 1


async def test_what_is_done_for_each_entry_is_not_done_in_the_loop(tmp_path: Path) -> None:
    used_in = set[int]()

    class Watched(list[str]):
        def __iter__(self) -> Iterator[str]:
            used_in.add(threading.get_ident())
            return super().__iter__()

    found = entries("cursor", {"mcpServers": {str(number): {"command": "npx", "args": [str(number)]} for number in range(3)}})
    async with hub_parts(tmp_path, servers={}) as parts:
        secrets: Any = SimpleNamespace(known_values=lambda: Watched(["a secret value"]))
        assert len(await planned(parts, of_clients(found), secrets)) == 3
    assert used_in
    assert threading.get_ident() not in used_in


async def test_a_place_of_secrets_that_cannot_be_reached_is_asked_once(tmp_path: Path) -> None:
    asked: list[str] = []

    async def get(name: str) -> str:
        asked.append(name)
        raise SecretsLocked(Phrase("locked"))

    words = {"command": "npx", "args": ["-y", "github-server"]}
    servers = {name: {**words, "env": {"GITHUB_TOKEN": f"${{secret:{name}/T}}", "A": f"${{secret:{name}/A}}"}} for name in ("one", "two")}
    found = entries("cursor", {"mcpServers": {"github": {**words, "env": {"GITHUB_TOKEN": TOKEN, "A": "${env:A}"}}}})
    async with hub_parts(tmp_path, servers=servers) as parts:
        secrets: Any = SimpleNamespace(known_values=frozenset, get=get)
        [offer] = await planned(parts, of_clients(found), secrets)
    assert offer.candidate.state == "new"
    assert len(asked) == 1


async def test_two_keys_are_two_servers_and_their_ids_tell_nothing_of_them(tmp_path: Path) -> None:
    other = {**GITHUB, "env": {"GITHUB_TOKEN": "ghp_dummy_other"}}
    async with hub_parts(tmp_path, servers={}) as parts:
        found = [*entries("cursor", {"mcpServers": {"github": GITHUB}}), *entries("kiro", {"mcpServers": {"github": other}})]
        one, two = await candidates(parts, *found)
        assert [one.name, two.name] == ["github", "github-2"]
        assert one.id != two.id
        changed = entries("cursor", {"mcpServers": {"github": other}})
        assert (await candidates(parts, *changed))[0].id == one.id


async def test_an_id_stays_as_long_as_the_content_is_the_same(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}) as parts:
        before = await candidates(parts, *entries("cursor", {"mcpServers": {"a": GITHUB}}))
        same = await candidates(parts, *entries("kiro", {"mcpServers": {"b": GITHUB}}))
        other = await candidates(parts, *entries("cursor", {"mcpServers": {"a": {**GITHUB, "args": ["-y", "evil"]}}}))
        assert before[0].id == same[0].id != other[0].id


async def test_what_is_here_already_is_the_same_or_another_one_of_that_name(tmp_path: Path) -> None:
    servers = {
        "hub-github": {"command": "npx", "args": ["-y", "github-server"], "env": {"GITHUB_TOKEN": "${secret:x/T}"}},
        "wiki": {"command": "other"},
        "odd": {"nothing": 1},
    }
    async with hub_parts(tmp_path, servers=servers) as parts:
        await parts.secrets.set("x/T", TOKEN)
        found = entries(
            "cursor", {"mcpServers": {"github": GITHUB, "wiki": {"command": "wiki"}, "hub": {"command": "h"}, "odd": {"command": "o"}}}
        )
        same, different, builtin, unreadable = await candidates(parts, *found)
        assert (same.state, same.here, same.name, same.is_chosen) == ("same", "hub-github", "hub-github", True)
        assert (different.state, different.here, different.name, different.is_chosen) == ("different", "wiki", "wiki-2", False)
        assert "another server is called 'wiki' here" in different.why_not_chosen
        assert (builtin.state, builtin.name) == ("different", "hub-2")
        assert (unreadable.state, unreadable.here, unreadable.name) == ("different", "odd", "odd-2")


@pytest.mark.parametrize("here", ["dummy-of-another-account", None])
async def test_a_key_that_is_not_here_makes_another_server(tmp_path: Path, here: str | None) -> None:
    servers = {"github": {"command": "npx", "args": ["-y", "github-server"], "env": {"GITHUB_TOKEN": "${secret:x/T}"}}}
    async with hub_parts(tmp_path, servers=servers) as parts:
        if here:
            await parts.secrets.set("x/T", here)
        (candidate,) = await candidates(parts, *entries("cursor", {"mcpServers": {"github": GITHUB}}))
        assert (candidate.state, candidate.name) == ("different", "github-2")


async def test_servers_of_projects_and_those_that_are_off_or_wait_are_not_among_all(tmp_path: Path) -> None:
    on, off = {"command": "a"}, {"command": "b", "disabled": True}
    (waits,) = entries("claude-code", {"mcpServers": {"w": {"command": "w"}}}, "/p")
    found = [
        *entries("cursor", {"mcpServers": {"on": on, "off": off}}),
        *entries("cursor", {"mcpServers": {"of-project": {"command": "c"}}}, "/p"),
        *entries("cursor", {"mcpServers": {"both": {"url": "https://a.example"}}}, "/p"),
        *entries("kiro", {"mcpServers": {"both": {"url": "https://a.example"}}}),
        msgspec.structs.replace(waits, state="waits"),
        *entries("vscode", {"servers": {"boxed": {"command": "d", "sandboxEnabled": True}}}),
        *entries("claude-code", {"mcpServers": {"odd": {"url": "https://b.example", "newThing": 1}}}),
    ]
    async with hub_parts(tmp_path, servers={}) as parts:
        why = {each.name: each.why_not_chosen for each in await candidates(parts, *found)}
        assert why == {
            "on": "",
            "off": "it is switched off in its client",
            "of-project": "it is in the file of a project: /p",
            "both": "",
            "w": "it waits for approval in its client",
            "boxed": "its client runs it in a sandbox; here it would run without one",
            "odd": "this is not carried over: newThing",
        }


async def test_what_is_not_carried_over_is_named_also_where_another_reason_comes_first(tmp_path: Path) -> None:
    found = entries("claude-code", {"mcpServers": {"wiki": {"url": "https://b.example", "headersHelper": "/opt/headers"}}})
    async with hub_parts(tmp_path, servers={"wiki": {"command": "other"}}) as parts:
        (candidate,) = await candidates(parts, *found)
        assert "another server" in candidate.why_not_chosen
        assert "headersHelper" in candidate.remarks[0]


async def test_what_is_broken_has_a_reason_without_its_values(tmp_path: Path) -> None:
    secret = f"{TOKEN}${{X}}"
    found = entries("cursor", {"mcpServers": {"a": {"command": "x", "env": {"ODD": secret}}, "b": {"command": TOKEN, "args": 5}}})
    async with hub_parts(tmp_path, servers={}) as parts:
        one, two = await candidates(parts, *found)
        assert (one.state, two.state, one.is_chosen) == ("broken", "broken", False)
        assert one.problem is not None
        assert str(one.problem).startswith("'a' cannot be imported: one text contains a secret and a placeholder")
        assert "/home/me/cursor" in str(one.problem)
        assert TOKEN not in json.dumps(as_json([one, two]))
        (given,) = await planned(parts, of_text(json.dumps({"mcpServers": {"c": {"command": "x", "args": 5}}})))
        assert given.candidate.problem is not None
        assert given.candidate.problem.hint == "Correct it, and try again"


async def test_limits_that_all_clients_have_come_with_a_server_and_others_do_not(tmp_path: Path) -> None:
    limited = {"command": "x", "disabledTools": ["a"], "timeout": 5}
    found = [*entries("roo-code", {"mcpServers": {"x": limited}}), *entries("cline", {"mcpServers": {"x": {**limited, "timeout": 9}}})]
    async with hub_parts(tmp_path, servers={}) as parts:
        (candidate,) = await candidates(parts, *found)
        assert (candidate.entry["disabledTools"], "callTimeout" in candidate.entry) == (["a"], False)


async def test_the_files_that_entries_name_are_read_and_their_content_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("dummy-in-file\n")
    (tmp_path / "large").write_text("x" * 70_000)
    written = {
        "a": {"command": "x", "environment": {"T": f"{{file:{tmp_path}/token}}"}},
        "b": {"command": "x", "environment": {"T": f"{{file:{tmp_path}/none}}"}},
        "c": {"command": "x", "environment": {"T": f"{{file:{tmp_path}/large}}"}},
    }
    async with hub_parts(tmp_path / "home", servers={}) as parts:
        good, gone, large = await candidates(parts, *entries("opencode", {"mcp": written}))
        assert good.entry["env"] == {"T": "${secret:a/T}"}
        assert "is not there" in str(gone.problem)
        assert "cannot be read: it is larger" in str(large.problem)


async def test_a_proxy_is_offered_as_what_it_carries(tmp_path: Path) -> None:
    found = entries(
        "cursor", {"mcpServers": {"linear": {"command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.example/mcp"]}}}
    )
    async with hub_parts(tmp_path, servers={}) as parts:
        (candidate,) = await candidates(parts, *found)
        assert (candidate.target, candidate.name) == ("https://mcp.linear.example/mcp", "linear")
        assert "mcp-remote" in candidate.proxied


async def test_no_shell_is_asked_for_variables_that_are_not_named(tmp_path: Path) -> None:
    class NoShell(Shell):
        async def environ(self) -> Mapping[str, str]:
            raise AssertionError("it was asked")

    async with hub_parts(tmp_path, servers={}, shell=NoShell()) as parts:
        assert len(await candidates(parts, *entries("cursor", {"mcpServers": {"a": {"command": "x"}}}))) == 1


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [("io.example/git{hub}", [], "github"), ("", ["npx", "-y", "wiki-mcp"], "wiki"), ("///", ["x"], "x")],
)
def test_a_name_becomes_one_that_a_server_may_have(name: str, words: list[str], expected: str) -> None:
    assert usual_name(name, words) == expected


def test_what_was_found_shows_no_entry(tmp_path: Path) -> None:
    (found,) = of_clients(entries("cursor", {"mcpServers": {"github": GITHUB}}))
    assert isinstance(found, Found)
    assert TOKEN not in repr(found)


KEYS = {"a/KEY": "dummy-one", "b/KEY": "dummy-one", "c/KEY": "dummy-two"}


def program(entry: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Program:
    return program_of(entry, lambda inner: looked_up(inner, KEYS, environ or {}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"command": "npx", "args": ["-y", "x"]}, {"command": "/usr/bin/npx", "args": ["--yes", "x"], "type": "stdio"}),
        ({"command": "npx", "args": ["-y", "x"]}, {"command": "cmd", "args": ["/c", "npx.cmd", "-y", "x"]}),
        ({"url": "https://a.example/mcp"}, {"url": "https://a.example/mcp/", "type": "http"}),
        ({"command": "x", "env": {"A": "1", "B": "2"}}, {"command": "x", "env": {"B": "2", "A": "1"}, "icons": "y"}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${secret:b/KEY}"}}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${UNKNOWN}"}}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${SET}"}}),
        ({"command": "x", "env": {"K": "${input:key}"}}, {"command": "x", "env": {"K": "${secret:c/KEY}"}}),
        ({"command": "x", "env": {"K": "${NONE:-dummy-one}"}}, {"command": "x", "env": {"K": "${secret:a/KEY}"}}),
        ({"command": "x", "args": ["${é"], "env": {"A": "}"}}, {"command": "x", "args": ["${é"], "env": {"A": "}"}}),
    ],
)  # fmt: skip
def test_the_same_server(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert program(one, {"SET": "dummy-one"}).is_same(program(other, {"SET": "dummy-one"}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"command": "x"}, {"command": "y"}),
        ({"command": "x", "args": ["a"]}, {"command": "x", "args": ["b"]}),
        ({"url": "https://a.example", "type": "sse"}, {"url": "https://a.example"}),
        ({"command": "x", "cwd": "/p"}, {"command": "x"}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${secret:c/KEY}"}}),
        ({"command": "x", "env": {"K": "${secret:c/KEY}"}}, {"command": "x", "env": {"K": "${SET}"}}),
    ],
)
def test_another_server(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not program(one, {"SET": "dummy-one"}).is_same(program(other, {"SET": "dummy-one"}))


def test_no_value_is_in_what_is_logged() -> None:
    assert "dummy-one" not in repr(program({"command": "x", "env": {"K": "${secret:a/KEY}"}}))
