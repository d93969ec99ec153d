"""calls.py"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.nesting import TOO_DEEP

from tooltray.catalogue.formats.calls import MAX_DEPTH, NotMeant, read, read_arguments
from tooltray.foundation.errors import TooltrayError

FENCE = "```"


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        (None, {}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("{}", {}),
        ('""', {}),
        (f'{FENCE}json\n{{"a": 1}}\n{FENCE}', {"a": 1}),
        (f'{FENCE}\n{{"a": 1,}}\n{FENCE}\n', {"a": 1}),
        (f"{FENCE}json\n{FENCE}", {}),
        (json.dumps('{"a": 1}'), {"a": 1}),
        (json.dumps(json.dumps({"a": "b"})), {"a": "b"}),
        (json.dumps("{'a': True,}"), {"a": True}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"城市": "北京"}', {"城市": "北京"}),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_arguments_are_read(given: Any, arguments: dict[str, Any]) -> None:
    assert read_arguments("add", given) == arguments


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("[1]", "they are an array, not an object"),
        ("5", "they are a number, not an object"),
        ("true", "they are true or false, not an object"),
        ([1], "they are an array, not an object"),
        (b"{}", "they are something else, not an object"),
        (json.dumps(json.dumps(json.dumps("{}"))), "they are a text, not an object"),
        ('{"a": 1,\n "b" 2}', "line 2, column 6: a colon is missing"),
        ('{"a": NaN}', "line 1, column 7: 'NaN' is not a value"),
        ("hello", "line 1, column 1: 'hello' is not a value"),
        ("[" * TOO_DEEP, "line 1, column 102: it is nested too deeply"),
        ("[" * TOO_DEEP + "]" * TOO_DEEP, "line 1, column 102: it is nested too deeply"),
    ],
)
def test_what_is_no_object_is_refused_with_the_reason_and_the_place(given: Any, message: str) -> None:
    with pytest.raises(TooltrayError) as raised:
        read_arguments("add", given)
    assert raised.value.problem.title == "the arguments for 'add' are not a JSON object"
    assert raised.value.problem.message == message


def test_an_object_that_is_given_is_not_the_one_that_comes_out() -> None:
    given = {"a": 1}
    assert read_arguments("add", given) is not given


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("[1, 2,\n]", [1, 2]),
        ("{'a': 'b'}", {"a": "b"}),
        ("""{'a': 'it\\'s "so"'}""", {"a": 'it\'s "so"'}),
        ("""{'a': '\\\\"'}""", {"a": '\\"'}),
        ("""{'a': "it's"}""", {"a": "it's"}),
        ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
        ('{"a": true, "b": false, "c": null}', {"a": True, "b": False, "c": None}),
        ('{"a": {"b": ["c"', {"a": {"b": ["c"]}}),
        ('{"a": [1, 2], "b": {}', {"a": [1, 2], "b": {}}),
        ('{"a": true', {"a": True}),
        ('{"a": [1, 2]', {"a": [1, 2]}),
        ('{"a": "two\nlines"', {"a": "two\nlines"}),
        ("[-1.5e3, 0,]", [-1500.0, 0]),
        ("{},".rstrip(","), {}),
        (" [ ] ", []),
    ],
)
def test_what_can_only_be_meant_in_one_way_is_read(text: str, value: Any) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ('{"a": 1', 7, "the text ends, possibly within a number"),
        ('{"a": 1,', 8, "the text ends too early"),
        ("{", 1, "the text ends right after this"),
        ('{"a": "b', 6, "this string is not closed"),
        ('{"a": }', 6, "a value is missing"),
        ("", 0, "a value is missing"),
        ('{"a": ye}', 6, "'ye' is not a value"),
        ('{"a": NaN}', 6, "'NaN' is not a value"),
        ('{"a" 1}', 5, "a colon is missing"),
        ("{a: 1}", 1, "a quoted name is missing"),
        ('{"a": 1 "b": 2}', 8, "a comma or a closing bracket is missing"),
        ('{"a": [1}', 8, "a comma or a closing bracket is missing"),
        ('{"a": "\\x"}', 6, "this string has an escape that JSON does not allow"),
        ('{"a": 1} and more', 9, "unexpected text after the end"),
        ("[" * (MAX_DEPTH + 1), MAX_DEPTH + 1, "it is nested too deeply"),
    ],
)
def test_everything_else_is_refused_with_its_place(text: str, place: int, reason: str) -> None:
    with pytest.raises(NotMeant) as raised:
        read(text)
    assert (raised.value.place, raised.value.reason) == (place, reason)


@given(VALUES)
def test_json_is_read_as_it_is(value: Any) -> None:
    assert read(json.dumps(value)) == value
    assert read(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(VALUES)
def test_python_is_read_as_it_is(value: Any) -> None:
    text = repr(value)
    try:
        found = read(text)
    except NotMeant:
        assert "\\" in text or "e" in text  # escapes and exponents that JSON does not have
    else:
        assert found == value


@given(VALUES, st.integers(min_value=0, max_value=200))
def test_a_text_that_was_cut_is_never_more_than_the_whole(value: Any, cut: int) -> None:
    whole = json.dumps(value)
    try:
        found = read(whole[:cut])
    except NotMeant:
        return
    assert is_part(found, json.loads(whole)) or cut >= len(whole) or not isinstance(value, dict | list)


@given(st.text(alphabet="{}[]'\":,\\ \n01eTrueNone"))
def test_nothing_but_a_refusal_comes_of_garbage(text: str) -> None:
    assert 0 <= place_of_refusal(text) <= len(text)


def place_of_refusal(text: str) -> int:
    try:
        read(text)
    except NotMeant as refusal:
        return refusal.place
    return 0


def is_part(part: Any, whole: Any) -> bool:
    """Whether nothing stands in a part that is not in the whole; only what came last may be missing."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and is_part(value, whole[name]) for name, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_part, part, whole))
    return bool(part == whole)
