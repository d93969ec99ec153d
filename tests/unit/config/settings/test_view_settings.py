"""view_settings.py"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tooltray.config.settings import view_settings
from tooltray.config.settings.settings_file import Edit
from tooltray.config.settings.tool_override import LEAST_TOKENS
from tooltray.foundation.errors import TooltrayError

Document = dict[str, Any]


def edited(edit: Edit, document: Document) -> Document:
    edit(document)
    return document


def test_a_mode_is_chosen_for_one_kind_of_client_or_for_all_and_taken_back() -> None:
    document: Document = {"publish": {"naming": "always"}}

    edited(view_settings.client_mode("", "lazy"), document)
    edited(view_settings.client_mode("codex", "search"), document)
    assert document == {"publish": {"naming": "always", "mode": "lazy", "clients": {"codex": {"mode": "search"}}}}

    edited(view_settings.client_mode("", ""), document)
    edited(view_settings.client_mode("codex", ""), document)
    assert document == {"publish": {"naming": "always", "clients": {}}}


def test_a_field_of_a_client_is_not_changed_where_it_would_not_count() -> None:
    document: Document = {"publish": {"naming": 3, "clients": {"a": {"profile": 3}, "b": {"mode": "loud"}, "c": 3}}}
    with pytest.raises(TooltrayError, match=r"publish: clients\.a\.profile: must be text"):
        edited(view_settings.client_field("a", "autoApprove", ["read"]), copy.deepcopy(document))
    with pytest.raises(TooltrayError, match=r"publish: clients\.b\.mode"):
        edited(view_settings.client_field("b", "mode", "louder"), copy.deepcopy(document))
    edited(view_settings.client_field("a", "profile", None), document)
    edited(view_settings.client_field("b", "autoApprove", ["read"]), document)
    assert document["publish"] == {"naming": 3, "clients": {"b": {"mode": "loud", "autoApprove": ["read"]}, "c": 3}}


def test_what_else_is_said_of_a_client_stays() -> None:
    document: Document = {"publish": {"clients": {"codex": {"mode": "lazy", "later": 1}}}}

    edited(view_settings.client_field("codex", "autoApprove", ["read"]), document)
    edited(view_settings.client_mode("codex", ""), document)

    assert document["publish"]["clients"] == {"codex": {"autoApprove": ["read"], "later": 1}}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: view_settings.client_mode("codex", "loud"), "Mode 'loud' not found"),
        (lambda: view_settings.client_field("", "mode", "lazy"), "name of an AI client"),
        (lambda: view_settings.client_field("x" * 101, "mode", "lazy"), "characters that can be seen, and spaces only between them"),
        (lambda: view_settings.client_field("a\nb", "mode", "lazy"), "'a\\nb'"),
        (lambda: view_settings.profile(" ", {}), "name of a profile"),
        (lambda: view_settings.profile("a/b", {}), "spaces only between them; it has no '/'"),
        (lambda: view_settings.profile("a", {"servers": "files"}), "servers: must be a list"),
        (lambda: view_settings.profile("a", {"tools": {"files": [5]}}), "tools.files.0: must be text"),
    ],
)
def test_what_cannot_be_used_is_refused(make: Callable[[], Edit], words: str) -> None:
    with pytest.raises(TooltrayError) as refused:
        make()

    assert words in str(refused.value)


def test_a_profile_is_made_replaced_and_removed() -> None:
    document: Document = {}

    edited(view_settings.profile("work", {"servers": ["a"], "tools": {"a": ["x"]}, "description": None}), document)
    edited(view_settings.profile("home", {"servers": None}), document)
    assert document["profiles"] == {"work": {"servers": ["a"], "tools": {"a": ["x"]}}, "home": {}}

    edited(view_settings.profile("work", {}), document)
    edited(view_settings.without_profile("home"), document)
    assert document["profiles"] == {"work": {}}


def test_a_profile_that_a_client_gets_is_not_removed() -> None:
    document: Document = {"profiles": {"work": {}}, "publish": {"clients": {"codex": {"profile": "work"}, "odd": 5}}}

    with pytest.raises(TooltrayError, match="Profile 'home' not found"):
        edited(view_settings.without_profile("home"), document)
    with pytest.raises(TooltrayError, match="in use") as refused:
        edited(view_settings.without_profile("work"), document)

    assert "codex" in str(refused.value)


def test_a_client_gets_no_profile_that_cannot_be_used() -> None:
    document: Document = {"profiles": {"work": {"servers": "files"}}}

    with pytest.raises(TooltrayError, match=r"The profile 'work' cannot be used: servers: must be a list. Set it again"):
        edited(view_settings.client_profile("codex", "work"), document)
    edited(view_settings.profile("work", {}), document)
    edited(view_settings.client_profile("codex", "work"), document)

    assert document["publish"]["clients"] == {"codex": {"profile": "work"}}


def test_what_is_said_of_a_client_in_an_odd_form_is_not_replaced() -> None:
    document: Document = {"publish": {"clients": {"careful": ["read"]}}}

    with pytest.raises(TooltrayError, match=r"careful: must be an object"):
        edited(view_settings.client_mode("careful", "lazy"), document)

    assert document == {"publish": {"clients": {"careful": ["read"]}}}


def test_of_an_entry_that_cannot_be_used_nothing_is_said_to_be_changed() -> None:
    document: Document = {"mcpServers": {"odd": {}}}
    for edit in (
        view_settings.lazy_load(True, "odd"),
        view_settings.tool_override("odd", "t", {"name": "look"}),
        view_settings.tool_member("odd", "t", "resultLimit", 700),
    ):
        with pytest.raises(TooltrayError, match="The entry of server 'odd' cannot be used"):
            edited(edit, document)


def test_a_client_gets_a_profile_that_there_is_and_none_again() -> None:
    document: Document = {"profiles": {"work": {}}}

    with pytest.raises(TooltrayError, match="Profile 'wok' not found"):
        edited(view_settings.client_profile("codex", "wok"), document)
    edited(view_settings.client_profile("codex", "work"), document)
    assert document["publish"]["clients"] == {"codex": {"profile": "work"}}
    edited(view_settings.client_profile("codex", ""), document)
    assert document["publish"]["clients"] == {}


@pytest.mark.parametrize("enabled", [True, False])
def test_servers_are_made_lazy_or_not(enabled: bool) -> None:
    document: Document = {"mcpServers": {"a": {"command": "x", "options": {"lazyLoad": True, "other": 1}}, "b": {"command": "x"}}}

    edited(view_settings.lazy_load(enabled, None), document)
    edited(view_settings.lazy_load(enabled, "a"), document)
    edited(view_settings.lazy_load(enabled, "b"), document)
    assert document["publish"] == {"lazyLoad": enabled}
    assert document["mcpServers"]["a"] == {"command": "x", "options": {"other": 1}, "lazyLoad": enabled}
    assert document["mcpServers"]["b"] == {"command": "x", "lazyLoad": enabled}

    edited(view_settings.lazy_load(None, "a"), document)
    edited(view_settings.lazy_load(None, None), document)
    assert document == {
        "mcpServers": {"a": {"command": "x", "options": {"other": 1}}, "b": {"command": "x", "lazyLoad": enabled}},
        "publish": {},
    }


def test_a_tool_is_shown_in_another_way_and_in_its_own_again() -> None:
    document: Document = {"mcpServers": {"a": {"command": "x"}}}

    edited(view_settings.tool_override("a", "read", {"name": "look"}), document)
    edited(view_settings.tool_override("a", "list", {"description": ""}), document)
    assert document["mcpServers"]["a"]["toolOverrides"] == {"read": {"name": "look"}, "list": {"description": ""}}

    edited(view_settings.tool_override("a", "read", {}), document)
    edited(view_settings.tool_override("a", "list", {}), document)
    assert document == {"mcpServers": {"a": {"command": "x"}}}


def test_what_of_an_override_is_not_shown_stays_where_the_rest_is_replaced() -> None:
    hidden = {"resultLimit": 700, "flow": "reads"}
    overrides: Document = {"read": {"name": "look", **hidden}, "list": {"name": "all"}}
    document: Document = {"mcpServers": {"a": {"command": "x", "toolOverrides": overrides}}}

    edited(view_settings.tool_override("a", "read", {"title": "Look"}), document)
    assert overrides["read"] == {"title": "Look", **hidden}
    edited(view_settings.tool_override("a", "read", {}), document)
    assert overrides == {"read": hidden, "list": {"name": "all"}}


def test_an_override_and_a_limit_are_checked_before_they_are_written() -> None:
    assert view_settings.read_override("t", {"name": "look"}).name == "look"
    with pytest.raises(TooltrayError, match="'t' cannot be shown like this: name: must be text"):
        view_settings.read_override("t", {"name": 3})
    for tokens in (None, LEAST_TOKENS):
        view_settings.check_limit(tokens)
    with pytest.raises(TooltrayError, match="Invalid limit for results: resultLimit: must be 500 or more"):
        view_settings.check_limit(LEAST_TOKENS - 1)


def test_the_limit_of_a_tools_results_goes_without_its_other_words() -> None:
    document: Document = {"mcpServers": {"a": {"command": "x", "toolOverrides": {"read": {"name": "look"}}}}}

    edited(view_settings.tool_member("a", "read", "resultLimit", 700), document)
    edited(view_settings.tool_member("a", "list", "resultLimit", 500), document)
    assert document["mcpServers"]["a"]["toolOverrides"] == {"read": {"name": "look", "resultLimit": 700}, "list": {"resultLimit": 500}}

    edited(view_settings.tool_member("a", "read", "resultLimit", None), document)
    edited(view_settings.tool_member("a", "list", "resultLimit", None), document)
    assert document["mcpServers"]["a"]["toolOverrides"] == {"read": {"name": "look"}}
    edited(view_settings.tool_override("a", "read", {}), document)
    edited(view_settings.tool_member("a", "list", "resultLimit", None), document)
    assert document == {"mcpServers": {"a": {"command": "x"}}}


@pytest.mark.parametrize("edit", [view_settings.lazy_load(True, "gone"), view_settings.tool_override("gone", "t", {"name": "n"})])
def test_of_a_server_that_there_is_not_nothing_is_changed(edit: Edit) -> None:
    with pytest.raises(TooltrayError, match="Server 'gone' not found"):
        edit({"mcpServers": {}})
