"""rule_coverage.py: a path is in a folder where it leads, and where it is written in the one plain way."""

import os
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.consent.approvals.rule_coverage import LONGEST_PATH, Place, folder_of, is_inside, is_plain_path


class Tree:
    """A folder `in` with a file, links out of it, within it and in a circle, beside a folder `out`."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.inside = self.root / "in"
        (self.inside / "sub").mkdir(parents=True)
        (self.root / "out").mkdir()
        (self.inside / "a").write_text("")
        for name, target in (
            ("leads-out", "../out"),
            ("dangles", "../out/new"),
            ("leads-in", "sub"),
            ("circle", "circle"),
            ("upper", ".."),
        ):
            (self.inside / name).symlink_to(target)
        (self.root / "alias").symlink_to("in")
        self.place = Place(str(self.inside), str(self.root / "out"))

    def covers(self, path: str, *folders: str) -> bool:
        return is_inside(path, folders or (str(self.inside),), self.place)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    return Tree(tmp_path_factory.mktemp("tree"))


@pytest.mark.parametrize("path", ["", "/a", "/sub/new/deep", "/./a", "//a", "/leads-in/x", "/leads-in", "/名前", "/two words", "/sub/"])
def test_what_lies_in_a_folder(tree: Tree, path: str) -> None:
    assert tree.covers(f"{tree.inside}{path}")
    assert tree.covers(f"{tree.inside}{path}", "/elsewhere", "{project}")


@pytest.mark.parametrize(
    "path",
    [
        *("/leads-out", "/leads-out/x", "/dangles", "/upper/out", "/upper", "/circle/../..", "/circle", "/circle//etc", "/circle/."),
        *("/../out", "/sub/../a", "/leads-in/.."),
    ],
)
def test_links_and_dots_lead_out(tree: Tree, path: str) -> None:
    assert not tree.covers(f"{tree.inside}{path}")


@pytest.mark.parametrize(
    "tail",
    [
        *("~", "~/x", "$HOME", "${HOME}", "%2e%2e/out", "%HOME%", "a\\..\\..\\out", "a\0", "a\n", "a\r", "a\t", "a;id", "a|b"),
        *("a&b", "`id`", "$(id)"),
        *("*", "?", "[a]", "{a,b}", "'a'", '"a"', "a>b", "a<b", "a ", " a", "a.", "...", "．．/out", "..／out", "\u202ea", "\ud800"),
        *("\x7f", "\x85", "!a"),
    ],
)
def test_what_a_server_may_read_in_another_way_asks(tree: Tree, tail: str) -> None:
    assert not tree.covers(f"{tree.inside}/{tail}")


@pytest.mark.parametrize("path", ["", "a", "./a", "in/a", "~", "~/a", "file:///etc", "https://x/y", "\\\\host\\share", "C:\\x", "C:x"])
def test_a_path_that_is_not_whole_asks(tree: Tree, path: str) -> None:
    assert not tree.covers(path, "/", "{project}", "~")


def test_another_case_a_longer_name_and_a_doubled_root_are_other_folders(tree: Tree) -> None:
    assert not tree.covers(f"{tree.root}/IN/a")
    assert not tree.covers(f"{tree.inside}-not/a")
    assert not tree.covers(f"/{tree.inside}/a")
    assert not tree.covers(f"{tree.root}/out")
    assert tree.covers(f"{tree.root}/out", "/")


def test_a_folder_may_be_a_link_and_a_path_goes_by_it_or_by_where_it_leads(tree: Tree) -> None:
    assert tree.covers(f"{tree.root}/alias/a", f"{tree.root}/alias")
    assert tree.covers(f"{tree.inside}/a", f"{tree.root}/alias")
    assert not tree.covers(f"{tree.root}/alias/a")


def test_the_home_folder_and_the_project_are_filled_in(tree: Tree) -> None:
    assert folder_of("~", tree.place) == f"{tree.root}/out"
    assert folder_of("{project}/sub", tree.place) == f"{tree.inside}/sub"
    assert tree.covers(f"{tree.root}/out/x", "~")
    assert not is_inside(f"{tree.inside}/a", ("{project}",), Place("", "/"))


def test_a_path_that_is_written_anew_in_another_form_of_unicode_must_lie_there_too(tree: Tree) -> None:
    assert tree.covers(f"{tree.inside}/caf\u00e9")
    (tree.inside / "e\u0301").symlink_to("../out")
    assert not tree.covers(f"{tree.inside}/\u00e9/x")


@pytest.mark.parametrize(
    ("path", "is_plain"),
    [
        *((each, True) for each in ("C:\\a\\b.txt", "c:/a/b", "C:\\", "C:\\a b\\c.d")),
        *((each, False) for each in ("C:a", "\\a", "/a", "\\\\host\\share", "C:\\\\a", "\\\\?\\C:\\a", "C:\\a:stream", "C:\\a::$DATA")),
        *((each, False) for each in ("C:\\nul", "C:\\COM1.txt", "C:\\a.", "C:\\a \\b", "C:\\PROGRA~1", "C:\\..\\a", "C:\\%TEMP%")),
    ],
)
def test_paths_of_windows(path: str, is_plain: bool) -> None:
    assert is_plain_path(path, is_windows=True) is is_plain


def test_a_folder_that_no_system_opens_has_nothing_in_it(tree: Tree) -> None:
    assert not tree.covers("/a/b", "/\ud800")


def test_a_path_that_no_system_opens_asks(tree: Tree) -> None:
    assert not is_plain_path("/" + "a" * LONGEST_PATH)
    assert tree.covers(f"{tree.inside}/{'a' * 300}")


_PARTS = st.sampled_from(
    [
        *("..", ".", "", "a", "sub", "leads-out", "leads-in", "upper", "dangles", "circle", "~", "$HOME", "%2e%2e", "..\\", "x", "．．"),
        *("out", "in"),
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_PARTS, max_size=6))
def test_however_a_server_reads_what_is_covered_it_lies_inside(tree: Tree, parts: list[str]) -> None:
    path = "/".join((str(tree.inside), *parts))
    if tree.covers(path):
        readings = {
            path,
            os.path.normpath(path),
            unquote(path),
            os.path.expanduser(path),
            os.path.expandvars(path),
            path.replace("\\", "/"),
        }
        readings |= {normalize(form, path) for form in ("NFC", "NFD", "NFKC", "NFKD")} | {path.strip(), path.rstrip(". ")}
        for each in (*readings, *map(os.path.normpath, readings)):
            assert os.path.realpath(each) == str(tree.inside) or os.path.realpath(each).startswith(f"{tree.inside}/")
