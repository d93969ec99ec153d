"""project_folder.py: which folders may be projects, and how one is called."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.upstream.project_folder import (
    MAX_NAME_LENGTH,
    MAX_PATH_LENGTH,
    NO_OWNER,
    folder_of_uri,
    is_hidden_at_home,
    is_inside,
    own_user,
    owner_of,
    project_name,
    real_folder,
    shown,
    why_never_allowed,
)

pytestmark = pytest.mark.posix  # owners and links; tests/windows has drive letters, shares and spellings

ME, OTHER = 1000, 1001


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """A home folder."""
    home = Path(os.path.realpath(tmp_path)) / "person"
    home.mkdir()
    return home


def real(path: object, home: Path, *, of_other: Path | None = None, knows_owners: bool = True) -> str:
    """What a path leads to, where everything is the person's but what is `of_other`."""

    def owner(folder: str) -> int:
        if not knows_owners:
            return NO_OWNER
        return OTHER if of_other and folder == str(of_other) else ME

    return real_folder(str(path), home=str(home), user=ME, owner=owner)


def refusal(path: object, home: Path, *, of_other: Path | None = None, knows_owners: bool = True) -> str:
    with pytest.raises(TooltrayError) as raised:
        real(path, home, of_other=of_other, knows_owners=knows_owners)
    return raised.value.problem.message


def test_a_folder_may_be_a_project_wherever_it_is(person: Path) -> None:
    for folder in (person / "a", person.parent / "elsewhere", person / "$(x); rm -rf '*' & \"b\"", person / "專案"):
        folder.mkdir()
        assert real(folder, person) == str(folder)


def test_what_counts_is_where_a_path_leads(person: Path) -> None:
    project, link = person / "project", person / "link"
    project.mkdir()
    link.symlink_to(project)
    assert real(link, person) == real(f"{project}/../link/.", person) == str(project)


def test_a_link_or_drive_letter_that_leads_to_another_computer_is_refused(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (person / "mapped").mkdir()
    monkeypatch.setattr(os.path, "realpath", lambda path, strict=False: f"//server{path}")
    monkeypatch.setattr(os.path, "isdir", lambda path: path.startswith("//server"))
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    assert refusal(person / "mapped", person) == "it is a folder of another computer"


def test_paths_that_are_no_absolute_existing_folder_are_refused_with_the_reason(person: Path) -> None:
    (person / "file").write_text("")
    (person / "loop").symlink_to(person / "loop")
    assert refusal("", person) == "it is empty"
    assert refusal("a/b", person).startswith("it does not begin at the root")
    assert refusal(person / "nothing", person) == "no such folder exists"
    assert refusal(person / "file", person) == "it is a file, not a folder"
    assert refusal(person / "file/below", person)
    assert "symbolic links" in refusal(person / "loop", person)
    assert refusal("/" + "x" * 300, person)
    assert refusal("/" + "x" * 10_000, person) == f"it has 10001 characters, and a path has at most {MAX_PATH_LENGTH}"
    assert refusal("~/project", person).startswith("'~' is not expanded")
    assert refusal("~other", person).startswith("'~' is not expanded")
    assert refusal(person.as_uri(), person).startswith("it is a URL")
    assert refusal("\\\\server\\share", person) == refusal("//server/share", person) == "it is a folder of another computer"


def test_a_folder_that_may_not_be_read_is_refused(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may read everything
    (person / "closed").mkdir()
    assert refusal(person / "closed", person) == "it cannot be read"


@pytest.mark.parametrize("sign", ["\0", "\n", "\x1b", "\x7f", "\u2028", "\u202e", "\ud800"])
def test_characters_that_cannot_be_seen_are_refused_and_not_shown(person: Path, sign: str) -> None:
    with pytest.raises(TooltrayError, match="invisible characters") as raised:
        real(f"{person}/a{sign}b", person)
    assert sign not in raised.value.problem.title


def test_the_root_and_home_folders_never_are_a_project_also_not_through_links(person: Path) -> None:
    for name, target in (("root", Path("/")), ("home", person), ("above", person.parent)):
        (link := person / name).symlink_to(target)
        assert refusal(link, person) == refusal(target, person)
    assert refusal("/", person) == "it is the root of the file system"
    (person / "x").mkdir()
    assert refusal(person, person) == refusal(f"{person}/./x/..", person) == "it is the home folder itself"
    assert refusal(person.parent, person) == "the home folder is in it"


def test_folders_that_hold_the_homes_of_people_never_are_a_project_whoever_they_belong_to(person: Path) -> None:
    homes, project = person / "mounted" / "homes", person / "mounted" / "homes" / "me" / "project"
    project.mkdir(parents=True)
    (link := person / "all").symlink_to(homes)
    named = [str(link), "C:\\Users", "no/path/of/the/root"]

    def refused(path: Path) -> str:
        with pytest.raises(TooltrayError) as raised:
            real_folder(str(path), home=str(person / "elsewhere"), user=ME, owner=lambda folder: 0, homes=named)
        return raised.value.problem.message

    for path in (link, homes, homes.parent):
        assert refused(path) == "the home folders of users are in it"
    for path in (project, Path.cwd()):
        assert real_folder(str(path), home=str(person / "elsewhere"), user=ME, owner=lambda folder: 0, homes=named) == os.path.realpath(
            path
        )


@pytest.mark.parametrize("path", ["src", "./a", "~/a", "", "/", "/home", "/home/", "/Users", "/var", "/people", "/people/me", "/a/.."])
def test_of_some_folders_the_path_alone_says_that_they_are_never_allowed(path: str) -> None:
    assert why_never_allowed(path, "/people/me")


@pytest.mark.parametrize("path", ["/people/me/a", "/home/other/a", "/srv", "/people/mine"])
def test_of_others_it_does_not(path: str) -> None:
    assert why_never_allowed(path, "/people/me") == ""


def test_the_home_folder_under_another_name_is_the_home_folder(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (mounted := person.parent / "MOUNTED").mkdir()  # stands for a folder that is mounted twice, or a disk that knows no small letters
    (inside := mounted / "project").mkdir()
    same = {str(mounted): os.stat(person)}
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, *args, **options: same.get(str(path)) or stat(path, *args, **options))
    assert refusal(mounted, person) == "it is the home folder itself"
    assert real(inside, person) == str(inside)


def test_a_home_folder_that_is_not_there_keeps_nobody_from_working_elsewhere(person: Path) -> None:
    (project := person / "project").mkdir()
    assert real(project, person / "gone") == str(project)


def test_a_home_that_is_a_link_is_the_folder_it_leads_to(person: Path) -> None:
    (link := person.parent / "link").symlink_to(person)
    assert refusal(person, link) == refusal(link, link) == "it is the home folder itself"


def test_folders_of_other_users_and_what_is_in_them_are_refused_also_through_links(person: Path) -> None:
    other = person.parent / "other"
    (other / "project" / "deep").mkdir(parents=True)
    (person / "link").symlink_to(other / "project")
    for path in (other, other / "project", other / "project/deep", person / "link"):
        assert refusal(path, person, of_other=other) == "it belongs to another user"


def test_folders_that_lead_to_ones_own_home_may_be_anybodys(person: Path) -> None:
    (project := person / "project").mkdir()
    assert real(project, person, of_other=person.parent) == str(project)


def test_where_owners_are_not_known_what_stands_beside_the_home_folder_is_of_others(person: Path) -> None:
    (other := person.parent / "other").mkdir()
    (own := person / "own").mkdir()
    assert refusal(other, person, knows_owners=False) == "it belongs to another user"
    assert real(own, person, knows_owners=False) == str(own)


def test_a_folder_of_ones_own_is_ones_own_by_what_the_system_says(person: Path) -> None:
    (project := person / "project").mkdir()
    assert owner_of(str(project)) == own_user()
    assert real_folder(str(project), home=str(person), user=own_user()) == str(project)


@given(st.text(max_size=60))
@example("/\ud800")
@example("//")
def test_no_text_whatever_breaks_the_check(text: str) -> None:
    title = ""
    try:
        assert os.path.isdir(real_folder(text, home="/nowhere/at/all", user=own_user()))
    except TooltrayError as error:
        title = error.problem.title
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in title)


def test_a_long_path_is_shown_cut() -> None:
    assert shown("/" + "x" * 500).endswith("…")
    assert len(shown("/" + "x" * 500)) == 120
    assert shown("/a\x1b[1mb") == "/a?[1mb"


def test_inside_is_by_whole_names() -> None:
    assert is_inside("/a/b", "/a/b")
    assert is_inside("/a/b/c", "/a/b")
    assert is_inside("/a", "/")
    assert not is_inside("/a/bc", "/a/b")
    assert not is_inside("/a", "/a/b")


def test_hidden_folders_directly_at_home_are_told_from_others(person: Path) -> None:
    assert is_hidden_at_home(f"{person}/.client", str(person))
    assert is_hidden_at_home(f"{person}/.client/deep", str(person))
    assert not is_hidden_at_home(f"{person}/project/.hidden", str(person))
    assert not is_hidden_at_home(str(person), str(person))
    assert not is_hidden_at_home("/elsewhere/.hidden", str(person))


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c/%E5%B0%88", "/a/b c/專"),
        ("file://localhost/a", "/a"),
        ("FILE:///a", "/a"),
        ("file://server/share", ""),
        ("https://example.com/a", ""),
        ("/a", ""),
        ("file://[", ""),
        ("file:/a", "/a"),
        ("file:////server/share", ""),
        ("file:///a/c#/app?x", "/a/c#/app?x"),  # '#' should be encoded; another folder is not what was meant
        ("file:///a\n/b", "/a\n/b"),
        ("", ""),
    ],
)
def test_the_path_in_a_uri_of_this_machine_is_found(uri: str, path: str) -> None:
    assert folder_of_uri(uri) == path


@pytest.mark.parametrize(
    ("said", "path", "name"),
    [
        ("", "/a/project", "project"),
        ("My  app\n(new)", "/a/b", "My app (new)"),
        ("\x1b\u202e", "/a/b", "b"),
        ("--evil", "/a/b", "evil"),
        ("-", "/a/-rf", "rf"),
        ("-", "/a/--", "project"),
        ("x" * 500, "/a", "x" * MAX_NAME_LENGTH),
        ("../../etc", "/a/b", "..-..-etc"),
        ("..\\x/y", "/a/b", "..-x-y"),
        ("..", "/a/b", "b"),
        (" / . ", "/a/b", "b"),
        ("/", "/a/b", "b"),
    ],
)
def test_a_project_is_called_as_was_said_or_as_its_folder_and_never_like_an_option(said: str, path: str, name: str) -> None:
    assert project_name(said, path) == name


def test_no_user_has_the_number_that_means_nobody_knows() -> None:
    assert NO_OWNER < 0
