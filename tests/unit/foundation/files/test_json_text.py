import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.errors import Conflict
from tooltray.foundation.files.json_text import MAX_DEPTH, NotJson, check_revision, digest_of, read_json, revision_of, write_json

text = st.text(st.characters())  # lone surrogates too
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)


def joined(value: Any) -> Any:
    """Two halves of a surrogate pair beside each other are one character in JSON."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        case list():
            return [joined(member) for member in value]
        case dict():
            return {joined(key): joined(member) for key, member in value.items()}
    return value


@given(documents)
def test_what_is_written_is_read_back_equal(document: Any) -> None:
    assert read_json(write_json(joined(document))) == (joined(document), [])


@given(documents)
def test_what_was_read_is_written_the_same_each_time(document: Any) -> None:
    once = write_json(document)
    assert write_json(read_json(once)[0]) == once


@pytest.mark.parametrize("number", ["1E+400", "0.1000000000000000055", "123456789012345678901234567890", "-0.0", "1E-7000", "9" * 5000])
def test_numbers_that_python_would_spoil_survive(number: str) -> None:
    assert write_json(read_json(number.encode())[0]) == number.encode() + b"\n"


def test_ordinary_numbers_are_ordinary() -> None:
    assert read_json(b"[1, 1.5, 1e3, 0.1]")[0] == [1, 1.5, 1000.0, 0.1]
    assert not any(isinstance(number, Decimal) for number in read_json(b"[1, 1.5, 1e3, 0.1]")[0])


def test_text_stays_readable_and_indented() -> None:
    assert write_json({"名": ["é", {}, []], "n": None}).decode() == '{\n  "名": [\n    "é",\n    {},\n    []\n  ],\n  "n": null\n}\n'


def test_a_byte_order_mark_is_accepted() -> None:
    assert read_json(b"\xef\xbb\xbf{}") == ({}, [])


def test_keys_given_twice_are_told_and_the_last_one_counts() -> None:
    assert read_json(b'{"a": {"x": 1, "x": 2}, "b": 1, "b": 2, "b": 3}') == ({"a": {"x": 2}, "b": 3}, ["x", "b"])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": }', "line 1, column 7"),
        (b"{\n  // no", "line 2"),
        (b"\xff\xfe{\x00}\x00", "byte 1 is not UTF-8"),
        (b'["' + b"\xe9" + b'"]', "byte 3 is not UTF-8"),
        (b"[NaN]", "NaN is not JSON"),
        (b"-Infinity", "Infinity is not JSON"),
        (b"1e999999999999999999999", "is too large"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused_in_words(data: bytes, reason: str) -> None:
    with pytest.raises(NotJson, match=reason):
        read_json(data)


def test_nesting_up_to_the_limit_is_read_and_written() -> None:
    data = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert read_json(write_json(read_json(data)[0]))[0] == read_json(data)[0]


@pytest.mark.parametrize("document", [{1: 2}, {"a": {1, 2}}, [float("nan")], [float("inf")], [Decimal("NaN")], [10**5000], {"a": b"x"}])
def test_what_has_no_json_form_is_refused(document: Any) -> None:
    with pytest.raises(NotJson):
        write_json(document)


def test_what_is_nested_too_deeply_to_be_read_again_is_not_written() -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    with pytest.raises(NotJson, match="nested too deeply"):
        write_json(deep)


def test_an_error_quotes_nothing_of_the_text() -> None:
    with pytest.raises(NotJson) as caught:
        read_json(b'{"key": "hunter2", oops}')
    assert "hunter2" not in repr(caught.value)
    assert caught.value.__cause__ is None


def test_a_digest_is_of_the_content_however_it_is_laid_out() -> None:
    assert digest_of({"a": 1, "b": [None]}) == digest_of(json.loads('{ "b": [null],\n"a": 1 }'))
    assert digest_of({"a": 1}) != digest_of({"a": "1"})
    assert digest_of("\ud800") == digest_of("\ud800")
    assert len(digest_of(0)) == 64
    assert digest_of(0).startswith(revision_of(0))


def test_a_change_of_another_revision_than_the_one_seen_is_refused() -> None:
    check_revision(revision_of({"a": 1}), revision_of({"a": 1}))
    check_revision(revision_of({"a": 1}), "")
    with pytest.raises(Conflict, match="has been changed since you opened it"):
        check_revision(revision_of({"a": 2}), revision_of({"a": 1}))
    with pytest.raises(Conflict):
        check_revision("", revision_of({"a": 1}))
