"""`tooltray clients scan|connect|disconnect|undo|changes`."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import put
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.installations import bridge_entry

BEFORE = '{\n  "mcpServers": {\n    "a": {"command": "x", "env": {"API_KEY": "sk-dummy-1234567890"}}\n  }\n}\n'


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """AI clients of this machine are none of the test's."""
    monkeypatch.setenv("PATH", "")
    for variable in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)


def test_clients_are_listed_with_their_servers(tooltray: Tooltray, home: Path, hub_home: Home, tmp_path: Path) -> None:
    ours = bridge_entry(hub_home)["mcpServers"]["tooltray"]
    servers = {
        "files": {"command": "npx", "args": ["-y", "files"], "env": {"FILES_TOKEN": "not-real", "A_KEY": "not-real"}},
        "tooltray": ours,
    }
    cursor = put(home / ".cursor/mcp.json", {"mcpServers": servers})
    codex = put(home / ".codex/config.toml", "[mcp_servers.files]\ncommand = 'npx'\nargs = ['-y', 'files']\nenabled = false\n")
    bad = put(home / ".kiro/settings/mcp.json", '{\n"a": x}')
    result = tooltray("clients", "scan")
    lines = [line.rstrip() for line in result.out.splitlines()]
    assert [line.split()[0] for line in lines[:4]] == ["CLIENT", "codex", "cursor", "kiro"]
    assert lines[2].split() == ["cursor", "Cursor", "no", "yes", "1"]
    assert lines[4:6] == ["2 servers, 1 different.", "2 values that look like secrets are in plain text."]
    shown = "\n".join(lines[6:])
    assert f"Codex: {codex}\n  files: npx -y files (off)\n" in shown
    assert f"Cursor: {cursor}\n  files: npx -y files (in plain text: FILES_TOKEN, A_KEY)\n" in shown
    assert "(this is Tooltray)" in shown
    assert f"Kiro: {bad}\n  mcp.json cannot be read: line 2:" in shown
    assert "not-real" not in result.out


def test_files_of_projects_are_read_where_a_folder_is_named(tooltray: Tooltray, home: Path, tmp_path: Path) -> None:
    file = put(
        tmp_path / "p/.mcp.json",
        {"mcpServers": {"a": {"url": "https://x/mcp?api_key=abc"}, "b": {"command": "x", "args": ["tooltray serve"]}}},
    )
    claude = put(home / ".claude.json", {"projects": {"/other": {"mcpServers": {"c": {"command": "y"}}}}})
    out = tooltray("clients", "scan", "--project", str(tmp_path / "p")).out
    assert f"Claude Code: {claude} for /other\n  c: y\n" in out
    assert f"Claude Code: {file}\n  a: https://x/mcp (not approved there; in plain text: api_key)\n" in out
    assert "  b: x 'tooltray serve' (not approved there; connects to Tooltray)\n" in out
    assert "2 servers.\n1 value that looks like a secret is in plain text.\n" in out


def test_where_nothing_is_found_it_is_said_how_to_see_what_is_known(tooltray: Tooltray) -> None:
    assert "No AI client found on this computer. List the supported ones: tooltray clients scan --all" in tooltray("clients", "scan").out
    assert "Cherry Studio" in tooltray("clients", "scan", "--all").out


def test_as_json_it_is_what_the_api_says(tooltray: Tooltray, home: Path) -> None:
    put(home / ".cursor/mcp.json", {"mcpServers": {"files": {"command": "npx"}}})
    found: Any = tooltray("clients", "scan", "--json").json
    assert (found["servers"], found["clients"][0]["id"], found["clients"][0]["files"][0]["servers"][0]["name"]) == (1, "cursor", "files")


def test_a_running_hub_looks_itself(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    answer = {"clients": [], "servers": 0, "different_servers": 0, "plain_secrets": 0, "new_servers": 0}
    with FakeControlHub(hub_home, {"scan_ai_clients": answer}) as hub:
        result = tooltray("clients", "scan", "--project", "p", "--json")
    assert json.loads(result.out) == answer
    [(_, params)] = [call for call in hub.calls if call[0] == "scan_ai_clients"]
    assert [Path(each).is_absolute() for each in params["projects"]] == [True]


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
    assert "Nothing to undo" in person("clients", "undo").err


def test_where_nothing_was_changed_that_is_said(tooltray: Tooltray) -> None:
    assert "has changed no AI client's file" in tooltray("clients", "changes").out


def test_a_client_that_cannot_be_connected_says_why(person: Tooltray, cursor: Path) -> None:
    result = person("clients", "connect", "jetbrains-ai", "--yes")
    assert (result.code, "paste the entry" in result.out) == (1, True)
    cursor.write_text("{broken")
    result = person("clients", "connect", "cursor", "--yes")
    assert (result.code, "cannot be read" in result.out) == (1, True)
    assert "AI client 'nobody' not found" in person("clients", "connect", "nobody").err
    assert person("clients", "connect").code == 2


def test_a_connected_client_needs_nothing(person: Tooltray, cursor: Path) -> None:
    person("clients", "connect", "cursor", "--yes")
    assert f"cursor: nothing has to be changed in {cursor}" in person("clients", "connect", "cursor", "--yes").out


def test_files_under_version_control_change_only_by_name(person: Tooltray, home: Path, cursor: Path) -> None:
    (home / ".git").mkdir()
    assert "is under version control. Name the client to change it." in person("clients", "connect", "--all", "--yes").out
    assert person("clients", "connect", "--all", "--yes", "--json").json == []
    assert cursor.read_text() == BEFORE
    person("clients", "connect", "cursor", "--yes")
    assert "tooltray" in cursor.read_text()


def test_a_file_that_changes_while_the_person_reads_is_left_alone(person: Tooltray, cursor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(question: str, *, yes: bool) -> bool:
        cursor.write_text("{}")
        return True

    monkeypatch.setattr("tooltray.cli.commands.clients_command.confirmed", meanwhile)
    result = person("clients", "connect", "cursor")
    assert (result.code, "has changed since" in result.out) == (1, True)
    assert cursor.read_text() == "{}"


# our own skill


@pytest.fixture
def skill(home: Path) -> Path:
    (home / "skills").mkdir()
    return home / "skills/tooltray/SKILL.md"


def test_the_skill_is_shown_and_written_into_a_folder_and_undone(person: Tooltray, tooltray: Tooltray, skill: Path) -> None:
    text = tooltray("skill", "show", "--json").json["text"]
    assert tooltray("skill", "show").out == text + "\n"
    assert text.startswith("---\nname: tooltray\n")
    result = person("skill", "write", "--folder", str(skill.parents[1]), typed="y\n")
    assert "+name: tooltray" in result.out
    assert "Undo it: tooltray clients undo" in result.out
    assert skill.read_text() == text
    result = person("clients", "undo", typed="y\n")
    assert f"Undo 'skill' of folder in {skill}?" in result.out
    assert not skill.parent.exists()


def test_without_a_yes_or_a_person_the_skill_is_not_written(person: Tooltray, tooltray: Tooltray, skill: Path) -> None:
    words = ("skill", "write", "--folder", str(skill.parents[1]))
    assert person(*words, typed="n\n").code == 0
    assert "needs a person at a terminal" in tooltray(*words, "--yes").err
    assert tooltray(*words, "--dry-run", "--json").json[0]["action"] == "skill"
    assert not skill.parent.exists()


def test_a_foreign_skill_is_replaced_only_after_a_question_also_with_yes(person: Tooltray, skill: Path) -> None:
    skill.parent.mkdir()
    skill.write_text("Mine.")
    result = person("skill", "write", "--folder", str(skill.parents[1]), "--yes", typed="n\n")
    assert f"Replace {skill}, which Tooltray has not written?" in result.out
    assert skill.read_text() == "Mine."
    person("skill", "write", "--folder", str(skill.parents[1]), typed="y\n")
    assert skill.read_text().startswith("---\nname: tooltray\n")


def test_a_named_folder_may_be_under_version_control(person: Tooltray, home: Path, skill: Path) -> None:
    (home / ".git").mkdir()
    assert person("skill", "write", "--folder", str(skill.parents[1]), "--yes").code == 0
    assert skill.exists()


def test_where_the_skill_cannot_be_written_the_reason_is_shown(person: Tooltray, home: Path) -> None:
    assert "No AI client with a known folder of skills is installed" in person("skill", "write", "--yes").err
    result = person("skill", "write", "--client", "cherry-studio", "--yes")
    assert (result.code, "its folder of skills is not known" in result.out) == (1, True)
    assert "AI client 'nobody' not found" in person("skill", "write", "--client", "nobody").err
    result = person("skill", "write", "--folder", str(home / "gone"), "--yes")
    assert (result.code, "this is not an existing folder" in result.out) == (1, True)
    assert person("skill", "write", "--folder", "x", "--client", "cursor").code == 2
