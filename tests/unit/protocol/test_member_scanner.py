"""The parts of an object or an array, as the bytes they are."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.json_texts import json_objects, values

from tooltray.protocol.member_scanner import closed, elements_of, members_of, opened


@settings(deadline=None)
@given(json_objects())
def test_each_member_means_what_it_meant_in_the_whole(text: bytes) -> None:
    assert {name: json.loads(value) for name, value in members_of(text).items()} == json.loads(text)


@settings(deadline=None)
@given(json_objects())
def test_an_object_that_was_opened_can_be_closed_again(text: bytes) -> None:
    assert json.loads(bytes(closed(opened(Raw(text))))) == json.loads(text)


def test_values_stay_byte_for_byte_what_they_were() -> None:
    text = b'{ "a" : 1.50 , "b":{ "c" :[ 1e400,"}" ] } , "d": "\\u00e9\\"" , "e":-0 }'
    assert members_of(text) == {"a": b"1.50", "b": b'{ "c" :[ 1e400,"}" ] }', "d": b'"\\u00e9\\""', "e": b"-0"}


def test_the_last_of_two_members_with_one_name_counts() -> None:
    assert members_of(b'{"a":1,"b":2,"a":{"c":3}}') == {"a": b'{"c":3}', "b": b"2"}


def test_any_depth_is_walked_over() -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    assert members_of(b'{"a":' + deep + b',"b":{"c":' + deep + b"}}") == {"a": deep, "b": b'{"c":' + deep + b"}"}
    assert bytes(opened(Raw(b'{"a":' + deep + b"}"))["a"]) == deep


def test_a_string_of_megabytes_is_taken_whole() -> None:
    value = b'"' + b"x" * 5_000_000 + b"\\n" * 1_000_000 + b'"'
    assert members_of(b'{"a":' + value + b"}") == {"a": value}


@pytest.mark.parametrize("text", [b"[1]", b"1", b'"{}"', b"", b"null", b" []"])
def test_what_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        members_of(text)
    with pytest.raises(ValueError):
        opened(Raw(text))


@pytest.mark.parametrize("text", [b"{", b'{"a"', b'{"a":', b'{"a":1', b'{"a":[[}', b'{"a":"x', b"{1:2}", b'{"a":}'])
def test_what_ends_too_soon_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        members_of(text)


def test_half_a_surrogate_pair_survives_being_opened_and_closed() -> None:
    text = b'{"\\ud800":1,"a":"\\udfff","b":{"c":"\\ud83d"}}'
    assert opened(Raw(text)).keys() == {"\ud800", "a", "b"}
    assert bytes(closed(opened(Raw(text)))) == text


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
def test_what_is_no_array_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        elements_of(Raw(text))


@given(st.lists(values, max_size=5), st.sampled_from([(",", ":"), (" , ", " : ")]))
def test_every_array_is_the_sum_of_its_elements(array: list[Any], separators: tuple[str, str]) -> None:
    elements = elements_of(Raw(json.dumps(array, separators=separators).encode()))
    assert [bytes(each) for each in elements] == [json.dumps(each, separators=separators).encode() for each in array]


def test_an_element_that_is_no_json_does_not_hide_the_others() -> None:
    found = elements_of(b' [ NaN , {"a":"\\ud800"} ,[1e400]]\r')
    assert [bytes(each) for each in found] == [b"NaN", b'{"a":"\\ud800"}', b"[1e400]"]


def test_elements_of_any_depth_are_walked_over() -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    assert [bytes(each) for each in elements_of(b"[" + deep + b",1]")] == [deep, b"1"]


@pytest.mark.parametrize("text", [b"", b"[", b"[1", b"[1,", b"[1,]", b"[,1]", b"[1 2]", b"[1]]", b'["x]', b"[[1]", b"1]"])
def test_what_is_no_whole_array_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        elements_of(text)
