"""live_settings.py: changed settings, and pauses."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import file_server
from tests.fakes.heard import Heard, Record
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.api.presenter.live_settings import MOST_PAUSE_S, LiveSettings, Pauses, ReleaseWatch
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported, ReleaseNewsChanged, ServerStarted, ServerStopped
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.upstream.managed_server import ServersConfigured


class RecordingHub:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    async def start_all(self) -> None:
        self.calls.append("start_all")

    def start_new(self, servers: Iterable[str]) -> None:
        self.calls.append(list(servers))

    def use_secret_backend(self) -> None:
        self.calls.append("use_secret_backend")


class Live:
    def __init__(self, folder: Path) -> None:
        self.path, self.bus, self.hub, self.tasks = folder / "settings.json", EventBus(), RecordingHub(), TaskKeeper()
        self.conf = McpConfHelper(self.path, self.bus)
        self.bus.subscribe(ConfigChanged, lambda event: self.bus.publish(ServersConfigured()))  # as ServerManager does
        self.names = PublishedNames(folder / "names.json")

    async def edit(self, **fields: Any) -> list[Any]:
        """Somebody saves the file; returns what the hub was told thereupon."""
        self.hub.calls.clear()
        before = json.loads(self.path.read_text()) if self.path.exists() else {"version": 1}
        self.path.write_text(json.dumps(before | fields))
        await self.conf.reload()
        while len(self.tasks):
            others = asyncio.all_tasks() - {asyncio.current_task()}
            await (asyncio.wait(others) if others else asyncio.sleep(0))
        return self.hub.calls


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    live = Live(tmp_path)
    await live.edit(mcpServers={"a": {"command": "x"}, "off": {"command": "x", "disable": True}})
    settings = LiveSettings(config=live.conf, names=live.names, starts=live.hub, spawn=live.tasks.spawn, bus=live.bus)
    settings.start()
    yield live
    await live.tasks.close()


async def test_servers_that_are_new_or_on_again_are_begun_and_no_others(live: Live) -> None:
    assert await live.edit(mcpServers={"a": {"command": "y"}, "off": {"command": "x"}, "b": {"command": "x"}}) == [["off", "b"]]
    assert await live.edit(mcpServers={"a": {"command": "y", "disable": True}, "b": {"command": "x", "idleStop": 5}}) == []


async def test_one_that_is_another_program_now_is_listed_anew_and_not_begun(live: Live) -> None:
    assert await live.edit(mcpServers={"a": {"command": "y"}, "off": {"command": "y", "disable": True}}) == [[]]


async def test_what_is_new_while_everything_is_off_begins_when_it_is_on_again(live: Live) -> None:
    assert await live.edit(mcpEnabled=False) == []
    assert await live.edit(mcpServers={"new": {"command": "x"}}) == []
    assert await live.edit(mcpEnabled=True) == ["start_all"]


async def test_tools_are_named_as_the_settings_say_from_then_on(live: Live) -> None:
    await live.edit(publish={"naming": "always"})
    assert list(live.names.publish([("a", "t")]).values()) == ["a_t"]
    await live.edit(publish={"naming": "conflict"})
    assert list(live.names.publish([("a", "u")]).values()) == ["u"]


async def test_the_names_of_a_server_that_has_left_the_settings_are_free_when_it_does_not_come_back(live: Live) -> None:
    live.names.publish([("a", "t"), ("off", "t")])
    await live.edit(mcpServers={"a": {"command": "x"}, "off": {"command": "x", "disable": True}, "b": {"command": ""}})
    assert not any(map(live.names.is_retired, ("a", "off", "b")))
    await live.edit(mcpServers={"a": {"command": ""}})  # a slip of the pen
    assert list(map(live.names.is_retired, ("a", "off", "b"))) == [False, True, True]
    await live.edit(mcpServers={"off": {"command": "x"}})
    assert list(map(live.names.is_retired, ("a", "off"))) == [True, False]


async def test_servers_of_projects_come_and_go_with_their_names(live: Live) -> None:
    live.conf.set_file_servers({"db": file_server("db")})
    live.conf.set_file_servers({})
    await live.edit(publish={})
    assert not live.names.is_retired("db")


async def test_secrets_are_looked_for_where_the_settings_say(live: Live) -> None:
    assert await live.edit(secrets={"backend": "memory"}) == ["use_secret_backend"]
    assert await live.edit(publish={"lazyLoad": True}) == []


async def edit(parts: HubParts, **fields: Any) -> None:
    document = json.loads(parts.home.settings.read_text())
    parts.home.settings.write_text(json.dumps(document | fields))
    await parts.conf.reload()


async def test_a_server_that_somebody_writes_into_the_file_runs_if_it_starts_with_the_hub(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, servers={}, programs={"program": program}) as parts:
        await edit(parts, mcpServers={"s": entry("program")}, defaultServers=["s"])
        await parts.heard.event(ServerStarted, server_name="s")
        (copy,) = program.running
        await edit(parts, mcpServers={"s": entry("program", disabledTools=["drop"])})
        assert program.running == [copy]


async def test_one_on_demand_that_is_another_program_now_is_listed_anew_and_rests_again(tmp_path: Path) -> None:
    programs = {"old": ScriptedServer(tool("before")), "new": ScriptedServer(tool("after"))}
    async with hub_parts(tmp_path, servers={"s": entry("old")}, programs=programs) as parts:
        await edit(parts, mcpServers={"s": entry("new")})
        await parts.heard.event(ServerStarted, server_name="s")
        await parts.heard.event(ServerStopped, server_name="s")
        assert (await parts.listed(), programs["old"].copies.all) == (["after"], [])


async def test_a_server_without_its_secret_is_tried_again_where_somebody_names_another_place(tmp_path: Path) -> None:
    servers = {"s": entry("program", env={"KEY": "${secret:s/KEY}"})}
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer()}) as parts:
        await parts.secrets.set("s/KEY", "value")
        parts.secrets.use("file")
        parts.servers.get("s").start()
        await parts.heard.state("s", ServerState.ERROR)
        await edit(parts, secrets={"backend": "memory"})
        await parts.heard.event(ServerStarted, server_name="s")


class FullDisk(McpConfHelper):
    """`refusals`: so often nothing can be written."""

    refusals = 0

    async def set_enabled(self, enabled: bool, *, paused_until: float = 0.0) -> None:
        if self.refusals:
            self.refusals -= 1
            raise TooltrayError("The disk is full")
        await super().set_enabled(enabled, paused_until=paused_until)


class Paused:
    def __init__(self, folder: Path) -> None:
        self.path, self.bus, self.tasks = folder / "settings.json", EventBus(), TaskKeeper()
        self.conf = FullDisk(self.path, self.bus)
        self.heard = Heard(self.bus)
        self.pauses = Pauses(config=self.conf, spawn=self.tasks.spawn, bus=self.bus, check_every_s=0.001)

    async def start(self, **settings: Any) -> None:
        self.path.write_text(json.dumps({"version": 1, **settings}))
        await self.conf.load()
        self.pauses.start()

    @property
    def written(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.path.read_text())
        return {name: document[name] for name in ("mcpEnabled", "pausedUntil") if name in document}


@pytest.fixture
async def paused(tmp_path: Path) -> AsyncIterator[Paused]:
    paused = Paused(tmp_path)
    yield paused
    await paused.tasks.close()


async def test_a_pause_ends_by_itself_and_leaves_nothing_of_it(paused: Paused) -> None:
    await paused.start()
    await paused.pauses.set_enabled(False, 0.01)
    assert paused.pauses.until == pytest.approx(time.time(), abs=1.0)
    await paused.heard.event(ConfigChanged, mcp_enabled=True)
    assert (paused.written, paused.pauses.until) == ({"mcpEnabled": True}, 0.0)


async def test_the_next_hub_goes_on_with_it(paused: Paused) -> None:
    until = round(time.time()) + 3600
    await paused.start(mcpEnabled=False, pausedUntil=until)
    assert paused.pauses.until == pytest.approx(until, abs=1.0)
    await paused.pauses.set_enabled(True, None)
    assert (paused.written, paused.pauses.until) == ({"mcpEnabled": True}, 0.0)


async def test_one_that_ended_while_no_hub_ran_is_over(paused: Paused) -> None:
    await paused.start(mcpEnabled=False, pausedUntil=time.time() - 60)
    await paused.heard.event(ConfigChanged, mcp_enabled=True)


@pytest.mark.parametrize("settings", [{"mcpEnabled": False}, {"pausedUntil": 5.0}, {"mcpEnabled": False, "pausedUntil": "soon"}])
async def test_without_an_end_it_lasts_until_somebody_resumes(paused: Paused, settings: dict[str, Any]) -> None:
    await paused.start(**settings)
    assert (paused.pauses.until, len(paused.tasks)) == (0.0, 0)


async def test_an_end_by_a_clock_that_was_wrong_is_a_week_away_at_most(paused: Paused) -> None:
    await paused.start(mcpEnabled=False, pausedUntil=time.time() + 1e9)
    assert paused.pauses.until == pytest.approx(time.time() + MOST_PAUSE_S, abs=2.0)


async def test_a_longer_pause_takes_the_place_of_a_shorter_one(paused: Paused) -> None:
    await paused.start()
    await paused.pauses.set_enabled(False, 600.0)
    await paused.pauses.set_enabled(False, 7200.0)
    assert paused.pauses.until == pytest.approx(time.time() + 7200.0, abs=2.0)


@pytest.mark.parametrize(
    ("enabled", "for_s"), [(True, 60.0), (False, 0.0), (False, -1.0), (False, MOST_PAUSE_S + 1), (False, float("nan"))]
)
async def test_what_is_no_length_of_a_pause_is_refused(paused: Paused, enabled: bool, for_s: float) -> None:
    await paused.start()
    with pytest.raises(TooltrayError, match="Invalid length of a pause"):
        await paused.pauses.set_enabled(enabled, for_s)


async def test_where_the_settings_cannot_be_written_that_is_said_once_and_tried_again(paused: Paused) -> None:
    paused.conf.refusals = 3
    await paused.start(mcpEnabled=False, pausedUntil=time.time() - 60)
    await paused.heard.event(ConfigChanged, mcp_enabled=True)
    assert [each.problem.title for each in paused.heard.of(ProblemReported)] == ["The disk is full"]


class LookedFor:
    """Notes what was asked of the known releases."""

    def __init__(self) -> None:
        self.calls: Record[str] = Record()

    async def load(self) -> None:
        self.calls.add("load")

    async def check_if_due(self) -> None:
        self.calls.add("check")


class Watched:
    def __init__(self, folder: Path) -> None:
        self.live, self.looked, self.made, self.is_busy = Live(folder), LookedFor(), 0, False
        self.news: list[ReleaseNews] = []
        self.busy_asked: Record[bool] = Record()
        self.live.bus.subscribe(ReleaseNewsChanged, lambda event: self.news.append(event.news))

    def start(self) -> None:
        ReleaseWatch(
            config=self.live.conf,
            releases=self._make,
            is_busy=self._asked_busy,
            spawn=self.live.tasks.spawn,
            bus=self.live.bus,
            check_every_s=0.0,
        ).start()

    def _make(self) -> LookedFor:
        self.made += 1
        return self.looked

    def _asked_busy(self) -> bool:
        self.busy_asked.add(self.is_busy)
        return self.is_busy

    async def set(self, **updates: Any) -> None:
        self.live.path.write_text(json.dumps({"version": 1, "updates": updates}))
        await self.live.conf.reload()


FEED = "https://releases.example/releases.json"


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    watched = Watched(tmp_path)
    yield watched
    await watched.live.tasks.close()


@pytest.mark.parametrize(
    ("updates", "news"),
    [
        ({}, []),
        ({"address": FEED}, [ReleaseNews(FEED)]),
        ({"address": FEED, "check": False}, [ReleaseNews(FEED, False)]),
        ({"check": True}, [ReleaseNews("", True)]),
        ({"address": "http://elsewhere.example/releases.json", "check": True}, []),
    ],
)
async def test_without_an_answer_or_an_address_no_release_is_looked_for(
    watched: Watched, updates: dict[str, Any], news: list[ReleaseNews]
) -> None:
    await watched.set(**updates)
    watched.start()
    assert (watched.news, watched.made, len(watched.live.tasks)) == (news, 0, 0)


async def test_releases_are_looked_for_from_the_answer_on_until_it_is_revoked(watched: Watched) -> None:
    watched.start()
    await watched.set(address=FEED)
    assert watched.news == [ReleaseNews(FEED)]
    await watched.set(address=FEED, check=True)
    await watched.looked.calls.wait(lambda call: call == "check", count=3)
    assert watched.looked.calls.all[:2] == ["load", "check"]
    await watched.set(address=FEED, check=False)
    assert watched.news[-1] == ReleaseNews(FEED, False)
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert watched.made == 1


async def test_nothing_is_looked_for_while_a_client_waits(watched: Watched) -> None:
    watched.is_busy = True
    await watched.set(address=FEED, check=True)
    watched.start()
    await watched.busy_asked.until(lambda: len(watched.busy_asked.all) >= 3)
    assert watched.looked.calls.all == ["load"]
    watched.is_busy = False
    await watched.looked.calls.wait(lambda call: call == "check")


async def test_another_setting_does_not_begin_it_again(watched: Watched) -> None:
    await watched.set(address=FEED, check=True)
    watched.start()
    watched.live.bus.publish(ConfigChanged({}, (), True))
    await watched.looked.calls.wait(lambda call: call == "check", count=2)
    assert watched.made == 1


async def test_what_is_known_of_releases_is_in_the_snapshot(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        assert parts.presenter.snapshot().release == ReleaseNews()
        parts.bus.publish(ReleaseNewsChanged(ReleaseNews(FEED, True, version="1.3.0")))
        assert parts.presenter.snapshot().release.version == "1.3.0"
