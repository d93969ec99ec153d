"""client_extensions.py"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.declarations import MOST_NAMES
from tooltray.servers.upstream.client_extensions import KEPT_FOR_S, LARGEST_SETTINGS_BYTES, ClientExtensions, ExtensionsDeclared

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
