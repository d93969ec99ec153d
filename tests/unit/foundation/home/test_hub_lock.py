"""hub_lock.py"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.home import hub_lock
from tooltray.foundation.home.hub_lock import HubLock

HOLDER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tooltray.foundation.home.hub_lock import HubLock
lock = HubLock(Path(sys.argv[2]))
print(lock.try_take(), flush=True)
sys.stdin.read()
"""
DESKTOP = Path(hub_lock.__file__).parents[2]


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
