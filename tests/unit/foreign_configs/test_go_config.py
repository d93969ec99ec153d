"""foreign_configs/go_config.py: what Go's os.ExpandEnv makes of a text, and our spelling of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foreign_configs.go_config import entry_in_our_spelling, filled_in, filled_in_outside_texts, in_our_spelling


@pytest.mark.parametrize(
    ("text", "ours", "filled"),
    [
        ("$A", "${A:-}", "1"),
        ("${A}b$A.c", "${A:-}b${A:-}.c", "1b1.c"),
        ("$missing!", "${missing:-}!", "!"),
        ("pa$$word$", "paword$", "paword$"),
        ("$5.00 $*", ".00 ", ".00 "),
        ("a ${} b ${", "a  b ", "a  b "),
        ("${a b}x", "x", "x"),
        ("$ $/", "$ $/", "$ $/"),
        ("$${A}", "{A}", "{A}"),
        ("${secret:A/B}", "${secret:A/B}", ""),
        ("${A:-x}", "${A:-x}", ""),
    ],
)
def test_variables_mean_what_they_mean_there(text: str, ours: str, filled: str) -> None:
    assert in_our_spelling(text) == ours
    assert filled_in(text, {"A": "1"}) == filled


def test_every_text_of_a_value_is_translated_and_no_name() -> None:
    value: Any = {"$A": ["$A", 5, None, {"b": "$B"}]}
    assert entry_in_our_spelling(value) == {"$A": ["${A:-}", 5, None, {"b": "${B:-}"}]}


def test_outside_of_texts_variables_are_filled_in_at_once() -> None:
    text = '{"a": $A, "b": "$A \\" $A", "c": ${B}, "d": $none}'
    assert filled_in_outside_texts(text, {"A": "1", "B": "true"}) == '{"a": 1, "b": "$A \\" $A", "c": true, "d": }'


@given(st.lists(st.sampled_from([*"${}:-ab1 _", "${a}", "secret:"]), max_size=12).map("".join))
def test_nothing_is_left_that_would_be_misread(text: str) -> None:
    ours = in_our_spelling(text)
    assert in_our_spelling(ours) == ours


def test_a_long_row_of_what_is_never_closed_takes_no_time_that_matters() -> None:
    assert in_our_spelling("${" * 200_000 + "$A") == "${A:-}"
    assert filled_in_outside_texts('"' + '\\"' * 200_000, {}).count('"') == 200_001
