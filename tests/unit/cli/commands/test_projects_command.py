"""`tooltray projects ...` and `tooltray servers add --deferred`, with a running hub and without."""

import json
import os
from pathlib import Path

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

COPY = {"path": "/p/one", "name": "one\x1b[1m", "state": "running", "session_count": 2, "target": "x", "problem": None, "pids": [1]}
SERVER = {"name": "s", "state": "running", "detail": "", "is_deferred": True, "copies": [COPY]}
WAITING = {"name": "t", "state": "waiting", "detail": "Waits for a project", "is_deferred": True, "copies": []}
SNAPSHOT = {"servers": [SERVER, WAITING, {"name": "plain", "state": "running"}]}


def settings(home: Home) -> dict[str, object]:
    document: dict[str, object] = json.loads(home.settings.read_text())
    return document


def test_what_is_allowed_and_what_runs_for_which_project_is_listed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_allowed_folders": ["/a\x1b[1m"], "get_snapshot": SNAPSHOT}):
        out = tooltray("projects", "list").out
        assert "  /a\n" in out
        lines = [line.split() for line in out.splitlines()[-2:]]
        assert lines == [
            ["s", "running", "one", "2", "/p/one"],
            ["t", "waits", "for", "a", "project", "-", "-", "Waits", "for", "a", "project"],
        ]
        listed = tooltray("projects", "list", "--json").json
        assert listed == {"allowed": ["/a\x1b[1m"], "servers": ["s", "t"], "copies": [{"server": "s", **COPY}]}


def test_folders_are_allowed_and_disallowed_also_where_no_hub_runs(
    tooltray: Tooltray, person: Tooltray, hub_home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    real = os.path.realpath(folder)
    assert "are allowed for that client." in tooltray("projects", "list").out
    assert person("projects", "allow", str(folder)).out == f"{real} and everything in it is allowed as a project now.\n"
    assert settings(hub_home)["allowedFolders"] == [real]
    assert tooltray("projects", "list", "--json").json["allowed"] == [real]
    assert "(roots) are allowed for that client too." in tooltray("projects", "list").out
    document = settings(hub_home)
    hub_home.settings.write_text(json.dumps({**document, "allowedFolders": ["src", "/", "/home", real]}))
    assert tooltray("projects", "list", "--json").json["allowed"] == [real]
    hub_home.settings.write_text(json.dumps(document))
    assert "no longer allowed" in tooltray("projects", "disallow", str(folder)).out
    assert person("projects", "allow", str(folder), "--json").json == {"folder": real, "allowed": True}
    assert tooltray("projects", "disallow", str(folder), "--json").json == {"folder": str(folder), "allowed": False}
    refused = person("projects", "allow", "/")
    assert (refused.code, "the root of the file system" in refused.err) == (1, True)
    assert person("projects", "allow", "a\0b").code == 1
    for refused in (tooltray("projects", "allow", str(folder)), person("projects", "allow", str(folder), sees=False)):
        assert (refused.code, "needs a person at a terminal" in refused.err) == (1, True)
    assert "allowedFolders" not in settings(hub_home) or settings(hub_home)["allowedFolders"] == []


def test_a_path_of_here_is_made_absolute(person: Tooltray, hub_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with FakeControlHub(hub_home, {"allow_folder": lambda path: path}) as hub:
        assert person("projects", "allow", ".").code == 0
    assert hub.params_of("allow_folder") == {"path": os.getcwd()}


def test_a_server_is_started_for_a_folder_or_anyway(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    answers = {"start_for_project": None, "start_without_project": None, "get_snapshot": SNAPSHOT}
    with FakeControlHub(hub_home, answers) as hub:
        assert f"s is running for {tmp_path}." in tooltray("projects", "start", "s", str(tmp_path)).out
        assert "s is running without a project." in tooltray("projects", "start", "s", "--anyway").out
        assert tooltray("projects", "start", "s", "--anyway", "--json").json["name"] == SERVER["name"]
    assert hub.params_of("start_for_project") == {"server": "s", "path": str(tmp_path)}
    assert hub.params_of("start_without_project") == {"server": "s"}


@pytest.mark.parametrize("words", [["start", "s"], ["start", "s", "dir", "--anyway"], ["allow"], ["disallow"], []])
def test_what_cannot_be_understood_is_a_usage_error(tooltray: Tooltray, words: list[str]) -> None:
    assert tooltray("projects", *words).code == 2


def test_a_reset_says_what_waits_again(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reset_deferred_state": None, "get_snapshot": SNAPSHOT}):
        assert tooltray("projects", "reset").out == "1 server waits for a project again.\n"
        assert tooltray("projects", "reset", "--json").json == {"waiting": ["t"]}
    with FakeControlHub(hub_home, {"reset_deferred_state": None, "get_snapshot": {"servers": []}}):
        assert tooltray("projects", "reset").out == "0 servers wait for a project again.\n"


def test_without_a_hub_there_is_nothing_to_reset(tooltray: Tooltray, hub_home: Home) -> None:
    assert "every server waits for a project already" in tooltray("projects", "reset").err
    assert tooltray("projects", "reset", "--json").json == {"waiting": []}


def test_what_looks_like_a_projects_place_and_is_none_is_remarked_upon_when_a_server_is_added(tooltray: Tooltray, hub_home: Home) -> None:
    odd = tooltray("servers", "add", "s", "--deferred", "--template", "{nope} {project_path} '{\"a\": 1}'", "--", "true")
    assert (odd.code, odd.err.count("{nope} is handed over as it is written")) == (0, 1)
    for words in (["--deferred", "--template", "{project_name}"], ["--on-demand"]):
        assert "handed over" not in tooltray("servers", "add", "s", "--replace", *words, "--", "true", "{nope}").err


def test_a_server_is_added_that_waits_for_a_project(tooltray: Tooltray, hub_home: Home) -> None:
    added = tooltray(
        "servers", "add", "s", "--deferred", "--template", "-p '{project_path}' \"a b\"", "--idle-stop", "60", "--", "true", "x"
    )
    assert "it starts when an AI client works on a project and stops after 60 s" in added.out
    entry = settings(hub_home)["mcpServers"]["s"]  # type: ignore[index]
    assert (entry["deferredStartup"], entry["startupArgsTemplate"], entry["args"]) == (True, ["-p", "{project_path}", "a b"], ["x"])
    assert settings(hub_home).get("defaultServers", []) == []
    line = tooltray("servers", "list").out.splitlines()[-1]
    assert "waits for a project" in line
    assert "with a project" in line
    assert tooltray("servers", "add", "t", "--deferred", "--json", "--", "true", "{project_path}").json["default"] is False
    assert "startupArgsTemplate" not in settings(hub_home)["mcpServers"]["t"]  # type: ignore[index]


def test_a_template_goes_with_a_server_that_waits_and_can_be_read(tooltray: Tooltray) -> None:
    assert "--template goes with --deferred" in tooltray("servers", "add", "s", "--template", "x", "--", "true").err
    unread = tooltray("servers", "add", "s", "--deferred", "--template", '"x', "--", "true")
    assert (unread.code, "No closing quotation" in unread.err) == (2, True)
