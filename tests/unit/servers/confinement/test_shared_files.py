"""shared_files.py"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

from tooltray.servers.confinement.shared_files import SMALLEST_BYTES, SharedFiles

pytestmark = pytest.mark.posix  # elsewhere nothing is shared

LARGE = b"x" * SMALLEST_BYTES
Make = Callable[..., Path]


@pytest.fixture
def store(tmp_path: Path) -> SharedFiles:
    return SharedFiles(tmp_path / "store")


@pytest.fixture
def made(tmp_path: Path) -> Make:
    """Makes a file in the folder of a server."""

    def make(name: str, content: bytes = LARGE, mode: int = 0o644) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
        return file

    return make


def links(file: Path) -> int:
    return file.stat().st_nlink


def stored(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "store").iterdir())


def test_equal_files_of_servers_are_one_and_go_with_the_last_server(tmp_path: Path, store: SharedFiles, made: Make) -> None:
    first, second, third = (made(f"{server}/x.js") for server in "abc")
    store.share(map(str, (first, second)))
    store.share([str(third), str(third)])
    assert first.samefile(second)
    assert first.samefile(third)
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    first.unlink()
    second.unlink()
    store.delete_unused()
    assert (links(third), third.read_bytes()) == (2, LARGE)
    third.unlink()
    store.delete_unused()
    assert stored(tmp_path) == []


def test_what_differs_in_content_or_mode_is_not_shared(store: SharedFiles, made: Make) -> None:
    files = [made("a/x"), made("b/x", LARGE + b"y"), made("c/x", mode=0o755)]
    store.share(map(str, files))
    assert [links(file) for file in files] == [2, 2, 2], "each with the store alone"
    assert [file.stat().st_mode & 0o777 for file in files] == [0o644, 0o644, 0o755]


def test_small_files_links_pipes_and_what_python_has_compiled_stay_a_servers_own(tmp_path: Path, store: SharedFiles, made: Make) -> None:
    small, compiled, source = made("a/small", LARGE[1:]), made("a/x.py"), made("b/x.py")
    (tmp_path / "a" / "__pycache__").mkdir()
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(source)
    os.mkfifo(pipe)
    store.share(map(str, (small, compiled, source, link, pipe, tmp_path / "gone")))
    assert (links(small), links(compiled), links(source)) == (1, 1, 2)
    assert link.is_symlink()
    assert len(stored(tmp_path)) == 1


def test_a_damaged_file_of_the_store_is_given_to_no_other_server(tmp_path: Path, store: SharedFiles, made: Make) -> None:
    first, second = made("a/x"), made("b/x")
    store.share([str(first)])
    first.write_bytes(b"")
    store.share([str(second)])
    assert (second.read_bytes(), links(second), links(first)) == (LARGE, 2, 1)
    [kept] = stored(tmp_path)
    kept.chmod(0o600)
    store.share([str(third := made("c/x"))])
    assert third.stat().st_mode & 0o777 == 0o644


def test_a_kill_between_link_and_rename_leaves_both_files_whole(
    tmp_path: Path, store: SharedFiles, made: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = made("a/x"), made("b/x")
    store.share([str(first)])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            store.share([str(second)])
    assert (second.read_bytes(), links(second), first.read_bytes()) == (LARGE, 1, LARGE)
    again = SharedFiles(tmp_path / "store")
    again.share([str(second)])
    assert second.samefile(first)
    first.unlink()
    second.unlink()
    again.delete_unused()
    assert stored(tmp_path) == []


def test_two_installations_at_once_share_all_their_files(
    tmp_path: Path, store: SharedFiles, made: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = (made(f"{server}/x") for server in "abc")
    store.share([str(first)])
    link, at_work = os.link, Barrier(2)

    def link_with_another(*paths: str) -> None:
        link(*paths)
        with suppress(BrokenBarrierError):
            at_work.wait(0.2)  # the other one does not come as far, so this goes on

    monkeypatch.setattr(os, "link", link_with_another)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(store.share, ([str(each)] for each in others)))
    assert all(first.samefile(each) for each in others)


def test_where_no_link_can_be_made_files_stay(tmp_path: Path, store: SharedFiles, made: Make) -> None:
    (tmp_path / "store").touch()
    store.share([str(file := made("a/x"))])
    store.delete_unused()
    assert (links(file), file.read_bytes()) == (1, LARGE)


def test_files_are_separated_for_a_server_that_may_change_them(tmp_path: Path, store: SharedFiles, made: Make) -> None:
    first, second, own = made("a/x", mode=0o755), made("b/x", mode=0o755), made("b/own")
    os.utime(first, (1, 1))
    store.share(map(str, (first, second)))
    (tmp_path / "b" / "link").symlink_to(first)
    before = own.stat().st_ino
    store.separate(tmp_path / "b")
    second.write_bytes(b"changed")
    assert first.read_bytes() == LARGE
    assert (links(second), second.stat().st_mode & 0o777, own.stat().st_ino) == (1, 0o755, before)
    assert (tmp_path / "b" / "link").is_symlink()


def test_a_full_disk_separates_nothing_and_damages_nothing(
    tmp_path: Path, store: SharedFiles, made: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = made("a/x"), made("b/x")
    store.share(map(str, (first, second)))

    def is_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy2", is_full)
    with pytest.raises(OSError, match="No space"):
        store.separate(tmp_path / "b")
    assert second.samefile(first)
    assert second.read_bytes() == LARGE
