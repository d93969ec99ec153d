"""config/json_edit.py: one member goes, every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.json_edit import MAX_DEPTH, CannotRead, read, without_member


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ('{"a": 1}', ["a"], "{}"),
        ('{"a": 1, "b": 2}', ["a"], '{ "b": 2}'),
        ('{"a": 1, "b": 2}', ["b"], '{"a": 1}'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', ["a"], '{\n  "b": 2\n}\n'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', ["b"], '{\n  "a": 1\n}\n'),
        ('{\n  "a": 1,\n  "b": 2,\n}\n', ["b"], '{\n  "a": 1,\n  }\n'),
        (
            '{\n  // mine\n  "a": {"x": [1, {}]},\n  "b": {"c": true, "d": null}\n}',
            ["b", "c"],
            '{\n  // mine\n  "a": {"x": [1, {}]},\n  "b": { "d": null}\n}',
        ),
        ('\ufeff{"a": 1}', ["a"], "\ufeff{}"),
        ('{"a,}": "\\"{", /* "b" */ "b": 1}', ["b"], '{"a,}": "\\"{", /* "b" */}'),
        ('{\r\n\t"a": 1,\r\n\t"b": 2\r\n}', ["a"], '{\r\n\t"b": 2\r\n}'),
    ],
)
def test_one_member_goes_and_the_rest_stays_as_it_was_written(text: str, path: list[str], expected: str) -> None:
    assert without_member(text, path) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a"',
        '{"a":',
        '{"a":}',
        '{"a":1 "b":2}',
        "{1:2}",
        "[1",
        "[1 2]",
        '"a',
        "nonsense",
        "{} {}",
        "{'a': 1}",
        "\x00",
        "[" * (MAX_DEPTH + 2),
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(CannotRead):
        read(text)


@pytest.mark.parametrize("path", [["b"], ["a", "b"]])
def test_a_member_that_is_not_there_is_refused(path: list[str]) -> None:
    with pytest.raises(CannotRead, match="there is no b"):
        without_member('{"a": 1}', path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(document=st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=5), indent=st.sampled_from([None, 2, 4]), data=st.data())
def test_any_member_of_any_document_can_go(document: dict[str, Any], indent: int | None, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(document)))
    text = json.dumps(document, indent=indent, ensure_ascii=data.draw(st.booleans()))
    assert read(text).content == document
    after = without_member(text, [key])
    del document[key]
    assert json.loads(after) == document
