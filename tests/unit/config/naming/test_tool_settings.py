"""tool_settings.py"""

from pathlib import Path
from typing import Any

import pytest

from tooltray.config.naming import tool_settings
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.naming.tool_settings import enabled, is_enabled
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.tool_override import ToolOverride

NAMES = ["read", "write", "list"]


def server(**names: Any) -> MCPServerConfig:
    return MCPServerConfig.model_validate({"command": "x", "toolOverrides": {tool: {"name": name} for tool, name in names.items()}})


def published(names: PublishedNames, *tools: tuple[str, str, str]) -> list[str]:
    """The names of (server, tool, chosen name)."""
    keys = [tool_settings.key(owner, tool, ToolOverride(name=name or None)) for owner, tool, name in tools]
    given = names.publish(keys)
    return [given[key] for key in keys]


def test_a_tool_is_published_under_its_chosen_name_and_found_by_it(tmp_path: Path) -> None:
    names = PublishedNames(tmp_path / "names.json")

    assert published(names, ("files", "read", "look")) == ["look"]
    assert tool_settings.tool_of(names.target("look") or ("", "")) == ("files", "read")
    other = tool_settings.other_key("files", "read", "look")
    assert (other[1], tool_settings.tool_of(other)) == ("files_look", ("files", "read"))


def test_a_chosen_name_that_another_tool_has_gets_its_server_in_front(tmp_path: Path) -> None:
    names = PublishedNames(tmp_path / "names.json")
    published(names, ("web", "look", ""))

    assert published(names, ("files", "read", "look")) == ["files_look"]
    assert names.target("look") == ("web", "look")


def test_two_tools_of_one_server_never_get_one_name(tmp_path: Path) -> None:
    names = PublishedNames(tmp_path / "names.json")

    one, other = published(names, ("files", "read", "look"), ("files", "list", "look"))

    assert one != other
    assert {tool_settings.tool_of(names.target(name) or ("", "")) for name in (one, other)} == {("files", "read"), ("files", "list")}


def test_names_that_were_chosen_once_lead_to_their_tool_for_ever_and_come_back(tmp_path: Path) -> None:
    names = PublishedNames(tmp_path / "names.json")
    assert published(names, ("files", "read", "")) == ["read"]
    assert published(names, ("files", "read", "look")) == ["look"]
    assert published(names, ("files", "read", "peek")) == ["peek"]

    again = PublishedNames(tmp_path / "names.json")
    assert published(again, ("files", "list", "look")) == ["files_look"]  # it was given away
    assert published(again, ("files", "read", "look")) == ["look"]
    assert [tool_settings.tool_of(again.target(name) or ("", "")) for name in ("read", "look", "peek")] == [("files", "read")] * 3


@pytest.mark.parametrize("name", ["", " ", "a b", "ü", "a.b", "x" * 41, "a\n", "a/b"])
def test_a_name_that_clients_cannot_bear_is_not_used(name: str) -> None:
    assert tool_settings.chosen_name(ToolOverride(name=name or None)) == ""


@pytest.mark.parametrize("name", ["a", "A_b-9", "x" * 40])
def test_a_name_that_clients_bear_is_used(name: str) -> None:
    assert tool_settings.chosen_name(ToolOverride(name=name)) == name


def test_for_a_client_of_this_server_alone_the_chosen_names_are_used_as_far_as_they_are_one_tool_s() -> None:
    config = server(read="look", write="list", copy="twice", move="Twice", gone="away")

    shown = tool_settings.names_alone(["read", "write", "list", "copy", "move"], config)

    assert shown == {"read": "look", "write": "write", "list": "list", "copy": "copy", "move": "move"}


@pytest.mark.parametrize(
    ("name", "tool"), [("look", "read"), ("read", "read"), ("list", "list"), ("other", "other"), ("twice", "twice"), ("away", "gone")]
)
def test_such_a_client_calls_by_both_names(name: str, tool: str) -> None:
    config = server(read="look", write="list", copy="twice", move="twice", gone="away")

    assert tool_settings.tool_alone(name, ["read", "write", "list", "copy", "move"], config) == tool


def test_without_overrides_a_name_is_the_server_s_own() -> None:
    assert tool_settings.tool_alone("read", [], server()) == "read"


def test_what_cannot_be_used_of_the_settings_is_told() -> None:
    config = server(read="a b", gone="ok")

    told = [str(problem) for problem in tool_settings.problems("files", config, ["read"])]

    assert len(told) == 2
    assert "'a b'" in told[0]
    assert "has no tool 'gone'" in told[1]
    assert len(list(tool_settings.problems("files", config, []))) == 1  # its tools are not known yet


def filtered(mode: str = "", *listed: str, disabled: tuple[str, ...] = ()) -> MCPServerConfig:
    chosen = {"toolFilter": {"mode": mode, "list": list(listed)}} if mode else {}
    return MCPServerConfig.model_validate({"command": "x", "disabledTools": list(disabled), **chosen})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (filtered(), NAMES),
        (filtered("allow", "list", "read", "unknown"), ["read", "list"]),
        (filtered("allow"), []),
        (filtered("block", "read"), ["write", "list"]),
        (filtered("block"), NAMES),
        (filtered(disabled=("write",)), ["read", "list"]),
        (filtered("allow", "read", "write", disabled=("write",)), ["read"]),
        (filtered("block", "read", disabled=("write",)), ["list"]),
    ],
)
def test_filter_and_disabled_tools_decide_together_and_keep_the_servers_order(config: MCPServerConfig, expected: list[str]) -> None:
    assert enabled(NAMES, config) == expected
    assert [name for name in NAMES if is_enabled(name, config)] == expected


def test_a_name_counts_only_as_a_whole_and_in_its_own_case() -> None:
    config = filtered("allow", "read")
    assert enabled(["read_file", "Read", "rea", "read"], config) == ["read"]
