"""ancestry.py: where a request comes from: its process and those above it, harmless and bounded, and the AI client among them."""

import json
import os
import sys
from pathlib import Path

import pytest

from tooltray.consent.ancestry import (
    LONGEST_NAME,
    MOST_PROCESSES,
    Origin,
    Process,
    look_among,
    look_in_proc,
    origin_of,
    read_known_programs,
    table_by_ps,
    table_of_ps,
)
from tooltray.foundation.programs import resource

KNOWN = {"claude": "Claude Code", "codex": "Codex"}


def proc(root: Path, pid: int, parent: int, name: str, *words: str) -> None:
    (root / str(pid)).mkdir(parents=True)
    (root / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} 1 1 0")
    (root / str(pid) / "cmdline").write_text("\0".join(words) + "\0")


def test_a_request_comes_from_a_process_and_those_above_it_up_to_the_first(tmp_path: Path) -> None:
    proc(tmp_path, 40, 30, "tooltray", "/usr/bin/tooltray", "approve")
    proc(tmp_path, 30, 20, "ba) (sh", "bash")
    proc(tmp_path, 20, 1, "claude", "claude")
    found = origin_of(40, KNOWN, lambda pid: look_in_proc(pid, str(tmp_path)))
    assert found.shown == ("tooltray (40)", "ba) (sh (30)", "claude (20)")
    assert (found.ai_client, str(found)) == ("Claude Code", "tooltray (40), ba) (sh (30), claude (20)")


def test_a_script_is_named_instead_of_its_interpreter_and_known_by_its_path(tmp_path: Path) -> None:
    proc(tmp_path, 9, 1, "node", "/usr/bin/node", "--flag", "/lib/node_modules/@openai/codex/bin/main.js")
    [process] = origin_of(9, KNOWN, lambda pid: look_in_proc(pid, str(tmp_path))).processes
    assert process.name == "main.js"
    assert origin_of(9, KNOWN, lambda pid: look_in_proc(pid, str(tmp_path))).ai_client == "Codex"
    proc(tmp_path, 8, 1, "main", "/usr/bin/python3", "/opt/tool.py")
    assert origin_of(8, KNOWN, lambda pid: look_in_proc(pid, str(tmp_path))).shown == ("tool.py (8)",)
    proc(tmp_path, 10, 1, "vim", "/usr/bin/vim", "/lib/codex/main.js")
    [process] = origin_of(10, KNOWN, lambda pid: look_in_proc(pid, str(tmp_path))).processes
    assert (process.name, process.words) == ("vim", {"vim"})


def test_names_are_harmless_and_bounded() -> None:
    found = Origin((Process(7, "a\u202eb\n" + "x" * 100),))
    assert found.shown[0].startswith("a\\u202eb xxx")
    assert len(found.shown[0]) == LONGEST_NAME + len(" (7)")


def test_a_long_line_of_processes_and_a_circle_have_an_end() -> None:
    endless = {pid: (pid + 1, "sh") for pid in range(2, 100)}
    assert len(origin_of(2, KNOWN, look_among(endless)).processes) == MOST_PROCESSES
    assert len(origin_of(5, KNOWN, look_among({5: (6, "a"), 6: (5, "b")})).processes) == 2


@pytest.mark.parametrize("pid", [0, 1, 2**22 + 1])
def test_what_the_system_does_not_tell_is_nothing(pid: int) -> None:
    assert origin_of(pid, KNOWN) == Origin()


@pytest.mark.parametrize("stat", ["", "5 (x", "5 (x) S y"])
def test_a_line_of_the_system_that_makes_no_sense_ends_it(tmp_path: Path, stat: str) -> None:
    proc(tmp_path, 5, 1, "x")
    (tmp_path / "5" / "stat").write_text(stat)
    assert look_in_proc(5, str(tmp_path)) is None


def test_ps_and_windows_name_programs_by_their_paths() -> None:
    table = table_of_ps("  12     1 /Applications/Codex.app/Contents/MacOS/codex\nx y z\n  20 12 -zsh\n 21 1 /My App/x y\n")
    assert table == {12: (1, "/Applications/Codex.app/Contents/MacOS/codex"), 20: (12, "-zsh"), 21: (1, "/My App/x y")}
    found = origin_of(20, KNOWN, look_among({**table, 12: (1, "codex.exe")}))
    assert (found.shown, found.ai_client) == (("-zsh (20)", "codex.exe (12)"), "Codex")


def test_without_ps_nothing_is_known(tmp_path: Path) -> None:
    assert table_by_ps(str(tmp_path / "ps")) == {}
    assert origin_of(5, KNOWN, look_among({})) == Origin()


@pytest.mark.posix  # Windows has no ps
def test_what_a_failing_ps_has_named_is_known(tmp_path: Path) -> None:
    (ps := tmp_path / "ps").write_text("#!/bin/sh\necho '5 1 /bin/x'\nexit 1\n")
    ps.chmod(0o700)
    assert table_by_ps(str(ps)) == {5: (1, "/bin/x")}


@pytest.mark.posix  # Windows has no ps
def test_this_process_has_those_above_it_by_ps_too(monkeypatch: pytest.MonkeyPatch) -> None:
    here = origin_of(os.getpid(), {}).processes
    assert here[0].pid == os.getpid()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert [each.pid for each in origin_of(os.getpid(), {}).processes] == [each.pid for each in here]


def test_the_programs_of_ai_clients_are_those_of_the_table() -> None:
    known = read_known_programs(resource("ai-clients.json").read_bytes())
    assert (known["claude"], known["codex"]) == ("Claude Code", "Codex")
    assert read_known_programs(json.dumps({"clients": [{"name": "x"}]}).encode()) == {}
