"""servers/upstream/project_folder.py with Windows' own paths: spellings, drive letters, shares, other people's folders."""

import os
from pathlib import Path

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.upstream.project_folder import folder_of_uri, is_inside, own_user, real_folder, why_never_allowed


@pytest.fixture
def project(user: Path) -> Path:
    folder = user / "My Work"
    folder.mkdir()
    return folder


def real(text: str, user: Path) -> str:
    return real_folder(text, home=str(user), user=own_user())


def refusal(text: str, user: Path) -> str:
    with pytest.raises(TooltrayError) as refused:
        real(text, user)
    return refused.value.problem.message


def test_all_spellings_of_a_folder_are_the_one_on_the_disk(user: Path, project: Path) -> None:
    on_disk = os.path.realpath(project)
    for text in (str(project).lower(), str(project).upper(), str(project).replace("\\", "/"), f"{project}\\", f"{project}\\..\\my work"):
        assert real(text, user) == on_disk


def test_a_folder_is_inside_another_one_however_that_is_spelled() -> None:
    assert is_inside("C:\\Work\\a", "c:\\work")
    assert is_inside("C:\\Work", "c:/work")
    assert not is_inside("C:\\Workshop", "c:\\work")


@pytest.mark.parametrize("text", ["\\\\server\\share", "//server/share", "\\\\?\\UNC\\server\\share", "\\\\.\\C:\\"])
def test_what_may_lead_to_another_computer_is_not_looked_at(user: Path, text: str) -> None:
    assert refusal(text, user) == "it is a folder of another computer"


@pytest.mark.parametrize("text", ["work", "\\work", "c:work"])
def test_a_path_without_drive_and_root_is_none(user: Path, text: str) -> None:
    assert refusal(text, user).startswith("it does not begin at the root")


def test_drives_and_folders_of_people_never_are_a_project(user: Path, project: Path) -> None:
    other = user.parent / "another user"
    other.mkdir()
    assert refusal("c:\\", user) == "it is the root of the file system"
    assert refusal(str(user).upper(), user) == "it is the home folder itself"
    assert refusal(str(user.parent), user) == "the home folder is in it"
    assert refusal(str(other), user) == "it belongs to another user"
    assert why_never_allowed("c:\\users", str(user))
    assert why_never_allowed(str(project).lower(), str(user)) == ""


def test_roots_of_clients_are_read_as_paths() -> None:
    assert folder_of_uri("file:///C:/a%20b/c") == folder_of_uri("file:///C%3A/a%20b/c") == "C:\\a b\\c"
    assert folder_of_uri("file://server/share") == ""
