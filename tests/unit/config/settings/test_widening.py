"""widening.py: what of a change lets more happen than before."""

from typing import Any

import pytest

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import ProfileSettings
from tooltray.config.settings.settings_reading import read_settings
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.config.settings.widening import (
    HARMLESS_FIELDS,
    calls_widen,
    entry_widens,
    profile_widens,
    rules_widen,
    settings_widen,
    words_mislead,
)

ENTRY = {
    "command": "p",
    "args": ["a"],
    "env": {"A": "1"},
    "disable": True,
    "autoApprove": ["read", "write"],
    "disabledTools": ["a"],
    "toolFilter": {"mode": "allow", "list": ["b", "c"]},
    "toolOverrides": {"b": {"name": "bee"}},
    "maxCalls": 4,
    "callsPerMinute": 40,
}
BLOCKING = {**ENTRY, "toolFilter": {"mode": "block", "list": ["b"]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"command": "q"},
        {"args": ["b"]},
        {"env": {"A": "2"}},
        {"env": {"A": "${secret:bank/PIN}"}},
        {"cwd": "/elsewhere"},
        {"command": None, "url": "http://127.0.0.1:9/"},
        {"isolation": "session"},
        {"directStart": False},
        {"customNpmRegistry": "http://127.0.0.1:9/"},
        {"oauth": {"issuer": "http://127.0.0.1:9/"}},
        {"deferredStartup": True},
        {"startupArgsTemplate": ["-c"]},
        {"autoApprove": ["all"]},
        {"disable": False},
        {"disabledTools": []},
        {"toolFilter": None},
        {"toolFilter": {"mode": "block", "list": []}},
        {"toolFilter": {"mode": "allow", "list": ["b", "c", "d"]}},
        {"toolOverrides": {"b": {"name": "other"}}},
        {"toolOverrides": {"b": {"name": "bee", "flow": "none"}}},
        {"maxCalls": None},
        {"maxCalls": 5},
        {"callsPerMinute": 50},
        {"ofALaterVersion": True},
    ],
)
def test_an_entry_that_runs_or_allows_something_else_widens(changes: dict[str, Any]) -> None:
    assert entry_widens("s", ENTRY, {key: value for key, value in {**ENTRY, **changes}.items() if value is not None})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"autoApprove": ["write"]},
        {"autoApprove": []},
        {"disabledTools": ["a", "b"]},
        {"toolFilter": {"mode": "allow", "list": ["b"]}},
        {"toolOverrides": {}},
        {"toolOverrides": {"b": {"name": "bee", "resultLimit": 700, "csvTables": True}}, "resultLimit": 700, "csvTables": True},
        {"maxCalls": 3, "callsPerMinute": 1},
        {"descriptions": "Notes", "icons": "N", "callTimeout": 5, "idleStop": 60, "lazyLoad": True, "options": {"lazyLoad": True}},
    ],
)
def test_an_entry_that_is_narrower_or_looks_otherwise_widens_nothing(changes: dict[str, Any]) -> None:
    assert not entry_widens("s", ENTRY, {**ENTRY, **changes})


def test_more_that_is_blocked_is_narrower_and_less_is_wider() -> None:
    more = {**ENTRY, "toolFilter": {"mode": "block", "list": ["b", "c"]}}
    assert not entry_widens("s", BLOCKING, more)
    assert entry_widens("s", more, BLOCKING)
    without = {key: value for key, value in ENTRY.items() if key != "toolFilter"}
    assert not entry_widens("s", without, BLOCKING)
    assert not entry_widens("s", {**ENTRY, "disable": False}, ENTRY)


@pytest.mark.parametrize(
    ("before", "after", "widens"),
    [([], ["/a"], False), (["/a", "/b"], ["/a"], False), (["/a"], [], True), (["/a"], ["/a", "/b"], True), (["/a"], ["/b"], True)],
)
def test_a_server_for_fewer_folders_is_narrower(before: list[str], after: list[str], widens: bool) -> None:
    assert entry_widens("s", {**ENTRY, "projects": before}, {**ENTRY, "projects": after}) is widens
    assert not entry_widens("s", ENTRY, {**ENTRY, "label": "work", "color": "blue"})


READS = {"toolOverrides": {"b": {"flow": "reads", "annotations": {"readOnlyHint": False}}}}


@pytest.mark.parametrize(
    ("before", "after", "widens"),
    [
        ({}, {}, False),
        ({}, {"toolOverrides": {"b": {"name": "bee"}}}, False),
        ({}, {"toolOverrides": {"b": {"annotations": {"readOnlyHint": False}}}}, False),
        ({}, {"toolOverrides": {"b": {"flow": "none"}}}, True),
        (READS, READS, False),
        (READS, {}, True),
        (READS, {"toolOverrides": {"b": {"flow": "reads"}}}, True),
        (READS, {"toolOverrides": {"b": {"annotations": {"readOnlyHint": False}}}}, True),
        ({"toolOverrides": {"b": {"name": "bee"}}}, {"toolOverrides": {"b": {"annotations": {"readOnlyHint": True}}}}, False),
        ({"autoApprove": []}, {"autoApprove": ["all"]}, True),
    ],
)
def test_calls_ask_less_often_by_rules_by_other_hints_and_by_another_role_in_the_flow(
    before: dict[str, Any], after: dict[str, Any], widens: bool
) -> None:
    was, now = (read_entry("s", {"command": "p", **entry}) for entry in (before, after))
    assert calls_widen(was, now) is widens


@pytest.mark.parametrize(
    ("before", "after", "misleads"),
    [
        (None, {"name": "bee"}, True),
        (None, {"description": ""}, True),
        (None, {"resultLimit": 700, "flow": "reads"}, False),
        ({"name": "bee"}, {"name": "bee"}, False),
        ({"name": "bee"}, {"name": "cee"}, True),
        ({"name": "bee", "title": "B"}, {"name": "bee"}, False),
        ({"name": "bee"}, {"name": "bee", "annotations": {"readOnlyHint": True}}, True),
    ],
)
def test_other_words_for_a_tool_mislead_and_its_own_do_not(before: dict[str, Any] | None, after: dict[str, Any], misleads: bool) -> None:
    was = None if before is None else ToolOverride.model_validate(before)
    assert words_mislead(was, ToolOverride.model_validate(after)) is misleads


def test_every_field_that_is_called_harmless_is_one() -> None:
    assert set(MCPServerConfig.model_fields) >= HARMLESS_FIELDS


def test_rules_beside_all_are_nothing_more() -> None:
    assert not rules_widen(["all"], ["write", "x"])
    assert rules_widen(["read"], ["read", "x"])


def test_an_exception_that_goes_widens_and_one_that_comes_does_not() -> None:
    assert rules_widen(["all", "ask:x"], ["all"])
    assert not rules_widen(["all"], ["all", "ask:x"])
    assert not rules_widen(["read"], ["ask:x"])
    assert rules_widen(["read", "ask:x"], ["read", "x", "ask:x"])


@pytest.mark.parametrize(
    ("after", "widens"),
    [
        ({"servers": ["a"], "tools": {"a": ["t"]}}, False),
        ({"servers": [], "tools": {"a": ["t"]}}, False),
        ({"servers": ["a"], "tools": {"a": []}}, False),
        ({"servers": ["a"]}, True),
        ({"servers": ["a", "b"], "tools": {"a": ["t"]}}, True),
        ({"servers": ["a"], "tools": {"a": ["t", "u"]}}, True),
        ({"servers": ["a"], "tools": {"a": ["t"], "b": ["x"]}}, True),
        ({"tools": {"a": ["t"]}}, True),
        ({"servers": ["a"], "tools": "x"}, True),
    ],
)
def test_a_profile_with_more_in_it_widens(after: dict[str, Any], widens: bool) -> None:
    assert profile_widens(ProfileSettings(servers=("a",), tools={"a": ("t",)}), after) is widens


def test_a_profile_of_all_servers_widens_by_tools_alone() -> None:
    assert not profile_widens(ProfileSettings(), {"servers": ["x"]})


SETTINGS = read_settings(
    {
        "profiles": {"few": {"servers": []}},
        "autoDetectNpmRegistry": False,
        "publish": {"clients": {"c": {"profile": "few", "autoApprove": ["read"], "flowGuard": True}, "e": {"flowGuard": False}}},
        "approvals": {"flowGuard": True, "sameForSeconds": 20},
        "newServers": "trusted",
    }
).settings


@pytest.mark.parametrize(
    "changes",
    [
        {"allowedFolders": ["/x"]},
        {"customNpmRegistry": "http://127.0.0.1:9/"},
        {"secrets": {"backend": "memory"}},
        {"autoDetectNpmRegistry": True},
        {"profiles": {"few": None}},
        {"profiles": None},
        {"publish": None},
        {"publish": {"http": {"requireToken": False}}},
        {"publish": {"clients": None}},
        {"publish": {"clients": {"c": None}}},
        {"publish": {"clients": {"c": {"profile": None}}}},
        {"publish": {"clients": {"c": {"autoApprove": ["all"]}}}},
        {"publish": {"clients": {"c": {"autoApprove": None}}}},
        {"publish": {"clients": {"d": {"autoApprove": ["read"]}}}},
        {"publish": {"clients": {"d": {"autoApprove": "all"}}}},
        {"publish": {"clients": {"c": {"flowGuard": False}}}},
        {"publish": {"clients": {"d": {"flowGuard": None}}}},
        {"approvals": None},
        {"approvals": {"flowGuard": False}},
        {"approvals": {"flowGuard": None}},
        {"approvals": {"sameForSeconds": 21}},
        {"approvals": {"sameForSeconds": "20"}},
        {"approvals": {"ofALaterVersion": True}},
        {"updates": {"check": True}},
        {"updates": {"check": False, "address": "https://elsewhere.example/"}},
        {"updates": None},
        {"newServers": "free"},
        {"newServers": ["careful"]},
    ],
)
def test_settings_that_let_more_happen_widen(changes: dict[str, Any]) -> None:
    assert settings_widen(changes, SETTINGS)


@pytest.mark.parametrize(
    "changes",
    [
        {"readyAnswers": ["Go on"], "hotReload": False, "mcpEnabled": False, "mine": {"a": 1}},
        {"language": "zh_TW", "window": {"theme": "dark"}, "notifications": {"failed": False}},
        {"autoDetectNpmRegistry": False},
        {"profiles": {"new": {"servers": []}}},
        {"publish": {"naming": "always", "mode": "search", "lazyLoad": True, "feedback": False, "odd": 1}},
        {"publish": {"clients": {"c": {"mode": "lazy", "profile": "few", "autoApprove": []}}}},
        {"publish": {"clients": {"d": {"profile": "few", "autoApprove": None}}}},
        {"publish": {"clients": {"c": {"flowGuard": True}, "e": {"flowGuard": None}}}},
        {"approvals": {"flowGuard": True, "sameForSeconds": 20}},
        {"approvals": {"sameForSeconds": None}},
        {"updates": {"check": False}},
        {"newServers": "trusted"},
        {"newServers": "careful"},
        {"newServers": None},
    ],
)
def test_settings_that_are_narrower_or_show_tools_otherwise_widen_nothing(changes: dict[str, Any]) -> None:
    assert not settings_widen(changes, SETTINGS)
