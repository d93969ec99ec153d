"""server_config.py: one entry of `mcpServers`, read in the ways that people and other programs write it."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig, OAuthSettings, ToolFilter, config_hash, runs_otherwise, what_runs
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.shell_words import joined
from tooltray.protocol.eras import Era

names = st.text(max_size=8)


unknown = st.dictionaries(
    st.text(min_size=1).map(lambda key: "x-" + key), st.none() | st.integers() | st.text() | st.lists(names), max_size=3
)


clean = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10)


stdio = st.fixed_dictionaries(
    {"command": clean.filter(str.strip)},
    optional={
        "args": st.lists(clean),
        "env": st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), clean),
        "autoApprove": st.lists(names),
        "disable": st.booleans(),
        "callTimeout": st.floats(min_value=0.1, max_value=1e6),
        "icons": names,
        "toolFilter": st.fixed_dictionaries({"mode": st.sampled_from(["allow", "block"]), "list": st.lists(names)}),
        "disabledTools": st.lists(names),
    },
)


remote = st.builds(
    lambda url, headers, values: {url: "https://host/mcp", headers: values},
    st.sampled_from(["url", "baseUrl"]),
    st.sampled_from(["headers", "customHeaders"]),
    st.dictionaries(st.from_regex(r"[A-Za-z-]{1,8}", fullmatch=True), st.from_regex(r"[ -~]{0,8}", fullmatch=True)),
)


def reason(entry: Any) -> str:
    with pytest.raises(TooltrayError) as caught:
        read_entry("files", entry)
    assert caught.value.problem.title == "The entry of server 'files' cannot be used"
    return caught.value.problem.message


@given(stdio | remote, unknown)
def test_an_entry_is_written_back_as_it_was_found(entry: dict[str, Any], more: dict[str, Any]) -> None:
    more = {key: value for key, value in more.items() if value is not None}
    assert read_entry("s", entry | more).to_entry() == entry | more


def test_an_entry_has_the_seeds_fields_under_the_users_names() -> None:
    config = read_entry(
        "s", {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "cwd": "/w", "autoApprove": ["all"], "callTimeout": 30}
    )
    assert (config.command, config.args, dict(config.env), config.cwd) == ("npx", ("-y", "x"), {"A": "1"}, "/w")
    assert (config.auto_approve, config.call_timeout) == (("all",), 30.0)


def test_what_is_missing_has_careful_defaults() -> None:
    config = MCPServerConfig(command="x")
    assert config.auto_approve == ("read",)
    assert config.call_timeout is None
    assert not config.disable
    assert (config.tool_filter, config.disabled_tools, config.icons, config.descriptions) == (None, (), "", "")


def test_null_means_not_given() -> None:
    fields = {"args", "env", "cwd", "type", "url", "headers", "autoApprove", "icons", "disable", "callTimeout", "toolFilter"}
    assert read_entry("s", {"command": "x"} | dict.fromkeys(fields)) == MCPServerConfig(command="x")


@pytest.mark.parametrize(
    ("entry", "transport", "target"),
    [
        ({"command": "npx", "args": ["a b"]}, "stdio", joined(["npx", "a b"])),
        ({"url": "https://h/mcp"}, "http", "https://h/mcp"),
        ({"baseUrl": "https://h/sse", "type": "sse"}, "sse", "https://h/sse"),
        ({"type": "sse", "command": "", "args": [], "baseUrl": "https://h"}, "sse", "https://h"),
        ({"type": "http", "command": "unused", "url": "HTTPS://h"}, "http", "HTTPS://h"),
        ({"type": "stdio", "command": "x", "url": "https://h"}, "stdio", "x"),
        ({"type": "streamable-http", "url": "${BASE}/mcp"}, "http", "${BASE}/mcp"),
        ({"transport": "sse", "url": "https://h/mcp"}, "sse", "https://h/mcp"),
        ({"transportType": "streamableHttp", "url": "https://h/sse"}, "http", "https://h/sse"),
        ({"transport": "streamable-http", "type": "http", "url": "https://h"}, "http", "https://h"),
        ({"transport": None, "type": "sse", "url": "https://h"}, "sse", "https://h"),
        ({"transport": "stdio", "command": "x", "url": "https://h"}, "stdio", "x"),
        ({"transport": "local", "command": "x"}, "stdio", "x"),
        ({"transport": "remote", "url": "https://h"}, "http", "https://h"),
        ({"url": "https://me:pw@h:8/mcp/?key=k#x"}, "http", "https://h:8/mcp/"),
        ({"url": "https://h?key=k/@x"}, "http", "https://h"),
        ({"type": "sse", "url": "${BASE}?key=k"}, "sse", "${BASE}"),
        ({"type": "inmemory"}, "inmemory", ""),
        ({"type": "inmemory", "command": "artifacts"}, "inmemory", "artifacts"),
        ({"command": "run", "args": ["${secret:a/KEY}"]}, "stdio", "run '${secret:a/KEY}'"),
    ],
)
def test_transport_and_target_follow_from_the_entry(entry: dict[str, Any], transport: str, target: str) -> None:
    config = read_entry("s", entry)
    assert (config.transport, config.target) == (transport, target)


def test_what_a_server_is_recognised_by_is_what_is_started() -> None:
    entry = {"command": "uvx", "args": ["nothing"], "startupArgsTemplate": ["serena", "{project_path}"]}
    assert read_entry("s", entry).target == "uvx nothing"
    assert read_entry("s", {**entry, "deferredStartup": True}).target == joined(["uvx", "serena", "{project_path}"])


def test_numbers_and_booleans_become_the_words_that_were_meant() -> None:
    entry = {"command": "x", "args": [8080, 1.5, True, Decimal("1E+400")], "env": {"PORT": 80, "DEBUG": False, "GONE": None}}
    config = read_entry("s", entry)
    assert config.args == ("8080", "1.5", "true", "1E+400")
    assert dict(config.env) == {"PORT": "80", "DEBUG": "false"}


def test_what_is_only_shown_never_costs_a_server() -> None:
    assert read_entry("s", {"command": "x", "icons": ["🔌"], "descriptions": 3}) == MCPServerConfig(command="x", icons="", descriptions="")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, "it has neither a command nor a URL"),
        ({"command": " "}, "it has neither a command nor a URL"),
        ({"command": "x", "url": "https://h"}, 'it has a command and a URL; choose one with "type"'),
        ({"type": "stdio", "url": "https://h"}, "its type is stdio, but it has no command"),
        ({"type": "sse", "command": "x"}, "its type is sse, but it has no URL"),
        ({"type": "http", "transport": "sse", "url": "https://h"}, "type / transport differ; keep one of them"),
        ({"transport": "pigeon", "url": "https://h"}, "type: must be one of 'stdio', 'http', 'sse', 'inmemory'"),
        ({"type": "ftp", "url": "https://h"}, "type: must be one of 'stdio', 'http', 'sse', 'inmemory'"),
        ({"type": 3, "command": "x"}, "type: must be one of 'stdio', 'http', 'sse', 'inmemory'"),
        ({"url": "file:///etc"}, "the URL must begin with http:// or https://"),
        ({"url": "https://a", "baseUrl": "https://b"}, "baseUrl / url differ; keep one of them"),
        ({"url": "https://a", "headers": {"A": "1"}, "customHeaders": {}}, "customHeaders / headers differ; keep one of them"),
        ({"url": "https://a", "headers": {"A": "1\r\nB: 2"}}, "customHeaders: a header has a line break in it"),
        ("npx -y x", "must be an object"),
        (None, "must be an object"),
        ({"command": ["npx"]}, "command: must be text"),
        ({"command": "x", "args": "-y"}, "args: must be a list"),
        ({"command": "x", "args": [None]}, "args.0: must be text"),
        ({"command": "x", "env": ["A=1"]}, "env: must be an object"),
        ({"command": "x", "env": {"A": {}}}, "env.A: must be text"),
        ({"command": "x", "env": {"A=B": "1"}}, "env: the name of a variable is empty or has a '=' in it"),
        ({"command": "x", "args": ["a\0b"]}, "a zero character is in the command, its arguments or its environment"),
        ({"command": "x", "disable": "true"}, "disable: must be true or false"),
        ({"command": "x", "autoApprove": "all"}, "autoApprove: must be a list"),
        ({"command": "x", "callTimeout": 0}, "callTimeout: must be more than 0"),
        ({"command": "x", "callTimeout": "30"}, "callTimeout: must be a number"),
        ({"command": "x", "callTimeout": True}, "callTimeout: must be a number"),
        ({"command": "x", "toolFilter": {"list": []}}, "toolFilter.mode: is missing"),
        ({"command": "x", "toolFilter": []}, "toolFilter: must be an object"),
        ({"command": 1, "args": 2}, "command: must be text; args: must be a list"),
        ({"command": "x", "lazyLoad": "yes"}, "lazyLoad: must be true or false"),
        ({"command": "x", "options": {"lazyLoad": 1}}, "options.lazyLoad: must be true or false"),
        ({"command": "x", "options": []}, "options: must be an object"),
        ({"command": "x", "deferredStartup": "yes"}, "deferredStartup: must be true or false"),
        ({"command": "x", "startupArgsTemplate": "{project_path}"}, "startupArgsTemplate: must be a list"),
        ({"command": "x", "startupArgsTemplate": [["a"]]}, "startupArgsTemplate.0: must be text"),
        ({"command": "x", "startupArgsTemplate": ["a\0b"]}, "a zero character is in the command, its arguments or its environment"),
        ({"command": "x", "toolOverrides": []}, "toolOverrides: must be an object"),
        ({"command": "x", "toolOverrides": {"t": "name"}}, "toolOverrides.t: must be an object"),
        (
            {"command": "x", "toolOverrides": {"t": {"name": 3, "description": []}}},
            "toolOverrides.t.name: must be text; toolOverrides.t.description: must be text",
        ),
    ],
)
def test_a_bad_entry_is_refused_in_words(entry: Any, expected: str) -> None:
    assert reason(entry) == expected


def test_two_spellings_of_one_thing_are_one_if_they_agree() -> None:
    entry = {"url": "https://a", "baseUrl": "https://a", "headers": {"A": "1"}, "customHeaders": {"A": "1"}}
    config = read_entry("s", entry)
    assert (config.base_url, dict(config.custom_headers)) == ("https://a", {"A": "1"})


def test_a_config_made_in_python_is_written_in_our_spelling() -> None:
    config = MCPServerConfig(base_url="https://h", custom_headers={"A": "1"}, tool_filter=ToolFilter(mode="block", list=("x",)))
    written = {"baseUrl": "https://h", "customHeaders": {"A": "1"}, "toolFilter": {"mode": "block", "list": ["x"]}}
    assert config.to_entry() == written


def test_neither_errors_nor_reprs_hold_what_somebody_typed_into_env_or_headers() -> None:
    entry = {"command": "x", "env": {"KEY": "hunter2"}, "headers": {"Authorization": "hunter2"}}
    assert "hunter2" not in repr(read_entry("s", entry))
    assert "hunter2" not in reason(
        entry | {"type": "hunter2"} | {"args": "hunter2", "callTimeout": "hunter2", "toolFilter": {"mode": "hunter2"}}
    )


def test_the_hash_is_over_what_decides_what_runs() -> None:
    base = {"command": "x", "args": ["a"], "env": {"A": "1", "B": "2"}}
    same = [
        base | {"type": "stdio"},
        base | {"env": {"B": "2", "A": "1"}},
        base | {"icons": "i", "autoApprove": ["all"], "disable": True, "x": 1, "callTimeout": 3, "disabledTools": ["t"]},
    ]
    other = [base | {"args": ["b"]}, base | {"command": "y"}, base | {"env": {}}, base | {"cwd": "/"}, {"command": "x", "args": ["a", ""]}]
    other += [base | {"customNpmRegistry": "https://npm.example/"}]
    other += [base | {"deferredStartup": True}, base | {"deferredStartup": True, "startupArgsTemplate": ["b"]}]
    assert what_runs(read_entry("s", base)) == '["stdio", "x", ["a"], {"A": "1", "B": "2"}, null, null, {}]'  # approvals are kept by it
    expected = config_hash(read_entry("s", base))
    assert {config_hash(read_entry("s", entry)) for entry in same} == {expected}
    assert len({config_hash(read_entry("s", entry)) for entry in other} | {expected}) == len(other) + 1


def test_the_hash_of_a_remote_server_counts_its_headers_and_kind_but_not_the_spelling() -> None:
    def hashed(**entry: Any) -> str:
        return config_hash(read_entry("s", entry))

    assert hashed(url="https://h", headers={"A": "1"}) == hashed(baseUrl="https://h", customHeaders={"A": "1"})
    assert len({hashed(url="https://h"), hashed(url="https://h", type="sse"), hashed(url="https://h", headers={"A": "1"})}) == 3


@pytest.mark.parametrize(
    ("changed", "is_other"),
    [
        ({}, False),
        ({"callTimeout": 3}, False),
        ({"args": ["b"]}, True),
        ({"era": "legacy"}, True),
        ({"confinement": "own"}, True),
    ],
)
def test_a_server_is_restarted_for_what_it_only_reads_at_its_start(changed: dict[str, Any], is_other: bool) -> None:
    before, after = (read_entry("s", {"command": "x", **more}) for more in ({}, changed))
    assert runs_otherwise(before, after) is is_other


def read(oauth: Any) -> OAuthSettings | None:
    return read_entry("far", {"url": "https://far.example/mcp", "oauth": oauth}).oauth


def test_nothing_need_be_said() -> None:
    assert read(None) is None
    assert read({}) == read(True) == OAuthSettings()
    assert OAuthSettings() == OAuthSettings(enabled=True, scopes=(), grant="authorization_code", redirect_port=0, send_resource=True)
    entry = read_entry("near", {"command": "x"})
    assert (entry.disable, entry.direct_start, entry.deferred_startup) == (False, True, False)


def test_false_switches_it_off() -> None:
    off = read(False)
    assert off
    assert (off.enabled, read({"enabled": False})) == (False, off)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"clientId": "c", "callbackPort": 33418}, {"clientId": "c", "redirectPort": 33418}),
        ({"callbackPort": 1, "redirectPort": 2}, {"redirectPort": 2}),
        ({"scope": "read write"}, {"scopes": ["read", "write"]}),
        ({"scopes": " read  write "}, {"scopes": ["read", "write"]}),
        ({"clientId": " ", "scopes": None, "callbackPort": None}, {}),
    ],
)
def test_what_other_programs_write_is_understood(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert read(theirs) == read(ours)


def test_what_is_not_known_is_kept() -> None:
    entry = {"url": "https://far.example/mcp", "oauth": {"authServerMetadataUrl": "https://a.example"}}
    assert read_entry("far", entry).to_entry() == entry


@pytest.mark.parametrize(
    ("oauth", "said"),
    [
        ("yes", "oauth: must be an object"),
        ({"redirectPort": 70000}, "oauth.redirectPort: must be 65535 or less"),
        ({"clientSecret": "dummy"}, "clientSecret needs clientId"),
        ({"grant": "client_credentials", "clientId": "c"}, "needs clientId and clientSecret"),
    ],
)
def test_what_cannot_be_used_is_refused_without_its_value(oauth: Any, said: str) -> None:
    with pytest.raises(TooltrayError, match=said) as refused:
        read(oauth)
    assert "dummy" not in str(refused.value)


def test_another_way_to_sign_in_is_another_server() -> None:
    configs = [MCPServerConfig.model_validate({"url": "https://far.example/", "oauth": each}) for each in (None, False, {"clientId": "c"})]
    assert len({config_hash(config) for config in configs}) == 3


def test_folders_of_a_server_are_whole_paths() -> None:
    assert MCPServerConfig.model_validate({"command": "p", "projects": ["/srv/a", "~/b"]}).projects == ("/srv/a", "~/b")
    with pytest.raises(TooltrayError, match="whole path"):
        read_entry("s", {"command": "p", "projects": ["a/b"]})


@pytest.mark.parametrize(
    ("entry", "own", "is_lazy"),
    [
        ({}, None, None),
        ({"lazyLoad": True}, True, True),
        ({"options": {"lazyLoad": True}}, True, True),
        ({"lazyLoad": False, "options": {"lazyLoad": True}}, False, False),
    ],
)
def test_the_entrys_own_word_on_lazy_loading_counts_before_the_default(
    entry: dict[str, Any], own: bool | None, is_lazy: bool | None
) -> None:
    config = read_entry("s", {"command": "p", **entry})
    assert config.own_lazy_load is own
    assert [config.is_lazy(by_default) for by_default in (False, True)] == ([False, True] if is_lazy is None else [is_lazy] * 2)


def test_an_era_that_is_given_is_not_detected() -> None:
    assert [read_entry("s", {"command": "p", "era": era}).only_era for era in ("auto", "legacy")] == [None, Era.LEGACY]


def test_an_odd_label_is_no_reason_to_lose_a_server() -> None:
    config = MCPServerConfig.model_validate({"command": "p", "label": 3, "color": ["blue"]})
    assert (config.label, config.color) == ("", "")
