from pathlib import Path

import pytest

from tooltray.home import user_windows


def test_the_users_folder_is_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USERPROFILE", "C:\\Users\\ann")
    assert user_windows.home_folder() == "C:\\Users\\ann"


def test_there_is_no_login_shell() -> None:
    assert user_windows.login_shell() == ""


def test_each_home_has_a_pipe_of_its_own() -> None:
    one, other = user_windows.socket_path(Path("one")), user_windows.socket_path(Path("other"))
    assert str(one).startswith("\\\\.\\pipe\\tooltray-")
    assert one != other
    assert user_windows.control_path(Path("one")) not in (one, user_windows.control_path(Path("other")))


def test_only_a_folder_can_be_private(tmp_path: Path) -> None:
    assert user_windows.reason_not_private(tmp_path) == ""
    assert user_windows.reason_not_private(tmp_path / "nothing") == "it is not a folder"
