"""followed_files.py: which servers of a project's file, or of a config, run."""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import Record

from tooltray.config.settings.file_server import PROJECT_FOLDER, FileEntry, FileReading, Kind
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Denied, Problem
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported
from tooltray.foundation.snapshots.setup import FileProblem
from tooltray.foundation.tasks import Spawn, TaskKeeper
from tooltray.sources.project_files.followed_files import (
    MOST_ENTRIES,
    FileRead,
    FileWatch,
    ProjectFile,
    ReadFile,
    ServedFile,
    ServedNames,
    check_stays_inside,
)
from tooltray.sources.project_files.trust import Trust, TrustStore

FOLDER = "/projects/shop"
PATH = os.path.join("/projects/shop", ".mcp.json")
ONE = {"command": "program", "args": ["one"]}
TWO = {"command": "program", "args": ["two"]}


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(TrustStore(tmp_path / "trust.json"), is_taken=lambda name: name == "taken", reserved=())


@pytest.fixture
def file(trust: Trust) -> ProjectFile:
    return ProjectFile(FOLDER, trust)


def entry(name: str, written: dict[str, Any], line: int = 0) -> FileEntry:
    return FileEntry(name, read_entry(name, written), written, line=line)


def reading(*broken: str, is_understood: bool = True, **entries: dict[str, Any]) -> FileReading:
    made = tuple(entry(name, written, line) for line, (name, written) in enumerate(entries.items(), start=2))
    return FileReading(
        PATH, "mcp.json", "digest", is_understood, made, tuple(FileProblem(Problem("odd", name), 9, name) for name in broken)
    )


def states(file: ProjectFile) -> dict[str, str]:
    return {each.name: each.state for each in file.snapshot().entries}


async def trusted(file: ProjectFile, trust: Trust, **entries: dict[str, Any]) -> None:
    """A person says yes to these contents."""
    await trust.allow(FOLDER, {name: entry(name, written).digest for name, written in entries.items()})
    file.settle()


def test_before_it_is_read_a_file_has_nothing(file: ProjectFile) -> None:
    file.settle()
    file.keep_names()
    assert (file.entries, file.problems, file.servers(), list(file.waiting())) == ((), (), {}, [])
    assert (file.snapshot().exists, file.snapshot().path, file.snapshot().project) == (False, PATH, FOLDER)


async def test_an_entry_waits_until_a_person_has_said_yes_to_its_content(file: ProjectFile, trust: Trust) -> None:
    file.adopt(reading(a=ONE, b=TWO))
    assert ([each.name for each in file.waiting()], file.servers()) == (["a", "b"], {})
    await trusted(file, trust, a=ONE, b=ONE)
    assert (states(file), [each.name for each in file.waiting()]) == ({"a": "used", "b": "waits"}, ["b"])
    assert (list(file.servers()), file.running("b")) == (["a"], None)


async def test_a_changed_entry_waits_and_runs_as_it_was(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    file.adopt(reading(a=TWO))
    assert (states(file), file.running("a")) == ({"a": "changed"}, entry("a", ONE, 2))
    await trusted(file, trust, a=TWO)
    assert (states(file), file.running("a")) == ({"a": "used"}, entry("a", TWO, 2))


async def test_what_a_yes_was_taken_back_from_ends(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    await trust.revoke(FOLDER, "a")
    file.settle()
    assert (states(file), file.servers()) == ({"a": "waits"}, {})


@pytest.mark.parametrize("after", [reading(), reading(a={**ONE, "disable": True}), reading(a={**TWO, "disable": True})])
async def test_what_is_removed_or_switched_off_ends_at_once(file: ProjectFile, trust: Trust, after: FileReading) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    file.adopt(after)
    assert (file.servers(), list(file.waiting())) == ({}, [])
    assert set(states(file).values()) <= {"off"}


async def test_what_runs_goes_on_while_the_file_or_its_entry_cannot_be_used(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    file.adopt(reading("", is_understood=False))
    assert (list(file.servers()), states(file), len(file.problems)) == (["a"], {"a": "used"}, 1)
    file.adopt(reading("a", "", b=TWO))
    assert (list(file.servers()), states(file)) == (["a"], {"b": "waits", "a": "broken"})
    assert [(each.name, each.server, each.line) for each in file.snapshot().entries] == [("b", "", 2), ("a", "a", 9)]


def test_an_entry_with_two_problems_is_shown_once(file: ProjectFile) -> None:
    file.adopt(reading("a", "a", "b", b=ONE))
    assert [(each.name, each.state) for each in file.snapshot().entries] == [("b", "waits"), ("a", "broken")]


async def test_servers_stand_in_the_order_of_the_file(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, b=TWO)
    file.adopt(reading(a=ONE, b=TWO))
    await trusted(file, trust, a=ONE)
    assert list(file.servers()) == ["a", "b"]


@pytest.mark.parametrize(("is_for_all", "project"), [(False, FOLDER), (True, "")])
async def test_a_server_runs_in_the_project_and_knows_its_folder(trust: Trust, is_for_all: bool, project: str) -> None:
    file = ProjectFile(FOLDER, trust, is_for_all=is_for_all)
    await trusted(file, trust, taken=ONE)
    file.adopt(reading(taken=ONE))
    [(name, server)] = file.servers().items()
    assert name == file.name(file.entries[0]) != "taken"
    assert (server.folder, server.project, server.file, server.origin) == (FOLDER, project, PATH, "project")
    assert server.entry.variables == {PROJECT_FOLDER: FOLDER}
    assert (file.snapshot().is_for_all, file.snapshot().exists) == (is_for_all, True)


def test_names_are_kept_for_what_is_in_the_file_broken_or_not(file: ProjectFile, trust: Trust) -> None:
    file.adopt(reading("broken", a=ONE, b=ONE))
    trust.name(FOLDER, "broken")
    file.keep_names()
    assert set(trust.servers[FOLDER]) == {"a", "b", "broken"}
    file.adopt(reading(b=ONE))
    file.keep_names()
    assert set(trust.servers[FOLDER]) == {"b"}


def test_of_very_many_entries_the_first_are_used_and_that_is_a_problem(file: ProjectFile) -> None:
    file.adopt(reading(**{f"s{number}": ONE for number in range(MOST_ENTRIES)}))
    assert (len(file.entries), file.problems) == (MOST_ENTRIES, ())
    file.adopt(reading(**{f"s{number}": ONE for number in range(MOST_ENTRIES + 1)}))
    [problem] = file.problems
    assert (len(file.entries), problem.problem.message) == (MOST_ENTRIES, f"it has 1 more than {MOST_ENTRIES} servers")


async def test_a_copy_shows_what_another_reading_would_do_and_changes_nothing(trust: Trust) -> None:
    file = ProjectFile(FOLDER, trust, is_for_all=True)
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    other = copy(file)
    assert (other.snapshot(), list(other.servers())) == (file.snapshot(), ["a"])
    other.adopt(reading())
    assert (other.servers(), list(file.servers()), states(file)) == ({}, ["a"], {"a": "used"})


def served_entry(name: str) -> FileEntry:
    return FileEntry(name, read_entry(name, {"command": "run"}), {"command": "run"}, line=2)


def served_file() -> ServedFile:
    return ServedFile("/etc/servers.json", ServedNames(is_taken=lambda name: name == "taken", reserved=("hub",)))


def served_reading(*entries: FileEntry, broken: str = "", is_understood: bool = True) -> FileReading:
    problems = (FileProblem(Problem("no use"), 4, broken),) if broken else ()
    return FileReading("/etc/servers.json", "tbxark", "d", is_understood, entries, problems)


def test_an_entry_with_a_remark_is_used_all_the_same() -> None:
    file = served_file()
    problems = (
        FileProblem(Problem("a remark"), 3, "one"),
        FileProblem(Problem("no use"), 4, "bad"),
        FileProblem(Problem("of the whole"), 1),
    )
    entries = (served_entry("one"), served_entry("fetch/token"), served_entry("taken"))
    file.adopt(FileReading(file.path, "tbxark", "d", entries=entries, problems=problems))
    snapshot = file.snapshot()
    assert [(each.name, each.server, each.state, each.line) for each in snapshot.entries] == [
        ("one", "one", "used", 2),
        ("fetch/token", "fetch-token", "used", 2),
        ("taken", "taken-etc", "used", 2),
        ("bad", "", "broken", 4),
    ]
    assert (snapshot.kind, snapshot.exists) == ("tbxark", True)
    assert list(file.servers()) == ["one", "fetch-token", "taken-etc"]


def test_a_config_s_server_goes_on_while_its_entry_or_the_file_cannot_be_used() -> None:
    file = served_file()
    file.adopt(served_reading(served_entry("one"), served_entry("two")))
    for _ in range(2):
        file.adopt(served_reading(served_entry("two"), broken="one"))
        assert list(file.servers()) == ["two", "one"]
        assert [(each.server, each.state) for each in file.snapshot().entries] == [("two", "used"), ("one", "broken")]
    file.adopt(served_reading(is_understood=False))
    assert list(file.servers()) == ["two", "one"]
    file.adopt(served_reading(served_entry("two")))
    assert list(file.servers()) == ["two"]


@pytest.mark.posix
def test_a_link_within_the_project_is_followed_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    check_stays_inside(str(folder))
    (folder / "mcp.json").write_text("{}")
    (folder / ".mcp.json").symlink_to("mcp.json")
    check_stays_inside(str(folder))
    (folder / ".mcp.json").unlink()
    (folder / ".mcp.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(Denied, match="leads out of the project"):
        check_stays_inside(str(folder))


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
