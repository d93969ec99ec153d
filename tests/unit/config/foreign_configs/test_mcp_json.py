"""mcp_json.py: the spellings of `.mcp.json`, and edits of one entry that leave every other byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.foreign_configs.mcp_json import in_our_spelling, with_entry, without_entry
from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.settings.file_server import FileEntry, FileReading
from tooltray.foundation.files.json_places import CannotRead, read


def reading(folder: Path, content: Any) -> FileReading:
    path = folder / ".mcp.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_file(path, "mcp.json")


def only(folder: Path, entry: dict[str, Any]) -> FileEntry:
    found = reading(folder, {"mcpServers": {"fs": entry}})
    assert found.problems == ()
    return found.entries[0]


def reason(folder: Path, entry: Any) -> str:
    found = reading(folder, {"mcpServers": {"fs": entry}})
    assert found.entries == ()
    assert [problem.entry for problem in found.problems] == ["fs"]
    return found.problems[0].problem.message.removeprefix("line 1: ")


def test_the_examples_of_the_format_are_read(tmp_path: Path) -> None:
    command = {"command": "npx", "args": ["-y", "@anthropic/mcp-server-filesystem", "/srv"], "transport": "stdio"}
    found = reading(tmp_path, {"mcpServers": {"fs": command, "api": {"url": "http://localhost:3001/mcp", "transport": "http"}}})
    fs, api = found.entries
    assert (fs.name, fs.config.transport, fs.config.command, fs.config.args) == ("fs", "stdio", "npx", tuple(command["args"]))
    assert (api.name, api.config.transport, api.config.base_url) == ("api", "http", "http://localhost:3001/mcp")
    assert fs.written == command


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"command": "a"}, "stdio"),
        ({"command": "a", "type": "local"}, "stdio"),
        ({"url": "http://a"}, "http"),
        ({"url": "http://a", "type": "streamable-http"}, "http"),
        ({"url": "http://a", "transportType": "streamableHttp"}, "http"),
        ({"url": "http://a", "transport": "sse", "type": "sse"}, "sse"),
        ({"serverUrl": "http://a", "type": "remote"}, "http"),
        ({"command": "a", "url": "http://a", "type": "http"}, "http"),
        ({"command": "a", "url": None, "type": None}, "stdio"),
    ],
)
def test_how_a_server_is_reached_may_be_written_in_many_ways(tmp_path: Path, entry: dict[str, Any], transport: str) -> None:
    assert only(tmp_path, entry).config.transport == transport


@pytest.mark.parametrize(
    ("entry", "field", "value"),
    [
        ({"command": ["npx", "-y"], "args": ["x"]}, "args", ("-y", "x")),
        ({"cmd": "npx", "arguments": ["x"]}, "args", ("x",)),
        ({"command": "a", "environment": {"A": 1}}, "env", {"A": "1"}),
        ({"command": "a", "envs": {"A": "${A:-x}", "B": "${secret:B}"}}, "env", {"A": "${A:-x}", "B": "${secret:B}"}),
        ({"command": "a", "workingDirectory": "sub"}, "cwd", "sub"),
        ({"url": "http://a", "http_headers": {"A": "b"}}, "custom_headers", {"A": "b"}),
        (
            {"url": "http://a", "headers": {"A": "1"}, "requestInit": {"headers": {"B": "2"}}, "apiKey": "k"},
            "custom_headers",
            {"A": "1", "B": "2", "Authorization": "Bearer k"},
        ),
        ({"command": "a", "alwaysAllow": ["x"]}, "auto_approve", ("x",)),
        ({"command": "a", "autoApprove": True}, "auto_approve", ("all",)),
        ({"command": "a", "autoApprove": False}, "auto_approve", ()),
        ({"command": "a"}, "auto_approve", ("read",)),
        ({"command": "a", "disabled": True}, "disable", True),
        ({"command": "a", "enabled": False}, "disable", True),
        ({"command": "a", "enabled": True, "disabled": False}, "disable", False),
        ({"command": "a", "timeout": 30000}, "call_timeout", 30.0),
        ({"command": "a", "timeout": 1000}, "call_timeout", 1.0),
        ({"command": "a", "timeout": 1}, "call_timeout", 1.0),
        ({"command": "a", "timeout": 999}, "call_timeout", 999.0),
        ({"command": "a", "timeout": 60}, "call_timeout", 60.0),
        ({"command": "a", "timeout": 60, "callTimeout": 5}, "call_timeout", 5.0),
        ({"command": "a", "tools": ["*"]}, "tool_filter", None),
        ({"command": "a", "description": "files"}, "descriptions", "files"),
        ({"command": "a", "disabledTools": ["x"]}, "disabled_tools", ("x",)),
        ({"command": "a", "isolation": "session"}, "isolation", "session"),
    ],
)
def test_other_programs_spellings_and_our_own_fields_count(tmp_path: Path, entry: dict[str, Any], field: str, value: Any) -> None:
    assert getattr(only(tmp_path, entry).config, field) == value


def test_headers_that_stand_elsewhere_are_taken_from_there_and_other_options_of_requests_stay() -> None:
    options = {"requestInit": {"headers": {"A": "1"}}, "requestOptions": {"headers": {"B": "2"}, "timeout": 5}, "apiKey": "k"}
    assert in_our_spelling({"url": "http://a", **options}, {}.__getitem__) == {
        "url": "http://a",
        "headers": {"A": "1", "B": "2", "Authorization": "Bearer k"},
        "requestOptions": {"timeout": 5},
    }


def test_the_tools_that_an_entry_names_are_the_only_ones(tmp_path: Path) -> None:
    chosen = only(tmp_path, {"command": "a", "tools": ["x"]}).config.tool_filter
    assert chosen is not None
    assert (chosen.mode, chosen.list) == ("allow", ("x",))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({}, "it has neither a command nor a URL"),
        ({"args": ["x"]}, "it has neither a command nor a URL"),
        ({"command": ""}, "it has neither a command nor a URL"),
        ({"command": []}, "it has neither a command nor a URL"),
        ({"command": "a", "url": "http://a"}, 'it has a command and a URL; choose one with "type"'),
        ({"command": "a", "type": "http"}, "its type is http, but it has no URL"),
        ({"url": "ftp://a"}, "the URL must begin with http:// or https://"),
        ({"url": "http://a", "type": "ws"}, "its type must be stdio, http or sse"),
        ({"command": "a", "transport": 5}, "its type must be stdio, http or sse"),
        ({"command": "a", "type": "inmemory"}, "its type must be stdio, http or sse"),
        ({"command": "a", "type": "stdio", "transport": "sse"}, "type / transport differ; keep one of them"),
        ({"command": "a", "cmd": "b"}, "command / cmd differ; keep one of them"),
        ({"command": "a", "args": "x"}, "args: must be a list"),
        ({"command": ["a"], "args": "x"}, "'args' must be a list"),
        ({"command": "a", "disabled": "yes"}, "'disabled' must be true or false"),
        ({"command": "a", "timeout": "5s"}, "'timeout' must be a number above 0"),
        ({"command": "a", "timeout": True}, "'timeout' must be a number above 0"),
        ({"command": "a", "timeout": 0}, "'timeout' must be a number above 0"),
        ({"command": "a", "tools": "x"}, "'tools' must be a list"),
        ({"command": "a", "env": {"A\u202e": []}}, "env.A?: must be text"),
        ({"command": "a", "args": ["x" * 100_000]}, "its entry has more than 100000 characters"),
        ({"command": "a", "args": ["${"] * 201}, "its entry has more than 200 placeholders"),
        (5, "its entry must be an object"),
        (None, "its entry must be an object"),
    ],
)
def test_an_entry_that_cannot_be_used_is_reported_with_its_reason(tmp_path: Path, entry: Any, why: str) -> None:
    assert reason(tmp_path, entry) == why


def test_a_reason_begins_with_the_line_of_the_spelling_that_the_entry_uses(tmp_path: Path) -> None:
    found = reading(tmp_path, '{"mcpServers": {"fs": {"command": "a",\n"transport": 5}}}')
    assert found.problems[0].problem.message == "line 2: its type must be stdio, http or sse"


@pytest.mark.parametrize(
    "document",
    [
        {"fs": {"command": "a"}},
        {"servers": {"fs": {"command": "a"}}, "inputs": []},
        {"$schema": "x", "fs": {"command": "a"}},
        {"mcpServers": {"fs": {"command": "a"}}, "servers": {}},
    ],
)
def test_entries_have_different_holders(tmp_path: Path, document: Any) -> None:
    found = reading(tmp_path, document)
    assert ([entry.name for entry in found.entries], found.problems) == (["fs"], ())


@pytest.mark.parametrize("document", [{}, {"mcpServers": {}}, {"mcpServers": None}])
def test_a_file_without_servers_is_no_problem(tmp_path: Path, document: Any) -> None:
    found = reading(tmp_path, document)
    assert (found.is_understood, found.entries, found.problems) == (True, (), ())


def test_an_entry_without_a_name_is_reported(tmp_path: Path) -> None:
    found = reading(tmp_path, {"command": "npx", "args": []})
    assert not found.is_understood
    assert "needs a name" in found.problems[0].problem.message


def test_the_same_content_has_the_same_digest_however_it_is_laid_out(tmp_path: Path) -> None:
    one = reading(tmp_path, '{"mcpServers": {"fs": {"command": "a", "args": ["x"]}}}').entries[0].digest
    two = reading(tmp_path, '{"mcpServers": {\n"fs": {"args": ["x"], // y\n"command": "a"}}}').entries[0].digest
    other = reading(tmp_path, '{"mcpServers": {"fs": {"command": "a", "args": ["X"]}}}').entries[0].digest
    assert one == two != other


ENTRY = {"command": "npx", "args": ["-y"]}
WRITTEN = '"new": {\n      "command": "npx",\n      "args": [\n        "-y"\n      ]\n    }'


@pytest.mark.parametrize("text", ["", "\n", "{}\n"])
def test_a_file_that_has_nothing_in_it_gets_all_that_it_needs(text: str) -> None:
    assert with_entry(text, "new", ENTRY) == '{\n  "mcpServers": {\n    ' + WRITTEN + "\n  }\n}\n"


def test_a_mark_at_the_beginning_stays() -> None:
    for text in ("\ufeff", "\ufeff{}"):
        after = with_entry(text, "new", ENTRY)
        assert after.startswith("\ufeff{")
        assert read(after).content == {"mcpServers": {"new": ENTRY}}


def test_a_new_entry_comes_behind_the_others_and_nothing_else_changes() -> None:
    text = '{\n  // ours\n  "mcpServers": {\n    "b": {"command": "b"}, // first\n    "a": {"url": "http://a"} // last\n  },\n  "z": 1\n}\n'
    expected = text.replace('"http://a"} // last', '"http://a"}, // last\n    ' + WRITTEN)
    assert with_entry(text, "new", ENTRY) == expected


def test_line_ends_and_tabs_stay() -> None:
    text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n'
    after = with_entry(text, "new", {"url": "http://a"})
    assert after == '{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t\t"new": {\r\n\t\t\t"url": "http://a"\r\n\t\t}\r\n\t}\r\n}\r\n'
    assert without_entry(after, "new") == text


def test_of_an_entry_that_is_there_only_what_differs_changes() -> None:
    text = '{"mcpServers": {"new": {"args": ["-y"], /* why */ "command": "node", "cwd": "x"}}}'
    assert with_entry(text, "new", ENTRY) == '{"mcpServers": {"new": {"args": ["-y"], /* why */ "command": "npx"}}}'


@pytest.mark.parametrize(
    ("text", "servers"),
    [
        ('{"a": {"command": "a"}}', []),
        ('{"servers": {"a": {"command": "a"}}}', ["servers"]),
        ('{"servers": null}', ["servers"]),
        ('{"mcpServers": null}', ["mcpServers"]),
        ('{"inputs": []}', ["mcpServers"]),
    ],
)
def test_an_entry_comes_to_where_the_others_are(text: str, servers: list[str]) -> None:
    after = read(with_entry(text, "new", ENTRY)).content
    for key in servers:
        after = after[key]
    assert after["new"] == ENTRY


def test_an_entry_that_is_there_twice_goes_twice() -> None:
    text = '{"mcpServers": {"a": {"command": "1"}, "b": {"command": "b"}, "a": {"command": "2"}}}'
    assert read(without_entry(text, "a")).content == {"mcpServers": {"b": {"command": "b"}}}


def test_the_last_entry_leaves_an_empty_list() -> None:
    assert without_entry('{"mcpServers": {"a": {}}}', "a") == '{"mcpServers": {}}'


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"mcpServers": []}', '{"command": "a"}', '{"mcpServers": null}', "{}", '{"mcpServers": {"b": {}}}']
)
def test_an_entry_that_is_not_there_cannot_be_taken_out(text: str) -> None:
    with pytest.raises(CannotRead):
        without_entry(text, "a")


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', '{"command": "a"}', "{'a': 1}"])
def test_what_cannot_be_read_is_not_written(text: str) -> None:
    with pytest.raises(CannotRead):
        with_entry(text, "a", ENTRY)
    with pytest.raises(CannotRead, match="'mcpServers' must be an object"):
        without_entry('{"mcpServers": []}', "a")


ENTRIES = st.dictionaries(
    st.sampled_from(["command", "url", "args", "env"]), st.text(max_size=4) | st.lists(st.integers(), max_size=2), max_size=3
)
SERVERS = st.dictionaries(st.sampled_from(["a", "b", "c", "d e", "é"]), ENTRIES, max_size=4)


@given(
    servers=SERVERS, name=st.sampled_from(["a", "new", "é"]), entry=ENTRIES, indent=st.sampled_from([None, 1, 4, "\t"]), rest=st.booleans()
)
def test_what_is_written_is_read_and_what_is_taken_out_is_gone(
    servers: dict[str, Any], name: str, entry: dict[str, Any], indent: int | str | None, rest: bool
) -> None:
    around = {"inputs": [1]} if rest else {}
    text = json.dumps({"mcpServers": servers} | around, indent=indent)
    after = with_entry(text, name, entry)
    assert read(after).content == {"mcpServers": servers | {name: entry}} | around
    assert with_entry(after, name, entry) == after
    left = {other: value for other, value in servers.items() if other != name}
    assert read(without_entry(after, name)).content == {"mcpServers": left} | around
    if name not in servers and servers:
        assert without_entry(after, name) == text
