"""snapshots.py: notices, news of servers, and the calls of before."""

import asyncio
import time
from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.journals import entry as journal_entry
from tests.fakes.journals import written

from tooltray.api.presenter.snapshots import Notices
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ServerChanged
from tooltray.foundation.snapshots.servers import ServerState


async def test_every_change_of_a_server_is_told_with_its_whole_card(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.tool_count == 2)
    states = [event.server.state for event in parts.heard.of(ServerChanged)]
    assert states[:2] == [ServerState.STARTING, ServerState.RUNNING]


async def test_calls_change_a_card_once_for_several_of_them(parts: HubParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts.news, "_stats_told_after_s", 0.2)
    await parts.presenter.start_server("s")
    await parts.listed()
    told = len(parts.heard.of(ServerChanged))
    await asyncio.gather(parts.call("get_it"), parts.call("get_it"), parts.call("drop"))
    await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.calls_today == 3)
    assert len(parts.heard.of(ServerChanged)) == told + 1


async def test_calls_of_a_server_that_is_gone_meanwhile_change_no_card(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    await parts.call("get_it")
    await parts.presenter.remove_mcp_server("s")
    told = len(parts.heard.of(ServerChanged))
    await parts.ended()
    assert "s" not in [event.server.name for event in parts.heard.of(ServerChanged)[told:]]


async def test_a_card_tells_when_a_server_elsewhere_is_tried_again(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("program"), "far": {"url": "http://127.0.0.1:1/mcp"}}) as parts:
        with pytest.raises(TooltrayError, match="refused"):
            await parts.presenter.start_server("far")
        await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.state is ServerState.ERROR)
        far, own = (next(each for each in parts.presenter.snapshot().servers if each.name == name) for name in ("far", "s"))
        assert 0.0 < far.since <= far.retry_at
        assert own.retry_at == 0.0


async def test_the_snapshot_tells_what_a_person_should_know(tmp_path: Path) -> None:
    in_template = entry("program", deferredStartup=True, startupArgsTemplate=["${secret:s/KEY}"])
    servers = {"s": entry("program", args=["--key", "${secret:s/KEY}"]), "bad": {"note": 1}, "waits": in_template}
    async with hub_parts(tmp_path, servers=servers) as parts:
        parts.shell.problem = Problem("Your login shell could not be read")
        titles = [problem.title for problem in parts.presenter.snapshot().notices]
        assert len(titles) == 4
        assert "bad" in titles[0]
        in_arguments = [f"'{name}' gets a secret in its arguments" for name in ("s", "waits")]
        assert titles[1:] == ["Your login shell could not be read", *in_arguments]


def test_each_time_they_are_those_of_that_moment() -> None:
    problems = [Problem("An address is taken")]
    notices = Notices([lambda: problems, lambda: ()])
    assert list(notices) == problems
    problems.append(Problem("A token was lost"))
    assert list(notices) == problems


async def test_the_snapshot_tells_what_settings_say_of_projects_that_is_not_so(tmp_path: Path) -> None:
    servers = {"s": entry("program", deferredStartup=True, startupArgsTemplate=["{nope}"]), "t": entry("program", deferredStartup=True)}
    async with hub_parts(tmp_path, servers=servers, settings={"allowedFolders": ["src"]}) as parts:
        titles = [problem.title for problem in parts.presenter.snapshot().notices]
        assert titles == ["'src' is not allowed as a project", "'s' is not given all that its settings ask for"]
        assert await parts.presenter.get_allowed_folders() == []
        [found] = await parts.presenter.diagnose("s")
        assert found.remark.startswith("{nope} is handed over as it is written")


SERVERS = {"files": entry("p")}


def shown(parts: HubParts) -> tuple[int, float]:
    server = parts.servers.get("files")
    card = parts.snapshots.of(server)
    return sum(card.calls), card.p95_ms


async def test_a_card_counts_what_the_journal_has_from_before(tmp_path: Path) -> None:
    now = time.time()
    async with hub_parts(tmp_path, servers=SERVERS) as parts:
        entries = [journal_entry(at=now - 60, duration=0.5), journal_entry(at=now - 60, server="gone"), journal_entry(at=now + 60)]
        written(parts.home.activity, entries).close()
        parts.stats.add("files", 0.1, now)
        await parts.past_stats.count()
        assert shown(parts) == (2, 500.0)
        assert "files" in [event.server.name for event in parts.heard.of(ServerChanged)]
        parts.journal_reader.close()


async def test_a_journal_that_cannot_be_read_counts_nothing(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers=SERVERS) as parts:
        parts.home.activity.write_bytes(b"no database" * 1000)
        await parts.past_stats.count()
        assert shown(parts) == (0, 0.0)
