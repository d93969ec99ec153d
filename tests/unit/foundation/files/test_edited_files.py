"""edited_files.py: whatever is saved between two steps of a change is there afterwards."""

import ctypes
import errno
import fcntl
import itertools
import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.fakes.editor_saves import Save, save_by_rename, save_in_place
from tests.fakes.full_disk import full_disk
from tests.fakes.modes import has_mode

from tooltray.foundation.files import edited_files
from tooltray.foundation.files.edited_files import (
    MOST_BYTES,
    MOST_TRIES,
    MOST_WAITS,
    VERSIONS,
    EditedFiles,
    FileChanged,
    FileHistory,
    digest_of_bytes,
    exchange,
    is_open_for_writing,
)

SAVES = pytest.mark.parametrize("save", [save_in_place, save_by_rename])


class Exchange:
    """Exchanges files, and lets others act right before and right after: at each step the next of what they do."""

    def __init__(self, *, before: list[Callable[[], None]] | None = None, after: list[Callable[[], None]] | None = None) -> None:
        self._before, self._after = iter(before or ()), iter(after or ())
        self.count = 0

    def __call__(self, one: str, other: str) -> bool:
        self.count += 1
        next(self._before, lambda: None)()
        is_done = exchange(one, other)
        next(self._after, lambda: None)()
        return is_done


def not_here(one: str, other: str) -> bool:
    return False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings"
    path.write_bytes(b"0")
    return path


def files(exchange: Callable[[str, str], bool] = exchange) -> EditedFiles:
    return EditedFiles(exchange=exchange, pause=lambda _: None)


def append(files: EditedFiles, path: Path, more: bytes) -> None:
    """A change of ours: what is there, and something behind it."""

    def attempt() -> None:
        content = path.read_bytes() if path.exists() else None
        files.replace(path, (content or b"") + more, based_on=digest_of_bytes(content))

    files.retry_until_kept(attempt)


def test_a_change_replaces_what_it_was_based_on_and_leaves_nothing_else(path: Path) -> None:
    append(files(), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"0+", [path.name])


def test_what_is_another_content_by_now_is_left(path: Path) -> None:
    with pytest.raises(FileChanged):
        files().replace(path, b"new", based_on=digest_of_bytes(b"old"))
    with pytest.raises(FileChanged):
        files().replace(path, b"new", based_on="")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"0", [path.name])


@SAVES
@pytest.mark.posix
def test_a_save_right_before_the_exchange_is_kept_and_the_change_is_made_to_it(path: Path, save: Save) -> None:
    exchange = Exchange(before=[lambda: save(path, b"1")])
    append(files(exchange), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent), exchange.count) == (b"1+", [path.name], 3)


@SAVES
@pytest.mark.parametrize("other", [save_in_place, save_by_rename])
def test_of_two_saves_the_later_one_counts_also_while_the_first_is_brought_back(path: Path, save: Save, other: Save) -> None:
    append(files(Exchange(before=[lambda: save(path, b"1"), lambda: other(path, b"2")])), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"2+", [path.name])


@SAVES
@pytest.mark.posix
def test_a_save_right_behind_the_exchange_stays(path: Path, save: Save) -> None:
    append(files(Exchange(after=[lambda: save(path, b"1")])), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"1", [path.name])


@pytest.mark.posix
def test_what_is_written_into_the_old_file_after_it_was_replaced_is_kept(path: Path) -> None:
    """An editor has opened the file before, and writes when it is no longer there under its name."""
    editor = path.open("r+b", buffering=0)

    def write() -> None:
        editor.write(b"1")
        editor.close()

    append(EditedFiles(pause=lambda _: write()), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"1+", [path.name])


@pytest.mark.posix
def test_an_editor_that_moves_the_old_file_away_before_it_writes_is_not_disturbed(path: Path) -> None:
    backup = path.with_name("settings~")
    append(files(Exchange(before=[lambda: path.rename(backup)])), path, b"+")
    assert (path.read_bytes(), backup.read_bytes()) == (b"+", b"0")


@pytest.mark.posix
def test_a_save_is_brought_back_though_what_replaced_it_was_moved_away(path: Path) -> None:
    backup = path.with_name("settings~")
    append(files(Exchange(before=[lambda: save_by_rename(path, b"1"), lambda: path.rename(backup)])), path, b"+")
    assert (path.read_bytes(), backup.read_bytes()) == (b"1+", b"0+")


def test_somebody_who_saves_at_every_single_step_does_not_keep_us_for_ever(path: Path) -> None:
    numbers = itertools.count(1)

    def save_and_exchange(one: str, other: str) -> bool:
        save_by_rename(path, b"%d" % next(numbers))
        return exchange(one, other)

    edited = files(save_and_exchange)
    with pytest.raises(FileChanged):
        edited.replace(path, b"ours", based_on=digest_of_bytes(b"0"))
    assert path.read_bytes().isdigit()


def test_a_file_that_appears_in_the_moment_in_which_it_is_made_is_kept(path: Path) -> None:
    path.unlink()

    class Late(EditedFiles):
        def _create(self, temporary: str, target: str) -> None:
            if not path.exists():
                path.write_bytes(b"1")
            super()._create(temporary, target)

    append(Late(pause=lambda _: None), path, b"+")
    assert path.read_bytes() == b"1+"


@pytest.mark.posix
def test_a_file_that_was_not_there_gets_the_mode_that_is_asked_for(path: Path) -> None:
    path.unlink()
    files().replace(path, b"1", based_on="", new_mode=0o644)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"1", 0o644)


def test_a_file_system_without_hard_links_gets_new_files_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    append(files(not_here), path, b"+")
    other = path.with_name("other")
    append(files(not_here), other, b"+")
    assert (path.read_bytes(), other.read_bytes()) == (b"0+", b"+")


@pytest.mark.posix
def test_a_link_stays_a_link_and_mode_and_owner_stay(path: Path) -> None:
    path.chmod(0o640)
    with suppress(PermissionError):  # only root may
        os.chown(path, 12345, 12345)
    owner = path.stat().st_uid, path.stat().st_gid
    link = path.with_name("link")
    link.symlink_to(path)
    append(files(), link, b"+")
    status = path.stat()
    assert (link.is_symlink(), path.read_bytes()) == (True, b"0+")
    assert (status.st_mode & 0o777, status.st_uid, status.st_gid) == (0o640, *owner)


@pytest.mark.posix
def test_another_users_file_becomes_ours_where_it_cannot_be_given_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    append(files(), path, b"+")
    assert path.read_bytes() == b"0+"


def test_a_full_disk_leaves_the_old_file(path: Path) -> None:
    with full_disk(), pytest.raises(OSError, match="File too large"):
        append(files(), path, b"x" * 10_000)
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"0", [path.name])


@pytest.mark.posix
def test_a_pipe_in_its_place_is_refused(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match="it is not a file, but a pipe or a device"):
        files().replace(path, b"1", based_on="")


# where files cannot be exchanged


def test_without_an_exchange_a_change_is_made_all_the_same(path: Path) -> None:
    append(files(not_here), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"0+", [path.name])


@SAVES
def test_without_an_exchange_a_save_before_the_last_look_is_kept(path: Path, save: Save) -> None:
    saves = iter([b"1"])

    def save_once(one: str, other: str) -> bool:
        for content in saves:
            save(path, content)
        return False

    append(files(save_once), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"1+", [path.name])


@pytest.mark.posix
def test_without_an_exchange_a_save_into_the_old_file_is_brought_back(path: Path) -> None:
    editor = path.open("r+b", buffering=0)

    def write() -> None:
        editor.write(b"1")
        editor.close()

    append(EditedFiles(exchange=not_here, pause=lambda _: write()), path, b"+")
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"1+", [path.name])


@pytest.mark.posix
def test_without_an_exchange_a_newer_save_is_not_replaced_by_an_older_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = path.open("r+b", buffering=0)
    replace = os.replace

    def and_then_somebody_saves(source: str, target: str) -> None:
        replace(source, target)
        monkeypatch.setattr(os, "replace", replace)
        save_by_rename(path, b"2")

    monkeypatch.setattr(os, "replace", and_then_somebody_saves)
    append(EditedFiles(exchange=not_here, pause=lambda _: editor.close()), path, b"+")
    assert path.read_bytes() == b"2+"


# waiting


def test_a_half_written_file_is_waited_for_and_no_longer_than_a_second(path: Path) -> None:
    contents: Iterator[bytes] = iter([b"", b"half", b"whole"])
    found = read_whole(path, EditedFiles(pause=lambda _: save_in_place(path, next(contents))))
    assert found == b"whole"
    save_in_place(path, b"half")
    waits: list[float] = []
    assert (read_whole(path, EditedFiles(pause=waits.append)), len(waits)) == (b"half", MOST_WAITS)


def test_an_old_file_is_not_waited_for(path: Path) -> None:
    os.utime(path, (1, 1))
    waits: list[float] = []
    assert (read_whole(path, EditedFiles(pause=waits.append)), waits) == (b"0", [])


def test_a_file_that_is_gone_may_come_back(path: Path) -> None:
    path.unlink()
    assert read_whole(path, EditedFiles(pause=lambda _: save_in_place(path, b"whole"))) == b"whole"


def read_whole(path: Path, files: EditedFiles) -> bytes | None:
    def attempt() -> bytes | None:
        content = path.read_bytes() if path.exists() else None
        if content != b"whole" and files.may_be_half_written(path):
            raise FileChanged
        return content

    return files.retry_until_kept(attempt)


def test_a_program_that_saves_all_the_time_wins(path: Path) -> None:
    edited = files()

    def attempt() -> None:
        based_on = digest_of_bytes(path.read_bytes())
        save_in_place(path, path.read_bytes() + b"1")
        edited.replace(path, b"+", based_on=based_on)

    with pytest.raises(FileChanged):
        edited.retry_until_kept(attempt)
    assert path.read_bytes() == b"0" + b"1" * (MOST_TRIES + 1)


# moving away


@pytest.mark.posix
def test_a_file_that_cannot_be_used_is_moved_away_and_its_link_stays(path: Path) -> None:
    link, place = path.with_name("link"), path.with_name("broken")
    link.symlink_to(path)
    files().move_away(link, place, based_on=digest_of_bytes(b"0"))
    assert (link.is_symlink(), path.exists(), place.read_bytes()) == (True, False, b"0")


def test_a_file_that_was_put_right_meanwhile_is_not_moved_away(path: Path) -> None:
    place = path.with_name("broken")
    with pytest.raises(FileChanged):
        files().move_away(path, place, based_on=digest_of_bytes(b"?"))
    assert (path.read_bytes(), place.exists()) == (b"0", False)


@pytest.mark.posix
def test_a_file_that_somebody_is_writing_is_not_moved_away(path: Path) -> None:
    with path.open("ab"), pytest.raises(FileChanged):
        files().move_away(path, path.with_name("broken"), based_on=digest_of_bytes(b"0"))
    assert path.read_bytes() == b"0"


def test_of_two_newer_files_both_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, rename = path.with_name("broken"), os.rename

    def and_then_somebody_saves(source: str, target: str) -> None:
        rename(source, target)
        path.write_bytes(b"2")

    monkeypatch.setattr(os, "rename", and_then_somebody_saves)
    with pytest.raises(FileChanged):
        files().move_away(path, place, based_on=digest_of_bytes(b"?"))
    assert (path.read_bytes(), place.read_bytes()) == (b"2", b"0")


def test_what_was_there_before_a_change_goes_into_the_history(path: Path) -> None:
    history = FileHistory(path.with_name("history"), clean=lambda content: content)
    edited = EditedFiles(history)
    append(edited, path, b"+")
    append(edited, path.with_name("new"), b"+")
    assert [each.read_bytes() for each in history.versions(path)] == [b"0"]
    assert history.versions(path.with_name("new")) == []


@SAVES
def test_a_save_while_the_new_content_is_being_written_is_kept(path: Path, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync, saves = os.fsync, iter([lambda: save(path, b"theirs")])

    def saved_meanwhile(descriptor: int) -> None:
        next(saves, lambda: None)()
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", saved_meanwhile)
    append(files(), path, b"1")
    assert path.read_bytes() == b"theirs1"


@pytest.fixture
def history(tmp_path: Path) -> FileHistory:
    return FileHistory(tmp_path / "history", clean=lambda content: content.replace(b"key", b"..."))


FILE, OTHER = Path("/one/settings.json"), Path("/other/settings.json")


def kept(history: FileHistory, path: Path = FILE) -> list[bytes]:
    return [each.read_bytes() for each in history.versions(path)]


def test_versions_around_the_end_of_a_second_stay_in_order(tmp_path: Path) -> None:
    moments = iter([1_999_999_999, 2_000_000_000, 2_000_000_001])
    history = FileHistory(tmp_path / "history", clean=lambda content: content, clock=lambda: next(moments))
    for content in (b"a", b"b", b"c"):
        history.save(FILE, content)
    assert kept(history) == [b"a", b"b", b"c"]


def test_the_last_versions_of_each_file_are_kept_for_the_person_alone(history: FileHistory, tmp_path: Path) -> None:
    assert kept(history) == []
    for number in range(VERSIONS + 3):
        history.save(FILE, b"%d" % number)
    history.save(OTHER, b"other")
    assert kept(history) == [b"%d" % number for number in range(3, VERSIONS + 3)]
    assert kept(history, OTHER) == [b"other"]
    assert has_mode(tmp_path / "history", 0o700)
    assert all(has_mode(each, 0o600) for each in history.versions(FILE))


def test_the_same_content_is_kept_once_and_secrets_are_not(history: FileHistory) -> None:
    history.save(FILE, b"a key")
    history.save(FILE, b"a key")
    assert kept(history) == [b"a ..."]


def test_what_is_too_large_or_not_understood_is_not_kept(tmp_path: Path, history: FileHistory) -> None:
    history.save(FILE, b"x" * (MOST_BYTES + 1))
    FileHistory(tmp_path / "history", clean=lambda _: None).save(FILE, b"x")
    assert kept(history) == []


def test_of_all_files_together_the_oldest_versions_go_first(history: FileHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited_files, "MOST_FILES", 2)
    for path in (OTHER, FILE, Path("/a")):
        history.save(path, b"x")
    assert (kept(history, OTHER), kept(history), kept(history, Path("/a"))) == ([], [b"x"], [b"x"])


def test_a_disk_that_takes_nothing_stops_no_change(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "history").write_text("in the way")
    with caplog.at_level(logging.INFO):
        FileHistory(tmp_path / "history", clean=lambda content: content).save(FILE, b"x")
    assert "was not saved" in caplog.text


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    return one, other


def test_two_files_change_places(pair: tuple[Path, Path]) -> None:
    one, other = pair
    assert exchange(str(one), str(other))
    assert (one.read_text(), other.read_text()) == ("2", "1")


def test_a_file_that_is_not_there_is_an_error(pair: tuple[Path, Path]) -> None:
    one, other = pair
    other.unlink()
    with pytest.raises(FileNotFoundError):
        exchange(str(one), str(other))
    assert one.read_text() == "1"


def test_a_file_system_that_cannot_do_it_is_said(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(renameat2=lambda *_: -1))
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EINVAL)
    assert not exchange(*map(str, pair))


def test_a_file_is_open_for_writing_while_somebody_may_write_into_it(pair: tuple[Path, Path]) -> None:
    file, _ = pair
    with file.open("rb"):
        assert not is_open_for_writing(str(file))
    with file.open("ab"):
        assert is_open_for_writing(str(file))
    assert not is_open_for_writing(str(file))


def test_where_the_system_does_not_know_nobody_writes(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_leases(*_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(fcntl, "fcntl", no_leases)
    with pair[0].open("ab"):
        assert not is_open_for_writing(str(pair[0]))


def test_the_signal_that_tells_of_the_end_of_a_lease_ends_no_process() -> None:
    assert signal.getsignal(signal.SIGURG) is signal.SIG_DFL  # which ignores it
