"""change_store.py: what was changed is recorded, copies are encrypted with one key, and go after 30 days."""

from base64 import b64encode
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fakes.ai_client_home import ClientHome

from tooltray.config.secrets.secrets import BACKUP_SECRET
from tooltray.foundation.errors import NotFound
from tooltray.foundation.files.edited_files import digest_of_bytes
from tooltray.sources.clients.change_store import KEPT_DAYS, CannotRestore, ChangeRecord, ChangeStore, CopyKey, get_or_make_key

DAY_NS = 24 * 3600 * 10**9
START_NS = 1_790_000_000 * 10**9
KEY = CopyKey(b"k" * 32)
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


def _saved(store: ChangeStore, key: CopyKey | None = KEY, content: bytes | None = CONTENT) -> ChangeRecord:
    record = ChangeRecord("cursor", "connect", "/home/me/mcp.json", "json", before=digest_of_bytes(content))
    return store.save(record, content, key)


def _days(store: ChangeStore, clock: Clock, days: int) -> None:
    for _ in range(days):
        clock.now += DAY_NS
        store.delete_old()


def test_a_copy_is_encrypted_and_comes_back(store: ChangeStore, tmp_path: Path) -> None:
    record = _saved(store)
    assert (record.state, record.is_encrypted, store.has_copy(record)) == ("made", True, True)
    assert store.all() == [record]
    assert store.get(record.id) == record
    assert store.copy_of(record, KEY) == CONTENT
    assert not any(b"sk-dummy" in path.read_bytes() for path in (tmp_path / "changes").iterdir())
    assert "kkkk" not in repr(KEY)


def test_the_newest_change_comes_first(store: ChangeStore) -> None:
    ids = [_saved(store).id for _ in range(3)]
    assert [record.id for record in store.all()] == ids[::-1]


def test_without_a_key_and_without_a_file_a_record_shows_it(store: ChangeStore) -> None:
    plain = _saved(store, None)
    assert (plain.is_encrypted, store.copy_of(plain, None)) == (False, CONTENT)
    new = _saved(store, KEY, None)
    assert (new.is_encrypted, store.has_copy(new)) == (False, False)


@pytest.mark.parametrize("key", [None, CopyKey(b"x" * 32)])
def test_without_the_right_key_nothing_comes_back(store: ChangeStore, key: CopyKey | None) -> None:
    with pytest.raises(CannotRestore):
        store.copy_of(_saved(store), key)


def test_a_damaged_copy_does_not_come_back(store: ChangeStore, tmp_path: Path) -> None:
    plain, sealed = _saved(store, None), _saved(store)
    for record in (plain, sealed):
        path = tmp_path / "changes" / f"{record.id}.backup"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(CannotRestore):
            store.copy_of(record, KEY)
        path.unlink()
        with pytest.raises(CannotRestore):
            store.copy_of(record, KEY)


@pytest.mark.expected_warnings("cannot be read")
def test_records_that_make_no_sense_are_left_out(store: ChangeStore, tmp_path: Path) -> None:
    record = _saved(store)
    path = tmp_path / "changes" / f"{record.id}.json"
    (tmp_path / "changes" / "other.json").write_text("{}")
    other = record.id[:-4] + "ffff"
    (tmp_path / "changes" / f"{other}.json").write_bytes(path.read_bytes())  # it says another id
    assert store.all() == [record]
    path.write_text("{")
    assert store.all() == []


@pytest.mark.parametrize("change", ["", "../secrets", "20260101T000000-000000000-abcd"])
def test_an_unknown_change_is_an_error(store: ChangeStore, change: str) -> None:
    with pytest.raises(NotFound):
        store.get(change)


def test_what_is_older_than_30_days_goes(store: ChangeStore, clock: Clock, tmp_path: Path) -> None:
    store.delete_old()  # there is nothing yet
    record = _saved(store)
    _days(store, clock, KEPT_DAYS + 2)
    assert store.all() == [record]
    _days(store, clock, 2)
    assert store.all() == []
    assert [path.name for path in (tmp_path / "changes").iterdir()] == ["days.json"]


def test_a_clock_that_jumps_deletes_nothing(store: ChangeStore, clock: Clock, tmp_path: Path) -> None:
    record = _saved(store)
    before = clock.now
    clock.now += 3650 * DAY_NS
    store.delete_old()
    store.delete_old()
    clock.now = before
    _days(store, clock, 10)
    assert store.all() == [record]
    (tmp_path / "changes" / "days.json").write_text("{")
    store.delete_old()
    assert store.all() == [record]


def test_a_change_that_cannot_be_written_leaves_nothing_behind(store: ChangeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "changes").write_text("")
    with pytest.raises(OSError, match="exists"):
        _saved(store)
    (tmp_path / "changes").unlink()
    monkeypatch.setattr("tooltray.sources.clients.change_store.write_atomically", _only_json)
    with pytest.raises(OSError, match="full"):
        _saved(store)
    assert list((tmp_path / "changes").iterdir()) == []


def _only_json(path: Path, data: bytes) -> None:
    if path.suffix != ".json":
        raise OSError("the disk is full")
    path.write_bytes(data)


@pytest.mark.expected_warnings("could not be written", "are not deleted")
def test_what_cannot_be_marked_or_deleted_is_logged(store: ChangeStore, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = _saved(store)
    path = tmp_path / "changes" / f"{record.id}.json"
    path.unlink()
    path.mkdir()
    store.update(replace(record, note="x"))
    assert "could not be written" in caplog.text
    (tmp_path / "changes" / "days.json").mkdir()
    store.delete_old()
    assert "are not deleted" in caplog.text


async def test_one_key_is_made_and_found_again(tmp_path: Path) -> None:
    home = ClientHome(tmp_path)
    assert (one := await get_or_make_key(home.secrets)) is not None
    assert await get_or_make_key(home.secrets) == one
    await home.close()


@pytest.mark.parametrize("value", ["no base64", b64encode(b"short").decode()])
async def test_what_is_no_key_is_not_used(tmp_path: Path, value: str) -> None:
    home = ClientHome(tmp_path)
    await home.secrets.set(BACKUP_SECRET, value)
    assert await get_or_make_key(home.secrets) is None
    await home.close()


async def test_a_keyring_that_does_not_answer_gives_none(tmp_path: Path) -> None:
    home = ClientHome(tmp_path)
    home.keyring.error = RuntimeError("locked")
    assert await get_or_make_key(home.secrets) is None
    await home.close()
