"""Many paths as few folders."""

from hypothesis import given
from hypothesis import strategies as st

from tooltray.servers.confinement.fewest_folders import MOST_FOLDERS, fewest, without_nested


def deep(folder: str) -> bool:
    return folder.count("/") >= 2


def test_several_files_of_one_folder_stand_for_it_and_few_for_themselves() -> None:
    assert fewest(["/p/a/1", "/p/a/2", "/p/a/3", "/p/b/1", "/q"], deep) == {"/p/a", "/p/b/1", "/q"}


def test_what_may_not_be_opened_stays_as_single_files() -> None:
    assert fewest(["/p/1", "/p/2", "/p/3"], deep) == {"/p/1", "/p/2", "/p/3"}


def test_many_folders_side_by_side_stand_for_the_one_above() -> None:
    objects = [f"/p/git/{i}{j}" for i in range(9) for j in ("/x", "/y", "/z")]
    assert fewest(objects, deep) == {"/p/git"}


def test_a_long_list_is_made_shorter_where_it_can() -> None:
    pairs = [f"/p/{i}/{j}/f" for i in range(MOST_FOLDERS) for j in "ab"]
    assert fewest(pairs, deep) == {f"/p/{i}/{j}/f" for i in range(MOST_FOLDERS) for j in "ab"}
    folders = {f"/p/{i}/{j}" for i in range(MOST_FOLDERS) for j in "ab"}
    assert fewest([], deep, folders) == {f"/p/{i}" for i in range(MOST_FOLDERS)} or fewest([], deep, folders) == {"/p"}
    assert fewest([], lambda folder: folder.count("/") >= 3, folders) == {f"/p/{i}/{j}" for i in range(MOST_FOLDERS) for j in "ab"}


def test_what_lies_in_another_is_said_by_that() -> None:
    assert without_nested(["/a/b/c", "/a/b", "/a/bc", "/a/b"]) == {"/a/b", "/a/bc"}


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))))
def test_everything_is_covered_whatever_there_is(paths: list[str]) -> None:
    found = fewest(paths, deep)
    assert all(any(path == each or path.startswith(each + "/") for each in found) for path in paths)
