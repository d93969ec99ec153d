"""imports.py and the verbs: servers come in, and leave their clients only when they work here."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import Heard
from tests.fakes.hub_parts import HubParts, Shell, hub_parts, settled
from tests.fakes.scripted_server import ScriptedServer, never, tool
from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by, with_current_asker
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.events import ImportProgressed
from tooltray.foundation.home.home import Home as TooltrayHome
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.ai_clients import ImportCandidate, ImportedServer
from tooltray.servers.launch.program_launch import CannotStart

TOKEN = "ghp_dummy0123456789"


class Home:
    """A person's home with files of AI clients."""

    def __init__(self, root: Path) -> None:
        self.root = root / "person"

    def write(self, name: str, content: Any) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return path

    def servers(self, name: str) -> list[str]:
        return list(json.loads((self.root / name).read_bytes())["mcpServers"])


@asynccontextmanager
async def hub(root: Path, **options: Any) -> AsyncIterator[tuple[HubParts, Home]]:
    home = Home(root)
    home.root.mkdir(parents=True)
    async with hub_parts(root, servers={}, shell=Shell(HOME=str(home.root)), **options) as parts:
        yield parts, home


def cursor(**servers: Any) -> dict[str, Any]:
    return {"mcpServers": servers}


async def plan(parts: HubParts, **given: Any) -> list[ImportCandidate]:
    return list((await parts.ai_clients_api.preview_client_import(**given)).candidates)


async def take(parts: HubParts, candidates: Sequence[ImportCandidate], **options: Any) -> dict[str, ImportedServer]:
    done = await parts.ai_clients_api.import_servers([each.id for each in candidates], **options)
    return {each.name: each for each in done}


async def test_a_server_is_added_lists_its_tools_and_leaves_its_client(tmp_path: Path) -> None:
    git = {"command": "git-server", "env": {"GITHUB_TOKEN": TOKEN}}
    program = ScriptedServer(tool("commit"), tool("push"))
    async with hub(tmp_path, programs={"git-server": program}) as (parts, home):
        before = home.write(".cursor/mcp.json", cursor(git=git, other={"command": "other", "disabled": True})).read_bytes()
        home.write(".kiro/settings/mcp.json", cursor(git=git))
        found = await plan(parts, clients=["cursor", "kiro"])
        assert [each.name for each in found] == ["git", "other"]
        done = await take(parts, found[:1], tidy=True)
        assert (done["git"].state, done["git"].tools) == ("listed", 2)
        assert sorted(change.client for change in done["git"].removed_from) == ["cursor", "kiro"]
        assert (home.servers(".cursor/mcp.json"), home.servers(".kiro/settings/mcp.json")) == (["other"], [])
        assert await parts.secrets.get("git/GITHUB_TOKEN") == TOKEN
        stored = parts.config.entries["git"]
        assert (stored["autoApprove"], stored["origin"]) == (["read"], {"kind": "client", "client": "cursor"})
        assert parts.config.settings.default_servers == ()
        put_back = await parts.ai_clients_api.put_back_moved_servers()
        assert [change.problem for change in put_back] == [None, None]
        assert (home.root / ".cursor/mcp.json").read_bytes() == before
        assert await parts.ai_clients_api.put_back_moved_servers() == []


async def test_no_secret_is_in_a_log_a_file_an_event_or_an_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    written = {
        "git": {"command": "git-server", "args": ["--token", "dummy-argument"], "env": {"API_KEY": "dummy-variable"}},
        "far": {"url": "https://me:dummy-password@a.example/mcp?api_key=dummy-query", "headers": {"Authorization": "Bearer dummy-header"}},
        "bad": {"command": "x", "args": 5, "env": {"API_KEY": "dummy-broken"}},
    }
    async with hub(tmp_path, programs={"git-server": ScriptedServer()}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(**written))
        heard = Heard(parts.bus)
        found = await parts.ai_clients_api.preview_client_import(["cursor"])
        done = await parts.ai_clients_api.import_servers([each.id for each in found.candidates if each.name == "git"], tidy=True)
        said = json.dumps([as_json(found), as_json(done)]) + repr(heard.all) + caplog.text + str(vars(parts.log))
        changes = await parts.client_edits.changes()
        said += str(changes) + "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.json") if ".cursor" not in path.parts)
        assert "dummy-" not in said


async def test_a_server_that_does_not_start_stays_in_its_client_and_holds_up_no_other(tmp_path: Path) -> None:
    broken = ScriptedServer()
    broken.fails_to_open = CannotStart("it is broken")
    async with hub(tmp_path, programs={"bad": broken, "good": ScriptedServer(tool("a"))}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(bad={"command": "bad"}, good={"command": "good"}))
        done = await take(parts, await plan(parts, clients=["cursor"]), tidy=True)
        assert (done["bad"].state, done["good"].state) == ("failed", "listed")
        assert done["bad"].problem is not None
        assert home.servers(".cursor/mcp.json") == ["bad"]


async def test_what_waits_for_something_is_added_and_stays_in_its_client(tmp_path: Path) -> None:
    async with hub(tmp_path) as (parts, home):
        home.write(".vscode/x", "")
        home.write(".cursor/mcp.json", cursor(deferred={"command": "x", "args": ["${workspaceFolder}"]}))
        done = await take(parts, await plan(parts, clients=["cursor"]), tidy=True)
        assert (done["deferred"].state, done["deferred"].removed_from) == ("added", ())
        assert home.servers(".cursor/mcp.json") == ["deferred"]


async def test_a_paused_hub_adds_servers_and_starts_none(tmp_path: Path) -> None:
    async with hub(tmp_path, settings={"mcpEnabled": False}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(a={"command": "a"}))
        assert (await take(parts, await plan(parts, clients=["cursor"]), tidy=True))["a"].state == "added"


async def test_what_takes_too_long_is_added(tmp_path: Path) -> None:
    slow = ScriptedServer()
    slow.handlers["tools/list"] = never
    async with hub(tmp_path, programs={"slow": slow}, waits={"listed_within_s": 0.01}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(slow={"command": "slow"}))
        assert (await take(parts, await plan(parts, clients=["cursor"]), tidy=True))["slow"].state == "added"
        assert home.servers(".cursor/mcp.json") == ["slow"]


async def test_a_server_that_is_here_already_only_leaves_its_client(tmp_path: Path) -> None:
    async with hub(tmp_path, programs={"git": ScriptedServer(tool("a"))}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(git={"command": "git"}))
        await take(parts, await plan(parts, clients=["cursor"]))
        assert home.servers(".cursor/mcp.json") == ["git"]
        (same,) = await plan(parts, clients=["cursor"])
        assert (same.state, same.here) == ("same", "git")
        done = await take(parts, [same], tidy=True)
        assert (done["git"].state, home.servers(".cursor/mcp.json")) == ("listed", [])
        assert list(parts.config.entries) == ["git"]


async def test_files_of_projects_and_files_under_version_control_stay_as_they_are(tmp_path: Path) -> None:
    programs = {"a": ScriptedServer(tool("a")), "b": ScriptedServer(tool("b"))}
    async with hub(tmp_path, programs=programs) as (parts, home):
        (home.root / ".cursor" / ".git").mkdir(parents=True)
        home.write(".cursor/mcp.json", cursor(a={"command": "a"}))
        claude = {"projects": {"/p": {"mcpServers": {"b": {"command": "b", "cwd": str(home.root)}}}}}
        path = home.write(".claude.json", claude)
        found = await plan(parts, clients=["cursor", "claude-code"])
        done = await take(parts, found, tidy=True)
        assert (done["a"].state, done["b"].state) == ("listed", "listed")
        assert "under version control" in str(done["a"].problem)
        assert home.servers(".cursor/mcp.json") == ["a"]
        assert (json.loads(path.read_bytes()), done["b"].removed_from) == (claude, ())


async def test_what_has_changed_since_the_preview_is_not_imported(tmp_path: Path) -> None:
    async with hub(tmp_path) as (parts, home):
        home.write(".cursor/mcp.json", cursor(git={"command": "git"}))
        found = await plan(parts, clients=["cursor"])
        home.write(".cursor/mcp.json", cursor(git={"command": "evil"}))
        with pytest.raises(Conflict, match="has changed"):
            await take(parts, found)
        assert parts.config.entries == {}


async def test_a_value_that_is_asked_for_is_given_and_a_missing_one_fails_only_that_server(tmp_path: Path) -> None:
    text = json.dumps({"servers": {"a": {"command": "a", "env": {"TOKEN": "${input:t}"}}, "b": {"command": "b", "args": ["${input:u}"]}}})
    async with hub(tmp_path, programs={"a": ScriptedServer(tool("x"))}) as (parts, _):
        one, two = await plan(parts, text=text)
        done = await take(parts, [one, two], text=text, names={one.id: "mine"}, values={one.id: {"t": "dummy-given"}})
        assert done["mine"].problem is None
        assert (done["mine"].state, done["b"].state) == ("listed", "failed")
        assert "is missing" in str(done["b"].problem)
        assert parts.config.entries["mine"]["env"] == {"TOKEN": "${secret:mine/t}"}
        assert await parts.secrets.get("mine/t") == "dummy-given"


async def test_the_place_of_secrets_is_asked_once_and_one_that_is_closed_fails_only_the_servers_with_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, asked, progress = ScriptedServer(tool("x")), 0, list[tuple[str, str]]()
    async with hub(tmp_path, programs={"program": program}) as (parts, home):
        keys = {name: {"command": "program", "args": [name], "env": {"API_TOKEN": TOKEN + name}} for name in ("a", "b")}
        home.write(".cursor/mcp.json", cursor(**keys, c={"command": "program", "args": ["c"]}))
        found = await plan(parts, clients=["cursor"])
        parts.bus.subscribe(ImportProgressed, lambda event: progress.append((event.name, event.state)))

        async def dismissed() -> None:
            nonlocal asked
            asked += 1
            raise SecretsLocked("The keyring is locked", "its prompt was closed")

        with monkeypatch.context() as patched:
            patched.setattr(parts.secrets, "check", dismissed)
            done = await take(parts, found)
        assert ({name: each.state for name, each in done.items()}, asked) == ({"a": "failed", "b": "failed", "c": "listed"}, 1)
        assert list(parts.config.entries) == ["c"]
        assert progress[:2] == [("", ""), ("", "unlocking")]
        assert sorted(each for each in progress if each[0]) == [("a", "failed"), ("b", "failed"), ("c", "listed")]
        done = await take(parts, [each for each in found if each.name != "c"])
        assert {name: each.state for name, each in done.items()} == {"a": "listed", "b": "listed"}


@pytest.mark.parametrize("is_open", [False, True])
async def test_an_import_is_cancelled_while_the_keyring_waits_for_its_password(tmp_path: Path, is_open: bool) -> None:
    keyring = FakeKeyring()
    secrets = SecretStore(TooltrayHome(tmp_path), open_keyring=lambda: keyring)
    async with hub(tmp_path, programs={"program": ScriptedServer(tool("x"))}, waits={"secrets": secrets}) as (parts, home):
        if is_open:  # it asks at each value that is stored, as some do
            secrets.check = nothing  # type: ignore[method-assign]
        keys = {name: {"command": "program", "args": [name], "env": {"API_TOKEN": TOKEN + name}} for name in ("a", "b")}
        home.write(".cursor/mcp.json", cursor(**keys, c={"command": "program", "args": ["c"]}))
        found = await plan(parts, clients=["cursor"])
        keyring.prompt.clear()
        keyring.is_asked.clear()
        running = parts.spawn(with_current_asker(take(parts, found, tidy=True)), name="an import")
        await asyncio.to_thread(keyring.is_asked.wait, 20)
        await parts.ai_clients_api.cancel_import()
        done = await running
        assert not keyring.prompt.is_set()
        assert {done[name].state for name in ("a", "b")} == {"cancelled"}
        assert not {"a", "b"} & set(parts.config.entries)
        undoing = [each for each in asyncio.all_tasks() if each.get_name() == "import a server"]
        keyring.prompt.set()
        await asyncio.gather(*undoing, settled(), return_exceptions=True)
        assert not keyring.values
        assert home.servers(".cursor/mcp.json") == ["a", "b", "c"]
        again = await take(parts, [each for each in found if each.name != "c"])
        assert {name: each.state for name, each in again.items()} == {"a": "listed", "b": "listed"}
        assert sorted(keyring.values.values()) == [TOKEN + "a", TOKEN + "b"]


async def nothing() -> None: ...


async def test_a_server_that_came_in_and_failed_is_started_again_by_the_next_import(tmp_path: Path) -> None:
    program = ScriptedServer(tool("x"))
    program.fails_to_open = CannotStart("it is broken")
    async with hub(tmp_path, programs={"program": program}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(a={"command": "program"}))
        found = await plan(parts, clients=["cursor"])
        assert (await take(parts, found))["a"].state == "failed"
        program.fails_to_open = None
        assert (await take(parts, found))["a"].state == "listed"


async def test_200_servers_come_in_with_progress_and_a_cancel_in_the_middle_changes_no_client(tmp_path: Path) -> None:
    program = ScriptedServer(tool("a"))
    async with hub(tmp_path, programs={"program": program}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(**{f"s{number}": {"command": "program", "args": [str(number)]} for number in range(200)}))
        before = home.servers(".cursor/mcp.json")
        progress: list[tuple[int, int]] = []

        def on_progress(event: ImportProgressed) -> None:
            progress.append((event.done, event.total))
            if event.done == 20:
                parts.imports.cancel()

        parts.bus.subscribe(ImportProgressed, on_progress)
        done = list((await take(parts, await plan(parts, clients=["cursor"]), tidy=True)).values())
        states = [each.state for each in done]
        assert (len(done), states.count("listed") >= 20, states.count("cancelled") > 150, "failed" in states) == (200, True, True, False)
        assert progress == [(number, 200) for number in range(201)]
        assert home.servers(".cursor/mcp.json") == before


async def test_one_import_runs_at_a_time(tmp_path: Path) -> None:
    slow = ScriptedServer()
    slow.handlers["tools/list"] = never
    async with hub(tmp_path, programs={"slow": slow}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(slow={"command": "slow"}))
        found = await plan(parts, clients=["cursor"])
        running = parts.spawn(with_current_asker(take(parts, found)), name="an import")
        await slow.asked.wait(lambda each: each.method == "tools/list")
        with pytest.raises(Conflict, match="being imported already"):
            await take(parts, found)
        await parts.ai_clients_api.cancel_import()
        assert (await running)["slow"].state == "added"
        await parts.ai_clients_api.cancel_import()  # there is none any more


async def test_an_import_that_is_cut_off_does_not_block_the_next_one(tmp_path: Path) -> None:
    slow = ScriptedServer()
    slow.handlers["tools/list"] = never
    async with hub(tmp_path, programs={"slow": slow}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(slow={"command": "slow"}))
        found = await plan(parts, clients=["cursor"])
        running = parts.spawn(with_current_asker(take(parts, found, tidy=True)), name="an import")
        await slow.asked.wait(lambda each: each.method == "tools/list")
        running.cancel()
        await asyncio.wait([running])
        await settled()
        assert home.servers(".cursor/mcp.json") == ["slow"]
        slow.handlers.clear()
        assert (await plan(parts, clients=["cursor"]))[0].state == "same"


async def test_a_failure_to_change_the_files_is_reported_and_the_servers_are_here(tmp_path: Path) -> None:
    async with hub(tmp_path, programs={"a": ScriptedServer(tool("a"))}) as (parts, home):
        path = home.write(".cursor/mcp.json", cursor(a={"command": "a"}))
        found = await plan(parts, clients=["cursor"])

        class Stuck:
            async def preview_removal(self, entries: object) -> Any:
                raise TooltrayError("the disk is full")

        parts.imports._edits = Stuck()
        done = await take(parts, found, tidy=True)
        assert (done["a"].state, str(done["a"].problem)) == ("listed", "the disk is full")
        assert path.exists()


async def test_what_was_changed_meanwhile_is_not_put_back_but_reported(tmp_path: Path) -> None:
    async with hub(tmp_path, programs={"a": ScriptedServer(tool("a"))}) as (parts, home):
        home.write(".cursor/mcp.json", cursor(a={"command": "a"}))
        await take(parts, await plan(parts, clients=["cursor"]), tidy=True)
        path = home.write(".cursor/mcp.json", "{")
        (back,) = await parts.ai_clients_api.put_back_moved_servers()
        assert (back.action, back.problem is not None, path.read_text()) == ("undo", True, "{")


async def test_an_import_from_clients_needs_the_user(tmp_path: Path) -> None:
    async with hub(tmp_path) as (parts, home):
        home.write(".cursor/mcp.json", cursor(a={"command": "a"}))
        found = await plan(parts, clients=["cursor"])
        with asked_by(UNATTENDED):
            for options in ({}, {"text": "npx a", "tidy": True}):
                with pytest.raises(Denied, match="Importing servers"):
                    await take(parts, found, **options)
            with pytest.raises(Denied, match="Putting servers back"):
                await parts.ai_clients_api.put_back_moved_servers()
        assert parts.config.entries == {}


async def test_files_that_cannot_be_read_are_problems_and_unknown_clients_are_refused(tmp_path: Path) -> None:
    async with hub(tmp_path) as (parts, home):
        home.write(".cursor/mcp.json", "{")
        home.write("some.toml", '[mcp_servers.a]\ncommand = "a"')
        found = await parts.ai_clients_api.preview_client_import()
        assert (found.candidates, ["mcp.json cannot be read" in problem.title for problem in found.problems]) == ((), [True])
        for unknown in ("nobody", ""):
            with pytest.raises(NotFound, match=f"AI client '{unknown}' not found"):
                await plan(parts, clients=["cursor", unknown])
        assert [each.name for each in await plan(parts, file=str(home.root / "some.toml"))] == ["a"]
        with pytest.raises(TooltrayError, match="not both"):
            await plan(parts, file="/x", text="y")
