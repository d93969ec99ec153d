"""member_change.py: one member has changed, and nothing else has."""

from typing import Any

import pytest

from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.member_change import MISSING, check_change, is_same, member_of

NESTED = {"a": {"b": {"n": 1}}}


def test_a_member_of_a_list_is_found_by_its_name() -> None:
    document = {"s": [3, {"name": "one"}, {"name": "two", "x": 5}]}
    assert member_of(document, ("s", "two", "x")) == 5
    assert member_of(document, ("s", "three")) is MISSING
    assert member_of(document, ("s", "two", "x", "deeper")) is MISSING
    assert member_of(document, ()) is document


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), (1, 1.0), ([1], [1, 1]), ({"a": 1}, {"a": 1, "b": 1}), ({}, [])])
def test_what_is_equal_to_python_alone_is_not_the_same(one: Any, other: Any) -> None:
    assert not is_same(one, other)
    assert is_same(one, one)


def test_what_is_no_number_is_the_same_as_itself() -> None:
    assert is_same({"a": [float("nan")]}, {"a": [float("nan")]})


@pytest.mark.parametrize("after", [None, {}, {"a": {}}, {"a": {"b": {}}}, {"a": {"b": None}}])
def test_empty_holders_may_go_with_their_last_member(after: Any) -> None:
    check_change(NESTED, after, ("a", "b", "n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({**NESTED, "x": 1}, {}),
        (NESTED, NESTED),
        ({"a": {"b": {"n": 1, "m": 2}}}, {}),
        (NESTED, {"a": {"b": {}}, "x": 1}),
    ],
)
def test_a_removal_that_took_or_left_something_else_is_refused(before: Any, after: Any) -> None:
    with pytest.raises(CannotRead, match="more than it should"):
        check_change(before, after, ("a", "b", "n"))


def test_a_member_and_all_that_it_stands_in_may_come() -> None:
    check_change(None, NESTED, ("a", "b", "n"), 1)
    check_change({"a": None}, NESTED, ("a", "b", "n"), 1)
    check_change({"s": [{"name": "one"}]}, {"s": [{"name": "one"}, {"name": "two"}]}, ("s", "two"), {"name": "two"})
    with pytest.raises(CannotRead):
        check_change(None, NESTED, ("a", "b", "n"), True)


@pytest.mark.parametrize(("path", "content"), [(("gone",), MISSING), (("a", "b", "n", "x"), 1), (("a", "gone"), MISSING)])
def test_what_is_not_there_cannot_have_changed(path: tuple[str, ...], content: Any) -> None:
    with pytest.raises(CannotRead, match=f"^{path[-1]} not found$"):
        check_change(NESTED, NESTED, path, content)


def test_an_item_of_a_list_does_not_come_without_its_list() -> None:
    with pytest.raises(CannotRead, match=r"^gone not found$"):
        check_change({"s": [{"name": "one"}]}, {}, ("s", "gone", "x"), 1)
