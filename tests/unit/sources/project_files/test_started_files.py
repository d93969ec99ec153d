"""started_files.py: which files an entry starts, and how they differ from what was allowed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.sources.project_files import started_files as module
from tooltray.sources.project_files.started_files import (
    MISSING,
    MOST_DIFF_LINES,
    MOST_WORDS,
    NO_FILE,
    StartedTexts,
    changed,
    digest_at,
    found_inside,
    runs_by_name,
    seen_digest,
    shown_files,
    started_files,
    starts_others,
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "shop"
    for name in ("srv.py", "tool", "build/index.js", "pkg/__main__.py", "mod/__init__.py", "flat.py", "data.json", "package.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / "tool").write_text("#!/bin/sh\n")
    return folder


def paths(project: Path, command: str, *args: str, **fields: object) -> list[str]:
    config = MCPServerConfig.model_validate({"command": command, "args": list(args), **fields})
    return [each.replace(os.sep, "/") for each in started_files(config, str(project))]


def test_the_command_and_what_an_interpreter_is_given_are_among_them_and_data_is_not(project: Path) -> None:
    assert paths(project, "./srv.py") == ["srv.py"]
    assert paths(project, "./gone") == []  # the system says that there is none
    assert paths(project, "uv", "run", "srv.py", "--db", "data.json") == ["srv.py"]
    assert paths(project, "node", "--import=./build/index.js", "${CLAUDE_PROJECT_DIR}/build/index.js") == ["build/index.js"]
    assert paths(project, "bash", "tool", "data.json") == ["tool"]
    assert paths(project, "python3", "../srv.py", cwd="pkg") == ["srv.py"]
    assert paths(project, "npx", "server-filesystem", ".") == []  # a folder that is worked on


def test_modules_and_folders_are_looked_into(project: Path) -> None:
    assert paths(project, "python", "-m", "pkg") == ["pkg/__main__.py"]
    assert paths(project, "python3.12", "-um", "flat") == ["flat.py"]
    assert paths(project, "python", "-mmod") == ["mod/__init__.py"]
    assert paths(project, "node", "build") == ["build/index.js"]
    assert paths(project, "node.exe", ".") == ["package.json"]


def test_a_server_elsewhere_and_what_lies_elsewhere_have_none(project: Path) -> None:
    (project.parent / "other.py").write_text("x")
    assert started_files(MCPServerConfig.model_validate({"type": "http", "url": "https://x"}), str(project)) == {}
    assert paths(project, "python", str(project.parent / "other.py")) == []


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_links_count_for_what_they_lead_to(project: Path) -> None:
    outside = project.parent / "outside.py"
    outside.write_text("one")
    (project / "link.py").symlink_to(outside)
    config = MCPServerConfig.model_validate({"command": "python", "args": ["link.py"]})
    before = started_files(config, str(project))
    outside.write_text("two")
    assert changed(before, started_files(config, str(project))) == ["link.py"]
    inside = project.parent / "into.py"
    inside.symlink_to(project / "srv.py")
    assert list(started_files(MCPServerConfig.model_validate({"command": str(inside)}), str(project))) == [str(inside)]


def test_what_cannot_be_read_has_a_word_for_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert digest_at(str(project / "gone")) == MISSING
    assert digest_at(str(project / "srv.py" / "x")) == NO_FILE
    if os.name == "posix":
        os.mkfifo(project / "pipe")
        assert digest_at(str(project / "pipe")) == NO_FILE
    monkeypatch.setattr(module, "LARGEST_HASHED_BYTES", 3)
    (project / "large.py").write_text("four")
    assert digest_at(str(project / "large.py")).startswith("4 bytes of ")


def test_a_program_is_known_by_its_beginning_and_a_file_that_cannot_be_read_is_none(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "binary").write_bytes(b"\x7fELF....")
    assert paths(project, "env", "binary") == ["binary"]
    monkeypatch.setattr(module, "open", _failing, raising=False)
    assert paths(project, "env", "binary") == []


def _failing(*args: object, **kwargs: object) -> object:
    raise PermissionError


def test_a_yes_is_for_the_entry_and_for_each_file(project: Path) -> None:
    assert seen_digest("e", {}) == "e"
    one = seen_digest("e", {"a": "1", "b": "2"})
    assert one == seen_digest("e", {"b": "2", "a": "1"})
    assert len({one, seen_digest("f", {"a": "1", "b": "2"}), seen_digest("e", {"a": "1", "b": "3"}), seen_digest("e", {"a": "1"})}) == 4
    assert shown_files({"a\u202e": "0123456789abcdef"}) == ("a\\u202e (0123456789ab)",)
    assert changed({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == ["a", "b", "c"]


def digests(project: Path, *names: str) -> dict[str, str]:
    return {name: digest_at(str(project / name)) for name in names}


def test_a_difference_is_shown_line_by_line_for_small_texts_and_by_digests_else(project: Path, tmp_path: Path) -> None:
    texts = StartedTexts(tmp_path / "kept")
    (project / "srv.py").write_text("one\ntwo\u202e\n")
    (project / "blob.py").write_bytes(b"\xff\xfe")
    before = digests(project, "srv.py", "blob.py", "flat.py")
    texts.keep(str(project), before)
    texts.keep(str(project), before)
    (project / "srv.py").write_text("one\nthree\n")
    (project / "blob.py").write_bytes(b"\xff\xff")
    (project / "flat.py").unlink()
    now = digests(project, "srv.py", "blob.py")
    shown = texts.differences(str(project), before, now)
    assert shown[:2] == (" blob.py:", f"-SHA-256 {before['blob.py']}")
    assert shown[3:6] == (" flat.py:", f"-SHA-256 {before['flat.py']}", "+not there")
    assert shown[6:] == (" srv.py:", " one", "-two\\u202e", "+three")


def test_long_differences_are_cut_and_copies_without_a_consent_go(project: Path, tmp_path: Path) -> None:
    texts = StartedTexts(tmp_path / "kept")
    before = digests(project, "srv.py")
    texts.keep(str(project), before)
    (project / "srv.py").write_text("\n".join(map(str, range(2 * MOST_DIFF_LINES))))
    shown = texts.differences(str(project), before, digests(project, "srv.py"))
    assert (len(shown), shown[-1]) == (MOST_DIFF_LINES + 2, " …")
    texts.tidy(set(before.values()))
    assert [each.name for each in (tmp_path / "kept").iterdir()] == list(before.values())
    texts.tidy(set())
    assert list((tmp_path / "kept").iterdir()) == []
    assert texts.differences(str(project), {"srv.py": "12 bytes of 1"}, digests(project, "srv.py"))[1] == "-12 bytes of 1"


def test_a_copy_that_cannot_be_written_is_missing_and_nothing_else(project: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("no folder")
    texts = StartedTexts(tmp_path / "kept")
    texts.keep(str(project), digests(project, "srv.py"))
    texts.tidy(set())


@pytest.mark.parametrize(
    ("entry", "is_inside"),
    [
        ({"command": "./run"}, True),
        ({"command": "tools/run"}, True),
        ({"command": "${CLAUDE_PROJECT_DIR}/run"}, True),
        ({"command": "{folder}/run.js"}, True),
        pytest.param({"command": "/bin/sh"}, False, marks=pytest.mark.posix),
        ({"command": "~/run"}, False),
        ({"command": "node", "args": ["run.js"]}, True),
        ({"command": "node", "args": ["--require=./run.js"]}, True),
        ({"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/run.js"]}, True),
        ({"command": "node", "args": ["run.js"], "cwd": "elsewhere"}, False),
        ({"command": "node", "args": ["../run.js"], "cwd": "elsewhere"}, True),
        pytest.param({"command": "node", "args": ["linked.js"], "cwd": ".."}, True, marks=pytest.mark.posix),
        ({"command": "node", "args": ["no such file"]}, False),
        ({"command": "npx", "args": ["-y", "run"]}, False),
        ({"command": "node", "args": ["x"] * MOST_WORDS + ["run.js"]}, False),
        ({"command": "node", "args": ["x"] * (MOST_WORDS - 1) + ["run.js"]}, True),
        ({"command": "node", "args": ["elsewhere"]}, False),
        ({"command": "$HOME/run"}, False),
        ({"command": "run.js"}, False),
        ({"command": "..\\run"}, True),
        ({"command": "node", "args": [], "startupArgsTemplate": ["run.js"], "deferredStartup": True}, True),
        ({"command": "node", "args": ["${CLAUDE_PROJECT_DIR:-/tmp}/run.js"]}, True),
    ],
)
def test_what_lies_in_the_project_itself_is_marked(tmp_path: Path, entry: dict[str, Any], is_inside: bool) -> None:
    folder = tmp_path.resolve() / "shop"
    (folder / "elsewhere").mkdir(parents=True)
    (folder / "run.js").write_text("")
    (folder.parent / "linked.js").symlink_to(folder / "run.js")
    entry = {**entry, "command": entry["command"].replace("{folder}", str(folder))}
    assert found_inside(read_entry("s", entry), str(folder)) is is_inside


@pytest.mark.parametrize(
    ("line", "modules", "folders"),
    [
        ("node .", (), (".",)),
        ("node --watch . rest", (), (".",)),
        ("node --title shop sub rest", (), ("shop", "sub")),
        ("node --require=./x.js sub", (), ("sub",)),
        ("node server.js .", (), ("server.js",)),
        ("python3.12 -u sub", (), ("sub",)),
        ("python -m server .", ("server",), ("server", ".")),
        ("python.exe -um server", ("server",), ("server",)),
        ("python -mserver", ("server",), ()),
        ("python -m", (), ()),
        ("bun run sub", (), ("run",)),
        ("npx -m x .", (), ()),
    ],
)
def test_modules_and_folders_that_an_interpreter_runs_are_found(line: str, modules: tuple[str, ...], folders: tuple[str, ...]) -> None:
    command, *args = line.split()
    assert runs_by_name(MCPServerConfig(command=command, args=tuple(args))) == (modules, folders)


PACKAGE = {
    "main": "lib/main",
    "bin": {"it": "bin/it.js"},
    "scripts": {"go": "NODE_ENV=x node ./srv.js && sh -c 'exec python3 tool.py'", "loop": "npm run loop", "odd": 5},
}


@pytest.mark.parametrize(
    ("command", "words", "found"),
    [
        ("sh", ["-c", "exec python3 ./srv.py"], {"srv.py"}),
        ("/bin/bash", ["-lc", "cd . && A=1 python3 srv.py; node srv.js"], {"srv.py", "srv.js"}),
        ("sh", ["-c", "python3 'srv.py"], set()),
        ("sh", ["-c", "A=1"], set()),
        ("npm", ["run", "go"], {"package.json", "srv.js", "tool.py"}),
        ("npm", ["run", "loop"], {"package.json"}),
        ("sh", ["-c", "npm run go"], {"package.json", "srv.js", "tool.py"}),
        ("node", ["."], {"package.json", "lib/main.js", "bin/it.js"}),
        ("make", ["serve"], {"Makefile"}),
    ],
)
def test_what_a_line_starts_is_found(tmp_path: Path, command: str, words: list[str], found: set[str]) -> None:
    for name in ("srv.py", "srv.js", "tool.py", "lib/main.js", "bin/it.js", "Makefile"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "package.json").write_text(json.dumps(PACKAGE))
    started = started_files(MCPServerConfig(command=command, args=tuple(words)), os.path.realpath(tmp_path))
    assert {name.replace(os.sep, "/") for name in started} == found


@pytest.mark.parametrize("package", ["no json", [], {"scripts": 5, "bin": "b.js"}])
def test_a_package_that_cannot_be_read_names_nothing(tmp_path: Path, package: Any) -> None:
    (tmp_path / "package.json").write_text(package if isinstance(package, str) else json.dumps(package))
    for command, words in (("npm", ("run", "go")), ("node", (".",))):
        started = started_files(MCPServerConfig(command=command, args=words), os.path.realpath(tmp_path))
        assert set(started) == {"package.json"}


@pytest.mark.parametrize(("command", "words", "is_other"), [("sh", ("-c", "run"), True), ("node", (".",), True), ("p", ("a.py",), False)])
def test_where_not_all_can_be_covered_it_is_known(tmp_path: Path, command: str, words: tuple[str, ...], is_other: bool) -> None:
    (tmp_path / "package.json").write_text('{"main": "a.js"}')
    (tmp_path / "a.js").write_text("")
    assert starts_others(MCPServerConfig(command=command, args=words), os.path.realpath(tmp_path)) is is_other
