"""copies_by_project.py, server_copy.py, managed_server.py: one server with a copy for each project."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.hub_parts import entry, settled
from tests.fakes.project_hub import ProjectHub, project_hub
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ProblemReported, ServerChanged, ServerRemoved, ServerStarted, ServerStopped
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.upstream.copies_by_project import MOST_COPIES


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[ProjectHub]:
    async with project_hub(tmp_path) as hub:
        yield hub


async def test_nothing_starts_with_the_hub_and_the_server_waits(tmp_path: Path) -> None:
    async with project_hub(tmp_path, settings={"defaultServers": ["s"]}) as hub:
        await hub.parts.presenter.initialize()
        await settled()
        assert hub.program.copies.all == []
        assert hub.server.state is ServerState.WAITING
        assert (hub.server.problem, hub.server.pids, hub.server.eras) == (None, (), frozenset())


async def test_the_first_use_of_a_session_starts_the_copy_of_its_project(hub: ProjectHub) -> None:
    folder = hub.folder("my app")
    client = await hub.session(folder)
    connection = await hub.opened(client)
    await hub.server.settled()
    assert connection is hub.server.client_for(Era.LEGACY, client) is hub.server.client_for(Era.LEGACY)
    assert connection is await hub.server.running(Era.LEGACY, timeout_s=10)
    assert hub.args() == [("--project", folder, "--name=my app")]
    assert hub.server.state is ServerState.RUNNING
    assert hub.parts.heard.of(ServerStarted) == [ServerStarted("s")]


async def test_sessions_of_one_project_share_a_copy_and_those_of_two_never_do(hub: ProjectHub) -> None:
    one, other = hub.folder("one"), hub.folder("other")
    first, second, third = await hub.session(one), await hub.session(one), await hub.session(other)
    shared = await hub.opened(first)
    assert hub.server.client_for(Era.LEGACY, third) is None
    assert await hub.opened(second) is shared
    assert await hub.opened(third) is not shared
    assert {args[1] for args in hub.args()} == {one, other}
    assert [hub.parts.session_servers.serves(shared, client) for client in (first, second, third)] == [True, True, False]
    used = [[hub.by_project.uses(client.state, copy) for client in (first, second, third)] for copy in hub.server.copies]
    assert used == [[True, True, False], [False, False, True]]
    assert [hub.parts.servers.clients_for(client) for client in (first, third)] == [[shared], [await hub.opened(third)]]
    assert len(hub.parts.heard.of(ServerStarted)) == 1  # it is one server


async def test_two_first_uses_at_once_start_one_copy(hub: ProjectHub) -> None:
    clients = [await hub.session(hub.folder("one")) for _ in range(20)]
    assert len({id(each) for each in await asyncio.gather(*map(hub.opened, clients))}) == 1
    assert len(hub.program.copies.all) == 1


@pytest.mark.expected_warnings("waits for a project")
async def test_a_session_without_a_project_gets_no_copy_also_where_one_runs(hub: ProjectHub) -> None:
    running = await hub.opened(await hub.session(hub.folder("one")))
    client = await hub.session()
    assert hub.server.client_for(Era.LEGACY, client) is None
    assert not hub.server.serves(running, client)
    with pytest.raises(TooltrayError, match="collect_feedback"):
        await hub.opened(client)
    assert len(hub.program.running) == 1


@pytest.mark.parametrize("order", [(Era.LEGACY, Era.MODERN), (Era.MODERN, Era.LEGACY)])
async def test_clients_of_both_eras_share_the_one_process_of_their_project(tmp_path: Path, order: tuple[Era, Era]) -> None:
    async with project_hub(tmp_path, program=ScriptedServer(tool("work"), eras=("legacy", "modern"))) as hub:
        clients = {era: await hub.session(hub.folder("one")) for era in order}
        for era in order:
            await hub.opened(clients[era], era)
            await settled()
            reply = await hub.parts.call("work", clients[era], is_modern=era is Era.MODERN)
            assert "result" in reply, reply
            assert (await hub.opened(clients[era], era)).era is order[0]  # of who came first
        assert len(hub.program.copies.all) == 1
        hub.program.copy.die()
        await settled()
        assert (await hub.opened(clients[order[1]], order[1])).era is order[0]  # after a restart, too
        await hub.by_project.end(hub.server.copies)
        assert (await hub.opened(clients[order[1]], order[1])).era is order[1]


async def test_a_server_of_one_era_serves_clients_of_the_other_from_the_one_process_of_their_project(tmp_path: Path) -> None:
    for number, eras in enumerate((("legacy",), ("modern",))):
        async with project_hub(tmp_path / str(number), program=ScriptedServer(tool("work"), eras=eras)) as hub:
            client = await hub.session(hub.folder("one"))
            assert await hub.opened(client, Era.LEGACY) is await hub.opened(client, Era.MODERN)
            assert [len(hub.program.copies.all), (await hub.opened(client)).era.value] == [1, *eras]


async def test_that_a_client_wanted_the_legacy_era_does_not_tell_what_a_server_speaks(tmp_path: Path) -> None:
    async with project_hub(tmp_path, program=ScriptedServer(tool("work"), eras=("legacy", "modern"))) as hub:
        await hub.opened(await hub.session(hub.folder("one")), Era.LEGACY)
        other = await hub.opened(await hub.session(hub.folder("other")), Era.MODERN)
        assert other.era is Era.MODERN
        assert hub.server.eras == {"modern"}


async def test_inside_a_copy_both_eras_and_copies_for_sessions_work_as_everywhere(tmp_path: Path) -> None:
    async with project_hub(tmp_path, program=ScriptedServer(tool("work"), eras=("legacy", "modern")), isolation="session") as hub:
        one, other = await hub.session(hub.folder("one")), await hub.session(hub.folder("one"))
        connections = [await hub.opened(one, Era.MODERN), await hub.opened(other, Era.MODERN), await hub.opened(other, Era.LEGACY)]
        assert len({id(each) for each in connections}) == 3
        assert [each.owner for each in connections] == [one, other, other]
        assert hub.server.eras == {"legacy", "modern"}
        await hub.parts.servers.end_session(one)
        assert hub.server.client_for(Era.MODERN, other) is connections[1]
        assert connections[0].dispatcher.closed.is_set()


async def test_a_server_that_is_switched_off_or_stopped_starts_for_nobody(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    await hub.opened(client)
    await hub.parts.servers.stop("s")
    assert (hub.server.state, hub.program.running, hub.server.copies) == (ServerState.STOPPED, [], ())
    with pytest.raises(TooltrayError, match="is stopped"):
        await hub.opened(client)
    await hub.parts.conf.change_server("s", disable=True)
    with pytest.raises(TooltrayError, match="server 's' is disabled"):
        await hub.opened(client)


async def test_who_starts_it_again_after_a_stop_gets_it_for_the_same_projects(hub: ProjectHub) -> None:
    folders = [hub.folder("one"), hub.folder("other")]
    for folder in folders:
        await hub.opened(await hub.session(folder))
    await hub.parts.servers.stop("s")
    await hub.parts.servers.start("s")
    assert sorted(args[1] for args in hub.args()) == sorted(folders)
    await hub.parts.servers.restart("s")
    assert sorted(args[1] for args in hub.args()) == sorted(folders)
    assert len(hub.program.copies.all) == 6
    await hub.parts.servers.start("s")  # it runs
    assert len(hub.program.copies.all) == 6


async def test_a_restart_is_shown_of_the_whole_and_of_each_copy_until_they_run(hub: ProjectHub) -> None:
    await hub.opened(await hub.session(hub.folder("one")))
    hub.parts.heard.all.clear()
    go_on = hub.program.hold("initialize")
    restart = asyncio.create_task(hub.parts.servers.restart("s"))
    await hub.program.request("initialize", count=2)
    shown = [event.server for event in hub.parts.heard.of(ServerChanged)]
    assert {server.state for server in shown} == {ServerState.RESTARTING}
    assert {copy.state for server in shown for copy in server.copies} == {ServerState.RESTARTING}
    go_on.set()
    await restart
    last = hub.parts.heard.of(ServerChanged)[-1].server
    assert (last.state, [copy.state for copy in last.copies]) == (ServerState.RUNNING, [ServerState.RUNNING])


async def test_who_starts_it_by_hand_with_no_project_known_reads_that_it_waits(hub: ProjectHub) -> None:
    await hub.parts.servers.stop("s")
    with pytest.raises(TooltrayError, match="'s' waits for a project") as raised:
        await hub.parts.servers.start("s")
    assert "tooltray projects start s DIR" in str(raised.value)
    assert hub.server.state is ServerState.WAITING  # it may start again


async def test_a_failed_start_is_told_once_with_its_project_and_each_call_tries_again(hub: ProjectHub) -> None:
    client = await hub.session(folder := hub.folder("one"))
    hub.program.fails_to_open = CannotStart("'s' cannot be started", "no such command")
    for count in (1, 2, 3):
        with pytest.raises(TooltrayError, match="no such command"):
            await hub.opened(client)
        assert len(hub.program.copies.all) == count
    assert (hub.server.state, hub.server.problem) == (ServerState.ERROR, Problem("'s' cannot be started", "no such command"))
    assert [(event.server, event.project) for event in hub.parts.heard.of(ProblemReported)] == [("s", folder)]
    hub.program.fails_to_open = None
    await hub.opened(client)
    assert hub.server.state is ServerState.RUNNING
    hub.program.fails_to_open = CannotStart("'s' cannot be started", "no such command")
    hub.program.copy.die()
    await hub.parts.heard.until(lambda: len(hub.parts.heard.of(ProblemReported)) == 2)  # it is news again


async def test_one_that_failed_for_one_project_runs_for_others(hub: ProjectHub) -> None:
    broken, well = await hub.session(hub.folder("one")), await hub.session(hub.folder("other"))
    hub.program.fails_to_open = CannotStart("no")
    with pytest.raises(TooltrayError):
        await hub.opened(broken)
    hub.program.fails_to_open = None
    await hub.opened(well)
    assert hub.server.state is ServerState.RUNNING
    (running,) = (copy for copy in hub.by_project.copies if copy.state is ServerState.RUNNING)
    await running.first.stop(then=ServerState.ON_DEMAND)
    hub.server.start()  # as when a secret has come that was missing
    await hub.program.copies.until(lambda: len(hub.program.copies.all) == 3)
    await hub.opened(broken)
    assert running.state is ServerState.ON_DEMAND


async def test_a_server_elsewhere_wants_to_be_signed_in_to_for_all_projects(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    await hub.opened(client)
    hub.server.require_sign_in(Problem("'s' wants you to sign in"))
    await hub.parts.heard.event(ProblemReported)
    assert hub.server.state is ServerState.NEEDS_SIGN_IN
    with pytest.raises(TooltrayError, match="wants you to sign in"):
        await hub.opened(client)
    hub.server.start()  # somebody has signed in
    await hub.program.copies.until(lambda: len(hub.program.copies.all) == 2)
    await hub.opened(client)


async def test_its_settings_changed_it_runs_for_the_same_projects_with_the_new_ones(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    await hub.opened(client)
    await hub.parts.conf.change_server("s", startup_args_template=("{project_name}!",))
    await hub.program.copies.until(lambda: len(hub.program.copies.all) == 2)
    await hub.opened(client)
    assert hub.args() == [("one!",)]


async def test_settings_that_do_not_change_what_runs_are_taken_over_by_each_copy(hub: ProjectHub) -> None:
    await hub.opened(await hub.session(hub.folder("one")))
    await hub.parts.conf.change_server("s", isolation="session")
    assert [copy.server.config.isolation for copy in hub.server.copies] == ["session"]
    assert len(hub.program.copies.all) == 1


async def test_one_that_is_deferred_no_longer_runs_for_all_and_the_other_way_round(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    await hub.opened(client)
    await hub.parts.conf.change_server("s", deferred_startup=None)
    await hub.parts.heard.event(ServerStarted, count=2)
    assert hub.args() == [()]
    await hub.parts.conf.change_server("s", deferred_startup=True)
    await hub.parts.heard.event(ServerStopped, count=2)
    assert hub.server.copies == ()
    await hub.opened(client)
    assert hub.server.state is ServerState.RUNNING


async def test_one_that_a_person_stopped_is_known_as_such_until_it_is_allowed_again(hub: ProjectHub) -> None:
    assert hub.server.is_stopped is False
    await hub.parts.servers.stop("s")
    assert hub.server.is_stopped is True


async def test_a_removed_one_ends_for_all_projects(hub: ProjectHub) -> None:
    for name in ("one", "other"):
        await hub.opened(await hub.session(hub.folder(name)))
    await hub.parts.conf.remove_server("s")
    await hub.parts.heard.event(ServerRemoved)
    assert hub.program.running == []


async def test_a_copy_that_is_called_for_while_it_ends_begins_again_and_stays(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    await hub.opened(client)
    hub.program.may_end.clear()
    ending = asyncio.ensure_future(hub.by_project.end(hub.server.copies))
    await hub.program.closing.wait()
    assert hub.server.state is ServerState.STOPPING
    opening = asyncio.ensure_future(hub.opened(client))
    await settled()
    hub.program.may_end.set()
    await asyncio.gather(ending, opening)
    assert len(hub.server.copies) == len(hub.program.running) == 1
    hub.server.copies[0].first.usage.begin()
    assert hub.server.copies[0].is_called


async def test_an_idle_copy_is_stopped_also_where_the_server_is_one_of_those_that_start_with_the_hub(tmp_path: Path) -> None:
    async with project_hub(tmp_path, idleStop=321, settings={"defaultServers": ["s"]}) as hub:
        client = await hub.session(hub.folder("one"))
        await hub.opened(client)
        assert [321 - 5 < deadline.seconds <= 321 for deadline in hub.parts.wheel.waiting].count(True) == 1
        assert not any("idleStop" in notice.message for notice in hub.parts.presenter.snapshot().notices)


async def test_a_server_that_waits_does_not_start_without_a_session(hub: ProjectHub) -> None:
    await hub.server.settled()
    assert hub.server.client is None
    with pytest.raises(TooltrayError, match="waits for a project"):
        await hub.server.running(Era.LEGACY, timeout_s=10)
    assert hub.program.copies.all == []


async def test_the_tools_of_one_that_waits_stay_listed(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    assert await hub.listed(client) == ["work"]
    await hub.by_project.end(hub.server.copies)
    assert hub.server.state is ServerState.WAITING
    assert await hub.listed(client) == ["work"]


async def test_the_tools_of_one_that_failed_stay_listed_as_long_as_calls_try_again(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    assert await hub.listed(client) == ["work"]
    hub.program.fails_to_open = CannotStart("no")
    hub.program.copy.die()
    await hub.parts.heard.event(ProblemReported)
    assert hub.server.state is ServerState.ERROR
    hub.parts.wheel.expire(600.0)
    assert await hub.listed(client) == ["work"]


async def test_only_what_needs_no_project_starts_without_one(tmp_path: Path) -> None:
    other = entry("program", deferredStartup=True, args=["{project_path}"])
    async with project_hub(tmp_path, others={"t": other}) as hub:
        hub.by_project.copy_for(None)
        with pytest.raises(TooltrayError, match="cannot be started without a project"):
            hub.parts.servers.find_deferred("t").copy_for(None)


async def test_what_was_chosen_for_one_without_a_project_is_dropped_where_new_settings_need_one(tmp_path: Path) -> None:
    async with project_hub(tmp_path, args=["plain"]) as hub:
        await hub.parts.projects_api.start_without_project("s")
        await hub.parts.conf.change_server("s", args=("{project_path}",))
        await hub.parts.heard.event(ServerStopped)
        await settled()
        assert (hub.server.state, hub.program.running) == (ServerState.WAITING, [])


@pytest.mark.parametrize(("given_up", "left"), [("/w", None), ("/w/one", None), ("/v", "/w/one"), ("/w/one/src", "/w/one")])
async def test_what_was_chosen_for_a_folder_that_is_given_up_counts_no_more(hub: ProjectHub, given_up: str, left: str | None) -> None:
    hub.by_project.give_up(given_up)
    assert hub.by_project.chosen is None
    hub.by_project.chosen = SessionProject("/w/one", "one", "folder")
    hub.by_project.give_up(given_up)
    assert (hub.by_project.chosen.path if hub.by_project.chosen else None) == left


async def test_servers_that_are_not_deferred_are_not_found_among_those(tmp_path: Path) -> None:
    async with project_hub(tmp_path, others={"plain": entry("program")}) as hub:
        assert hub.parts.servers.deferred() == [hub.by_project]
        with pytest.raises(TooltrayError, match="' does not start for projects"):
            hub.parts.servers.find_deferred("plain")
        client = await hub.session()
        connection = await hub.parts.servers.get("plain").running(Era.LEGACY, timeout_s=10, session=client)
        assert hub.parts.servers.serves(connection, client)


# folders that change, and too many of them


@pytest.mark.posix
async def test_a_folder_that_has_become_a_link_since_it_was_looked_at_is_not_followed(hub: ProjectHub) -> None:
    client = await hub.session(folder := hub.folder("one"))
    elsewhere = hub.folder("elsewhere")
    Path(folder).rename(f"{folder} moved")
    Path(folder).symlink_to(elsewhere)
    with pytest.raises(TooltrayError, match=f"it has become a link, and leads to '{elsewhere}'"):
        await hub.opened(client)
    assert hub.program.copies.all == []
    assert hub.parts.heard.of(ProblemReported)
    Path(folder).unlink()
    with pytest.raises(TooltrayError, match="no such folder exists"):
        await hub.opened(client)
    Path(f"{folder} moved").rename(folder)
    await hub.opened(client)  # the next use tries again
    assert [args[1] for args in hub.args()] == [folder]


async def test_a_server_runs_for_so_many_projects_at_once_and_says_so_to_the_next(hub: ProjectHub) -> None:
    clients = [await hub.session(hub.folder(f"p{number}"), key=f"k{number}") for number in range(MOST_COPIES)]
    await asyncio.gather(*map(hub.opened, clients))
    assert await hub.listed(clients[0]) == ["work"]
    late = await hub.session(hub.folder("late"))
    assert f"a copy for each of {MOST_COPIES} projects" in (await hub.parts.call("work", late))["error"]["message"]
    ((name, reason),) = (await hub.parts.projects.reported(late.state, "", "")).failed
    assert (name, "not started for another project" in reason) == ("s", True)
    again = await hub.session(hub.folder("p0"))
    assert await hub.opened(again) is await hub.opened(clients[0])
    hub.leave(clients[1], "k1")
    await settled()
    assert hub.parts.wheel.expire(60.0) == 1
    await hub.program.closing.wait()
    await settled()
    await hub.opened(late)
    assert len(hub.program.running) == MOST_COPIES


async def test_one_that_has_too_many_copies_is_not_started_to_be_listed(hub: ProjectHub) -> None:
    for number in range(MOST_COPIES):
        hub.by_project.copy_for(SessionProject(hub.folder(f"p{number}"), "", "person"))
    assert await hub.listed(await hub.session(hub.folder("late"))) == []
    assert hub.program.copies.all == []


async def test_a_call_that_waits_for_a_copy_does_not_start_it_again_after_a_stop_by_the_user(hub: ProjectHub) -> None:
    hub.program.hold("initialize")
    opening = asyncio.ensure_future(hub.opened(await hub.session(hub.folder("one"))))
    await hub.program.request("initialize")
    await hub.parts.servers.stop("s")
    with pytest.raises(TooltrayError, match="is not running"):
        await opening
    assert (hub.server.state, hub.server.copies, hub.program.running) == (ServerState.STOPPED, (), [])
