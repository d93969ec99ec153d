"""journal_file.py"""

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.journals import NOW, entry, written

from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.records.journal import journal_file
from tooltray.records.journal.journal_file import (
    ROWS_AT_ONCE,
    Contents,
    DamagedJournal,
    JournalFile,
    files_of,
    put_aside,
)
from tooltray.records.journal.journal_reader import JournalReader

TEXTS = Contents('{"a":1}', '{"b":2}', True)

DAY = 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "activity.db"


def texts(path: Path) -> list[str]:
    with sqlite3.connect(path) as database:
        return [said.strip() for (said,) in database.execute("SELECT said FROM entries ORDER BY id")]


def test_entries_are_numbered_and_stay_so_also_when_all_before_them_are_gone(path: Path) -> None:
    file = written(path, [entry(touched="a"), entry(touched="b")])
    assert (file.ids(), file.write([entry(touched="c")])) == ((1, 2), 3)
    assert file.remove_before(9, 10) == 3
    assert file.ids() == (0, 0)
    file.close()
    again = JournalFile(path)
    assert again.write([entry(touched="d", client="Zed")]) == 4
    again.close()
    assert texts(path) == ["d"]


def test_each_of_many_entries_has_its_own_contents(path: Path) -> None:
    many = 2 * ROWS_AT_ONCE + 3
    kept = {number: Contents(f"{number}", "{}", False) for number in range(0, many, 3)}
    file = written(path, [entry(touched=f"t{number}", contents=kept.get(number)) for number in range(many)])
    assert file.ids() == (1, many)
    file.close()
    assert texts(path) == [f"t{number}" for number in range(many)]
    with sqlite3.connect(path) as database:
        assert dict(database.execute("SELECT id, arguments FROM contents")) == {number + 1: of.arguments for number, of in kept.items()}


@pytest.mark.posix
def test_nobody_else_may_read_it(path: Path) -> None:
    file = written(path, [entry()])
    assert {stat.S_IMODE(each.stat().st_mode) for each in files_of(path) if each.exists()} == {0o600}
    file.close()


def test_of_a_write_that_fails_nothing_stays(path: Path) -> None:
    file = written(path, [entry(client="a")])
    with pytest.raises(sqlite3.Error):
        file.write([entry(client="new"), entry(kind=None)])
    assert file.write([entry(client="new")]) == 2  # its name was taken back, too
    with sqlite3.connect(path) as database:
        named = database.execute("SELECT text FROM names JOIN entries ON client = names.id ORDER BY entries.id").fetchall()
    assert named == [("a",), ("new",)]
    file.close()


def test_many_names_are_found_again_without_being_kept_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "MOST_NUMBERS_IN_MEMORY", 3)
    file = written(path, [entry(client=f"c{number % 7}") for number in range(20)])
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(DISTINCT client) FROM entries").fetchone() == (7,)
    file.close()


@pytest.mark.posix
def test_a_full_disk_loses_what_was_written_and_no_more(path: Path) -> None:
    file = written(path, [entry(touched="before")])
    with full_disk(40_000), pytest.raises((sqlite3.Error, OSError)):
        file.write([entry(touched="x" * 1000) for _ in range(100)])
    file.write([entry(touched="after")])
    file.close()
    assert texts(path) == ["before", "after"]


def test_what_was_cleared_comes_back_until_it_is_let_go(path: Path) -> None:
    file = written(path, [entry(), entry()])
    assert not file.undo_clear()
    file.clear()
    assert (file.gone, file.undo_clear(), file.undo_clear()) == (0, True, False)
    file.clear()
    file.write([entry()])
    file.clear()  # what the first one took goes for good
    assert file.gone == 2
    file.let_go()
    file.let_go()
    assert (file.gone, file.undo_clear()) == (3, False)
    file.close()


def test_the_oldest_go_in_slices_with_their_contents(path: Path) -> None:
    file = written(path, [entry(contents=TEXTS, at=NOW + number) for number in range(6)])
    assert (file.first_contents(), file.first_since(NOW + 2.5), file.first_since(NOW, 3), file.first_since(NOW + 99)) == (1, 4, 3, 7)
    assert (file.remove_before(3, 1), file.remove_before(3, 5), file.remove_before(3, 5)) == (1, 1, 0)
    assert (file.remove_contents_before(5, 1), file.remove_contents_before(5, 5), file.remove_contents_before(5, 5)) == (1, 1, 0)
    assert (file.first_contents(), file.ids()) == (5, (3, 6))
    with sqlite3.connect(path) as database:
        assert [has for (has,) in database.execute("SELECT has_contents FROM entries ORDER BY id")] == [0, 0, 1, 1]
    file.close()


def test_what_is_removed_is_given_back_to_the_disk_and_is_not_to_be_found_in_the_file(path: Path) -> None:
    file = written(path, [entry(touched=f"to-be-forgotten-{number}" * 20) for number in range(500)])
    before = file.used_bytes
    file.remove_before(500, 1000)
    assert file.used_bytes < before / 4
    file.close()
    assert path.stat().st_size < before / 2
    assert b"to-be-forgotten-400" not in path.read_bytes()


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be looked at" * 30, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_no_database_is_damaged(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DamagedJournal):
        JournalFile(path)


def test_one_of_a_version_that_is_not_known_is_set_aside(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = -1")
    with pytest.raises(DamagedJournal, match="another version"):
        JournalFile(path)


@pytest.mark.parametrize(("version", "lacks"), [(2, ("trace", "trace_context", "tool_call")), (3, ("tool_call",)), (4, ())])
def test_one_of_a_version_before_gets_what_is_new_and_keeps_its_entries(path: Path, version: int, lacks: tuple[str, ...]) -> None:
    written(path, [entry(touched="a")]).close()
    with sqlite3.connect(path) as database:
        for column in lacks:
            database.execute(f"ALTER TABLE entries DROP COLUMN {column}")
        database.execute("ALTER TABLE contents DROP COLUMN diff")
        database.execute(f"PRAGMA user_version = {version}")
    again = JournalFile(path)
    assert again.write([entry(touched="b", trace="f" * 32, contents=Contents("{}", "", False, "+a"))]) == 2
    again.close()
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT trace FROM entries ORDER BY id").fetchall() == [("",), ("f" * 32,)]
        assert database.execute("SELECT id, diff FROM contents").fetchall() == [(2, "+a")]
        assert database.execute("PRAGMA user_version").fetchone() == (journal_file.VERSION,)


def test_what_cannot_be_opened_is_not_damaged(path: Path) -> None:
    path.mkdir()
    with pytest.raises(sqlite3.OperationalError):
        JournalFile(path)


def test_damage_in_the_middle_is_found(path: Path) -> None:
    file = written(path, [entry(touched="x" * 500) for _ in range(200)])
    file.check()
    file.close()
    content = bytearray(path.read_bytes())
    content[40_960:49_152] = b"\xff" * 8_192
    path.write_bytes(content)
    broken = JournalFile(path)
    with pytest.raises(DamagedJournal):
        broken.check()
    broken.close()


def test_damage_that_keeps_the_check_from_running_is_damage(path: Path) -> None:
    file = written(path, [entry()])
    file.close()
    with pytest.raises(DamagedJournal, match="closed"):
        file.check()


def test_what_is_put_aside_keeps_the_files_beside_it(path: Path) -> None:
    for each in files_of(path):
        each.write_text(each.name)
    kept = put_aside(path)
    assert [each.read_text() for each in files_of(kept)] == ["activity.db", "activity.db-wal", "activity.db-shm"]
    assert not any(each.exists() for each in files_of(path))
    path.write_text("")
    assert put_aside(path).exists()


def test_what_a_hub_that_is_killed_has_written_can_be_read(path: Path) -> None:
    program = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from tests.fakes.journals import entry, written
file = written(Path({str(path)!r}), [entry(touched="last words")])
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 9
    assert Path(f"{path}-wal").stat().st_size > 0
    reader = JournalReader(journal_file=path)
    assert [row.entry.touched for row in reader.rows(ActivityFilter(), 0, 5, collapsed=False)] == ["last words"]
    reader.close()
    file = JournalFile(path)
    assert file.write([entry()]) == 2
    file.close()
