"""found_entries.py: the servers in clients' files, and what each entry is."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import BRIDGE, KINDS, document_of, put

from tooltray.foundation.files.file_text import CannotOpen
from tooltray.sources.clients.found_entries import (
    MAX_ENTRIES,
    MAX_WORD,
    Approvals,
    Entry,
    FoundEntry,
    approvals_of,
    entries_in,
    headers_of,
    is_off,
    is_server,
    kind_of,
    url_of,
    variables_of,
    words_of,
)

RUNS = {"command": "npx"}


def found(tmp_path: Path, id: str, content: Any, name: str = "", **about: Any) -> list[FoundEntry]:
    return entries_in(KINDS[id], document_of(KINDS[id], tmp_path, content, name), **about)


def names(entries: list[FoundEntry]) -> list[tuple[str, str]]:
    return [(entry.name, entry.state) for entry in entries]


@pytest.mark.parametrize(
    ("id", "content", "place"),
    [
        ("cursor", {"mcpServers": {"a": RUNS}}, ("mcpServers", "a")),
        ("vscode", {"servers": {"a": RUNS}, "inputs": []}, ("servers", "a")),
        ("vscode", {"mcp": {"servers": {"a": RUNS}}}, ("mcp", "servers", "a")),
        ("amp", {"amp.mcpServers": {"a": RUNS}}, ("amp.mcpServers", "a")),
        ("opencode", {"mcp": {"a": {"type": "local", "command": ["npx"]}}}, ("mcp", "a")),
        ("opencode", {"mcp": {"servers": {"a": RUNS}}}, ("mcp", "servers", "a")),
        ("zed", {"context_servers": {"ext": {"settings": {}}, "a": RUNS}}, ("context_servers", "a")),
        ("codex", "[mcp_servers.a]\ncommand = 'npx'\n", ("mcp_servers", "a")),
        ("goose", "extensions:\n  developer: {type: builtin}\n  a: {cmd: npx}\n", ("extensions", "a")),
        ("continue", "mcpServers:\n  - name: a\n    command: npx\n  - 1\n  - {command: x}\n", ("mcpServers", 0)),
        ("jan", {"a": RUNS, "mcpSettings": {}}, ("a",)),
        ("claude-desktop-extensions", {"name": "a", "server": {"mcp_config": RUNS}}, ("server", "mcp_config")),
    ],
)
def test_each_client_s_servers_are_found_where_it_keeps_them(tmp_path: Path, id: str, content: Any, place: tuple[str | int, ...]) -> None:
    [entry] = found(tmp_path, id, content)
    assert (entry.client.id, entry.name, entry.place, entry.state, entry.kind) == (id, "a", place, "on", "server")
    assert entry.line >= 1
    assert "name" not in entry.entry


@pytest.mark.parametrize("content", ["[]", "1", "", '{"mcpServers": []}', '{"mcpServers": {"a": 1, "b": null}}', '{"mcpServers": null}'])
def test_what_makes_no_sense_has_no_servers(tmp_path: Path, content: str) -> None:
    assert found(tmp_path, "cursor", content) == []


@pytest.mark.parametrize("content", [[], {"name": 1, "server": {"mcp_config": {}}}, {"name": "a", "server": 1}])
def test_a_manifest_that_makes_no_sense_has_no_server(tmp_path: Path, content: Any) -> None:
    assert found(tmp_path, "claude-desktop-extensions", content) == []


def test_an_entry_that_starts_nothing_is_shown_where_only_servers_are(tmp_path: Path) -> None:
    assert names(found(tmp_path, "cursor", {"mcpServers": {"a": {}}})) == [("a", "on")]


def test_a_server_may_be_called_like_the_place_of_servers(tmp_path: Path) -> None:
    assert names(found(tmp_path, "opencode", {"mcp": {"servers": RUNS}})) == [("servers", "on")]


def test_claude_code_also_has_servers_of_one_folder(tmp_path: Path) -> None:
    content = {
        "mcpServers": {"a": RUNS, "t": BRIDGE},
        "projects": {"/p": {"mcpServers": {"b": RUNS, "c": RUNS}, "disabledMcpServers": ["c", 1]}, "/q": {}, "/r": 1},
    }
    entries = found(tmp_path, "claude-code", content)
    assert [(each.name, each.project, each.kind, each.state) for each in entries] == [
        ("a", "", "server", "on"),
        ("t", "", "bridge", "on"),
        ("b", "/p", "server", "on"),
        ("c", "/p", "server", "off"),
    ]
    assert entries[2].place == ("projects", "/p", "mcpServers", "b")
    assert names(found(tmp_path, "cursor", content)) == [("a", "on"), ("t", "on")]
    assert names(found(tmp_path, "claude-code", content, project="/p")) == [("a", "on"), ("t", "on")]


def test_a_project_s_file_may_be_the_servers_themselves(tmp_path: Path) -> None:
    bare = {"a": RUNS, "b": {"version": 1}, "c": 1}
    assert names(found(tmp_path, "copilot-cli", bare, project="/p")) == [("a", "on")]
    assert names(found(tmp_path, "copilot-cli", {"mcpServers": {}, **bare}, project="/p")) == []
    assert names(found(tmp_path, "copilot-cli", bare)) == []


def test_lists_and_objects_of_continue_are_both_read(tmp_path: Path) -> None:
    assert names(found(tmp_path, "continue", {"mcpServers": {"a": RUNS}}, "a.json", project="/p")) == [("a", "on")]


def test_what_is_switched_off_is_off(tmp_path: Path) -> None:
    assert names(found(tmp_path, "cline", {"mcpServers": {"a": {**RUNS, "disabled": True}}})) == [("a", "off")]
    gemini = {"mcpServers": {"a": RUNS, "b": RUNS}, "mcp": {"excluded": ["a"]}}
    assert names(found(tmp_path, "gemini-cli", gemini)) == [("a", "off"), ("b", "on")]
    assert names(found(tmp_path, "gemini-cli", gemini | {"mcp": {"excluded": "a"}})) == [("a", "on"), ("b", "on")]


def test_servers_of_a_project_wait_for_their_client_s_yes(tmp_path: Path) -> None:
    content = {"mcpServers": {"a": RUNS, "b": RUNS, "c": RUNS, "d": {**RUNS, "disabled": True}}}
    some = Approvals(enabled=frozenset("a"), disabled=frozenset("b"))
    assert names(found(tmp_path, "claude-code", content, project="/p", approvals=some)) == [
        ("a", "on"),
        ("b", "off"),
        ("c", "waits"),
        ("d", "off"),
    ]
    every = Approvals(all=True, disabled=frozenset("b"))
    assert [state for _, state in names(found(tmp_path, "claude-code", content, project="/p", approvals=every))] == [
        "on",
        "off",
        "on",
        "off",
    ]


def test_what_leads_to_us_is_named(tmp_path: Path) -> None:
    content = {"mcpServers": {"a": {"url": "http://127.0.0.1:7717/mcp"}, "b": {"command": "x", "args": ["http://127.0.0.1:7717/mcp"]}}}
    assert [entry.kind for entry in found(tmp_path, "cursor", content, own_url="http://127.0.0.1:7717")] == ["bridge", "loop"]


def test_a_file_with_more_servers_than_usual_is_refused(tmp_path: Path) -> None:
    servers = {str(number): RUNS for number in range(MAX_ENTRIES)}
    assert len(found(tmp_path, "cursor", {"mcpServers": servers})) == MAX_ENTRIES
    with pytest.raises(CannotOpen, match="more than 1000 servers"):
        found(tmp_path, "cursor", {"mcpServers": {**servers, "one more": RUNS}})


def test_no_entry_shows_its_content(tmp_path: Path) -> None:
    [entry] = found(tmp_path, "cursor", {"mcpServers": {"a": {**RUNS, "env": {"TOKEN": "not-real"}}}})
    assert "not-real" not in repr(entry)
    assert entry.entry["env"] == {"TOKEN": "not-real"}


def said(tmp_path: Path, projects: object = None) -> Approvals:
    return approvals_of(tmp_path / "p", tmp_path / ".claude", projects)


@pytest.mark.parametrize("place", [".claude/settings.json", "p/.claude/settings.json", "p/.claude/settings.local.json"])
def test_approvals_are_read_from_three_files(tmp_path: Path, place: str) -> None:
    put(tmp_path / place, {"enabledMcpjsonServers": ["a", 1], "disabledMcpjsonServers": ["b"]})
    assert said(tmp_path) == Approvals(False, frozenset("a"), frozenset("b"))
    put(tmp_path / place, {"enableAllProjectMcpServers": True, "enabledMcpjsonServers": "a"})
    assert said(tmp_path) == Approvals(True)


def test_older_versions_answer_in_their_own_file(tmp_path: Path) -> None:
    folder = str(tmp_path / "p")
    assert said(tmp_path, {folder: {"enabledMcpjsonServers": ["a"]}, "/other": {"enabledMcpjsonServers": ["b"]}}).enabled == {"a"}
    for odd in ({folder: 1}, [], None):
        assert said(tmp_path, odd) == Approvals()


@pytest.mark.parametrize("content", ["[]", "{", ""])
def test_a_file_that_makes_no_sense_answers_nothing(tmp_path: Path, content: str) -> None:
    put(tmp_path / ".claude/settings.json", content)
    assert said(tmp_path) == Approvals()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "npx", "args": ["-y", "p"]}, ("npx", "-y", "p")),
        ({"cmd": "npx", "args": ["-y", 1, True, None, 1.5]}, ("npx", "-y", "1", "true", "1.5")),
        ({"command": ["npx", "-y", "p"], "type": "local"}, ("npx", "-y", "p")),
        ({"command": {"path": "x", "args": ["a"]}, "source": "custom"}, ("x", "a")),
        ({"command": "", "cmd": "x", "arguments": ["a"]}, ("x", "a")),
        ({"command": "x", "args": "a b"}, ("x",)),
        ({"command": " ", "args": ["a"]}, ()),
        ({"command": 1}, ()),
        ({"command": []}, ()),
        ({"url": "http://x"}, ()),
    ],
)
def test_the_command_line(entry: Entry, words: tuple[str, ...]) -> None:
    assert words_of(entry) == words


@pytest.mark.parametrize("key", ["url", "uri", "serverUrl", "httpUrl", "baseUrl"])
def test_the_url_of_a_server_elsewhere(key: str) -> None:
    assert url_of({key: " http://x "}) == "http://x"
    assert url_of({key: "http://x", "command": "y"}) == ""
    assert url_of({key: 1}) == ""


def test_variables_and_headers_are_texts() -> None:
    assert variables_of({"envs": {"A": 1, "B": None, "C": False}}) == {"A": "1", "C": "false"}
    assert variables_of({"environment": ["A=1"]}) == {}
    assert headers_of({"http_headers": {"X": "y"}}) == {"X": "y"}


def test_what_has_neither_a_command_nor_a_url_is_no_server() -> None:
    assert [is_server(entry) for entry in ({"command": "x"}, {"url": "x"}, {"type": "builtin"}, {})] == [True, True, False, False]  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", [{"disabled": True}, {"disable": True}, {"enabled": False}, {"active": False}])
def test_a_server_can_be_switched_off_in_its_entry(entry: Entry) -> None:
    assert is_off(entry)
    assert not is_off({key: not value for key, value in entry.items()})
    assert not is_off(dict.fromkeys(entry, "true"))


OWN = "http://127.0.0.1:7717"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/home/me/.tooltray/bin/tooltray-bridge"},
        {"command": "C:\\Users\\me\\.tooltray\\bin\\tooltray-bridge.exe"},
        {"command": "cmd", "args": ["/c", "tooltray-bridge"]},
        {"command": "/usr/bin/python3", "args": ["-I", "-S", "/opt/x/tooltray_bridge/__main__.py"]},
        {"command": "/usr/bin/python3", "args": ["-m", "tooltray_bridge"]},
        {"command": ["uvx", "tooltray-bridge"], "type": "local"},
        {"cmd": "tooltray", "args": ["serve", "--stdio"]},
        {"command": "/opt/Tooltray/tooltray", "args": ["serve", "--stdio"]},
        {"command": "env", "args": ["A=1", "tooltray-bridge"]},
        {"url": "http://127.0.0.1:7717/mcp"},
        {"httpUrl": "http://localhost:7717/mcp", "headers": {"Authorization": "Bearer x"}},
    ],
)
def test_the_bridge_is_recognised_in_every_form_that_it_ever_had(entry: Entry) -> None:
    assert kind_of(entry, OWN) == "bridge"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "mcp-remote", "http://localhost:7717/mcp"]},
        {"command": "npx", "args": ["-y", "supergateway", "--stdio", "/home/me/.tooltray/bin/tooltray-bridge --profile x"]},
        {"command": "other-hub", "args": ["run", "/home/me/.tooltray/bin/tooltray-bridge"]},
        {"command": "other-hub", "env": {"UPSTREAM": "see http://127.0.0.1:7717/mcp"}},
        {"command": "other-hub", "args": ["--server", "it's tooltray", "tooltray serve"]},
        {"command": "other-hub", "args": ["--", "tooltray", "serve", "--stdio"]},
        {"command": "other-hub", "args": ["python", "/x/tooltray_bridge/__main__.py"]},
        {"command": "npx", "args": ["supergateway", "--stdio", "python /x/tooltray_bridge/__main__.py"]},
    ],
)
def test_what_leads_to_us_through_another_program_is_a_loop(entry: Entry) -> None:
    assert kind_of(entry, OWN) == "loop"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "@scope/server", "/home/me/tooltray"]},
        {"command": "x", "args": ["it's tooltray"]},
        {"command": "x", "args": ["tooltray " + "x" * MAX_WORD]},
        {"url": "http://127.0.0.1:7718/mcp"},
        {"url": "http://[nonsense"},
        {},
    ],
)
def test_everything_else_is_a_server(entry: Entry) -> None:
    assert kind_of(entry, OWN) == "server"


def test_without_an_address_no_url_is_ours() -> None:
    assert kind_of({"url": "http://127.0.0.1:7717/mcp"}, None) == "server"
