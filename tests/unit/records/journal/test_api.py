"""api.py"""

import contextlib
import json
import sqlite3
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.journals import NOW, RunningJournal, call, ids, running_journal

from tooltray.config.settings.settings import ActivitySettings
from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, Person, asked_by
from tooltray.foundation.errors import Denied, NotFound, TooltrayError
from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityEntry, ActivityFilter, ActivityTimes
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.audit_trail import AuditTrail, Decision
from tooltray.records.journal.api import ActivityApi, write_entries
from tooltray.records.journal.journal import MOST_CHANGES
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.records.log.call_stats import CallsUnderWay


@contextlib.asynccontextmanager
async def api_of(path: Path) -> AsyncIterator[tuple[ActivityApi, RunningJournal]]:
    """With two calls, and a start between them."""
    async with running_journal(path / "activity.db") as here:
        here.happened(
            call(client="Cursor", published="files__t"), JournalEvent(kind="start", at=NOW, outcome="ok", server="files"), call(tool="u")
        )
        await here.rows()
        trail, under_way = AuditTrail(path / "audit.jsonl"), CallsUnderWay()
        await trail.record(Decision("A yes", "yes", "window"))
        yield ActivityApi(journal=here.journal, journal_reader=here.reader, under_way=under_way, bus=here.bus, trail=trail), here


async def test_what_happened_is_there_in_rows_in_full_and_in_figures(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, _):
        assert ids(await api.get_activity()) == [3, 2, 1]
        assert ids(await api.get_activity(ActivityFilter(kinds=("call",)), before=3, limit=5, collapsed=True)) == [1]
        assert (await api.get_activity_entry(1)).entry.client == "Cursor"
        with pytest.raises(NotFound, match="Entry 9 not found"):
            await api.get_activity_entry(9)
        assert [point.calls for point in await api.get_activity_series(ActivityFilter(until=NOW + 1), bars=2)] == [0, 2]
        assert [each.name for each in await api.get_activity_figures("tool")] == ["files/t", "files/u"]
        with pytest.raises(TooltrayError, match="No statistics by 'day'"):
            await api.get_activity_figures("day")
        assert (await api.count_activity()).entries == 3
        assert (await api.get_activity_choices()).servers == ("files",)
        assert {each.tool for each in await api.get_tool_use(days=36_500)} == {"t", "u"}
        assert await api.get_calls_now() == []


async def test_a_call_is_found_by_the_id_that_its_event_has_also_before_it_is_written(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, here):
        timings = CallTimings()
        timings.id = "call_7"
        here.happened(call(tool="w", timings=timings), call(tool="x", timings=CallTimings()))
        found = await api.get_activity_entry("call_7")
        assert (found.entry.tool, found.entry.id) == ("w", 4)
        with pytest.raises(NotFound, match="Entry call_8 not found"):
            await api.get_activity_entry("call_8")


class Window(Person):
    is_window = True


@pytest.mark.parametrize("is_recorded", [True, False])
async def test_the_lines_of_a_file_that_a_call_would_have_changed_are_for_the_window_alone(tmp_path: Path, is_recorded: bool) -> None:
    async with running_journal(tmp_path / "activity.db") as here:
        here.wanted = ActivitySettings(contents=is_recorded)
        timings = CallTimings()
        timings.diff = ("-a", "+b")
        here.happened(call(timings=timings))
        await here.rows()
        trail, under_way = AuditTrail(tmp_path / "audit.jsonl"), CallsUnderWay()
        api = ActivityApi(journal=here.journal, journal_reader=here.reader, under_way=under_way, bus=here.bus, trail=trail)
        with asked_by(Window()):
            assert (await api.get_activity_entry(1)).diff == ("-a", "+b")
        with asked_by(PERSON):
            assert (await api.get_activity_entry(1)).diff == ()
        with sqlite3.connect(here.path) as database:
            assert database.execute("SELECT count(*) FROM contents").fetchone() == (int(is_recorded),)


async def test_of_calls_that_are_not_recorded_the_last_changes_are_kept_until_the_journal_is_emptied(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, here):
        for number in range(MOST_CHANGES + 1):
            timings = CallTimings()
            timings.diff = (f"+{number}",)
            here.happened(call(timings=timings))
        newest = (await here.rows())[0].entry.id
        with asked_by(Window()):
            found = [(await api.get_activity_entry(newest - ago)).diff for ago in (0, MOST_CHANGES - 1, MOST_CHANGES)]
            assert found == [(f"+{MOST_CHANGES}",), ("+1",), ()]
            await api.clear_activity()
            await api.undo_clear_activity()
            assert (await api.get_activity_entry(newest)).diff == ()


async def test_the_last_calls_are_shown_as_clients_called_them(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, _):
        [last, first] = await api.get_recent_calls()
        assert (first.id, first.tool, first.client, first.outcome, last.id) == (1, "files__t", "Cursor", "ok", 3)
        assert len(await api.get_recent_calls(1)) == 1


async def test_the_journal_says_where_it_is_and_what_it_lost(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, here):
        status = await api.get_journal_status()
        assert (status.path, status.entries, status.oldest_at, status.lost, status.problem) == (str(here.path), 3, NOW, 0, "")


async def test_an_export_has_all_that_has_happened_until_now(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, here):
        here.happened(call(tool="last"))
        assert await api.export_activity(str(tmp_path / "out.jsonl"), ActivityFilter(kinds=("call",))) == 3
        assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[-1])["tool"] == "last"
    assert await api.export_activity(str(tmp_path / "out.jsonl")) == 5  # also where nobody writes any more
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert sorted(kinds) == ["call", "call", "call", "decision", "start"]
    here.reader.close()


async def test_a_person_empties_it_and_brings_it_back(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, here):
        with asked_by(UNATTENDED), pytest.raises(Denied):
            await api.clear_activity()
        with pytest.raises(NotFound, match="Nothing to restore"):
            await api.undo_clear_activity()
        with asked_by(PERSON):
            await api.clear_activity()
        assert await api.get_activity() == []
        await api.undo_clear_activity()
        assert ids(await api.get_activity()) == [3, 2, 1]
        assert here.heard.of(ActivityWritten)[-2:] == [ActivityWritten(0)] * 2


async def test_a_journal_that_cannot_be_read_is_said_and_looked_at(tmp_path: Path) -> None:
    async with api_of(tmp_path) as (api, here):
        here.reader.close()
        await here.journal.close()
        here.path.write_bytes(b"no database" * 1000)
        with pytest.raises(TooltrayError, match="The journal cannot be read"):
            await api.get_activity()


def details(id: int, **fields: str) -> ActivityDetails:
    return ActivityDetails(ActivityEntry(id, "call", NOW, "ok", has_contents=bool(fields)), ActivityTimes(server_s=0.5), **fields)


def test_each_entry_is_a_line_with_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("what was there")
    path.chmod(0o644)
    assert write_entries(path, iter([details(1), details(2, arguments="{}", result="[]", allowed_by="rules")])) == 2
    first, second = map(json.loads, path.read_text().splitlines())
    assert (first["id"], first["kind"], first["server_s"], "person_s" in first, "arguments" in first) == (1, "call", 0.5, False, False)
    assert (second["arguments"], second["result"], second["is_cut"], second["allowed_by"]) == ("{}", "[]", False, "rules")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.posix
def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    write_entries(tmp_path / "out.jsonl", iter([]))
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def failing() -> Iterator[ActivityDetails]:
        yield details(1)
        raise RuntimeError

    path = tmp_path / "out.jsonl"
    path.write_text("what was there")
    with pytest.raises(RuntimeError):
        write_entries(path, failing())
    assert (path.read_text(), list(tmp_path.iterdir())) == ("what was there", [path])


@pytest.mark.posix
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(TooltrayError, match="cannot be exported"):
        write_entries(tmp_path / "out.jsonl", (details(id) for id in range(1000)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["out.jsonl", "/no/such/folder/out.jsonl", "/tmp/a\0b"])
def test_a_place_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be exported"):
        write_entries(Path(path), iter([]))
