"""mcp_hub.py: what mcp-hub's config means."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.settings.file_server import FileEntry, FileReading

FULL = """// servers of mine
{
  mcpServers: {
    'files': {
      command: 'npx',
      args: ['-y', "server-filesystem", '${workspaceFolder}', $DIR],
      env: { TOKEN: '${cmd: op read x}', HOME: null, LOG: "", N: 5 },
      cwd: '${userHome}',
      autoApprove: ['read_file'], disabled_tools: ['write_file'],
      dev: { enabled: true, watch: ['src'], cwd: '/x' },
    },
    remote: { url: 'https://h/${env:WHICH}', headers: { Authorization: 'Bearer ${input:key}' }, disabled: true, name: 'Mine' },
  },
}
""".replace("$DIR]", "'$DIR']")


def reading(folder: Path, document: Any, **variables: str) -> FileReading:
    path = folder / "servers.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_file(path, "mcp-hub", environ={"HOME": "/h"} | variables, cwd="/w/shop")


def entry(folder: Path, written: dict[str, Any], **variables: str) -> FileEntry:
    found = reading(folder, {"mcpServers": {"fs": written}}, **variables)
    assert found.problems == ()
    return found.entries[0]


def reasons(found: FileReading) -> list[str]:
    return [problem.problem.message for problem in found.problems]


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    found = reading(tmp_path, FULL, MCP_HUB_ENV='{"input:key": "k"}')
    files, remote = found.entries
    assert (files.config.command, files.config.cwd, files.line) == ("npx", "${userHome}", 4)
    assert files.config.args == ("-y", "server-filesystem", "${workspaceFolder}", "${DIR}")
    assert files.variables == {"workspaceFolder": "/w/shop", "userHome": "/h"}
    assert list(files.commands.values()) == ["op read x"]
    assert dict(files.config.env) == {"TOKEN": f"${{{next(iter(files.commands))}}}", "HOME": "${HOME}", "LOG": "${LOG}", "N": "5"}
    assert (files.config.auto_approve, files.config.disabled_tools) == (("read_file",), ("write_file",))
    assert (remote.config.base_url, remote.config.disable, remote.config.type) == ("https://h/${WHICH}", True, None)
    assert remote.config.auto_approve == ("all",)
    assert list(remote.variables.values()) == ["k"]
    assert reasons(found) == ["line 10: 'dev' of 'files' means nothing here"]


def test_the_names_of_the_workspace_are_known(tmp_path: Path) -> None:
    words = ["${workspaceFolderBasename}", "${cwd}", "${pathSeparator}", "${/}x"]
    found = entry(tmp_path, {"command": "a", "args": words}).variables.values()
    assert sorted(found) == sorted([os.sep, os.sep, "/w/shop", "shop"])


def test_without_a_home_there_is_no_name_for_it(tmp_path: Path) -> None:
    assert entry(tmp_path, {"command": "${userHome}/a"}, HOME="").config.command == "${userHome}/a"


def test_what_is_handed_over_is_in_every_environment_and_an_entry_s_own_goes_before(tmp_path: Path) -> None:
    handed = '{"A": "1", "B": {"c": 2}, "input:x": "3", "D": null}'
    found = entry(tmp_path, {"command": "a", "env": {"A": "own"}}, MCP_HUB_ENV=handed)
    assert dict(found.config.env) == {"A": "own", "B": "${B}"}
    assert found.variables == {"B": '{"c": 2}'}


@pytest.mark.parametrize("handed", ["[]", "{", "[" * 100_000])
def test_what_is_handed_over_and_cannot_be_read_is_told(tmp_path: Path, handed: str) -> None:
    found = reading(tmp_path, {"mcpServers": {"fs": {"command": "a"}}}, MCP_HUB_ENV=handed)
    assert len(found.entries) == 1
    assert reasons(found) == ["line 1: the variable MCP_HUB_ENV holds no JSON object, so nothing of it is used"]


def test_vs_code_s_servers_and_their_inputs_are_read(tmp_path: Path) -> None:
    servers = {"a": {"type": "stdio", "command": "a", "env": {"K": "${input:k}"}}, "b": {"type": "sse", "url": "http://b"}}
    document = {"inputs": [{"id": "k", "type": "promptString"}], "servers": servers, "mcpServers": {}}
    found = reading(tmp_path, document, MCP_HUB_ENV='{"input:k": "v"}')
    assert [(entry.name, entry.config.transport) for entry in found.entries] == [("a", "stdio"), ("b", "sse")]
    assert found.problems == ()
    found = reading(tmp_path, document)
    assert [entry.name for entry in found.entries] == ["b"]
    assert reasons(found) == ["line 1: 'env': ${input:k} has no value"]


@pytest.mark.parametrize(("given", "rules"), [(True, ("all",)), (False, ()), (["a"], ("a",)), ([], ())])
def test_what_goes_through_unasked(tmp_path: Path, given: Any, rules: tuple[str, ...]) -> None:
    assert entry(tmp_path, {"command": "a", "autoApprove": given}).config.auto_approve == rules


def test_our_own_fields_count(tmp_path: Path) -> None:
    found = entry(tmp_path, {"command": "a", "callTimeout": 5, "description": "files", "type": "odd"}).config
    assert (found.call_timeout, found.descriptions) == (5, "files")


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"command": "a", "url": "http://a"}, "it has a command and a URL; keep one of them"),
        ({}, "it has neither a command nor a URL"),
        ({"url": "odd"}, "the URL must begin with http:// or https://"),
        ({"url": "http://a", "type": "ws"}, "its type must be stdio, http or sse"),
        ({"command": 5}, "command: must be text"),
        ({"command": "a", "env": []}, "env: must be an object"),
        ({"command": "a", "env": {"": None}}, "'env': ${} has no value"),
        ({"command": "a", "args": ["${input:x}"]}, "'args': ${input:x} has no value"),
        ({"url": "http://${input:x}"}, "'url': ${input:x} has no value"),
        ({"url": "http://a", "headers": {"A": "${input:x}", "B": 5}}, "'headers': ${input:x} has no value"),
        ({"command": "a", "disabled": 1}, "'disabled' must be true or false"),
    ],
)
def test_an_entry_that_cannot_be_used_is_told(tmp_path: Path, written: dict[str, Any], why: str) -> None:
    found = reading(tmp_path, {"mcpServers": {"fs": written, "other": {"command": "a"}}})
    assert [entry.name for entry in found.entries] == ["other"]
    assert (reasons(found), found.problems[0].entry) == ([f"line 1: {why}"], "fs")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], 'the file must be an object with "mcpServers" in it'),
        ({"nativeMCPServers": {}}, "'mcpServers' is missing"),
        ({"mcpServers": []}, "'mcpServers' must be an object"),
        ({"servers": [1]}, "'servers' must be an object"),
    ],
)
def test_a_file_of_something_else_is_not_understood(tmp_path: Path, document: Any, why: str) -> None:
    found = reading(tmp_path, document)
    assert not found.is_understood
    assert found.problems[0].problem.message.endswith(why)


def test_nothing_that_was_filled_in_gets_into_what_may_be_logged(tmp_path: Path) -> None:
    found = entry(tmp_path, {"command": "a", "args": ["${A}"], "env": {"B": "${A}"}}, MCP_HUB_ENV='{"A": "hush"}')
    assert "hush" not in repr(found)
