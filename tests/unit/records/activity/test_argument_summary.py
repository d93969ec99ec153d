"""argument_summary.py"""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.records.activity.argument_summary import MAX_NAME_LENGTH, MAX_NAMES, describe


def test_a_calls_arguments_are_told_by_name_type_and_size() -> None:
    params = {"name": "edit", "arguments": {"path": "x" * 24, "recursive": True, "edits": [1, 2, 3]}, "_meta": {"progressToken": "p"}}
    assert describe("tools/call", json.dumps(params).encode()) == {
        "tool": "edit",
        "arguments": {"path": "string(24)", "recursive": "boolean", "edits": "array(3)"},
    }


def test_other_methods_are_told_by_the_names_of_their_parameters() -> None:
    params = Raw(b'{"name":"greeting","level":5,"rate":0.5,"big":1e400,"none":null,"of":{"a":1},"text":"\xe6\x90\x9c\xe7\xb4\xa2"}')
    assert describe("prompts/get", params) == {
        "arguments": {
            "name": "string(8)",
            "level": "number",
            "rate": "number",
            "big": "number",
            "none": "null",
            "of": "object(1)",
            "text": "string(2)",
        }
    }


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (b"", {"arguments": {}}),
        (b"[1,2]", {"arguments": "array(2)"}),
        (b'"text"', {"arguments": "string(4)"}),
        (b'{"name":"t"}', {"tool": "t", "arguments": {}}),
        (b'{"name":7,"arguments":null}', {"arguments": "null"}),
        (b'{"arguments":[1]}', {"arguments": "array(1)"}),
        (b"{", {}),
        (b'"\xff"', {}),
        (b"[" * 60_000, {}),
        (b"1" * 60_000, {}),
    ],
)
def test_odd_parameters_are_told_as_far_as_they_can_be_read(params: bytes, expected: dict[str, Any]) -> None:
    assert describe("tools/call", params) == expected


def test_names_are_bounded_in_number_and_length() -> None:
    arguments = {f"{number:03}" + "x" * 1000: number for number in range(100)}
    found = describe("tools/call", json.dumps({"name": "n" * 5000, "arguments": arguments}).encode())
    assert len(found["arguments"]) == MAX_NAMES
    assert found["argumentsLeftOut"] == 100 - MAX_NAMES
    assert {len(name) for name in found["arguments"]} == {MAX_NAME_LENGTH + 1} == {len(found["tool"])}


VALUE = "\N{SNOWMAN} a value that no generated name has \N{SNOWMAN}"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.just(VALUE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters()), json_values), st.sampled_from(["tools/call", "other"]))
def test_no_value_is_ever_told(arguments: dict[str, Any], method: str) -> None:
    assume(not any(VALUE in name for name in arguments))
    found = describe(method, json.dumps({"name": "t", "arguments": arguments} if method == "tools/call" else arguments).encode())
    assert VALUE not in str(found)
    assert set(found) <= {"tool", "arguments", "argumentsLeftOut"}
