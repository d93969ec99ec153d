"""Where the hub's socket is: the bridge's own copy of the rules. tests/contract holds them together with the hub's."""

import os
import pwd
from pathlib import Path

import pytest

from tooltray_bridge import paths_posix as paths


def test_a_home_named_on_the_command_line_comes_first() -> None:
    assert paths.find_home("/given", {b"TOOLTRAY_HOME": b"/variable", b"HOME": b"/home/me"}) == b"/given"


def test_the_variable_comes_before_the_users_folder() -> None:
    assert paths.find_home(None, {b"TOOLTRAY_HOME": b"/variable", b"HOME": b"/home/me"}) == b"/variable"


def test_without_either_it_is_in_the_users_folder() -> None:
    assert paths.find_home(None, {b"HOME": b"/home/me", b"TOOLTRAY_HOME": b""}) == b"/home/me/.tooltray"


@pytest.mark.parametrize("home", [None, b"", b"relative"])
def test_without_a_usable_home_variable_the_user_database_is_asked(home: bytes | None) -> None:
    folder = os.fsencode(pwd.getpwuid(os.getuid()).pw_dir)

    assert paths.find_home(None, {} if home is None else {b"HOME": home}) == folder + b"/.tooltray"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("~", b"/home/me"),
        ("~/x", b"/home/me/x"),
        ("~other/x", os.fsencode(Path.cwd()) + b"/~other/x"),
        ("/a//b/../c/./d/", b"/a/c/d"),
        ("sub", os.fsencode(Path.cwd()) + b"/sub"),
        ("/caf\udce9", b"/caf\xe9"),
    ],
)
def test_a_home_is_made_absolute_and_tidy_and_a_tilde_is_the_users_folder(given: str, meant: bytes) -> None:
    assert paths.find_home(given, {b"HOME": b"/home/me"}) == meant


def test_a_socket_is_in_the_home_as_long_as_its_path_may_be() -> None:
    home = b"/" + b"x" * (100 - len(b"/run/hub.sock") - 1)

    assert paths.socket_path(home) == home + b"/run/hub.sock"


def test_a_longer_path_leads_to_a_folder_of_the_users_own_named_after_the_home() -> None:
    home = b"/" + b"x" * 100

    path = paths.socket_path(home)

    assert path.startswith(b"/run/user/%d/tooltray-" % os.getuid())
    assert path.endswith(b"/hub.sock")
    assert len(path) < 100
    assert path != paths.socket_path(home + b"y")


@pytest.mark.parametrize(("mode", "is_private"), [(0o700, True), (0o755, True), (0o720, False), (0o702, False), (0o1777, False)])
def test_a_folder_is_private_if_nobody_else_can_write_to_it(home: Path, mode: int, is_private: bool) -> None:
    home.chmod(mode)

    assert paths.is_private(os.fsencode(home)) is is_private


def test_a_link_of_ours_to_a_folder_of_ours_is_as_private_as_the_folder(home: Path) -> None:
    (home / "link").symlink_to(home)
    home.chmod(0o700)

    assert paths.is_private(os.fsencode(home / "link"))


def test_what_is_not_there_cannot_be_looked_at(home: Path) -> None:
    with pytest.raises(FileNotFoundError):
        paths.is_private(os.fsencode(home / "missing"))


def test_a_folder_of_another_user_is_not_private() -> None:
    assert paths.is_private(b"/usr") is (os.getuid() == Path("/usr").stat().st_uid)
