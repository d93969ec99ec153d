"""project_sources.py: on which project a session works."""

import asyncio
import base64
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.file_hub import file_hub
from tests.fakes.full_disk import full_disk
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, opened, settled
from tests.fakes.hub_parts import entry as entry_of
from tests.fakes.project_hub import ProjectHub, project_hub
from tests.fakes.scripted_server import ScriptedServer, tool
from tests.portable import absolute

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals.asked_call import ONCE
from tooltray.consent.approvals.question_snapshots import FIELD
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, SessionListChanged
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol import eras
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, dump, failure, success
from tooltray.protocol.sessions.session_state import KEPT_FOR_S, SessionState, SessionStates
from tooltray.sources.projects.project_sources import ANSWER_WAIT_S, COUNTS_FOR_S, MOST_ROOTS, ProjectFolders, ProjectSources
from tooltray.sources.projects.projects import UNCALLED_S

ROOTS = {"roots": {"listChanged": True}}


def roots(*folders: str, **more: Any) -> dict[str, Any]:
    return {"roots": [{"uri": Path(folder).as_uri(), **more} for folder in folders]}


async def with_roots(hub: ProjectHub, answer: Any, folder: str = "") -> Client:
    """A legacy client that has said that it is ready."""
    client = await hub.session(folder, capabilities=ROOTS, answer=answer)
    hub.parts.session_clients.take_roots(client)
    await hub.parts.projects.settle(client)
    return client


async def test_the_folder_in_which_the_bridge_was_started_is_the_project(hub: ProjectHub) -> None:
    folder = hub.folder("one")
    client = await hub.session(folder)
    assert client.state.project == SessionProject(folder, "one", "folder")
    assert hub.parts.heard.of(SessionListChanged)


@pytest.mark.posix
async def test_a_link_in_place_of_the_folder_in_which_the_bridge_was_started_is_not_followed(hub: ProjectHub) -> None:
    folder = hub.folder("one")
    (hub.root / "link").symlink_to(folder)
    client = await hub.session(str(hub.root / "link"))
    assert client.state.project is None
    assert f"it has become a link, and leads to '{folder}'" in hub.parts.projects.sources.refusal(client.state)


@pytest.mark.parametrize("folder", [absolute(), "relative", absolute("no", "such", "folder")])
async def test_a_folder_that_may_not_be_a_project_is_none_and_why_is_known(hub: ProjectHub, folder: str) -> None:
    client = await hub.session(folder)
    assert client.state.project is None


async def test_a_folder_becomes_the_project_once_a_person_allows_it(hub: ProjectHub) -> None:
    hidden = hub.parts.home.root / "person/.client"
    hidden.mkdir(parents=True)
    client = await hub.session(str(hidden))
    assert client.state.project is None
    await hub.parts.folders.allow(str(hidden))
    await hub.parts.projects.settle(client)
    assert client.state.project == SessionProject(str(hidden.resolve()), ".client", "folder")


async def test_the_first_root_that_may_be_a_project_goes_before_the_folder(hub: ProjectHub) -> None:
    one, two, own = hub.folder("one with spaces"), hub.folder("two"), hub.folder("own")
    client = await with_roots(hub, roots(absolute(), one, two, name="Name"), own)
    assert client.state.project == SessionProject(one, "Name", "roots")
    assert client.state.roots == (one, two)
    assert (await hub.parts.projects.reported(client.state, "", two)).started == ("s",)  # a root is allowed
    assert client.state.project == SessionProject(two, "two", "feedback")


async def test_other_roots_are_another_project_and_none_are_none(hub: ProjectHub) -> None:
    own = hub.folder("own")
    client = await with_roots(hub, roots(hub.folder("one")), own)
    for answer, expected in ((roots(hub.folder("two")), hub.folder("two")), ({"roots": []}, own)):
        client.answer = answer
        hub.parts.session_clients.take_roots(client)
        await hub.parts.projects.settle(client)
        assert client.state.project
        assert client.state.project.path == expected


async def test_an_old_answer_that_comes_late_does_not_count(hub: ProjectHub) -> None:
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


async def test_a_client_that_declares_no_roots_is_not_asked(hub: ProjectHub) -> None:
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


async def test_a_folder_that_is_looked_at_twice_at_once_is_waited_for_until_both_have_ended(hub: ProjectHub) -> None:
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
async def test_an_answer_that_names_no_folder_is_no_project(hub: ProjectHub, answer: Envelope | dict[str, Any]) -> None:
    client = await with_roots(hub, answer)
    assert (client.state.project, client.state.roots) == (None, ())


async def test_of_very_many_roots_the_first_are_looked_at(hub: ProjectHub) -> None:
    client = await with_roots(hub, roots(*[absolute("no")] * MOST_ROOTS, hub.folder("late")))
    assert client.state.project is None


async def test_a_call_waits_for_the_roots_that_are_being_asked_for(hub: ProjectHub) -> None:
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


ROOTS_META = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"roots": {}, "elicitation": {"form": {}}}}


async def ask(parts: HubParts, client: Client, name: str, *, method: str = "tools/call", server: str | None = None, **params: Any) -> Any:
    """One request of a modern client that declares roots."""
    request = Envelope(id=dump(1), method=method, params=dump({"name": name, "_meta": ROOTS_META, **params}))
    return opened(await parts.router.answer(exchange_of(request, client, server=server)))


def state_of(reply: Any) -> str:
    """With which a client that is asked for its roots, and for nothing else, is to call again."""
    assert reply["result"]["resultType"] == "input_required"
    assert [each["method"] for each in reply["result"]["inputRequests"].values()] == ["roots/list"]
    return str(reply["result"]["requestState"])


async def answered(parts: HubParts, client: Client, name: str, folder: str, **params: Any) -> Any:
    """The same call, whose client works in a folder and says so."""
    asked = await ask(parts, client, name, **params)
    again = {"inputResponses": {"roots": roots(folder)}, "requestState": state_of(asked)}
    return await ask(parts, client, name, **{**params, **again})


async def up(hub: ProjectHub, server: str) -> None:
    """A server runs, and its tools are known."""
    await hub.parts.presenter.start_server(server)
    await hub.parts.listed()


async def up_in(hub: ProjectHub, name: str) -> None:
    """The same of the server that starts for a project, by a client that works on one."""
    await hub.opened(await hub.session(hub.folder(name)))


async def over_http(hub: ProjectHub, key: Any = None) -> Client:
    """One request that stands for itself. `key`: what it has in common with others of its client; None: nothing."""
    client = await hub.session(is_lasting=False, key=key)
    client.state.is_passing = key is None
    return client


async def test_a_call_over_http_goes_to_the_copy_of_the_folder_that_its_client_declares(hub: ProjectHub) -> None:
    one, two = hub.folder("one"), hub.folder("two")
    await up_in(hub, "first")
    for folder in (one, two, one):
        reply = await answered(hub.parts, await over_http(hub), "work", folder)
        assert "content" in reply["result"]
    args = hub.args()
    assert [any(folder in each for each in args) for folder in (one, two)] == [True, True]
    calls = [asked.copy.launch.args[1] for asked in hub.program.asked.all if asked.method == "tools/call"]
    assert calls == [one, two, one]


async def test_two_windows_with_one_token_never_reach_the_copy_of_the_other(hub: ProjectHub) -> None:
    folders = [hub.folder("one"), hub.folder("two")]
    await up_in(hub, "first")
    windows = [await over_http(hub, "token") for _ in folders]
    go_on = hub.program.hold("initialize")  # both have answered before either's copy runs
    calls = [
        hub.parts.keeper.spawn(answered(hub.parts, window, "work", folder), name="call")
        for window, folder in zip(windows, folders, strict=True)
    ]
    await hub.program.request("initialize", count=3)
    go_on.set()
    assert all("content" in reply["result"] for reply in await asyncio.gather(*calls))
    assert {asked.copy.launch.args[1] for asked in hub.program.asked.all if asked.method == "tools/call"} == set(folders)


async def test_a_client_of_a_token_is_asked_once_where_no_server_needs_to_know_and_its_lists_have_its_folders_servers(
    tmp_path: Path,
) -> None:
    async with file_hub(tmp_path, servers={"plain": entry_of("program")}) as hub:
        shop = hub.project("shop", files={"command": "other"})
        await hub.session(shop)
        await hub.trusted(shop)
        client = hub.parts.client()
        client.is_lasting, client.state = False, hub.parts.states.connect("token", is_lasting=False)
        before = await hub.listed(client)
        assert "content" in (await answered(hub.parts, client, before[0], shop))["result"]
        later = hub.parts.client()
        later.is_lasting, later.state = False, hub.parts.states.connect("token", is_lasting=False)
        assert later.state.project == SessionProject(shop, "shop", "roots")
        assert set(await hub.listed(later)) > set(before)


async def test_a_request_that_nothing_ties_to_others_is_not_asked_without_a_reason(tmp_path: Path) -> None:
    async with project_hub(tmp_path, deferredStartup=False) as hub:
        await up(hub, "s")
        assert "content" in (await ask(hub.parts, await over_http(hub), "work"))["result"]


@pytest.mark.expected_warnings("waits for a project")
async def test_who_declares_no_roots_or_asks_for_a_list_is_not_asked(hub: ProjectHub) -> None:
    await up_in(hub, "one")
    client = await over_http(hub, "token")
    assert "tools" in (await ask(hub.parts, client, "", method="tools/list"))["result"]
    odd = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"experimental": {"roots": {}}}}
    reply = await ask(hub.parts, client, "work", _meta=odd)
    assert "this AI client has not reported which folder it works on" in reply["error"]["message"]


async def test_an_answer_counts_for_a_while_on_a_connection_that_lasts(hub: ProjectHub) -> None:
    one, two = hub.folder("one"), hub.folder("two")
    client = await hub.session(hub.folder("own"))
    await hub.opened(client)
    await answered(hub.parts, client, "work", one)
    assert "content" in (await ask(hub.parts, client, "work"))["result"]
    assert hub.parts.wheel.expire(COUNTS_FOR_S)
    await answered(hub.parts, client, "work", two)
    assert client.state.project == SessionProject(two, "two", "roots")
    assert client.state.roots == (two,)


async def test_a_bridge_s_client_is_asked_where_its_folder_is_no_project(tmp_path: Path) -> None:
    async with project_hub(tmp_path, deferredStartup=False) as hub:
        one = hub.folder("one")
        at_home = await hub.session("/")
        await up(hub, "s")
        await answered(hub.parts, at_home, "work", one)
        assert at_home.state.project == SessionProject(one, "one", "roots")
        assert "content" in (await ask(hub.parts, await hub.session(one), "work"))["result"]


async def test_what_a_model_has_reported_goes_before_and_is_not_asked_for(hub: ProjectHub) -> None:
    client = await hub.session(hub.folder("one"))
    await hub.parts.projects.reported(client.state, "", hub.folder("one"))
    assert "content" in (await ask(hub.parts, client, "work"))["result"]


@pytest.mark.expected_warnings("waits for a project")
async def test_a_client_without_a_usable_answer_is_asked_once_for_each_call(hub: ProjectHub) -> None:
    await up_in(hub, "one")
    answers: list[dict[str, Any]] = [{}, {"roots": {"roots": "none"}}, {"roots": {"roots": []}}, {"other": roots(hub.folder("one"))}]
    for answer in answers:
        client = await over_http(hub)
        state = state_of(await ask(hub.parts, client, "work"))
        reply = await ask(hub.parts, client, "work", requestState=state, inputResponses=answer)
        assert "this AI client has not reported which folder it works on" in reply["error"]["message"]


async def test_what_a_call_brings_for_its_server_is_there_again_when_the_roots_are_known(tmp_path: Path) -> None:
    program = ScriptedServer(tool("work"), eras=("modern",))
    async with project_hub(tmp_path, program=program) as hub:
        one = hub.folder("one")
        await hub.opened(await hub.session(one), eras.Era.MODERN)
        given = {"requestState": "the server's 😀", "inputResponses": {"q": {"action": "accept"}}}
        assert "content" in (await answered(hub.parts, await over_http(hub), "work", one, **given))["result"]
        params = (await program.call("work")).params
        assert {key: params[key] for key in given} == given
        await answered(hub.parts, await over_http(hub), "work", one)
        assert not given.keys() & (await program.call("work", count=2)).params.keys()


async def test_a_question_of_the_server_itself_is_asked_in_its_own_round(tmp_path: Path) -> None:
    program = ScriptedServer(tool("work"))

    async def asks(copy: Any, params: Any) -> Any:
        return await copy.ask("elicitation/create", {"message": "who?", "requestedSchema": {"type": "object"}})

    program.calls["work"] = asks
    async with project_hub(tmp_path, program=program, autoApprove=["all"]) as hub:
        one, held = hub.folder("one"), hub.parts.client().held
        await hub.opened(await hub.session(one))

        async def request(**params: Any) -> Any:
            client = await over_http(hub)
            client.held = held
            return await ask(hub.parts, client, "work", **params)

        reply = await request()
        reply = await request(requestState=state_of(reply), inputResponses={"roots": roots(one)})
        ((key, question),) = reply["result"]["inputRequests"].items()
        assert question["method"] == "elicitation/create"
        given = {"requestState": reply["result"]["requestState"], "inputResponses": {key: {"action": "decline"}}}
        reply = await request(requestState=state_of(await request(**given)), inputResponses={"roots": roots(one)})
        assert reply["result"]["action"] == "decline"
        assert program.count("tools/call") == 1


@pytest.mark.parametrize("packed", ["!", "e30", base64.b64encode(b"[]").decode(), base64.b64encode(b'{"requestState":1}').decode()])
async def test_a_state_that_the_hub_did_not_make_is_refused(hub: ProjectHub, packed: str) -> None:
    await up_in(hub, "one")
    client = await over_http(hub)
    state = state_of(await ask(hub.parts, client, "work"))
    reply = await ask(hub.parts, client, "work", requestState=state + packed)
    assert reply["error"]["code"] == INVALID_PARAMS


async def test_the_hub_s_own_tools_call_others_so_that_the_folder_is_asked_for_first(tmp_path: Path) -> None:
    async with project_hub(tmp_path, others={"plain": entry_of("program")}) as hub:
        await up_in(hub, "one")
        await up(hub, "plain")
        client = await over_http(hub)
        for name in ("list_servers", "no_such_tool"):
            state_of(await ask(hub.parts, client, name))
        assert "content" in (await ask(hub.parts, client, "work", server="plain"))["result"]
        state_of(await ask(hub.parts, client, "work", server="s"))
        state_of(await ask(hub.parts, client, "a prompt", method="prompts/get"))


async def test_a_client_that_was_forgotten_is_asked_anew(tmp_path: Path) -> None:
    async with project_hub(tmp_path, deferredStartup=False) as hub:
        client = await over_http(hub, "token")
        await up(hub, "s")
        state_of(await ask(hub.parts, client, "work"))
        assert "content" in (await ask(hub.parts, client, "work"))["result"]
        hub.leave(client, "token")
        assert hub.parts.wheel.expire(KEPT_FOR_S)
        state_of(await ask(hub.parts, await over_http(hub, "token"), "work"))


async def test_a_copy_for_a_request_that_nothing_ties_to_others_ends_when_nobody_has_called_it_for_long(tmp_path: Path) -> None:
    now = [0.0]
    async with project_hub(tmp_path, clock=lambda: now[0]) as hub:
        await up_in(hub, "first")
        client = await over_http(hub, "request")
        client.state.is_passing = True
        said = len(hub.parts.heard.of(SessionListChanged))
        await answered(hub.parts, client, "work", hub.folder("one"))
        assert len(hub.parts.heard.of(SessionListChanged)) == said  # nobody hears of such a session
        hub.leave(client, "request")
        assert hub.parts.wheel.expire(KEPT_FOR_S)
        now[0] = 2 * UNCALLED_S
        assert hub.parts.wheel.expire(UNCALLED_S)
        await hub.program.closing.wait()
        assert [args[1] for args in hub.args()] == [hub.folder("first")]


async def test_a_person_s_yes_is_asked_for_after_the_folder_and_counts_for_that_folder(tmp_path: Path) -> None:
    async with project_hub(tmp_path, autoApprove=[]) as hub:
        one, held = hub.folder("one"), hub.parts.client().held
        await up_in(hub, "first")

        async def request(**params: Any) -> Any:
            client = await over_http(hub)
            client.held = held
            return await ask(hub.parts, client, "work", **params)

        asked = await request(requestState=state_of(await request()), inputResponses={"roots": roots(one)})
        ((key, question),) = asked["result"]["inputRequests"].items()
        assert question["method"] == "elicitation/create"
        assert f"Project: {one}" in question["params"]["message"]
        yes = {"action": "accept", "content": {FIELD: ONCE}}
        again = await request(requestState=asked["result"]["requestState"], inputResponses={key: yes})
        reply = await request(requestState=state_of(again), inputResponses={"roots": roots(one)})
        assert "content" in reply["result"]
        assert (await hub.program.call("work")).copy.launch.args[1] == one


class Place:
    """Settings, and a home folder with something in it."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.home = self.folder("people/person")
        self.config = McpConfHelper(root / "settings.json", EventBus())
        self.folders = ProjectFolders(config=self.config, home=self.home)

    def folder(self, name: str) -> str:
        (self.root / name).mkdir(parents=True, exist_ok=True)
        return str(self.root / name)

    async def allow_in_file(self, *folders: object) -> None:
        await self.config.edit(lambda document: document.update(allowedFolders=list(folders)))

    async def is_permitted(self, path: str, *, folder: str = "", roots: tuple[str, ...] = ()) -> bool:
        try:
            return await self.folders.permitted(path, SessionState("s", folder=folder, roots=roots)) == path
        except TooltrayError:
            return False


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    await place.config.load()
    return place


async def test_what_a_person_allows_is_allowed_with_everything_in_it(place: Place) -> None:
    work, inside, beside = place.folder("work"), place.folder("work/in/side"), place.folder("workshop")
    assert not await place.is_permitted(work)
    assert await place.folders.allow(work) == work
    assert await place.folders.allow(f"{inside}/../..") == work
    assert place.folders.allowed() == [work]
    assert [await place.is_permitted(each) for each in (work, inside, beside)] == [True, True, False]


async def test_what_is_never_a_project_cannot_be_allowed(place: Place) -> None:
    for path in ("/", place.home, str(place.root), "relative", f"{place.home}/none"):
        with pytest.raises(TooltrayError):
            await place.folders.allow(path)
    assert place.folders.allowed() == []


async def test_what_somebody_wrote_into_the_settings_allows_no_more_than_a_person_may(place: Place) -> None:
    project = place.folder("people/person/project")
    await place.allow_in_file("/", place.home, "relative", str(place.root))
    assert not await place.is_permitted(project)
    await place.allow_in_file("/", project)
    assert await place.is_permitted(project)


async def test_what_is_in_the_settings_and_is_not_allowed_is_not_listed_and_told(place: Place) -> None:
    await place.allow_in_file("src", place.home, absolute("srv", "not there now"))
    assert place.folders.listed() == [absolute("srv", "not there now")]
    relative, home = place.folders.problems()
    assert relative.title == "'src' is not allowed as a project"
    assert "write the whole path" in relative.message
    assert home.message == "it is the home folder itself, or home folders are in it"


@pytest.mark.posix
async def test_a_link_into_an_allowed_folder_is_where_it_leads(place: Place) -> None:
    work, secret = place.folder("work"), place.folder("secret")
    await place.folders.allow(work)
    os.symlink(secret, f"{work}/link")
    assert not await place.is_permitted(f"{work}/link")
    with pytest.raises(TooltrayError, match="tooltray projects allow"):
        await place.folders.permitted(f"{work}/link", SessionState("s"))


@pytest.mark.posix
async def test_the_very_folder_in_which_the_bridge_was_started_is_allowed_and_nothing_in_it(place: Place) -> None:
    own, inside = place.folder("own"), place.folder("own/inside")
    os.symlink(own, f"{place.root}/link")
    assert await place.is_permitted(own, folder=own)
    assert not await place.is_permitted(own, folder=f"{place.root}/link")  # a bridge tells the real path: somebody has put it there since
    assert not await place.is_permitted(inside, folder=own)
    assert not await place.is_permitted(own, folder=inside)
    assert await place.is_permitted(own, roots=(own,))


@pytest.mark.parametrize("folder", ["", "/", "relative", "/no/such/folder"])
async def test_a_bridge_that_was_started_nowhere_in_particular_allows_nothing(place: Place, folder: str) -> None:
    assert not await place.is_permitted(place.folder("own"), folder=folder)
    with pytest.raises(TooltrayError):
        await place.folders.own_folder(SessionState("s", folder=folder))


async def test_where_programs_keep_their_own_files_is_no_project_unless_a_person_says_so(place: Place) -> None:
    hidden, deep = place.folder("people/person/.client"), place.folder("people/person/.client/deep")
    for folder in (hidden, deep):
        with pytest.raises(TooltrayError, match="programs keep their own files there"):
            await place.folders.own_folder(SessionState("s", folder=folder))
        assert not await place.is_permitted(folder, folder=folder)
    await place.folders.allow(hidden)
    assert await place.folders.own_folder(SessionState("s", folder=deep)) == deep


@pytest.mark.posix
async def test_what_was_allowed_can_be_taken_back_by_any_path_that_leads_there_also_when_it_is_gone(place: Place) -> None:
    work, gone = place.folder("work"), place.folder("gone")
    os.symlink(work, f"{place.root}/link")
    for folder in (work, gone):
        await place.folders.allow(folder)
    os.rmdir(gone)
    assert await place.folders.disallow(f"{place.root}/link") == work
    assert await place.folders.disallow(gone) == gone
    assert place.folders.allowed() == []
    await place.allow_in_file("relative")
    assert await place.folders.disallow("relative") == "relative"


@pytest.mark.parametrize("path", ["", "/x", "a\0b", "/a\0b"])
async def test_what_was_not_allowed_cannot_be_taken_back(place: Place, path: str) -> None:
    with pytest.raises(TooltrayError, match="tooltray projects list"):
        await place.folders.disallow(path)


@pytest.mark.parametrize("odd", ["work", ["/work", 3]])
async def test_a_list_of_allowed_folders_that_cannot_be_read_allows_nothing_and_stays(place: Place, odd: object) -> None:
    await place.config.edit(lambda document: document.update(allowedFolders=odd))
    with pytest.raises(TooltrayError, match="must be a list of texts"):
        await place.folders.allow(place.folder("work"))
    assert (place.folders.allowed(), place.config.document["allowedFolders"]) == ([], odd)


async def test_where_the_settings_cannot_be_written_nothing_is_allowed(place: Place) -> None:
    with full_disk(1), pytest.raises(TooltrayError):
        await place.folders.allow(place.folder("work"))
    assert place.folders.allowed() == []
