"""server_names.py"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.settings.given_entries import MAX_NAME_LENGTH, check_name
from tooltray.sources.project_files.trust import fitting, server_name


@pytest.mark.parametrize(
    ("written", "taken", "expected"),
    [
        ("one", (), "one"),
        ("one", ("one",), "one-shop"),
        ("one", ("one", "one-shop"), "one-shop-2"),
        ("one", ("one", "one-shop", "one-shop-2"), "one-shop-3"),
        ("hub", (), "hub-shop"),
        ("HUB", (), "HUB-shop"),
        ("fetch/a{b}", (), "fetch-a-b"),
        (" one ", (), "one"),
        ("a\nb", (), "a-b"),
        ("/", (), "server"),
        ("", (), "server"),
    ],
)
def test_a_server_is_called_as_in_its_file_if_that_can_be(written: str, taken: tuple[str, ...], expected: str) -> None:
    assert server_name(written, "/p/shop", lambda name: name not in taken, ("hub",)) == expected


def test_a_folder_without_a_name_tells_nothing_apart() -> None:
    assert server_name("one", "/", lambda name: name != "one") == "one-2"


@given(st.text(), st.text(), st.integers(0, 12))
def test_every_name_may_be_a_servers(written: str, folder: str, taken: int) -> None:
    names: set[str] = set()
    for _ in range(taken + 1):
        name = server_name(written, "/p/" + folder.replace("\0", ""), lambda name: name not in names, ("hub",))
        check_name(name, ("hub",))
        assert name not in names
        names.add(name)


def test_a_long_name_is_cut() -> None:
    assert fitting("x" * 100) == "x" * MAX_NAME_LENGTH
    assert len(server_name("x" * 100, "/p/shop", lambda name: name.endswith("-2"))) <= MAX_NAME_LENGTH
