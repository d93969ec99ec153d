"""task_book.py: which tasks are known, for how long, and how many; and what is on the disk."""

from pathlib import Path

import pytest
from tests.fakes.everything_server import answered
from tests.fakes.hub_parts import MODERN_META, hub_parts, one_server, started_parts
from tests.fakes.relay import Relay
from tests.fakes.scripted_server import ScriptedServer, error, raw
from tests.fakes.set_clock import SetClock
from tests.fakes.task_server import EXTENSION, KNOWS_TASKS, TaskClient, TaskServer, begun

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.server_tasks.task_book import (
    GRACE_S,
    KEPT_WITHOUT_TTL_S,
    LONGEST_KEPT_S,
    SWEPT_EVERY_S,
    WORKS_FOR_S,
    ServerTask,
    TaskBook,
    TaskPlaces,
    TaskStore,
)
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY
from tooltray.protocol.task_messages import TaskState


class Books:
    """The books of hubs that follow one another."""

    def __init__(self, path: Path, most: int = 100) -> None:
        self.path, self.most, self.clock, self.keeper = path, most, SetClock(), TaskKeeper()

    def open(self) -> TaskBook:
        return TaskBook(TaskStore(self.path), spawn=self.keeper.spawn, most=self.most, now=self.clock)


@pytest.fixture
def books(tmp_path: Path) -> Books:
    return Books(tmp_path / "server-tasks.json")


def add(book: TaskBook, own_id: str = "1", *, owner: str = "A", server: str = "s", ttl_s: float | None = 60.0) -> ServerTask:
    return book.add(server, TaskState(own_id, ttl_s=ttl_s), owner=owner, client="c", tool="t", is_modern=False)


@pytest.mark.parametrize(
    ("ttl_s", "kept_s"), [(60.0, 60.0 + GRACE_S), (None, KEPT_WITHOUT_TTL_S), (1e300, LONGEST_KEPT_S)], ids=["its time", "none", "too long"]
)
async def test_a_task_is_known_for_its_time_and_a_while(books: Books, ttl_s: float | None, kept_s: float) -> None:
    book = books.open()
    task = add(book, ttl_s=ttl_s)
    books.clock.now += kept_s - 1
    assert book.find(task.id) is task
    assert book.at("s", "1") == book.of("A") == [task]
    books.clock.now += 2
    assert book.find(task.id) is None
    assert not book.at("s", "1")
    assert not book.of("A")
    books.clock.now += SWEPT_EVERY_S
    later = add(book, "2")
    assert list(book) == [later]


@pytest.mark.parametrize(("ttl_s", "works_s"), [(60.0, 60.0), (None, WORKS_FOR_S), (2 * WORKS_FOR_S, WORKS_FOR_S)])
async def test_a_task_keeps_its_server_in_use_for_its_time_and_a_day_at_most(books: Books, ttl_s: float | None, works_s: float) -> None:
    book, client = books.open(), Relay(ScriptedServer()).client
    places, task = TaskPlaces(book=book, now=books.clock), add(book, ttl_s=ttl_s)
    assert not places.works_at(client)
    places.begin(task, client)
    books.clock.now += works_s - 1
    assert places.works_at(client)
    books.clock.now += 1
    assert not places.works_at(client)


async def test_ten_thousand_tasks_of_one_client_cost_no_other_one_its_own(books: Books) -> None:
    books.most = 10_000
    book = books.open()
    other = add(book, owner="B")
    ended = add(book, "first")
    second = add(book, "second")
    book.record(ended, TaskState("first", "completed", 60.0))
    for number in range(9997):
        add(book, str(number))
    assert len(list(book)) == 10_000
    add(book, "one more")
    assert book.find(ended.id) is None
    assert book.find(second.id) is second
    add(book, "and one more")
    assert book.find(second.id) is None
    assert book.find(other.id) is other
    await book.written()


async def test_what_was_noted_is_there_for_the_next_hub(books: Books) -> None:
    book = books.open()
    task, gone = add(book), add(book, "2", owner="")
    book.record(task, TaskState("1", "input_required", 90.0))
    book.record(task, TaskState("1", "input_required", 90.0))  # no news
    book.drop(gone)
    book.drop(gone)
    await book.written()
    (read,) = books.open()
    assert (read.id, read.own_id, read.owner, read.status, read.ttl_s) == (task.id, "1", "A", "input_required", 90.0)
    assert not read.is_over


async def test_a_task_that_has_ended_stays_so_and_a_state_that_there_is_not_is_work(books: Books) -> None:
    book = books.open()
    task = add(book)
    book.record(task, TaskState("1", "made up", 60.0))
    assert task.status == "working"
    book.record(task, TaskState("1", "failed", 60.0))
    book.record(task, TaskState("1", "working", 60.0))
    assert task.status == "failed"
    assert task.is_over
    await book.written()


async def test_several_changes_at_once_are_few_writes(books: Books) -> None:
    book = books.open()
    store = TaskStore(books.path)
    for number in range(50):
        add(book, str(number))
        book.record(book.of("A")[-1], TaskState(str(number), "completed", 60.0))
    await book.written()
    assert not store.found
    assert len(TaskStore(books.path).found) == 50


@pytest.mark.expected_warnings("the owners of server tasks cannot be read")
@pytest.mark.parametrize("content", [b"{", b'[{"id":1}]', b"[" * 100_000])
async def test_a_file_that_makes_no_sense_is_set_aside(books: Books, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    books.path.write_bytes(content)
    assert not list(books.open())
    (record,) = caplog.records
    assert "the file is now" in record.getMessage()
    assert [each.read_bytes() for each in books.path.parent.iterdir()] == [content]


@pytest.mark.expected_warnings("the owners of server tasks")
async def test_what_is_no_file_is_left_alone_and_that_nothing_can_be_kept_is_said(books: Books, caplog: pytest.LogCaptureFixture) -> None:

    books.path.mkdir()
    book = books.open()
    assert "cannot be read" in caplog.records[0].getMessage()
    task = add(book)
    await book.written()
    assert "could not be saved" in caplog.records[1].getMessage()
    assert book.find(task.id) is task


async def test_tasks_are_listed_the_latest_first_and_one_is_cancelled(tmp_path: Path) -> None:
    program = TaskServer()
    async with started_parts(tmp_path, **one_server(program)) as parts:
        ids = [await begun(parts, TaskClient(owner)) for owner in ("A", "B")]
        api = parts.server_tasks_api
        assert [(task.id, task.server, task.tool, task.client, task.status) for task in await api.get_server_tasks()] == [
            (ids[1], "s", "slow", "test", "working"),
            (ids[0], "s", "slow", "test", "working"),
        ]
        await api.cancel_server_task(ids[0])
        assert program.states == {"task-1": "cancelled", "task-2": "working"}
        assert [task.status for task in await api.get_server_tasks()] == ["working", "cancelled"]
        with pytest.raises(TooltrayError, match="has ended"):
            await api.cancel_server_task(ids[0])
        with pytest.raises(NotFound, match="Task 'task-2' not found"):
            await api.cancel_server_task("task-2")


@pytest.mark.parametrize(("refusal", "message"), [(error(-1, "not now"), "not now"), (raw(b"7"), None)])
async def test_a_server_may_refuse_or_say_nothing(tmp_path: Path, refusal: object, message: str | None) -> None:
    program = TaskServer()
    program.handlers["tasks/cancel"] = lambda copy, params: refusal
    async with started_parts(tmp_path, **one_server(program)) as parts:
        id = await begun(parts, TaskClient("A"))
        if message:
            with pytest.raises(TooltrayError, match=message):
                await parts.server_tasks_api.cancel_server_task(id)
        else:
            await parts.server_tasks_api.cancel_server_task(id)
            assert [task.status for task in await parts.server_tasks_api.get_server_tasks()] == ["cancelled"]


async def test_a_modern_server_is_told_in_its_way_also_by_the_next_hub(tmp_path: Path) -> None:
    program = TaskServer(eras=("modern",))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        modern = {"_meta": {**MODERN_META, CLIENT_CAPABILITIES_KEY: KNOWS_TASKS}}
        id = str((await parts.call("slow", TaskClient("A"), **modern))["result"]["taskId"])
    async with hub_parts(tmp_path, programs={"program": program}) as parts:
        await parts.server_tasks_api.cancel_server_task(id)
        asked = await program.request("tasks/cancel")
        assert asked.params["taskId"] == "task-1"
        assert asked.params["_meta"][CLIENT_CAPABILITIES_KEY]["extensions"] == {EXTENSION: {}}
        await parts.conf.remove_server("s")
        with pytest.raises(NotFound):
            await parts.server_tasks_api.cancel_server_task(id)
        assert (await answered(parts, "tasks/get", TaskClient("A"), taskId=id, **modern))["error"]["code"] == -32602
