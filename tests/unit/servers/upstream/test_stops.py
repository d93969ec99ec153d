"""stops.py"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import file_server
from tests.fakes.hub_parts import HubParts, entry, hub_parts, refusal_of, settled, started
from tests.fakes.modes import has_mode
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.servers.upstream import stops
from tooltray.servers.upstream.stops import LARGEST_BYTES, MOST_KEPT, StoppedServers

SERVERS = {"s": entry("program")}
BY_A_PERSON = "server 's' is stopped: you stopped it. Ask the user to look at it in Tooltray"


def test_what_was_stopped_is_known_again_after_a_restart_and_to_nobody_else(tmp_path: Path) -> None:
    path, file = tmp_path / "stopped.json", tmp_path / ".mcp.json"
    file.touch()
    store = StoppedServers(path)
    store.add("s", at=5.0)
    store.add("db", str(file), at=6.0)
    store.save()
    again = StoppedServers(path)
    assert (again.since("s"), again.since("db", str(file)), again.of_settings()) == (5.0, 6.0, ["s"])
    assert (again.since("db"), again.since("s", str(file)), again.problem) == (None, None, None)
    assert has_mode(path, 0o600)
    assert again.discard("s")
    assert not again.discard("s")
    again.save()
    assert StoppedServers(path).since("s") is None


def test_a_server_of_a_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    store = StoppedServers(tmp_path / "stopped.json")
    store.add("db", str(tmp_path / ".mcp.json"), at=6.0)
    store.save()
    assert StoppedServers(tmp_path / "stopped.json").since("db", str(tmp_path / ".mcp.json")) is None


def test_of_too_many_the_oldest_go(tmp_path: Path) -> None:
    store = StoppedServers(tmp_path / "stopped.json")
    for number in range(MOST_KEPT + 1):
        store.add(str(number), at=1.0)
    store.save()
    again = StoppedServers(tmp_path / "stopped.json")
    assert (again.since("0"), again.since("1"), len(again.of_settings())) == (None, 1.0, MOST_KEPT)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"servers": ["s"]}', "[" * 100_000, " " * (LARGEST_BYTES + 1)])
def test_a_file_that_cannot_be_used_is_set_aside_and_nothing_counts_as_stopped(tmp_path: Path, content: str) -> None:
    path = tmp_path / "stopped.json"
    path.write_text(content)
    store = StoppedServers(path)
    assert store.of_settings() == []
    assert store.problem
    assert "is now in" in store.problem.message
    [aside] = tmp_path.glob("stopped.json.broken-*")
    assert aside.read_text() == content


def test_a_file_that_cannot_be_opened_is_left_and_told(tmp_path: Path) -> None:
    (tmp_path / "stopped.json").mkdir()
    problem = StoppedServers(tmp_path / "stopped.json").problem
    assert problem
    assert problem.hint == "Make it readable."


def test_a_file_that_cannot_be_written_says_what_still_counts(tmp_path: Path) -> None:
    store = StoppedServers(tmp_path / "gone" / "stopped.json")
    store.add("s", at=1.0)
    with pytest.raises(TooltrayError, match=r"cannot be saved.*stopped\.json: No such file or directory.* It applies until Tooltray ends"):
        store.save()
    assert store.since("s") == 1.0


def hub(tmp_path: Path, **options: Any) -> Any:
    """One life of a hub in the same home, with a server `s` that starts with it."""
    is_first = not (tmp_path / "settings.json").exists()
    given = {"servers": SERVERS, "default": ("s",)} if is_first else {}
    return hub_parts(tmp_path, programs={"program": ScriptedServer(tool("t"))}, **given, **options)


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    async with hub(tmp_path) as parts:
        yield parts


async def shown(parts: HubParts, name: str = "s") -> ServerSnapshot:
    return next(server for server in (await parts.presenter.get_snapshot()).servers if server.name == name)


def on_disk(tmp_path: Path) -> list[str]:
    return [each["name"] for each in json.loads((tmp_path / "stopped.json").read_bytes())["servers"]]


async def test_the_next_hub_does_not_start_it_and_calls_say_that_a_person_stopped_it(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await started(parts)
        await parts.listed()
        await parts.presenter.stop_server("s")
        stopped_at = (await shown(parts)).since
        assert on_disk(tmp_path) == ["s"]  # whoever is killed now has remembered it
    async with hub(tmp_path) as parts:
        await parts.presenter.initialize()
        await settled()
        assert ((await shown(parts)).state, (await shown(parts)).since) == (ServerState.STOPPED, pytest.approx(stopped_at, abs=2))
        assert await refusal_of(parts, "t") == BY_A_PERSON
        assert parts.launches == []


async def test_a_resume_after_a_pause_does_not_start_it(parts: HubParts) -> None:
    await started(parts)
    await parts.presenter.stop_server("s")
    await parts.presenter.set_mcp_enabled(False)
    await parts.presenter.set_mcp_enabled(True)
    await settled()
    assert ((await shown(parts)).state, len(parts.launches)) == (ServerState.STOPPED, 1)


@pytest.mark.parametrize("verb", ["start_server", "restart_server"])
async def test_a_person_starts_it_again_and_then_hubs_do_too(tmp_path: Path, verb: str) -> None:
    async with hub(tmp_path) as parts:
        await parts.presenter.stop_server("s")
        await getattr(parts.presenter, verb)("s")
        assert (await shown(parts)).state is ServerState.RUNNING
        assert on_disk(tmp_path) == []
    async with hub(tmp_path) as parts:
        await parts.presenter.initialize()
        await parts.heard.state("s", ServerState.RUNNING)


async def test_other_settings_of_it_do_not_start_it(parts: HubParts) -> None:
    await started(parts)
    await parts.presenter.stop_server("s")
    await parts.presenter.update_mcp_server("s", entry("program", args=["other"]))
    await parts.conf.change_server("s", idle_stop=30)
    await settled()
    assert (await shown(parts)).state is ServerState.STOPPED
    await parts.presenter.start_server("s")
    await parts.presenter.update_mcp_server("s", entry("program", args=["third"]))
    await parts.heard.state("s", ServerState.RUNNING, count=3)


async def test_an_edit_while_it_is_being_stopped_does_not_start_it_either(parts: HubParts) -> None:
    await started(parts)
    program = parts.programs["program"]
    program.may_end.clear()
    stopping = parts.keeper.spawn(parts.presenter.stop_server("s"), name="stop")
    await parts.heard.state("s", ServerState.STOPPING)
    await parts.presenter.update_mcp_server("s", entry("program", args=["other"]))
    program.may_end.set()
    await stopping
    await settled()
    assert ((await shown(parts)).state, len(parts.launches)) == (ServerState.STOPPED, 1)


async def test_a_stop_during_a_restart_is_the_last_word(parts: HubParts, tmp_path: Path) -> None:
    await started(parts)
    program = parts.programs["program"]
    program.may_end.clear()
    restarting = asyncio.create_task(parts.presenter.restart_server("s"))
    await parts.heard.state("s", ServerState.RESTARTING)
    stopping = asyncio.create_task(parts.presenter.stop_server("s"))
    await settled()
    program.may_end.set()
    await stopping
    with pytest.raises(TooltrayError, match="it was stopped during the restart"):
        await restarting
    assert ((await shown(parts)).state, len(parts.launches), on_disk(tmp_path)) == (ServerState.STOPPED, 1, ["s"])


async def test_who_takes_disable_out_of_its_entry_starts_it(parts: HubParts, tmp_path: Path) -> None:
    await parts.presenter.stop_server("s")
    await parts.conf.change_server("s", disable=True)
    await parts.conf.change_server("s", disable=None)
    await parts.heard.state("s", ServerState.RUNNING)
    await parts.ended()
    assert on_disk(tmp_path) == []


async def test_a_removal_that_is_undone_brings_it_back_stopped(parts: HubParts, tmp_path: Path) -> None:
    await parts.presenter.stop_server("s")
    await parts.presenter.remove_mcp_server("s", keep_secrets=True)
    await parts.presenter.add_mcp_server("s", SERVERS["s"])
    await settled()
    assert (await shown(parts)).state is ServerState.STOPPED
    await parts.ended()
    assert on_disk(tmp_path) == ["s"]


async def test_another_server_of_the_same_name_starts(parts: HubParts, tmp_path: Path) -> None:
    await parts.presenter.stop_server("s")
    await parts.presenter.remove_mcp_server("s", keep_secrets=True)
    await parts.presenter.add_mcp_server("s", entry("program", args=["new"]))
    await parts.heard.state("s", ServerState.RUNNING)
    await parts.ended()
    assert on_disk(tmp_path) == []


async def test_of_many_removals_the_last_can_be_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stops, "MOST_REMOVED", 1)
    servers = {"a": entry("program"), "b": entry("program")}
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer()}, is_live=False) as parts:
        for name in servers:
            await parts.presenter.stop_server(name)
            await parts.presenter.remove_mcp_server(name, keep_secrets=True)
        for name in servers:
            await parts.presenter.add_mcp_server(name, servers[name])
        assert [(await shown(parts, name)).state for name in servers] == [ServerState.ON_DEMAND, ServerState.STOPPED]


@pytest.mark.parametrize("is_readable", [True, False])
async def test_what_was_removed_while_no_hub_ran_is_forgotten_unless_the_settings_cannot_be_read(tmp_path: Path, is_readable: bool) -> None:
    async with hub(tmp_path) as parts:
        await parts.presenter.stop_server("s")
    document = json.loads((tmp_path / "settings.json").read_bytes())
    document["mcpServers"] = {} if is_readable else {"s": {}}
    (tmp_path / "settings.json").write_text(json.dumps(document))
    async with hub(tmp_path) as parts:
        await parts.ended()
    assert on_disk(tmp_path) == ([] if is_readable else ["s"])


async def test_a_server_that_appears_in_the_settings_does_not_inherit_a_stop(tmp_path: Path) -> None:
    async with hub(tmp_path, settings={"profiles": {}}) as parts:
        await parts.presenter.stop_server("s")
    document = json.loads((tmp_path / "settings.json").read_bytes())
    document["mcpServers"] = {"broken": {}}
    (tmp_path / "settings.json").write_text(json.dumps(document))
    async with hub(tmp_path) as parts:  # something is wrong with the settings, so it is not forgotten yet
        await parts.presenter.add_mcp_server("s", SERVERS["s"])
        await parts.heard.state("s", ServerState.RUNNING)


async def test_a_projects_server_is_still_stopped_when_somebody_works_there_again(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / ".mcp.json").write_text("{}")
    server = file_server("program", project=str(folder))
    for _ in range(2):
        async with hub(tmp_path) as parts:
            parts.conf.set_file_servers({"db": server})
            if not (tmp_path / "stopped.json").exists():
                await parts.presenter.stop_server("db")
            parts.conf.set_file_servers({})
            parts.conf.set_file_servers({"db": server})
            await settled()
            assert (await shown(parts, "db")).state is ServerState.STOPPED
    async with hub(tmp_path) as parts:
        await parts.presenter.add_mcp_server("db", entry("program"))  # the settings' own
        await parts.heard.state("db", ServerState.RUNNING)


async def test_a_deferred_server_stays_stopped_for_all_projects_until_one_is_started(tmp_path: Path) -> None:
    (folder := tmp_path / "person" / "work").mkdir(parents=True)
    servers = {"s": entry("program", deferredStartup=True)}
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer()}) as parts:
        await parts.presenter.stop_server("s")
        await parts.presenter.reset_deferred_state()
        assert (await shown(parts)).state is ServerState.STOPPED
    async with hub_parts(tmp_path, programs={"program": ScriptedServer()}) as parts:
        assert (await shown(parts)).state is ServerState.STOPPED
        await parts.presenter.start_for_project("s", str(folder))
        assert (await shown(parts)).state is ServerState.RUNNING
        await parts.presenter.reset_deferred_state()
        assert (await shown(parts)).state is ServerState.WAITING
    assert on_disk(tmp_path) == []


async def test_a_remedy_starts_it(parts: HubParts, tmp_path: Path) -> None:
    await parts.presenter.stop_server("s")
    await parts.presenter.apply_remedy("s", "start")
    await parts.heard.state("s", ServerState.RUNNING)
    assert on_disk(tmp_path) == []


async def test_an_export_does_not_carry_it(parts: HubParts) -> None:
    before = await parts.presenter.export_setup()
    await parts.presenter.stop_server("s")
    assert await parts.presenter.export_setup() == before


@pytest.mark.expected_warnings("cannot be saved")
@pytest.mark.posix
async def test_one_that_cannot_be_kept_stops_all_the_same_and_starts_again(tmp_path: Path) -> None:
    (tmp_path / "stopped.json").symlink_to("/proc/self/mem")  # reading it fails, as does writing beside it
    async with hub(tmp_path) as parts:
        assert "which servers you stopped cannot be read" in str([str(each) for each in parts.notices])
        await started(parts)
        with pytest.raises(TooltrayError, match="which servers are stopped cannot be saved"):
            await parts.presenter.stop_server("s")
        assert (await shown(parts)).state is ServerState.STOPPED
        await parts.presenter.start_server("s")
        assert (await shown(parts)).state is ServerState.RUNNING


async def test_another_stop_of_the_hubs_own_is_not_remembered(parts: HubParts, tmp_path: Path) -> None:
    await started(parts)
    await parts.servers.get("s").stop(then=ServerState.ON_DEMAND)
    assert not (tmp_path / "stopped.json").exists()


async def test_a_stopped_server_that_is_renamed_stays_stopped(tmp_path: Path) -> None:
    programs = {"program": ScriptedServer(tool("t"))}
    async with hub_parts(tmp_path, servers=SERVERS, default=("s",), programs=programs) as parts:
        await started(parts)
        await parts.presenter.stop_server("s")
        since = parts.stopped.since("s")
        await parts.presenter.rename_mcp_server("s", "new")
        await settled()
        assert parts.servers.get("new").state is ServerState.STOPPED
    again = StoppedServers(tmp_path / "stopped.json")
    assert (again.since("new"), again.since("s")) == (since, None)
