"""Which files of a project an entry starts, what is in them, and how that differs from what was allowed."""

import os
from pathlib import Path

import pytest

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.sources.project_files import started_files as module
from tooltray.sources.project_files.started_files import (
    MISSING,
    MOST_DIFF_LINES,
    NO_FILE,
    StartedTexts,
    changed,
    digest_at,
    seen_digest,
    shown_files,
    started_files,
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
