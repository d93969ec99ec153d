"""What installed packages bring is found by what describes them, and nothing of them is imported."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fakes.sdk_packages import GROUP, importable, install

from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.inmemory.sdk_transport import find, listed, make_importable


def test_each_server_of_a_package_is_listed_with_what_it_says_of_itself(tmp_path: Path) -> None:
    install(tmp_path, "two-things", points={"first": "make", "second": "make"}, summary="Does two things")
    install(tmp_path, "other-thing", "raise SystemExit")
    found = [(each.name, each.package, each.version, each.summary, each.problem) for each in listed(tmp_path)]
    assert found == [
        ("first", "two-things", "1.2", "Does two things", None),
        ("other-thing", "other-thing", "1.2", "", None),
        ("second", "two-things", "1.2", "Does two things", None),
    ]
    assert not [name for name in sys.modules if name.startswith("sdk_package_")]


def test_without_a_folder_there_is_what_this_python_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "thing")
    assert listed() == []
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [each.name for each in listed()] == ["thing"]
    assert [each.name for each in listed(tmp_path)] == ["thing"], "the same package twice is one"


def test_a_name_that_two_packages_claim_is_nobody_s(tmp_path: Path) -> None:
    for package in ("one", "other"):
        install(tmp_path, package, points={"thing": "make"})
    assert [str(each.problem and each.problem.message) for each in listed(tmp_path)] == ["one, other", "one, other"]
    with pytest.raises(CannotStart, match="more than one package offers the server 'thing'"):
        find("thing", tmp_path)


def test_what_is_not_there_is_said_with_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=GROUP):
        find("thing", tmp_path / "nothing")


def test_a_package_whose_description_is_damaged_hides_no_other(tmp_path: Path) -> None:
    install(tmp_path, "good")
    install(tmp_path, "bad")
    (tmp_path / "bad-1.2.dist-info" / "entry_points.txt").write_bytes(b"\xff\xfe[")
    install(tmp_path, "bare")
    (tmp_path / "bare-1.2.dist-info" / "METADATA").unlink()
    assert "good" in [each.name for each in listed(tmp_path)]


def test_a_folder_goes_last_on_the_path_of_modules_and_once(tmp_path: Path) -> None:
    install(tmp_path, "thing")
    with importable():
        for _ in range(2):
            make_importable(find("thing", tmp_path))
        assert sys.path[-1] == str(tmp_path)
        assert sys.path.count(str(tmp_path)) == 1
    before = list(sys.path)
    make_importable(replace(find("thing", tmp_path), folder=""))
    assert sys.path == before
