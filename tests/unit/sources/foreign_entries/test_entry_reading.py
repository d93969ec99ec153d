"""entry_reading.py: what a client has written means the same in our settings."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.sources.foreign_entries.entry_reading import RawServer, read_server
from tooltray.sources.foreign_entries.variables import SYNTAXES

NPX = {"command": "npx", "args": ["-y", "server"], "env": {"API_KEY": "dummy"}}
URL = "https://a.example/mcp"


def no_file(path: str) -> str:
    raise CannotUse(f"no {path}")


def read(raw: Any, shape: str = "", read_file: Any = no_file, **fields: Any) -> Any:
    return read_server(RawServer("s", raw, shape, **fields), home="/home/me", read_file=read_file)


def entry(raw: Any, shape: str = "", **fields: Any) -> dict[str, Any]:
    found = dict(read(raw, shape, **fields).entry)
    assert "autoApprove" not in found
    return found


@pytest.mark.parametrize(
    ("shape", "raw"),
    [
        ("claude-desktop", NPX),
        ("claude", {"type": "stdio", **NPX}),
        ("cursor", NPX),
        ("vscode", {"type": "stdio", **NPX, "dev": {"watch": "x"}}),
        ("windsurf", {**NPX, "disabled": False}),
        ("cline", {"transportType": "stdio", **NPX, "autoApprove": ["a"]}),
        ("zed", {"source": "custom", "command": {"path": "npx", "args": ["-y", "server"], "env": {"API_KEY": "dummy"}}}),
        ("codex", {**NPX, "startup_timeout_sec": 20, "required": True, "tools": {"a": {"approval_mode": "approve"}}}),
        ("gemini", {**NPX, "trust": True}),
        ("copilot-cli", {"type": "local", **NPX, "tools": ["*"]}),
        ("opencode", {"type": "local", "command": ["npx", "-y", "server"], "environment": {"API_KEY": "dummy"}, "timeout": 9000}),
        ("goose", {"type": "stdio", "cmd": "npx", "args": ["-y", "server"], "envs": {"API_KEY": "dummy"}, "enabled": True}),
        ("warp", {**NPX, "start_on_launch": True, "working_directory": None}),
        ("continue", {**NPX, "connectionTimeout": 5}),
        ("plain", {"command": "npx -y server", "env": {"API_KEY": "dummy"}}),
        ("plain", {"command": "npx", "args": "-y server", "env": {"API_KEY": "dummy"}}),
    ],
)
def test_one_program_in_the_words_of_each_client(shape: str, raw: dict[str, Any]) -> None:
    found = entry(raw, shape)
    assert found.pop("type", "stdio") == "stdio"
    assert found == NPX


@pytest.mark.parametrize(
    ("shape", "raw", "kind"),
    [
        ("claude", {"type": "http", "url": URL}, "http"),
        ("claude", {"type": "sse", "url": URL}, "sse"),
        ("windsurf", {"serverUrl": URL}, None),
        ("cline", {"type": "streamableHttp", "url": URL}, "http"),
        ("cline", {"url": URL}, "sse"),
        ("roo", {"type": "streamable-http", "url": URL}, "http"),
        ("gemini", {"url": URL}, "sse"),
        ("gemini", {"httpUrl": URL, "url": "https://other.example"}, "http"),
        ("gemini", {"url": URL, "type": "http"}, "http"),
        ("opencode", {"type": "remote", "url": URL}, "http"),
        ("goose", {"type": "streamable_http", "uri": URL}, "http"),
        ("cursor", {"url": "https://a.example/sse"}, "sse"),
    ],
)
def test_one_address_in_the_words_of_each_client(shape: str, raw: dict[str, Any], kind: str | None) -> None:
    found = entry(raw, shape)
    assert found.pop("type", None) == kind
    assert list(found) == ["url"]


def test_a_server_behind_a_proxy_comes_out_of_it_also_where_its_client_fills_nothing_in() -> None:
    raw = {
        "command": "npx",
        "args": ["-y", "mcp-remote", URL, "--header", "Authorization: ${AUTH}"],
        "env": {"AUTH": "Bearer dummy"},
        "tool_timeout_sec": 90,
    }
    found = read(raw, "codex")
    assert found.entry == {"url": URL, "headers": {"Authorization": "Bearer dummy"}, "callTimeout": 90.0}
    assert "mcp-remote" in found.proxied


@pytest.mark.parametrize(
    ("shape", "raw", "seconds"),
    [
        ("claude", {"timeout": 500}, 0.5),
        ("cline", {"timeout": 3600}, 3600),
        ("plain", {"timeout": 30}, 30),
        ("plain", {"timeout": 30_000}, 30),
        ("codex", {"tool_timeout_sec": 12.5}, 12.5),
        ("opencode", {"timeout": 5000}, None),
        ("plain", {"timeout": -1}, None),
        ("plain", {"timeout": True}, None),
        ("plain", {"timeout": {"start": 1}}, None),
    ],
)
def test_a_time_out_is_in_the_unit_of_its_client(shape: str, raw: dict[str, Any], seconds: float | None) -> None:
    assert entry({"command": "x", **raw}, shape).get("callTimeout") == seconds


def test_tools_that_a_client_hides_stay_hidden_and_what_it_approves_is_asked_for_here() -> None:
    found = read({"command": "x", "includeTools": ["a(b)", "c"], "excludeTools": ["d"], "alwaysAllow": ["a"], "trust": True}, "gemini")
    assert found.entry["toolFilter"] == {"mode": "allow", "list": ["a", "c"]}
    assert (found.entry["disabledTools"], "autoApprove" in found.entry) == (["d"], False)
    assert entry({"command": "x", "tools": ["a"]}, "copilot-cli")["toolFilter"] == {"mode": "allow", "list": ["a"]}
    assert "toolFilter" not in entry({"command": "x", "enabled_tools": ["*"]}, "codex")


@pytest.mark.parametrize(
    ("shape", "raw", "reason"),
    [
        ("plain", {}, "neither a command nor a URL"),
        ("plain", {"command": "x", "url": URL}, "a command and a URL"),
        ("plain", {"command": "x", "args": {"a": 1}}, "'args' must be a list"),
        ("plain", {"command": "x", "args": [["y"]]}, "args"),
        ("plain", {"command": 'x "y'}, "a quote"),
        ("claude", {"type": "ws", "url": URL}, "its type must be"),
        ("plain", {"command": "x", "disabledTools": "all"}, "list of tools cannot be read"),
        ("plain", {"command": "x", "includeTools": ["get_*"]}, "patterns"),
        ("plain", {"command": "x", "cmd": "y"}, "differ"),
        ("plain", {"command": "x", "env": 5}, "env"),
        ("plain", {"url": URL, "headers": ["X"]}, "customHeaders: must be an object"),
        ("plain", {"url": "ftp://a.example"}, "http://"),
        ("codex", {"command": "x", "args": ["${HOME}"]}, "hands ${HOME} over"),
        ("droid", {"command": "x", "args": ["${HOME}"]}, "hands ${HOME} over"),
        ("codex", {"command": "x", "env_vars": "a"}, "'env_vars' must be a list"),
        ("codex", {"command": "x", "env_vars": ["a-b"]}, "not a variable name"),
        ("codex", {"url": URL, "bearer_token_env_var": 5}, "not a variable name"),
        ("cursor", {"command": "x", "envFile": "/none"}, "no /none"),
        ("plain", {"command": "x", "env": {"A": "b\0"}}, "zero character"),
    ],
)
def test_what_cannot_be_used_has_a_reason(shape: str, raw: dict[str, Any], reason: str) -> None:
    with pytest.raises(CannotUse) as refused:
        read(raw, shape)
    assert reason in refused.value.reason


def test_names_of_variables_become_references() -> None:
    assert entry({"command": "x", "env_vars": ["A", {"name": "B"}], "env": {"A": "own"}}, "codex")["env"] == {"A": "own", "B": "${B}"}
    found = entry({"url": URL, "bearer_token_env_var": "TOKEN", "env_http_headers": {"X": "KEY"}, "http_headers": {"Y": "1"}}, "codex")
    assert found["headers"] == {"X": "${KEY}", "Authorization": "Bearer ${TOKEN}", "Y": "1"}
    assert entry({"command": "x", "env": {"A": "${B}"}, "args": ["y"]}, "droid")["env"] == {"A": "${B}"}


def test_keys_of_a_keyring_are_asked_for() -> None:
    found = read({"type": "stdio", "cmd": "x", "env_keys": ["TOKEN"]}, "goose")
    assert found.entry["env"] == {"TOKEN": "${input:TOKEN}"}
    assert [(field.key, field.is_secret) for field in found.asks] == [("TOKEN", True)]


def test_a_file_with_variables_is_read_and_the_entrys_own_come_first() -> None:
    text = "# a comment\nexport A=1\nB='two words'\nC=\"3\"\nD=4 # four\n\nnonsense\nOWN=no\n"
    asked: list[str] = []

    def read_file(path: str) -> str:
        asked.append(path)
        return text

    found = entry(
        {"command": "x", "envFile": "${workspaceFolder}/.env", "env": {"OWN": "yes"}}, "vscode", project="/p", read_file=read_file
    )
    assert (asked, found["cwd"]) == (["/p/.env"], "/p")
    assert found["env"] == {"A": "1", "B": "two words", "C": "3", "D": "4", "OWN": "yes"}


def test_a_server_of_a_project_starts_in_its_folder_and_one_that_names_the_open_folder_for_each_project() -> None:
    assert entry(NPX, "claude", project="/p")["cwd"] == "/p"
    assert entry({**NPX, "cwd": "/else"}, "claude", project="/p")["cwd"] == "/else"
    assert "cwd" not in entry({"url": URL}, "claude", project="/p")
    found = entry({"command": "x", "args": ["${workspaceFolder}"]}, "vscode")
    assert (found["args"], found["deferredStartup"]) == (["{project_path}"], True)


@pytest.mark.parametrize(
    ("raw", "oauth"),
    [
        ({"oauth": False}, False),
        ({"oauth": {}}, None),
        ({"oauth": "odd"}, None),
        ({"auth": {"CLIENT_ID": "me", "CLIENT_SECRET": "${env:S}"}}, {"clientId": "me", "clientSecret": "${S}"}),
        ({"oauth": {"client_id": "me", "callbackPort": 5, "other": 1}}, {"clientId": "me", "callbackPort": 5}),
        ({"scopes": ["a"]}, {"scopes": ["a"]}),
        ({"oauth": {"scope": "a b", "scopes": ["x"]}, "scopes": ["a"]}, {"scopes": ["x"]}),
        ({"oauth": {"scope": "a b"}}, {"scope": "a b"}),
    ],
)
def test_how_to_sign_in_is_taken_over(raw: dict[str, Any], oauth: Any) -> None:
    assert entry({"url": URL, **raw}, "cursor").get("oauth") == oauth


def test_what_is_off_and_what_runs_in_a_sandbox_is_reported() -> None:
    assert read({"command": "x", "disabled": True}).is_off
    assert read({"command": "x", "enabled": False}).is_off
    assert "sandbox" in read({"command": "x", "sandboxEnabled": True}, "vscode").remarks[0]


@pytest.mark.parametrize(
    ("raw", "headers"),
    [
        ({"requestOptions": {"headers": {"X-Key": "dummy"}}}, {"X-Key": "dummy"}),
        ({"requestInit": {"headers": {"X-Key": "dummy"}}}, {"X-Key": "dummy"}),
        ({"apiKey": "dummy"}, {"Authorization": "Bearer dummy"}),
        (
            {"headers": {"A": "1"}, "requestOptions": {"headers": {"Authorization": "old"}}, "apiKey": "${{ secrets.K }}"},
            {"A": "1", "Authorization": "Bearer ${input:K}"},
        ),
    ],
)
def test_keys_of_request_options_become_headers(raw: dict[str, Any], headers: dict[str, str]) -> None:
    found = read({"url": URL, **raw}, "continue")
    assert found.entry["headers"] == headers
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        ({"url": URL, "headersHelper": "/opt/print-headers.sh"}, ["headersHelper"]),
        ({"url": URL, "requestOptions": {"headers": {"A": "b"}, "verifySsl": False, "caBundlePath": "/ca"}}, ["verifySsl", "caBundlePath"]),
        ({"url": URL, "requestOptions": "odd"}, ["requestOptions"]),
        ({"url": URL, "requestInit": {"headers": ["A: b"]}}, ["requestInit.headers"]),
        ({"url": URL, "apiKey": 5}, ["apiKey"]),
        ({"url": URL, "env_vars": ["A"]}, ["env_vars"]),
        ({"command": "npx", "args": ["mcp-remote", URL], "env": {"NODE_EXTRA_CA_CERTS": "/ca"}}, ["env.NODE_EXTRA_CA_CERTS"]),
        ({"command": "npx", "args": ["mcp-remote", URL, "--header", "A: ${AUTH}"], "env": {"AUTH": "b"}}, []),
        ({"command": "x", "includeTools": ["shell(git)", "read"]}, ["limits their arguments: shell(git)"]),
        ({"command": {"path": "x", "args": ["a"], "env": {"A": "b"}, "foo": 1}}, ["command.foo"]),
        ({"url": URL, "oauth": {"clientId": "me", "tokenUrl": "x"}, "auth": True}, ["oauth.tokenUrl"]),
        ({"command": "x", "apiKey": "dummy", "requestOptions": {"headers": {"A": "b"}}}, ["apiKey", "requestOptions"]),
        ({"command": "x", "confinement": {"mode": "sandbox"}, "newThing": 1}, ["confinement", "newThing"]),
        ({"command": "x", "newThing": None, "other": "", "dev": {"watch": "x"}, "enabled": True}, []),
    ],
)
def test_a_member_that_is_not_carried_over_is_named_without_its_value(raw: dict[str, Any], names: list[str]) -> None:
    remarks = " ".join(read(raw).remarks)
    assert all(name in remarks for name in names)
    assert bool(remarks) == bool(names)
    assert "dummy" not in remarks


def test_a_pasted_text_may_have_variables_as_shells_write_them_and_a_clients_own_file_has_its_own() -> None:
    raw = {"url": URL, "headers": {"Authorization": "Bearer $TOK", "X-Pass": "pa$WORD"}}
    assert read(raw, is_example=True).entry["headers"] == {"Authorization": "Bearer ${TOK}", "X-Pass": "pa$WORD"}
    assert entry(raw)["headers"]["Authorization"] == "Bearer $TOK"


def test_a_windows_path_in_a_command_keeps_its_backslashes() -> None:
    found = entry({"command": "node dist\\server.js", "args": "--root C:\\Users\\me"})
    assert found["args"] == ["--root", "C:\\Users\\me"]
    assert entry({"command": "node dist\\server.js"})["args"] == ["dist\\server.js"]


def test_an_example_of_a_readme_is_asked_for_and_the_same_text_in_a_clients_file_is_a_value() -> None:
    raw = {"command": "x", "env": {"API_KEY": "<your key>", "MODE": "fast"}}
    found = read(raw, is_example=True)
    assert found.entry["env"] == {"API_KEY": "${input:API_KEY}", "MODE": "fast"}
    assert [(field.key, field.is_secret) for field in found.asks] == [("API_KEY", True)]
    assert entry(raw)["env"]["API_KEY"] == "<your key>"
    remote = read({"url": URL, "headers": {"Authorization": "Bearer YOUR_TOKEN"}}, is_example=True)
    assert remote.entry["headers"] == {"Authorization": "Bearer ${input:Authorization}"}


def test_numbers_and_words_of_an_entry_become_texts(tmp_path: Path) -> None:
    found = entry({"command": "x", "args": ["--port", 5, True, "--key=v"], "env": {"N": 5, "Z": None}, "oauth": {"clientId": "${X}"}})
    assert found["args"] == ["--port", "5", "true", "--key=v"]
    assert found["env"] == {"N": 5, "Z": None}
    assert found["oauth"] == {"clientId": "${X}"}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10) | st.sampled_from(["${X}", "${input:a}", "{env:X}", "http://a", "$("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_KEYS = st.sampled_from(
    [
        *("command", "cmd", "args", "env", "envs", "env_vars", "env_keys", "envFile", "cwd", "type", "transport", "timeout", "description"),
        *(
            "url",
            "uri",
            "httpUrl",
            "headers",
            "env_http_headers",
            "bearer_token_env_var",
            "requestOptions",
            "apiKey",
            "headersHelper",
            "oauth",
            "auth",
            "scopes",
        ),
        *("tools", "includeTools", "disabledTools", "enabled", "disabled"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(raw=st.dictionaries(_KEYS, _VALUES, max_size=6), shape=st.sampled_from(["", *SYNTAXES]))
def test_any_entry_is_read_or_refused(raw: dict[str, Any], shape: str) -> None:
    with contextlib.suppress(CannotUse):
        assert "autoApprove" not in read(raw, shape).entry
