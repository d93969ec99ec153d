"""confinements.py"""

import os
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

import tooltray_confine.landlock
from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.servers.confinement import confinements
from tooltray.servers.confinement.confinements import (
    BUBBLEWRAP_FAILS,
    MAC_SEES,
    NO_BUBBLEWRAP,
    NO_HOSTS,
    NO_LANDLOCK,
    NO_SIGNALS,
    NO_WINDOWS,
    NOT_HERE,
    Confinements,
    Support,
    can_confine,
    can_have_hosts,
    find_bubblewrap,
    missing,
    probe,
    starts_confined,
)

FULL = Support("linux", 7, True, "/usr/bin/bwrap", "/usr/bin/env")
MAC = Support("darwin", sandbox_exec="/usr/bin/sandbox-exec")


@pytest.mark.parametrize(
    ("files", "network", "here", "sentences"),
    [
        ("own", "none", FULL, []),
        ("open", "open", Support("windows"), []),
        ("own", "open", Support("windows"), [NO_WINDOWS]),
        ("open", "none", Support("other"), [NOT_HERE]),
        ("own", "none", Support("linux", 7, False), [NOT_HERE]),
        ("own", "none", Support("linux", 7, True), [NO_BUBBLEWRAP]),
        ("own", "none", Support("linux", 7, True, bwrap_fails=True), [BUBBLEWRAP_FAILS]),
        ("own", "none", Support("linux", 5, True), [NO_SIGNALS, NO_BUBBLEWRAP]),
        ("own", "none", Support("linux", 1, True, "/usr/bin/bwrap"), []),
        ("open", "none", Support("linux", 1, True, "/usr/bin/bwrap"), [NO_SIGNALS]),
        ("read", "open", Support("linux", 0, True, "/usr/bin/bwrap"), [NO_LANDLOCK]),
        ("own", "hosts", Support("linux", 3, True, "/usr/bin/bwrap"), [NO_HOSTS]),
        ("own", "hosts", FULL, []),
        ("own", "none", MAC, [MAC_SEES]),
        ("open", "none", MAC, []),
    ],
)
def test_a_card_says_what_is_missing_and_no_more(files, network, here: Support, sentences: list[str]):
    assert list(missing(files, network, here)) == sentences


@pytest.mark.parametrize(("here", "is_possible"), [(FULL, True), (MAC, True), (Support("windows"), False)])
def test_a_sandbox_counts_where_this_computer_has_one(here: Support, is_possible: bool) -> None:
    found, own = Confinements(support=here), Confinement(files="own")
    assert [found.applies(chosen) for chosen in (Confinement(), own)] == [False, is_possible]
    cards = [found.of("s", MCPServerConfig(command="x", confinement=chosen)) for chosen in (Confinement(), own)]
    assert [card and card.is_in_vain for card in cards] == [False, not is_possible]
    entries: list[dict[str, Any]] = [{"command": "x"}, {"command": "docker"}, {"command": "./docker"}, {"url": "http://x"}]
    configs = [MCPServerConfig.model_validate(entry) for entry in entries]
    assert [found.suits(config) for config in configs] == [is_possible, False, is_possible, False]
    assert found.of("s", configs[3]) is None


def test_what_a_server_did_not_get_at_its_start_is_on_its_card() -> None:
    found = Confinements(support=FULL)
    found.note_left_out("s", ("x is not there",))
    missed = [found.of(name, MCPServerConfig(command="x", confinement=Confinement(files="own"))) for name in ("s", "other")]
    assert [card and card.missing for card in missed] == [("x is not there",), ()]


def test_files_need_landlock() -> None:
    supports = (FULL, Support("linux", 0, True, "/usr/bin/bwrap"), MAC, Support())
    assert [Confinements(support=each).here.files for each in supports] == [True, False, True, False]


def test_some_hosts_need_rules_for_tcp():
    assert [can_have_hosts(Support("linux", abi, True)) for abi in (3, 4)] == [False, True]
    assert can_have_hosts(MAC)
    assert not can_have_hosts(Support("windows"))
    assert [can_confine(each) for each in (FULL, MAC, Support("windows"))] == [True, True, False]


def script(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(0o755)


def test_bubblewrap_counts_where_it_works(tmp_path: Path):
    assert find_bubblewrap(str(tmp_path)) == ("", "", False)
    script(tmp_path, "bwrap", 'for last; do :; done; exec "$last"')
    assert find_bubblewrap(str(tmp_path)) == (str(tmp_path / "bwrap"), "", False)
    script(tmp_path, "env", "exit 125")  # one that knows no signals
    assert find_bubblewrap(str(tmp_path)) == (str(tmp_path / "bwrap"), "", False)
    script(tmp_path, "env", 'shift; exec "$@"')
    assert find_bubblewrap(str(tmp_path)) == (str(tmp_path / "bwrap"), str(tmp_path / "env"), False)
    script(tmp_path, "bwrap", "exit 1")  # no namespaces for this user
    assert find_bubblewrap(str(tmp_path)) == ("", "", True)
    (tmp_path / "bwrap").write_text("#!/not/there\n")
    assert find_bubblewrap(str(tmp_path)) == ("", "", True)


def test_this_computer_is_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(confinements, "find_bubblewrap", lambda: ("/b", "/e", False))
    monkeypatch.setattr(tooltray_confine.landlock, "newest_abi", lambda: 3)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert probe() == Support("linux", 3, os.path.exists(confinements.ACTIONS), "/b", "/e")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not probe().has_seccomp


def test_a_kernel_without_filters_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(confinements, "find_bubblewrap", lambda: ("", "", False))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    for text, expected in (("kill_process errno allow", True), ("kill_process", False), (None, False)):
        actions = tmp_path / "actions"
        actions.write_text(text) if text is not None else actions.unlink()
        monkeypatch.setattr(confinements, "ACTIONS", str(actions))
        assert probe().has_seccomp is expected


def test_other_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sys, "platform", "win32")
    assert probe() == Support("windows")
    monkeypatch.setattr(sys, "platform", "freebsd14")
    assert probe() == Support()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(confinements, "SANDBOX_EXEC", str(tmp_path / "sandbox-exec"))
    assert probe() == Support("darwin")
    script(tmp_path, "sandbox-exec", "")
    assert probe() == Support("darwin", sandbox_exec=str(tmp_path / "sandbox-exec"))


@pytest.mark.parametrize(
    ("entry", "platform", "is_kept"),
    [
        ({"command": "npx", "args": ["x"]}, "linux", True),
        ({"command": "npx", "type": "stdio"}, "darwin", True),
        ({"command": "npx"}, "win32", False),
        ({"command": "docker"}, "linux", False),
        ({"command": "/usr/bin/docker"}, "linux", False),
        ({"command": "./docker"}, "linux", True),
        ({"command": "${CLAUDE_PROJECT_DIR}/docker"}, "linux", True),
        ({"command": "npx", "confinement": "read"}, "linux", False),
        ({"url": "http://127.0.0.1:9/"}, "linux", False),
        ({"command": "x", "type": "inmemory"}, "linux", False),
        ({"command": ""}, "linux", False),
    ],
)
def test_a_new_server_is_kept_to_its_own_files_where_that_works(entry: dict[str, Any], platform: str, is_kept: bool) -> None:
    assert starts_confined(entry, platform=platform) == is_kept
