"""config_source.py: what a file's slips are told as, and that one entry's never cost another one; by way of .mcp.json."""

import json
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.foreign_configs.config_source import MAX_ENTRIES, MAX_REMARKS, ConfigSource
from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.settings.file_server import FileReading


def reading(folder: Path, content: Any) -> FileReading:
    path = folder / ".mcp.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_file(path, "mcp.json")


def reason(folder: Path, entry: Any) -> str:
    found = reading(folder, {"mcpServers": {"fs": entry}})
    assert found.entries == ()
    assert [problem.entry for problem in found.problems] == ["fs"]
    return found.problems[0].problem.message.removeprefix("line 1: ")


def test_a_bad_entry_is_reported_with_its_line_and_the_others_load(tmp_path: Path) -> None:
    bad = '"bad": {\n   "args": [],\n   "type": "odd"\n  }'
    content = '{\n "mcpServers": {\n  "a": {"command": "a"},\n  ' + bad + ',\n  "b": {"url": "http://b"}\n }\n}'
    found = reading(tmp_path, content)
    assert [(entry.name, entry.line) for entry in found.entries] == [("a", 3), ("b", 8)]
    (problem,) = found.problems
    assert (problem.entry, problem.line) == ("bad", 6)
    assert problem.problem.title == "The server 'bad' of .mcp.json is not used"
    assert problem.problem.message == "line 6: its type must be stdio, http or sse"
    assert problem.problem.hint == f"Correct it in {tmp_path / '.mcp.json'}"
    assert found.is_understood


def test_a_place_is_said_by_line_and_column() -> None:
    assert ConfigSource("/f", "a\nbcd").place_in_words(3) == "line 2, column 2"


def test_a_remark_about_a_whole_file_is_at_its_first_line() -> None:
    source = ConfigSource("/f", "\n{}")
    source.remark("it is odd", None)
    assert [(problem.line, problem.entry) for problem in source.problems] == [(1, "")]


@pytest.mark.parametrize("name", ["", " a", "a\u202eb", "x" * 201, "a\nb", "\ud800"])
def test_a_name_that_is_unreadable_is_refused(tmp_path: Path, name: str) -> None:
    found = reading(tmp_path, {"mcpServers": {name: {"command": "a"}}})
    assert found.entries == ()
    assert "visible characters" in found.problems[0].problem.message
    assert str(found.problems[0].problem).isprintable()
    assert found.problems[0].entry.isprintable()
    assert 0 < len(found.problems[0].entry) <= 200


def test_no_value_gets_into_what_is_reported(tmp_path: Path) -> None:
    for entry in ({"command": "a", "env": {"A": ["hush"]}}, {"command": {"hush": 1}}, {"command": "a", "type": "hush"}, {"url": "hush"}):
        assert "hush" not in reason(tmp_path, entry)


def test_of_two_entries_with_one_name_the_last_counts_with_a_remark(tmp_path: Path) -> None:
    found = reading(tmp_path, '{"mcpServers": {\n"fs": {"command": "a"},\n"fs": {"command": "b"}}}')
    assert [(entry.config.command, entry.line) for entry in found.entries] == [("b", 3)]
    (problem,) = found.problems
    assert (problem.line, problem.entry) == (3, "")
    assert problem.problem.message == "line 3: 'fs' occurs twice; the last one counts"


def test_of_endless_slips_and_servers_only_so_many_are_reported_and_used(tmp_path: Path) -> None:
    twice = ", ".join('"a": {"command": "a"}' for _ in range(MAX_REMARKS + 5))
    assert len(reading(tmp_path, f'{{"mcpServers": {{{twice}}}}}').problems) == MAX_REMARKS
    found = reading(tmp_path, {"mcpServers": {f"s{number}": {"command": "a"} for number in range(MAX_ENTRIES + 1)}})
    assert len(found.entries) == MAX_ENTRIES
    assert "only the first 1000 servers" in found.problems[0].problem.message


def test_an_entry_with_an_override_that_cannot_be_read_is_not_used(tmp_path: Path) -> None:
    found = reading(tmp_path, '{"mcpServers": {"fs": {"command": "a",\n"toolOverrides": {"x": 5}}}}')
    assert found.entries == ()
    assert (found.problems[0].line, found.problems[0].entry) == (1, "fs")
