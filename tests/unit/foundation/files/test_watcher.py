import asyncio
import importlib
import os
import resource
import shutil
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tooltray.foundation.files.watcher import FileWatcher
from tooltray.foundation.tasks import TaskKeeper

BOUND_S = 20.0
MANY = 500
FIRST_OF_OUR_OWN = 3  # behind standard input, output and error


class Watching:
    """A watcher, and what it told."""

    def __init__(self) -> None:
        self.tasks = TaskKeeper()
        self.told: Counter[str] = Counter()
        self._news = asyncio.Event()
        self.watcher = FileWatcher(self.tasks.spawn, self._on_changed)

    def _on_changed(self, path: str) -> None:
        self.told[path] += 1
        self._news.set()

    async def follow(self, *paths: Path) -> None:
        """Returns when they are watched: each is told once then, unless it was watched before."""
        self.watcher.follow(map(str, paths))
        await self.until_told(*paths)
        self.told.clear()

    async def until_told(self, *paths: Path) -> None:
        async with asyncio.timeout(BOUND_S):
            while not all(self.told[str(path)] for path in paths):
                self._news.clear()
                await self._news.wait()

    async def until_ended(self) -> None:
        async with asyncio.timeout(BOUND_S):
            await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "file watcher"))

    async def changes(self, path: Path) -> None:
        """The path, and nothing else, is told of a change that was made."""
        await self.until_told(path)
        assert set(self.told) == {str(path)}
        self.told.clear()


@pytest.fixture
async def watching() -> AsyncIterator[Watching]:
    watching = Watching()
    yield watching
    await watching.tasks.close()


@contextmanager
def no_more_open_files() -> Iterator[None]:
    """The system refuses every further watch, as it does where a person has reached the limit of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FIRST_OF_OUR_OWN, hard))  # so that nothing opens, whatever another thread closes
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_saved_file_is_told_and_its_neighbour_is_not(watching: Watching, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    await watching.follow(path)
    (tmp_path / "neighbour.json").write_text("{}")
    path.write_text("{ }")
    await watching.changes(path)


async def test_a_file_that_appears_goes_and_comes_again_is_told_each_time(watching: Watching, tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    await watching.follow(path)
    for _ in range(2):
        path.write_text("{}")
        await watching.changes(path)
        path.unlink()
        await watching.changes(path)


async def test_an_editor_that_puts_a_new_file_in_the_place_of_the_old_one_is_noticed(watching: Watching, tmp_path: Path) -> None:
    path, new = tmp_path / "settings.json", tmp_path / "settings.json.new"
    path.write_text("{}")
    await watching.follow(path)
    for content in ("a", "bb"):
        new.write_text(content)
        new.replace(path)
        await watching.changes(path)


async def test_a_folder_that_is_not_there_yet_may_come_and_go_and_come_again(watching: Watching, tmp_path: Path) -> None:
    path = tmp_path / "shop" / "below" / ".mcp.json"
    await watching.follow(path)
    for _ in range(2):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        await watching.changes(path)
        path.write_text("{ }")
        await watching.changes(path)
        shutil.rmtree(tmp_path / "shop")
        await watching.changes(path)


async def test_a_folder_whose_own_folder_is_moved_is_another_one_afterwards(watching: Watching, tmp_path: Path) -> None:
    path = tmp_path / "work" / "shop" / "below" / ".mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    await watching.follow(path)
    (tmp_path / "work").rename(tmp_path / "old")
    await watching.changes(path)
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    await watching.changes(path)


async def test_behind_a_link_the_file_itself_is_watched_and_so_is_the_link(watching: Watching, tmp_path: Path) -> None:
    path, target, other = tmp_path / "here" / "settings.json", tmp_path / "there" / "a.json", tmp_path / "elsewhere" / "b.json"
    for each in (path, target, other):
        each.parent.mkdir()
    target.write_text("a")
    other.write_text("other")
    path.symlink_to(target)
    await watching.follow(path)
    target.write_text("more")
    await watching.changes(path)
    path.unlink()
    path.symlink_to(other)
    await watching.until_told(path)
    watching.told.clear()
    other.write_text("again another")
    await watching.changes(path)


async def test_saves_in_quick_succession_are_told_when_they_have_come_to_rest(watching: Watching, tmp_path: Path) -> None:
    path, last = tmp_path / "settings.json", tmp_path / "last.json"
    await watching.follow(path, last)
    for length in range(MANY):
        path.write_text("x" * length)
        await asyncio.sleep(0)
    last.write_text("{}")
    await watching.until_told(path, last)
    assert watching.told[str(path)] < MANY / 10


async def test_two_hundred_files_are_watched_at_once(watching: Watching, tmp_path: Path) -> None:
    paths = [tmp_path / str(number) / ".mcp.json" for number in range(200)]
    for path in paths:
        path.parent.mkdir()
    await watching.follow(*paths)
    for path in (paths[0], paths[100], paths[199]):
        path.write_text("{}")
        await watching.changes(path)


async def test_what_is_followed_may_change_at_any_time_and_only_what_is_new_is_told(watching: Watching, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    await watching.follow(first)
    watching.watcher.follow([str(first)])
    watching.watcher.follow([str(first), str(second)])
    await watching.changes(second)
    watching.watcher.follow([str(second)])
    first.write_text("no longer followed")
    second.write_text("still followed")
    await watching.changes(second)


async def test_without_anything_to_follow_there_is_no_thread(watching: Watching, tmp_path: Path) -> None:
    before = threading.active_count()
    path = tmp_path / "settings.json"
    await watching.follow(path)
    assert threading.active_count() == before + 1
    watching.watcher.follow([])
    await watching.until_ended()
    watching.watcher.close()
    path.write_text("nobody looks")
    await watching.follow(path)
    path.write_text("{}")
    await watching.changes(path)


async def test_the_end_of_its_tasks_is_the_end_of_its_thread(tmp_path: Path) -> None:
    watching, before = Watching(), set(threading.enumerate())
    await watching.follow(tmp_path / "settings.json")
    (thread,) = set(threading.enumerate()) - before
    await watching.tasks.close()
    thread.join(BOUND_S)
    assert not thread.is_alive()


@pytest.mark.expected_warnings("the system cannot watch them")
async def test_where_the_system_cannot_watch_files_they_are_looked_at_again_and_again(watching: Watching, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    importlib.import_module("watchfiles")  # the watcher's own first import of it would have to open files
    with no_more_open_files():
        await watching.follow(path)
        os.truncate(path, 1)
        await watching.changes(path)


async def test_a_folder_that_may_not_be_read_is_no_reason_not_to_watch_the_others(watching: Watching, tmp_path: Path) -> None:
    closed, path = tmp_path / "closed" / "settings.json", tmp_path / "settings.json"
    closed.parent.mkdir()
    closed.parent.chmod(0)
    try:
        await watching.follow(closed, path)
        path.write_text("{}")
        await watching.changes(path)
    finally:
        closed.parent.chmod(0o700)
