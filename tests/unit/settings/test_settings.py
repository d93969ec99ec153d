from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.errors import TooltrayError
from tooltray.settings.server_config import MCPServerConfig, ToolFilter, config_hash
from tooltray.settings.settings import UNREADABLE_PROFILE, ClientSettings, check_name, read_entry, read_settings

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
        ({"command": "npx", "args": ["a b"]}, "stdio", "npx 'a b'"),
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


def test_null_is_no_client_no_profile_and_no_override() -> None:
    document = {"publish": {"clients": {"a": None, "b": {"mode": None}}}, "profiles": {"p": None, "q": {"tools": {"s": None}}}}
    reading = read_settings(document)
    assert reading.problems == ()
    assert (list(reading.settings.publish.clients), list(reading.settings.profiles)) == (["b"], ["q"])
    assert reading.settings.profiles["q"].tools == {}
    assert read_entry("s", {"command": "x", "toolOverrides": {"t": None}}).tool_overrides == {}


def test_what_a_server_is_recognised_by_is_what_is_started() -> None:
    entry = {"command": "uvx", "args": ["nothing"], "startupArgsTemplate": ["serena", "{project_path}"]}
    assert read_entry("s", entry).target == "uvx nothing"
    assert read_entry("s", {**entry, "deferredStartup": True}).target == "uvx serena '{project_path}'"


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
        ({"command": "x", "url": "https://h"}, 'it has a command and a URL; say which counts with "type"'),
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


@pytest.mark.parametrize("name", ["a", "x" * 64, "File System 2", "檔案", "a.b-c_d", "Hub", "🔌"])
def test_a_name_may_be_anything_printable(name: str) -> None:
    check_name(name, ("hub",))


@pytest.mark.parametrize("name", ["", "x" * 65, "a/b", "a\nb", " a", "a ", "hub", "a{b", "a}b", "a\x1b[31m", "\ud800", "\u202e"])
def test_other_names_are_refused_without_repeating_what_a_terminal_would_obey(name: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be the name of a server") as caught:
        check_name(name, ("hub",))
    assert str(caught.value).isprintable()


def test_the_hash_is_over_what_decides_what_runs() -> None:
    base = {"command": "x", "args": ["a"], "env": {"A": "1", "B": "2"}}
    same = [
        base | {"type": "stdio"},
        base | {"env": {"B": "2", "A": "1"}},
        base | {"icons": "i", "autoApprove": ["all"], "disable": True, "x": 1, "callTimeout": 3, "disabledTools": ["t"]},
    ]
    other = [base | {"args": ["b"]}, base | {"command": "y"}, base | {"env": {}}, base | {"cwd": "/"}, {"command": "x", "args": ["a", ""]}]
    other += [base | {"deferredStartup": True}, base | {"deferredStartup": True, "startupArgsTemplate": ["b"]}]
    expected = config_hash(read_entry("s", base))
    assert {config_hash(read_entry("s", entry)) for entry in same} == {expected}
    assert len({config_hash(read_entry("s", entry)) for entry in other} | {expected}) == len(other) + 1


def test_the_hash_of_a_remote_server_counts_its_headers_and_kind_but_not_the_spelling() -> None:
    def hashed(**entry: Any) -> str:
        return config_hash(read_entry("s", entry))

    assert hashed(url="https://h", headers={"A": "1"}) == hashed(baseUrl="https://h", customHeaders={"A": "1"})
    assert len({hashed(url="https://h"), hashed(url="https://h", type="sse"), hashed(url="https://h", headers={"A": "1"})}) == 3


def test_a_whole_document_is_read() -> None:
    document = {
        "version": 1,
        "mcpServers": {"a": {"command": "x"}},
        "defaultServers": ["a", "hub", "a"],
        "mcpEnabled": False,
        "publish": {"naming": "always"},
        "secrets": {"backend": "file"},
    }
    reading = read_settings(document)
    settings = reading.settings
    assert reading.problems == ()
    assert (settings.version, list(settings.mcp_servers), settings.default_servers) == (1, ["a"], ("a", "hub"))
    assert (settings.mcp_enabled, settings.publish.naming, settings.secrets.backend) == (False, "always", "file")


def test_what_is_published_where_that_is_no_object_is_the_default() -> None:
    for odd in (5, []):
        assert read_settings({"publish": odd}).settings.publish == read_settings({}).settings.publish


@pytest.mark.parametrize("document", [{}, dict.fromkeys(["version", "mcpServers", "defaultServers", "mcpEnabled", "publish", "secrets"])])
def test_an_empty_document_means_the_defaults(document: dict[str, Any]) -> None:
    reading = read_settings(document)
    assert reading.problems == ()
    assert reading.settings.mcp_enabled
    assert (reading.settings.mcp_servers, reading.settings.default_servers) == ({}, ())
    assert (reading.settings.publish.naming, reading.settings.secrets.backend) == ("conflict", None)


def test_bad_entries_are_skipped_and_the_others_load() -> None:
    entries = {"good": {"command": "x"}, "bad": {}, "a/b": {"command": "x"}, "hub": {"command": "x"}, "last": {"url": "https://h"}}
    reading = read_settings({"mcpServers": entries}, ("hub",))
    assert list(reading.settings.mcp_servers) == ["good", "last"]
    assert [problem.title for problem in reading.problems] == [
        "The entry of server 'bad' cannot be used",
        "'a/b' cannot be the name of a server",
        "'hub' cannot be the name of a server",
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"mcpServers": []}, "mcpServers: must be an object"),
        ({"defaultServers": "a"}, "defaultServers: must be a list of names"),
        ({"defaultServers": ["a", 3]}, "defaultServers: must be a list of names"),
        ({"mcpEnabled": "yes"}, "mcpEnabled: must be true or false"),
        ({"publish": {"http": {"port": 70000}}}, "publish: http.port: is too large"),
        ({"publish": {"http": {"port": -1}}}, "publish: http.port: must be 0 or more"),
        ({"publish": {"http": {"port": "80"}}}, "publish: http.port: must be a whole number"),
        ({"publish": {"http": {"requireToken": 1}}}, "publish: http.requireToken: must be true or false"),
        ({"publish": {"naming": "never"}}, "publish: naming: must be one of 'conflict', 'always'"),
        ({"secrets": {"backend": "plain"}}, "secrets: backend: must be one of 'keyring', 'file', 'memory'"),
        ({"secrets": "file"}, "secrets: must be an object"),
        ({"publish": {"lazyLoad": "yes"}}, "publish: lazyLoad: must be true or false"),
        ({"publish": {"feedback": 0}}, "publish: feedback: must be true or false"),
        ({"publish": {"mode": "some"}}, "publish: mode: must be one of 'everything', 'lazy', 'search', 'automatic'"),
        ({"publish": {"clients": ["acme"]}}, "publish: clients: must be an object"),
        (
            {"publish": {"clients": {"acme": {"mode": "some"}}}},
            "publish: clients.acme.mode: must be one of 'everything', 'lazy', 'search', 'automatic'",
        ),
        ({"publish": {"clients": {"acme": {"profile": 1}}}}, "publish: clients.acme.profile: must be text"),
        ({"publish": {"clients": {"acme": {"autoApprove": "all"}}}}, "publish: clients.acme.autoApprove: must be a list"),
        ({"profiles": ["work"]}, "profiles: must be an object"),
        ({"profiles": {"work": {"servers": "files"}}}, "profiles: work.servers: must be a list"),
        ({"profiles": {"work": {"tools": {"files": "read"}}}}, "profiles: work.tools.files: must be a list"),
        ({"allowedFolders": "/srv"}, "allowedFolders: must be a list"),
        ({"allowedFolders": [1]}, "allowedFolders: 0: must be text"),
        ({"readyAnswers": [{}]}, "readyAnswers: 0: must be text"),
        ({"publish": "all"}, "publish: must be an object"),
        ({"publish": {"clients": {"acme": ["read"]}}}, "publish: clients.acme: must be an object"),
        ({"profiles": {"work": 3}}, "profiles: work: must be an object"),
        (
            {"publish": {"clients": {"acme": {"profile": 1, "autoApprove": [2, "x", 3]}}}},
            "publish: clients.acme.profile: must be text; "
            "clients.acme.autoApprove.0: must be text; clients.acme.autoApprove.2: must be text",
        ),
        (
            {"publish": {"http": {"port": "80", "enabled": 1}}},
            "publish: http.enabled: must be true or false; http.port: must be a whole number",
        ),
    ],
)
def test_a_bad_part_is_told_and_the_rest_is_used(document: dict[str, Any], message: str) -> None:
    reading = read_settings({"mcpServers": {"a": {"command": "x"}}} | document)
    assert [problem.message for problem in reading.problems] == [message]
    assert document.keys() == {"mcpServers"} or "a" in reading.settings.mcp_servers
    assert reading.settings.secrets.backend is None


def test_of_a_list_with_odd_members_the_names_are_used() -> None:
    assert read_settings({"defaultServers": ["a", 3, "b"]}).settings.default_servers == ("a", "b")
    reading = read_settings({"allowedFolders": ["/a", 3, "/b", None], "readyAnswers": [{}, "Yes"]})
    assert (reading.settings.allowed_folders, reading.settings.ready_answers) == (("/a", "/b"), ("Yes",))
    assert [str(problem) for problem in reading.problems] == [
        "allowedFolders in the settings is not fully used: allowedFolders: 1: must be text; allowedFolders: 3: must be text. "
        "Correct it in settings.json",
        "readyAnswers in the settings is not fully used: readyAnswers: 0: must be text. Correct it in settings.json",
    ]


def test_a_slip_in_what_ai_clients_see_costs_nothing_else_of_it() -> None:
    publish = {
        "naming": "never",
        "mode": "some",
        "lazyLoad": True,
        "feedback": False,
        "later": 1,
        "http": {"enabled": True, "port": "80"},
        "clients": {"zz": {"mode": "bogus"}, "careful": {"autoApprove": ["read"], "profile": "work"}},
    }
    reading = read_settings({"publish": publish, "profiles": {"odd": {"servers": "all"}, "work": {"servers": ["a"]}}})
    used = reading.settings.publish
    assert (used.naming, used.mode, used.lazy_load, used.feedback, used.model_extra) == ("conflict", None, True, False, {"later": 1})
    assert (used.http.enabled, used.http.port) == (False, 7717)
    assert used.clients == {"zz": ClientSettings(), "careful": ClientSettings(auto_approve=("read",), profile="work")}
    assert list(reading.settings.profiles) == ["work"]
    assert [(problem.title, problem.hint) for problem in reading.problems] == [
        ("publish.naming in the settings is not used", "Correct it in settings.json"),
        ("publish.http in the settings is not used", "Correct it in settings.json; until then AI clients cannot connect over HTTP"),
        ("publish.mode in the settings is not used", "Correct it in settings.json"),
        ("The settings of AI client 'zz' are not fully used", "Correct it in settings.json"),
        ("The profile 'odd' cannot be used", "Correct it in settings.json; until then AI clients that have it see nothing"),
    ]


@pytest.mark.parametrize(
    ("client", "used", "meanwhile"),
    [
        ({"mode": 1, "autoApprove": []}, ClientSettings(auto_approve=()), ""),
        ({"autoApprove": "none"}, ClientSettings(auto_approve=()), "each of its calls is asked about"),
        ({"autoApprove": ["read", 1], "mode": "lazy"}, ClientSettings(auto_approve=(), mode="lazy"), "each of its calls is asked about"),
        ({"auto_approve": "none"}, ClientSettings(auto_approve=()), "each of its calls is asked about"),
        ({"autoApprove": "none", "auto_approve": ["all"]}, ClientSettings(auto_approve=()), "each of its calls is asked about"),
        (["read"], ClientSettings(auto_approve=()), "each of its calls is asked about"),
        ({"profile": ["work"]}, ClientSettings(profile=UNREADABLE_PROFILE), "it sees nothing"),
        (
            {"profile": 1, "autoApprove": 2},
            ClientSettings(profile=UNREADABLE_PROFILE, auto_approve=()),
            "each of its calls is asked about and it sees nothing",
        ),
    ],
)
def test_by_a_slip_no_client_may_do_more_than_was_meant(client: Any, used: ClientSettings, meanwhile: str) -> None:
    reading = read_settings({"publish": {"clients": {"a\nb": client}}})
    assert reading.settings.publish.clients["a\nb"] == used
    (problem,) = reading.problems
    assert problem.title == "The settings of AI client 'a?b' are not fully used"
    assert problem.hint == f"Correct it in settings.json; until then {meanwhile}".removesuffix("; until then ")


@pytest.mark.parametrize(
    ("overrides", "used", "messages"),
    [
        (None, [], []),
        ({"t": {"name": "look"}, "u": None}, ["t"], []),
        (
            {"t": "look", "u": {"name": 3}, "v": {"name": "look"}},
            ["v"],
            ["toolOverrides.t: must be an object; toolOverrides.u.name: must be text"],
        ),
        (["t"], [], ["toolOverrides: must be an object"]),
    ],
)
def test_an_override_that_cannot_be_used_costs_no_server(overrides: Any, used: list[str], messages: list[str]) -> None:
    reading = read_settings({"mcpServers": {"s": {"command": "x", "toolOverrides": overrides}}})
    assert list(reading.settings.mcp_servers["s"].tool_overrides) == used
    assert [problem.message for problem in reading.problems] == messages
    assert {problem.title for problem in reading.problems} <= {"The overrides of tools of server 's' are not fully used"}
    (problem,) = read_settings({"mcpServers": {"s": {"args": [], "toolOverrides": overrides}}}).problems
    assert "neither a command nor a URL" in problem.message


@pytest.mark.parametrize(
    ("publish", "lazy"),
    [
        ({}, ["own"]),
        ({"lazyLoad": True}, ["none", "own"]),
        ({"mode": "lazy"}, ["none", "own"]),
        ({"mode": "everything", "lazyLoad": True}, []),
        ({"mode": "search", "lazyLoad": True}, []),
        ({"mode": "automatic", "lazyLoad": True}, []),
    ],
)
def test_a_server_is_lazy_for_clients_that_have_no_mode_of_their_own(publish: dict[str, Any], lazy: list[str]) -> None:
    entries = {"none": {"command": "x"}, "own": {"command": "x", "lazyLoad": True}, "not": {"command": "x", "lazyLoad": False}}
    settings = read_settings({"mcpServers": entries, "publish": publish}).settings
    assert [name for name, server in settings.mcp_servers.items() if settings.publish.shows_lazily(server)] == lazy


def test_http_is_off_and_asks_for_a_token_until_somebody_says_otherwise() -> None:
    http = read_settings({}).settings.publish.http
    assert (http.enabled, http.host, http.port, http.require_token) == (False, "127.0.0.1", 7717, True)
    given = {"enabled": True, "host": "::1", "port": 0, "requireToken": False}
    http = read_settings({"publish": {"http": given}}).settings.publish.http
    assert (http.enabled, http.host, http.port, http.require_token) == (True, "::1", 0, False)
