"""access.py, permissions.py, and their verb in api.py"""

from pathlib import Path

import pytest
from tests.fakes.consents import Meanwhile
from tests.fakes.hub_parts import HubParts, entry, hub_parts

from tooltray.config.settings.given_entries import read_entry
from tooltray.consent.approvals.access import (
    ALL_IN_SANDBOX,
    IN_VAIN,
    NETWORK_ONLY,
    ONLY_CHOSEN,
    OWN_RULES,
    READS_ASK,
    SOME_ASK,
    SOME_RUN,
    AccessSettings,
    access_of,
)
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.snapshots.servers import AccessSnapshot
from tooltray.servers.confinement.confinements import Confinements, Support

FULL = Confinements(support=Support("linux", 7, True, "/usr/bin/bwrap", "/usr/bin/env"))
NO_FILES = Confinements(support=Support("linux", 0, True))
NOTHING = Confinements(support=Support("windows"))


def access(here: Confinements = FULL, command: str = "p", **fields: object) -> AccessSnapshot:
    return access_of(read_entry("s", {"command": command, **fields}), here)


@pytest.mark.parametrize(
    ("rules", "confinement", "choice"),
    [
        (["read"], "own", "careful"),
        (["read", "ask:log"], {"files": "read", "hosts": ["a.org"]}, "careful"),
        (["read"], None, "trusted"),
        (["read", "ask:log"], None, "trusted"),
        (["all"], None, "free"),
        (["write", "read"], None, "free"),
    ],
)
def test_rules_and_sandbox_make_a_choice(rules: list[str], confinement: object, choice: str) -> None:
    found = access(autoApprove=rules, confinement=confinement)
    assert (found.choice, found.differs) == (choice, "")
    assert found.runs == ("all" if choice == "free" else "reads")


@pytest.mark.parametrize(
    ("rules", "confinement", "runs", "why"),
    [
        ([], None, "nothing", READS_ASK),
        (["ask:log"], "own", "nothing", READS_ASK),
        (["push"], None, "some", ONLY_CHOSEN),
        (["read", "names:get_*"], None, "some", OWN_RULES),
        (["read", "push"], "own", "reads", SOME_RUN),
        (["all", "ask:push"], None, "all", SOME_ASK),
        (["all"], "own", "all", ALL_IN_SANDBOX),
        (["read"], {"network": "none"}, "reads", NETWORK_ONLY),
    ],
)
def test_settings_that_make_no_choice_have_a_reason(rules: list[str], confinement: object, runs: str, why: str) -> None:
    found = access(autoApprove=rules, confinement=confinement)
    assert (found.choice, found.runs, found.differs) == (None, runs, why)


@pytest.mark.parametrize("here", [NO_FILES, NOTHING])
def test_a_sandbox_that_this_computer_cannot_make_is_no_choice(here: Confinements) -> None:
    found = access(here, confinement="own")
    assert (found.choice, found.differs, found.offered) == (None, IN_VAIN, ("trusted", "free"))


def test_only_a_process_of_this_computer_can_be_careful() -> None:
    assert access().offered == ("careful", "trusted", "free")
    assert access(command="./docker").offered[0] == "careful"
    assert access(command="docker").offered == access(command="/usr/bin/podman").offered == ("trusted", "free")
    remote = access_of(read_entry("s", {"url": "https://a.example/mcp", "autoApprove": ["all"], "confinement": "own"}), FULL)
    assert (remote.choice, remote.offered) == ("free", ("trusted", "free"))


def test_rules_on_arguments_are_known() -> None:
    assert access(callRules=[{"tool": "push", "others": "any"}]).has_call_rules
    assert not access().has_call_rules


def settings(rules: list[str], confinement: object) -> AccessSettings:
    config = read_entry("s", {"command": "p", "autoApprove": rules, "confinement": confinement})
    return AccessSettings(tuple(config.auto_approve), config.confinement)


def test_a_choice_keeps_named_folders_and_tools_that_ask() -> None:
    before = settings(["all", "push", "ask:log"], {"files": "read", "read": ["/r"], "hosts": ["a.org"]})
    assert before.with_choice("careful") == settings(["read", "ask:log"], {"files": "read", "read": ["/r"], "hosts": ["a.org"]})
    trusted = before.with_choice("trusted")
    assert trusted == settings(["read", "ask:log"], {"files": "open", "network": "open", "read": ["/r"], "hosts": ["a.org"]})
    assert trusted.with_choice("careful").confinement.files == "own"
    assert before.with_choice("free").rules == ("all",)


def test_a_wider_choice_widens_by_rules_or_by_the_sandbox() -> None:
    careful = settings(["read"], "own")
    assert careful.with_choice("trusted").widens(careful)
    assert careful.with_choice("free").widens(careful.with_choice("trusted"))
    assert not careful.widens(careful.with_choice("free"))


def written(parts: HubParts, name: str = "s") -> object:
    found = parts.settings_on_disk["mcpServers"][name]
    return found.get("autoApprove"), found.get("confinement")


async def test_a_choice_is_one_change_of_the_entry_and_the_snapshot_shows_it(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p", autoApprove=["read", "push"])}) as parts:
        hub = parts.presenter
        for choice, rules, confinement in (
            ("careful", ["read"], {"files": "own"}),
            ("free", ["all"], None),
            ("trusted", ["read"], None),
        ):
            await hub.set_access("s", choice)
            assert written(parts) == (rules, confinement)
            [shown] = [each for each in (await hub.get_snapshot()).servers if each.name == "s"]
            assert shown.access.choice == choice
        assert all(each.access is None for each in (await hub.get_snapshot()).servers if each.is_builtin)


async def test_a_choice_is_taken_back_in_one_change_and_by_the_same_rules(tmp_path: Path) -> None:
    sandboxed = {"files": "read", "network": "hosts", "hosts": ["a.example"]}
    async with hub_parts(tmp_path, servers={"s": entry("p", autoApprove=["read", "push"], confinement=sandboxed)}) as parts:
        hub, before = parts.presenter, written(parts)
        await hub.set_access("s", "free")
        free = written(parts)
        assert free == (["all"], {"files": "open", "network": "open", "hosts": ["a.example"]})
        with pytest.raises(TooltrayError, match="has an entry that means nothing"):
            await hub.set_access("s", None, ["names:"], "own")
        assert written(parts) == free
        await hub.set_access("s", None, ["read", "push"], "read", "hosts")
        assert written(parts) == before
        with asked_by(UNATTENDED):
            await hub.set_access("s", None, network="none")
            assert written(parts) == (["read", "push"], {**sandboxed, "network": "none"})
            with pytest.raises(Denied):
                await hub.set_access("s", None, files="open")


async def test_only_a_wider_choice_needs_a_person(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p", autoApprove=["all"])}) as parts:
        hub = parts.presenter
        with asked_by(UNATTENDED):
            await hub.set_access("s", "free")  # as it is
            await hub.set_access("s", "careful")
            with pytest.raises(Denied):
                await hub.set_access("s", "trusted")
        assert written(parts) == (["read"], {"files": "own"})

        async def happen() -> None:
            await hub.set_server_auto_approve("s", [])

        with asked_by(Meanwhile(happen)), pytest.raises(Conflict):
            await hub.set_access("s", "free")
        assert written(parts) == ([], {"files": "own"})


async def test_what_a_server_cannot_have_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("docker")}) as parts:
        with pytest.raises(TooltrayError, match="cannot be careful"):
            await parts.presenter.set_access("s", "careful")
        with pytest.raises(NotFound):
            await parts.presenter.set_access("gone", "free")


async def test_permissions_of_one_server_are_read(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p"), "other": entry("p")}) as parts:
        assert [each.server for each in await parts.presenter.get_permissions("s")] == ["s"]
