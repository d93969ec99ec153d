"""project_servers.py: a person's decisions about servers of projects' own files, and changes of these files."""

import asyncio
import contextlib
import json
from pathlib import Path

import pytest
from tests.fakes.file_hub import file_hub

from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.sources.projects.project_copies import UNUSED_S

ONE = {"command": "program", "args": ["one"]}
TWO = {"command": "program", "args": ["two"]}


async def test_a_yes_is_for_the_content_that_was_seen(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE, two=TWO)
        await hub.session(folder)
        seen = {each.entry: each.digest for each in await hub.project_servers.trust_requests(folder)}
        hub.write(folder, {"one": ONE, "two": {"command": "program", "args": ["evil"]}})
        with pytest.raises(Conflict, match="another one by now"):
            await hub.project_servers.trust(folder, seen)
        with pytest.raises(NotFound, match="there is no 'three'"):
            await hub.project_servers.trust(folder, {"three": "x"})
        assert hub.names() == []


async def test_a_yes_is_taken_back_and_what_runs_by_it_ends(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE, two=TWO)
        await hub.session(folder)
        await hub.trusted(folder)
        await hub.project_servers.distrust(folder, "one")
        assert hub.names() == ["two"]
        assert await hub.parts.presenter.restore_trust(folder, "one") == ["one"]
        assert hub.names() == ["one", "two"]
        await hub.project_servers.distrust(folder, "one")
        assert [each.entry for each in hub.project_servers.trusted()] == ["two"]
        await hub.project_servers.distrust(folder, "")
        assert (hub.names(), hub.project_servers.trusted()) == ([], [])
        with pytest.raises(NotFound, match="is not trusted"):
            await hub.project_servers.distrust(folder, "")


async def test_an_entry_that_is_added_here_is_trusted_at_once_and_asks_before_it_changes_something(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE)
        await hub.session(folder)
        assert await hub.project_servers.add(folder, "two", TWO) == "two"
        assert await hub.project_servers.add(folder, "shy", {**TWO, "autoApprove": []}) == "shy"
        assert hub.states(folder) == {"one": "waits", "two": "used", "shy": "used"}
        servers = hub.parts.conf.settings.mcp_servers
        assert (servers["two"].auto_approve, servers["shy"].auto_approve) == (("read",), ())
        assert [(each.entry, each.is_own) for each in hub.project_servers.trusted()] == [("two", True), ("shy", True)]
        with pytest.raises(Conflict, match="already"):
            await hub.project_servers.add(folder, "one", TWO)
        with pytest.raises(TooltrayError, match="neither a command nor a URL"):
            await hub.project_servers.add(folder, "none", {"args": ["x"]})


async def test_an_entry_is_changed_and_removed_in_its_file_unless_it_is_another_one_by_now(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE)
        await hub.session(folder)
        await hub.trusted(folder)
        revision = hub.parts.conf.revision("one")
        await hub.parts.presenter.update_mcp_server("one", TWO, revision)
        assert (hub.states(folder), hub.parts.conf.settings.mcp_servers["one"].args) == ({"one": "used"}, ("two",))
        for change in (hub.project_servers.change("one", ONE, revision), hub.project_servers.remove("one", revision)):
            with pytest.raises(Conflict, match="another one by now"):
                await change
        await hub.parts.presenter.remove_mcp_server("one", hub.parts.conf.revision("one"))
        assert (hub.names(), hub.project_servers.trusted()) == ([], [])
        assert json.loads(Path(folder, ".mcp.json").read_text()) == {"mcpServers": {}}
        with pytest.raises(NotFound, match="no server 'one' of a project"):
            await hub.project_servers.change("one", ONE, "")


@pytest.mark.parametrize("is_own", [True, False])
async def test_what_is_removed_and_brought_back_is_as_it_was(tmp_path: Path, is_own: bool) -> None:
    """And allows no more than before."""
    async with file_hub(tmp_path) as hub:
        folder = hub.project(**{} if is_own else {"one": ONE})
        await hub.session(folder)
        presenter, conf = hub.parts.presenter, hub.parts.conf
        if is_own:
            await hub.project_servers.add(folder, "one", ONE)
        else:
            await hub.trusted(folder)
        await presenter.set_tool_enabled("one", "query", False)
        before = conf.settings.mcp_servers["one"]
        assert before.auto_approve == ("read",)
        await presenter.remove_mcp_server("one")
        assert conf.own_settings.file_servers == {}
        assert await presenter.add_mcp_server("one", ONE, project=folder) == "one"
        assert conf.settings.mcp_servers["one"] == before
        await presenter.remove_mcp_server("one")
        await presenter.add_mcp_server("one", TWO, project=folder)  # another one
        assert (conf.settings.mcp_servers["one"].auto_approve, conf.settings.mcp_servers["one"].disabled_tools) == (("read",), ())


async def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE)
        await hub.session(folder)
        await asyncio.gather(*(hub.project_servers.add(folder, f"s{number}", {**TWO, "env": {"N": str(number)}}) for number in range(8)))
        assert set(hub.names()) == {f"s{number}" for number in range(8)}


async def test_a_folder_that_nobody_has_allowed_is_not_written_to(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project()
        with pytest.raises(TooltrayError, match="is not allowed as a project"):
            await hub.project_servers.add(folder, "one", ONE)
        assert not Path(folder, ".mcp.json").exists()
        await hub.parts.folders.allow(folder)
        assert await hub.project_servers.add(folder, "one", ONE) == "one"
        assert hub.names() == ["one"]


async def test_a_server_that_is_added_to_a_project_on_which_nobody_works_is_there_for_a_while(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project()
        await hub.parts.folders.allow(folder)
        assert await hub.parts.presenter.add_mcp_server("one", ONE, project=folder) == "one"
        await hub.quiet()
        assert "one" in {each.name for each in (await hub.parts.presenter.get_snapshot()).servers}
        hub.parts.wheel.expire(UNUSED_S)
        assert hub.names() == []
        await hub.project_servers.distrust(folder, "one")


async def test_a_server_is_taken_out_of_its_file_also_when_nobody_works_on_its_project(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(two=TWO)
        await hub.parts.folders.allow(folder)
        await hub.parts.presenter.add_mcp_server("one", ONE, project=folder)
        hub.parts.wheel.expire(UNUSED_S)
        assert hub.names() == []
        with pytest.raises(Conflict):
            await hub.parts.presenter.remove_mcp_server("one", "another")
        await hub.parts.presenter.remove_mcp_server("one")
        assert list(json.loads((Path(folder) / ".mcp.json").read_text())["mcpServers"]) == ["two"]
        assert (hub.names(), hub.project_servers.trusted()) == ([], [])
        with pytest.raises(NotFound):
            await hub.parts.presenter.remove_mcp_server("one")


async def test_what_is_saved_during_a_yes_counts_and_not_what_was_read_for_it(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=ONE, two=TWO)
        await hub.session(folder)
        asked = {each.entry: each.digest for each in await hub.project_servers.trust_requests(folder)}
        for steps in range(0, 40, 2):
            await hub.saved(folder, {"one": ONE, "two": TWO})
            deciding = asyncio.ensure_future(hub.project_servers.trust(folder, asked))
            for _ in range(steps):
                await asyncio.sleep(0)
            hub.write(folder, {"one": ONE})
            with contextlib.suppress(TooltrayError):  # it was another one already, or half of one
                await deciding
            await hub.quiet()
            assert "two" not in hub.names()
