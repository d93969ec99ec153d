"""The journal takes what happens without making anybody wait, and says what it has lost."""

import asyncio
import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.heard import PATIENCE_S
from tests.fakes.journals import NOW, SECRET, RunningJournal, call, entry, ids, large, running_journal, written

from tooltray.config.settings.settings import ActivitySettings
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.protocol.envelope import NOTHING
from tooltray.records.journal import journal as journal_module
from tooltray.records.journal.entry_maker import LARGEST_BYTES, LONGEST_SECRET_BYTES
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.records.journal.journal_file import DamagedJournal, JournalFile, NewEntry, files_of
from tooltray.records.journal.retention import Retention


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "activity.db"


class Held:
    """Something that keeps the journal's thread busy until it is let go."""

    def __init__(self, running: RunningJournal) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.work = asyncio.get_running_loop().create_task(running.journal.do(self._wait))

    def _wait(self, file: JournalFile) -> None:
        self.begun.set()
        self.may_end.wait(PATIENCE_S)


@contextlib.asynccontextmanager
async def held(running: RunningJournal):
    """While the block lasts, the disk does not answer."""
    slow = Held(running)
    await asyncio.to_thread(slow.begun.wait, PATIENCE_S)
    try:
        yield
    finally:
        slow.may_end.set()
        await slow.work


async def test_what_happens_is_written_in_its_order_and_news_of_it_go_out(path: Path) -> None:
    async with running_journal(path) as here:
        here.happened(call(tool="a"), call(tool="b"), JournalEvent(kind="stop", at=NOW - 900, outcome="ok", server="files", reason="idle"))
        rows = await here.rows()
        assert [(row.entry.id, row.entry.kind, row.entry.tool) for row in rows] == [(3, "stop", ""), (2, "call", "b"), (1, "call", "a")]
        await here.heard.event(ActivityWritten, last_id=3)
        assert (here.journal.lost, list(here.journal.problems), here.journal.said) == (0, [], "")


async def test_what_is_gathered_is_written_together_and_the_end_waits_for_it(path: Path) -> None:
    async with running_journal(path, gather_s=600.0) as here:
        here.happened(*(call() for _ in range(40)))
    assert ids(here.reader.rows(ActivityFilter(), 0, 100, collapsed=False)) == list(range(40, 0, -1))
    here.happened(call())  # after the end nothing is taken
    assert here.journal.lost == 1
    with pytest.raises(TooltrayError, match="Tooltray is not running"):
        await here.journal.flush()
    here.journal.look_for_damage()
    await here.journal.close()
    here.reader.close()


async def test_a_journal_that_was_read_leaves_one_file(path: Path) -> None:
    async with running_journal(path) as here:
        here.happened(call())
        assert ids(await here.rows()) == [1]
        await here.journal.close()
        assert list(path.parent.glob("activity.db*")) == [path]


async def test_a_journal_that_was_never_started_can_be_closed(path: Path) -> None:
    here = RunningJournal(path)
    await here.journal.close()
    with pytest.raises(TooltrayError, match="Tooltray is not running"):
        await here.journal.flush()
    assert not path.exists()


@pytest.mark.parametrize("contents", [False, True])
async def test_no_secret_is_anywhere_in_the_files(path: Path, contents: bool) -> None:
    async with running_journal(path, run=SECRET) as here:
        here.wanted = ActivitySettings(contents=contents)
        here.happened(
            call(arguments={"path": f"/a/{SECRET}", SECRET: [SECRET]}, result={"content": [{"type": "text", "text": SECRET}]}),
            call(result={"message": SECRET}, is_fault=True, outcome="error"),
            call(result={"content": [{"type": "text", "text": "x" * LARGEST_BYTES + SECRET}]}, client=SECRET, project=f"/{SECRET}"),
            JournalEvent(kind="failure", at=NOW, outcome="error", server=SECRET, reason=f"no {SECRET}"),
        )
        assert len(await here.rows()) == 4
        files = [each.read_bytes() for each in files_of(path) if each.exists()]
    assert not any(SECRET.encode() in content for content in (*files, path.read_bytes()))


async def test_what_does_not_fit_is_counted_and_told_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "MAX_QUEUED", 3)
    async with running_journal(path) as here:
        async with held(here):
            here.happened(*(call(tool=str(number)) for number in range(5)))
        assert [(row.entry.kind, row.entry.tool, row.entry.reason) for row in await here.rows()] == [
            ("failure", "", "2 entries are missing here: they arrived faster than they could be written"),
            *(("call", str(number), "") for number in (2, 1, 0)),
        ]
        assert (here.journal.lost, list(here.journal.problems)) == (2, [])
        assert here.journal.said == "2 entries are lost: they arrived faster than they could be written"
        here.happened(call())
        assert (await here.rows())[0].entry.kind == "call"  # it is told once


@pytest.mark.posix
async def test_on_a_full_disk_calls_go_on_and_what_is_lost_is_said_until_it_is_written_again(path: Path) -> None:
    async with running_journal(path) as here:
        here.happened(call(tool="before"))
        await here.rows()
        with full_disk(40_000):
            here.happened(*(call(arguments={"path": "x" * 119}, tool=str(number)) for number in range(600)))
            await here.journal.do(lambda file: None)
        [problem] = here.journal.problems
        assert (here.journal.lost, str(problem.title)) == (600, "The journal cannot be written")
        assert "600 entries are lost" in here.journal.said
        here.happened(call(tool="after"))
        missing, after, before = await here.rows()
        assert (missing.entry.kind, after.entry.tool, before.entry.tool) == ("failure", "after", "before")
        assert missing.entry.reason.startswith("600 entries are missing here: 600 entries are lost: ")
        assert (list(here.journal.problems), here.journal.lost) == ([], 600)


async def test_a_hub_whose_journal_cannot_be_opened_ends_all_the_same(path: Path) -> None:
    path.mkdir()
    async with running_journal(path) as here:
        here.happened(call())
    assert here.journal.lost == 1


async def test_what_cannot_be_opened_is_said_and_tried_again(path: Path) -> None:
    path.mkdir()
    async with running_journal(path) as here:
        here.happened(call())
        with pytest.raises(TooltrayError, match="cannot be written"):
            await here.journal.flush()
        assert here.journal.lost == 1
        path.rmdir()
        here.happened(call())
        assert ids(await here.rows()) == [2, 1]


async def test_a_damaged_journal_is_set_aside_and_said(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)
    async with running_journal(path) as here:
        here.happened(call())
        await here.rows()
        [problem] = here.journal.problems
        assert str(problem.title) == "The journal of what happened was damaged"
        kept = next(each for each in path.parent.iterdir() if ".broken-" in each.name)
        assert kept.name in problem.message
        assert kept.read_bytes() == b"no database" * 1000


async def test_damage_that_a_reader_finds_is_looked_for(path: Path) -> None:
    written(path, [entry(touched="x" * 500) for _ in range(200)]).close()
    content = bytearray(path.read_bytes())
    content[40_960:49_152] = b"\xff" * 8_192
    path.write_bytes(content)
    released = []
    async with running_journal(path, release=lambda: released.append(True)) as here:
        here.journal.look_for_damage()
        with contextlib.suppress(TooltrayError):
            await here.journal.flush()
        assert [str(problem.title) for problem in here.journal.problems] == ["The journal of what happened was damaged"]
        assert released
        here.happened(call())
        assert ids(await here.rows()) == [1]


async def test_damage_that_is_met_at_work_is_set_aside(path: Path) -> None:
    def work(file: JournalFile) -> None:
        error = sqlite3.DatabaseError("malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT  # type: ignore[misc]
        raise error

    async with running_journal(path) as here:
        here.happened(call())
        await here.rows()
        with pytest.raises(TooltrayError, match="malformed"):
            await here.journal.do(work)
        assert [str(problem.title) for problem in here.journal.problems] == ["The journal of what happened was damaged"]
        here.happened(call(tool="after"))
        assert [row.entry.tool for row in await here.rows()] == ["after"]


async def test_a_file_that_somebody_has_removed_is_made_anew(path: Path) -> None:
    async with running_journal(path) as here:
        here.happened(call(), call())
        await here.rows()
        here.reader.close()
        for each in files_of(path):
            each.unlink(missing_ok=True)
        here.happened(call())
        assert ids(await here.rows()) == [1]


class Failing(Retention):
    """Retention that meets an error, or has so many slices to remove."""

    def __init__(self, error: Exception | None, slices: int = 0) -> None:
        self.error, self.slices, self.calls, self.is_done = error, slices, 0, threading.Event()

    def step(self, file: JournalFile) -> bool:
        self.calls += 1
        if self.error and self.calls == 1:
            raise self.error
        if self.calls >= self.slices:
            self.is_done.set()
        return self.calls < self.slices


async def test_what_is_too_old_goes_slice_by_slice_while_nothing_happens(path: Path) -> None:
    retention = Failing(None, slices=4)
    async with running_journal(path, retention=retention) as here:
        await here.journal.flush()
        assert await asyncio.to_thread(retention.is_done.wait, PATIENCE_S)


@pytest.mark.parametrize("error", [DamagedJournal("broken"), OSError("gone")])
async def test_what_fails_while_old_entries_go_is_said(path: Path, error: Exception) -> None:
    async with running_journal(path, retention=Failing(error)) as here:
        with contextlib.suppress(TooltrayError):
            await here.journal.flush()
        assert len(list(here.journal.problems)) == 1
        here.happened(call())
        assert len(await here.rows()) == 1


async def test_one_of_a_newer_version_is_left_alone_and_said_to_be_newer(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    async with running_journal(path) as here:
        here.happened(call())
        with pytest.raises(TooltrayError, match="newer version of Tooltray"):
            await here.journal.flush()
        (problem,) = here.journal.problems
        assert (problem.message, problem.hint) == (
            "it is of a newer version of Tooltray, and stays as it is",
            "Update Tooltray, and start it again",
        )
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


async def test_who_has_given_up_waiting_does_no_harm(path: Path) -> None:
    async with running_journal(path) as here:
        async with held(here):
            waiting = asyncio.get_running_loop().create_task(here.journal.flush())
            await asyncio.sleep(0)
            waiting.cancel()
        await here.journal.flush()


def waiting_journal(path: Path) -> RunningJournal:
    """A journal whose thread does not run yet."""
    here = RunningJournal(path)
    here.journal._loop = asyncio.get_running_loop()
    here.journal._bus.subscribe(JournalEvent, here.journal._on_happened)
    return here


def kept_of(here: RunningJournal, event: JournalEvent) -> JournalEvent | NewEntry:
    """What waits in memory of a call, until it is written."""
    here.happened(event)
    here.journal._queue_happened()
    return here.journal._queue[-1]


async def test_what_is_not_read_does_not_stay_in_memory(path: Path) -> None:
    here, in_arguments = waiting_journal(path), {"a": "x" * 5_000}
    assert kept_of(here, call(arguments=in_arguments, reply=large(3_000))).reply == NOTHING
    assert kept_of(here, call(arguments=in_arguments, reply=NOTHING)).reply == NOTHING
    assert kept_of(here, call(arguments=in_arguments, is_fault=True)).reply != NOTHING
    assert kept_of(here, call(reply=large(70_000), is_fault=True)).reply == NOTHING
    assert kept_of(here, call(arguments={"a": "x" * 70_000})).params == NOTHING
    here.wanted = ActivitySettings(contents=True)
    assert kept_of(here, call(arguments={"a": "x" * 70_000})).params != NOTHING
    assert kept_of(here, call(reply=large(70_000))).reply != NOTHING
    cut = kept_of(here, call(reply=large(10**6))).reply
    assert len(memoryview(cut)) == LARGEST_BYTES + LONGEST_SECRET_BYTES


async def test_more_large_events_than_one_slice_are_written_in_their_order(path: Path) -> None:
    tools = [str(number) for number in range(journal_module.SLICE + 1)]
    async with running_journal(path) as here:
        here.happened(*(call(tool=tool, arguments={"a": "x" * 5_000}) for tool in tools))
        await here.heard.event(ActivityWritten, last_id=len(tools))
        assert [row.entry.tool for row in await here.rows()] == tools[::-1]


async def test_the_thread_reads_only_what_is_large_or_recorded_whole(path: Path) -> None:
    here = waiting_journal(path)
    arguments = {"a": "x" * 4_000}
    assert isinstance(kept_of(here, call(arguments=arguments, reply=large(70_000))), NewEntry)
    assert isinstance(kept_of(here, call(is_fault=True)), NewEntry)
    assert isinstance(kept_of(here, call(arguments=arguments, reply=large(4_000), is_fault=True)), JournalEvent)
    assert isinstance(kept_of(here, call(arguments={"a": "x" * 4_097})), JournalEvent)
    here.wanted = ActivitySettings(contents=True)
    assert isinstance(kept_of(here, call()), JournalEvent)


async def test_of_very_much_that_waits_only_the_facts_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "MAX_QUEUED_BYTES", 1000)
    here = waiting_journal(path)
    here.wanted = ActivitySettings(contents=True)
    first, second, third = (kept_of(here, call(arguments={"a": "x" * 900}, is_fault=True)) for _ in range(3))
    assert first.params != NOTHING
    assert (second.params != NOTHING, third.params, third.reply) == (True, NOTHING, NOTHING)
