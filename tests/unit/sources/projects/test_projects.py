"""projects.py: what sessions work on, what models and people say of it, and what is started for that."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, entry, opened, settled
from tests.fakes.project_hub import TEMPLATE, ProjectHub, project_hub
from tests.fakes.scripted_server import Copy, ScriptedServer, error, tool
from tests.portable import absolute

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ResourceListChanged, ServerChanged, ServerStopped, SessionListChanged
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerState
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.sources.projects.projects import ProjectReport

WAITS, REPORTED = "waits for a project", "reported"


# reports of models


async def test_a_report_starts_all_deferred_servers_for_its_project_in_the_settings_order(tmp_path: Path) -> None:
    others = {"z": entry("program", deferredStartup=True), "plain": entry("program"), "a": entry("program", deferredStartup=True)}
    async with project_hub(tmp_path, others=others) as hub:
        folder = hub.folder("one")
        await hub.parts.folders.allow(folder)
        client = await hub.session()
        assert await hub.parts.projects.reported(client.state, "One!", folder) == ProjectReport(("s", "z", "a"))
        assert client.state.project == SessionProject(folder, "One!", "feedback")
        assert hub.args()[0] == ("--project", folder, "--name=One!")
        assert len(hub.program.copies.all) == 3
        assert await hub.parts.projects.reported(client.state, "", folder) == ProjectReport(("s", "z", "a"))
        assert len(hub.program.copies.all) == 3


async def test_servers_that_a_session_does_not_have_are_neither_started_nor_named(tmp_path: Path) -> None:
    others = {"t": entry("program", deferredStartup=True)}
    profiles = {"profiles": {"few": {"servers": ["t"]}, "none": {"servers": []}}}
    async with project_hub(tmp_path, others=others, settings=profiles) as hub:
        folder = hub.folder("one")
        by_profile, with_nothing, by_server = await hub.session(folder), await hub.session(folder), await hub.session(folder)
        by_profile.state.profile, with_nothing.state.profile, by_server.state.server = "few", "none", "t"
        assert await hub.parts.projects.reported(with_nothing.state, "", folder) == ProjectReport()
        await hub.listed(with_nothing)
        await settled()
        assert hub.program.copies.all == []
        for client in (by_profile, by_server):
            assert await hub.parts.projects.reported(client.state, "", folder) == ProjectReport(("t",))
        assert len(hub.program.copies.all) == 1
        nowhere = await hub.session()
        nowhere.state.profile = "none"
        assert await hub.parts.projects.reported(nowhere.state, "", "") == ProjectReport()  # nothing waits for what it did not say


async def test_one_that_fails_does_not_keep_the_others_and_is_tried_again_by_the_next_report(tmp_path: Path) -> None:
    async with project_hub(tmp_path, others={"t": entry("nothing", deferredStartup=True, cwd="${MISSING}")}) as hub:
        client = await hub.session(folder := hub.folder("one"))
        report = await hub.parts.projects.reported(client.state, "", folder)
        assert (report.started, report.warning) == (("s",), "")
        ((name, reason),) = report.failed
        assert name == "t"
        assert "MISSING is not set" in reason
        hub.parts.shell.variables["MISSING"] = folder
        await hub.parts.conf.change_server("t", command="program")
        assert (await hub.parts.projects.reported(client.state, "", folder)).failed == ()


async def test_servers_that_are_switched_off_are_not_started_and_not_named(tmp_path: Path) -> None:
    async with project_hub(tmp_path, others={"t": entry("program", deferredStartup=True)}, disable=True) as hub:
        client = await hub.session(folder := hub.folder("one"))
        assert await hub.parts.projects.reported(client.state, "", folder) == ProjectReport(("t",))
        await hub.parts.conf.change_server("t", disable=True)
        assert await hub.parts.projects.reported(client.state, "", folder) == ProjectReport()


@pytest.mark.expected_warnings(REPORTED)
async def test_a_folder_that_nobody_allowed_starts_nothing_and_no_model_reads_how_it_is_allowed(hub: ProjectHub) -> None:
    client = await hub.session()
    folder = hub.folder("it's $(mine)")
    report = await hub.parts.projects.reported(client.state, "", folder)
    assert (report.started, report.failed, client.state.project) == ((), (), None)
    assert report.warning.endswith("Ask the user to look at it in Tooltray")
    await hub.parts.folders.allow(folder)
    assert (await hub.parts.projects.reported(client.state, "", folder)).started == ("s",)


@pytest.mark.expected_warnings(REPORTED)
@pytest.mark.parametrize("path", ["", "relative", "/", "/no/such/folder/at/all", "x" * 10_000, "a\0b", "//server/share", "~"])
async def test_a_report_that_names_no_folder_warns_and_starts_nothing(hub: ProjectHub, path: str) -> None:
    client = await hub.session()
    report = await hub.parts.projects.reported(client.state, "name", path)
    assert report.warning
    assert (report.started, client.state.project, hub.program.copies.all) == ((), None, [])


async def test_a_report_without_a_folder_is_about_the_project_that_is_known(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    assert (await hub.parts.projects.reported(client.state, "", "")).started == ("s",)


async def test_while_paused_a_report_starts_nothing_and_says_so(hub: ProjectHub) -> None:
    await hub.parts.conf.set_enabled(False)
    client = await hub.session(hub.folder("one"))
    assert "is paused" in (await hub.parts.projects.reported(client.state, "", "")).warning
    await hub.parts.projects.before_listing(client, None)
    assert hub.program.copies.all == []


# listing


async def test_a_server_that_was_never_listed_is_started_for_a_session_that_lists(hub: ProjectHub) -> None:
    assert await hub.listed(await hub.session()) == []
    assert hub.program.copies.all == []
    assert await hub.listed(await hub.session(hub.folder("one"))) == ["work"]
    assert await hub.listed(await hub.session(hub.folder("other"))) == ["work"]
    assert len(hub.program.copies.all) == 1


async def test_one_whose_tools_are_shown_on_activation_alone_is_not_started_to_be_listed(tmp_path: Path) -> None:
    async with project_hub(tmp_path, lazyLoad=True) as hub:
        await hub.listed(await hub.session(hub.folder("one")))
        assert hub.program.copies.all == []


async def test_one_that_a_person_stopped_is_not_started_to_be_listed(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    await hub.parts.presenter.stop_server("s")
    assert await hub.listed(client) == []
    assert hub.program.copies.all == []


# people


async def test_choosing_a_folder_for_one_that_is_switched_off_allows_nothing(tmp_path: Path) -> None:
    async with project_hub(tmp_path, disable=True) as hub:
        with pytest.raises(TooltrayError, match="is disabled"):
            await hub.parts.presenter.start_for_project("s", hub.folder("one"))
        assert (hub.by_project.chosen, hub.parts.conf.settings.allowed_folders) == (None, ())


async def test_a_person_starts_it_for_a_folder_which_sessions_of_no_project_then_use(hub: ProjectHub) -> None:
    await hub.parts.presenter.stop_server("s")
    folder = hub.folder("one")
    await hub.parts.presenter.start_for_project("s", folder)
    assert hub.parts.conf.settings.allowed_folders == (folder,)
    assert [args[1] for args in hub.args()] == [folder]
    nobody, other = await hub.session(), await hub.session(hub.folder("other"))
    assert hub.server.client_for(Era.LEGACY, nobody)
    assert hub.server.client_for(Era.LEGACY, other) is None
    assert hub.server.copies[0].project == SessionProject(folder, "one", "person")
    assert [copy.session_count for copy in hub.parts.project_snapshots.copies(hub.server)] == [1]


async def test_a_person_starts_it_anyway_as_its_args_say(tmp_path: Path) -> None:
    async with project_hub(tmp_path, args=["--anyway"]) as hub:
        await hub.parts.presenter.start_without_project("s")
        assert hub.args() == [("--anyway",)]
        assert hub.server.client_for(Era.LEGACY, await hub.session())
        assert hub.server.client_for(Era.LEGACY, await hub.session(hub.folder("one"))) is None
        (copy,) = hub.parts.project_snapshots.copies(hub.server)
        assert (copy.path, copy.name, copy.target, copy.session_count) == ("", "", "program --anyway", 1)


async def test_what_needs_a_project_is_not_started_anyway(tmp_path: Path) -> None:
    async with project_hub(tmp_path, args=["{project_path}"]) as hub:
        with pytest.raises(TooltrayError, match="cannot be started without a project"):
            await hub.parts.presenter.start_without_project("s")
        assert not hub.by_project.is_without_project
        assert hub.program.copies.all == []


async def test_servers_that_do_not_wait_for_a_project_are_not_started_for_one(tmp_path: Path) -> None:
    async with project_hub(tmp_path, others={"plain": entry("program")}) as hub:
        for name in ("plain", "nobody"):
            with pytest.raises(TooltrayError):
                await hub.parts.presenter.start_for_project(name, hub.folder("one"))
        assert hub.parts.conf.settings.allowed_folders == ()


async def test_a_person_says_what_a_session_works_on_where_its_client_does_not(hub: ProjectHub) -> None:
    client = await hub.session()
    await hub.parts.presenter.set_session_project(client.state.id, hub.folder("one"))
    await hub.parts.presenter.set_session_project(client.state.id, hub.folder("two"))
    assert client.state.project == SessionProject(hub.folder("two"), "two", "person")
    assert hub.parts.heard.of(SessionListChanged)
    with pytest.raises(TooltrayError, match="session 'x' not found"):
        await hub.parts.presenter.set_session_project("x", hub.folder("one"))
    with pytest.raises(TooltrayError, match="no such folder"):
        await hub.parts.presenter.set_session_project(client.state.id, absolute("no", "such", "folder"))
    knows = await hub.session(hub.folder("own"))
    with pytest.raises(TooltrayError, match="works on 'own' already") as raised:
        await hub.parts.presenter.set_session_project(knows.state.id, hub.folder("one"))
    assert "was started there" in str(raised.value)


async def test_a_reset_stops_every_copy_and_forgets_what_was_chosen(tmp_path: Path) -> None:
    async with project_hub(tmp_path, others={"t": entry("program", deferredStartup=True)}) as hub:
        client = await hub.session(hub.folder("one"))
        await hub.parts.projects.reported(client.state, "", "")
        await hub.parts.presenter.start_for_project("s", hub.folder("two"))
        await hub.parts.presenter.start_without_project("t")
        await hub.parts.presenter.stop_server("t")
        await hub.parts.presenter.reset_deferred_state()
        assert hub.program.running == []
        assert [each.server.state for each in hub.parts.servers.deferred()] == [ServerState.WAITING, ServerState.STOPPED]
        with pytest.raises(TooltrayError, match=WAITS):
            await hub.parts.presenter.start_server("s")
        assert await hub.opened(client)  # its next use starts it again


async def test_a_reset_while_a_server_starts_for_a_project_ends_the_start(hub: ProjectHub) -> None:
    go_on = hub.program.hold("initialize")
    starting = asyncio.create_task(hub.parts.presenter.start_for_project("s", hub.folder("one")))
    await hub.program.request("initialize")
    resetting = asyncio.create_task(hub.parts.presenter.reset_deferred_state())
    await hub.program.closing.wait()
    go_on.set()
    await resetting
    with pytest.raises(TooltrayError, match="is not running"):
        await starting
    assert (hub.server.state, hub.server.copies, hub.program.running) == (ServerState.WAITING, (), [])


async def test_a_folder_taken_back_is_nobodys_project_and_what_runs_for_it_stops(hub: ProjectHub) -> None:
    allowed, own = hub.folder("work"), hub.folder("own")
    inside = hub.folder("work/inside")
    assert await hub.parts.presenter.allow_folder(allowed) == allowed
    assert await hub.parts.presenter.get_allowed_folders() == [allowed]
    reporter, starter = await hub.session(own), await hub.session(inside)
    await hub.parts.projects.reported(reporter.state, "", inside)
    await hub.parts.presenter.start_for_project("s", inside)
    await hub.parts.presenter.disallow_folder(inside)
    assert hub.program.running == []
    assert (hub.by_project.chosen, reporter.state.project) == (None, SessionProject(inside, "inside", "feedback"))
    await hub.parts.presenter.disallow_folder(allowed)
    assert reporter.state.project == SessionProject(own, "own", "folder")
    assert starter.state.project == SessionProject(inside, "inside", "folder")  # its client was started there
    await hub.opened(reporter)
    await hub.parts.presenter.allow_folder(allowed)
    await hub.parts.presenter.disallow_folder(allowed)
    assert len(hub.program.running) == 1  # other projects go on


async def test_a_folder_taken_back_while_a_server_starts_for_it_ends_the_start(hub: ProjectHub) -> None:
    go_on = hub.program.hold("initialize")
    starting = asyncio.create_task(hub.parts.presenter.start_for_project("s", hub.folder("one")))
    await hub.program.request("initialize")
    taking_back = asyncio.create_task(hub.parts.presenter.disallow_folder(hub.folder("one")))
    await hub.program.closing.wait()
    go_on.set()
    await taking_back
    with pytest.raises(TooltrayError, match="is not running"):
        await starting
    assert (hub.server.copies, hub.program.running) == ((), [])


async def test_a_folder_taken_out_of_the_settings_by_hand_is_taken_back_too(hub: ProjectHub) -> None:
    client = await hub.session()
    await hub.parts.folders.allow(hub.folder("one"))
    await hub.parts.projects.reported(client.state, "", hub.folder("one"))
    document = json.loads(hub.parts.home.settings.read_text())
    hub.parts.home.settings.write_text(json.dumps({**document, "allowedFolders": []}))
    await hub.parts.conf.set_default("s", False)  # whatever reads the file again
    await hub.program.closing.wait()
    assert (client.state.project, hub.program.running) == (None, [])


async def test_a_folder_taken_back_while_its_server_is_stopped_is_not_what_it_starts_for_again(hub: ProjectHub) -> None:
    for name in ("one", "two"):
        await hub.parts.presenter.start_for_project("s", hub.folder(name))
    await hub.parts.presenter.stop_server("s")
    await hub.parts.presenter.disallow_folder(hub.folder("two"))
    await hub.parts.presenter.start_server("s")
    assert [args[1] for args in hub.args()] == [hub.folder("one")]


async def test_deferring_keeps_the_template_until_another_is_given(hub: ProjectHub) -> None:
    await hub.parts.presenter.set_deferred("s", False)
    assert hub.parts.conf.entries["s"].items() >= {("command", "program")}
    assert (hub.parts.conf.entries["s"]["startupArgsTemplate"], "deferredStartup" in hub.parts.conf.entries["s"]) == (TEMPLATE, False)
    await hub.parts.presenter.set_deferred("s", True, ["{project_path}"])
    assert hub.parts.conf.settings.mcp_servers["s"].template == ("{project_path}",)
    await hub.parts.presenter.set_deferred("s", True)
    assert "startupArgsTemplate" not in hub.parts.conf.entries["s"]
    with pytest.raises(TooltrayError):
        await hub.parts.presenter.set_deferred("nobody", True)


# how it is shown


async def test_a_card_says_what_the_server_waits_for(tmp_path: Path) -> None:
    async with project_hub(tmp_path, others={"plain": entry("program")}) as hub:

        def detail() -> str:
            return hub.parts.project_snapshots.detail(hub.server)

        assert detail() == "No AI client is connected"
        await hub.session(key="a")
        assert detail() == "1 AI client is connected, and names no folder"
        await hub.session()
        assert detail() == "2 AI clients are connected, none names a folder"
        hub.parts.heard.all.clear()
        one = await hub.session(hub.folder("one"))
        assert detail() == "Starts for one when it is first used"
        assert [event.server.name for event in hub.parts.heard.of(ServerChanged)][-1] == "s"
        await hub.session(hub.folder("two"))
        assert detail() == "Starts for each project when it is first used"
        await hub.opened(one)
        assert detail() == ""
        assert hub.parts.project_snapshots.copies(hub.parts.servers.get("plain")) == ()


async def test_a_card_shows_each_copy_with_its_project_filled_in_and_no_secret(tmp_path: Path) -> None:
    async with project_hub(tmp_path, startupArgsTemplate=["{project_path}", "${secret:k}"]) as hub:
        await hub.parts.secrets.set("k", "hunter2")
        folder = hub.folder("one")
        for _ in range(2):
            await hub.opened(await hub.session(folder))
        snapshot = next(each for each in hub.parts.presenter.snapshot().servers if each.name == "s")
        assert snapshot.copies == (
            ProjectCopySnapshot(folder, "one", ServerState.RUNNING, 2, joined(["program", folder, "${secret:k}"]), None, snapshot.pids),
        )
        assert (snapshot.is_deferred, snapshot.startup_template) == (True, ("{project_path}", "${secret:k}"))
        assert hub.args() == [(folder, "hunter2")]
        assert "hunter2" not in json.dumps(hub.parts.conf.entries) + repr(snapshot)
        assert folder not in json.dumps(hub.parts.conf.entries)  # settings are not overwritten


@pytest.mark.expected_warnings(WAITS)
async def test_who_has_no_project_reads_why_and_what_to_do(hub: ProjectHub) -> None:
    assert "this AI client has not reported which folder it works on" in str(hub.parts.projects.missing("s", await hub.session()))
    assert "the root of the file system" in str(hub.parts.projects.missing("s", await hub.session(absolute())))
    await hub.parts.conf.edit(lambda document: document.update(publish={"feedback": False}))
    assert "collect_feedback" not in (said := str(hub.parts.projects.missing("s", await hub.session())))
    assert said.endswith("Ask the user to choose a folder on its card in Tooltray")


@pytest.mark.expected_warnings(WAITS)
async def test_a_tool_of_a_server_that_waits_says_so_when_it_is_called_and_works_once_a_project_is_known(hub: ProjectHub) -> None:
    await hub.listed(await hub.session(hub.folder("one")))
    await hub.parts.presenter.reset_deferred_state()
    client = await hub.session()
    reply = await hub.parts.call("work", client)
    assert WAITS in reply["error"]["message"]
    await hub.parts.presenter.set_session_project(client.state.id, hub.folder("two"))
    assert "result" in await hub.parts.call("work", client)
    assert [args[1] for args in hub.args()] == [hub.folder("two")]


async def test_a_person_calls_a_tool_for_an_allowed_folder_which_is_the_project_of_that_call_alone(hub: ProjectHub) -> None:
    folder = hub.folder("one")
    with pytest.raises(TooltrayError, match="it is not allowed"):
        await hub.parts.presenter.call_tool("work", {}, folder)
    await hub.parts.folders.allow(folder)
    assert "content" in await hub.parts.presenter.call_tool("work", {}, folder)
    assert [args[1] for args in hub.args()] == [folder]
    with pytest.raises(TooltrayError, match=r"waits for a project: none was named.*--project DIR"):
        await hub.parts.presenter.call_tool("work", {})
    await settled()
    assert hub.parts.wheel.expire(60.0) == 1  # nobody works on it
    await hub.program.closing.wait()


# ends


async def test_a_copy_ends_a_minute_after_the_last_session_of_its_project_left(hub: ProjectHub) -> None:
    one, two = await hub.session(hub.folder("one"), key="1"), await hub.session(hub.folder("one"), key="2")
    other = await hub.session(hub.folder("other"), key="3")
    for client in (one, other):
        await hub.opened(client)
    hub.leave(one, "1")
    assert hub.parts.wheel.of(60.0) == []
    hub.leave(two, "2")
    await hub.session(hub.folder("one"), key="2")  # it is back
    assert hub.parts.wheel.of(60.0) == []
    hub.leave(two, "2")
    await settled()
    assert hub.parts.wheel.expire(60.0) == 1
    await hub.program.closing.wait()
    assert [args[1] for args in hub.args()] == [hub.folder("other")]
    assert hub.parts.heard.of(ServerStopped) == []


async def test_where_each_request_stands_for_itself_a_copy_stays_as_long_as_its_client_is_remembered(tmp_path: Path) -> None:
    now = [0.0]
    async with project_hub(tmp_path, clock=lambda: now[0]) as hub:
        client = await hub.session(key="token", is_lasting=False)
        await hub.parts.folders.allow(hub.folder("one"))
        await hub.parts.projects.reported(client.state, "", hub.folder("one"))
        await hub.opened(client)
        await hub.listed(client)
        hub.leave(client, "token")
        await hub.session()  # somebody else comes: it is looked at
        now[0] = 500.0
        (await hub.opened(client)).usage.note()
        now[0] = 600.0
        assert hub.parts.wheel.expire(600.0) >= 1
        assert len(hub.parts.wheel.of(500.0)) == 1
        now[0] = 1100.0
        hub.parts.wheel.expire(500.0)
        await hub.program.closing.wait()
        assert hub.program.running == []


async def test_a_session_that_turns_to_another_project_leaves_the_one_before(hub: ProjectHub) -> None:
    client = await hub.session()
    for name in ("one", "two"):
        await hub.parts.presenter.set_session_project(client.state.id, hub.folder(name))
        await hub.opened(client)
    await settled()
    hub.parts.wheel.expire(60.0)
    await hub.program.closing.wait()
    assert [args[1] for args in hub.args()] == [hub.folder("two")]


async def test_a_copy_stays_while_a_call_of_it_runs_also_of_a_session_that_has_turned_to_another_project(hub: ProjectHub) -> None:
    client = await hub.session(key="1")
    await hub.parts.presenter.set_session_project(client.state.id, hub.folder("one"))
    (await hub.opened(client)).usage.begin()
    await settled()
    await hub.parts.presenter.set_session_project(client.state.id, hub.folder("two"))
    (copy,) = hub.server.copies
    await settled()
    assert hub.parts.wheel.expire(60.0) == 1
    assert len(hub.program.running) == 1
    copy.first.usage.end()
    await settled()
    assert hub.parts.wheel.expire(60.0) == 1
    await hub.program.closing.wait()
    assert hub.program.running == []


async def test_a_copy_that_somebody_wants_in_the_moment_of_its_end_goes_on(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"), key="1")
    connection = await hub.opened(client)
    hub.leave(client, "1")
    await settled()
    assert hub.parts.wheel.expire(60.0) == 1  # to end it is begun, and not done
    back = await hub.session(hub.folder("one"), key="1")
    await settled()
    assert hub.server.client_for(Era.LEGACY, back) is connection
    hub.leave(back, "1")
    await settled()
    assert hub.parts.wheel.expire(60.0)  # with it ends the use of its folder, unless that came first
    await hub.program.closing.wait()


async def test_what_a_person_has_started_stays_until_the_person_chooses_another_folder(tmp_path: Path) -> None:
    async with project_hub(tmp_path, args=["plain"]) as hub:
        await hub.parts.projects_api.start_for_project("s", hub.folder("one"))
        assert hub.parts.wheel.of(60.0) == []
        await hub.parts.projects_api.start_for_project("s", hub.folder("two"))
        await settled()
        assert hub.parts.wheel.expire(60.0) == 1
        await hub.program.closing.wait()
        assert [args[1] for args in hub.args()] == [hub.folder("two")]
        await hub.parts.projects_api.start_without_project("s")
        await settled()
        hub.parts.wheel.expire(60.0)
        await hub.program.closing.wait(count=2)
        assert hub.args() == [("plain",)]
        await settled()
        assert hub.parts.wheel.of(60.0) == []
        await hub.parts.projects_api.start_for_project("s", hub.folder("one"))
        await settled()
        hub.parts.wheel.expire(60.0)
        await hub.program.closing.wait(count=3)
        assert [args[1] for args in hub.args()] == [hub.folder("one")]


async def test_a_copy_that_failed_and_that_nobody_needs_is_put_away(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"), key="1")
    hub.program.fails_to_open = CannotStart("no")
    with pytest.raises(TooltrayError):
        await hub.opened(client)
    hub.leave(client, "1")
    await settled()
    hub.parts.wheel.expire(60.0)
    await settled()
    assert (hub.server.copies, hub.server.state) == ((), ServerState.WAITING)


# what sessions hear and want


def talkative() -> ScriptedServer:
    """A legacy server that knows log levels and subscriptions."""
    program = ScriptedServer(tool("work"))
    capabilities = {"tools": {}, "logging": {}, "resources": {"subscribe": True}}
    program.handlers["initialize"] = lambda copy, params: {
        "protocolVersion": params["protocolVersion"],
        "capabilities": capabilities,
        "serverInfo": {"name": "s", "version": "1"},
    }
    for method in ("logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
        program.handlers[method] = lambda copy, params: {}
    return program


async def ask(hub: ProjectHub, client: Client, method: str, *, server: str | None = "s", **params: Any) -> Any:
    request = Envelope(method=method, params=dump(params))
    return opened(await hub.parts.router.answer(exchange_of(request, client, server=server)))


def asked_of(hub: ProjectHub, method: str) -> list[tuple[str, Any]]:
    """For which project a copy runs that was asked this, and the parameters."""
    return [(Path(each.copy.launch.args[1]).name, each.params) for each in hub.program.asked.all if each.method == method]


async def test_a_log_level_is_told_to_the_copy_of_a_sessions_project_alone(tmp_path: Path) -> None:
    async with project_hub(tmp_path, program=talkative()) as hub:
        one, two = await hub.session(hub.folder("one")), await hub.session(key="2")
        await hub.parts.presenter.set_session_project(two.state.id, hub.folder("two"))
        for client in (one, two):
            await hub.opened(client)
        await ask(hub, two, "logging/setLevel", level="debug")
        await settled()
        assert asked_of(hub, "logging/setLevel") == [("two", {"level": "debug"})]
        await hub.parts.presenter.set_session_project(two.state.id, hub.folder("one"))
        await settled()
        assert asked_of(hub, "logging/setLevel")[1:] == [("one", {"level": "debug"})]


async def test_subscriptions_go_with_a_session_that_turns_to_another_project(tmp_path: Path) -> None:
    async with project_hub(tmp_path, program=talkative()) as hub:
        client = await hub.session(key="1")
        await hub.parts.presenter.set_session_project(client.state.id, hub.folder("one"))
        assert "result" in await ask(hub, client, "resources/subscribe", uri="x:/1")
        await hub.parts.presenter.set_session_project(client.state.id, hub.folder("two"))
        await hub.program.asked.until(lambda: len(asked_of(hub, "resources/subscribe") + asked_of(hub, "resources/unsubscribe")) == 3)
        assert asked_of(hub, "resources/subscribe") == [("one", {"uri": "x:/1"}), ("two", {"uri": "x:/1"})]
        assert asked_of(hub, "resources/unsubscribe") == [("one", {"uri": "x:/1"})]
        news = dump({"uri": "x:/1"})
        connections = {copy.project.name: copy.first.client for copy in hub.server.copies if copy.project}
        hearers = {name: hub.parts.notifications.hearers(each, news)[1] for name, each in connections.items() if each}
        assert hearers == {"one": [], "two": [(client, "x:/1")]}


async def test_subscriptions_of_sessions_without_a_project_go_along_when_a_person_chooses_another_folder(tmp_path: Path) -> None:
    async with project_hub(tmp_path, program=talkative()) as hub:
        client = await hub.session()
        await hub.parts.projects_api.start_for_project("s", hub.folder("one"))
        assert "result" in await ask(hub, client, "resources/subscribe", uri="x:/1")
        await hub.parts.projects_api.start_for_project("s", hub.folder("two"))
        await hub.program.asked.until(lambda: len(asked_of(hub, "resources/subscribe")) == 2)
        assert [project for project, _ in asked_of(hub, "resources/subscribe")] == ["one", "two"]


def uri_of(copy: Copy) -> str:
    folder = copy.launch.args[1]
    return Path(folder).as_uri() if os.path.isabs(folder) else f"file://{folder}"


def with_files() -> ScriptedServer:
    """A server whose resources are those of its project."""
    program = talkative()

    def listed(copy: Any, params: Any) -> Any:
        return {"resources": [{"uri": f"{uri_of(copy)}/a", "name": "a"}]}

    program.handlers["resources/list"] = listed
    program.handlers["resources/templates/list"] = lambda copy, params: {
        "resourceTemplates": [{"uriTemplate": f"{uri_of(copy)}/{{x}}", "name": "t"}]
    }
    return program


async def uris(hub: ProjectHub, client: Client) -> list[str]:
    listed = await ask(hub, client, "resources/list", server=None)
    templates = await ask(hub, client, "resources/templates/list", server=None)
    found = [each["uri"] for each in listed["result"]["resources"]] + [
        each["uriTemplate"] for each in templates["result"]["resourceTemplates"]
    ]
    return [each.removeprefix(f"{hub.root.as_uri()}/") for each in found]


async def test_each_session_is_listed_the_resources_of_its_own_project(tmp_path: Path) -> None:
    others = {"plain": entry("program", args=["", "plain"])}
    async with project_hub(tmp_path, program=with_files(), others=others) as hub:
        one, two = await hub.session(hub.folder("one")), await hub.session(hub.folder("two"))
        nobody = await hub.session()
        await hub.parts.presenter.start_server("plain")
        await hub.opened(one)
        await settled()
        assert await uris(hub, one) == ["one/a", "file://plain/a", "one/{x}", "file://plain/{x}"]
        assert await uris(hub, two) == await uris(hub, nobody) == ["file://plain/a", "file://plain/{x}"]
        hub.parts.heard.all.clear()
        await hub.opened(two)
        assert hub.parts.heard.of(ResourceListChanged) == [ResourceListChanged("s")]
        assert await uris(hub, two) == ["file://plain/a", "two/a", "file://plain/{x}", "two/{x}"]
        assert await uris(hub, one) == ["one/a", "file://plain/a", "one/{x}", "file://plain/{x}"]


async def test_a_copy_that_lists_no_resources_or_cannot_has_none(tmp_path: Path) -> None:
    async with project_hub(tmp_path, program=with_files()) as hub:
        one, two = await hub.session(hub.folder("one")), await hub.session(hub.folder("two"))
        await hub.opened(one)
        await hub.opened(two)
        await settled()
        hub.program.handlers["resources/list"] = lambda copy, params: error(-32603, "no")
        assert await uris(hub, two) == ["two/{x}"]


async def test_a_copy_without_resources_is_not_asked_for_them(hub: ProjectHub) -> None:
    for name in ("one", "two"):
        await hub.opened(client := await hub.session(hub.folder(name)))
    assert await uris(hub, client) == []
    assert asked_of(hub, "resources/list") == []
