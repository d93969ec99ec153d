"""client_extensions.py"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.everything_server import answered, server_with
from tests.fakes.hub_parts import HubParts, entry, hub_parts, settled
from tests.fakes.scripted_server import Copy, ScriptedServer

from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.declarations import MOST_NAMES
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.client_extensions import (
    KEPT_FOR_S,
    LARGEST_SETTINGS_BYTES,
    RETRIED_AFTER_S,
    ClientExtensions,
    ExtensionsDeclared,
)

DAY_S = 86400.0
FOO: dict[str, Any] = {"extensions": {"com.example/foo": {"types": ["a"]}}}
FOO_TOO: dict[str, Any] = {"extensions": {"com.example/foo": {"types": ["b"]}}, "experimental": {"bar": {}}}


class Kept:
    """A store in a folder, the time of day, and how often there was news."""

    def __init__(self, path: Path) -> None:
        self.path, self.now, self.news = path / "x.json", 1e9, 0
        self._tasks: list[asyncio.Task[Any]] = []
        self._keeper, self._bus = TaskKeeper(), EventBus()
        self._bus.subscribe(ExtensionsDeclared, lambda event: setattr(self, "news", self.news + 1))

    def store(self) -> ClientExtensions:
        return ClientExtensions(self.path, bus=self._bus, spawn=self._spawn, clock=lambda: self.now)

    def _spawn(self, work: Any, *, name: str) -> asyncio.Task[Any]:
        self._tasks.append(task := self._keeper.spawn(work, name=name))
        return task

    async def saves(self) -> int:
        """Waits for what is being saved; how many times something was since the last call."""
        tasks, self._tasks = self._tasks, []
        await asyncio.gather(*tasks)
        return len(tasks)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


async def test_what_clients_declare_is_joined_known_after_a_restart_and_news_once(kept: Kept) -> None:
    store = kept.store()
    for declared in (FOO, FOO, FOO_TOO, FOO, {"experimental": {"bar": {}}}):
        store.note(declared)
    await kept.saves()
    together = {"extensions": {"com.example/foo": {"types": ["a", "b"]}}, "experimental": {"bar": {}}}
    assert (store.declared(), kept.store().declared(), kept.news) == (together, together, 2)


async def test_only_news_is_saved_and_once_a_day_that_it_was_seen(kept: Kept) -> None:
    store = kept.store()
    counts = []
    for declared in (FOO, FOO_TOO, FOO, FOO_TOO):
        store.note(declared)
        counts.append(await kept.saves())
    kept.now += DAY_S
    store.note(FOO_TOO)
    assert [*counts, await kept.saves()] == [1, 1, 0, 0, 1]


async def test_what_was_not_seen_for_a_month_is_not_declared_any_more_and_is_news_again(kept: Kept) -> None:
    store = kept.store()
    store.note(FOO)
    kept.now += KEPT_FOR_S
    assert store.declared() == {}
    store.note(FOO)
    assert (store.declared(), kept.news) == (FOO, 2)
    await kept.saves()


async def test_what_is_full_takes_nothing_more_and_what_is_too_large_is_not_taken(kept: Kept) -> None:
    store = kept.store()
    store.note({"extensions": {f"x/{n}": {} for n in range(MOST_NAMES)}})
    store.note(FOO)
    store.note({"experimental": {"bar": {"x": "y" * LARGEST_SETTINGS_BYTES}}})
    assert set(store.declared()) == {"extensions"}
    assert "com.example/foo" not in store.declared()["extensions"]
    assert kept.news == 1
    await kept.saves()


@pytest.mark.parametrize("content", [b"", b"[]", b'{"extensions":{"a":1}}', b"[" * 100_000, b" " * 10_000_000])
async def test_a_file_that_is_malformed_is_set_aside(kept: Kept, content: bytes) -> None:
    kept.path.write_bytes(content)
    store = kept.store()
    assert store.declared() == {}
    store.note(FOO)
    await kept.saves()
    assert kept.store().declared() == FOO
    assert len(list(kept.path.parent.iterdir())) == 2


async def test_a_file_with_settings_that_nobody_could_have_declared_is_read_with_care(kept: Kept) -> None:
    odd = {"later": {"a": {"settings": {}, "seen_at": kept.now}}, "experimental": {"b": {"settings": {}, "seen_at": kept.now + 60}}}
    kept.path.write_text(json.dumps(odd))
    assert kept.store().declared() == {}


async def test_a_file_that_cannot_be_read_or_written_is_no_failure(kept: Kept) -> None:
    kept.path.mkdir()
    store = kept.store()
    store.note(FOO)
    await kept.saves()
    assert store.declared() == FOO


BARE_FOO = {"extensions": {"com.example/foo": {}}}


async def begun(parts: HubParts, program: ScriptedServer) -> None:
    """Its servers run as they do after a start of the hub: nobody has used them."""
    parts.servers.start_defaults()
    await parts.offers.listed(parts.servers.get("s")).wait()
    await parts.tools.listed(parts.servers.get("s")).wait()


def opened_with(program: ScriptedServer) -> list[Any]:
    """The extensions that were declared at each opening."""
    return [asked.params["capabilities"].get("extensions") for asked in program.asked.all if asked.method == "initialize"]


async def test_a_server_that_nobody_has_used_is_opened_anew_for_a_new_extension_once(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        for _ in range(2):
            parts.client_extensions.note(BARE_FOO)
            parts.client_extensions.note({})
        await program.request("initialize", count=2)
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        parts.wheel.expire(RETRIED_AFTER_S)
        await settled()
        assert opened_with(program) == [None, BARE_FOO["extensions"]]
        managed = parts.servers.get("s")
        assert managed.problem is None
        await managed.stop(then=managed.idle_state)
        managed.first.reopen("there is nothing to open anew")
        assert managed.state is managed.idle_state


async def test_a_process_that_was_used_keeps_what_it_holds_and_hears_of_it_at_its_next_start(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, servers={"s": entry("s")}, programs={"s": program}) as parts:
        await answered(parts, "tools/call", name="t")
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        parts.client_extensions.note(BARE_FOO)
        parts.wheel.expire(RETRIED_AFTER_S)
        await settled()
        assert opened_with(program) == [None]
        await parts.servers.restart("s")
        assert opened_with(program) == [None, BARE_FOO["extensions"]]


async def test_what_is_in_use_is_opened_anew_as_soon_as_it_is_not(tmp_path: Path) -> None:
    program = server_with()
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        [instance] = parts.servers.get("s").instances
        instance.usage.begin()
        parts.client_extensions.note(BARE_FOO)
        parts.wheel.expire(RETRIED_AFTER_S)
        await settled()
        assert opened_with(program) == [None]
        instance.usage.end()
        parts.wheel.expire(RETRIED_AFTER_S)
        await program.request("initialize", count=2)


async def test_what_is_declared_while_a_server_is_being_opened_is_not_missed(tmp_path: Path) -> None:
    program = server_with()
    usual = program.handlers["initialize"]

    async def slow(copy: Copy, params: Any) -> Any:
        parts.client_extensions.note(BARE_FOO)
        return usual(copy, params)

    program.handlers["initialize"] = slow
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        parts.wheel.expire(RETRIED_AFTER_S)
        await program.request("initialize", count=2)
        assert opened_with(program) == [None, BARE_FOO["extensions"]]


async def test_a_modern_server_stays_and_is_listed_again_with_what_is_declared_now(tmp_path: Path) -> None:
    program = server_with({"tools": {}, "prompts": {}}, eras=("modern",))
    async with hub_parts(tmp_path, servers={"s": entry("s")}, default=["s"], programs={"s": program}) as parts:
        await begun(parts, program)
        before = {method: program.count(method) for method in ("tools/list", "prompts/list")}
        parts.client_extensions.note(BARE_FOO)
        for method, count in before.items():
            asked = await program.request(method, count=count + 1)
            assert asked.params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"] == BARE_FOO["extensions"]
        assert len(program.copies.all) == 1
