"""guarded_folders.py: what nobody gives a server by naming it."""

import os
from pathlib import Path

import pytest

from tooltray.servers.confinement.guarded_folders import GuardedFolders, PrivatePlaces, is_in


def guarded_in(tmp_path: Path) -> GuardedFolders:
    home = tmp_path / "me"
    for folder in (".ssh", "notes", ".config/google-chrome", ".tooltray/confined/x", "links"):
        (home / folder).mkdir(parents=True)
    (home / "links" / "out").symlink_to(home / ".ssh")
    return GuardedFolders(str(home), str(home / ".tooltray"))


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "contains all your files"),
        ("~", "contains all your files"),
        ("{home}/..", "contains all your files"),
        ("{home}/notes/..", "contains all your files"),
        ("~/.ssh", "keys and passwords"),
        ("~/.ssh/known_hosts", "keys and passwords"),
        ("~/.aws/credentials", "keys and passwords"),
        ("~/links/out", "keys and passwords"),
        ("~/.config", "a browser's profile"),
        *((path, "all programs share") for path in ("/dev", "/dev/pts/0", "/proc", "/proc/1", "/run", "/run/user", "/run/user/1")),
        ("~/.tooltray", "in Tooltray's own folder"),
        ("~/.tooltray/confined/x/cache", "in Tooltray's own folder"),
    ],
)
def test_what_holds_keys_a_browser_tooltray_or_everything_is_not_given(tmp_path: Path, path: str, why: str) -> None:
    guarded = guarded_in(tmp_path)
    assert why in str(guarded.why_not(path.format(home=guarded.home)))


def test_where_below_it_the_keys_are_is_said(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    assert guarded.why_not("~/.ssh") == "~/.ssh has keys and passwords in it"
    assert str(guarded.why_not("~/.config")).startswith("~/.config has a browser's profile in it (~/.config/")


def test_a_folder_that_holds_tooltrays_home_is_not_given_wherever_that_is(tmp_path: Path) -> None:
    (tmp_path / "data" / "tooltray").mkdir(parents=True)
    guarded = GuardedFolders(str(tmp_path / "me"), str(tmp_path / "data" / "tooltray"))
    assert "Tooltray's own files in it" in str(guarded.why_not(str(tmp_path / "data")))


@pytest.mark.parametrize("path", ["~/notes", "~/links", "/usr/share", "/dev/ttyUSB0", "/run/user/1/gvfs/host", "~/not-there"])
def test_other_folders_are(tmp_path: Path, path: str) -> None:
    assert guarded_in(tmp_path).why_not(path) is None


@pytest.mark.parametrize(
    ("path", "advice"),
    [("~/.config", "folder below it"), ("~/.ssh/id_rsa", "can use another folder"), ("~/.tooltray/confined/x", "can use another folder")],
)
def test_what_to_do_instead_is_something_that_can_be_done(tmp_path: Path, path: str, advice: str) -> None:
    assert advice in str(guarded_in(tmp_path).instead_of(path))


def test_a_folder_with_keys_in_it_is_not_opened_as_a_whole(tmp_path: Path) -> None:
    guarded = guarded_in(tmp_path)
    home = Path(guarded.home)
    for file in ("plain/a", "certs/server.key", ".cache/x"):
        (home / file).parent.mkdir()
        (home / file).touch()
    places = PrivatePlaces(guarded)
    for folder in ("plain", "gone"):
        assert places.may_be_opened(f"{home}/{folder}")
    for folder in (f"{home}/certs", f"{home}/.ssh", f"{home}/.config", f"{home}/.cache", str(home), str(home.parent)):
        assert not places.may_be_opened(folder)
    assert places.may_be_opened("/not/there")
    for folder in ("/", "/etc", "/usr", "/usr/share", "/proc/7/x", "/sys/kernel", "/dev/pts"):
        assert not places.may_be_opened(folder)


def test_folders_are_looked_at_once_until_they_are_to_be_looked_at_again(tmp_path: Path) -> None:
    places, folder = PrivatePlaces(guarded_in(tmp_path)), tmp_path / "new"
    assert (places.is_folder(str(folder)), places.may_be_opened(str(folder))) == (False, True)
    folder.mkdir()
    (folder / "id_rsa").touch()
    assert (places.is_folder(str(folder)), places.may_be_opened(str(folder))) == (False, True)
    places.look_again()
    assert (places.is_folder(str(folder)), places.may_be_opened(str(folder))) == (True, False)


@pytest.mark.parametrize(
    ("name", "is_private"),
    [
        *((name, True) for name in (".env", ".env.local", "id_ed25519", "a.kdbx", "my-key.pem", "credentials", ".ssh/known_hosts")),
        *((name, False) for name in ("env", ".environment", "notes.pem", "credentials.txt", ".ssh2", "notes")),
    ],
)
def test_files_with_keys_are_private_by_their_name_or_their_place(tmp_path: Path, name: str, *, is_private: bool) -> None:
    guarded = guarded_in(tmp_path)
    assert PrivatePlaces(guarded).is_private(f"{guarded.home}/{name}") is is_private


@pytest.mark.parametrize(("path", "inside"), [("/a", True), ("/a/b/c", True), ("/ab", False), ("/b/a", False), ("/", False), ("a", False)])
def test_a_path_is_in_a_folder_by_its_whole_names(path: str, inside: bool) -> None:
    assert is_in(path, {"/a"}) is inside
    assert is_in(path, {"/"}) is path.startswith("/")


def test_a_home_that_is_a_link_is_the_same_home(tmp_path: Path) -> None:
    home = guarded_in(tmp_path).home
    os.symlink(home, tmp_path / "link")
    guarded = GuardedFolders(str(tmp_path / "link"), str(tmp_path / "link" / ".tooltray"))
    assert [bool(guarded.why_not(path)) for path in (home, f"{home}/.ssh", f"{home}/notes")] == [True, True, False]
