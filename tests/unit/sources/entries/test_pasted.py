"""What people copy from READMEs is read as they mean it, and what cannot be read is refused in words."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.entries.pasted import PastedServer, parse_pasted


def only(text: str) -> PastedServer:
    (server,) = parse_pasted(text)
    return server


def refusal(text: str) -> str:
    with pytest.raises(TooltrayError) as caught:
        parse_pasted(text)
    return str(caught.value)


# command lines


def test_a_command_line_becomes_command_and_arguments() -> None:
    server = only("npx -y @modelcontextprotocol/server-filesystem /tmp 'a folder'")
    assert server.config == {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp", "a folder"]}
    assert server.argv == ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/tmp", "a folder"]


@pytest.mark.parametrize("text", ["A=1 B='two words' uvx x", "env A=1 B='two words' uvx x", "export A=1\nexport B='two words'\nuvx x"])
def test_leading_variables_become_the_environment(text: str) -> None:
    server = only(text)
    assert server.config == {"command": "uvx", "args": ["x"], "env": {"A": "1", "B": "two words"}}


def test_a_line_that_goes_on_is_one_command() -> None:
    assert only("npx -y foo \\\n    --bar \\\n    baz").argv == ["npx", "-y", "foo", "--bar", "baz"]


def test_the_prompt_the_fence_and_comments_of_a_readme_are_left_out() -> None:
    assert only("```bash\n# start it\n$ uvx mcp-server-fetch\n```").argv == ["uvx", "mcp-server-fetch"]


def test_what_a_shell_would_fill_in_is_left_to_the_settings() -> None:
    assert only("node ~/servers/index.js $HOME/data").argv == ["node", "${HOME}/servers/index.js", "${HOME}/data"]


@pytest.mark.parametrize(
    "text",
    [
        "claude mcp add --scope user -e A=1 everything -- npx -y @x/everything --flag",
        "claude mcp add everything -e A=1 -- npx -y @x/everything --flag",
        "codex mcp add everything --env A=1 -- npx -y @x/everything --flag",
        "gemini mcp add -t stdio -e A=1 everything npx -y @x/everything --flag",
    ],
)
def test_an_ai_client_s_own_command_is_read_for_what_it_adds(text: str) -> None:
    server = only(text)
    assert server.name == "everything"
    assert server.config == {"command": "npx", "args": ["-y", "@x/everything", "--flag"], "env": {"A": "1"}}


def test_an_ai_client_s_json_command_is_read_too() -> None:
    assert only("""claude mcp add-json wx '{"command": "uvx", "args": ["wx"]}'""") == PastedServer("wx", {"command": "uvx", "args": ["wx"]})
    assert only("""code --add-mcp '{"name": "wx", "command": "uvx"}'""") == PastedServer("wx", {"command": "uvx", "args": []})


# blocks

ENTRY = {"command": "npx", "args": ["-y", "x"]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"mcpServers": {"fs": ENTRY}}),
        json.dumps({"servers": {"fs": {"type": "stdio", **ENTRY}}, "inputs": []}),
        json.dumps({"mcp": {"servers": {"fs": ENTRY}}}),
        json.dumps({"context_servers": {"fs": {"source": "custom", **ENTRY}}}),
        json.dumps({"mcp": {"fs": {"type": "local", "command": ["npx", "-y", "x"]}}}),
        json.dumps({"fs": ENTRY}),
        json.dumps({"name": "fs", **ENTRY}),
        json.dumps([{"name": "fs", **ENTRY}]),
        '"fs": {"command": "npx", "args": ["-y", "x"]},',
        '{"mcpServers": {\n // files\n "fs": {"command": "npx", /* all */ "args": ["-y", "x",],},},}',
        '[mcp_servers.fs]\ncommand = "npx"\nargs = ["-y", "x"]\n',
    ],
)
def test_every_usual_form_of_a_block_gives_the_same_server(text: str) -> None:
    server = only(text)
    assert (server.name, server.argv) == ("fs", ["npx", "-y", "x"])


def test_a_bare_entry_gets_a_name_from_its_command() -> None:
    assert only(json.dumps({"command": "uvx", "args": ["mcp-server-time"]})).name == "time"


def test_several_servers_keep_their_order_and_unknown_fields() -> None:
    block = {"mcpServers": {"b": {**ENTRY, "gallery": True}, "a": {"url": "https://example.org/mcp"}}}
    first, second = parse_pasted(json.dumps(block))
    assert (first.name, first.config["gallery"], first.is_remote) == ("b", True, False)
    assert (second.name, second.config, second.is_remote) == ("a", {"url": "https://example.org/mcp"}, True)


def test_values_in_other_programs_spelling_are_translated() -> None:
    entry = {"command": "x", "args": ["${userHome}/a", 8080], "env": {"A": "${env:B}", "C": True, "D": None}, "disabled": True}
    config = only(json.dumps({"s": entry})).config
    assert config == {"command": "x", "args": ["${HOME}/a", "8080"], "env": {"A": "${B}", "C": "true"}, "disable": True}


def test_comments_inside_strings_are_no_comments() -> None:
    assert only('{"s": {"command": "x", "args": ["http://a,]", "/* b */",]}}').argv == ["x", "http://a,]", "/* b */"]


@pytest.mark.parametrize(
    "text",
    [
        r"C:\Users\me\srv.exe --root C:\new\data",
        r'"C:\Users\me\srv.exe" --root "C:\new\data"',
        r'{"command": "C:\Users\me\srv.exe", "args": ["--root", "C:\new\data"]}',
        r'{"command": "C:\\Users\\me\\srv.exe", "args": ["--root", "C:\\new\\data"]}',
        r'{"command": "C:\Users\\me\srv.exe", "args": "--root C:\new\data"} // mine',
        '[mcp_servers.srv]\ncommand = "C:\\Users\\me\\srv.exe"\nargs = ["--root", \'C:\\new\\data\']',
    ],
)
def test_a_windows_path_with_single_backslashes_survives(text: str) -> None:
    (server,) = parse_pasted(text)
    assert server.argv == [r"C:\Users\me\srv.exe", "--root", r"C:\new\data"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r'{"command": "\\nas\share\srv.exe"}', [r"\\nas\share\srv.exe"]),
        (r'{"command": "node", "args": ["dist\server.js", "C:\dir\"]}', ["node", r"dist\server.js", "C:\\dir\\"]),
        (r'{"command": "x", "args": ["--x=c:\temp"]}', ["x", r"--x=c:\temp"]),
        (r'{"command": "x", "args": ["a\"b\" \q", "say \"hi\"\n", "\u00e9"]}', ["x", 'a"b" \\q', 'say "hi"\n', "é"]),
        (r"node dist\server.js", ["node", r"dist\server.js"]),
        (r"srv my\ file \"x\"", ["srv", "my file", '"x"']),
    ],
)
def test_only_backslashes_that_are_no_escapes_are_taken_as_they_are(text: str, words: list[str]) -> None:
    (server,) = parse_pasted(text)
    assert server.argv == words


def test_keys_of_request_options_are_headers_and_what_has_no_effect_is_warned_of() -> None:
    options = '"requestOptions": {"headers": {"X-Api-Key": "dummy"}, "verifySsl": false}'
    (server,) = parse_pasted(f'{{"url": "https://a.example/mcp", {options}, "headersHelper": "h"}}')
    assert server.secrets == {"X-Api-Key": "dummy"}
    assert any("requestOptions, headersHelper" in warning for warning in server.warnings)
    (server,) = parse_pasted('{"url": "https://a.example/mcp", "apiKey": "dummy-key", "enabled": false}')
    assert (server.secrets, server.config["disable"], server.warnings) == ({"Authorization": "dummy-key"}, True, ())


def test_what_of_a_sign_in_or_of_a_clients_command_has_no_effect_is_warned_of() -> None:
    (server,) = parse_pasted('{"url": "https://a.example/mcp", "oauth": {"clientId": "c", "callbackPort": 80, "xaa": true}}')
    assert server.warnings == ("these members of its entry have no effect here: oauth.xaa",)
    for line in (
        "gemini mcp add -s user --timeout 5000 --exclude-tools c far npx x@1.0",
        "claude mcp add --timeout 5000 --exclude-tools=c far https://a.example/mcp",
        """x mcp add --timeout 5000 --exclude-tools c far '{"command": "npx"}'""",
    ):
        (server,) = parse_pasted(line)
        assert server.left_out == ("--timeout", "--exclude-tools")
        assert server.warnings == ("these options have no effect here: --timeout, --exclude-tools",)


def test_a_url_is_a_remote_server() -> None:
    server = only("https://example.org/mcp")
    assert (server.is_remote, server.target, server.argv) == (True, "https://example.org/mcp", [])


# secrets


@pytest.mark.parametrize("value", ["<your token>", "YOUR_TOKEN_HERE", "your-api-key", "...", "xxxx", "${input:token}", "", " \t"])
def test_a_placeholder_leaves_the_secret_empty(value: str) -> None:
    assert only(json.dumps({"s": {**ENTRY, "env": {"A_TOKEN": value}}})).secrets == {"A_TOKEN": ""}


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "bearer  "])
def test_a_header_and_a_parameter_without_a_value_are_secrets_that_need_one(value: str) -> None:
    server = only(json.dumps({"s": {"url": "https://a.example/?api_key=", "headers": {"Authorization": value}}}))
    assert server.secrets == {"Authorization": "", "api_key": ""}
    entry = server.filled_in({"Authorization": "abc", "api_key": "k"})
    assert entry["url"] == "https://a.example/?api_key=k"
    assert entry["headers"]["Authorization"] == f"{value.strip()} abc".strip()


def test_a_server_is_stored_with_references_instead_of_secrets() -> None:
    server = only("A_TOKEN=abc B=2 npx x")
    entry, secrets = server.stored_as("mine", server.secrets)
    assert entry == {"command": "npx", "args": ["x"], "env": {"A_TOKEN": "${secret:mine/A_TOKEN}", "B": "2"}}
    assert secrets == {"mine/A_TOKEN": "abc"}
    assert server.config["env"]["A_TOKEN"] == "abc"  # what was pasted is not changed


def test_what_a_block_says_about_approval_is_kept() -> None:
    entry, _ = only(json.dumps({"s": {**ENTRY, "autoApprove": ["read"]}})).stored_as("s", {})
    assert entry["autoApprove"] == ["read"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("npx x --api-key abc", ("--api-key",)),
        ("npx x --api-key=abc", ("--api-key",)),
        ("docker run -e A_TOKEN=abc image", ("A_TOKEN",)),
        ("npx x sk-0123456789", ("sk-0…",)),
        ("npx x --api-key --verbose --port 80", ()),
        ("npx x --api-key ${KEY}", ()),
        ("npx x token abc", ()),
    ],
)
def test_secrets_among_the_arguments_are_pointed_out(text: str, options: tuple[str, ...]) -> None:
    assert only(text).secret_arguments == options


# what cannot be read


def test_a_broken_block_says_where_it_breaks_off() -> None:
    assert "line 2, column 16" in refusal('{"mcpServers":\n {"a": {"args" []}}}')


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "Nothing to read"),
        ("```\n```", "Nothing to read"),
        ("A=1", "only sets variables"),
        ('npx "a', "never closed"),
        ("cd x && npx y", "needs a shell"),
        ("npx x $(pwd)", "needs a shell"),
        ("npx a\nnpx b", "one command"),
        ("{}", "No server"),
        ('{"mcpServers": {}}', "No server"),
        ('{"a": {"b": 1}}', "neither a command nor a URL"),
        ('{"a": {"command": ""}}', "neither a command nor a URL"),
        ('{"a": {"command": "x", "args": {}}}', "`args`"),
        ("[1]", "not a server's entry"),
        ("[mcp_servers.x", "TOML"),
        ("claude mcp add onlyname", "not name a server to add"),
        ("x" * 300_000, "too long"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(text: str, word: str) -> None:
    assert word in refusal(text)


@given(st.one_of(st.text(), st.from_regex(r'(npx|env|claude mcp add|"a":|\{|\[)[ -~\n]{0,60}', fullmatch=True)))
def test_no_text_leads_to_anything_but_servers_or_a_refusal(text: str) -> None:
    try:
        servers = parse_pasted(text)
    except TooltrayError:
        return
    assert servers
    for server in servers:
        assert server.name
        assert len(server.name) <= 64
        assert server.is_remote or all(isinstance(word, str) for word in server.argv)
        server.stored_as(server.name, server.secrets)
        assert isinstance(server.secret_arguments, tuple)


# what is reached by a URL


@pytest.mark.parametrize(
    "text",
    [
        "https://mcp.linear.app/mcp",
        "http://www.api.mcp/",
        "claude mcp add --transport http linear https://mcp.linear.app/mcp",
        '{"mcpServers": {"a": {"url": "https://mcp", "headers": {"X-Key": "b"}}}}',
        "docker run -i --rm -e A=b ghcr.io/x/y",
    ],
)
def test_a_text_can_be_read_after_each_key_with_which_it_is_typed(text: str) -> None:
    for end in range(len(text) + 1):
        with contextlib.suppress(TooltrayError):
            assert all(found.name for found in parse_pasted(text[:end]))


def test_a_url_names_its_host_and_shows_no_key() -> None:
    server = only("https://me:pw@mcp.example.org:8443/mcp?team=a&api_key=k#x")
    assert (server.is_remote, server.transport, server.host) == (True, "http", "mcp.example.org:8443")
    assert server.target == "https://mcp.example.org:8443/mcp"
    assert server.secrets == {"api_key": "k"}
    assert (only("npx x").host, only("npx x").transport, only("https://[::1").host) == ("", "stdio", "")


def test_a_key_in_the_query_becomes_a_reference() -> None:
    server = only("https://example.org/mcp?team=a&api_key=a%20b&z=1")
    entry, secrets = server.stored_as("far", server.secrets)
    assert entry["url"] == "https://example.org/mcp?team=a&api_key=${secret:far/api_key}&z=1"
    assert secrets == {"far/api_key": "a b"}
    assert server.filled_in({"api_key": None})["url"] == "https://example.org/mcp?team=a&z=1"
    assert server.filled_in({"api_key": "c&d"})["url"] == "https://example.org/mcp?team=a&api_key=c%26d&z=1"
    assert server.filled_in({}, {"url": "https://example.org", "autoApprove": []}) == {"url": "https://example.org", "autoApprove": []}


@pytest.mark.parametrize("key", ["headers", "customHeaders", "http_headers"])
def test_headers_are_read_in_every_spelling_and_keys_in_them_are_secrets(key: str) -> None:
    headers = {"Authorization": "Bearer abc", "X-Api-Key": "<your key>", "X-Team": 5, "X-Ref": "Bearer ${env:TOKEN}", "X-None": None}
    server = only(json.dumps({"far": {"url": "https://example.org/mcp", key: headers}}))
    assert server.config["headers"] == {"Authorization": "Bearer abc", "X-Api-Key": "<your key>", "X-Team": "5", "X-Ref": "Bearer ${TOKEN}"}
    assert server.headers == ("Authorization", "X-Api-Key", "X-Team", "X-Ref")
    assert server.secrets == {"Authorization": "abc", "X-Api-Key": ""}
    entry, secrets = server.stored_as("far", {"Authorization": "abc", "X-Api-Key": "k"})
    assert entry["headers"]["Authorization"] == "Bearer ${secret:far/Authorization}"
    assert entry["headers"]["X-Api-Key"] == "${secret:far/X-Api-Key}"
    assert secrets == {"far/Authorization": "abc", "far/X-Api-Key": "k"}
    assert "X-Api-Key" not in server.filled_in({"X-Api-Key": None})["headers"]
    assert server.config["headers"]["Authorization"] == "Bearer abc"


def test_a_toml_block_may_take_headers_from_variables() -> None:
    text = '[mcp_servers.far]\nurl = "https://example.org/mcp"\nbearer_token_env_var = "FAR"\nenv_http_headers = {X-Team = "TEAM"}'
    server = only(text)
    assert server.config == {"url": "https://example.org/mcp", "headers": {"X-Team": "${TEAM}", "Authorization": "Bearer ${FAR}"}}
    assert server.secrets == {}


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"url": "https://example.org/mcp"}, "http"),
        ({"url": "https://example.org/sse"}, "sse"),
        ({"url": "https://example.org/sse/?a=b"}, "sse"),
        ({"url": "https://example.org/sse", "type": "http"}, "http"),
        ({"url": "https://example.org/mcp", "transport": "sse"}, "sse"),
        ({"httpUrl": "https://example.org/mcp", "type": "streamable-http"}, "http"),
        ({"url": "https://example.org/mcp", "type": "remote"}, "http"),
        ({"url": "https://example.org/mcp", "transportType": "sse"}, "sse"),
        ({"url": "https://example.org/sse", "type": "http", "transport": "streamableHttp"}, "http"),
    ],
)
def test_the_transport_is_what_the_entry_says_or_what_the_address_is_by_habit(entry: dict[str, str], transport: str) -> None:
    assert only(json.dumps(entry)).transport == transport


def test_fields_that_name_different_transports_are_refused() -> None:
    entry = {"url": "https://example.org/mcp", "type": "http", "transport": "sse"}
    with pytest.raises(TooltrayError, match="type / transport differ; keep one of them"):
        parse_pasted(json.dumps(entry))


@pytest.mark.parametrize(
    "text",
    [
        "claude mcp add --transport sse far https://example.org/mcp --header 'X-Team: a' -H 'Authorization: Bearer t'",
        "claude mcp add -t sse -H 'X-Team: a' --header 'Authorization: Bearer t' far https://example.org/mcp",
        "x mcp add far --url https://example.org/mcp --transport=sse --header='X-Team: a' --header='Authorization: Bearer t' --scope user",
    ],
)
def test_a_client_s_command_may_add_a_url_with_headers(text: str) -> None:
    server = only(text)
    assert server.name == "far"
    assert server.config == {"url": "https://example.org/mcp", "type": "sse", "headers": {"X-Team": "a", "Authorization": "Bearer t"}}


def test_a_client_s_command_may_set_several_variables_at_once() -> None:
    server = only("claude mcp add -e A=1 B=2 near -- npx x")
    assert server.name == "near"
    assert server.config == {"command": "npx", "args": ["x"], "env": {"A": "1", "B": "2"}}


def test_arguments_may_be_one_text_and_what_is_no_entry_is_left_out() -> None:
    server = only('{"near": {"command": "npx", "args": "-y \'a b\'"}, "version": 3}')
    assert (server.name, server.config) == ("near", {"command": "npx", "args": ["-y", "a b"]})


def test_a_client_s_command_may_take_a_token_from_a_variable() -> None:
    server = only("codex mcp add far --url https://example.org/mcp --bearer-token-env-var FAR")
    assert server.config == {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${FAR}"}}
