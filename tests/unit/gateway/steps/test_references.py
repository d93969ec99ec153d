"""references.py: every operator, what it refuses, and how much it takes."""

from typing import Any

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.steps import references
from tooltray.gateway.steps.references import DEEPEST, LONGEST_LIST, MOST_BYTES, Room, dumped, names, read, resolve

ISSUES = [
    {"n": 1, "title": "a crash", "open": True, "by": {"name": "x"}},
    {"n": 2, "title": "a wish", "open": True},
    {"n": 3, "title": "crash again", "open": False, "by": {"name": "y"}},
]
VALUES: dict[str, object] = {
    "list": {"issues": ISSUES, "a/b": {"~": 7}, "none": None, "": "empty"},
    "text": "one\ntwo\r\n\nthree\n",
    "number": 3,
    "item": "element",
    "nothing": [],
}


def value(written: object, values: dict[str, object] = VALUES) -> Any:
    return resolve(read(written, "here", values), values, Room("these values"))


def why(written: object, values: dict[str, object] = VALUES) -> str:
    with pytest.raises(TooltrayError) as refused:
        value(written, values)
    return str(refused.value)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("plain", "plain"),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        ({"$": "number"}, 3),
        ({"$": "item"}, "element"),
        ({"$": "list/issues/1/title"}, "a wish"),
        ({"$": "list/a~1b/~0"}, 7),
        ({"$": "list/none"}, None),
        ({"$": "list/"}, "empty"),
        ({"deep": [{"$": "number"}]}, {"deep": [3]}),
        ({"$": "text", "split": "\n"}, ["one", "two", "three"]),
        ({"$": "list/issues", "filter": {"/open": True}, "map": "/n"}, [1, 2]),
        ({"$": "list/issues", "filter": {"/title": {"contains": "crash"}}, "map": "/n"}, [1, 3]),
        ({"$": "list/issues", "filter": {"/title": {"contains": "crash"}, "/open": True}, "map": "/n"}, [1]),
        ({"$": "list/issues", "filter": {"/n": {"contains": "1"}}, "count": True}, 0),
        ({"$": "list/issues", "filter": {"/n": True}, "count": True}, 0),
        ({"$": "list/issues", "filter": {"/by": None}, "count": True}, 0),
        ({"$": "text", "split": "\n", "filter": {"": "two"}}, ["two"]),
        ({"$": "list/issues", "map": "/by/name"}, ["x", None, "y"]),
        ({"$": "list/issues", "map": {"who": "/by/name", "n": "/n"}, "first": 1}, [{"who": "x", "n": 1}]),
        ({"$": "list/issues", "map": "/n", "first": True}, 1),
        ({"$": "list/issues", "map": "/n", "first": 2}, [1, 2]),
        ({"$": "list/issues", "map": "/n", "first": False}, [1, 2, 3]),
        ({"$": "list/issues", "count": True}, 3),
        ({"$": "nothing", "count": True}, 0),
        ({"$": "list/issues", "map": "/by/name", "join": ", "}, "x, null, y"),
        ({"$": ["/dir/", {"$": "item"}, 7, {"$": "number"}], "join": ""}, "/dir/element73"),
        ({"$": [{"$": "text", "split": "\n", "first": 1}, [2]], "map": "/0"}, ["one", 2]),
    ],
)
def test_values_are_selected_and_joined(written: object, expected: object) -> None:
    assert value(written) == expected


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ({"$": "lst"}, "here: '$' names 'lst': the values here are 'list', 'text', 'number', 'item', 'nothing'"),
        ([{"a": {"$": 1}}], "here[0].a.$: Expected 'str | array', got 'int'"),
        ({"$": ["x", {"$": "lst"}]}, "here.$[1]: '$' names 'lst'"),
        ({"$": "list", "maps": "/a"}, "here: Object contains unknown field 'maps'"),
        ({"$": "list", "map": "a"}, "here.map: Expected 'str' matching regex '^(/.*)?$'"),
        ({"$": "list", "map": {}}, "here.map: Expected 'object' of length >= 1"),
        ({"$": "list", "map": {"n": "n"}}, "here.map[...]: Expected 'str' matching regex"),
        ({"$": "list", "filter": {"a": 1}}, "here.filter: Expected 'str' matching regex"),
        ({"$": "list", "filter": {"/a": []}}, "here.filter[...]: Expected 'bool | int | float | str | object | null', got 'array'"),
        ({"$": "list", "filter": {"/a": {"is": 1}}}, "here.filter[...]: Object"),
        ({"$": "list", "first": 0}, "here.first: Expected 'int' >= 1"),
        ({"$": "text", "split": ""}, "here.split: Expected 'str' of length >= 1"),
        ({"$": "list/issue"}, "here: 'list/issue' is not there: no member 'issue'; it has 'issues', 'a/b', 'none', ''"),
        ({"$": "list/issues/3"}, "no element '3'; it has 3"),
        ({"$": "list/issues/01"}, "no element '01'; it has 3"),
        ({"$": "list/issues/x"}, "no element 'x'; it has 3"),
        ({"$": "text/x"}, "a text has no member 'x'"),
        ({"$": "number/x"}, "a number has no member 'x'"),
        ({"$": "list/none/x"}, "null has no member 'x'"),
        ({"$": "list/issues/0/open/x"}, "true or false has no member 'x'"),
        ({"$": "number", "split": ","}, "here: split needs a text: this is a number"),
        ({"$": "list", "filter": {"/a": 1}}, "here: filter needs a list: this is an object"),
        ({"$": "text", "map": "/a"}, "here: map needs a list: this is a text"),
        ({"$": "list/none", "count": True}, "here: count needs a list: this is null"),
        ({"$": "text", "join": ","}, "here: join needs a list: this is a text"),
        ({"$": "nothing", "first": True}, "here: first finds nothing: the list is empty"),
        ({"$": "list", "first": True}, "here: first needs a list: this is an object"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_its_reason(written: object, reason: str) -> None:
    assert reason in why(written)


def test_without_earlier_steps_and_with_many_members_the_reason_is_short() -> None:
    assert why({"$": "a"}, {}) == "here: '$' names 'a': there is no earlier step"
    many: dict[str, object] = {"a": {f"{'m' * 100}{number}": 1 for number in range(100)}, "e": {}}
    assert len(why({"$": "a/x"}, many)) < 700
    assert why({"$": "a/x"}, many).endswith(" and 92 more")
    assert why({"$": "e/x"}, many).endswith("it has none")


def test_what_a_value_needs_is_known_before() -> None:
    written = {"a": [{"$": "list/x"}, {"$": [{"$": "text"}, "number"]}], "b": {"$": "item"}}
    assert names(read(written, "", VALUES)) == {"list", "text", "item"}


def test_depth_has_a_bound() -> None:
    written: object = {"$": "item"}
    for _ in range(DEEPEST):
        written = [written]
    assert "nested too deeply" in why(written)
    value_: object = 1
    for _ in range(2000):
        value_ = [value_]
    with pytest.raises(TooltrayError, match="nested too deeply"):
        dumped(value_)


def test_lists_have_a_bound() -> None:
    long: dict[str, object] = {"a": [0] * (LONGEST_LIST + 1), "t": "," * LONGEST_LIST}
    assert "map takes at most 100,000 elements: this list has 100,001" in why({"$": "a", "map": "/x"}, long)
    assert "split would give more than 100,000 elements" in why({"$": "t", "split": ","}, long)
    assert value({"$": "a", "count": True}, long) == LONGEST_LIST + 1
    assert value({"$": "a", "first": 2, "join": ""}, long) == "00"


def test_what_is_joined_has_a_bound_that_the_same_value_cannot_pass_by_many_references(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MOST_BYTES", 1000)
    long: dict[str, object] = {"a": "x" * 400, "o": {"k" * 300: ["y" * 300]}}
    assert len(value([{"$": "a"}] * 2, long)) == 2
    assert "these values would have more than" in why([{"$": "a"}] * 3, long)
    assert "these values would have more than" in why([{"$": "o"}] * 2, long)
    assert "here would have more than" in why({"$": ["z" * 100] * 11, "join": ""}, long)


def test_a_value_of_nearly_fifty_megabytes_can_be_used_and_a_larger_one_cannot() -> None:
    large: dict[str, object] = {"a": ["x" * (MOST_BYTES - 1000), "y"]}
    assert value({"$": "a/1"}, large) == "y"
    assert len(value({"$": "a/0"}, large)) == MOST_BYTES - 1000
    assert "more than 50 MB" in why({"$": ["x" * 1000, {"$": "a/0"}]}, large)
