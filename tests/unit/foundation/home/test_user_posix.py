"""user_posix.py"""

import errno
import os
import socket
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.home import user_posix
from tooltray.foundation.home.home import Home
from tooltray.foundation.home.user_posix import find_socket, link_old_place, make_outside_folder, remove_outside_folder, takes_sockets


def test_the_user_database_gives_a_folder_and_a_shell() -> None:
    assert os.path.isabs(user_posix.home_folder())
    assert os.path.isabs(user_posix.login_shell())


def test_a_file_is_no_private_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert user_posix.reason_not_private(tmp_path / "file") == "it is not a folder"


def test_a_folder_of_ones_own_is_private_even_if_others_may_read_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert user_posix.reason_not_private(tmp_path) == ""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    (root / "run").mkdir(parents=True)
    return root


@pytest.fixture(autouse=True)
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of /tmp and /run/user, of which the second is not there at first."""
    shared = tmp_path / "tmp"
    shared.mkdir()
    monkeypatch.setattr(user_posix, "SHARED_FOLDER", str(shared))
    monkeypatch.setattr(user_posix, "RUNTIME_FOLDERS", str(tmp_path / "user"))
    return shared


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A person's own folder in /run/user."""
    session = tmp_path / "user" / str(os.getuid())
    session.mkdir(parents=True, mode=0o700)
    return session


def old_folder(root: Path, shared: Path) -> Path:
    return shared / find_socket(root).parent.name.replace("tooltray-", f"tooltray-{os.getuid()}-")


def test_in_a_session_it_is_in_the_sessions_own_folder(root: Path, session: Path, shared: Path) -> None:
    make_outside_folder(root, is_recorded=False)
    make_outside_folder(root, is_recorded=False)
    socket = find_socket(root)
    assert (socket.parent.parent, socket.name) == (session, "hub.sock")
    assert has_mode(socket.parent, 0o700)
    assert os.listdir(shared) == os.listdir(root / "run") == []


def test_without_one_it_is_in_a_folder_that_nobody_can_guess_and_the_home_knows(root: Path, shared: Path) -> None:
    make_outside_folder(root, is_recorded=False)
    found = find_socket(root)
    assert (found.parent.parent, found.parent.stat().st_mode & 0o777) == (shared, 0o700)
    assert has_mode(root / user_posix.RECORD, 0o600)
    make_outside_folder(root, is_recorded=False)
    assert find_socket(root) == found
    found.parent.rmdir()
    make_outside_folder(root, is_recorded=False)
    assert find_socket(root) != found


def test_another_user_who_takes_the_name_of_old_versions_blocks_nobody(root: Path, shared: Path) -> None:
    planted = old_folder(root, shared)
    planted.mkdir()
    planted.chmod(0o777)  # for root in a test, as good as another user's
    assert find_socket(root).parent.parent != shared
    make_outside_folder(root, is_recorded=False)
    link_old_place(root)
    assert find_socket(root).parent not in (planted, None)
    assert os.listdir(planted) == []


@pytest.mark.parametrize("spoil", ["mode", "content", "link", "folder"])
def test_a_record_that_others_could_have_written_does_not_count(root: Path, shared: Path, spoil: str) -> None:
    make_outside_folder(root, is_recorded=False)
    record, found = root / user_posix.RECORD, find_socket(root)
    if spoil == "mode":
        record.chmod(0o620)
    elif spoil == "content":
        record.write_text("relative")
    elif spoil == "link":
        record.rename(root / "elsewhere")
        record.symlink_to(root / "elsewhere")
    else:
        found.parent.chmod(0o770)
    assert find_socket(root) != found
    make_outside_folder(root, is_recorded=False)
    assert find_socket(root).parent.parent == shared


def test_a_hub_of_an_older_version_is_found(root: Path, shared: Path) -> None:
    folder = old_folder(root, shared)
    folder.mkdir(mode=0o700)
    assert find_socket(root) == folder / "hub.sock"


def test_older_bridges_find_the_socket_by_a_link(root: Path, shared: Path) -> None:
    folder = old_folder(root, shared)
    make_outside_folder(root, is_recorded=False)
    link_old_place(root)
    link_old_place(root)
    assert os.readlink(folder / "hub.sock") == str(find_socket(root))


@pytest.mark.parametrize("is_in_session", [True, False])
def test_what_was_made_is_removed(root: Path, shared: Path, is_in_session: bool, request: pytest.FixtureRequest) -> None:
    session = request.getfixturevalue("session") if is_in_session else shared
    make_outside_folder(root, is_recorded=False)
    link_old_place(root)
    find_socket(root).touch()
    find_socket(root).with_name("control.sock").touch()
    remove_outside_folder(root)
    remove_outside_folder(root)
    assert os.listdir(shared) == os.listdir(session) == os.listdir(root / "run") == []


@pytest.mark.parametrize(
    ("refusal", "takes"), [(errno.EPERM, False), (errno.EOPNOTSUPP, False), (errno.EADDRINUSE, True), (errno.ENOSPC, True)]
)
def test_a_disk_takes_no_sockets_when_it_says_that_it_has_none(
    root: Path, refusal: int, takes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(refusal, os.strerror(refusal))

    assert takes_sockets(root)
    assert os.listdir(root) == ["run"]
    monkeypatch.setattr(socket, "socket", type("Socket", (socket.socket,), {"bind": refuse}))
    assert takes_sockets(root) is takes


def test_the_sockets_of_a_disk_that_takes_none_are_elsewhere(
    tmp_path: Path, shared: Path, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    inside = home.socket
    monkeypatch.setattr(user_posix, "takes_sockets", lambda _: False)

    home.prepare()
    home.prepare()

    assert inside.parent == home.run
    assert (home.socket.parent.parent, home.socket.name, home.control_socket.parent) == (shared, "hub.sock", home.socket.parent)
    home.remove_sockets()
    assert os.listdir(shared) == os.listdir(home.run) == []
