"""protocol/elements.py"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.json_texts import values

from tooltray.protocol.elements import elements_of


@pytest.mark.parametrize(
    ("array", "elements"),
    [
        (b"[]", []),
        (b" [ ] ", []),
        (b'[1e400, {"a" : 2} ,"x"]', [b"1e400", b'{"a" : 2}', b'"x"']),
        (b' ["\\ud800" , {"n":1180591620717411303424}\t]', [b'"\\ud800"', b'{"n":1180591620717411303424}']),
    ],
)
def test_elements_are_verbatim(array: bytes, elements: list[bytes]) -> None:
    assert [bytes(each) for each in elements_of(Raw(array))] == elements


@pytest.mark.parametrize("text", [b"{}", b"null", b'"x"', b'{"a":"\\ud800"}', b'"\\ud800"'])
def test_what_is_no_array_is_told(text: bytes) -> None:
    with pytest.raises(ValueError):
        elements_of(Raw(text))


@given(st.lists(values, max_size=5), st.sampled_from([(",", ":"), (" , ", " : ")]))
def test_every_array_is_the_sum_of_its_elements(array: list[Any], separators: tuple[str, str]) -> None:
    elements = elements_of(Raw(json.dumps(array, separators=separators).encode()))
    assert [bytes(each) for each in elements] == [json.dumps(each, separators=separators).encode() for each in array]


def test_an_element_that_is_no_json_does_not_hide_the_others() -> None:
    found = elements_of(b' [ NaN , {"a":"\\ud800"} ,[1e400]]\r')
    assert [bytes(each) for each in found] == [b"NaN", b'{"a":"\\ud800"}', b"[1e400]"]


def test_any_depth_is_walked_over() -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    assert [bytes(each) for each in elements_of(b"[" + deep + b",1]")] == [deep, b"1"]


@pytest.mark.parametrize("text", [b"", b"[", b"[1", b"[1,", b"[1,]", b"[,1]", b"[1 2]", b"[1]]", b'["x]', b"[[1]", b"1]"])
def test_what_is_no_whole_array_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        elements_of(text)
