"""What a modern request repeats in headers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.protocol.eras import PROTOCOL_VERSION_KEY
from tooltray.protocol.routing_headers import (
    InvalidAnnotation,
    decode,
    encode,
    marked_arguments,
    modern_version,
    param_headers,
    request_headers,
)

META = {PROTOCOL_VERSION_KEY: "2026-07-28"}


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def no_schema(tool: str) -> None:
    return None


def marking(**properties: Any) -> Raw:
    return raw({"type": "object", "properties": properties})


@pytest.mark.parametrize(
    "params", [b"", b"[]", b"{}", b'{"_meta":1}', b'{"_meta":{}}', b'{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}']
)
def test_a_request_that_names_no_version_is_legacy(params: bytes) -> None:
    assert modern_version(Raw(params)) == ""
    assert request_headers("tools/call", Raw(params), no_schema) == {}


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "a tool"}, "a tool"),
        ("prompts/get", {"name": "p"}, "p"),
        ("resources/read", {"uri": "file:///x"}, "file:///x"),
        ("tasks/get", {"taskId": "t"}, "t"),
        ("tools/list", {"name": "none of its own"}, None),
        ("tools/call", {"name": 7}, None),
    ],
)
def test_version_method_and_name_are_repeated(method: str, params: dict[str, Any], name: str | None) -> None:
    expected = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})
    assert request_headers(method, raw({"_meta": META, **params}), no_schema) == expected


def test_marked_arguments_are_repeated_wherever_they_stand() -> None:
    inner = {"type": "object", "properties": {"deep": {"type": "integer", "x-mcp-header": "Deep"}}}
    schema = marking(
        region={"type": "string", "x-mcp-header": "Region"},
        fast={"type": "boolean", "x-mcp-header": "Fast"},
        slow={"type": "boolean", "x-mcp-header": "Slow"},
        inner=inner,
        absent={"type": "string", "x-mcp-header": "Absent"},
        null={"type": "string", "x-mcp-header": "Null"},
        wrong={"type": "string", "x-mcp-header": "Wrong"},
        plain={"type": "string"},
    )
    arguments = {"region": "großer Ort", "fast": True, "slow": False, "inner": {"deep": 42}, "null": None, "wrong": [], "plain": "x"}
    assert param_headers(schema, raw(arguments)) == {
        "Mcp-Param-Region": "=?base64?Z3Jvw59lciBPcnQ=?=",
        "Mcp-Param-Fast": "true",
        "Mcp-Param-Slow": "false",
        "Mcp-Param-Deep": "42",
    }


def test_a_call_asks_for_the_schema_of_its_tool() -> None:
    asked: list[str] = []

    def schema(tool: str) -> Raw:
        asked.append(tool)
        return marking(a={"type": "string", "x-mcp-header": "A"})

    headers = request_headers("tools/call", raw({"_meta": META, "name": "t", "arguments": {"a": "b"}}), schema)
    assert (asked, headers["Mcp-Param-A"]) == (["t"], "b")


@pytest.mark.parametrize("arguments", [b"", b"[]", b"7", b'"a"'])
def test_arguments_of_another_kind_give_no_headers(arguments: bytes) -> None:
    assert param_headers(marking(a={"type": "string", "x-mcp-header": "A"}), Raw(arguments)) == {}


def test_an_integer_is_written_as_one_however_it_came() -> None:
    assert param_headers(marking(a={"type": "integer", "x-mcp-header": "A"}), Raw(b'{"a":42.0}')) == {"Mcp-Param-A": "42"}


def test_an_integer_beyond_all_bounds_gives_no_header() -> None:
    schema = marking(a={"type": "integer", "x-mcp-header": "A"})
    assert param_headers(schema, Raw(b'{"a":' + b"9" * 5000 + b"}")) == {}


@pytest.mark.parametrize(
    "schema",
    [
        {"x-mcp-header": "Root"},
        {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
        {"properties": {"a": {"x-mcp-header": "A"}}},
        {"properties": {"a": {"type": ["string"], "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": ""}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": 7}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}},
        {"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}},
        {"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]},
        {"$defs": {"a": {"type": "string", "x-mcp-header": "A"}}},
    ],
)
def test_a_mark_where_it_may_not_be_is_found_and_gives_no_headers(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidAnnotation):
        marked_arguments(raw(schema))
    assert param_headers(raw(schema), raw({"a": "x"})) == {}


def test_data_in_a_schema_is_no_schema() -> None:
    data = {"x-mcp-header": "No"}
    assert marked_arguments(raw({"default": data, "examples": [data], "enum": [data], "const": data, "properties": {"a": True}})) == {}


def test_an_argument_may_be_called_like_a_keyword() -> None:
    schema = marking(default={"type": "string", "x-mcp-header": "D"}, items={"type": "string"}, anyOf={"type": "string"})
    assert marked_arguments(schema) == {("default",): "D"}


@pytest.mark.parametrize("value", ["", "plain", "two words", "~!x"])
def test_plain_values_stand_as_they_are(value: str) -> None:
    assert encode(value) == value


@pytest.mark.parametrize("value", [" a", "a ", "é", "a\nb", "a\tb", "=?base64?YQ==?="])
def test_other_values_are_wrapped(value: str) -> None:
    assert encode(value).startswith("=?base64?")
    assert decode(encode(value)) == value


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_encoded_can_be_decoded_and_is_a_header(value: str) -> None:
    header = encode(value)
    assert decode(header) == value
    assert header.isascii()
    assert header.isprintable()


@pytest.mark.parametrize("header", ["=?base64?%%?=", "=?base64?YR==?=", "=?base64?/w==?="])
def test_what_cannot_have_been_encoded_is_nothing(header: str) -> None:
    assert decode(header) is None
