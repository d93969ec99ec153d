"""http_app.py: what is looked at before a request reaches a transport."""

import pytest
from aiohttp import ClientConnectionError
from tests.fakes.http_hub import HttpHub, http_hub, request


async def test_anybody_on_this_machine_may_ask_whether_we_are_there() -> None:
    async with http_hub(tokens={}) as hub:
        answer = await hub.ask("GET", "/healthz")
        assert (answer.status, answer.json) == (200, {"status": "ok"})
        assert (await hub.ask("GET", "/healthz", headers={"Host": "evil.example"})).status == 403


@pytest.mark.parametrize("path", ["/", "/mcp//", "/servers", "/servers/files", "/api/mcp"])
async def test_other_paths_lead_nowhere(hub: HttpHub, path: str) -> None:
    assert (await hub.ask("GET", path)).status == 404


@pytest.mark.parametrize("path", ["/mcp/", "/servers/files/mcp/"])
async def test_a_slash_at_the_end_of_an_address_makes_no_difference(hub: HttpHub, path: str) -> None:
    assert (await hub.ask("PUT", path)).status == (await hub.ask("PUT", path[:-1])).status == 405


@pytest.mark.parametrize("path", ["/servers/nobody/mcp", "/servers/nobody/sse", "/servers/nobody/messages"])
async def test_a_server_that_is_not_there_is_not_found(hub: HttpHub, path: str) -> None:
    assert (await hub.ask("GET" if path.endswith("sse") else "POST", path)).status == 404


async def test_a_message_that_cannot_be_read_is_noted_and_a_wrong_method_is_not() -> None:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    async with http_hub() as hub:
        await hub.ask("PUT")
        await hub.ask("POST", data=b"nonsense", headers=headers)
        assert [(id, error["code"]) for id, error in hub.clients.refusals] == [(b"", -32700)]


async def test_a_method_that_there_is_not_is_told_with_those_that_are(hub: HttpHub) -> None:
    answer = await hub.ask("PUT")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, POST, DELETE")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
async def test_pages_and_places_of_others_are_kept_out(hub: HttpHub, headers: dict[str, str]) -> None:
    assert (await hub.post(request("initialize", protocolVersion="2025-11-25"), headers=headers)).status == 403
    assert not hub.clients.opened


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Bearer", "Basic right", ""])
async def test_without_a_token_nothing_is_opened_and_the_wrong_one_is_not_repeated(authorization: str | None) -> None:
    async with http_hub(tokens={"right": "one"}) as hub:
        headers = {} if authorization is None else {"Authorization": authorization}
        answer = await hub.post(request("initialize", protocolVersion="2025-11-25"), headers=headers)
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert b"wrong" not in answer.body
        assert not hub.clients.opened


async def test_a_token_in_the_query_opens_nothing() -> None:
    async with http_hub(tokens={"right": "one"}) as hub:
        assert (await hub.post(request("initialize"), path="/mcp?token=right&access_token=right")).status == 401


async def test_when_the_hub_ends_nobody_is_let_in_and_what_is_open_goes_on(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("hang"), session=session)
    await response.event()
    await hub.app.stop_taking()
    await hub.app.stop_taking()
    with pytest.raises(ClientConnectionError):
        await hub.post(request("echo", id=2), session=session)
    hub.clients.go.set()
    assert (await response.message())["result"] == {"went": True}


async def test_what_one_client_has_open_is_ended_without_the_others() -> None:
    async with http_hub(tokens={"t1": "one", "t2": "two"}) as hub:
        mine, other = {"Authorization": "Bearer t1"}, {"Authorization": "Bearer t2"}
        first, second = await hub.initialize(headers=mine), await hub.initialize(headers=other)
        await hub.app.endpoints.end_of("one", "gone", grace_s=0)
        assert (await hub.post(request("echo"), session=first, headers=mine)).status == 404
        assert (await hub.post(request("echo"), session=second, headers=other)).status == 200


async def test_a_client_that_does_not_read_does_not_keep_the_hub_from_ending(hub: HttpHub) -> None:
    session = await hub.initialize()
    response = await hub.post_open(request("big", size=50_000_000), session=session)
    await hub.app.close()
    response.close()
