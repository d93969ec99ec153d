"""The form knows every field of an entry, and changes the one that a person edits and nothing else."""

from typing import Any

import pytest

from tooltray.config.settings.server_config import LABEL_COLORS, SPELLINGS, MCPServerConfig, OAuthSettings, ToolFilter
from tooltray.ui.server_pane.entry_fields import (
    COLORS,
    FIELDS,
    EntryField,
    is_changed,
    is_odd,
    is_wanted,
    looks_remote,
    options_of,
    value_in,
    with_value,
    with_values,
)

ELSEWHERE = {"options", "confinement"}  # another place for lazyLoad, which the form heeds; a tab of its own


def field(*path: str) -> EntryField:
    return next(each for each in FIELDS if each.path == path)


def test_no_field_of_an_entry_is_missing() -> None:
    known = {each.path[0] for each in FIELDS} | ELSEWHERE
    assert {model.alias for model in MCPServerConfig.model_fields.values()} == known
    for model, name in ((OAuthSettings, "oauth"), (ToolFilter, "toolFilter")):
        inner = {each.path[1] for each in FIELDS if each.path[0] == name}
        assert {found.alias or key for key, found in model.model_fields.items()} == inner


def test_other_spellings_are_those_of_the_settings() -> None:
    by_ours = {spellings[0]: spellings for spellings in SPELLINGS.values()}
    assert {each.path[0]: each.spellings for each in FIELDS if each.spellings} == by_ours


def test_the_colours_are_those_of_the_settings() -> None:
    assert [value.strip('"') for value, _ in COLORS if value] == list(LABEL_COLORS)


@pytest.mark.parametrize(
    ("entry", "path", "value", "changed"),
    [
        ({"command": "a", "x": 1}, ("command",), "b", {"command": "b", "x": 1}),
        ({"url": "a"}, ("baseUrl",), "b", {"url": "b"}),
        ({}, ("baseUrl",), "b", {"baseUrl": "b"}),
        ({"command": "a"}, ("command",), None, {}),
        ({"options": {"lazyLoad": True, "y": 1}}, ("lazyLoad",), False, {"options": {"lazyLoad": False, "y": 1}}),
        ({"options": {"lazyLoad": True}}, ("lazyLoad",), None, {}),
        ({"oauth": {"scopes": ["a"], "z": 1}}, ("oauth", "scopes"), None, {"oauth": {"z": 1}}),
        ({"oauth": {"scopes": ["a"]}}, ("oauth", "scopes"), None, {}),
        ({}, ("toolFilter", "mode"), "allow", {"toolFilter": {"mode": "allow"}}),
        ({"transport": "sse"}, ("type",), "http", {"transport": "http"}),
    ],
)
def test_a_value_is_changed_where_it_stands_and_nothing_else_is(
    entry: dict[str, Any], path: tuple[str, ...], value: object, changed: dict[str, Any]
) -> None:
    before = repr(entry)
    assert with_value(entry, field(*path), value) == changed
    assert repr(entry) == before


@pytest.mark.parametrize(
    ("entry", "path", "odd"),
    [
        ({"args": "a b"}, ("args",), True),
        ({"args": ["a", 1]}, ("args",), True),
        ({"args": ["two\nlines"]}, ("args",), True),
        ({"args": ["a", "b"]}, ("args",), False),
        ({"env": {"A": 1}}, ("env",), True),
        ({"env": {"A": "1"}}, ("env",), False),
        ({"oauth": True}, ("oauth", "clientId"), True),
        ({"idleStop": True}, ("idleStop",), True),
        ({"idleStop": 1.5}, ("idleStop",), False),
        ({"disable": "yes"}, ("disable",), True),
        ({"type": ["http"]}, ("type",), True),
        ({"command": None}, ("command",), False),
        ({"toolOverrides": 3}, ("toolOverrides",), False),
    ],
)
def test_what_the_form_cannot_show_is_left_to_the_json(entry: dict[str, Any], path: tuple[str, ...], odd: bool) -> None:
    assert is_odd(entry, field(*path)) is odd


@pytest.mark.parametrize(
    ("entry", "path", "is_different"),
    [
        ({}, ("label",), False),
        ({"label": ""}, ("label",), False),
        ({"label": "work"}, ("label",), True),
        ({"transport": "http"}, ("type",), False),
        ({"transport": "sse"}, ("type",), True),
        ({"directStart": True}, ("directStart",), False),
        ({"directStart": False}, ("directStart",), True),
        ({"autoApprove": ["read"]}, ("autoApprove",), False),
        ({"autoApprove": ["all"]}, ("autoApprove",), True),
        ({"options": {"lazyLoad": False}}, ("lazyLoad",), True),
    ],
)
def test_what_differs_from_the_default_is_counted(entry: dict[str, Any], path: tuple[str, ...], is_different: bool) -> None:
    assert is_changed(entry, field(*path)) is is_different


def test_the_defaults_are_those_of_the_settings() -> None:
    models = {"": MCPServerConfig, "oauth": OAuthSettings}
    for each in FIELDS:
        *above, last = each.path
        if each.default is not None:
            found = {model.alias or key: model.default for key, model in models[".".join(above)].model_fields.items()}[last]
            assert each.default == (list(found) if isinstance(found, tuple) else found)


def test_a_word_of_another_program_stays_a_choice() -> None:
    assert dict(options_of(field("type"), "streamable-http"))['"streamable-http"'] == "streamable-http"


@pytest.mark.parametrize(
    ("entry", "remote"),
    [
        ({"command": "p"}, False),
        ({"url": "x"}, True),
        ({"command": "", "url": "x"}, True),
        ({"type": "sse"}, True),
        ({"type": "local"}, False),
    ],
)
def test_fields_that_mean_nothing_are_left_out_unless_they_are_used(entry: dict[str, Any], remote: bool) -> None:
    assert looks_remote(entry) is remote
    assert is_wanted(entry, field("args")) is not remote
    assert is_wanted(entry, field("customHeaders")) is remote
    assert is_wanted({**entry, "cwd": "/x"}, field("cwd"))


def test_arguments_for_a_project_are_asked_for_where_it_starts_for_one() -> None:
    assert not is_wanted({"command": "p"}, field("startupArgsTemplate"))
    assert is_wanted({"command": "p", "deferredStartup": True}, field("startupArgsTemplate"))


def test_secrets_are_filled_in_for_a_test_alone() -> None:
    entry = {"headers": {"Authorization": "Bearer ${secret:s/T}"}, "args": ["${secret:s/T}", 1], "x": None}
    filled = {"headers": {"Authorization": "Bearer hunter2"}, "args": ["hunter2", 1], "x": None}
    assert with_values(entry, {"s/T": "hunter2"}) == filled
    assert value_in(entry, field("customHeaders")) == entry["headers"]
