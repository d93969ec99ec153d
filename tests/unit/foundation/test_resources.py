"""The resources are found wherever the package lies."""

from pathlib import Path

import pytest

from tooltray.foundation.resources import find_resources, resource


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_in_a_checkout_they_lie_beside_the_source_root(tmp_path: Path) -> None:
    package = folder(tmp_path / "desktop" / "tooltray")
    resources = folder(tmp_path / "resources")
    assert find_resources(package, None) == resources


def test_in_a_wheel_they_lie_inside_the_package(tmp_path: Path) -> None:
    package = folder(tmp_path / "site-packages" / "tooltray")
    resources = folder(package / "_resources")
    assert find_resources(package, None) == resources


def test_in_a_frozen_app_they_lie_where_it_unpacked_itself(tmp_path: Path) -> None:
    package = folder(tmp_path / "elsewhere" / "tooltray")
    resources = folder(tmp_path / "unpacked" / "tooltray" / "_resources")
    assert find_resources(package, str(tmp_path / "unpacked")) == resources


def test_the_wheel_s_own_folder_goes_before_one_that_happens_to_be_two_floors_up(tmp_path: Path) -> None:
    package = folder(tmp_path / "lib" / "tooltray")
    folder(tmp_path / "resources")
    resources = folder(package / "_resources")
    assert find_resources(package, None) == resources


def test_a_broken_installation_says_where_was_looked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="_resources"):
        find_resources(tmp_path / "tooltray", None)


@pytest.mark.parametrize("parts", [("themes", "tokens.json"), ("themes", "theme.qss"), ("i18n", "zh_TW.json"), ("icons", "tooltray.svg")])
def test_what_the_program_reads_is_there(parts: tuple[str, ...]) -> None:
    assert resource(*parts).is_file()
