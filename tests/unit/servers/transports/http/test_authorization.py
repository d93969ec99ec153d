"""http_connections.py, http_exchange.py: what HTTP does with what lets requests in."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.http_server import HttpServer, answering, serving

from tooltray.servers.transports.http.certificate_trust import tls_context
from tooltray.servers.transports.http.http_connections import HttpConnection
from tooltray.servers.transports.http.http_failures import ExchangeFailed
from tooltray.servers.transports.transport import NotAuthorized, Refusal

TRUST = tls_context({})


class Pass:
    """
    Attributes:
        held: what is sent.
        next: what a renewal brings; an error is raised, None leaves the refusal as it is.
    """

    def __init__(self, held: str | None = "Bearer old", next: str | Exception | None = "Bearer new") -> None:
        self.held, self.next = held, next
        self.refusals: list[Refusal] = []
        self.is_waiting, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.may_go_on.set()

    async def header(self) -> str | None:
        return self.held

    async def renew(self, refusal: Refusal) -> bool:
        self.refusals.append(refusal)
        self.is_waiting.set()
        await self.may_go_on.wait()
        if isinstance(self.next, Exception):
            raise self.next
        if refusal.is_second or self.next is None:
            return False
        self.held = self.next
        return True


async def get(url: str, authorization: Any, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[int, str]:
    connection = HttpConnection(server="far", url=url, headers=headers, environ={}, trust=TRUST, authorization=authorization)
    connection.open()
    try:
        async with connection.exchange(method, {}, body) as response:
            return response.status, await response.text()
    finally:
        await connection.close()


def wanting(token: str, status: int = 401, **headers: str) -> Any:
    async def answer(hit: Any) -> web.StreamResponse:
        is_good = hit.headers.get("Authorization") == token
        return web.Response(text=f"{hit.message}") if is_good else web.Response(status=status, text="no", headers=headers)

    return answer


def server_wanting(token: str, **options: Any) -> HttpServer:
    server = HttpServer()
    server.on_get = server.on_delete = server.on["call"] = wanting(token, **options)
    return server


def sent(server: HttpServer) -> list[str | None]:
    return [hit.headers.get("Authorization") for hit in server.hits.all]


async def test_what_lets_in_is_sent_with_each_request() -> None:
    async with serving(server_wanting("Bearer old")) as server:
        access = Pass()
        assert (await get(server.url, access))[0] == 200
        assert (sent(server), access.refusals) == (["Bearer old"], [])


async def test_a_refused_request_is_sent_again_whole_with_what_was_renewed() -> None:
    async with serving(server_wanting("Bearer new", **{"WWW-Authenticate": 'Bearer error="invalid_token"'})) as server:
        access, large = Pass(), '{"method": "call", "id": 1, "params": "' + "x" * 2**20 + '"}'
        assert (await get(server.url, access, "POST", large.encode()))[0] == 200
        assert sent(server) == ["Bearer old", "Bearer new"]
        assert server.hits.all[0].raw == server.hits.all[1].raw == large.encode()
        assert access.refusals == [Refusal(401, 'Bearer error="invalid_token"', "Bearer old", is_second=False)]


async def test_it_is_sent_again_once() -> None:
    async with serving(server_wanting("Bearer other")) as server:
        access = Pass()
        assert await get(server.url, access) == (401, "no")
        assert sent(server) == ["Bearer old", "Bearer new"]
        assert [(refusal.sent, refusal.is_second) for refusal in access.refusals] == [("Bearer old", False), ("Bearer new", True)]


async def test_without_anything_to_send_nothing_is_sent_and_the_refusal_is_told() -> None:
    async with serving(server_wanting("Bearer new", status=403)) as server:
        access = Pass(None)
        assert (await get(server.url, access))[0] == 200
        assert sent(server) == [None, "Bearer new"]
        assert [(refusal.status, refusal.sent) for refusal in access.refusals] == [(403, None)]


async def test_several_challenges_are_told_as_one_text() -> None:
    async def challenge(hit: Any) -> web.StreamResponse:
        response = web.Response(status=401)
        response.headers.add("WWW-Authenticate", "Basic")
        response.headers.add("WWW-Authenticate", "Bearer")
        return response

    async with serving() as server:
        server.on_get, access = challenge, Pass(next=None)
        await get(server.url, access)
        assert access.refusals[0].challenge == "Basic, Bearer"


async def test_a_refusal_that_stands_can_be_read() -> None:
    async with serving(server_wanting("Bearer new")) as server:
        assert await get(server.url, Pass(next=None)) == (401, "no")


@pytest.mark.parametrize("is_temporary", [True, False])
async def test_where_a_person_is_needed_the_exchange_fails_with_the_reason(is_temporary: bool) -> None:
    async with serving(server_wanting("Bearer new")) as server:
        with pytest.raises(ExchangeFailed, match="sign in, please") as failed:
            await get(server.url, Pass(next=NotAuthorized("sign in, please", is_temporary=is_temporary)))
        assert failed.value.is_unreachable is is_temporary


async def test_a_goodbye_renews_nothing() -> None:
    async with serving(server_wanting("Bearer new")) as server:
        access = Pass()
        assert (await get(server.url, access, "DELETE"))[0] == 401
        assert (sent(server), access.refusals) == (["Bearer old"], [])


async def test_other_answers_renew_nothing() -> None:
    async with serving() as server:
        server.on_get, access = answering(500), Pass()
        assert (await get(server.url, access))[0] == 500
        assert access.refusals == []


async def test_what_lets_in_never_follows_to_another_server() -> None:
    async with serving() as elsewhere, serving() as server:
        server.on_get = answering(307, "", Location=elsewhere.url)
        with pytest.raises(ExchangeFailed, match="redirects"):
            await get(server.url, Pass())
        assert elsewhere.hits.all == []


async def test_who_gives_up_while_something_is_renewed_leaves_no_open_answer() -> None:
    async with serving(server_wanting("Bearer new")) as server:
        access = Pass()
        access.may_go_on.clear()
        asking = asyncio.ensure_future(get(server.url, access))
        await access.is_waiting.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


def test_what_was_sent_does_not_show() -> None:
    assert "dummy" not in repr(Refusal(401, "Bearer", "Bearer dummy", is_second=False))
