"""The members of an object, as the bytes they are."""

import json

import pytest
from hypothesis import given, settings
from msgspec import Raw
from tests.fakes.json_texts import json_objects

from tooltray.protocol.member_scanner import closed, members_of, opened


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
