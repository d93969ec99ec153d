import os
from pathlib import Path

from tooltray.foundation.home import user_posix


def test_the_user_database_gives_a_folder_and_a_shell() -> None:
    assert os.path.isabs(user_posix.home_folder())
    assert os.path.isabs(user_posix.login_shell())


def test_a_file_is_no_private_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert user_posix.reason_not_private(tmp_path / "file") == "it is not a folder"


def test_a_folder_of_ones_own_is_private_even_if_others_may_read_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert user_posix.reason_not_private(tmp_path) == ""
