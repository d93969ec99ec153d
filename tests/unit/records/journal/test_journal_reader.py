"""journal_reader.py"""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.journals import NOW, entry, ids, journal_of, written

from tooltray.foundation.snapshots.activity import (
    ActivityChoices,
    ActivityCounts,
    ActivityEntry,
    ActivityFilter,
    ActivityTimes,
    JournalStatus,
)
from tooltray.records.journal import journal_reader
from tooltray.records.journal.journal_file import Contents, JournalFile
from tooltray.records.journal.journal_reader import LONGEST_PAUSE_S, SPARE, Collapser, JournalReader

ALL = ActivityFilter()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "activity.db"


def found(reader: JournalReader, **wanted: Any) -> list[int]:
    return ids(reader.rows(ActivityFilter(**wanted), 0, 100, collapsed=False))


def test_the_newest_come_first_and_page_by_page(path: Path) -> None:
    with journal_of(path, *(entry(at=NOW - number) for number in range(5))) as reader:  # ids count, whatever the clock says
        assert ids(reader.rows(ALL, 0, 2, collapsed=False)) == [5, 4]
        assert ids(reader.rows(ALL, 4, 2, collapsed=False)) == [3, 2]
        assert ids(reader.rows(ALL, 2, 2, collapsed=False)) == [1]
        assert reader.rows(ALL, 0, -1, collapsed=False) == []


def test_an_entry_comes_back_as_it_was_written(path: Path) -> None:
    values = {"session": "s1", "project": "/p", "published": "files__read_file", "at": NOW, "outcome": "error", "duration": 0.5}
    with journal_of(path, entry(touched="/a", reason="it is gone", contents=Contents("{}", "[]", True), **values)) as reader:
        [row] = reader.rows(ALL, 0, 10, collapsed=False)
    shown = row.entry
    assert (row.count, row.first_id, row.first_at) == (1, 1, NOW)
    assert (shown.id, shown.kind, shown.at, shown.outcome, shown.duration_s) == (1, "call", NOW, "error", 0.5)
    assert (shown.client, shown.session, shown.project, shown.server) == ("Cursor", "s1", "/p", "files")
    assert (shown.tool, shown.published, shown.touched, shown.reason) == ("read_file", "files__read_file", "/a", "it is gone")
    assert (shown.argument_bytes, shown.result_bytes, shown.tokens, shown.has_contents) == (7, 8, 2, True)


def test_one_entry_is_there_in_full(path: Path) -> None:
    times = {"queue_s": 0.1, "person_s": 0.2, "start_s": 0.3, "server_s": 0.4, "back_s": 0.5}
    with journal_of(path, entry(allowed_by="grant", contents=Contents("{}", "[1]", True, "-a\n+b"), **times), entry()) as reader:
        full, bare = reader.details(1), reader.details(2)
        assert reader.details(3) is None
    assert full
    assert bare
    assert full.times == ActivityTimes(None, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert (full.arguments, full.result, full.is_cut, full.allowed_by) == ("{}", "[1]", True, "grant")
    assert (bare.times, bare.arguments, bare.result, bare.is_cut) == (ActivityTimes(), "", "", False)
    assert (full.diff, bare.diff) == (("-a", "+b"), ())


def test_a_trace_is_found_by_its_whole_id_and_shown_in_full(path: Path) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    with journal_of(path, entry(), entry(trace=trace, trace_context="{}"), entry(trace="f" * 32)) as reader:
        assert ids(reader.rows(ActivityFilter(text=f" {trace.upper()} "), 0, 9, collapsed=False)) == [2]
        assert reader.rows(ActivityFilter(text=trace[:31]), 0, 9, collapsed=False) == []
        full = reader.details(2)
    assert full
    assert (full.trace_id, full.trace_context) == (trace, "{}")


def test_all_come_in_full_in_their_order_and_in_parts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_reader, "PAGE", 2)
    with journal_of(path, entry(), entry(tool="other"), entry(), entry(), entry(), entry()) as reader:
        assert [each.entry.id for each in reader.all_details(ActivityFilter(tools=("read_file",)))] == [1, 3, 4, 5, 6]


def test_neighbours_become_one_row_over_the_ends_of_parts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_reader, "PAGE", 2)
    tools = ["b", "a", "a", "a", "a", "a", "c", "c"]
    with journal_of(path, *(entry(tool=tool) for tool in tools)) as reader:
        rows = reader.rows(ALL, 0, 2, collapsed=True)
        assert [(row.entry.tool, row.entry.id, row.count, row.first_id) for row in rows] == [("c", 8, 2, 7), ("a", 6, 5, 2)]
        assert [(row.entry.tool, row.count) for row in reader.rows(ALL, 2, 9, collapsed=True)] == [("b", 1)]
        monkeypatch.setattr(journal_reader, "MOST_JOINED", 4)
        assert [row.count for row in reader.rows(ALL, 0, 9, collapsed=True)] == [2, 2]


def test_what_was_cleared_is_nowhere(path: Path) -> None:
    file = written(path, [entry(), entry()])
    reader = JournalReader(journal_file=path)
    file.clear()
    file.write([entry(client="Zed")])
    assert (found(reader), reader.details(1), reader.choices().clients, reader.status(0, "").entries) == ([3], None, ("Zed",), 1)
    file.undo_clear()
    assert found(reader) == [3, 2, 1]
    reader.close()
    file.close()


def test_sessions_of_earlier_hubs_are_others(path: Path) -> None:
    old, new = (entry(session=f"s1.{run}") for run in ("aaaa", "bbbb"))
    with journal_of(path, old, new, entry(session=""), run="bbbb") as reader:
        assert [row.entry.session for row in reader.rows(ALL, 0, 9, collapsed=False)] == ["", "s1", "s1.aaaa"]
        assert (found(reader, sessions=("s1",)), found(reader, sessions=("s1.aaaa",))) == ([2], [1])


def test_the_last_day_is_divided_into_equal_stretches(path: Path) -> None:
    hours = (0.5, 1.5, 23.5, 23.6, 24.5)
    calls = [entry(at=NOW - 3600 * hour, duration=hour, outcome="cancelled" if hour > 23 else "ok", server_s=hour) for hour in hours]
    with journal_of(path, *calls, entry(kind="start", at=NOW - 10), clock=lambda: NOW) as reader:
        points = reader.series(ALL, 24)
        assert [(point.at, point.calls, point.failures) for point in points[:2]] == [(NOW - 86_400, 2, 0), (NOW - 82_800, 0, 0)]
        assert (points[0].p50_ms, points[0].p95_ms, points[0].tokens, points[1].p50_ms) == (
            *(pytest.approx(23_500, rel=0.022), pytest.approx(23_600, rel=0.022), 4, None),
        )
        assert [point.calls for point in points[-2:]] == [1, 1]
        since = reader.series(ActivityFilter(since=NOW - 7200, until=NOW - 3600), 0)
        assert [(point.at, point.calls) for point in since] == [(NOW - 7200, 1)]


def test_figures_use_and_choices(path: Path) -> None:
    entries = [
        entry(duration=1.0),
        entry(client="", outcome="error", server_s=0.25, at=NOW + 1),
        entry(server="web", tool="get", project="/p", outcome="refused"),
        entry(kind="stop"),
    ]
    with journal_of(path, *entries) as reader:
        [files, web] = reader.figures("server", ALL)
        assert (web.calls, web.failures) == (1, 0)  # what was refused has not failed
        assert (files.name, files.calls, files.failures, files.tokens, files.last_at) == ("files", 2, 1, 4, NOW + 1)
        assert (files.p50_ms, files.p95_ms, web.name) == (pytest.approx(250, rel=0.022), pytest.approx(1000, rel=0.022), "web")
        assert [each.name for each in reader.figures("tool", ALL)] == ["files/read_file", "web/get"]
        assert [(each.name, each.calls) for each in reader.figures("client", ActivityFilter(servers=("files",)))] == [
            ("", 1),
            ("Cursor", 1),
        ]
        first, second = reader.tool_use(NOW)
        assert (first.server, first.tool, first.calls, first.failures, first.clients) == ("files", "read_file", 2, 1, ("Cursor",))
        assert (second.tool, second.failures, reader.tool_use(NOW + 2)) == ("get", 0, [])
        assert (reader.counts(ALL), reader.counts(ActivityFilter(kinds=("stop",))).entries) == (ActivityCounts(4, 1, 1), 1)
        assert reader.choices() == ActivityChoices(("Cursor",), ("/p",), ("files", "web"))


def test_calls_of_before_are_counted_by_the_hour(path: Path) -> None:
    start = NOW // 3600 * 3600
    calls = [
        entry(at=start - 10, duration=1.0),
        entry(at=start + 1, duration=2.0),
        entry(at=start + 2, outcome="refused"),
        entry(at=start + 3, outcome="cancelled", duration=0.0007),  # before it reached the server
        entry(at=start + 4, outcome="cancelled", duration=4.0, server_s=4.0),
        entry(at=start + 5, outcome="error", duration=0.1),  # the server did not start
        entry(at=start + 99),
    ]
    with journal_of(path, *calls) as reader:
        [past] = reader.past_calls(start - 100, start + 99, start, 5)
    assert (past.server, past.by_hour, past.today) == ("files", {start // 3600 - 1: 1, start // 3600: 3}, 3)
    assert past.durations == (1.0, 2.0, 4.0)


def test_how_much_there_is(path: Path) -> None:
    with journal_of(path, entry(at=NOW + 5), entry(at=NOW)) as reader:
        status = reader.status(3, "it is full")
    assert (status.path, status.entries, status.oldest_at, status.lost, status.problem) == (str(path), 2, NOW, 3, "it is full")
    assert status.bytes >= path.stat().st_size


def test_a_journal_that_is_not_there_or_just_being_made_has_nothing(path: Path) -> None:
    reader = JournalReader(journal_file=path)
    assert found(reader) == []
    assert reader.status(0, "") == JournalStatus(str(path))
    path.touch()
    assert found(reader) == []
    file = JournalFile(path)
    file.write([entry()])
    assert found(reader) == [1]
    reader.close()
    file.close()


def test_what_cannot_be_read_is_said(path: Path) -> None:
    reader = JournalReader(journal_file=path)
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        found(reader)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 7")
    with pytest.raises(sqlite3.DatabaseError, match="another version"):
        found(reader)


def test_several_may_read_at_once_and_few_stay_open(path: Path) -> None:
    with journal_of(path, entry()) as reader:
        readings = [reader.all_details(ALL) for _ in range(SPARE + 2)]
        assert [next(each).entry.id for each in readings] == [1] * len(readings)
        for each in readings:
            assert list(each) == []
        assert len(reader._spare) == SPARE
        path.rename(path.with_suffix(".moved"))
        found(reader)  # of one that is gone nothing stays open
        assert len(reader._spare) == SPARE - 1
        path.with_suffix(".moved").rename(path)


def test_hundreds_of_names_are_found(path: Path) -> None:
    with journal_of(path, *(entry(tool=f"t{number}", published=f"p{number}") for number in range(400))) as reader:
        assert {row.entry.published for row in reader.rows(ALL, 0, 400, collapsed=False)} == {f"p{number}" for number in range(400)}


def test_some_entries_in_full_are_the_newest(path: Path) -> None:
    with journal_of(path, *(entry(tool=f"t{number}") for number in range(3))) as reader:
        assert [each.entry.tool for each in reader.latest_details(ActivityFilter(tools=("t0", "t1", "t2")), 2)] == ["t2", "t1"]


def numbered(id: int, **fields: Any) -> ActivityEntry:
    return ActivityEntry(**{"id": id, "kind": "call", "at": 1000.0 + id, "outcome": "ok", "tool": "read_file", **fields})


def test_neighbours_that_differ_in_time_size_and_what_they_touched_are_one_row() -> None:
    joined = Collapser(5)
    assert all(joined.take(numbered(id, touched=f"/{id}", result_bytes=id, duration_s=id, tokens=id, reason=str(id))) for id in (9, 8, 7))
    [row] = joined.rows
    assert (row.entry.id, row.count, row.first_id, row.first_at, row.has_other_targets) == (9, 3, 7, 1007.0, True)
    of_one = Collapser(5)
    assert all(of_one.take(numbered(id, touched="/a")) for id in (9, 8, 7))
    assert not of_one.rows[0].has_other_targets


def test_an_entry_says_when_it_ended_with_the_time_of_the_user(path: Path) -> None:
    with journal_of(path, entry(at=NOW, duration=0.5, person_s=4.0), entry(at=NOW, duration=2.0)) as reader:
        assert [row.entry.ended_at for row in reader.rows(ALL, 0, 9, collapsed=False)] == [NOW + 2.0, NOW + 4.5]


def test_events_of_servers_in_a_row_are_one_row_that_counts_starts_and_failures() -> None:
    joined = Collapser(5)
    events = [
        ("start", "a", "ok"),
        ("stop", "a", "ok"),
        ("failure", "b", "error"),
        ("start", "b", "error"),
        ("call", "a", "ok"),
        ("stop", "a", "ok"),
        ("failure", "", "error"),  # entries are missing
        ("start", "a", "ok"),
    ]
    for id, (kind, server, outcome) in enumerate(events):
        assert joined.take(numbered(20 - id, kind=kind, server=server, outcome=outcome, tool=""))
    shown = [(row.entry.kind, row.count, row.first_id, row.servers, row.starts, row.failures) for row in joined.rows]
    assert shown == [
        ("start", 4, 17, ("a", "b"), 1, 2),
        ("call", 1, 16, (), 0, 0),
        ("stop", 1, 15, ("a",), 0, 0),
        ("failure", 1, 14, (), 0, 0),
        ("start", 1, 13, ("a",), 1, 0),
    ]


@pytest.mark.parametrize("field", ["kind", "outcome", "client", "session", "project", "server", "tool", "published"])
def test_another_of_these_is_another_row(field: str) -> None:
    joined = Collapser(5)
    for id, value in ((3, "x"), (2, "y"), (1, "x")):
        joined.take(numbered(id, **{field: value}))
    assert [row.count for row in joined.rows] == [1, 1, 1]


def test_after_a_long_pause_it_is_another_piece_of_work() -> None:
    joined = Collapser(5)
    for id, at in ((3, LONGEST_PAUSE_S), (2, 0.0), (1, LONGEST_PAUSE_S + 0.1)):  # a clock may have gone back
        joined.take(numbered(id, at=at))
    assert [row.count for row in joined.rows] == [2, 1]


def test_the_last_row_is_whole() -> None:
    joined = Collapser(1)
    taken = [joined.take(numbered(id, tool=tool)) for id, tool in ((4, "a"), (3, "a"), (2, "b"))]
    assert taken == [True, True, False]
    assert [row.count for row in joined.rows] == [2]
