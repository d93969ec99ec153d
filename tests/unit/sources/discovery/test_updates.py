"""updates.py: where servers are from, and newer versions of those from the registry."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.fakes.mcp_registry import npm, server

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.snapshots.discovery import RegistryUpdate
from tooltray.sources.discovery.registry_json import Described, read_described
from tooltray.sources.discovery.server_forms import find_choice, made_of
from tooltray.sources.discovery.updates import FromRegistry, RegistryUpdates, from_list, from_registry, is_newer, names_here, with_origin

NAME = "a/notes"
KEYS = [{"name": "KEY", "isSecret": True, "isRequired": True}, {"name": "MODE"}]


def described(version: str, identifier: str = "notes", tools: tuple[str, ...] = (), **members: Any) -> Described:
    meta = {"io.modelcontextprotocol.registry/publisher-provided": {"tools": list(tools)}}
    package = npm(identifier, version, **{"environmentVariables": KEYS, **members})
    found = read_described(server(NAME, version, packages=[package], _meta=meta))
    assert found is not None
    return found


def added(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """An entry as it was added."""
    item = described(version)
    choice = find_choice(item, "")
    made = made_of(choice, {"KEY": "dummy", "MODE": "fast"}, server="n")
    return {**with_origin(made, choice, NAME, version), **changes}


class Home:
    """The settings, the copy of the registry, and ServersApi."""

    def __init__(self, entries: Mapping[str, dict[str, Any]], *latest: Described) -> None:
        self.entries, self._latest = dict(entries), {each.name: each for each in latest}

    async def get_all(self, names: set[str]) -> dict[str, Described]:
        return {name: self._latest[name] for name in names if name in self._latest}

    async def get(self, name: str) -> Described:
        return self._latest[name]

    async def update_mcp_server(self, name: str, entry: dict[str, Any]) -> None:
        self.entries[name] = entry


def updates(home: Home, *tools: str) -> RegistryUpdates:
    any_home: Any = home
    return RegistryUpdates(config=any_home, registry_copy=any_home, servers_api=any_home, known_tools=lambda name: tools)


async def test_servers_with_a_newer_version_are_told_by_name_with_what_changes_in_their_tools() -> None:
    entries = {
        "n": added(),
        "b": {"command": "x"},
        "a": added("2.0.0"),
        "gone": added(origin={"kind": "registry", "name": "a/gone", "version": "1"}),
    }
    (found,) = await updates(Home(entries, described("2.0.0", tools=("add", "remove"))), "add", "list").pending()
    assert found == RegistryUpdate("n", NAME, "1.0.0", "2.0.0", ("new: remove", "no longer there: list"))


async def test_where_tools_are_not_known_nothing_is_said_of_them() -> None:
    (found,) = await updates(Home({"n": added()}, described("2.0.0", tools=("add",)))).pending()
    assert found.tools == ()
    (found,) = await updates(Home({"n": added()}, described("2.0.0")), "add").pending()
    assert found.tools == ()
    (found,) = await updates(Home({"n": added()}, described("2.0.0", tools=("add",))), "add").pending()
    assert found.tools == ()
    many = tuple(f"tool-{number:02}" for number in range(12))
    (found,) = await updates(Home({"n": added()}, described("2.0.0", tools=("add", *many))), "add").pending()
    assert found.tools[0].endswith("tool-09, …")


async def test_the_new_version_is_pinned_and_what_was_given_counts_for_it() -> None:
    home = Home({"n": added(disable=True)}, described("2.0.0", packageArguments=[{"type": "named", "name": "--new", "default": "x"}]))
    await updates(home).update("n")
    entry = home.entries["n"]
    assert entry["args"] == ["-y", "notes@2.0.0", "--new", "x"]
    assert entry["env"] == {"KEY": "${secret:n/KEY}", "MODE": "fast"}
    assert entry["disable"] is True
    assert (entry["origin"]["version"], entry["origin"]["label"]) == ("2.0.0", "notes@2.0.0")
    with pytest.raises(TooltrayError, match="newest version already"):
        await updates(home).update("n")


async def test_answers_for_what_is_no_longer_asked_are_left_out() -> None:
    home = Home({"n": added()}, described("2.0.0", environmentVariables=KEYS[:1]))
    await updates(home).update("n")
    assert home.entries["n"]["env"] == {"KEY": "${secret:n/KEY}"}


async def test_a_command_that_was_changed_by_hand_keeps_all_but_its_version() -> None:
    entry = added()
    entry["args"] = ["-y", "--quiet", "notes@1.0.0", "--mine"]
    home = Home({"n": entry}, described("2.0.0"))
    await updates(home).update("n")
    assert home.entries["n"]["args"] == ["-y", "--quiet", "notes@2.0.0", "--mine"]
    assert home.entries["n"]["env"] == entry["env"]
    assert home.entries["n"]["origin"]["version"] == "2.0.0"


async def test_what_cannot_be_brought_to_the_new_version_says_why() -> None:
    new = [{"name": "NEW", "isRequired": True}]
    for entry, latest, why in (
        (added(args=["other"]), described("2.0.0"), "changed by hand"),
        (added(), described("2.0.0", environmentVariables=new), "'NEW' is missing"),
        (added(), described("2.0.0", "-odd"), "no longer available as 'npm'"),
    ):
        with pytest.raises(TooltrayError, match=why):
            await updates(Home({"n": entry}, latest)).update("n")
    for name, entries in (
        ("n", {}),
        ("n", {"n": {"command": "x"}}),
        ("n", {"n": {"command": "x", "origin": {"kind": "registry", "name": 7}}}),
    ):
        with pytest.raises(NotFound):
            await updates(Home(entries)).update(name)


@pytest.mark.parametrize(
    ("version", "than"),
    [
        ("1.0.1", "1.0.0"),
        ("1.10.0", "1.9.0"),
        ("2.0.0", "1.9"),
        ("1.0.0", "1.0.0-beta.2"),
        ("1.0.0-beta.10", "1.0.0-beta.2"),
        ("v2", "1"),
        ("2026.1.2", "2025.12.31"),
    ],
)
def test_versions_follow_one_another(version: str, than: str) -> None:
    assert is_newer(version, than)
    assert not is_newer(than, version)
    assert not is_newer(version, version)


def test_a_build_alone_is_no_newer_version() -> None:
    assert not is_newer("1.0.0+2", "1.0.0+1")


GOOD = {"origin": {"kind": "registry", "name": "a/b", "version": "1"}}


@pytest.mark.parametrize(
    "origin", [None, 3, "registry", {}, {"kind": "link"}, {"kind": "registry"}, {"kind": "registry", "name": 3, "version": "1"}]
)
def test_an_odd_origin_counts_as_none(origin: Any) -> None:
    assert from_registry({"origin": origin}) is None
    assert from_list({"origin": origin}) == ""


def test_origins_are_read() -> None:
    assert from_registry(GOOD) == FromRegistry("a/b", "1")
    assert from_list({"origin": {"kind": "starter", "id": "git"}}) == "git"


def test_of_several_servers_of_one_name_the_first_is_here() -> None:
    assert names_here({"x": {}, "one": GOOD, "two": GOOD}) == {"a/b": "one"}
