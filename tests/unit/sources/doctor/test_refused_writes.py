"""refused_writes.py: what is proposed where a confined server was kept from changing a file."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import entry, hub_parts

from tooltray.foundation.snapshots.confinement import RefusedThing
from tooltray.servers.confinement.policy import Policy
from tooltray.servers.confinement.state_folders import state_folder
from tooltray.sources.doctor.diagnosis import Remedy

pytestmark = pytest.mark.posix

MEMORY = ["-y", "@modelcontextprotocol/server-memory"]


async def proposed(tmp_path: Path, path: str, *, is_write: bool = True, **fields: Any) -> tuple[str, tuple[Remedy, ...]]:
    """Returns the server's own folder, and what is proposed after it was kept from a path."""
    async with hub_parts(tmp_path / "home", servers={"s": entry("npx", **fields)}) as parts:
        parts.refusals.begin("s", Policy())
        parts.refusals._add("s", RefusedThing("path", path, 1.0, is_write=is_write))
        parts.refusals._add("s", RefusedThing("host", "a.org:443", 1.0))
        [found] = await parts.presenter.diagnose("s")
        return str(state_folder(parts.home.confined, "s").work), tuple(
            each for each in found.remedies if each.kind in ("give_variables", "advice")
        )


async def test_a_server_whose_variable_is_known_is_told_its_own_folder_by_it(tmp_path: Path) -> None:
    own, [first, *_] = await proposed(tmp_path, "/opt/npx/dist", args=MEMORY)
    line = f"tooltray servers set s --env MEMORY_FILE_PATH={own}/memory.jsonl"
    assert first == Remedy("give_variables", "Keep its file where it may write", line)


async def test_with_that_variable_and_for_other_servers_the_path_is_named(tmp_path: Path) -> None:
    allowed = Remedy("advice", "Let it change /opt/notes", "tooltray servers confine s --allow /opt/notes")
    _, [first, *_] = await proposed(tmp_path, "/opt/notes", args=MEMORY, env={"MEMORY_FILE_PATH": "/opt/notes/a.jsonl"})
    assert first == allowed
    _, [first, *_] = await proposed(tmp_path, "/opt/notes", args=["-y", "unknown"])
    assert first == allowed


async def test_a_path_that_no_server_gets_is_not_offered(tmp_path: Path) -> None:
    _, [first, *_] = await proposed(tmp_path, str(tmp_path / "home" / "confined"), args=["-y", "unknown"])
    assert first.kind == "advice"
    assert "told another place" in first.title
    assert first.value == ""


async def test_what_was_only_read_proposes_nothing(tmp_path: Path) -> None:
    _, found = await proposed(tmp_path, "/opt/notes", is_write=False, args=MEMORY)
    assert not [each for each in found if each.kind == "give_variables" or "/opt/notes" in each.title]


async def test_a_server_that_is_not_in_the_settings_has_no_command(tmp_path: Path) -> None:
    async with hub_parts(tmp_path / "home") as parts:
        assert parts.refused_writes.line("gone") == ""
