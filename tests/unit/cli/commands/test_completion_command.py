"""Completions and manual pages, made of the parser."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tooltray.cli.commands.completion_command import command_tree, for_bash, for_fish, for_zsh

PACKAGING = Path(__file__).parents[4] / "packaging"


def completed(*typed: str) -> list[str]:
    """What bash offers for the last word."""
    words = " ".join(map(shlex.quote, typed))
    ask = f'COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _tooltray; printf "%s\\n" "${{COMPREPLY[@]}}"'
    script = f"{for_bash(command_tree())}\n{ask}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env={"PATH": os.defpath}).stdout.split()


def test_commands_are_completed_and_the_commands_of_a_group() -> None:
    assert completed("tooltray", "ser") == ["serve", "servers"]
    assert {"add", "list", "remove"} <= set(completed("tooltray", "servers", ""))
    assert completed("tooltray", "servers", "add", "--js") == ["--json"]


def test_words_that_have_few_values_are_completed() -> None:
    assert completed("tooltray", "secrets", "backend", "k") == ["keyring"]


def test_a_servers_own_command_is_left_to_the_shell() -> None:
    assert completed("tooltray", "servers", "add", "x", "--", "serv") == []


def test_what_is_hidden_from_help_is_not_offered() -> None:
    assert "--home" not in completed("tooltray", "servers", "list", "--")
    assert "--home" in completed("tooltray", "--")


def test_every_command_is_in_every_completion() -> None:
    tree = command_tree()
    texts = [make(tree) for make in (for_bash, for_zsh, for_fish)]

    assert sum(1 for _ in tree.walk()) > 60
    for node in tree.walk():
        assert all(node.words in text for text in texts), node.words


def test_what_a_command_does_survives_quotation_marks() -> None:
    assert "TBXark\\'s" in for_fish(command_tree())
    assert "TBXark'\"'\"'s" in for_zsh(command_tree())


def test_the_manual_has_each_command_and_no_line_that_man_takes_for_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGING))
    monkeypatch.delitem(sys.modules, "manual", raising=False)
    import manual

    page = manual.tooltray_page("1.2.3", "2026-11-23")
    requests = {line.split()[0] for line in page.splitlines() if line.startswith(".")}

    assert requests <= {".TH", ".SH", ".SS", ".TP", ".B"}
    assert "Tooltray 1.2.3" in page
    for node in command_tree().walk():
        if not node.commands:
            assert f".SS {manual.bold(node.words.partition(' ')[2])}" in page
    assert manual.escaped(".x -y") == r"\&.x \-y"
    assert r"\fB\-\-profile\fR \fINAME\fR" in manual.bridge_page("1.2.3", "2026-11-23")
