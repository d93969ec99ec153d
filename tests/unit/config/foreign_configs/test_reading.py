"""reading.py: any file becomes servers or a problem, and nothing makes it raise."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.settings.file_server import FileReading, Kind

SERVER = '{"mcpProxy": {"addr": ":0"}, "mcpServers": {"fs": {"command": "npx"}}}'
KINDS: tuple[Kind, ...] = ("mcp.json", "tbxark")


def reading(folder: Path, content: str | bytes, kind: Kind = "mcp.json", **variables: str) -> FileReading:
    path = folder / ".mcp.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_file(path, kind, environ=variables)


def test_no_file_is_no_problem(tmp_path: Path) -> None:
    found = read_file(tmp_path / ".mcp.json", "mcp.json")
    assert found == FileReading(str(tmp_path / ".mcp.json"), "mcp.json")


@pytest.mark.parametrize(
    "data",
    [
        SERVER.encode(),
        b"\xef\xbb\xbf" + SERVER.encode(),
        ("\ufeff" + SERVER).encode("utf-16-le"),
        ("\ufeff" + SERVER).encode("utf-16-be"),
        SERVER.encode("utf-16-le"),
        b'{\r\n  // ours\r\n  "mcpProxy": {"addr": ":0"},\r\n  "mcpServers": {\r\n    "fs": {"command": "npx",},\r\n  },\r\n}\r\n',
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_read_as_its_editor_wrote_it(tmp_path: Path, data: bytes, kind: Kind) -> None:
    found = reading(tmp_path, data, kind)
    assert [(entry.name, entry.config.command) for entry in found.entries] == [("fs", "npx")]
    assert (found.is_understood, found.problems) == (True, ())


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "line 1, column 1: it is empty"),
        (" \r\n\t", 1, "line 1, column 1: it is empty"),
        ('{\n "mcpServers": {\n  "fs": {"command"', 3, "line 3, column 19: it ends too early: ':' is missing"),
        (b'{"a": "\xff"}', 1, "line 1: byte 8 is not UTF-8"),
        ("[]", 1, 'line 1, column 1: the file must be an object with "mcpServers" in it'),
        ('{\n"mcpServers": []}', 2, "line 2, column 1: 'mcpServers' must be an object"),
        ('{"mcpServers": ' + "[" * 200, 1, "line 1, column 116: it is nested too deeply"),
    ],
)
def test_of_a_file_that_is_not_understood_line_and_column_are_told(tmp_path: Path, content: str | bytes, line: int, message: str) -> None:
    found = reading(tmp_path, content)
    assert (found.is_understood, found.entries) == (False, ())
    (problem,) = found.problems
    assert (problem.line, problem.entry, problem.problem.title) == (line, "", ".mcp.json cannot be read")
    assert problem.problem.message == message
    assert found.digest


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").mkdir()
    found = read_file(tmp_path / ".mcp.json", "mcp.json")
    assert (found.is_understood, found.problems[0].problem.message, found.problems[0].line) == (False, "it is a folder", 0)


@pytest.mark.parametrize("content", ['{"mcpServers": {"fs": {"command": "npx"}}}', '{"servers": {}}', "{}"])
def test_a_config_of_another_hub_is_not_served_but_can_be_imported(tmp_path: Path, content: str) -> None:
    found = reading(tmp_path, content, "tbxark")
    assert not found.is_understood
    assert found.problems[0].problem.message.endswith("its servers can be imported: tooltray import FILE")


def test_variables_outside_of_texts_are_a_mistake_in_the_file(tmp_path: Path) -> None:
    content = '{"mcpProxy": {"addr": ":1"}, "mcpServers": {"fs": {"command": "a", "options": {"disabled": $OFF}}}}'
    assert not reading(tmp_path, content, "tbxark", OFF="true").is_understood


def test_without_an_environment_handed_in_the_process_s_own_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDED", "9091")
    path = tmp_path / "config.json"
    path.write_text('{"mcpProxy": {"addr": ":$HANDED"}, "mcpServers": {}}')
    endpoint = read_file(path, "tbxark").endpoint
    assert endpoint is not None
    assert endpoint.port == 9091


def test_a_file_with_too_many_values_is_not_read_for_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.config.foreign_configs.reading.MAX_VALUES", 100)
    found = reading(tmp_path, '{"mcpServers": {"a": [' + "1," * 100 + "1]}}")
    assert "more than 100 values" in found.problems[0].problem.message


WORDS = st.sampled_from(
    [*"${}:/-,[]\"'\\ ", "mcpServers", "a", "${VAR}", "http://a/", "\ud800", "\x00", "\u202e", ":9090", "sse", "stdio", "allow"]
)
TEXTS = st.lists(WORDS, max_size=4).map("".join)
KEYS = TEXTS | st.sampled_from(
    [
        *("mcpProxy", "mcpServers", "servers", "server", "clients", "options", "config", "command", "args", "env", "url"),
        *("headers", "type"),
        *("transportType", "timeout", "authTokens", "toolFilter", "mode", "list", "addr", "baseURL", "panicIfInvalid", "lazyLoad", "tools"),
        *("disabled", "autoApprove", "disabled_tools", "dev", "toolOverrides", "globalAuthTokens", "cwd", "oauth", "name"),
        *("enabled", "type"),
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
FILES = st.fixed_dictionaries(
    {},
    optional={
        "mcpServers": st.dictionaries(TEXTS, st.dictionaries(KEYS, VALUES, max_size=5) | VALUES, max_size=3),
        "mcpProxy": st.dictionaries(KEYS, VALUES, max_size=5) | VALUES,
        "server": st.dictionaries(KEYS, VALUES, max_size=5),
        "clients": st.dictionaries(TEXTS, st.dictionaries(KEYS, VALUES, max_size=5), max_size=3),
        "servers": VALUES,
    },
)
BYTES = (
    st.binary(max_size=60)
    | FILES.map(lambda document: json.dumps(document).encode())
    | VALUES.map(lambda value: json.dumps(value).encode())
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=BYTES, kind=st.sampled_from(KINDS), handed=TEXTS)
def test_whatever_stands_in_a_file_is_servers_or_a_problem(tmp_path: Path, data: bytes, kind: Kind, handed: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(data)
    found = read_file(path, kind, environ={"VAR": handed})
    assert found.is_understood or (found.problems and not found.entries)
    assert found.digest
    names = [entry.name for entry in found.entries]
    assert len(names) == len(set(names))
    assert not set(names) & {problem.entry for problem in found.problems}
    for entry in found.entries:
        assert entry.digest
        assert entry.line >= 1
    for problem in found.problems:
        assert str(problem.problem).isprintable()
