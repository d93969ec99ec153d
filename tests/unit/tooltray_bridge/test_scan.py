"""Reading a line in full: the members of its object, wherever they are."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray_bridge.scan import elements, end_of_string, members, value_of

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "result", "x", "a b"]), values), st.sampled_from([None, 1]))
def test_each_member_of_any_object_is_found_with_its_value(message: dict[str, object], indent: int | None) -> None:
    line = json.dumps(message, indent=indent).encode()

    found = {name.decode(): json.loads(value_of(line, span)) for name, span in members(line).items()}

    assert found == message


@pytest.mark.parametrize("escaped", [True, False])
@given(text=st.text(alphabet='a\\"}{,:[]é\n'))
def test_a_string_ends_at_its_own_quote_whatever_is_in_it(escaped: bool, text: str) -> None:
    string = json.dumps(text, ensure_ascii=escaped).encode()

    assert end_of_string(b"[" + string + b',"]', 1) == 1 + len(string)


@pytest.mark.parametrize("line", [b'"', b'"abc', b'"abc\\"', b'"\\\\\\"'])
def test_a_string_without_an_end_has_none(line: bytes) -> None:
    assert end_of_string(line, 0) == -1


@given(st.binary(max_size=80) | st.text(alphabet='{}[]",:\\i d1').map(str.encode))
def test_what_is_no_json_is_read_as_far_as_it_goes(line: bytes) -> None:
    assert all(0 < start <= end <= len(line) for start, end in members(line).values())


def test_of_two_members_with_one_name_the_last_counts() -> None:
    line = b'{"id":1,"id":2}'

    assert value_of(line, members(line).get(b"id")) == b"2"


def test_a_member_that_is_not_there_has_an_empty_value() -> None:
    assert value_of(b"{}", None) == b""


@given(st.lists(values, min_size=1), st.sampled_from([None, 1]))
def test_each_element_of_any_array_is_found(array: list[object], indent: int | None) -> None:
    assert [json.loads(element) for element in elements(json.dumps(array, indent=indent).encode())] == array


@given(st.binary(max_size=80) | st.text(alphabet='{}[]",:\\i d1').map(str.encode))
def test_of_what_is_no_array_the_elements_are_parts(line: bytes) -> None:
    assert sum(map(len, elements(line))) <= len(line)
