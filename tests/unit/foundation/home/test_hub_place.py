"""hub_place.py"""

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home import hub_place
from tooltray.foundation.home.home import Home
from tooltray.foundation.home.hub_place import HubLock, HubPlace, HubRunning

HOLDER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tooltray.foundation.home.hub_place import HubLock
lock = HubLock(Path(sys.argv[2]))
print(lock.try_take(), flush=True)
sys.stdin.read()
"""
DESKTOP = Path(hub_place.__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.lock"


@pytest.fixture
def holder(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that has the lock."""
    with subprocess.Popen(
        [sys.executable, "-I", "-c", HOLDER, str(DESKTOP), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def test_one_has_it_at_a_time_and_it_can_be_taken_again(path: Path) -> None:
    first, second = HubLock(path), HubLock(path)
    assert first.try_take()
    assert not second.try_take()
    first.release()
    assert second.try_take()
    assert not first.try_take()
    second.release()


def test_who_has_it_cannot_take_it_twice_and_still_has_it(path: Path) -> None:
    lock, other = HubLock(path), HubLock(path)
    assert lock.try_take()
    assert not lock.try_take()
    assert not other.try_take()
    lock.release()
    assert other.try_take()
    other.release()


def test_releasing_twice_or_what_was_never_taken_does_nothing(path: Path) -> None:
    lock = HubLock(path)
    lock.release()
    assert lock.try_take()
    lock.release()
    lock.release()
    assert path.exists()


def test_the_file_is_for_this_user_alone_and_stays(path: Path) -> None:
    lock = HubLock(path)
    lock.try_take()
    assert has_mode(path, 0o600)
    lock.release()
    assert path.exists()


def test_a_file_that_is_there_already_is_no_lock(path: Path) -> None:
    path.write_text("of a hub that was killed")
    lock = HubLock(path)
    assert lock.try_take()
    lock.release()
    assert path.read_text() == "of a hub that was killed"


def test_another_process_keeps_it_as_long_as_it_lives_however_it_ends(path: Path, holder: "subprocess.Popen[str]") -> None:
    lock = HubLock(path)
    assert not lock.try_take()
    holder.kill()
    holder.wait()
    assert lock.try_take()
    lock.release()


def test_a_child_does_not_inherit_it(path: Path) -> None:
    lock = HubLock(path)
    assert lock.try_take()
    waiting = [sys.executable, "-I", "-c", "import sys; print(flush=True); sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False) as child:
        assert child.stdout is not None
        child.stdout.readline()  # it runs its own program now
        lock.release()
        other = HubLock(path)
        assert other.try_take()
        other.release()
        child.kill()


def test_trying_leaves_no_descriptor_behind(path: Path) -> None:
    lock, other = HubLock(path), HubLock(path)
    before = len(os.listdir("/proc/self/fd"))
    assert lock.try_take()
    for _ in range(3):
        assert not other.try_take()
    lock.release()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_path_that_cannot_be_opened_is_an_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(OSError, match=r"Is a directory|Permission denied"):
        HubLock(path).try_take()
    with pytest.raises(FileNotFoundError):
        HubLock(path / "no" / "folder").try_take()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.prepare()
    return home


@pytest.fixture
def place(home: Home) -> Iterator[HubPlace]:
    place = HubPlace(home)
    place.take()
    yield place
    place.release()


def test_who_comes_second_is_told_who_is_there(home: Home, place: HubPlace) -> None:
    place.publish(http=None)
    with pytest.raises(HubRunning) as refusal:
        HubPlace(home).take()
    assert refusal.value.pid == os.getpid()


def test_who_comes_second_learns_of_the_other_machine_that_has_this_home_on_a_network_disk(home: Home, place: HubPlace) -> None:
    home.hub_json.write_text(json.dumps({"pid": 7, "host": "elsewhere.example"}))
    with pytest.raises(HubRunning) as refusal:
        HubPlace(home).take()
    assert (refusal.value.machine, refusal.value.problem.message) == ("elsewhere.example", "on elsewhere.example")
    assert "--home" in refusal.value.problem.hint


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{}", b'{"pid": "1"}'])
def test_who_comes_second_is_refused_also_if_nobody_can_say_who_is_there(home: Home, place: HubPlace, content: bytes | None) -> None:
    if content is not None:
        home.hub_json.write_bytes(content)
    with pytest.raises(HubRunning) as refusal:
        HubPlace(home).take()
    assert refusal.value.pid == 0


def test_others_can_read_who_is_here_and_where(home: Home, place: HubPlace) -> None:
    place.publish(http="http://127.0.0.1:1", kind="serve")
    told = json.loads(home.hub_json.read_bytes())
    where = {"host": socket.gethostname(), "socket": str(home.socket), "control": str(home.control_socket)}
    assert told == {"pid": os.getpid(), **where, "http": "http://127.0.0.1:1", "kind": "serve"}


@pytest.mark.expected_warnings("could not be written")
def test_a_place_that_cannot_be_told_is_held_all_the_same(home: Home, place: HubPlace) -> None:
    home.hub_json.mkdir()
    place.publish()
    with pytest.raises(HubRunning):
        HubPlace(home).take()
    home.hub_json.rmdir()


@pytest.mark.posix
def test_what_is_given_back_leaves_nothing_and_can_be_taken_again(home: Home, place: HubPlace) -> None:
    place.publish()
    home.socket.touch()
    home.control_socket.touch()
    place.release()
    assert os.listdir(home.run) == ["hub.lock"]
    place.release()
    successor = HubPlace(home)
    successor.take()
    successor.release()


def test_the_folder_of_a_socket_that_stands_elsewhere_goes_too(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long" * 30))
    home.prepare()
    assert home.socket.parent != home.run
    place = HubPlace(home)
    place.take()
    place.publish()
    place.release()
    assert not home.socket.parent.exists()


def test_a_lock_that_cannot_be_opened_is_told(home: Home) -> None:
    home.lock.mkdir()
    with pytest.raises(TooltrayError, match="Tooltray's lock cannot be taken"):
        HubPlace(home).take()


@pytest.mark.posix
def test_a_removed_run_folder_makes_no_second_hub(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    first, second = HubPlace(home), HubPlace(home)
    first.take()
    shutil.rmtree(home.run)
    home.prepare()
    with pytest.raises(HubRunning) as caught:
        second.take()
    assert "was removed" in caught.value.problem.hint
    first.release()
    second.take()
    second.release()


@pytest.mark.posix
def test_a_disk_that_does_not_lock_folders_has_a_hub_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    fcntl = pytest.importorskip("fcntl")
    flock = fcntl.flock

    def of_files_alone(descriptor: int, operation: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", of_files_alone)
    place = HubPlace(home)
    place.take()
    with pytest.raises(HubRunning):
        HubPlace(home).take()
    place.release()
