"""project_sources.py: what a session's client brings along says on which project it works."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import Client, settled
from tests.fakes.project_hub import ProjectHub, project_hub
from tests.portable import absolute

from tooltray.foundation.events import EventBus, SessionListChanged
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import Envelope, failure, success
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.sources.projects.project_sources import ANSWER_WAIT_S, MOST_ROOTS, ProjectSources

ROOTS = {"roots": {"listChanged": True}}


def roots(*folders: str, **more: Any) -> dict[str, Any]:
    return {"roots": [{"uri": Path(folder).as_uri(), **more} for folder in folders]}


async def with_roots(hub: ProjectHub, answer: Any, folder: str = "") -> Client:
    """A legacy client that has said that it is ready."""
    client = await hub.session(folder, capabilities=ROOTS, answer=answer)
    hub.parts.session_clients.take_roots(client)
    await hub.parts.projects.settle(client)
    return client


async def test_the_folder_in_which_the_bridge_was_started_is_the_project(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        folder = hub.folder("one")
        client = await hub.session(folder)
        assert client.state.project == SessionProject(folder, "one", "folder")
        assert hub.parts.heard.of(SessionListChanged)


@pytest.mark.posix
async def test_a_link_in_place_of_the_folder_in_which_the_bridge_was_started_is_not_followed(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        folder = hub.folder("one")
        (hub.root / "link").symlink_to(folder)
        client = await hub.session(str(hub.root / "link"))
        assert client.state.project is None
        assert f"it has become a link, and leads to '{folder}'" in hub.parts.projects.sources.refusal(client.state)


@pytest.mark.parametrize("folder", [absolute(), "relative", absolute("no", "such", "folder")])
async def test_a_folder_that_may_not_be_a_project_is_none_and_why_is_known(tmp_path: Path, folder: str) -> None:
    async with project_hub(tmp_path) as hub:
        client = await hub.session(folder)
        assert client.state.project is None


async def test_a_folder_becomes_the_project_once_a_person_allows_it(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        hidden = hub.parts.home.root / "person/.client"
        hidden.mkdir(parents=True)
        client = await hub.session(str(hidden))
        assert client.state.project is None
        await hub.parts.project_choices.allow(str(hidden))
        await hub.parts.projects.settle(client)
        assert client.state.project == SessionProject(str(hidden.resolve()), ".client", "folder")


async def test_the_first_root_that_may_be_a_project_goes_before_the_folder(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        one, two, own = hub.folder("one with spaces"), hub.folder("two"), hub.folder("own")
        client = await with_roots(hub, roots(absolute(), one, two, name="Name"), own)
        assert client.state.project == SessionProject(one, "Name", "roots")
        assert client.state.roots == (one, two)
        assert (await hub.parts.projects.reported(client.state, "", two)).started == ("s",)  # a root is allowed
        assert client.state.project == SessionProject(two, "two", "feedback")


async def test_other_roots_are_another_project_and_none_are_none(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        own = hub.folder("own")
        client = await with_roots(hub, roots(hub.folder("one")), own)
        for answer, expected in ((roots(hub.folder("two")), hub.folder("two")), ({"roots": []}, own)):
            client.answer = answer
            hub.parts.session_clients.take_roots(client)
            await hub.parts.projects.settle(client)
            assert client.state.project
            assert client.state.project.path == expected


async def test_an_old_answer_that_comes_late_does_not_count(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        late = asyncio.Event()
        old, new = hub.folder("old"), hub.folder("new")
        client = await hub.session(capabilities=ROOTS)

        async def answer(method: str) -> Any:
            if len(client.asked.all) > 1:
                return roots(new)
            await late.wait()
            return roots(old)

        client.answer = answer
        hub.parts.session_clients.take_roots(client)
        await client.asked.wait()
        hub.parts.session_clients.take_roots(client)
        await client.asked.wait(count=2)
        await hub.parts.heard.until(lambda: client.state.project is not None)
        late.set()
        await hub.parts.projects.settle(client)
        assert (client.state.project, client.state.roots) == (SessionProject(new, "new", "roots"), (new,))


async def test_a_client_that_declares_no_roots_is_not_asked(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        client = await hub.session()
        hub.parts.session_clients.take_roots(client)
        assert hub.parts.projects.is_settled(client)
        assert client.asked.all == []


async def test_a_client_without_a_folder_is_asked_also_where_no_server_waits_for_a_project(tmp_path: Path) -> None:
    async with project_hub(tmp_path, deferredStartup=False) as hub:
        folder = hub.folder("one")
        for given in ("", str(tmp_path / "no such folder")):
            client = await with_roots(hub, roots(folder), given)
            assert client.state.project == SessionProject(folder, "one", "roots")


async def test_a_folder_that_is_looked_at_twice_at_once_is_waited_for_until_both_have_ended(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        client = await hub.session(hub.folder("one"))
        sources = hub.parts.projects.sources
        for _ in range(2):
            sources.look_at_folder(client.state)
        await sources.looked(client.state)
        await hub.parts.projects.settle(client)
        await sources.looked(client.state)
        assert client.state.project == SessionProject(hub.folder("one"), "one", "folder")


async def test_a_client_whose_folder_is_its_project_is_asked_once_some_server_needs_to_know(tmp_path: Path) -> None:
    async with project_hub(tmp_path, deferredStartup=False) as hub:
        folder = hub.folder("one")
        client = await with_roots(hub, roots(folder), hub.folder("own"))
        assert client.asked.all == []
        assert not hub.parts.projects.is_settled(client)
        await hub.parts.presenter.set_deferred("s", True)
        assert await hub.opened(client)
        assert (client.state.roots, len(client.asked.all)) == ((folder,), 1)


@pytest.mark.parametrize(
    "answer",
    [
        failure(-32603, "no"),
        success({}),
        success({"roots": "x"}),
        success([]),
        {"roots": [{"uri": "https://example.com/a"}]},
        {"roots": [{"uri": "file://server/share"}]},
        {"roots": [{"uri": "file:///a%00b"}]},
        {"roots": [{"name": "no uri"}]},
    ],
)
async def test_an_answer_that_names_no_folder_is_no_project(tmp_path: Path, answer: Envelope | dict[str, Any]) -> None:
    async with project_hub(tmp_path) as hub:
        client = await with_roots(hub, answer)
        assert (client.state.project, client.state.roots) == (None, ())


async def test_of_very_many_roots_the_first_are_looked_at(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        client = await with_roots(hub, roots(*[absolute("no")] * MOST_ROOTS, hub.folder("late")))
        assert client.state.project is None


async def test_a_call_waits_for_the_roots_that_are_being_asked_for(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        answered, folder = asyncio.Event(), hub.folder("one")

        async def answer(method: str) -> Any:
            await answered.wait()
            return roots(folder)

        client = await hub.session(hub.folder("own"), capabilities=ROOTS, answer=answer)
        await hub.opened(client)  # before it said that it is ready
        hub.parts.session_clients.take_roots(client)
        assert not hub.parts.projects.is_settled(client)
        opening = hub.parts.keeper.spawn(hub.opened(client), name="open")
        await client.asked.wait()
        await settled()
        assert len(hub.program.copies.all) == 1
        answered.set()
        await opening
        assert [args[1] for args in hub.args()] == [hub.folder("own"), folder]


@in_fake_time
async def test_a_client_that_never_answers_is_given_up() -> None:
    spawn = TaskKeeper().spawn
    bus = EventBus()
    states = SessionStates(bus=bus, deadlines=DeadlineWheel())
    sources = ProjectSources(folders=None, states=states, spawn=spawn, is_wanted=lambda: True, bus=bus)  # type: ignore[arg-type]
    never = asyncio.get_running_loop().create_future()

    async def answer(method: str) -> Any:
        return await never

    client = Client(capabilities=ROOTS, answer=answer)
    sources.ask(client)
    sources.ask(client)  # its roots have changed meanwhile
    began = asyncio.get_running_loop().time()
    await sources.settle(client)
    await settled()
    assert asyncio.get_running_loop().time() - began == pytest.approx(ANSWER_WAIT_S)
    assert sources.is_settled(client)
    assert client.state.project is None


async def test_why_sessions_have_no_project_is_forgotten_with_them(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        gone = await hub.session("/", key="gone")
        states = [gone.state, *[(await hub.session("/")).state for _ in range(MOST_ROOTS)]]
        hub.leave(gone, "gone")
        hub.parts.wheel.expire(600.0)
        await hub.session()
        sources = hub.parts.projects.sources
        assert [bool(sources.refusal(state)) for state in states[:2]] == [False, True]
