"""packed_server.py: which program an entry runs, and what its manifest says of it."""

from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.errors import TooltrayError
from tooltray.sources.bundles.packed_server import Program, program_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "work" / "notes").resolve()
    (folder / "server").mkdir(parents=True)
    for name in ("server/main.py", "server/index.js", "server/__main__.py", "data.json", "tool"):
        (folder / name).write_text("x")
    return folder


def packed(project: Path, command: str, *args: str, cwd: Path | None = None, **env: str) -> Program:
    entry: dict[str, Any] = {"command": command, "args": list(args), "env": env} | ({"cwd": str(cwd)} if cwd else {})
    return program_of("notes", read_entry("notes", entry), project.parent.parent / "home")


def why_not(project: Path, command: str, *args: str, **more: Any) -> str:
    with pytest.raises(TooltrayError) as raised:
        packed(project, command, *args, **more)
    return str(raised.value)


def test_a_script_is_packed_with_its_project(project: Path) -> None:
    (project / "package.json").write_text("{}")
    found = packed(project, "/usr/bin/node", str(project / "server/index.js"), "--data", "data.json", cwd=project)
    assert (found.kind, found.folder, found.entry_point, found.command) == ("node", project, "server/index.js", "node")
    assert found.args == ("${__dirname}/server/index.js", "--data", "${__dirname}/data.json")
    assert packed(project, "node", str(project / "server/index.js")).folder == project


def test_without_a_project_s_file_it_is_the_folder_where_it_runs_or_lies(project: Path) -> None:
    assert packed(project, "python3.11", "server/main.py", cwd=project).folder == project
    assert packed(project, "python", str(project / "server/main.py")).folder == project / "server"


def test_a_module_is_a_script_too(project: Path) -> None:
    found = packed(project, "python3", "-m", "server", cwd=project)
    assert (found.entry_point, found.args) == ("server/__main__.py", ("-m", "server"))
    assert packed(project, "python3", "-m", "server.main", cwd=project).entry_point == "server/main.py"


def test_what_has_dependencies_is_run_by_uv(project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["mcp"]\n')
    found = packed(project, "python3", "server/main.py", cwd=project)
    assert (found.kind, found.command, found.is_uv) == ("uv", "uv", True)
    assert found.args == ("run", "--directory", "${__dirname}", "${__dirname}/server/main.py")
    found = packed(project, "python3", "-m", "server", cwd=project)
    assert found.args == ("run", "--directory", "${__dirname}", "python", "-m", "server")
    (project / "pyproject.toml").write_text("[[broken")
    assert packed(project, "python3", "server/main.py", cwd=project).kind == "python"


def test_a_program_of_a_folder_of_its_own(project: Path) -> None:
    found = packed(project, str(project / "tool"), "--x", cwd=project)
    assert (found.kind, found.command, found.entry_point) == ("binary", "${__dirname}/tool", "tool")


def test_values_become_settings_and_paths_of_this_computer_too(project: Path) -> None:
    other = project.parent / "other.db"
    other.touch()
    args = (
        "server/main.py",
        "--key=${secret:notes/KEY}",
        "${secret:team/Other Key}",
        f"--db={other}",
        "/data",
        "${HOME}",
        f"--in={project}",
    )
    found = packed(project, "python3", *args, cwd=project, API_TOKEN="${secret:notes/API_TOKEN}", LEVEL="high", KEY="plain-text-secret")
    assert found.args == (
        "${__dirname}/server/main.py",
        "--key=${user_config.key}",
        "${user_config.other_key}",
        "--db=${user_config.db}",
        "${user_config.directory}",
        "${user_config.home}",
        "--in=${__dirname}",
    )
    assert found.env == {"API_TOKEN": "${user_config.api_token}", "LEVEL": "${user_config.level}", "KEY": "${user_config.key_2}"}
    secret = {key for key, each in found.settings.items() if each.get("sensitive")}
    assert secret == {"key", "other_key", "api_token", "key_2"}
    assert {key: each["type"] for key, each in found.settings.items() if each["type"] != "string"} == {
        "db": "file",
        "directory": "directory",
    }
    assert "high" not in str(found.settings)
    assert "plain-text-secret" not in str(found)


def test_what_is_not_here_cannot_be_packed(project: Path) -> None:
    assert "downloads it" in why_not(project, "npx", "-y", "package")
    assert "downloads it" in why_not(project, "uvx", "package")
    assert "no script" in why_not(project, "node", "none.js", cwd=project)
    assert "no script" in why_not(project, str(project / "tool"))
    assert "no script" in why_not(project, "/bin/ls", cwd=project)
    with pytest.raises(TooltrayError, match="its address"):
        program_of("a", read_entry("a", {"url": "https://example.com/mcp"}), project)


def test_a_folder_with_more_in_it_is_not_packed(project: Path) -> None:
    home = project.parent.parent / "home"
    home.mkdir()
    (home / "server.py").touch()
    assert "more in it" in why_not(project, "python3", "server.py")
    (home.parent / "server.py").touch()
    assert "more in it" in why_not(project, "python3", "../server.py", cwd=home)


def test_what_runs_elsewhere_is_not_packed_whatever_else_its_entry_names(project: Path) -> None:
    entry = {"type": "http", "url": "https://a.example/mcp", "command": "node", "args": [str(project / "server/index.js")]}
    with pytest.raises(TooltrayError, match="it runs elsewhere"):
        program_of("notes", read_entry("notes", entry), project.parent.parent / "home")
