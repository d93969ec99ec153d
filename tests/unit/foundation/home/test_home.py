import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home import user_posix
from tooltray.foundation.home.home import Home, InHome, find_home


def foreign_folder(tmp_path: Path) -> Path:
    """A folder that belongs to somebody else."""
    if os.getuid() != 0:
        return Path("/")
    folder = tmp_path / "foreign"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    return folder


def test_the_argument_comes_before_the_variable_and_the_variable_before_home() -> None:
    environ = {"TOOLTRAY_HOME": "/variable", "HOME": "/person"}
    assert find_home("/argument", environ).root == Path("/argument")
    assert find_home(None, environ).root == Path("/variable")
    assert find_home(None, {"HOME": "/person"}).root == Path("/person/.tooltray")


def test_empty_strings_count_as_absent() -> None:
    assert find_home("", {"TOOLTRAY_HOME": "", "HOME": "/person"}).root == Path("/person/.tooltray")


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_usable_home_the_user_database_decides(environ: dict[str, str]) -> None:
    assert find_home(None, environ).root == Path(os.path.expanduser("~" + os.environ.get("USER", "root"))) / ".tooltray"


def test_a_tilde_stands_for_the_users_folder() -> None:
    assert find_home("~/trays", {"HOME": "/person"}).root == Path("/person/trays")
    assert find_home(None, {"HOME": "/person", "TOOLTRAY_HOME": "~"}).root == Path("/person")


def test_the_root_is_absolute_and_tidy_and_links_stay() -> None:
    assert find_home("here/../there//x/", {}).root == Path.cwd() / "there/x"


def test_a_user_that_nobody_knows_gets_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    with pytest.raises(TooltrayError, match="HOME is not set") as caught:
        find_home(None, {})
    assert "--home" in caught.value.problem.hint


def test_everything_is_inside_the_root() -> None:
    home = Home(Path("/h"))
    paths = [home.settings, home.secrets_file, home.secret_names, home.homes, home.names, home.eras, home.catalogue, home.logs]
    paths += [home.feedback]
    paths += [home.registries, home.grants]
    running = [home.socket, home.control_socket, home.lock, home.hub_json, home.desktop_json, home.start_lock]
    assert {path.parent for path in paths} == {Path("/h")}
    assert {path.parent for path in running} == {Path("/h/run")} == {home.run}
    assert len({*paths, *running}) == 17


def test_a_socket_path_of_100_bytes_stays_in_the_home_and_a_longer_one_moves() -> None:
    longest = "/" + "x" * (100 - len("//run/hub.sock"))
    assert Home(Path(longest)).socket == Path(longest) / "run/hub.sock"
    moved = Home(Path(longest + "x")).socket
    assert not moved.is_relative_to(longest)
    assert len(os.fsencode(moved)) < 100


def test_the_control_socket_is_beside_the_other_one_also_where_its_own_path_is_longer() -> None:
    longest = Path("/" + "x" * (100 - len("//run/hub.sock")))
    assert Home(longest).control_socket == longest / "run/control.sock"
    moved = Home(Path(f"{longest}x"))
    assert (moved.control_socket.parent, moved.control_socket.name) == (moved.socket.parent, "control.sock")


def test_characters_of_several_bytes_count_as_bytes() -> None:
    root = Path("/" + "家" * 40)
    assert not Home(root).socket.is_relative_to(root)


def test_two_long_homes_have_two_sockets() -> None:
    assert Home(Path("/" + "x" * 200)).socket != Home(Path("/" + "y" * 200)).socket


def test_prepare_makes_private_folders(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "home")
    home.prepare()
    home.prepare()
    assert home.root.stat().st_mode & 0o777 == 0o700
    assert home.run.stat().st_mode & 0o777 == 0o700


def test_prepare_makes_the_folder_of_a_socket_outside_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path / ("x" * 150))
    try:
        home.prepare()
        assert home.socket.parent.stat().st_mode & 0o777 == 0o700
    finally:
        home.remove_sockets()
    assert not home.socket.parent.exists()


def test_a_socket_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_posix, "RUNTIME_FOLDERS", str(tmp_path / "none"))
    monkeypatch.setattr(user_posix, "SHARED_FOLDER", str(tmp_path / "none"))
    with pytest.raises(TooltrayError, match="No such file"):
        Home(tmp_path / ("x" * 150)).prepare()


def test_a_home_below_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TooltrayError, match=str(tmp_path / "file/home")):
        Home(tmp_path / "file/home").prepare()


def test_a_home_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TooltrayError, match="File exists"):
        Home(tmp_path / "file").prepare()


def test_a_home_that_others_can_write_is_refused_and_not_touched(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(TooltrayError, match="other users may write") as caught:
        Home(tmp_path).prepare()
    assert "chmod 700" in caught.value.problem.hint
    assert tmp_path.stat().st_mode & 0o777 == 0o777


def test_a_home_of_another_user_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TooltrayError, match="belongs to another user"):
        Home(foreign_folder(tmp_path)).prepare()


def test_a_home_may_be_a_link_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    home = Home(tmp_path / "link")
    home.prepare()
    assert (tmp_path / "real/run").is_dir()


OWN_PATHS = sorted(name for name, member in vars(Home).items() if isinstance(member, InHome))


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


def put_folder_with_a_file(path: Path) -> None:
    path.mkdir()
    (path / "of somebody").write_text("kept")


def put_looping_link(path: Path) -> None:
    path.symlink_to(path)


def put_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def put_link_into_nowhere(path: Path) -> None:
    path.symlink_to("/nonexistent/folder/file")


@pytest.mark.parametrize("put", [put_pipe, put_folder_with_a_file, put_looping_link, put_link_to_a_device, put_link_into_nowhere])
@pytest.mark.parametrize("name", OWN_PATHS)
def test_what_is_in_the_place_of_a_file_is_set_aside_with_a_message(name: str, put: Callable[[Path], None], tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    path: Path = getattr(home, name)
    path.parent.mkdir(mode=0o700, parents=True)
    (home.root).chmod(0o700)
    is_folder = not path.suffix and name != "http_token"
    if is_folder and put is put_folder_with_a_file:
        put = put_pipe
    put(path)

    said = home.prepare()

    asides = [each for each in path.parent.iterdir() if ".broken-" in each.name]
    assert len(asides) == 1
    assert [str(path) in problem.message and asides[0].name in problem.message for problem in said] == [True]
    assert path.is_dir() if path == home.run else not os.path.lexists(path)
    assert home.prepare() == ()


def test_a_link_to_a_file_that_is_yet_to_be_made_stays(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    home.settings.symlink_to(tmp_path / "dotfiles.json")
    assert home.prepare() == ()
    assert home.settings.is_symlink()


def test_a_file_in_the_place_of_a_folder_is_set_aside(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    home.catalogue.write_text("")
    [said] = home.prepare()
    assert "it is not a folder" in said.message


@pytest.mark.parametrize(
    "name", ["activity.db-wal", "audit-000000001.jsonl", "audit.json", "logs/tooltray.jsonl", "results/x.json", "run/watches/files.jsonl"]
)
def test_pipes_in_the_place_of_further_files_are_set_aside(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    path = home.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    [said] = home.prepare()
    assert f"{path}: it is not a file, but a pipe or a device" in said.message
    assert not path.exists()


def test_other_files_in_a_home_are_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    os.mkfifo(home.root / "of-another-program")
    assert home.prepare() == ()


def test_what_cannot_be_renamed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    os.mkfifo(home.settings)

    def refuse(path: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    [said] = home.prepare()
    assert "cannot be renamed" in said.message
    assert said.hint == "Remove it."


def test_the_mark_of_an_uninstall_says_what_it_is_for_and_goes_without_a_word_if_it_can(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.unmark_removed()
    home.mark_removed()
    assert "keeps AI clients" in home.removed.read_text()
    home.unmark_removed()
    assert not home.removed.exists()
    home.removed.mkdir()
    home.unmark_removed()
    assert home.removed.is_dir()
