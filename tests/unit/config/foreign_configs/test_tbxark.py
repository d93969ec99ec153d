"""tbxark.py"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.foreign_configs.tbxark import GoFields, entry_in_our_spelling, filled_in, in_our_spelling
from tooltray.config.settings.file_server import Endpoint, FileEntry, FileReading
from tooltray.foundation.files.json_places import read

PROXY = {"baseURL": "http://localhost:9090", "addr": ":9090", "name": "MCP Proxy", "version": "1.0.0"}


def reading(folder: Path, document: Any, **variables: str) -> FileReading:
    path = folder / "config.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_file(path, "tbxark", environ=variables)


def with_proxy(folder: Path, proxy: dict[str, Any], **variables: str) -> FileReading:
    return reading(folder, {"mcpProxy": proxy, "mcpServers": {}}, **variables)


def entry(folder: Path, written: dict[str, Any], above: Any = None, **variables: str) -> FileEntry:
    found = reading(folder, {"mcpProxy": PROXY | {"options": above}, "mcpServers": {"fs": written}}, **variables)
    assert found.problems == ()
    return found.entries[0]


def reasons(found: FileReading) -> list[str]:
    return [problem.problem.message.removeprefix("line 1: ") for problem in found.problems]


def test_the_project_s_own_example_is_read(tmp_path: Path) -> None:
    options = {"panicIfInvalid": False, "logEnabled": True, "authTokens": ["DefaultTokens"]}
    found = reading(
        tmp_path,
        {
            "mcpProxy": PROXY | {"baseURL": "https://mcp.example.com", "type": "streamable-http", "options": options},
            "mcpServers": {
                "github": {
                    "command": "npx",
                    "args": ["-y", "@modelcontextprotocol/server-github"],
                    "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "<YOUR_TOKEN>"},
                    "options": {"toolFilter": {"mode": "block", "list": ["create_or_update_file"]}},
                },
                "fetch": {
                    "command": "uvx",
                    "args": ["mcp-server-fetch"],
                    "options": {"panicIfInvalid": True, "logEnabled": False, "authTokens": ["SpecificTokens"]},
                },
                "amap": {"url": "https://mcp.amap.com/sse?key=<YOUR_TOKEN>"},
            },
        },
    )
    assert (found.kind, found.problems, found.must_be_valid) == ("tbxark", (), False)
    assert found.endpoint == Endpoint("", 9090, "", "streamable-http", "MCP Proxy", "1.0.0", "mcp.example.com")
    github, fetch, amap = found.entries
    assert (github.config.transport, github.config.args[1], github.tokens) == (
        "stdio",
        "@modelcontextprotocol/server-github",
        ("DefaultTokens",),
    )
    assert github.config.tool_filter is not None
    assert (github.config.tool_filter.mode, github.config.tool_filter.list) == ("block", ("create_or_update_file",))
    assert (github.must_run, github.logs_calls) == (False, True)
    assert (fetch.must_run, fetch.logs_calls, fetch.tokens, fetch.config.tool_filter) == (True, False, ("SpecificTokens",), None)
    assert (amap.config.transport, amap.config.base_url) == ("sse", "https://mcp.amap.com/sse?key=<YOUR_TOKEN>")
    assert github.config.auto_approve == ("all",)


@pytest.mark.parametrize(
    ("written", "transport", "timeout"),
    [
        ({"url": "http://a"}, "sse", None),
        ({"url": "http://a", "transportType": "odd"}, "sse", None),
        ({"url": "http://a", "transportType": "sse", "timeout": 5_000_000_000}, "sse", None),
        ({"url": "http://a", "transportType": "streamable-http", "timeout": 5_000_000_000}, "http", 5.0),
        ({"url": "http://a", "transportType": "streamable-http", "timeout": 0}, "http", None),
        ({"command": "a", "url": "http://a", "transportType": "sse", "timeout": 5_000_000_000}, "stdio", None),
        ({"command": "a", "transportType": "stdio"}, "stdio", None),
        ({"Command": "a"}, "stdio", None),
    ],
)
def test_what_an_entry_means(tmp_path: Path, written: dict[str, Any], transport: str, timeout: float | None) -> None:
    config = entry(tmp_path, written).config
    assert (config.transport, config.call_timeout) == (transport, timeout)


def test_what_is_inherited_and_what_is_not(tmp_path: Path) -> None:
    above = {
        "panicIfInvalid": True,
        "logEnabled": True,
        "lazyLoad": True,
        "disabled": True,
        "authTokens": ["a", "a"],
        "toolFilter": {"mode": "allow", "list": ["x"]},
    }
    found = entry(tmp_path, {"command": "a"}, above)
    assert (found.must_run, found.logs_calls, found.config.lazy_load, found.tokens) == (True, True, True, ("a",))
    assert (found.config.disable, found.config.tool_filter) == (False, None)
    own = {"panicIfInvalid": False, "logEnabled": False, "lazyLoad": False, "authTokens": [], "disabled": True}
    found = entry(tmp_path, {"command": "a", "options": own}, above)
    assert (found.must_run, found.logs_calls, found.config.lazy_load, found.tokens) == (False, False, False, ())
    assert found.config.disable
    nothing = dict.fromkeys(own)
    assert entry(tmp_path, {"command": "a", "options": nothing}, above).tokens == ("a",)
    assert entry(tmp_path, {"command": "a"}).config.lazy_load is None


def test_panic_if_invalid_of_the_whole_counts_for_the_whole(tmp_path: Path) -> None:
    assert with_proxy(tmp_path, {"options": {"panicIfInvalid": True}}).must_be_valid


@pytest.mark.parametrize(
    ("tool_filter", "told"),
    [
        ({"mode": "deny", "list": ["x"]}, ["a toolFilter whose mode is neither allow nor block filters nothing"]),
        ({"list": ["x"]}, ["a toolFilter whose mode is neither allow nor block filters nothing"]),
        ({"mode": "allow", "list": []}, []),
        ({"mode": "deny"}, []),
    ],
)
def test_a_filter_that_filters_nothing_is_none(tmp_path: Path, tool_filter: dict[str, Any], told: list[str]) -> None:
    found = reading(tmp_path, {"mcpProxy": PROXY, "mcpServers": {"fs": {"command": "a", "options": {"toolFilter": tool_filter}}}})
    assert found.entries[0].config.tool_filter is None
    assert reasons(found) == told
    assert all(problem.entry == "" for problem in found.problems)


def test_the_mode_of_a_filter_may_be_written_in_capitals(tmp_path: Path) -> None:
    found = entry(tmp_path, {"command": "a", "options": {"toolFilter": {"mode": "ALLOW", "list": ["x"]}}}).config.tool_filter
    assert found is not None
    assert found.mode == "allow"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({}, "it has neither a command nor a URL"),
        ({"transportType": "stdio", "url": "http://a"}, "its type is stdio, but it has no command"),
        ({"command": 5}, "'command' must be text"),
        ({"command": "a", "args": "x"}, "args: must be a list"),
        ({"url": "http://a", "timeout": "5s"}, "'timeout' must be a whole number"),
        ({"url": "http://a", "timeout": True}, "'timeout' must be a whole number"),
        ({"command": "a", "options": []}, "'options' must be an object"),
        ({"command": "a", "options": {"disabled": 1}}, "'disabled' must be true or false"),
        ({"command": "a", "options": {"authTokens": "x"}}, "'authTokens' must be a list of texts"),
        ({"command": "a", "options": {"authTokens": [1]}}, "'authTokens' must be a list of texts"),
        ({"command": "a", "options": {"authTokens": ["$NONE", ""]}}, "all its authTokens are empty, so no one could use it"),
    ],
)
def test_an_entry_that_cannot_be_used_is_told(tmp_path: Path, written: dict[str, Any], why: str) -> None:
    found = reading(tmp_path, {"mcpProxy": PROXY, "mcpServers": {"fs": written, "other": {"command": "a"}}})
    assert [entry.name for entry in found.entries] == ["other"]
    assert (reasons(found), found.problems[0].entry) == ([why], "fs")


def test_variables_are_filled_in_anywhere(tmp_path: Path) -> None:
    proxy = {"addr": "$HOST:${PORT}", "baseURL": "http://h/$BASE/", "options": {"authTokens": ["${TOKEN}", "$NONE"]}}
    servers = {"fetch/${TOKEN}": {"command": "$CMD", "args": ["${A}", "$$b"], "env": {"K": "$A", "S": "${secret:S}"}}}
    found = reading(tmp_path, {"mcpProxy": proxy, "mcpServers": servers}, HOST="localhost", PORT="9", BASE="mcp", TOKEN="t0")
    assert found.endpoint == Endpoint("localhost", 9, "/mcp", public_host="h")
    (server,) = found.entries
    assert (server.name, server.tokens) == ("fetch/t0", ("t0",))
    assert (server.config.command, server.config.args) == ("${CMD:-}", ("${A:-}", "$${b:-}"))
    assert dict(server.config.env) == {"K": "${A:-}", "S": "${secret:S}"}
    assert server.written == servers["fetch/${TOKEN}"]


@pytest.mark.parametrize(
    ("proxy", "endpoint"),
    [
        ({}, Endpoint("", 80)),
        ({"addr": "127.0.0.1:0"}, Endpoint("127.0.0.1", 0)),
        ({"addr": ":65535"}, Endpoint("", 65535)),
        ({"addr": "[::1]:9090"}, Endpoint("::1", 9090)),
        ({"addr": "localhost:https"}, Endpoint("localhost", 443)),
        ({"addr": "localhost:http"}, Endpoint("localhost", 80)),
        ({"addr": ":1", "baseURL": "https://me:pw@h:8443/a//b/../c/?x"}, Endpoint("", 1, "/a/c", public_host="h:8443")),
        ({"addr": ":1", "baseUrl": "h"}, Endpoint("", 1, "/h")),
        ({"addr": ":1", "baseURL": "http://h/../.."}, Endpoint("", 1, public_host="h")),
    ],
)
def test_where_it_is_served(tmp_path: Path, proxy: dict[str, Any], endpoint: Endpoint) -> None:
    found = with_proxy(tmp_path, proxy)
    assert (found.endpoint, found.problems) == (endpoint, ())


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        ({"addr": "9090"}, "mcpProxy.addr must be like ':9090' or 'localhost:9090'"),
        ({"addr": ":65536"}, "mcpProxy.addr must be like ':9090' or 'localhost:9090'"),
        ({"addr": ":odd"}, "mcpProxy.addr must be like ':9090' or 'localhost:9090'"),
        ({"addr": "[::1:9090"}, "mcpProxy.addr must be like ':9090' or 'localhost:9090'"),
        ({"addr": "::1]:9090"}, "mcpProxy.addr must be like ':9090' or 'localhost:9090'"),
        ({"addr": "::1:9090"}, "mcpProxy.addr must be like ':9090' or 'localhost:9090'"),
        ({"addr": 9090}, "'addr' must be text"),
        ({"addr": ":1", "type": "stdio"}, "mcpProxy.type must be sse or streamable-http; nothing is served there"),
        ({"addr": ":1", "baseURL": "http://[h"}, "'baseURL' is not a URL"),
    ],
)
def test_what_cannot_be_served_is_told_and_the_servers_are_there_nevertheless(tmp_path: Path, proxy: dict[str, Any], why: str) -> None:
    found = reading(tmp_path, {"mcpProxy": proxy, "mcpServers": {"fs": {"command": "a"}}})
    assert (found.endpoint, reasons(found), len(found.entries)) == (None, [why], 1)


def test_what_other_proxies_add_is_told(tmp_path: Path) -> None:
    proxy = PROXY | {"hierarchyPath": "x", "options": {"preloadAll": True, "lazyLoad": True}}
    found = reading(tmp_path, {"mcpProxy": proxy, "mcpServers": {"fs": {"command": "a", "options": {"recursiveLazyLoad": True}}}})
    assert reasons(found) == [f"'{field}' means nothing here" for field in ("hierarchyPath", "preloadAll", "recursiveLazyLoad")]
    assert found.entries[0].config.lazy_load is True


OLD = {
    "server": PROXY | {"globalAuthTokens": ["all"]},
    "clients": {
        "a": {
            "type": "stdio",
            "config": {"command": "a", "args": ["x"]},
            "panicIfInvalid": True,
            "logEnabled": True,
            "authTokens": ["own"],
        },
        "b": {"type": "sse", "config": {"url": "http://b", "headers": {"K": "v"}}},
        "c": {"type": "streamable-http", "config": {"url": "http://c", "timeout": 2_000_000_000}},
        "d": {"type": "sse", "config": {"command": "d", "url": "http://d"}},
    },
}


def test_version_1_keeps_what_its_migration_loses(tmp_path: Path) -> None:
    found = reading(tmp_path, OLD)
    assert found.problems == ()
    assert found.endpoint == Endpoint("", 9090, "", "sse", "MCP Proxy", "1.0.0", "localhost:9090")
    assert [entry.config.transport for entry in found.entries] == ["stdio", "sse", "http", "sse"]
    assert [(entry.must_run, entry.logs_calls) for entry in found.entries] == [(True, True), *[(False, False)] * 3]
    assert [entry.tokens for entry in found.entries] == [("own", "all"), ("all",), ("all",), ("all",)]
    assert found.entries[2].config.call_timeout == 2.0
    assert dict(found.entries[1].config.custom_headers) == {"K": "v"}


def test_version_1_without_tokens_asks_for_none(tmp_path: Path) -> None:
    found = reading(tmp_path, OLD | {"server": PROXY})
    assert found.entries[1].tokens == ()


def test_version_2_goes_before_version_1(tmp_path: Path) -> None:
    found = reading(tmp_path, OLD | {"mcpProxy": {"addr": ":1", "options": {"authTokens": ["new"]}}, "mcpServers": {"z": {"command": "z"}}})
    assert ([entry.name for entry in found.entries], found.entries[0].tokens) == (["z"], ("new",))
    assert found.endpoint == Endpoint("", 1)
    half = {"mcpProxy": {"addr": ":1", "options": {"authTokens": ["new"], "panicIfInvalid": True}}, "clients": OLD["clients"]}
    found = reading(tmp_path, half)
    assert [entry.tokens for entry in found.entries] == [("own",), ("new",), ("new",), ("new",)]
    assert [entry.must_run for entry in found.entries] == [True, False, False, False]


def test_servers_of_version_2_beside_a_proxy_of_version_1_want_its_tokens(tmp_path: Path) -> None:
    found = reading(tmp_path, {"server": OLD["server"], "mcpServers": {"z": {"command": "z"}}})
    assert [entry.tokens for entry in found.entries] == [("all",)]


@pytest.mark.parametrize("kind", ["odd", "", "http"])
def test_a_type_that_version_1_does_not_have_is_told(tmp_path: Path, kind: str) -> None:
    found = reading(tmp_path, {"server": PROXY, "clients": {"a": {"type": kind, "config": {"command": "a"}}}})
    assert (found.entries, reasons(found)) == ((), ["its type must be stdio, sse or streamable-http"])


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], 'the file must be an object with "mcpProxy" in it'),
        ({"mcpProxy": []}, "'mcpProxy' must be an object"),
        ({"mcpProxy": {}, "mcpServers": []}, "'mcpServers' must be an object"),
    ],
)
def test_a_file_of_something_else_is_not_understood(tmp_path: Path, document: Any, why: str) -> None:
    found = reading(tmp_path, document)
    assert not found.is_understood
    assert found.problems[0].problem.message.endswith(why)


def test_a_file_without_servers_is_no_problem(tmp_path: Path) -> None:
    found = reading(tmp_path, {"mcpProxy": {}})
    assert (found.is_understood, found.entries, found.problems) == (True, (), ())


def test_a_token_in_the_keyring_is_none_yet_and_an_entry_with_one_is_not_open_to_everyone(tmp_path: Path) -> None:
    found = entry(tmp_path, {"command": "a", "options": {"authTokens": ["${secret:T}", " a ", "${secret:T}", "$NONE"]}})
    assert (found.tokens, found.secret_tokens) == (("a",), ("${secret:T}",))
    found = entry(tmp_path, {"command": "a", "options": {"authTokens": ["${secret:T}", ""]}})
    assert (found.tokens, found.secret_tokens) == ((), ("${secret:T}",))


def test_no_token_gets_into_what_may_be_logged(tmp_path: Path) -> None:
    assert "hush" not in repr(entry(tmp_path, {"command": "a", "options": {"authTokens": ["hush"]}}))


@pytest.mark.parametrize(
    ("text", "ours", "filled"),
    [
        ("$A", "${A:-}", "1"),
        ("${A}b$A.c", "${A:-}b${A:-}.c", "1b1.c"),
        ("$missing!", "${missing:-}!", "!"),
        ("$5.00 $* $ $/", "$5.00 $* $ $/", "$5.00 $* $ $/"),
        ("$$A", "$${A:-}", "$1"),
        ("a ${} b ${ ${a b}", "a ${} b ${ ${a b}", "a ${} b ${ ${a b}"),
        ("${secret:A/B}", "${secret:A/B}", "${secret:A/B}"),
        ("${A:-x}", "${A:-x}", "${A:-x}"),
    ],
)
def test_variables_are_translated_and_any_other_sign_is_text(text: str, ours: str, filled: str) -> None:
    assert in_our_spelling(text) == ours
    assert filled_in(text, {"A": "1"}) == filled


def test_every_text_of_a_value_is_translated_and_no_name() -> None:
    value: Any = {"$A": ["$A", 5, None, {"b": "$B"}]}
    assert entry_in_our_spelling(value) == {"$A": ["${A:-}", 5, None, {"b": "${B:-}"}]}


@given(st.lists(st.sampled_from([*"${}:-ab1 _", "${a}", "secret:"]), max_size=12).map("".join))
def test_nothing_is_left_that_would_be_misread(text: str) -> None:
    ours = in_our_spelling(text)
    assert in_our_spelling(ours) == ours


def fields(text: str) -> GoFields:
    return GoFields(read(text))


def test_a_field_is_found_whatever_the_case_of_its_name_and_null_is_none() -> None:
    found = fields('{"AddR": ":1", "Count": 3, "On": false, "List": ["a"], "Empty": [], "Options": {"On": true}, "Gone": null}')
    assert (found.text("addr"), found.whole_number("count"), found.flag("on")) == (":1", 3, False)
    assert (found.texts("list"), found.texts("empty"), found.inner("options").flag("ON")) == (["a"], [], True)
    absent = (found.text("gone"), found.whole_number("gone"), found.flag("gone"), found.texts("gone"), found.inner_value("gone"))
    assert absent == ("", 0, None, None, None)
    assert (found.inner("gone").at, found.inner("gone").raw("x"), GoFields(None).place("x")) == (None, None, None)


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("text", "5", "'a' must be text"),
        ("flag", '"true"', "'a' must be true or false"),
        ("whole_number", "true", "'a' must be a whole number"),
        ("whole_number", "1.5", "'a' must be a whole number"),
        ("texts", '"a"', "'a' must be a list of texts"),
        ("texts", '["a", 5]', "'a' must be a list of texts"),
        ("inner", "[]", "'a' must be an object"),
    ],
)
def test_a_field_of_another_type_is_named_with_its_place(kind: str, value: str, why: str) -> None:
    with pytest.raises(CannotUse) as refused:
        getattr(fields(f' {{"A": {value}}}'), kind)("a")
    assert (refused.value.reason, refused.value.at) == (why, 2)


def test_the_place_of_what_is_absent_is_that_of_the_object() -> None:
    assert (fields(' {"a": 1}').place("a"), fields(' {"a": 1}').place("b")) == (2, 1)
