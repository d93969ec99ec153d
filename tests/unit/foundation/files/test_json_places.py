"""json_places.py: what a text says, and where it stands."""

import json
import math
from typing import Any

import json5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.files.json_places import MAX_DEPTH, WINDOWS_PATH, CannotRead, Dialect, Lines, read

TEXT = st.text(st.characters(), max_size=6)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
SIGNS = st.lists(
    st.sampled_from(
        [*"{}[]:,\"'/*\\+-.0129aeEfnrtuxX_$ \n\r\t", "//", "/*", "*/", "\ufeff", "\u2028", "é", "true", "null", "\\u00e9", "0x1f"]
    ),
    max_size=25,
).map("".join)


@given(document=DOCUMENTS, indent=st.sampled_from([None, 2]), is_ascii=st.booleans(), dialect=st.sampled_from(["jsonc", "json5"]))
def test_any_json_is_read_as_it_is(document: Any, indent: int | None, is_ascii: bool, dialect: Dialect) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    assert read(text, dialect).content == json.loads(text)


def why_not(text: str, dialect: Dialect) -> CannotRead | None:
    try:
        read(text, dialect)
    except CannotRead as error:
        return error
    return None


@given(SIGNS, st.sampled_from(["jsonc", "json5"]))
def test_of_whatever_is_no_json_it_says_where_that_shows(text: str, dialect: Dialect) -> None:
    error = why_not(text, dialect)
    if error is not None:
        assert str(error) == error.reason
        assert error.at is not None
        assert 0 <= error.at <= len(text)
        assert min(Lines(text).place(error.at)) >= 1


def test_backslashes_of_a_windows_path_are_no_escapes_in_json5() -> None:
    text = r"""{"a": "C:\Users\me", b: 'x=D:\\y', "c": "a\tb"}"""
    assert read(text, "json5").content == {"a": r"C:\Users\me", "b": r"x=D:\y", "c": "a\tb"}


@given(SIGNS.filter(lambda text: not WINDOWS_PATH.search(text)))
def test_json5_is_read_as_other_programs_read_it(text: str) -> None:
    try:
        ours = read(text, "json5").content
    except CannotRead:
        return
    assert ours == json5.loads(text.removeprefix("\ufeff"))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("{a: 1, $b_2: 'x', 'c': \"y\",}", {"a": 1, "$b_2": "x", "c": "y"}),
        ("[0x1F, -0xa, +1, .5, 5., -1e3, 1.5E-2]", [31, -10, 1, 0.5, 5.0, -1000.0, 0.015]),
        (
            r"'it\'s \x41\u00e9\n\q\0 \
and on'",
            "it's Aé\nq\0 and on",
        ),
        ("'one \\\r\ntwo'", "one two"),
        (r"'\ud83d\ude00'", "\U0001f600"),
        ("/* a */ [ // b\n true, false, null ]", [True, False, None]),
        ("'tab\there'", "tab\there"),
        ("{größe: 1}", {"größe": 1}),
    ],
)
def test_json5_has_more_ways_to_write_a_value(text: str, content: Any) -> None:
    assert read(text, "json5").content == content


@pytest.mark.parametrize(
    "text",
    [
        "'a",
        r"'\x1'",
        r"'\u12'",
        r"'\1'",
        r"'\01'",
        "'\r'",
        "'\n'",
        "{1a: 1}",
        "{-a: 1}",
        "NaN",
        "Infinity",
        "01",
        "0x",
        "1_0",
        "1e",
        ".",
        "+",
        "[1 2]",
    ],
)
def test_json5_has_its_rules_too(text: str) -> None:
    with pytest.raises(CannotRead):
        read(text, "json5")


@pytest.mark.parametrize(
    "text", ["{'a': 1}", "{a: 1}", "[0x1]", "[+1]", "[NaN]", "[Infinity]", "[-Infinity]", '"a\tb"', r'{"\x41": 1}', '{"a\tb": 1}', "[.5]"]
)
def test_json_with_comments_is_json_otherwise(text: str) -> None:
    with pytest.raises(CannotRead):
        read(text)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", (1, 1), "it ends too early: a value is missing"),
        ('{\n  "a": 1,\n  "b" 2}', (3, 7), "found a word instead of ':'"),
        ('{"a": [1, 2}', (1, 12), "found '}' instead of ',' / ']'"),
        ('{"a": }', (1, 7), "found '}' instead of a value"),
        ('{"a":\r\n  "secret-key-in-here, ', (2, 3), "a text begins here and does not end in its line"),
        ("/* a\n b", (1, 1), "a comment begins here and does not end"),
        ("{\r  /", (2, 3), "this character is not allowed here"),
        ("{'a': 1}", (1, 2), "this character is not allowed here"),
        ("\ufeff{} {}", (1, 4), "there is text after the end"),
        ("[sk-123456]", (1, 2), "this word is not JSON; texts need quotes"),
        ('["\\x"]', (1, 2), "this text has a sign in it that must be escaped"),
        ('{"a": {}, 5: 6}', (1, 11), "found a word instead of a name in quotes"),
        ('{"a": {}, {', (1, 11), "found '{' instead of a name in quotes"),
        ('["a" "b"]', (1, 6), "found a text instead of ',' / ']'"),
    ],
)
def test_a_person_is_told_line_column_and_reason_and_no_value(text: str, place: tuple[int, int], reason: str) -> None:
    with pytest.raises(CannotRead) as error:
        read(text)
    assert error.value.at is not None
    assert (Lines(text).place(error.value.at), error.value.reason) == (place, reason)


def test_each_member_has_its_place() -> None:
    text = '\ufeff{\r\n  "a": {"b": [1, {"c": 2}]},\n\n "d": 3}'
    value = read(text)
    lines = Lines(text)
    at, inner = value.members["a"]
    assert lines.place(at) == (2, 3)
    assert text[inner.start : inner.end] == '{"b": [1, {"c": 2}]}'
    assert inner.members["b"][1].items[1].members["c"][1].content == 2
    assert lines.place(value.members["d"][0]) == (4, 2)
    assert lines.place(0) == (1, 1)


def test_of_two_members_with_one_name_the_last_counts_and_both_are_known() -> None:
    value = read('{"a": 1, "a": {"b": 1, "b": 2}, "c": [{"d": 1, "d": 1, "d": 3}]}')
    assert value.content == {"a": {"b": 2}, "c": [{"d": 3}]}
    assert [key for key, _ in value.repeated()] == ["a", "b", "d", "d"]


@pytest.mark.parametrize("text", ["[" * 5000, '{"a":' * 5000, "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2)])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(CannotRead, match="too deeply"):
        read(text)


def test_a_text_may_have_so_many_values_and_no_more() -> None:
    assert read("[1, 2]", most_values=3).content == [1, 2]
    with pytest.raises(CannotRead, match="more than 2 values"):
        read("[1, 2]", most_values=2)


def test_a_number_of_thousands_of_digits_is_refused_and_a_large_one_is_not() -> None:
    for dialect in ("jsonc", "json5"):
        assert read("1e400", dialect).content == math.inf
        with pytest.raises(CannotRead):
            read("1" * 5000, dialect)
