"""claude_approvals.py: what Claude's person has answered."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import put

from tooltray.sources.clients.claude_approvals import approvals_of, is_extension_off
from tooltray.sources.clients.found_entries import Approvals


def said(tmp_path: Path, projects: object = None) -> Approvals:
    return approvals_of(tmp_path / "p", tmp_path / ".claude", projects)


@pytest.mark.parametrize("place", [".claude/settings.json", "p/.claude/settings.json", "p/.claude/settings.local.json"])
def test_answers_stand_in_three_files(tmp_path: Path, place: str) -> None:
    put(tmp_path / place, {"enabledMcpjsonServers": ["a", 1], "disabledMcpjsonServers": ["b"]})
    assert said(tmp_path) == Approvals(False, frozenset("a"), frozenset("b"))
    put(tmp_path / place, {"enableAllProjectMcpServers": True, "enabledMcpjsonServers": "a"})
    assert said(tmp_path) == Approvals(True)


def test_older_versions_answer_in_their_own_file(tmp_path: Path) -> None:
    folder = str(tmp_path / "p")
    assert said(tmp_path, {folder: {"enabledMcpjsonServers": ["a"]}, "/other": {"enabledMcpjsonServers": ["b"]}}).enabled == {"a"}
    for odd in ({folder: 1}, [], None):
        assert said(tmp_path, odd) == Approvals()


@pytest.mark.parametrize("content", ["[]", "{", ""])
def test_a_file_that_makes_no_sense_answers_nothing(tmp_path: Path, content: str) -> None:
    put(tmp_path / ".claude/settings.json", content)
    assert said(tmp_path) == Approvals()


@pytest.mark.parametrize(("content", "is_off"), [({"isEnabled": False}, True), ({"isEnabled": True}, False), ({}, False)])
def test_an_extension_is_off_if_its_settings_say_so(tmp_path: Path, content: Any, is_off: bool) -> None:
    manifest = tmp_path / "Claude Extensions" / "x.y" / "manifest.json"
    assert not is_extension_off(manifest)
    put(tmp_path / "Claude Extensions Settings" / "x.y.json", content)
    assert is_extension_off(manifest) == is_off
