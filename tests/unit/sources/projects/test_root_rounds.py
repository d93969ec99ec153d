"""root_rounds.py: modern clients are asked for their roots by the results of their calls."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.file_hub import file_hub
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, opened
from tests.fakes.hub_parts import entry as entry_of
from tests.fakes.project_hub import ProjectHub, project_hub
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.consent.approvals.approval_form import FIELD
from tooltray.consent.approvals.asked_call import ONCE
from tooltray.foundation.events import SessionListChanged
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, dump
from tooltray.protocol.sessions.session_state import KEPT_FOR_S
from tooltray.sources.projects.project_copies import UNCALLED_S
from tooltray.sources.projects.root_rounds import COUNTS_FOR_S

ROOTS_META = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"roots": {}, "elicitation": {"form": {}}}}


def roots(*folders: str) -> dict[str, Any]:
    return {"roots": [{"uri": Path(folder).as_uri()} for folder in folders]}


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


async def test_a_call_over_http_goes_to_the_copy_of_the_folder_that_its_client_declares(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        one, two = hub.folder("one"), hub.folder("two")
        await up_in(hub, "first")
        for folder in (one, two, one):
            reply = await answered(hub.parts, await over_http(hub), "work", folder)
            assert "content" in reply["result"]
        args = hub.args()
        assert [any(folder in each for each in args) for folder in (one, two)] == [True, True]
        calls = [asked.copy.launch.args[1] for asked in hub.program.asked.all if asked.method == "tools/call"]
        assert calls == [one, two, one]


async def test_two_windows_with_one_token_never_reach_the_copy_of_the_other(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
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
async def test_who_declares_no_roots_or_asks_for_a_list_is_not_asked(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        await up_in(hub, "one")
        client = await over_http(hub, "token")
        assert "tools" in (await ask(hub.parts, client, "", method="tools/list"))["result"]
        odd = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"experimental": {"roots": {}}}}
        reply = await ask(hub.parts, client, "work", _meta=odd)
        assert "this AI client has not said which folder it works on" in reply["error"]["message"]


async def test_an_answer_counts_for_a_while_on_a_connection_that_lasts(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
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


async def test_what_a_model_has_reported_goes_before_and_is_not_asked_for(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        client = await hub.session(hub.folder("one"))
        await hub.parts.projects.reported(client.state, "", hub.folder("one"))
        assert "content" in (await ask(hub.parts, client, "work"))["result"]


@pytest.mark.expected_warnings("waits for a project")
async def test_a_client_without_a_usable_answer_is_asked_once_for_each_call(tmp_path: Path) -> None:
    async with project_hub(tmp_path) as hub:
        await up_in(hub, "one")
        answers: list[dict[str, Any]] = [{}, {"roots": {"roots": "none"}}, {"roots": {"roots": []}}, {"other": roots(hub.folder("one"))}]
        for answer in answers:
            client = await over_http(hub)
            state = state_of(await ask(hub.parts, client, "work"))
            reply = await ask(hub.parts, client, "work", requestState=state, inputResponses=answer)
            assert "this AI client has not said which folder it works on" in reply["error"]["message"]


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
async def test_a_state_that_the_hub_did_not_make_is_refused(tmp_path: Path, packed: str) -> None:
    async with project_hub(tmp_path) as hub:
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
