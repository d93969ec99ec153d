"""server_tests.py"""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import file_server
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import Copy, ScriptedServer, never, tool

from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.events import ServerTestOutput
from tooltray.foundation.snapshots.entries import ServerTest
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.envelope import failure
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.sources.doctor import server_tests

OTHER: dict[str, Any] = {"command": "other", "args": ["x"]}


def parts_with(tmp_path: Path, scripted: ScriptedServer, **servers: Any) -> Any:
    return hub_parts(tmp_path / "home", servers=servers or {"s": entry("p")}, programs={"p": scripted, "other": scripted})


async def tried(parts: HubParts, config: Any = None, name: str = "s") -> ServerTest:
    found: ServerTest = await parts.presenter.test_server("1", name, config)
    return found


async def test_an_entry_that_works_is_connected_once_and_its_tools_are_counted(tmp_path: Path) -> None:
    scripted = ScriptedServer(tool("read", description="Reads a file."), tool("write"))
    async with parts_with(tmp_path, scripted) as parts:
        found = await tried(parts, OTHER)
        assert (found.is_ok, found.problem, [each.name for each in found.tools]) == (True, None, ["read", "write"])
        assert found.tokens == sum(each.tokens for each in found.tools) > 0
        assert (found.tools[0].description, found.is_estimated) == ("Reads a file.", False)
        assert [launch.args for launch in parts.launches] == [("x",)]
        assert scripted.running == []
        assert parts.servers.get("s").state is ServerState.ON_DEMAND
        assert parts.conf.entries["s"] == entry("p")


async def test_a_new_server_needs_no_entry_in_the_settings_and_gets_none(tmp_path: Path) -> None:
    async with parts_with(tmp_path, ScriptedServer(tool("t"))) as parts:
        assert (await tried(parts, OTHER, "new")).is_ok
        assert parts.servers.find("new") is None


async def test_a_server_as_it_stands_is_tested_also_one_that_is_switched_off(tmp_path: Path) -> None:
    async with parts_with(tmp_path, ScriptedServer(tool("t")), s=entry("p", disable=True)) as parts:
        assert (await tried(parts)).is_ok
        assert parts.servers.get("s").state is ServerState.STOPPED


async def test_tokens_are_estimated_where_there_is_no_tokenizer(tmp_path: Path) -> None:
    scripted = ScriptedServer(tool("t"))
    no_count = {"count": lambda texts: None}
    async with hub_parts(tmp_path / "home", servers={"s": entry("p")}, programs={"p": scripted}, waits=no_count) as parts:
        found = await tried(parts)
        assert found.is_estimated
        assert found.tokens > 0


async def test_what_cannot_start_says_why_and_what_to_do(tmp_path: Path) -> None:
    async with parts_with(tmp_path, ScriptedServer()) as parts:
        found = await tried(parts, {"command": "p", "env": {"TOKEN": "${secret:s/TOKEN}"}})
        assert found.problem is not None
        assert found.problem.title == "Secret 's/TOKEN' not found"
        assert [step.kind for step in found.remedies] == ["store_secret"]


async def test_one_attempt_is_made_and_what_fails_ends(tmp_path: Path) -> None:
    scripted = ScriptedServer()
    scripted.fails_to_open = CannotStart("it does not want to", "at all")
    async with parts_with(tmp_path, scripted) as parts:
        found = await tried(parts, {"command": "p"})
        assert not found.is_ok
        assert found.problem is not None
        assert (len(scripted.copies.all), scripted.running) == (1, [])


async def test_a_server_that_does_not_list_is_no_server_that_works(tmp_path: Path) -> None:
    scripted = ScriptedServer()
    scripted.handlers["tools/list"] = lambda copy, params: failure(-32000, "out of order")
    async with parts_with(tmp_path, scripted) as parts:
        found = await tried(parts)
        assert not found.is_ok
        assert found.problem is not None
        assert "tools/list" in found.problem.title
        assert scripted.running == []


async def test_a_list_that_never_comes_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_tests, "LISTED_WITHIN_S", 0.0)
    scripted = ScriptedServer()
    scripted.handlers["tools/list"] = never
    async with parts_with(tmp_path, scripted) as parts:
        found = await tried(parts)
        assert found.problem is not None
        assert found.problem.title == "'s' does not list its tools"


async def test_a_test_that_hangs_is_stopped_and_its_process_ends(tmp_path: Path) -> None:
    scripted = ScriptedServer()
    scripted.handlers["initialize"] = scripted.handlers["server/discover"] = never
    async with parts_with(tmp_path, scripted) as parts:
        task = asyncio.ensure_future(tried(parts))
        await scripted.copies.wait(lambda copy: True)
        await parts.presenter.cancel_server_test("1")
        found = await task
        assert found.problem is not None
        assert found.problem.title == "The test was stopped"
        await parts.ended()
        assert scripted.running == []
        await parts.presenter.cancel_server_test("1")  # there is none any more


async def test_who_waits_no_longer_ends_the_test(tmp_path: Path) -> None:
    scripted = ScriptedServer()
    scripted.handlers["initialize"] = scripted.handlers["server/discover"] = never
    async with parts_with(tmp_path, scripted) as parts:
        task = asyncio.ensure_future(tried(parts))
        await scripted.copies.wait(lambda copy: True)
        task.cancel()
        await asyncio.wait({task})
        await parts.ended()
        assert scripted.running == []


async def test_its_lines_are_told_while_it_runs_some_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_tests, "REPORTED_EVERY_S", 0.0)
    go_on = asyncio.Event()

    async def chatty(copy: Copy, params: Any) -> Any:
        copy._log.append("one")
        copy._log.append("two")
        await go_on.wait()
        return {"tools": []}

    scripted = ScriptedServer()
    scripted.handlers["tools/list"] = chatty
    async with parts_with(tmp_path, scripted) as parts:
        task = asyncio.ensure_future(tried(parts))
        told = await parts.heard.event(ServerTestOutput)
        assert (told.test, told.lines) == ("1", ("one", "two"))
        go_on.set()
        assert (await task).output == ("one", "two")


async def test_one_name_is_one_test_and_not_too_many_run_at_once(tmp_path: Path) -> None:
    scripted = ScriptedServer()
    scripted.handlers["initialize"] = scripted.handlers["server/discover"] = never
    async with parts_with(tmp_path, scripted) as parts:
        tasks = [asyncio.ensure_future(parts.presenter.test_server(str(number), "s", None)) for number in range(server_tests.MOST_AT_ONCE)]
        await scripted.copies.wait(lambda copy: True, count=server_tests.MOST_AT_ONCE)
        with pytest.raises(Conflict):
            await parts.presenter.test_server("0", "s", None)
        with pytest.raises(TooltrayError, match="tests run already"):
            await parts.presenter.test_server("9", "s", None)
        for number in range(server_tests.MOST_AT_ONCE):
            await parts.presenter.cancel_server_test(str(number))
        await asyncio.gather(*tasks)


async def test_a_program_tests_what_there_is_and_no_entry_of_its_own(tmp_path: Path) -> None:
    async with parts_with(tmp_path, ScriptedServer()) as parts:
        with asked_by(UNATTENDED):
            assert (await tried(parts)).is_ok
            with pytest.raises(Denied):
                await tried(parts, OTHER)
        assert len(parts.launches) == 1


async def test_what_is_not_there_or_no_entry_is_refused(tmp_path: Path) -> None:
    async with parts_with(tmp_path, ScriptedServer()) as parts:
        with pytest.raises(NotFound):
            await tried(parts, None, "gone")
        with pytest.raises(TooltrayError, match="neither a command nor a URL"):
            await tried(parts, {"args": []})


async def test_a_server_for_projects_is_tested_for_one_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    deferred = entry("p", deferredStartup=True, args=["{project_path}"])
    async with parts_with(tmp_path, ScriptedServer(tool("t")), s=deferred) as parts:
        found = await tried(parts)
        assert found.problem is not None
        assert found.problem.title == "'s' starts for a project, and none is known"
        assert (await tried(parts, deferred, "new")).problem is not None
        await parts.presenter.allow_folder(str(folder))
        await parts.presenter.start_for_project("s", str(folder))
        assert (await tried(parts)).is_ok
        assert parts.launches[-1].args == (str(folder.resolve()),)


async def test_nothing_of_a_file_is_tried_inside_tooltray(tmp_path: Path) -> None:
    async with parts_with(tmp_path, ScriptedServer()) as parts:
        parts.servers.get("s").file = file_server("s")
        with pytest.raises(TooltrayError, match="would run inside Tooltray"):
            await tried(parts, {"type": "inmemory", "command": "x"})
