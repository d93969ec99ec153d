"""meta_tools.py: what the hub's tools about other tools say, take and answer."""

import json
import math
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec import Raw

from tooltray.catalogue.views.meta_tools import (
    CALL_KEY,
    FIND_KEY,
    HUB_TOOLS,
    MOST_DESCRIBED,
    LazyServer,
    Search,
    activate_definition,
    answer,
    inner_call,
    is_meta,
    key_of,
    read_names,
    read_search,
    refusal,
    with_text,
)
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import SERVER_INFO, Era

US = {"io.modelcontextprotocol/serverInfo": SERVER_INFO}


def description(tools: list[str] | None, offers: str = "", **counts: int) -> str:
    return LazyServer("Serena", offers, tools, counts).description


def inner(params: Any) -> dict[str, Any]:
    return dict(json.loads(bytes(inner_call(Envelope(id=Raw(b"7"), method="tools/call", params=dump(params))).params)))


@pytest.mark.parametrize(
    ("tools", "counts", "end"),
    [
        (["a"], {}, "This will load 1 tool. Available: a."),
        (list("abcde"), {}, "This will load 5 tools. Available: a, b, c, d, e."),
        (list("abcdef"), {}, "This will load 6 tools. Available: a, b, c, d, e and 1 more."),
        (["a"], {"prompt": 2}, "This will load 1 tool and 2 prompts. Available: a."),
        (["a"], {"prompt": 0, "resource": 1, "template": 3}, "This will load 1 tool, 1 resource and 3 templates. Available: a."),
        ([], {}, "This will load 0 tools."),
        (None, {}, "It will be started, and its tools loaded."),
    ],
)
def test_a_server_says_what_it_will_load(tools: list[str] | None, counts: dict[str, int], end: str) -> None:
    assert description(tools, **counts) == f"Activate Serena MCP server. {end}"
    assert description(tools, "Edits code.", **counts) == f"Activate Serena MCP server. Edits code. {end}"


def definition_of(tool: str) -> Raw:
    return HUB_TOOLS[tool].definition("n", find="f", call="c")


def test_definitions_have_what_clients_ask_of_one() -> None:
    definitions = [activate_definition("n", LazyServer("S", "", [], {})), *map(definition_of, HUB_TOOLS)]
    for definition in map(json.loads, map(bytes, definitions)):
        assert definition["name"] == "n"
        assert definition["title"]
        assert definition["description"]
        assert definition["inputSchema"]["type"] == "object"
    assert b"with c." in bytes(definition_of("find_tools"))
    assert b"that f gives" in bytes(definition_of("describe_tools"))
    hints = [json.loads(bytes(definition))["annotations"] for definition in definitions]
    changes = [
        each for each in hints if each != {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    ]
    assert changes == [{"destructiveHint": True, "openWorldHint": True}] * 2  # call_tool and run_steps


def test_its_own_tools_are_told_from_those_of_the_built_in_server() -> None:
    assert all(is_meta(key) for key in (FIND_KEY, CALL_KEY, key_of("s")))
    assert not is_meta(("hub", "list_servers"))
    assert not is_meta(("s", "activate_s"))


@pytest.mark.parametrize(
    ("arguments", "search"),
    [
        ({"query": "a"}, Search(["a"])),
        ({"query": "a", "limit": 3}, Search(["a"], 3)),
        ({"query": "a", "detail": "full"}, Search(["a"], is_full=True)),
        ({"query": "a", "detail": "signature"}, Search(["a"])),
        ({"query": ""}, Search([""])),
        ({"query": ["a"], "queries": "b"}, Search(["a", "b"])),
        ({"query": "a", "queries": ["b", "a"]}, Search(["a", "b"])),
        ({"queries": list(map(str, range(500)))}, Search(list("0123456789"), dropped=490)),
    ],
)
def test_a_search_has_a_limit_and_few_needs_however_it_is_written(arguments: Any, search: Search) -> None:
    assert read_search(dump({"arguments": arguments})) == search


def test_names_are_a_list_or_what_some_models_write_for_one() -> None:
    assert read_names(dump({"arguments": {"names": ["a", "b", "a"]}})) == ["a", "b"]
    assert read_names(dump({"arguments": {"names": "a"}})) == ["a"]


@pytest.mark.parametrize("names", [None, [], 5, [5], {}, list(map(str, range(MOST_DESCRIBED + 1)))])
def test_names_of_another_kind_or_too_many_are_refused(names: Any) -> None:
    with pytest.raises(TooltrayError, match="describe_tools"):
        read_names(dump({"arguments": {"names": names}}))


@pytest.mark.parametrize(
    ("definition", "good", "bad"),
    [
        (activate_definition("n", LazyServer("S", "", [], {})), [{}], [{"a": 1}]),
        (
            definition_of("find_tools"),
            [{"query": "a"}, {"query": "", "limit": 1}, {"query": "a", "limit": 50}, {"queries": ["a", "b"], "detail": "full"}],
            [{"query": "a", "limit": 0}, {"query": "a", "limit": 51}, {"query": "a", "more": 1}, {"queries": ["a"] * 11}],
        ),
        (
            definition_of("describe_tools"),
            [{"names": ["a"]}],
            [{}, {"names": []}, {"names": [1]}, {"names": ["a"] * 21}],
        ),
        (
            definition_of("call_tool"),
            [{"name": "t"}, {"name": "t", "arguments": {"a": 1}}],
            [{}, {"name": "t", "arguments": []}, {"name": "t", "a": 1}],
        ),
        (
            definition_of("read_result"),
            [{"handle": "h"}, {"handle": "h", "part": 1, "offset": 0}, {"handle": "h", "lines": "1-2"}, {"handle": "h", "grep": "a"}],
            [{}, {"handle": "h", "part": 0}, {"handle": "h", "offset": -1}, {"handle": "h", "more": 1}],
        ),
    ],
)
def test_a_schema_lets_through_what_its_tool_can_use(definition: Raw, good: list[Any], bad: list[Any]) -> None:
    schema = Draft202012Validator(json.loads(bytes(definition))["inputSchema"])
    assert [schema.is_valid(arguments) for arguments in good + bad] == [True] * len(good) + [False] * len(bad)


DEEP = b'{"arguments":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    "params", [b"{}", DEEP, b'{"arguments":[]}', b'{"arguments":{"query":null}}', b'{"arguments":{"query":"a","limit":"3"}}']
)
def test_a_search_of_another_kind_is_refused(params: bytes) -> None:
    with pytest.raises(TooltrayError, match="find_tools"):
        read_search(Raw(params))


def test_the_inner_call_keeps_what_stands_around_it() -> None:
    params = {"name": "call_tool", "arguments": {"name": "t", "arguments": {"a": 1}}, "_meta": {"progressToken": 1}, "requestState": "s"}
    assert inner(params) == {"name": "t", "arguments": {"a": 1}, "_meta": {"progressToken": 1}, "requestState": "s"}


@pytest.mark.parametrize(
    ("written", "read"),
    [({}, {}), ({"arguments": None}, {}), ({"arguments": ' {"a": 1} '}, {"a": 1}), ({"arguments": {"n": 2**70}}, {"n": 2**70})],
)
def test_arguments_may_be_missing_or_written_as_text(written: Any, read: Any) -> None:
    assert inner({"arguments": {"name": "t", **written}})["arguments"] == read


@pytest.mark.parametrize("written", ["[]", "5", "{", '"{}"', 5, [], True, "\ud800"])
def test_arguments_that_are_no_object_are_refused(written: Any) -> None:
    with pytest.raises(TooltrayError, match="as an object"):
        inner({"arguments": {"name": "t", "arguments": written}})


@pytest.mark.parametrize("arguments", [None, 5, {}, {"name": None}])
def test_a_call_without_a_name_is_refused(arguments: Any) -> None:
    with pytest.raises(TooltrayError, match="the name of a tool"):
        inner({"arguments": arguments})


def test_an_answer_is_text_and_nothing_that_repeats_it() -> None:
    assert json.loads(bytes(answer("é", Era.LEGACY).result)) == {"content": [{"type": "text", "text": "é"}], "isError": False}
    assert json.loads(bytes(answer("é", Era.MODERN).result))["resultType"] == "complete"


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (b'{"content":[],"isError":true}', [{"type": "text", "text": "more"}]),
        (b'{"content" : [ {"n":1e400} ] }', [{"n": math.inf}, {"type": "text", "text": "more"}]),
        (b'{"content":5}', 5),
        (b"{}", None),
    ],
)
def test_text_is_added_to_a_result_whose_other_bytes_stay(result: bytes, content: Any) -> None:
    assert json.loads(bytes(with_text(Raw(result), "more"))).get("content") == content


def test_a_refusal_is_a_result_that_a_model_can_read() -> None:
    result = json.loads(bytes(refusal(TooltrayError("no", "because", "Wait."), Era.MODERN).result))
    assert result == {"resultType": "complete", "_meta": US, "content": [{"type": "text", "text": "no: because. Wait"}], "isError": True}
