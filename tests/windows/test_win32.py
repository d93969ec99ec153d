"""What the product takes from Windows itself: access lists, pipes, jobs, locks, files that are read while replaced, the keyring."""

import asyncio
import ctypes
import os
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import psutil
import pytest
from tests.windows.world import PATIENCE_S

from tooltray.carriers.control import local_windows
from tooltray.carriers.control.local_windows import accept_at
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.home import user_windows
from tooltray.foundation.home.home import find_home
from tooltray.foundation.home.hub_place import HubLock
from tooltray.foundation.platform.win32 import pipes, processes, security
from tooltray.records.log.log_files import open_to_append
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily, command_line
from tooltray_bridge import paths_windows, relay_windows

IS_WINE = hasattr(ctypes.WinDLL("ntdll"), "wine_get_version")


@pytest.fixture
def pipe() -> str:
    return rf"\\.\pipe\tooltray-test-{uuid.uuid4().hex}"


def test_a_home_that_is_made_is_the_users_alone(tmp_path: Path) -> None:
    home = find_home(str(tmp_path / "home"))
    home.prepare()

    assert security.reason_not_private(home.root) == ""
    assert security.reason_not_private(home.run) == ""


def test_a_folder_of_the_whole_computer_is_nobodys_own() -> None:
    assert "other users" in security.reason_not_private(Path(os.environ["SYSTEMDRIVE"] + "\\"))


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert security.reason_not_private(tmp_path / "file") == "it is not a folder"


@pytest.mark.parametrize("home", [r"C:\Users\Ann\.tooltray", "C:/Users/ann/.TOOLTRAY/", r"C:\users\x\..\ANN\.tooltray"])
def test_bridge_and_hub_find_the_same_pipe_for_each_spelling_of_a_home(home: str) -> None:
    ours = paths_windows.socket_path(paths_windows.find_home(home, {}))

    assert ours == str(find_home(home).socket)
    assert ours == paths_windows.socket_path(r"C:\Users\ann\.tooltray")
    assert ours != paths_windows.socket_path(r"C:\Users\bob\.tooltray")


def test_the_users_folder_is_userprofile_and_never_home() -> None:
    environ = {"USERPROFILE": r"C:\Users\ann", "HOME": r"C:\git"}

    assert str(find_home(None, environ).root) == paths_windows.find_home(None, environ) == r"C:\Users\ann\.tooltray"
    assert paths_windows.find_home("~/x", environ) == str(find_home("~/x", environ).root) == r"C:\Users\ann\x"
    with pytest.raises(KeyError):
        paths_windows.find_home(None, {"HOME": r"C:\git"})


def test_both_ends_of_a_pipe_know_whose_the_other_is(pipe: str) -> None:
    end = pipes.listening_end(pipe, is_first=True)
    other = pipes.connect(pipe, 1.0)

    assert pipes.is_of_this_user(other)
    assert pipes.peer_of(end) == (os.getpid(), True)


@pytest.mark.skipif(IS_WINE, reason="Wine 8 takes a second first instance")
def test_a_name_that_another_program_has_taken_is_not_used(pipe: str) -> None:
    pipes.listening_end(pipe, is_first=True)
    with pytest.raises(PermissionError):
        pipes.listening_end(pipe, is_first=True)


def test_nobody_listens_at_a_name_that_is_free(pipe: str) -> None:
    assert local_windows.connect(Path(pipe), 0.1) is None


async def test_more_peers_than_ends_are_waiting_are_all_taken(pipe: str) -> None:
    got: list[bytes] = []

    class Peer(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            got.append(data)
            self.transport.write(data)  # type: ignore[attr-defined]

    stop_accepting = accept_at(Path(pipe), Peer, too_many=b"", kept=1)
    channels = []

    def talk(number: int) -> bytes:
        channel = local_windows.connect(Path(pipe), PATIENCE_S)
        assert channel
        channels.append(channel)
        channel.settimeout(PATIENCE_S)
        channel.sendall(b"%d" % number)
        return channel.recv(100)

    answers = await asyncio.gather(*(asyncio.to_thread(talk, number) for number in range(30)))

    assert sorted(answers) == sorted(b"%d" % number for number in range(30))
    stop_accepting()
    stop_accepting()
    for channel in channels:
        channel.close()


def test_a_read_that_takes_too_long_ends_and_so_does_one_that_is_shut_down(pipe: str) -> None:
    pipes.listening_end(pipe, is_first=True)
    channel = local_windows.connect(Path(pipe), 1.0)
    assert channel
    channel.settimeout(0.01)
    with pytest.raises(TimeoutError):
        channel.recv(10)

    channel.settimeout(None)
    threading.Timer(0.01, channel.shutdown, (2,)).start()
    with pytest.raises(OSError):
        channel.recv(10)
    channel.close()


def test_a_lock_is_one_processes_alone_and_goes_with_it(tmp_path: Path) -> None:
    lock = HubLock(tmp_path / "lock")
    program = "import sys, pathlib, tooltray.foundation.home.hub_place as l; print(l.HubLock(pathlib.Path(sys.argv[1])).try_take())"
    take = [sys.executable, "-c", program, str(tmp_path / "lock")]

    assert lock.try_take()
    assert subprocess.run(take, capture_output=True, check=True).stdout.strip() == b"False"
    lock.release()
    assert subprocess.run(take, capture_output=True, check=True).stdout.strip() == b"True"
    assert lock.try_take()
    lock.release()


def test_a_file_that_somebody_reads_is_replaced_as_soon_as_they_are_done(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    reading = path.open("rb")
    threading.Timer(0.2, reading.close).start()

    write_atomically(path, b"new")

    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["settings.json"]


def test_whether_a_process_runs_is_asked_without_sending_it_anything() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    assert processes.is_running(child.pid)
    assert not processes.wait_for_end(child.pid, 0.0)
    assert os.getpid() in processes.line_of(child.pid)
    child.communicate(b"\n")
    assert processes.wait_for_end(child.pid, PATIENCE_S)
    assert not processes.is_running(child.pid)


def test_a_family_ends_with_what_its_first_member_started() -> None:
    program = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()']).pid, flush=True); input()"
    leader = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **START_OPTIONS)
    family = ProcessFamily(leader.pid)
    assert leader.stdout
    child = int(leader.stdout.readline())

    family.kill()

    leader.wait(PATIENCE_S)
    assert processes.wait_for_end(child, PATIENCE_S)
    family.end_stragglers()
    leader.communicate()


def test_the_registrys_environment_has_what_every_program_needs() -> None:
    names = {name.upper() for name in user_windows.environment_of_user()}
    assert {"SYSTEMROOT", "PATH", "USERPROFILE"} <= names


@pytest.mark.parametrize("argument", ["two words", "a&b", "x|y>z", "^", "(a)", "ends with \\", "caf\u00e9"])
def test_a_batch_file_gets_each_argument_as_it_was_given(tmp_path: Path, argument: str) -> None:
    script = tmp_path / "a server.cmd"
    script.write_text(f'@"{sys.executable}" -c "import sys; sys.stdout.buffer.write(sys.argv[1].encode())" %*\r\n')

    (line,) = command_line(str(script), [argument])

    assert subprocess.run(line, shell=True, capture_output=True, check=True).stdout.decode() == argument


def test_a_batch_file_that_would_start_another_program_is_refused(tmp_path: Path) -> None:
    from tooltray.servers.launch.program_launch import CannotStart

    script = tmp_path / "server.cmd"
    script.write_text("@echo %*\r\n")
    with pytest.raises(CannotStart):
        command_line(str(script), ['"&calc.exe'])


def test_a_secret_is_kept_by_windows_own_store() -> None:
    import keyring
    from keyring.backends.Windows import WinVaultKeyring

    keyring.set_keyring(WinVaultKeyring())
    name = f"tooltray-test-{uuid.uuid4().hex}"
    keyring.set_password(name, "a name", "dummy-value \u4f60")
    try:
        assert keyring.get_password(name, "a name") == "dummy-value \u4f60"
    finally:
        keyring.delete_password(name, "a name")
    assert keyring.get_password(name, "a name") is None


def test_no_process_of_these_tests_is_left() -> None:
    assert psutil.Process().children() == []


def test_a_bridge_tells_its_folder_as_it_is_spelled_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project is told by its real path; some clients write `c:` for `C:`, and paths as somebody typed them."""
    folder = tmp_path / "My Work"
    folder.mkdir()
    monkeypatch.chdir(str(folder).lower())
    assert os.fsdecode(relay_windows.working_folder()) == os.path.realpath(folder)


def test_what_several_append_stands_one_behind_the_other(tmp_path: Path) -> None:
    path = tmp_path / "log"
    one, other = open_to_append(path), open_to_append(path)
    for descriptor, line in ((one, b"1\n"), (other, b"2\n"), (one, b"3\n")):
        os.lseek(descriptor, 0, os.SEEK_SET)  # as after a look into it
        os.write(descriptor, line)
    assert os.lseek(one, 0, os.SEEK_SET) == 0
    assert os.read(one, 100) == path.read_bytes() == b"1\n2\n3\n"
    path.unlink()  # one that is old is removed though another process has it open
    os.close(one)
    os.close(other)
