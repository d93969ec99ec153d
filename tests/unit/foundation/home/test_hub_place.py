"""hub_place.py"""

import errno
import json
import os
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.home.hub_place import HubPlace, HubRunning


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
    place.give_back()


def test_who_comes_second_is_told_who_is_there(home: Home, place: HubPlace) -> None:
    place.tell(http=None)
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
    place.tell(http="http://127.0.0.1:1", kind="serve")
    told = json.loads(home.hub_json.read_bytes())
    where = {"host": socket.gethostname(), "socket": str(home.socket), "control": str(home.control_socket)}
    assert told == {"pid": os.getpid(), **where, "http": "http://127.0.0.1:1", "kind": "serve"}


@pytest.mark.expected_warnings("could not be written")
def test_a_place_that_cannot_be_told_is_held_all_the_same(home: Home, place: HubPlace) -> None:
    home.hub_json.mkdir()
    place.tell()
    with pytest.raises(HubRunning):
        HubPlace(home).take()
    home.hub_json.rmdir()


@pytest.mark.posix
def test_what_is_given_back_leaves_nothing_and_can_be_taken_again(home: Home, place: HubPlace) -> None:
    place.tell()
    home.socket.touch()
    home.control_socket.touch()
    place.give_back()
    assert os.listdir(home.run) == ["hub.lock"]
    place.give_back()
    successor = HubPlace(home)
    successor.take()
    successor.give_back()


def test_the_folder_of_a_socket_that_stands_elsewhere_goes_too(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long" * 30))
    home.prepare()
    assert home.socket.parent != home.run
    place = HubPlace(home)
    place.take()
    place.tell()
    place.give_back()
    assert not home.socket.parent.exists()


def test_a_lock_that_cannot_be_opened_is_told(home: Home) -> None:
    home.lock.mkdir()
    with pytest.raises(TooltrayError, match="the hub's lock cannot be taken"):
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
    first.give_back()
    second.take()
    second.give_back()


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
    place.give_back()
