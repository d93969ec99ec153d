"""entries/server_addition.py: a server and its secrets come in together, or not at all."""

from pathlib import Path

import pytest
from tests.fakes.hub_parts import hub_parts

from tooltray.confirmation import Person, Wish, asked_by
from tooltray.entries.server_addition import ORIGIN
from tooltray.errors import Conflict, Denied

ENTRY = {
    "command": "program",
    "args": ["--key", "${secret:git/KEY}"],
    "env": {"KEY": "${secret:git/KEY}"},
    "disable": True,
    ORIGIN: {"kind": "link"},
}


class Program(Person):
    """A program over REST, whose token nobody trusts."""

    name, proposes = "some program", True

    async def has_confirmed(self) -> bool:
        return False

    async def confirm(self, wish: Wish) -> None:
        raise Denied(wish.what)


async def test_a_server_is_added_with_its_secrets_and_keeps_where_it_is_from(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        assert await parts.addition.add("git", ENTRY, {"git/KEY": "dummy-value"}) == "git"
        assert await parts.secrets.get("git/KEY") == "dummy-value"
        assert parts.config.entries["git"] == {"autoApprove": ["all"], **ENTRY}


async def test_secrets_of_a_server_that_cannot_be_added_are_removed_again_and_others_stay(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": {"command": "other", "disable": True}}) as parts:
        await parts.secrets.set("git/OLD", "dummy-before")
        with pytest.raises(Conflict):
            await parts.addition.add("git", ENTRY, {"git/KEY": "dummy-value", "git/OLD": "dummy-after"})
        assert await parts.secrets.names() == ["git/OLD"]


async def test_what_a_program_adds_waits_for_a_yes_and_its_secrets_are_in_no_file(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        with asked_by(Program()):
            assert await parts.addition.add("git", ENTRY, {"git/KEY": "dummy-value"}) == "git"
        assert "git" not in parts.config.entries
        assert parts.proposals.waits("git")
        assert {await parts.secrets.get(name) for name in await parts.secrets.names()} == {"dummy-value"}
        assert "dummy-value" not in str(parts.proposals.entries)


async def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    servers = {"git": {"command": "other", "disable": True}, "git-2": {"command": "other", "disable": True}}
    async with hub_parts(tmp_path, servers=servers) as parts:
        assert [parts.addition.free_name(name) for name in ("git", "wiki", "hub")] == ["git-3", "wiki", "hub-2"]
