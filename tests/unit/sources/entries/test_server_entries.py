"""server_entries.py: entries are added, changed, previewed, and confirmed where they widen something."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.file_servers import SHOP, file_server
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool
from tests.fakes.unconfirmed import Program

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.confirm_widening import UNATTENDED, Person, Wish, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, SecretsUnreachable, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.verbs import JsonObject
from tooltray.sources.entries import server_entries as module
from tooltray.sources.entries.pasted import parse_pasted
from tooltray.sources.entries.server_entries import ORIGIN, EntryWidenings, ServerStarts, entry_diff, free_name, preview_edit

ENTRY = {
    "command": "program",
    "args": ["--key", "${secret:git/KEY}"],
    "env": {"KEY": "${secret:git/KEY}"},
    "disable": True,
    ORIGIN: {"kind": "link"},
}
KEY = {"git/KEY": "dummy-value"}
THERE = {"git": {"command": "other", "disable": True}}


async def add_typed(parts: HubParts) -> None:
    await parts.servers_api.add_mcp_server("new", {"command": "program", "disable": True})


async def add_pasted(parts: HubParts) -> None:
    [pasted] = parse_pasted('{"new": {"command": "program", "disable": true}}')
    entry, secrets = pasted.stored_as("new", {})
    await parts.servers_api.add_mcp_server("new", entry, secrets=secrets)


async def add_link(parts: HubParts) -> None:
    [pasted] = parse_pasted("vscode:mcp/install?%7B%22name%22%3A%22new%22%2C%22command%22%3A%22program%22%7D")
    entry, _ = pasted.stored_as("new", {})
    await parts.servers_api.add_mcp_server("new", {**entry, "disable": True})


async def add_with_a_program(parts: HubParts) -> None:
    with asked_by(Program()):
        await parts.servers_api.add_mcp_server("new", {"command": "program", "disable": True})
    [request] = await parts.proposals.requests()
    await parts.proposals.trust({"new": request.digest})


WAYS: Mapping[str, Callable[[HubParts], Awaitable[None]]] = {
    "a command line": add_typed,
    "a paste": add_pasted,
    "a link": add_link,
    "a program's proposal": add_with_a_program,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_server_that_is_added_asks_before_it_changes_something(tmp_path: Path, way: str) -> None:
    async with hub_parts(tmp_path) as parts:
        await WAYS[way](parts)
        assert parts.config.settings.mcp_servers["new"].auto_approve == ("read",)
        assert parts.config.entries["new"]["autoApprove"] == ["read"]  # in the file, too, where a person looks for it


async def test_a_server_of_a_project_asks_and_its_file_says_nothing_of_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    async with hub_parts(tmp_path) as parts:
        await parts.folders.allow(str(project))
        name = await parts.servers_api.add_mcp_server("new", {"command": "program", "disable": True}, project=str(project))
        assert parts.config.settings.mcp_servers[name].auto_approve == ("read",)
        assert "autoApprove" not in (project / ".mcp.json").read_text()


async def test_what_an_entry_says_itself_counts_and_entries_that_are_there_stay(tmp_path: Path) -> None:
    here: JsonObject = {"old": {"command": "p", "autoApprove": ["all"], "disable": True}, "hand": {"command": "p", "disable": True}}
    async with hub_parts(tmp_path, servers=here) as parts:
        await parts.servers_api.add_mcp_server("new", {"command": "program", "autoApprove": ["all"], "disable": True})
        assert parts.config.entries == {**here, "new": {"command": "program", "autoApprove": ["all"], "disable": True}}


async def test_a_command_that_adds_a_server_which_runs_everything_needs_a_person(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        with asked_by(UNATTENDED):
            await parts.servers_api.add_mcp_server("one", {"command": "program", "disable": True})
            with pytest.raises(Denied, match="Allowing tool calls"):
                await parts.servers_api.add_mcp_server("two", {"command": "program", "autoApprove": ["all"], "disable": True})
        assert list(parts.config.entries) == ["one"]


# with its secrets


async def test_a_server_is_added_with_its_secrets_and_keeps_where_it_is_from(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        assert await parts.servers_api.add_mcp_server("git", ENTRY, secrets=KEY) == "git"
        assert await parts.secrets.get("git/KEY") == "dummy-value"
        assert parts.config.entries["git"] == {"autoApprove": ["read"], **ENTRY}


REFUSED: Mapping[str, tuple[str, Any, type[TooltrayError]]] = {
    "its name is taken": ("git", ENTRY, Conflict),
    "its name cannot be used": ("a/b", ENTRY, TooltrayError),
    "its entry cannot be used": ("new", {"command": 3}, TooltrayError),
    "its folder is none": ("new", {"command": "program"}, TooltrayError),
}


@pytest.mark.parametrize("why", REFUSED)
async def test_of_a_server_that_is_refused_no_secret_stays_and_others_are_what_they_were(tmp_path: Path, why: str) -> None:
    name, entry, error = REFUSED[why]
    async with hub_parts(tmp_path, servers=THERE) as parts:
        await parts.secrets.set("git/OLD", "dummy-before")
        with pytest.raises(error):
            await parts.servers_api.add_mcp_server(
                name,
                entry,
                project=str(tmp_path / "none") if "folder" in why else "",
                secrets={**KEY, "git/OLD": "dummy-after"},
            )
        assert await parts.secrets.names() == ["git/OLD"]
        assert await parts.secrets.get("git/OLD") == "dummy-before"
        assert parts.config.entries == THERE


async def test_where_settings_cannot_be_written_the_secrets_are_what_they_were(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=THERE) as parts:
        await parts.secrets.set("git/OLD", "dummy-before")
        secrets = {**KEY, "git/OLD": "dummy-after"}
        parts.home.settings.unlink()
        parts.home.settings.mkdir()  # so that it cannot be written
        with pytest.raises(TooltrayError):
            await parts.servers_api.add_mcp_server("new", ENTRY, secrets=secrets)
        with pytest.raises(TooltrayError):
            await parts.servers_api.update_mcp_server("git", ENTRY, secrets=secrets)
        assert (await parts.secrets.names(), await parts.secrets.get("git/OLD")) == (["git/OLD"], "dummy-before")
        parts.home.settings.rmdir()


async def test_where_a_secret_cannot_be_stored_no_server_is_added_and_those_before_it_are_gone(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        with pytest.raises(TooltrayError):
            await parts.servers_api.add_mcp_server("git", ENTRY, secrets={**KEY, "git/\n": "dummy-value"})
        assert (parts.config.entries, await parts.secrets.names()) == ({}, [])


async def test_where_secrets_are_locked_nothing_is_added(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        parts.secrets.use("file")
        with pytest.raises(SecretsUnreachable):
            await parts.servers_api.add_mcp_server("git", ENTRY, secrets=KEY)
        assert parts.config.entries == {}


async def test_a_new_entry_and_its_new_secrets_count_together(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=THERE) as parts:
        await parts.servers_api.update_mcp_server("git", ENTRY, secrets=KEY)
        assert (parts.config.entries["git"], await parts.secrets.get("git/KEY")) == (ENTRY, "dummy-value")


async def test_what_a_program_adds_waits_for_consent_and_its_secrets_are_in_no_file(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        with asked_by(Program()):
            assert await parts.servers_api.add_mcp_server("git", ENTRY, secrets=KEY) == "git"
        assert "git" not in parts.config.entries
        assert parts.proposals.waits("git")
        assert {await parts.secrets.get(name) for name in await parts.secrets.names()} == {"dummy-value"}
        assert "dummy-value" not in str(parts.proposals.entries)


async def test_what_a_program_changes_waits_with_its_secrets(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=THERE) as parts:
        with asked_by(Program()):
            await parts.servers_api.update_mcp_server("git", ENTRY, secrets=KEY)
        assert parts.config.entries == THERE
        assert {await parts.secrets.get(name) for name in await parts.secrets.names()} == {"dummy-value"}


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert [free_name(name, ["git", "git-2"]) for name in ("git", "wiki", "hub")] == ["git-3", "wiki", "hub-2"]


def test_an_entry_that_is_written_by_hand_asks_before_changes_too() -> None:
    assert read_entry("hand", {"command": "program"}).auto_approve == ("read",)


TYPED = "ghp_0123456789abcdefABCDEF"
OTHER_KEY = "ghp_9876543210fedcbaFEDCBA"


def test_a_diff_shows_what_changes_and_no_secret() -> None:
    before, after = (
        {"command": "p", "env": {"TOKEN": TYPED}, "args": ["a"]},
        {"command": "q", "env": {"TOKEN": OTHER_KEY}, "args": ["a"]},
    )
    lines = entry_diff("s", before, after)
    assert '-  "command": "p",' in lines
    assert '+  "command": "q",' in lines
    assert '-    "TOKEN": "••••••"' in lines
    assert '+    "TOKEN": "•••••• (another value)"' in lines
    assert not any(key in line for line in lines for key in (TYPED, OTHER_KEY))


def test_a_secret_that_stays_is_no_change() -> None:
    lines = entry_diff("s", {"command": "p", "env": {"TOKEN": TYPED}}, {"command": "q", "env": {"TOKEN": TYPED}})
    assert [line for line in lines if line[0] in "+-"] == ['-  "command": "p",', '+  "command": "q",']
    assert entry_diff("s", {"a": 1}, {"a": 1}) == ()


def test_changes_far_apart_have_a_gap_between() -> None:
    before = {"command": "p", **{f"x{number}": number for number in range(20)}, "note": "a"}
    assert " …" in entry_diff("s", before, {**before, "command": "q", "note": "b"})


async def config_of(tmp_path: Path, **servers: Any) -> McpConfHelper:
    (tmp_path / "settings.json").write_text(json.dumps({"mcpServers": servers}))
    config = McpConfHelper(tmp_path / "settings.json", EventBus())
    await config.load()
    return config


async def test_a_preview_says_where_it_goes_and_whether_the_server_is_restarted(tmp_path: Path) -> None:
    config = await config_of(tmp_path, s={"command": "p"})
    changed = preview_edit(config, "s", {"command": "q"})
    assert (changed.file, changed.is_restarted, changed.problem, changed.slips) == (str(config.path), True, None, ())
    assert changed.revision == config.revision("s")
    assert not preview_edit(config, "s", {"command": "p", "label": "work"}).is_restarted


async def test_a_preview_of_what_cannot_be_used_says_where_it_is_wrong(tmp_path: Path) -> None:
    config = await config_of(tmp_path, s={"command": "p"})
    changed = preview_edit(config, "s", {"command": "p", "args": "x"})
    assert [slip.path for slip in changed.slips] == [("args",)]
    assert not changed.is_restarted


async def test_a_file_that_is_served_is_not_written_and_nothing_of_a_project_runs_inside(tmp_path: Path) -> None:
    config = await config_of(tmp_path)
    config.set_file_servers({"f": file_server("f", project=SHOP), "g": file_server("g", origin="served")})
    assert preview_edit(config, "f", {"command": "x"}).problem is None
    inside = preview_edit(config, "f", {"type": "inmemory", "command": "x"}).problem
    assert inside is not None
    assert "inside Tooltray" in inside.title
    served = preview_edit(config, "g", {"command": "x"}).problem
    assert served is not None
    assert served.title == "'g' is not changed"


def hub(tmp_path: Path, **servers: Any) -> Any:
    return hub_parts(tmp_path / "home", servers=servers, default=("s",), programs={"p": ScriptedServer(tool("t"))})


async def test_a_copy_has_the_same_entry_and_rules_and_starts_when_it_is_used(tmp_path: Path) -> None:
    parts: HubParts
    async with hub(tmp_path, s={"command": "p", "label": "work", "x": 1}) as parts:
        assert await parts.presenter.duplicate_mcp_server("s", "s-2") == "s-2"
        assert parts.conf.entries["s-2"] == {"command": "p", "label": "work", "x": 1, "autoApprove": ["read"]}
        assert "s-2" not in parts.conf.settings.default_servers
        with pytest.raises(Conflict):
            await parts.presenter.duplicate_mcp_server("s", "s-2")
        with pytest.raises(NotFound):
            await parts.presenter.duplicate_mcp_server("gone", "x")


async def test_a_preview_over_the_api_changes_nothing(tmp_path: Path) -> None:
    async with hub(tmp_path, s=entry("p")) as parts:
        before = parts.home.settings.read_bytes()
        assert (await parts.presenter.preview_server_update("s", {"command": "q"})).diff
        assert parts.home.settings.read_bytes() == before
        with pytest.raises(TooltrayError):
            await parts.presenter.preview_server_update("gone", {"command": "q"})


PROGRAMS = {"p": ScriptedServer(tool("t"))}
ASKS = {"command": "p", "autoApprove": ["ask:t"], "confinement": "own", "env": {"A": "${secret:s/A}"}, "disable": True}


class Seen(Person):
    """Says yes, and keeps what it was about."""

    def __init__(self) -> None:
        self.wishes: list[Wish] = []

    async def confirm(self, wish: Wish) -> None:
        self.wishes.append(wish)


async def removed(parts: HubParts, name: str) -> None:
    with asked_by(UNATTENDED):
        await parts.presenter.remove_mcp_server(name, keep_secrets=True)


async def test_a_server_that_is_removed_and_added_again_may_do_no_more_than_before_without_a_yes(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": ASKS}, programs=PROGRAMS) as parts:
        await removed(parts, "s")
        for wider in ({"autoApprove": ["all"]}, {"confinement": "open"}):
            with asked_by(UNATTENDED), pytest.raises(Denied):
                await parts.presenter.add_mcp_server("s", {**ASKS, **wider})
        with asked_by(UNATTENDED), pytest.raises(Denied):
            await parts.presenter.add_mcp_server("s", {"command": "p", "disable": True})  # the usual rules are wider than those of before
        assert parts.conf.entries == {}
        with asked_by(UNATTENDED):
            await parts.presenter.add_mcp_server("s", ASKS)
        assert parts.conf.entries == {"s": ASKS}


async def test_a_person_is_told_rules_on_arguments_and_whose_the_secrets_are(tmp_path: Path) -> None:
    other, seen = {**ASKS, "env": {"A": "${secret:shared}", "B": "${secret:s/unused}"}}, Seen()
    async with hub_parts(tmp_path, servers={"s": other, "z": other}, programs=PROGRAMS) as parts:
        entry = {
            "command": "p",
            "disable": True,
            "callRules": [{"tool": "t"}],
            "args": ["${secret:shared}", "${secret:s/KEY}", "${secret:x}"],
        }
        with asked_by(seen):
            await parts.presenter.add_mcp_server("new", entry)
    assert [wish.about for wish in seen.wishes] == [
        {"server": "new", "rules": "read, t: without arguments", "rules_before": "read"},
        {"server": "new", "secrets": "s/KEY (s), shared (s, z)"},
    ]


@pytest.mark.parametrize("secret", ["oauth/s", "tooltray-backups", "tooltray/trusted tokens"])
async def test_sign_ins_and_what_tooltray_keeps_for_itself_are_nobody_else_s(tmp_path: Path, secret: str) -> None:
    async with hub_parts(tmp_path, servers={"s": ASKS}, programs=PROGRAMS) as parts:
        with asked_by(UNATTENDED), pytest.raises(Denied, match="Giving a server secrets of others"):
            await parts.presenter.add_mcp_server("new", {"command": "p", "args": [f"${{secret:{secret}}}"], "disable": True})


async def test_a_no_to_an_import_or_to_putting_servers_back_changes_nothing(tmp_path: Path) -> None:
    own = {"mcpServers": {"s": ASKS}, "publish": {"clients": {"c": {"mode": "search", "autoApprove": []}}}}
    wider = {"command": "p", "autoApprove": ["read"], "disable": True}
    async with hub_parts(tmp_path, servers=own["mcpServers"], settings={"publish": own["publish"]}, programs=PROGRAMS) as parts:
        before = dict(parts.conf.document)
        parts.shipped_setup = {"version": 1, "mcpServers": {"s": wider}, "defaultServers": []}
        with asked_by(UNATTENDED):
            with pytest.raises(Denied, match="Putting back servers that may do more"):
                await parts.presenter.reset_to_default_servers()
            with pytest.raises(Denied, match="Importing what allows more"):
                await parts.presenter.import_setup({"mcpServers": {}, "publish": {"clients": {"c": {"mode": "search"}}}}, replace=True)
            await parts.presenter.import_setup({"mcpServers": {"s": wider}, "publish": {"clients": {"c": {}}}})  # both are kept
        assert parts.conf.document == before


async def test_what_an_import_would_allow_is_told_in_words(tmp_path: Path) -> None:
    seen, clients = Seen(), {"c": {"autoApprove": ["read"]}, "a.b": {"callRules": [{"tool": "t"}]}}
    async with hub_parts(tmp_path, servers={"s": ASKS}, programs=PROGRAMS) as parts:
        setup = {"mcpServers": {"s": {"command": "p", "disable": True}}, "publish": {"clients": clients}, "readyAnswers": ["Yes"]}
        with asked_by(seen):
            await parts.presenter.import_setup({**setup, "npmRegistries": [{"name": "n", "url": "https://r.example"}]}, replace=True)
    assert [wish.about["changes"].split(", ") for wish in seen.wishes] == [
        [
            "s: p (runs without asking: read); Allowing tool calls; Letting a server do more",
            "npmRegistries: add",
            "publish.clients.c: runs without asking: read",
            "publish.clients.a.b: runs without asking: t: without arguments",
        ]
    ]


def test_of_very_many_that_were_removed_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REMOVED", 2)
    widenings = EntryWidenings(config=None, server_secrets=None, new_access=None)  # type: ignore[arg-type]
    for name in ("a", "b", "a", "c"):
        widenings.note_removed(name, MCPServerConfig(command=name))
    widenings.note_removed("d", None)
    assert list(widenings._removed) == ["a", "c"]


async def test_a_name_of_an_entry_that_cannot_be_read_is_taken_before_anybody_is_asked(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"bad": {"command": "x", "callRules": 1}}, programs=PROGRAMS) as parts:
        with asked_by(UNATTENDED), pytest.raises(TooltrayError, match="there is a server 'bad' already"):
            await parts.presenter.add_mcp_server("bad", {"command": "x", "autoApprove": ["all"]})


async def test_an_entry_that_cannot_be_used_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        with asked_by(UNATTENDED), pytest.raises(TooltrayError, match="neither a command nor a URL"):
            await parts.presenter.add_mcp_server("new", {})


class Hub:
    """Doubles of what decides; `done` is what was done, in order."""

    def __init__(self, *servers: "Server", is_enabled: bool = True, signed_in: str = "") -> None:
        self.done: list[Any] = []
        self.tasks: list[asyncio.Future[None]] = []
        self._servers = servers
        for server in servers:
            server.hub = self
        self.starts = ServerStarts(
            config=SimpleNamespace(settings=SimpleNamespace(mcp_enabled=is_enabled, secrets=SimpleNamespace(backend="memory"))),
            secrets=SimpleNamespace(use=lambda backend: self.done.append(f"use {backend}")),
            servers=self,
            tools=SimpleNamespace(list_unknown_servers=lambda: self.done.append("list")),
            registries=SimpleNamespace(start=lambda: self.done.append("measure")),
            sign_ins=SimpleNamespace(is_signed_in=lambda name: name == signed_in),
            spawn=lambda work, name: self.tasks.append(asyncio.ensure_future(work)),
        )

    def __iter__(self) -> Iterator["Server"]:
        return iter(self._servers)

    def find(self, name: str) -> "Server | None":
        return next((server for server in self._servers if server.name == name), None)

    def start_defaults(self, servers: Any = "all") -> None:
        self.done.append(("defaults", servers))


class Server:
    hub: Hub

    def __init__(self, name: str, state: ServerState = ServerState.ERROR, *, needs_secrets: bool = False) -> None:
        self.name, self.state, self.needs_secrets = name, state, needs_secrets
        self.status, self.end = self, asyncio.Event()

    @property
    def is_busy(self) -> bool:
        return self.state is ServerState.STARTING

    async def settled(self) -> None:
        await self.end.wait()

    def start(self) -> None:
        self.hub.done.append(f"start {self.name}")


async def test_with_the_hub_registries_are_measured_and_servers_started_and_listed() -> None:
    hub = Hub()
    await hub.starts.start_all()
    assert hub.done == ["measure", ("defaults", "all"), "list"]


async def test_a_paused_hub_starts_no_server() -> None:
    hub = Hub(is_enabled=False)
    await hub.starts.start_all()
    assert hub.done == ["measure"]


def test_of_new_servers_those_that_start_with_the_hub_are_started_and_all_are_listed_once() -> None:
    hub = Hub()
    hub.starts.start_new(["a"])
    assert hub.done == [("defaults", ["a"]), "list"]


@pytest.mark.parametrize("state", [ServerState.RUNNING, ServerState.STOPPED])
def test_only_what_gave_up_for_want_of_a_secret_gets_another_chance(state: ServerState) -> None:
    hub = Hub(
        Server("lacked", needs_secrets=True), Server("signed"), Server("broken"), Server("s", state, needs_secrets=True), signed_in="signed"
    )
    hub.starts.retry_failed()
    assert hub.done == ["start lacked", "start signed"]


@pytest.mark.parametrize(
    ("state", "is_there", "expected"),
    [(ServerState.ERROR, True, ["start s"]), (ServerState.RUNNING, True, []), (ServerState.ERROR, False, [])],
)
async def test_what_is_starting_without_the_secret_gets_another_chance_when_it_gives_up(
    state: ServerState, is_there: bool, expected: list[str]
) -> None:
    server = Server("s", ServerState.STARTING, needs_secrets=True)
    hub = Hub(server)
    hub.starts.retry_failed()
    await asyncio.sleep(0)
    assert hub.done == []
    server.state = state
    if not is_there:
        hub.find = lambda name: Server(name)  # type: ignore[method-assign]
    server.end.set()
    await asyncio.gather(*hub.tasks)
    assert hub.done == expected


def test_another_place_for_secrets_is_used_before_servers_are_tried_again() -> None:
    hub = Hub(Server("lacked", needs_secrets=True))
    hub.starts.use_secret_backend()
    assert hub.done == ["use memory", "start lacked"]
