"""change_store.py: what was changed is written down, and copies go after 30 days."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from tooltray.foundation.errors import NotFound
from tooltray.foundation.files.edited_files import digest_of_bytes
from tooltray.sources.clients.change_store import KEPT_DAYS, BackupKey, CannotRestore, ChangeRecord, ChangeStore

DAY_NS = 24 * 3600 * 10**9
START_NS = 1_790_000_000 * 10**9
KEY = BackupKey(b"k" * 32)
CONTENT = b'{"API_KEY": "sk-dummy-1234567890"}'


class Clock:
    def __init__(self) -> None:
        self.now = START_NS

    def __call__(self) -> int:
        self.now += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> ChangeStore:
    return ChangeStore(tmp_path / "changes", now=clock)


def _begun(store: ChangeStore, key: BackupKey | None = KEY, content: bytes | None = CONTENT) -> ChangeRecord:
    change, at = store.new_id()
    record = ChangeRecord(change, "cursor", "connect", "/home/me/mcp.json", "json", at, before=digest_of_bytes(content))
    return store.begin(record, content, key)


def _days(store: ChangeStore, clock: Clock, days: int) -> None:
    for _ in range(days):
        clock.now += DAY_NS
        store.forget_old()


def test_a_copy_is_encrypted_and_comes_back(store: ChangeStore, tmp_path: Path) -> None:
    record = store.finish(_begun(store))
    assert (record.state, record.is_encrypted, record.has_backup) == ("made", True, True)
    assert store.all() == [record]
    assert store.get(record.id) == record
    assert store.backup_of(record, KEY) == CONTENT
    assert not any(b"sk-dummy" in path.read_bytes() for path in (tmp_path / "changes").iterdir())
    assert "kkkk" not in repr(KEY)


def test_the_newest_change_comes_first(store: ChangeStore) -> None:
    ids = [_begun(store).id for _ in range(3)]
    assert [record.id for record in store.all()] == ids[::-1]


def test_without_a_key_and_without_a_file_that_is_said(store: ChangeStore) -> None:
    plain = _begun(store, None)
    assert (plain.is_encrypted, store.backup_of(plain, None)) == (False, CONTENT)
    new = _begun(store, KEY, None)
    assert (new.is_encrypted, new.has_backup, store.has_backup(new)) == (False, False, False)


@pytest.mark.parametrize("key", [None, BackupKey(b"x" * 32)])
def test_without_the_right_key_nothing_comes_back(store: ChangeStore, key: BackupKey | None) -> None:
    with pytest.raises(CannotRestore):
        store.backup_of(_begun(store), key)


def test_a_damaged_copy_does_not_come_back(store: ChangeStore, tmp_path: Path) -> None:
    plain, sealed = _begun(store, None), _begun(store)
    for record in (plain, sealed):
        path = tmp_path / "changes" / f"{record.id}.backup"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(CannotRestore):
            store.backup_of(record, KEY)
        path.unlink()
        with pytest.raises(CannotRestore):
            store.backup_of(record, KEY)


@pytest.mark.expected_warnings("cannot be read")
def test_records_that_make_no_sense_are_left_out(store: ChangeStore, tmp_path: Path) -> None:
    record = _begun(store)
    path = tmp_path / "changes" / f"{record.id}.json"
    (tmp_path / "changes" / "other.json").write_text("{}")
    other = record.id[:-4] + "ffff"
    (tmp_path / "changes" / f"{other}.json").write_bytes(path.read_bytes())  # it says another id
    assert store.all() == [record]
    path.write_text("{")
    assert store.all() == []


@pytest.mark.parametrize("change", ["", "../secrets", "20260101T000000-000000000-abcd"])
def test_a_change_that_there_is_not_is_said(store: ChangeStore, change: str) -> None:
    with pytest.raises(NotFound):
        store.get(change)


def test_what_is_older_than_30_days_goes(store: ChangeStore, clock: Clock, tmp_path: Path) -> None:
    store.forget_old()  # there is nothing yet
    record = _begun(store)
    _days(store, clock, KEPT_DAYS + 2)
    assert store.all() == [record]
    _days(store, clock, 2)
    assert store.all() == []
    assert [path.name for path in (tmp_path / "changes").iterdir()] == ["days.json"]


def test_a_clock_that_jumps_deletes_nothing(store: ChangeStore, clock: Clock, tmp_path: Path) -> None:
    record = _begun(store)
    before = clock.now
    clock.now += 3650 * DAY_NS
    store.forget_old()
    store.forget_old()
    clock.now = before
    _days(store, clock, 10)
    assert store.all() == [record]
    (tmp_path / "changes" / "days.json").write_text("{")
    store.forget_old()
    assert store.all() == [record]


def test_copies_without_a_record_go_when_nobody_can_be_writing_them(store: ChangeStore, clock: Clock, tmp_path: Path) -> None:
    record = _begun(store)
    lost = tmp_path / "changes" / "20200101T000000-000000000-abcd.backup"
    lost.write_bytes(b"x")
    os.utime(lost, (START_NS / 10**9, START_NS / 10**9))
    store.forget_old()
    assert lost.exists()
    _days(store, clock, 2)
    assert not lost.exists()
    assert store.has_backup(record)


def test_of_very_many_changes_the_oldest_go(store: ChangeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.sources.clients.change_store.MOST_CHANGES", 2)
    ids = [_begun(store).id for _ in range(3)]
    store.forget_old()
    assert [record.id for record in store.all()] == ids[:0:-1]


def test_a_record_that_cannot_be_written_leaves_nothing_behind(store: ChangeStore, tmp_path: Path) -> None:
    store.forget_old()
    change, at = store.new_id()
    record = ChangeRecord(change, "cursor", "connect", "/x", "json", at)
    (tmp_path / "changes" / f"{change}.json").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        store.begin(record, CONTENT, None)
    assert not (tmp_path / "changes" / f"{change}.backup").exists()


@pytest.mark.expected_warnings("could not be written", "could not be deleted")
def test_what_cannot_be_marked_or_deleted_is_logged(store: ChangeStore, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = _begun(store)
    path = tmp_path / "changes" / f"{record.id}.json"
    path.unlink()
    path.mkdir()
    store.finish(replace(record, note="x"))
    assert "could not be written" in caplog.text
    (tmp_path / "changes" / "days.json").mkdir()
    store.forget_old()
    assert "could not be deleted" in caplog.text
