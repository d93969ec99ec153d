"""formats/json_text.py"""

from typing import Any

from tooltray.formats.json_text import TOO_DEEP, as_json


def test_a_value_is_told_in_its_own_script() -> None:
    assert as_json({"城市": [1, None]}) == '{"城市": [1, null]}'


def test_a_long_value_is_cut_where_that_is_asked_for() -> None:
    assert as_json("x" * 10, longest=5) == '"xxxx...'
    assert as_json("x" * 10, longest=12) == f'"{"x" * 10}"'


def test_a_value_that_is_nested_too_deeply_is_named_as_that() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert as_json(value) == TOO_DEEP
    while value:  # inside out, so that its end does not nest
        value = value.pop()
