"""variables.py: a text means here what its client makes of it, or it is refused."""

import os
from typing import Any

import pytest

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.sources.foreign_entries.variables import ANY, SYNTAXES, Surroundings, Syntax, Variables

FILES = {"/files/token": "dummy-token\n", "/files/odd": "a ${X}", "/home/me/.token": "dummy-home", "/project/t": "dummy-project"}


def read(path: str) -> str:
    return FILES[path]


def variables(shape: str = "", project: str = "", folder: str = "/files", inputs: Any = None) -> Variables:
    return Variables(SYNTAXES.get(shape, ANY), Surroundings("/home/me", project, folder, inputs or {}, read))


@pytest.mark.parametrize(
    ("shape", "text", "ours"),
    [
        ("claude", "${FOO} $FOO ${FOO:-a b}", "${FOO} $FOO ${FOO:-a b}"),
        ("gemini", "$FOO/${BAR} $1", "${FOO}/${BAR} $1"),
        ("copilot-cli", "$FOO", "${FOO}"),
        ("crush", "$FOO ${BAR}", "${FOO} ${BAR}"),
        ("codex", "$FOO {env:FOO}", "$FOO {env:FOO}"),
        ("opencode", "{env:FOO} and {file:token} $X {other}", "${FOO} and dummy-token $X {other}"),
        ("opencode", "{file:~/.token}", "dummy-home"),
        ("opencode", "{{env:FOO}}", "{{env:FOO}}"),
        ("cursor", "${env:FOO}/${userHome}", "${FOO}//home/me"),
        ("vscode", "${workspaceFolder}/x ${workspaceFolderBasename}", "{project_path}/x {project_name}"),
        ("vscode", "a${/}b${pathSeparator}c", f"a{os.sep}b{os.sep}c"),
        ("windsurf", "${file:/files/token} ${FOO}", "dummy-token ${FOO}"),
        ("kiro", "${FOO}", "${FOO}"),
        ("claude", "${CLAUDE_PROJECT_DIR}/x", "{project_path}/x"),
        ("extension", "${__dirname}${/}server ${HOME} ${DESKTOP}", f"/files{os.sep}server /home/me /home/me{os.sep}Desktop"),
        ("continue", "${{ secrets.KEY }}", "${input:KEY}"),
        ("", "${FOO} ${env:FOO} {env:FOO} $FOO ${X:-y}", "${FOO} ${FOO} ${FOO} $FOO ${X:-y}"),
        ("", "never ${closed", "never ${closed"),
    ],
)
def test_each_client_has_its_own_placeholders(shape: str, text: str, ours: str) -> None:
    assert variables(shape).ours(text, "text") == ours


@pytest.mark.parametrize(
    ("shape", "text", "reason"),
    [
        ("codex", "${FOO}", "hands ${FOO} over as it is written"),
        ("cline", "${env:FOO}", "hands ${env:FOO} over"),
        ("gemini", "${env:FOO}", "hands ${env:FOO} over"),
        ("crush", "$(pass show key)", "runs a command"),
        ("opencode", "${env:FOO}", "hands"),
        ("extension", "${ELSE}", "hands"),
        ("cursor", "${command:pick}", "meaning of ${command:pick} here is unknown"),
        ("cursor", "${env:a-b}", "meaning of ${env:a-b} here is unknown"),
        ("opencode", "{env:a-b}", "meaning of {env:a-b} here is unknown"),
        ("claude", "${{ secrets.X }}", "meaning of ${{ secrets.X }} here is unknown"),
        ("continue", "${{ other.X }}", "meaning of ${{ other.X }} here is unknown"),
        ("vscode", "${input:}", "cannot be the name of a value"),
        ("windsurf", "${file:/files/odd}", "taken for a placeholder"),
    ],
)
def test_what_has_no_form_here_is_refused(shape: str, text: str, reason: str) -> None:
    with pytest.raises(CannotUse) as refused:
        variables(shape).ours(text, "text")
    assert reason in refused.value.reason


def test_a_folder_that_is_open_is_the_projects_own_where_the_entry_is_of_one() -> None:
    found = variables("vscode", project="/project")
    assert found.ours("${workspaceFolder} ${workspaceFolderBasename}", "cwd") == "/project project"
    assert found.ours("${workspaceFolder}/run", "command", is_command=True) == "/project/run"
    assert not found.needs_project
    assert variables("opencode", project="/project").ours("{file:t}", "x") == "dummy-project"


def test_a_program_that_depends_on_the_folder_is_refused_and_other_words_need_a_project() -> None:
    found = variables("vscode")
    with pytest.raises(CannotUse, match="depends on the folder"):
        found.ours("${workspaceFolder}/run", "command", is_command=True)
    found.ours("${workspaceFolder}", "cwd")
    assert found.needs_project


def test_a_file_without_a_folder_is_resolved_at_home() -> None:
    assert variables("opencode", folder="").ours("{file:.token}", "x") == "dummy-home"
    with pytest.raises(CannotUse):
        variables("extension", folder="").ours("${__dirname}", "x")


def test_what_is_in_a_file_is_a_secret() -> None:
    found = variables("windsurf")
    found.ours("${file:/files/token}", "X")
    assert found.read == ["dummy-token"]


def test_a_value_that_is_asked_for_is_described_as_its_client_describes_it() -> None:
    inputs = {
        "key": {"description": "The key", "password": True, "default": "no"},
        "place": {"options": ["eu", {"label": "America", "value": "us"}], "default": "eu"},
        "plain": {},
    }
    found = variables("vscode", inputs=inputs)
    assert found.ours("${input:key} ${input:place} ${input:plain}", "X") == "${input:key} ${input:place} ${input:plain}"
    key, place, plain = found.asks.values()
    assert (key.label, key.is_secret, key.default, key.kind) == ("The key", True, None, "text")
    assert (place.kind, place.choices, place.default, place.is_secret) == ("choice", ("eu", "us"), "eu", False)
    assert (plain.label, plain.is_required) == ("plain", True)


def test_a_value_is_a_secret_by_any_of_its_names() -> None:
    found = variables("vscode")
    found.ours("${input:x}", "API_KEY")
    found.ours("${input:x}", "X")
    assert found.asks["x"].is_secret
    bundle = variables("extension")
    bundle.ours("${user_config.api_key} ${user_config.folder}", "X")
    assert [field.is_secret for field in bundle.asks.values()] == [True, False]


def test_some_texts_of_a_client_have_another_syntax() -> None:
    found = variables("droid")
    with found.limited_to(None):
        assert found.ours("${X}", "x") == "${X}"
    with found.limited_to(Syntax()), pytest.raises(CannotUse):
        found.ours("${X}", "x")
    assert found.ours("${X}", "x") == "${X}"
