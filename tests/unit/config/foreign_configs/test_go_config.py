"""go_config.py: Go's fields and variables, and our spelling of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.foreign_configs.go_config import GoFields, entry_in_our_spelling, filled_in, in_our_spelling
from tooltray.foundation.files.json_places import read


@pytest.mark.parametrize(
    ("text", "ours", "filled"),
    [
        ("$A", "${A:-}", "1"),
        ("${A}b$A.c", "${A:-}b${A:-}.c", "1b1.c"),
        ("$missing!", "${missing:-}!", "!"),
        ("$5.00 $* $ $/", "$5.00 $* $ $/", "$5.00 $* $ $/"),
        ("$$A", "$${A:-}", "$1"),
        ("a ${} b ${ ${a b}", "a ${} b ${ ${a b}", "a ${} b ${ ${a b}"),
        ("${secret:A/B}", "${secret:A/B}", "${secret:A/B}"),
        ("${A:-x}", "${A:-x}", "${A:-x}"),
    ],
)
def test_variables_are_translated_and_any_other_sign_is_text(text: str, ours: str, filled: str) -> None:
    assert in_our_spelling(text) == ours
    assert filled_in(text, {"A": "1"}) == filled


def test_every_text_of_a_value_is_translated_and_no_name() -> None:
    value: Any = {"$A": ["$A", 5, None, {"b": "$B"}]}
    assert entry_in_our_spelling(value) == {"$A": ["${A:-}", 5, None, {"b": "${B:-}"}]}


@given(st.lists(st.sampled_from([*"${}:-ab1 _", "${a}", "secret:"]), max_size=12).map("".join))
def test_nothing_is_left_that_would_be_misread(text: str) -> None:
    ours = in_our_spelling(text)
    assert in_our_spelling(ours) == ours


def fields(text: str) -> GoFields:
    return GoFields(read(text))


def test_a_field_is_found_whatever_the_case_of_its_name_and_null_is_none() -> None:
    found = fields('{"AddR": ":1", "Count": 3, "On": false, "List": ["a"], "Empty": [], "Options": {"On": true}, "Gone": null}')
    assert (found.text("addr"), found.whole_number("count"), found.flag("on")) == (":1", 3, False)
    assert (found.texts("list"), found.texts("empty"), found.inner("options").flag("ON")) == (["a"], [], True)
    absent = (found.text("gone"), found.whole_number("gone"), found.flag("gone"), found.texts("gone"), found.inner_value("gone"))
    assert absent == ("", 0, None, None, None)
    assert (found.inner("gone").at, found.inner("gone").raw("x"), GoFields(None).place("x")) == (None, None, None)


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("text", "5", "'a' must be text"),
        ("flag", '"true"', "'a' must be true or false"),
        ("whole_number", "true", "'a' must be a whole number"),
        ("whole_number", "1.5", "'a' must be a whole number"),
        ("texts", '"a"', "'a' must be a list of texts"),
        ("texts", '["a", 5]', "'a' must be a list of texts"),
        ("inner", "[]", "'a' must be an object"),
    ],
)
def test_a_field_of_another_type_is_named_with_its_place(kind: str, value: str, why: str) -> None:
    with pytest.raises(CannotUse) as refused:
        getattr(fields(f' {{"A": {value}}}'), kind)("a")
    assert (refused.value.reason, refused.value.at) == (why, 2)


def test_the_place_of_what_is_absent_is_that_of_the_object() -> None:
    assert (fields(' {"a": 1}').place("a"), fields(' {"a": 1}').place("b")) == (2, 1)
