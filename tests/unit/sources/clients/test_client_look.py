"""client_look.py: the files of all clients, read once."""

import gc
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fakes.client_files import BRIDGE, KINDS, put

from tooltray.config.foreign_configs.documents import Document
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.installations import bridge_entry
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.sources.clients.api import AiClientsApi
from tooltray.sources.clients.bridge_entries import OwnEntry
from tooltray.sources.clients.client_edits import ClientEdits, ClientScans
from tooltray.sources.clients.client_kinds import ClientPlaces
from tooltray.sources.clients.client_look import MAX_PROJECTS, MAX_SERVERS, MAX_TARGET, ClientLook, plain_secrets_of, target_of
from tooltray.sources.clients.client_look import scan as scanned
from tooltray.sources.clients.found_entries import MAX_ENTRIES, Entry
from tooltray.sources.clients.imports import ClientImports

RUNS = {"command": "npx"}


def look(home: Path, *projects: str, **environ: str) -> ClientLook:
    return ClientLook(ClientPlaces({"HOME": str(home), **environ}, "linux"), own=OwnEntry(url="http://127.0.0.1:7717"), projects=projects)


def test_a_file_that_is_not_there_has_no_entries_and_no_document(tmp_path: Path) -> None:
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert (file.place.exists, file.entries, file.document, file.problem) == (False, (), None, None)


def test_a_file_in_a_bad_state_is_a_problem_and_others_are_read(tmp_path: Path) -> None:
    bad = put(tmp_path / ".cursor/mcp.json", '{"mcpServers": {\n"a": sk-not-real')
    put(tmp_path / ".config/Code/User/mcp.json", {"servers": {"a": RUNS}})
    here = look(tmp_path)
    [file] = here.files(KINDS["cursor"])
    assert file.problem
    assert (file.problem.title, file.problem.message, file.line) == (
        "mcp.json cannot be read",
        "line 2: this word is not JSON; texts need quotes",
        2,
    )
    assert file.problem.hint == f"Correct it in {bad}; Tooltray does not touch it"
    assert [entry.name for each in here.files(KINDS["vscode"]) for entry in each.entries] == ["a"]


def test_a_folder_in_a_file_s_place_is_a_problem_without_a_line(tmp_path: Path) -> None:
    (tmp_path / ".cursor/mcp.json").mkdir(parents=True)
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert file.problem
    assert (file.problem.message, file.line) == ("it is a folder", 0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"mcpServers": {},\n "mcpServers": {"a": {"command": "x"}}}', 2),
        ('{"mcpServers": {"a": {},\n "a": {"command": "x"}}}', 2),
        ('{"mcpServers": {"a": {"command": "y",\n "command": "x"}}}', 2),
        ('{"mcpServers": {"a": {"command": "x"}}, "other": {"k": 1,\n "k": 2}}', 0),
    ],
)
def test_keys_that_are_there_twice_on_the_way_to_a_server_keep_a_file_from_being_changed(tmp_path: Path, text: str, line: int) -> None:
    put(tmp_path / ".cursor/mcp.json", text)
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert [entry.entry["command"] for entry in file.entries] == ["x"]
    assert file.line == line
    assert bool(file.problem) == bool(line)
    if file.problem:
        assert "twice; the last one counts" in file.problem.message


def test_a_file_with_too_many_servers_is_named_and_nothing_of_it_stays_in_memory(tmp_path: Path) -> None:
    huge = put(tmp_path / ".cursor/mcp.json", {"mcpServers": {str(number): RUNS for number in range(MAX_ENTRIES + 1)}})
    here = look(tmp_path)
    [file] = here.files(KINDS["cursor"])
    assert file.problem
    assert (file.problem.title, file.problem.message) == ("mcp.json cannot be read", "it has more than 1000 servers")
    assert str(huge) in file.problem.hint
    assert file.document is None
    assert not [each for each in gc.get_objects() if isinstance(each, Document) and each.path == huge]


def test_a_malformed_file_stays_in_memory_no_longer_than_it_is_read(tmp_path: Path) -> None:
    line = 4711  # of no other test
    put(tmp_path / ".cursor/mcp.json", "{" + "\n" * (line - 1) + '"a": sk-not-real')
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert file.line == line
    kept = [each for each in gc.get_objects() if isinstance(each, CannotOpen) and each.line == line]
    assert not any(each.__traceback__ or each.__context__ for each in kept)


def test_beyond_a_number_of_servers_in_all_files_the_next_file_is_named(tmp_path: Path) -> None:
    several = {str(number): RUNS for number in range(MAX_ENTRIES)}
    clients = {"cursor": ".cursor/mcp.json", "kiro": ".kiro/settings/mcp.json", "lm-studio": ".lmstudio/mcp.json"}
    for path in clients.values():
        put(tmp_path / path, {"mcpServers": several})
    here = look(tmp_path)
    files = [here.files(KINDS[client])[0] for client in clients]
    assert [len(file.entries) for file in files] == [MAX_ENTRIES, MAX_ENTRIES, 0]
    assert files[-1].problem
    assert files[-1].problem.message == f"there are more than {MAX_SERVERS} servers in it and the files before it"


def test_a_file_of_several_clients_is_read_once_and_its_entries_count_once(tmp_path: Path) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": RUNS}})
    here = look(tmp_path, str(tmp_path / "p"))
    files = [file for id in ("claude-code", "copilot-cli", "visual-studio") for file in here.files(KINDS[id]) if file.project]
    assert len({id(file.document) for file in files}) == 1
    assert [len(file.entries) for file in files] == [1, 1, 1]
    assert [(entry.name, entry.state, entry.project) for entry in here.entries()] == [("a", "on", str(tmp_path / "p"))]
    assert here.files(KINDS["claude-code"]) is here.files(KINDS["claude-code"])


@pytest.mark.parametrize("moved", [False, True])
def test_servers_of_a_project_wait_until_claude_code_s_user_has_approved_them(tmp_path: Path, moved: bool) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": RUNS, "b": RUNS, "c": RUNS}})
    folder = tmp_path / ("elsewhere" if moved else ".claude")
    put(folder / "settings.json", {"enabledMcpjsonServers": ["a"]})
    own = (folder if moved else tmp_path) / ".claude.json"
    put(own, {"projects": {str(tmp_path / "p"): {"disabledMcpjsonServers": ["b"]}}})
    here = look(tmp_path, str(tmp_path / "p"), **({"CLAUDE_CONFIG_DIR": str(folder)} if moved else {}))
    states = {entry.name: entry.state for file in here.files(KINDS["claude-code"]) for entry in file.entries}
    assert states == {"a": "on", "b": "off", "c": "waits"}


@pytest.mark.parametrize("content", ["{", "[]", None])
def test_without_claude_code_s_own_file_servers_of_a_project_wait(tmp_path: Path, content: Any) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": RUNS}})
    if content is not None:
        put(tmp_path / ".claude.json", content)
    states = [entry.state for file in look(tmp_path, str(tmp_path / "p")).files(KINDS["claude-code"]) for entry in file.entries]
    assert states == ["waits"]


def test_an_extension_that_is_switched_off_is_off(tmp_path: Path) -> None:
    for name in ("on", "off"):
        folder = tmp_path / ".config/Claude"
        put(folder / "Claude Extensions" / name / "manifest.json", {"name": name, "server": {"mcp_config": RUNS}})
        put(folder / "Claude Extensions Settings" / f"{name}.json", {"isEnabled": name == "on"})
    files = look(tmp_path).files(KINDS["claude-desktop-extensions"])
    assert {entry.name: entry.state for file in files for entry in file.entries} == {"on": "on", "off": "off"}


def test_only_absolute_folders_are_projects_and_not_endlessly_many(tmp_path: Path) -> None:
    folders = [str(tmp_path / str(number)) for number in range(MAX_PROJECTS + 5)]
    for folder in folders:
        put(Path(folder, ".cursor/mcp.json"), {"mcpServers": {"a": RUNS}})
    here = look(tmp_path, "relative", f"{tmp_path}/a\0b", *folders[:1], *folders)
    assert len([file for file in here.files(KINDS["cursor"]) if file.project]) == MAX_PROJECTS


OWN = OwnEntry((sys.executable, "-I"), "http://127.0.0.1:7717")
RIGHT = {"command": sys.executable, "args": ["-I", "-m", "tooltray_bridge"]}


def scan(home: Path, *projects: str) -> ClientScan:
    return scanned(ClientLook(ClientPlaces({"HOME": str(home)}, "linux"), own=OWN, projects=projects), KINDS.values())


def client(found: ClientScan, id: str) -> AiClient:
    return next(each for each in found.clients if each.id == id)


def test_on_an_empty_home_every_client_is_named_and_none_is_there(tmp_path: Path) -> None:
    found = scan(tmp_path)
    assert not any(each.is_installed for each in found.clients)
    assert [each.name.lower() for each in found.clients] == sorted(each.name.lower() for each in found.clients)
    assert (found.servers, found.different_servers, found.plain_secrets) == (0, 0, 0)


def test_installed_clients_come_first_with_their_servers(tmp_path: Path) -> None:
    file = put(
        tmp_path / ".cursor/mcp.json",
        {"mcpServers": {"a": {"command": "npx", "args": ["-y", "p"], "env": {"API_KEY": "not-real"}, "disabled": True}, "t": RIGHT}},
    )
    found = scan(tmp_path)
    assert found.clients[0] == client(found, "cursor")
    [shown] = found.clients[0].files
    assert (found.clients[0].connection, shown.path, shown.connection, shown.exists) == ("connected", str(file), "connected", True)
    [server, bridge] = shown.servers
    assert (server.name, server.place, server.target, server.state, server.secrets, server.line) == (
        *("a", ("mcpServers", "a"), "npx -y p", "off"),
        *(("API_KEY",), 3),
    )
    assert bridge.kind == "bridge"
    assert (found.servers, found.plain_secrets) == (1, 1)
    assert "not-real" not in str(as_json(found))


def test_the_best_file_for_all_projects_decides_how_a_client_is_connected(tmp_path: Path) -> None:
    put(tmp_path / ".claude.json", {"mcpServers": {"t": BRIDGE}, "projects": {"/p": {"mcpServers": {"t": RIGHT, "a": {"command": "x"}}}}})
    claude = client(scan(tmp_path), "claude-code")
    assert [(file.project, file.connection, len(file.servers)) for file in claude.files] == [("", "broken", 1), ("/p", "connected", 2)]
    assert (claude.connection, claude.way) == ("broken", "command")


def test_the_same_server_in_several_clients_counts_once_as_a_different_one(tmp_path: Path) -> None:
    put(
        tmp_path / ".cursor/mcp.json",
        {"mcpServers": {"a": {"command": "npx", "args": ["-y", "p@latest"]}, "u": {"url": "https://X/mcp/?k=1"}}},
    )
    put(
        tmp_path / ".codex/config.toml", "[mcp_servers.b]\ncommand = '/usr/bin/npx'\nargs = ['p']\n[mcp_servers.u]\nurl = 'https://x/mcp'\n"
    )
    put(tmp_path / ".factory/mcp.json", {"mcpServers": {"c": {"command": "cmd", "args": ["/c", "npx.cmd", "p"]}, "d": {}, "e": {}}})
    put(tmp_path / ".kiro/settings/mcp.json", {"mcpServers": {"f": {"command": "npx", "args": ["q"]}, "t": BRIDGE}})
    found = scan(tmp_path)
    assert (found.servers, found.different_servers) == (8, 5)


def test_files_of_projects_are_shown_with_their_folder_and_their_work_tree(tmp_path: Path) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": {"command": "x", "env": {"A_TOKEN": "not-real"}}}})
    (tmp_path / "p/.git").mkdir()
    found = scan(tmp_path, str(tmp_path / "p"))
    claude = client(found, "claude-code")
    assert [(file.project, file.is_version_controlled) for file in claude.files] == [("", False), (str(tmp_path / "p"), True)]
    assert claude.files[1].servers[0].state == "waits"
    assert (claude.is_installed, claude.connection) == (False, "none")
    assert (found.servers, found.plain_secrets) == (1, 1)


@pytest.mark.parametrize(
    ("id", "content", "why_not"),
    [
        ("cursor", None, ""),
        ("cursor", {}, ""),
        ("cursor", "{", "its file cannot be changed as it is"),
        ("cherry-studio", None, ""),
        ("trae", None, "its file is not there yet, and it is not certain where it has to be: start Trae once"),
        ("jetbrains-ai", None, "it keeps its servers in the IDE: paste the entry in Settings, Tools, AI Assistant, MCP"),
    ],
)
def test_a_client_that_cannot_be_connected_has_a_reason(tmp_path: Path, id: str, content: Any, why_not: str) -> None:
    if content is not None:
        put(tmp_path / ".cursor/mcp.json", content)
    found = client(scan(tmp_path), id)
    assert (found.why_not, found.can_connect) == (why_not, not why_not)


NO_EDITS, NO_IMPORTS = cast(ClientEdits, None), cast(ClientImports, None)  # nothing is changed here


class Looks:
    """Looks at a made-up home."""

    def __init__(self, home: Home, bus: EventBus) -> None:
        self.address: str | None = None
        self.projects: list[str] = []
        self.environ = {"HOME": str(home.root.parent)}
        config = McpConfHelper(home.settings, bus)
        self.scans = ClientScans(
            home=home, config=config, environ=self._environ, own_url=lambda: self.address, known_projects=lambda: self.projects
        )

    async def _environ(self) -> Mapping[str, str]:
        return self.environ


@pytest.fixture
def looks(hub_home: Home) -> Looks:
    return Looks(hub_home, EventBus())


async def test_known_projects_and_those_that_are_named_are_read(looks: Looks, tmp_path: Path) -> None:
    for name in ("known", "named"):
        put(tmp_path / name / ".cursor/mcp.json", {"mcpServers": {name: {"command": "x"}}})
    looks.projects = [str(tmp_path / "known")]
    found = await AiClientsApi(client_scans=looks.scans, client_edits=NO_EDITS, client_imports=NO_IMPORTS).scan_ai_clients(
        [str(tmp_path / "named")]
    )
    cursor = next(each for each in found.clients if each.id == "cursor")
    assert [server.name for file in cursor.files for server in file.servers] == ["named", "known"]
    assert found.new_servers == 2


async def test_the_entry_that_people_paste_is_the_right_one(looks: Looks, hub_home: Home, home: Path) -> None:
    put(home / ".cursor/mcp.json", json.dumps(bridge_entry(hub_home)))
    found = await looks.scans.scan()
    assert next(each for each in found.clients if each.id == "cursor").connection == "connected"


async def test_an_entry_over_http_is_right_while_the_hub_listens(looks: Looks, home: Path) -> None:
    put(home / ".cursor/mcp.json", {"mcpServers": {"t": {"url": "http://127.0.0.1:7717/mcp"}, "u": {"url": "http://127.0.0.1:8000/mcp"}}})

    async def connections() -> tuple[str, int]:
        found = await looks.scans.scan()
        return next(each for each in found.clients if each.id == "cursor").connection, found.servers

    assert await connections() == ("broken", 1)
    looks.address = "http://127.0.0.1:8000"
    assert await connections() == ("connected", 1)


KEY = "sk-not-a-real-key-0123456789"
TOKEN = "ghp_notarealtoken0123456789"


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ({"command": "x", "env": {"API_KEY": "abc", "LOG": "debug", "OTHER": KEY}}, ("API_KEY", "OTHER")),
        ({"cmd": "x", "envs": {"MY_TOKEN": "abc"}}, ("MY_TOKEN",)),
        ({"command": ["x"], "environment": {"MY_TOKEN": "abc"}}, ("MY_TOKEN",)),
        ({"url": "https://x/mcp?api_key=abc&q=1"}, ("api_key",)),
        (
            {"uri": "https://x", "headers": {"Authorization": "Bearer abc", "X-Api-Key": "abc", "Accept": "json"}},
            ("Authorization", "X-Api-Key"),
        ),
        ({"url": "https://x", "http_headers": {"Authorization": "Bearer abc"}}, ("Authorization",)),
        ({"url": "https://x", "auth": {"CLIENT_ID": "me", "CLIENT_SECRET": "abc", "scopes": []}}, ("CLIENT_SECRET",)),
        ({"command": "x", "args": ["--api-key", "abc", "--log", "y"]}, ("--api-key",)),
        ({"command": "x", "args": ["--token=abc", "--log=y"]}, ("--token",)),
        ({"command": "docker", "args": ["run", "-e", "GITHUB_TOKEN=abc"]}, ("GITHUB_TOKEN",)),
        ({"command": "npx", "args": ["mcp-remote", "https://x", "--header", "Authorization: Bearer abc"]}, ("Authorization",)),
        ({"command": "npx", "args": ["mcp-remote", "https://x?key=abc"]}, ("key",)),
        ({"command": "x", "args": ["postgresql://me:abc@host/db"]}, ("password",)),
        ({"command": "x", "args": ["a", TOKEN]}, ("#2",)),
        ({"command": "x", "env": {"A_KEY": KEY}, "args": ["--a-key", KEY, KEY]}, ("A_KEY", "--a-key", "#3")),
    ],
)
def test_what_looks_secret_is_named_and_left_out(entry: Entry, names: tuple[str, ...]) -> None:
    assert plain_secrets_of(entry) == names
    shown = target_of(entry)
    assert "abc" not in shown
    assert KEY not in shown
    assert TOKEN not in shown


REFERENCES = ("${API}", "Bearer ${API}", "${env:API}", "$API", "{env:API}", "${input:api}", "{file:~/key}", "${{ secrets.API }}", "%API%")


@pytest.mark.parametrize("value", [*REFERENCES, "YOUR_API_KEY", "<key>", ""])
def test_what_only_names_a_secret_is_none(value: str) -> None:
    entry: Entry = {
        "command": "x",
        "env": {"API_KEY": value},
        "headers": {"X-Api-Key": value},
        "oauth": {"client_secret": value},
        "args": ["--api-key", value, f"--token={value}", "--header", f"Authorization: {value}"],
    }
    assert plain_secrets_of(entry) == ()


@pytest.mark.parametrize(
    ("entry", "target"),
    [
        ({"command": "npx", "args": ["-y", "@scope/server", "/my folder"]}, "npx -y @scope/server '/my folder'"),
        (
            {"command": "x", "args": ["--token", TOKEN, "--header", f"X-Token: {TOKEN}", "-H", "Accept: a", "b:c"]},
            "x --token … --header 'X-Token: …' -H 'Accept: a' b:c",
        ),
        ({"command": "x", "args": ["https://x/a?b=1", "https://me:pw@x/a?b=1", "--a=1"]}, "x 'https://x/a?b=1' https://x/a --a=1"),
        ({"url": "https://me:pw@x/mcp?key=1#f"}, "https://x/mcp"),
        ({"command": "a\nb"}, "'a b'"),
        ({}, ""),
    ],
)
def test_an_entry_is_shown_in_one_line(entry: Entry, target: str) -> None:
    assert target_of(entry) == target


def test_a_line_has_an_end() -> None:
    assert len(target_of({"command": "x", "args": ["y"] * 1000})) == MAX_TARGET


def test_a_url_whose_key_is_elsewhere_holds_none() -> None:
    assert plain_secrets_of({"command": "x", "env": {"URL": "https://${USER}:${PASSWORD}@host"}}) == ()
