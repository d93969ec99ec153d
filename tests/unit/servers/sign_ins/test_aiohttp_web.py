"""Questions to authorization servers over HTTP: small, soon, and to nobody but who was meant."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.authorization_server import AuthorizationServer, Shown, authorizing, breaks_off, browse, hangs, leads_to, says
from tests.fakes.fake_clock import in_fake_time
from yarl import URL

from tooltray.servers.sign_ins.addresses import Reach
from tooltray.servers.sign_ins.aiohttp_web import MAX_ANSWER_BYTES, TIMEOUT_S, AiohttpWebClient, NearnessResolver
from tooltray.servers.sign_ins.server_access import make_web_client
from tooltray.servers.sign_ins.web_requests import NoResponse
from tooltray.servers.transports.http.certificate_trust import tls_context


@asynccontextmanager
async def asking(environ: dict[str, str] | None = None, **answers: Any) -> AsyncIterator[tuple[AuthorizationServer, AiohttpWebClient]]:
    async with authorizing() as server:
        server.answers |= {f"/{name}": answer for name, answer in answers.items()}
        yield server, await make_web_client(environ or {})


async def test_a_document_is_got() -> None:
    async with asking(a=says({"x": 1})) as (server, asks):
        answer = await asks.get(f"{server.origin}/a?y=2")
        assert (answer.status, answer.document(), answer.is_good) == (200, {"x": 1}, True)
        asked = server.asked.all[0]
        assert (asked.method, asked.fields, asked.headers["Accept"]) == ("GET", {"y": "2"}, "application/json")


async def test_a_form_and_a_document_are_sent() -> None:
    async with asking(a=says({}, 201), b=says({}, 400)) as (server, asks):
        assert (await asks.post(f"{server.origin}/a", form={"x": "ä &"}, headers={"Authorization": "Basic x"})).status == 201
        assert (await asks.post(f"{server.origin}/b", document={"x": [1]})).status == 400
        form, document = server.asked.all
        assert (form.fields, form.headers["Authorization"]) == ({"x": "ä &"}, "Basic x")
        assert document.document == {"x": [1]}


async def test_a_question_is_led_on_within_its_server_and_not_to_another() -> None:
    async with asking() as (server, asks), authorizing() as other:
        server.answers |= {
            "/a": leads_to("/b", 308),
            "/b": says({"x": 1}),
            "/far": leads_to(f"{other.origin}/x"),
            "/odd": leads_to("http://["),
        }
        assert (await asks.get(f"{server.origin}/a")).document() == {"x": 1}
        assert (await asks.get(f"{server.origin}/far")).status == 302
        assert (await asks.get(f"{server.origin}/odd")).status == 302
        assert other.asked.all == []


async def test_what_is_sent_is_never_led_on() -> None:
    async with asking(a=leads_to("/b", 307), b=says({})) as (server, asks):
        assert (await asks.post(f"{server.origin}/a", form={"secret": "x"})).status == 307
        assert server.at("/b") == []


async def test_a_circle_is_left() -> None:
    async with asking(a=leads_to("/a")) as (server, asks):
        with pytest.raises(NoResponse, match="circle"):
            await asks.get(f"{server.origin}/a")


async def test_an_endless_answer_is_not_read_to_its_end() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b"x" * 65536)
        return response

    async with asking(a=endless, b=says("x" * MAX_ANSWER_BYTES)) as (server, asks):
        with pytest.raises(NoResponse, match=r"127\.0\.0\.1 is larger than 1 MiB"):
            await asks.get(f"{server.origin}/a")
        assert len((await asks.get(f"{server.origin}/b")).body) == MAX_ANSWER_BYTES


async def test_an_answer_that_breaks_off_is_none() -> None:
    async with asking(a=breaks_off) as (server, asks):
        with pytest.raises(NoResponse, match="closed the connection"):
            await asks.get(f"{server.origin}/a?secret=x")


async def test_nobody_there_is_said_so_without_path_and_query() -> None:
    async with asking() as (server, asks):
        pass
    with pytest.raises(NoResponse, match="was refused") as raised:
        await asks.post(f"{server.origin}/secret/a?secret=x", form={})
    assert "secret" not in raised.value.reason


async def test_the_persons_proxy_is_used_and_a_bad_one_is_said_so() -> None:
    async with asking() as (server, _):
        through = await make_web_client({"http_proxy": server.origin})
        server.answers["/x"] = says({"through": "proxy"})
        assert (await through.get("http://auth.example/x")).document() == {"through": "proxy"}
        odd = await make_web_client({"http_proxy": "socks5://127.0.0.1:1"})
        with pytest.raises(NoResponse, match="a socks5 proxy cannot be used"):
            await odd.get("http://auth.example/x")


Found = dict[str, list[str]]


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> Found:
    """The addresses of names."""
    found: Found = {}

    async def getaddrinfo(_loop: object, host: str, port: int, **_options: object) -> list[Any]:
        if host not in found:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found[host]]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return found


async def test_a_name_that_leads_nearer_than_the_server_is_not_connected_to(resolved: Found) -> None:
    async with asking(a=says({"x": 1})) as (server, _):
        port = URL(server.origin).port
        resolved |= {"auth.example": ["127.0.0.1"], "far.example": ["8.8.8.8"], "inner.example": ["10.0.0.1"]}
        for own_host in ("", "far.example", "inner.example", "unknown.example"):
            web = await make_web_client({}, within=Reach.INTERNET, own_host=own_host)
            for host in ("auth.example", "localhost", "127.0.0.1", "2130706433", "[64:ff9b::7f00:1]"):
                with pytest.raises(NoResponse, match="on this computer or its network"):
                    await web.get(f"http://{host}:{port}/a")
        assert server.asked.all == []
        own = await make_web_client({}, within=Reach.INTERNET, own_host="auth.example")
        assert (await own.get(f"http://auth.example:{port}/a")).document() == {"x": 1}


async def test_of_a_server_on_a_private_network_the_others_there_may_be_asked(resolved: Found) -> None:
    resolved |= {"mcp.corp": ["10.0.0.1"], "sso.corp": ["10.0.0.2", "127.0.0.1"], "far.example": ["8.8.8.8"]}
    near = NearnessResolver(Reach.INTERNET, "mcp.corp")
    assert [each["host"] for each in await near.resolve("sso.corp", 443)] == ["10.0.0.2"]
    far = NearnessResolver(Reach.INTERNET, "far.example")
    with pytest.raises(NoResponse, match="on this computer or its network"):
        await far.resolve("sso.corp", 443)
    chosen = NearnessResolver(Reach.NETWORK, "far.example")  # its user has named the issuer
    assert [each["host"] for each in await chosen.resolve("sso.corp", 443)] == ["10.0.0.2"]


def test_who_does_not_answer_is_waited_for_twenty_seconds_and_no_longer() -> None:
    started: list[float] = []

    @in_fake_time
    async def asked() -> None:
        loop = asyncio.get_running_loop()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        started.append(loop.time())
        try:
            with pytest.raises(NoResponse, match=r"no answer from 127\.0\.0\.1 within 20 s"):
                await AiohttpWebClient(environ={}, trust=tls_context({}), within=Reach.COMPUTER, own_host="").get(
                    f"http://127.0.0.1:{port}/"
                )
        finally:
            server.close()
        assert loop.time() - started[0] == pytest.approx(TIMEOUT_S, abs=1)

    asked()


async def test_who_asks_may_be_told_to_stop() -> None:
    async with asking(a=hangs) as (server, asks):
        asking_it = asyncio.ensure_future(asks.get(f"{server.origin}/a"))
        await server.asked.wait()
        asking_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking_it


async def test_the_browser_of_the_tests_goes_where_it_is_led() -> None:
    async with asking(a=leads_to("/b"), b=says("<h1>there</h1>")) as (server, _):
        assert await browse(f"{server.origin}/a") == Shown(200, "<h1>there</h1>", f"{server.origin}/b")


@pytest.mark.parametrize("url", [f"https://{'a' * 64}.example/", "https://xn--/", "/.well-known/x", "https://[::1/"])
async def test_an_address_that_is_none_has_no_answer(url: str) -> None:
    asks = await make_web_client({})
    with pytest.raises(NoResponse, match="a URL in the metadata"):
        await asks.get(url)
    with pytest.raises(NoResponse, match="a URL in the metadata"):
        await asks.post(url, form={})
