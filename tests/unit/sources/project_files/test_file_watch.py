"""file_watch.py: files are read when they change, and again while they are half written."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import Record

from tooltray.config.settings.file_server import FileReading, Kind
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported
from tooltray.foundation.tasks import Spawn, TaskKeeper
from tooltray.sources.project_files.file_watch import FileRead, FileWatch, ReadFile
from tooltray.sources.project_files.followed_files import ServedFile, ServedNames

BOUND_S = 20.0


class ScriptedWatcher:
    """Tells what a test says."""

    def __init__(self, spawn: Spawn, on_changed: Callable[[str], None]) -> None:
        self.tell = on_changed
        self.followed: set[str] = set()

    def follow(self, paths: Iterable[str]) -> None:
        self.followed = set(paths)

    def close(self) -> None:
        self.followed = set()


def file_at(path: str) -> ServedFile:
    return ServedFile(path, ServedNames(is_taken=lambda name: False))


class Parts:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "settings.json"
        self.put({"mcpServers": {}})
        self.bus, self.tasks, self.heard = EventBus(), TaskKeeper(), list[Any]()
        self.news = asyncio.Event()
        self.bus.subscribe_all(self._on_event)
        self.conf = McpConfHelper(self.path, self.bus)

    def _on_event(self, event: Any) -> None:
        self.heard.append(event)
        self.news.set()

    def watch(self, read: ReadFile = lambda path, kind: FileReading(str(path), kind), **limits: float) -> FileWatch:
        return FileWatch(config=self.conf, make_watcher=self.make, read_file=read, spawn=self.tasks.spawn, bus=self.bus, **limits)

    async def start(self) -> FileWatch:
        await self.conf.load()
        watch = self.watch()
        watch.start()
        return watch

    def make(self, spawn: Spawn, on_changed: Callable[[str], None]) -> ScriptedWatcher:
        self.watcher = ScriptedWatcher(spawn, on_changed)
        return self.watcher

    def put(self, document: Any) -> None:
        self.path.write_text(document if isinstance(document, str) else json.dumps(document))

    def changed(self) -> None:
        self.watcher.tell(str(self.path))

    async def until(self, kind: type) -> Any:
        async with asyncio.timeout(BOUND_S):
            while not (found := [each for each in self.heard if isinstance(each, kind)]):
                self.news.clear()
                await self.news.wait()
        return found[-1]

    async def until_read(self) -> None:
        async with asyncio.timeout(BOUND_S):
            await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "read the settings again"))


async def test_the_settings_are_read_again_when_their_file_has_changed(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    await parts.start()
    assert parts.watcher.followed == {str(parts.path)}
    parts.put({"mcpServers": {"a": {"command": "x"}}})
    parts.changed()
    assert list((await parts.until(ConfigChanged)).mcp_servers) == ["a"]
    await parts.until_read()


async def test_other_files_are_read_when_they_change(tmp_path: Path) -> None:
    parts, told = Parts(tmp_path), Record[str]()
    watch = await parts.start()
    parts.bus.subscribe(FileRead, lambda event: told.add(event.file.path))
    watch.follow([file_at("/etc/servers.json"), file_at(str(parts.path))])
    assert parts.watcher.followed == {"/etc/servers.json", str(parts.path)}
    parts.watcher.tell("/etc/servers.json")
    parts.watcher.tell("/etc/others.json")
    parts.changed()
    await told.wait(count=1)
    await parts.until_read()
    assert told.all == ["/etc/servers.json"]


async def test_before_the_start_and_after_the_end_nothing_is_watched(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    await parts.conf.load()
    watch = parts.watch()
    watch.follow([file_at("/etc/servers.json")])
    assert parts.watcher.followed == set()
    watch.start()
    assert len(parts.watcher.followed) == 2
    watch.close()
    watch.follow([file_at("/etc/others.json")])
    assert parts.watcher.followed == set()


async def test_hot_reload_off_ends_the_watching_and_on_begins_it_again(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    watch = await parts.start()
    watch.follow([file_at("/etc/servers.json")])
    parts.put({"mcpServers": {}, "hotReload": False})
    parts.changed()
    await parts.until(ConfigChanged)
    assert parts.watcher.followed == set()
    await parts.conf.edit(lambda document: document.update(hotReload=True))
    assert parts.watcher.followed == {"/etc/servers.json", str(parts.path)}
    await parts.until_read()


async def test_half_a_file_that_is_whole_at_the_second_look_is_no_problem(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    await parts.start()
    parts.put('{"mcpServers": {"a"')
    parts.changed()
    await asyncio.to_thread(parts.conf.path.read_bytes)
    parts.put({"mcpServers": {"a": {"command": "x"}}})
    await parts.until(ConfigChanged)
    await parts.until_read()
    assert not any(isinstance(each, ProblemReported) for each in parts.heard)


async def test_half_a_file_that_stays_half_is_told_once_with_its_line(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    await parts.start()
    parts.put('{\n"mcpServers": {"a"')
    for _ in range(2):
        parts.changed()
        await parts.until_read()
    problems = [each.problem for each in parts.heard if isinstance(each, ProblemReported)]
    assert ["line 2" in problem.message for problem in problems] == [True]


async def test_what_changes_while_the_settings_are_read_is_read_too(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    await parts.start()
    parts.changed()
    await asyncio.sleep(0)
    parts.put({"mcpServers": {"a": {"command": "x"}}})
    parts.changed()
    await parts.until_read()
    assert list(parts.conf.settings.mcp_servers) == ["a"]


WHOLE = FileReading("/f", "tbxark", "d1")
HALF = FileReading("/f", "tbxark", "d2", is_understood=False)
GONE = FileReading("/f", "tbxark")
LONGER_THAN_A_TEST_S = 3600.0


class Reader:
    """
    Attributes:
        says: what the file says, one reading after the other; the last one for ever.
        heard: file, reading and whether it is sure.
        may_read: a reading waits for it.
    """

    def __init__(self, folder: Path) -> None:
        parts = Parts(folder)
        self.keeper = parts.tasks
        self.says: list[FileReading] = []
        self.heard = Record[FileRead]()
        self.may_read = threading.Event()
        self.may_read.set()
        self.watch = parts.watch(self._read, second_look_s=0.0)
        parts.bus.subscribe(FileRead, self._on_read)

    def _read(self, path: Path, kind: Kind) -> FileReading:
        self.may_read.wait(10)
        return self.says.pop(0) if len(self.says) > 1 else self.says[0]

    def _on_read(self, event: FileRead) -> None:
        event.file.latest = event.reading
        self.heard.add(event)

    async def all(self, count: int) -> list[tuple[FileReading, bool]]:
        await self.heard.wait(count=count)
        return [(each.reading, each.is_sure) for each in self.heard.all]


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    reader.may_read.set()
    await reader.keeper.close()


@pytest.mark.parametrize(
    ("before", "says", "told"),
    [
        (None, [WHOLE], [(WHOLE, True)]),
        (None, [GONE], [(GONE, True)]),
        (None, [HALF, WHOLE], [(HALF, False), (WHOLE, True)]),
        (WHOLE, [HALF, WHOLE], [(WHOLE, True)]),
        (WHOLE, [HALF], [(HALF, True)]),
        (WHOLE, [GONE, WHOLE], [(WHOLE, True)]),
        (WHOLE, [GONE], [(GONE, True)]),
    ],
)
async def test_half_a_file_and_one_that_is_gone_get_a_second_look(
    reader: Reader, before: FileReading | None, says: list[FileReading], told: list[tuple[FileReading, bool]]
) -> None:
    file = file_at("/f")
    file.latest, reader.says = before, list(says)
    reader.watch.start_reading(file)
    assert await reader.all(len(told)) == told


async def test_what_changes_while_it_is_read_is_read_again_as_the_file_that_it_is_then(reader: Reader) -> None:
    reader.says = [WHOLE]
    reader.may_read.clear()
    first, second = file_at("/f"), file_at("/f")
    for file in (first, first, second):
        reader.watch.start_reading(file)
    reader.may_read.set()
    assert len(await reader.all(2)) == 2
    assert [each.file for each in reader.heard.all] == [first, second]


async def test_whoever_waits_for_a_first_reading_waits_until_it_is_there_and_not_for_ever(reader: Reader) -> None:
    reader.says = [HALF, WHOLE]
    reader.may_read.clear()
    reader.watch.start_reading(file_at("/f"))
    await reader.watch.wait_for_first("/f", within_s=0.0)
    assert reader.heard.all == []
    waiting = reader.keeper.spawn(reader.watch.wait_for_first("/f", within_s=LONGER_THAN_A_TEST_S), name="waiting")
    reader.may_read.set()
    await waiting
    assert reader.heard.all[0].reading is HALF
    await reader.watch.wait_for_first("/f", within_s=LONGER_THAN_A_TEST_S)
