"""`tooltray clients connect`, `disconnect`, `undo` and `changes`."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Tooltray

BEFORE = '{\n  "mcpServers": {\n    "a": {"command": "x", "env": {"API_KEY": "sk-dummy-1234567890"}}\n  }\n}\n'


@pytest.fixture
def cursor(home: Path) -> Path:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(BEFORE)
    return file


def test_a_person_sees_what_changes_and_says_yes(person: Tooltray, cursor: Path) -> None:
    result = person("clients", "connect", "cursor", typed="y\n")
    assert result.code == 0, result.err
    assert '+    "tooltray": {' in result.out
    assert "sk-dummy" not in result.out
    assert f"cursor: {cursor} is changed." in result.out
    assert "tooltray" in json.loads(cursor.read_text())["mcpServers"]


def test_without_a_yes_nothing_changes(person: Tooltray, cursor: Path) -> None:
    assert person("clients", "connect", "--all", typed="n\n").code == 0
    assert cursor.read_text() == BEFORE


def test_without_a_person_only_what_would_change_is_shown(tooltray: Tooltray, cursor: Path) -> None:
    assert "needs a person at a terminal" in tooltray("clients", "connect", "cursor", "--yes").err
    shown = tooltray("clients", "connect", "cursor", "--dry-run", "--json").json
    assert (shown[0]["action"], "tooltray" in shown[0]["diff"]) == ("connect", True)
    assert '+    "tooltray": {' in tooltray("clients", "connect", "cursor", "--dry-run").out
    assert cursor.read_text() == BEFORE


def test_a_client_is_disconnected_and_all_of_it_is_undone(person: Tooltray, tooltray: Tooltray, cursor: Path) -> None:
    person("clients", "connect", "cursor", "--yes")
    connected = cursor.read_text()
    gone = tooltray("clients", "disconnect", "cursor", "--yes", "--json").json
    assert cursor.read_text() == BEFORE
    assert gone[0]["undo"] == "exact"
    listed = tooltray("clients", "changes").out
    assert [word in listed for word in (gone[0]["id"], "disconnect", "connect", "whole")] == [True] * 4
    assert "is changed" in person("clients", "undo", typed="y\n").out
    assert cursor.read_text() == connected
    first = tooltray("clients", "changes", "--json").json[-1]
    assert person("clients", "undo", first["id"], typed="n\n").code == 0
    assert person("clients", "undo", first["id"], "--yes", "--json").json[0]["action"] == "undo"
    assert cursor.read_text() == BEFORE
    assert "There is nothing to undo" in person("clients", "undo").err


def test_where_nothing_was_changed_that_is_said(tooltray: Tooltray) -> None:
    assert "has changed no AI client's file" in tooltray("clients", "changes").out


def test_a_client_that_cannot_be_connected_says_why(person: Tooltray, cursor: Path) -> None:
    result = person("clients", "connect", "jetbrains-ai", "--yes")
    assert (result.code, "paste the entry" in result.out) == (1, True)
    cursor.write_text("{broken")
    result = person("clients", "connect", "cursor", "--yes")
    assert (result.code, "cannot be read" in result.out) == (1, True)
    assert "no AI client 'nobody'" in person("clients", "connect", "nobody").err
    assert person("clients", "connect").code == 2


def test_a_connected_client_needs_nothing(person: Tooltray, cursor: Path) -> None:
    person("clients", "connect", "cursor", "--yes")
    assert f"cursor: nothing has to be changed in {cursor}" in person("clients", "connect", "cursor", "--yes").out


def test_files_under_version_control_change_only_by_name(person: Tooltray, home: Path, cursor: Path) -> None:
    (home / ".git").mkdir()
    assert "is under version control; name the client" in person("clients", "connect", "--all", "--yes").out
    assert person("clients", "connect", "--all", "--yes", "--json").json == []
    assert cursor.read_text() == BEFORE
    person("clients", "connect", "cursor", "--yes")
    assert "tooltray" in cursor.read_text()


def test_a_file_that_changes_while_the_person_reads_is_left_alone(person: Tooltray, cursor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(question: str, *, yes: bool) -> bool:
        cursor.write_text("{}")
        return True

    monkeypatch.setattr("tooltray.cli.commands.client_changes_command.confirmed", meanwhile)
    result = person("clients", "connect", "cursor")
    assert (result.code, "has changed since" in result.out) == (1, True)
    assert cursor.read_text() == "{}"
