"""registry_copy.py: the copy is kept up to date in the background, never in the way, and survives what happens to its file."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import settled
from tests.fakes.mcp_registry import FakeMcpRegistry, answers, answers_text, listening_registry, never_ends, server

from tooltray.config.settings.settings import Settings
from tooltray.config.settings.settings_reading import read_settings
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.programs import resource
from tooltray.foundation.tasks import TaskKeeper
from tooltray.sources.discovery import registry_copy
from tooltray.sources.discovery.registry_copy import ASKED_EVERY_S, FILLED_EVERY_S, RegistryCopy, default_registry

START = 1_000_000.0
NOWHERE = "http://127.0.0.1:9"


class Conf:
    """The settings."""

    def __init__(self, registry: object = None) -> None:
        self.settings: Settings = read_settings({"discovery": {"registry": registry}}).settings


class Copies:
    """Makes copies of a registry in one folder."""

    def __init__(self, folder: Path, registry: FakeMcpRegistry) -> None:
        self.path, self.registry, self.now = folder / "registry.db", registry, START
        self.tasks = TaskKeeper()

    def make(self, registry: object = None, **options: Any) -> RegistryCopy:
        conf: Any = Conf(self.registry.url if registry is None else registry)
        return RegistryCopy(
            config=conf,
            registry_file=self.path,
            default_registry=NOWHERE,
            environ=no_variables,
            spawn=self.tasks.spawn,
            clock=lambda: self.now,
            **options,
        )

    async def idle(self) -> None:
        """Until nothing is fetched."""
        while fetching := [task for task in asyncio.all_tasks() if task.get_name() == "fetch the registry"]:
            await asyncio.wait(fetching)


async def no_variables() -> Mapping[str, str]:
    return {}


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Copies]:
    registry = FakeMcpRegistry()
    for name in ("a/one", "a/two", "a/three"):
        registry.put(server(name))
    async with listening_registry(registry):
        made = Copies(tmp_path, registry)
        try:
            yield made
        finally:
            await made.tasks.close()


async def names(copy: RegistryCopy, text: str = "") -> set[str]:
    return {hit.name for hit in (await copy.search(text, 50)).hits}


async def test_the_first_search_waits_for_nothing_and_has_the_registry_fetched(made: Copies) -> None:
    copy = made.make()
    assert await names(copy) == set()
    await asyncio.sleep(0)
    await made.idle()
    while not (await copy.status()).servers:
        await settled()
    await made.idle()
    assert await names(copy) == {"a/one", "a/two", "a/three"}
    status = await copy.status()
    assert (status.servers, status.updated_at, status.is_updating, status.problem) == (3, START, False, None)


async def test_a_hub_in_which_nobody_looks_for_servers_asks_nobody(made: Copies) -> None:
    await made.make().status()
    assert (made.registry.asked, len(made.tasks)) == ([], 0)


async def test_later_only_what_has_changed_is_asked_for_and_nothing_twice(made: Copies) -> None:
    copy = made.make()
    await copy.refresh()
    made.registry.put(server("a/two", "2.0.0"))
    made.registry.put(server("a/one"), status="deleted")
    made.now += 1
    await copy.refresh()
    assert await names(copy) == {"a/two", "a/three"}
    assert (await copy.get("a/two")).version == "2.0.0"
    asked = len(made.registry.asked)
    for _ in range(2):
        made.now += 1
        await copy.refresh()
    *_, first, second = made.registry.asked
    assert len(made.registry.asked) == asked + 2
    assert first[0] == second[0]
    assert "If-None-Match" in second[1]
    assert (await copy.status()).updated_at == made.now
    assert await names(made.make()) == {"a/two", "a/three"}  # the next hub


async def test_after_a_month_all_of_it_is_fetched_again(made: Copies) -> None:
    copy = made.make()
    await copy.refresh()
    del made.registry.servers["a/one"]  # without a word
    made.now += FILLED_EVERY_S
    await copy.refresh()
    assert await names(copy) == {"a/two", "a/three"}


async def test_two_who_ask_at_once_ask_once(made: Copies) -> None:
    copy = made.make()
    await asyncio.gather(copy.refresh(), copy.refresh())
    assert len(made.registry.asked) == 2


async def test_it_is_asked_once_an_hour(made: Copies) -> None:
    copy = made.make(looks_every_s=0.0)
    await names(copy)
    while not await names(copy):
        await settled()
    asked = len(made.registry.asked)
    made.now += ASKED_EVERY_S - 1
    await settled()
    assert len(made.registry.asked) == asked
    made.now += 1
    while len(made.registry.asked) == asked:
        await settled()
    await made.idle()
    await settled()
    assert len(made.registry.asked) == asked + 1


async def test_after_a_failure_it_is_asked_in_an_hour_again(made: Copies) -> None:
    made.registry.on_list = [answers({}, status=403)]
    copy = made.make(looks_every_s=0.0)
    await names(copy)
    while (await copy.status()).problem is None:
        await settled()
    await settled()
    assert len(made.registry.asked) == 1
    made.now += ASKED_EVERY_S
    while not await names(copy):
        await settled()


@pytest.mark.parametrize("registry", [False, "", "  "])
async def test_switched_off_nobody_is_asked_and_what_is_there_can_be_searched(made: Copies, registry: object) -> None:
    await made.make().refresh()
    made.registry.asked.clear()
    copy = made.make(registry)
    assert len(await names(copy)) == 3
    status = await copy.refresh()
    assert status.problem is not None
    assert "switched off" in status.problem.title
    with pytest.raises(TooltrayError, match="switched off"):
        await copy.get("a/one", "9.9.9")
    assert made.registry.asked == []


async def test_the_settings_choose_another_registry_whose_servers_alone_are_found_then(made: Copies) -> None:
    await made.make().refresh()
    copy = made.make(NOWHERE)
    assert await names(copy) == set()
    assert await copy.get_all(["a/one"]) == {}
    assert made.make(True).address == NOWHERE
    assert "is not an address" in str((await made.make("ftp://x.example").refresh()).problem)


async def test_a_failure_is_said_and_what_was_there_stays(made: Copies) -> None:
    copy = made.make()
    await copy.refresh()
    made.registry.on_list = [answers({}, status=403)]
    assert "HTTP 403" in str((await copy.refresh()).problem)
    assert len(await names(copy)) == 3
    assert (await copy.refresh()).problem is None


async def test_a_fault_in_the_middle_leaves_the_old_copy(made: Copies, tmp_path: Path) -> None:
    copy = made.make()
    await copy.refresh()
    made.now += FILLED_EVERY_S
    made.registry.on_list = [None, answers({}, status=403)]
    assert (await copy.refresh()).problem is not None
    assert len(await names(copy)) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["registry.db"]


async def test_an_empty_list_is_no_reason_to_forget_all(made: Copies) -> None:
    copy = made.make()
    await copy.refresh()
    made.now += FILLED_EVERY_S
    made.registry.on_list = [answers({"servers": None, "metadata": None})]
    assert "no servers" in str((await copy.refresh()).problem)
    assert len(await names(copy)) == 3


async def test_all_of_it_takes_so_long_at_most(made: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_copy, "ALL_LIMIT_S", 0.05)
    made.registry.on_list = [never_ends(event := asyncio.Event())]
    assert "within 0.05 s" in str((await made.make().refresh()).problem)
    event.set()


@pytest.mark.parametrize("is_used", [True, False])
async def test_a_copy_that_was_cut_off_is_set_aside_and_fetched_again(made: Copies, tmp_path: Path, is_used: bool) -> None:
    copy = made.make()
    await copy.refresh()
    for _ in range(2):
        made.path.write_bytes(made.path.read_bytes()[:5000])
        if not is_used:
            copy = made.make()
        assert await names(copy) == set()
        while not await names(copy):
            await settled()
    assert len(await names(copy)) == 3
    assert (await copy.status()).problem is None
    assert len(list(tmp_path.iterdir())) <= 2  # of several damaged ones the last is kept


async def test_damage_that_shows_when_changes_are_written_is_found_too(made: Copies) -> None:
    copy = made.make()
    await copy.refresh()
    content = made.path.read_bytes()
    made.registry.put(server("a/four"))
    made.path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    assert (await copy.refresh()).problem is not None
    assert (await copy.refresh()).problem is None
    assert len(await names(copy)) == 4


async def test_a_disk_that_cannot_be_written_is_said(made: Copies) -> None:
    made.path.with_name("registry.db.new").mkdir()
    assert "cannot be written" in str((await made.make().refresh()).problem)


async def test_versions_that_the_copy_has_not_are_asked_for(made: Copies) -> None:
    copy = made.make()
    await copy.refresh()
    made.registry.servers["a/one"].insert(0, server("a/one", "0.9.0", title="Old"))
    assert (await copy.get("a/one", "0.9.0")).title == "Old"
    assert (await copy.get("a/one", "1.0.0")).version == "1.0.0"
    for name, version in (("a/one", "7.0.0"), ("a/none", ""), ("a/none", "1.0.0")):
        with pytest.raises(NotFound):
            await copy.get(name, version)
    made.registry.servers["a/one"].insert(0, server("b/other", "0.8.0"))
    made.registry.updated["b/other"], made.registry.statuses["b/other"] = "2026", "active"
    with pytest.raises(NotFound):
        await copy.get("a/one", "0.8.0")


async def test_a_version_that_is_no_json_is_not_there(made: Copies) -> None:
    made.registry.put(server("a/odd", "1"))
    made.registry.put(server("no name", "1"))
    made.registry.servers["a/odd"] = made.registry.servers["no name"]
    with pytest.raises(NotFound):
        await made.make().get("a/odd", "1")


async def test_a_version_that_comes_cut_off_is_not_there(made: Copies) -> None:
    copy = made.make()
    await copy.refresh()
    made.registry.on_version = answers_text('{"server": ')
    with pytest.raises(NotFound):
        await copy.get("a/one", "0.1")


async def test_a_damaged_copy_that_nobody_keeps_current_is_put_away_alone(made: Copies) -> None:
    made.path.write_bytes(b"damaged")
    assert (await made.make().status()).servers == 0
    assert (made.registry.asked, made.path.exists()) == ([], False)


def test_the_official_registry_is_a_matter_of_data() -> None:
    assert default_registry(resource("mcp-registry.json")).startswith("https://")
