"""argument_path.py: the place of a value in the arguments of a call."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.config.settings.argument_path import MOST_STEPS, read_path, written


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("path", ("path",)),
        ("options.cwd", ("options", "cwd")),
        ("items[*].path", ("items", None, "path")),
        ("rows[*][*]", ("rows", None, None)),
        ('["a.b"].c', ("a.b", "c")),
        ('x["\\u0022"]', ("x", '"')),
    ],
)
def test_a_path_is_read_and_written(text: str, path: tuple[str | None, ...]) -> None:
    assert read_path(text) == path
    assert read_path(written(path)) == path


@pytest.mark.parametrize(
    "text", ["", "[*]", ".a", "a.", "a..b", "a b", "a[0]", 'a["x]', "a[*]b", '["\\x"]', ".".join("a" * (MOST_STEPS + 1))]
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_path(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=5) | st.none(), min_size=1, max_size=4))
def test_every_name_can_be_written(steps: list[str | None]) -> None:
    path = ("first", *steps)
    assert read_path(written(path)) == path
