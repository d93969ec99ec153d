import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Heard, Record
from tests.fakes.hub_parts import entry, hub_parts, settled
from tests.fakes.npm_registry import SDK
from tests.fakes.scripted_server import ScriptedServer

from tooltray.config.settings.document import Edit
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import Settings
from tooltray.config.settings.settings_reading import read_settings
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, NpmRegistryChanged
from tooltray.foundation.snapshots.hub import RegistryMeasurement
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.launch.npm_config import CUSTOM, MIRROR, NPM, Answer, NpmConfiguration, Registry
from tooltray.servers.npm_mirrors.measuring import RegistryCache, RegistrySources
from tooltray.servers.npm_mirrors.npm_registries import KEPT_FOR_S, LOOKS_EVERY_S, SETTLES_AFTER_S, NpmRegistries

OWN, QUICK, SLOW, MINE = "https://own.example/", "https://quick.example/", "https://slow.example/", "https://mine.example/"
INDEX = "https://quick.example/simple/"
QUICK_MIRROR = Registry(QUICK, "Quick", MIRROR, "Here", INDEX)
SLOW_MIRROR = Registry(SLOW, "Slow", MIRROR)
NPX = {"command": "npx", "args": ["-y", "some-server"]}
NOW = 1_000_000.0
SPEED = {OWN: 50.0, QUICK: 5.0, SLOW: 90.0, MINE: 20.0}


class Conf:
    """The settings, in memory."""

    def __init__(self, bus: EventBus, servers: Mapping[str, Any], **settings: Any) -> None:
        self._bus = bus
        self.settings = Settings(mcp_servers={name: read_entry(name, each) for name, each in servers.items()}, **settings)

    def change(self, **fields: Any) -> None:
        self.settings = self.settings.model_copy(update=fields)
        self._bus.publish(ConfigChanged({}, (), True))

    async def edit(self, change: Edit) -> None:
        document = self.settings.model_dump(by_alias=True)
        change(document)
        now = read_settings(document).settings
        self.change(custom_npm_registry=now.custom_npm_registry, auto_detect_npm_registry=now.auto_detect_npm_registry)


class Network:
    """All registries there are, and npm.

    Attributes:
        speed: milliseconds of those that answer, by address.
        held: answers wait for this.
        rounds: what was measured, and which packages each was asked for.
    """

    def __init__(self) -> None:
        self.speed = dict(SPEED)
        self.version = dict.fromkeys(SPEED, "2.0.0")
        self.configuration = NpmConfiguration(OWN)
        self.python: set[str] = {QUICK}
        self.held: asyncio.Event | None = None
        self.error: Exception | None = None
        self.rounds: Record[tuple[list[str], tuple[str, ...]]] = Record()
        self.options: dict[str, Any] = {}
        self.reads = 0

    async def read(self, environ: Mapping[str, str], folder: str) -> NpmConfiguration:
        self.reads += 1
        return self.configuration

    async def measure(self, registries: Sequence[Registry], packages: tuple[str, ...], **options: Any) -> list[Answer]:
        self.options = options
        self.rounds.add(([each.url for each in registries], packages))
        if self.held:
            await self.held.wait()
        if self.error:
            raise self.error
        return [self._answer(each, packages) for each in registries]

    def _answer(self, registry: Registry, packages: tuple[str, ...]) -> Answer:
        if registry.url not in self.speed:
            return Answer(registry, problem="no answer")
        latest = dict.fromkeys(packages, self.version[registry.url])
        return Answer(registry, self.speed[registry.url], latest=latest, has_python=registry.url in self.python)


class Parts:
    def __init__(
        self, path: Path, *, servers: Mapping[str, Any], mirrors: Sequence[Registry], settles_after_s: float, **settings: Any
    ) -> None:
        self.bus, self.keeper, self.network = EventBus(), TaskKeeper(), Network()
        self.heard = Heard(self.bus)
        self.conf = Conf(self.bus, servers, **settings)
        self.now = NOW
        self.environ: dict[str, str] = {"HOME": str(path / "nobody")}
        self.path, self.mirrors, self.settles_after_s = path, mirrors, settles_after_s
        self.registries = self.make()

    def make(self) -> NpmRegistries:
        """What a hub makes at its start."""
        return NpmRegistries(
            config=self.conf,  # type: ignore[arg-type]
            cache=RegistryCache(self.path / "registries.json"),
            registry_sources=RegistrySources(
                environ=self._environ,
                folder="/",
                mirrors=tuple(self.mirrors),
                measure=self.network.measure,
                read=self.network.read,
            ),
            bus=self.bus,
            spawn=self.keeper.spawn,
            clock=lambda: self.now,
            settles_after_s=self.settles_after_s,
        )

    async def _environ(self) -> Mapping[str, str]:
        return self.environ

    async def variables(self, **fields: Any) -> Mapping[str, str]:
        config: MCPServerConfig = read_entry("s", {**NPX, **fields})
        return await self.registries.variables(config, self.environ)

    @property
    def told(self) -> list[tuple[bool, str]]:
        """What was published: whether something is being measured, and what servers get."""
        return [(event.status.is_measuring, event.status.url) for event in self.heard.of(NpmRegistryChanged)]


@asynccontextmanager
async def parts_in(
    path: Path,
    *,
    servers: Mapping[str, Any] = {"s": NPX},
    mirrors: Sequence[Registry] = (QUICK_MIRROR, SLOW_MIRROR),
    settles_after_s: float = 0.0,
    **settings: Any,
) -> AsyncIterator[Parts]:
    parts = Parts(path, servers=servers, mirrors=mirrors, settles_after_s=settles_after_s, **settings)
    try:
        yield parts
    finally:
        await parts.keeper.close()


# choosing


async def test_before_anything_is_measured_npm_is_left_to_itself(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        assert await parts.variables() == {}
        status = parts.registries.status
    assert (status.url, status.origin, status.measured_at, status.measurements) == ("", NPM, 0.0, ())


async def test_the_fastest_registry_is_used(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        status = await parts.registries.refresh()
        assert await parts.variables() == {"npm_config_registry": QUICK}
    assert (status.url, status.origin, status.measured_at, status.is_from_cache, status.is_measuring) == (QUICK, MIRROR, NOW, False, False)
    assert [(each.name, each.milliseconds) for each in status.measurements] == [("Quick", 5.0), ("npm", 50.0), ("Slow", 90.0)]
    assert parts.network.rounds.all == [([OWN, QUICK, SLOW], (SDK, "some-server"))]
    assert parts.told == [(True, ""), (False, QUICK)]


async def test_where_npm_s_own_is_the_fastest_nothing_is_set(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.speed[OWN] = 1.0
        assert (await parts.registries.refresh()).url == ""
        assert await parts.variables() == {}


async def test_where_nothing_answers_nothing_is_set_and_nothing_is_kept(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        await parts.registries.refresh()
        kept = (tmp_path / "registries.json").read_bytes()
        parts.network.speed.clear()
        status = await parts.registries.refresh()
        assert await parts.variables() == {}
    assert {each.problem for each in status.measurements} == {"no answer"}
    assert (tmp_path / "registries.json").read_bytes() == kept


async def test_a_mirror_never_takes_the_place_of_a_registry_that_was_chosen_in_npm_s_configuration(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.configuration = NpmConfiguration(OWN, is_chosen=True)
        status = await parts.registries.refresh()
        assert await parts.variables() == {}
    assert [(each.name, each.problem) for each in status.measurements] == [("Quick", ""), ("own.example", ""), ("Slow", "")]
    assert parts.network.rounds.all[0][1] == (SDK,), "and nobody hears of packages that may be nobody's business"


async def test_a_registry_that_the_person_adds_may_take_its_place(tmp_path: Path) -> None:
    added: Any = ({"url": MINE, "name": "Mine"}, {"url": "no address"})
    async with parts_in(tmp_path, npm_registries=added) as parts:
        parts.network.configuration = NpmConfiguration(OWN, is_chosen=True)
        status = await parts.registries.refresh()
        assert await parts.variables() == {"npm_config_registry": MINE}
        parts.registries = parts.make()
        assert parts.registries.status.url == MINE, "after a restart as well"
    assert (status.url, status.origin, status.measurements[1].name) == (MINE, "settings", "Mine")


async def test_a_registry_chosen_in_npmrc_since_goes_before_a_mirror(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        await parts.registries.refresh()
        (tmp_path / ".npmrc").write_text(f"registry={MINE}")
        parts.environ["HOME"] = str(tmp_path)
        assert await parts.variables() == {}


async def test_without_a_registry_of_npm_there_is_nothing_to_compare_mirrors_with(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.configuration = NpmConfiguration()
        status = await parts.registries.refresh()
    assert (status.url, len(status.measurements)) == ("", 2)


async def test_npm_s_own_registry_is_measured_once_where_it_is_a_mirror_too(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.configuration = NpmConfiguration(QUICK, is_chosen=True)
        status = await parts.registries.refresh()
    assert parts.network.rounds.all[0][0] == [QUICK, SLOW]
    assert (status.url, status.measurements[0].name, status.measurements[0].origin) == ("", "Quick", NPM)


async def test_a_registry_that_is_no_candidate_any_more_is_not_used(tmp_path: Path) -> None:
    added: Any = ({"url": MINE},)
    async with parts_in(tmp_path, npm_registries=added, mirrors=(SLOW_MIRROR,)) as parts:
        assert (await parts.registries.refresh()).url == MINE
        parts.conf.change(npm_registries=())
        assert parts.registries.status.url == ""
        assert parts.told[-1] == (False, "")


# custom ones


async def test_a_custom_registry_goes_first_after_it_was_measured(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        status = await parts.registries.set_custom(f" {MINE.rstrip('/')} ")
        assert await parts.variables() == {"npm_config_registry": MINE}
        row = RegistryMeasurement(MINE, "mine.example", CUSTOM, "", 20.0)
        assert (status.url, status.origin, status.custom_url, status.measurements) == (MINE, CUSTOM, MINE, (row,))
        await parts.registries.refresh()
        measured = parts.registries.status.measurements
        assert [(each.name, each.origin) for each in measured[:2]] == [("Quick", MIRROR), ("mine.example", CUSTOM)]
        ended = await parts.registries.set_custom("")
    assert (ended.url, ended.custom_url) == (QUICK, "")
    assert MINE not in {each.url for each in ended.measurements}
    assert parts.told == [(False, MINE), (True, MINE), (False, MINE), (False, QUICK)]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://silent.example/", "https://silent.example/: no answer"),
        ("https://me:hunter2@mine.example/", "user name or password"),
        ("mine.example", "https://"),
    ],
)
async def test_what_is_no_good_registry_is_not_saved(tmp_path: Path, url: str, reason: str) -> None:
    async with parts_in(tmp_path) as parts:
        with pytest.raises(TooltrayError) as caught:
            await parts.registries.set_custom(url)
        assert parts.conf.settings.custom_npm_registry is None
    assert reason in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert parts.told == []


async def test_a_test_says_what_is_wrong_and_changes_nothing(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        assert await parts.registries.test(QUICK) == RegistryMeasurement(QUICK, "Quick", CUSTOM, "Here", 5.0)
        assert (await parts.registries.test("https://silent.example")).problem == "no answer"
        refused = await parts.registries.test("ftp://me:hunter2@x.example/")
        assert (refused.url, refused.milliseconds) == ("ftp://x.example/", None)
        assert "https://" in refused.problem
        assert parts.registries.status.measurements == ()


@pytest.mark.parametrize(
    "url", ["me:hunter2@x.example", "//me:hunter2@x.example/", "https:me:hunter2@x.example", "https://me:hunter2/2@x/"]
)
async def test_what_is_no_address_is_shown_without_what_may_be_a_password(tmp_path: Path, url: str) -> None:
    async with parts_in(tmp_path) as parts:
        assert "hunter2" not in str(await parts.registries.test(url))


async def test_a_custom_registry_that_stops_answering_is_a_notice(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        await parts.registries.set_custom(MINE)
        await parts.registries.refresh()
        assert parts.registries.problems == []
        del parts.network.speed[MINE]
        await parts.registries.refresh()
        (problem,) = parts.registries.problems
        assert await parts.variables() == {"npm_config_registry": MINE}, "it stays the person's choice"
    assert "no answer" in problem.message


async def test_a_custom_registry_in_the_settings_that_is_no_address_is_a_notice_and_not_used(tmp_path: Path) -> None:
    async with parts_in(tmp_path, custom_npm_registry="me:hunter2@nowhere") as parts:
        (problem,) = parts.registries.problems
        assert await parts.variables() == {}
        assert parts.registries.status.custom_url == ""
    assert "hunter2" not in str(problem)


async def test_no_choice_and_no_measurement_is_no_problem(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        await parts.registries.refresh()
        assert parts.registries.problems == []


async def test_a_password_that_a_person_wrote_into_the_settings_is_used_and_shown_to_nobody(tmp_path: Path) -> None:
    async with parts_in(tmp_path, custom_npm_registry="https://me:hunter2@mine.example") as parts:
        parts.network.speed["https://me:hunter2@mine.example/"] = 3.0
        parts.network.version["https://me:hunter2@mine.example/"] = "2.0.0"
        status = await parts.registries.refresh()
        assert await parts.variables() == {"npm_config_registry": "https://me:hunter2@mine.example/"}
    assert (status.url, status.custom_url) == (MINE, MINE)
    assert "hunter2" not in repr(parts.heard.all) + (tmp_path / "registries.json").read_text()


async def test_a_server_s_own_registry_goes_before_all_others(tmp_path: Path) -> None:
    async with parts_in(tmp_path, custom_npm_registry=MINE) as parts:
        assert await parts.variables(customNpmRegistry="https://its.example") == {"npm_config_registry": "https://its.example/"}
        parts.environ["NPM_CONFIG_REGISTRY"] = OWN
        assert await parts.variables(customNpmRegistry="https://its.example") == {"NPM_CONFIG_REGISTRY": "https://its.example/"}
        assert await parts.variables(customNpmRegistry=MINE, env={"npm_config_registry": OWN}) == {}
        with pytest.raises(TooltrayError, match="not the address of a registry"):
            await parts.variables(customNpmRegistry="nonsense")


# uv and pip


async def test_a_server_in_python_gets_the_index_of_the_mirror_that_was_chosen(tmp_path: Path) -> None:
    async with parts_in(tmp_path, servers={"s": {"command": "uvx", "args": ["x"]}}) as parts:
        await parts.registries.refresh()
        python = {"npm_config_registry": QUICK, "UV_DEFAULT_INDEX": INDEX, "PIP_INDEX_URL": INDEX}
        assert await parts.variables(command="/usr/bin/uvx") == python
        assert await parts.variables() == {"npm_config_registry": QUICK}
        assert parts.network.options["with_python"] is True


async def test_an_index_that_does_not_answer_is_not_used(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.python.clear()
        await parts.registries.refresh()
        assert await parts.variables(command="uvx") == {"npm_config_registry": QUICK}


async def test_a_registry_without_an_index_leaves_uv_alone(tmp_path: Path) -> None:
    async with parts_in(tmp_path, custom_npm_registry=MINE) as parts:
        assert await parts.variables(command="uvx") == {"npm_config_registry": MINE}


# remembering


async def test_what_was_measured_counts_after_a_restart_without_asking_anybody(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        await parts.registries.refresh()
        parts.registries = parts.make()
        parts.registries.start()
        await settled()
        assert await parts.variables() == {"npm_config_registry": QUICK}
        status = parts.registries.status
    assert (status.is_from_cache, status.url, status.measured_at) == (True, QUICK, NOW)
    assert len(parts.network.rounds.all) == 1


@pytest.mark.parametrize("later_s", [KEPT_FOR_S, -1.0])
async def test_what_is_too_old_is_used_and_measured_again_in_the_background(tmp_path: Path, later_s: float) -> None:
    async with parts_in(tmp_path) as parts:
        await parts.registries.refresh()
        parts.registries, parts.now = parts.make(), NOW + later_s
        parts.network.speed[SLOW] = 1.0
        parts.network.held = asyncio.Event()
        parts.registries.start()
        await parts.network.rounds.wait(count=2)
        assert await parts.variables() == {"npm_config_registry": QUICK}, "a start waits for nothing"
        parts.network.held.set()
        await parts.heard.wait(lambda event: isinstance(event, NpmRegistryChanged) and event.status.url == SLOW)
        assert parts.registries.status.measured_at == NOW + later_s


async def test_forgetting_forgets_and_measures_anew_where_the_fastest_is_wanted(tmp_path: Path) -> None:
    async with parts_in(tmp_path, settles_after_s=1000.0) as parts:
        await parts.registries.set_custom(MINE)
        await parts.registries.set_custom("")
        await parts.registries.refresh()
        parts.registries.start()
        await parts.registries.clear_cache()
        status = parts.registries.status
        assert (status.url, status.measured_at, status.measurements) == ("", 0.0, ())
        assert not (tmp_path / "registries.json").exists()
        assert parts.told[-1] == (False, "")
        assert len(parts.keeper) == 2  # the one that was cancelled, and a new one
        await settled()
        assert len(parts.keeper) == 1


async def test_measuring_again_while_it_is_measured_joins_in(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.held = asyncio.Event()
        first, second = (parts.keeper.spawn(parts.registries.refresh(), name="asks") for _ in range(2))
        await parts.network.rounds.wait()
        assert parts.registries.status.is_measuring
        first.cancel()
        parts.network.held.set()
        assert (await second).url == QUICK
    assert len(parts.network.rounds.all) == 1


@pytest.mark.expected_warnings("task 'measure npm registries' failed")
async def test_a_bug_in_measuring_leaves_it_usable(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.error = RuntimeError("bug")
        with pytest.raises(RuntimeError):
            await parts.registries.refresh()
        parts.network.error = None
        assert parts.told == [(True, ""), (False, "")]
        assert (await parts.registries.refresh()).url == QUICK


# in the background


@in_fake_time
async def measured_unasked(path: Path, change: Callable[[Parts], None], expected: int, **options: Any) -> None:
    """Fails unless so many rounds are measured without anybody asking, in ten minutes."""
    async with parts_in(path, settles_after_s=SETTLES_AFTER_S, **options) as parts:
        parts.network.speed.clear()  # so that nothing is saved, by a thread that knows no fake time
        change(parts)
        parts.registries.start()
        parts.registries.start()
        await asyncio.sleep(LOOKS_EVERY_S - 1)
        assert len(parts.network.rounds.all) == expected


def leave(parts: Parts) -> None:
    """Changes nothing."""


def test_a_hub_with_servers_from_npm_measures_once(tmp_path: Path) -> None:
    measured_unasked(tmp_path, leave, 1)


@in_fake_time
async def _measures_again_after_a_bug(path: Path) -> None:
    async with parts_in(path, settles_after_s=SETTLES_AFTER_S) as parts:
        parts.network.speed.clear()
        parts.network.error = RuntimeError("bug")
        parts.registries.start()
        await asyncio.sleep(LOOKS_EVERY_S - 1)
        parts.network.error = None
        await asyncio.sleep(SETTLES_AFTER_S + 2)
        assert len(parts.network.rounds.all) == 2


@pytest.mark.expected_warnings("task 'measure npm registries' failed", "npm registries could not be measured")
def test_a_bug_in_one_round_does_not_end_those_that_come(tmp_path: Path) -> None:
    _measures_again_after_a_bug(tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"servers": {}},
        {"servers": {"s": {"command": "node", "args": ["npx"]}}},
        {"servers": {"s": {**NPX, "disable": True}}},
        {"servers": {"s": {**NPX, "customNpmRegistry": MINE}}},
        {"auto_detect_npm_registry": False},
        {"custom_npm_registry": MINE},
        {"mirrors": ()},
    ],
)
def test_nothing_is_measured_unasked_where_it_would_change_nothing(tmp_path: Path, options: dict[str, Any]) -> None:
    measured_unasked(tmp_path, leave, 0, **options)


def test_nothing_is_measured_unasked_where_npm_s_configuration_has_decided(tmp_path: Path) -> None:
    def choose(parts: Parts) -> None:
        parts.network.configuration = NpmConfiguration(OWN, is_chosen=True)

    measured_unasked(tmp_path, choose, 0)


async def test_mirrors_that_may_not_be_chosen_are_not_measured_unasked(tmp_path: Path) -> None:
    added: Any = ({"url": MINE},)
    async with parts_in(tmp_path, npm_registries=added) as parts:
        parts.network.configuration = NpmConfiguration(OWN, is_chosen=True)
        parts.registries.start()
        assert (await parts.network.rounds.wait())[0] == [OWN, MINE]


@in_fake_time
async def test_npm_is_not_asked_again_every_few_minutes_where_it_has_decided(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.configuration = NpmConfiguration(OWN, is_chosen=True)
        parts.registries.start()
        await asyncio.sleep(LOOKS_EVERY_S + 1)
        assert parts.network.reads == 1


@in_fake_time
async def test_without_a_network_it_is_tried_again_later(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        parts.network.speed.clear()
        parts.registries.start()
        await asyncio.sleep(LOOKS_EVERY_S - 1)
        assert len(parts.network.rounds.all) == 1
        await parts.network.rounds.wait(count=2)


async def test_servers_that_are_added_later_count(tmp_path: Path) -> None:
    async with parts_in(tmp_path, servers={}) as parts:
        parts.registries.start()
        assert len(parts.keeper) == 0, "a hub without such servers has nothing that waits"
        parts.conf.change(mcp_servers={"s": read_entry("s", NPX)})
        await parts.network.rounds.wait()


async def test_switching_it_off_ends_it_and_uses_nothing_that_was_found(tmp_path: Path) -> None:
    async with parts_in(tmp_path, settles_after_s=1000.0) as parts:
        await parts.registries.refresh()
        parts.registries.start()
        status = await parts.registries.set_auto_detect(False)
        assert (status.is_auto_detect, status.url, len(status.measurements)) == (False, "", 3)
        await settled()
        assert len(parts.keeper) == 0
        assert (await parts.registries.set_auto_detect(True)).url == QUICK
        assert len(parts.keeper) == 1


async def test_more_registries_in_the_settings_are_measured_although_it_is_not_a_day(tmp_path: Path) -> None:
    async with parts_in(tmp_path) as parts:
        await parts.registries.refresh()
        parts.conf.change(npm_registries=Settings(npm_registries=({"url": MINE},)).npm_registries)  # type: ignore[arg-type]
        parts.registries.start()
        assert MINE in (await parts.network.rounds.wait(count=2))[0]


# in the hub


async def test_a_server_gets_the_registry_in_its_environment(tmp_path: Path) -> None:
    program = ScriptedServer()
    servers = {"s": entry("node", customNpmRegistry=MINE), "t": entry("node", env={"npm_config_registry": "mine"}, customNpmRegistry=MINE)}
    async with hub_parts(tmp_path, servers=servers, programs={"node": program}) as parts:
        for name in servers:
            await parts.presenter.start_server(name)
        assert [launch.env["npm_config_registry"] for launch in parts.launches] == [MINE, "mine"]


async def test_a_server_whose_registry_is_no_address_says_so(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("node", customNpmRegistry="nonsense")}, programs={}) as parts:
        with pytest.raises(TooltrayError, match="npm registry cannot be used"):
            await parts.presenter.start_server("s")


async def test_the_verbs_reach_it_and_a_bad_choice_is_a_notice_of_the_hub(tmp_path: Path) -> None:
    settings = {"customNpmRegistry": "nonsense"}
    async with hub_parts(tmp_path, servers={}, settings=settings) as parts:
        assert "the npm registry in the settings cannot be used" in [each.title for each in (await parts.presenter.get_snapshot()).notices]
        assert (await parts.presenter.set_auto_detect_npm_registry(False)).is_auto_detect is False
        await parts.presenter.set_custom_npm_registry("")
        assert "customNpmRegistry" not in json.loads(parts.home.settings.read_text())
        assert (await parts.presenter.test_npm_registry(MINE)).problem == "there is no network"
        await parts.presenter.refresh_npm_registry()
        await parts.presenter.clear_npm_registry_cache()
        assert await parts.presenter.get_npm_registry_status() == parts.registries.status
