"""release_client.py: one bounded answer is read, with nothing sent that tells users apart."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping

import pytest
from aiohttp import web
from tests.fakes.mcp_registry import Handler, answers, answers_text, never_ends, redirects
from tests.fakes.release_list import FakeReleaseList, listening_list

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.releases.release_client import MOST_BYTES, fetch_releases


@pytest.fixture
async def served() -> AsyncIterator[FakeReleaseList]:
    async with listening_list(FakeReleaseList()) as served:
        yield served


async def fetched(address: str, *, environ: Mapping[str, str] | None = None, within_s: float = 30.0) -> bytes:
    return await fetch_releases(address, environ=environ or {}, trust=ssl.create_default_context(), within_s=within_s)


async def refusal(address: str, **options: float) -> str:
    with pytest.raises(TooltrayError) as refused:
        await fetched(address, **options)
    return refused.value.problem.message


async def test_nothing_is_sent_that_tells_users_apart(served: FakeReleaseList) -> None:
    async def marks(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "/moved.json", "Set-Cookie": "id=7; Path=/", "ETag": '"7"'})

    served.on_request["/releases.json"] = marks
    for _ in range(2):
        assert await fetched(served.address) == b'{"releases": []}'
    for headers in served.asked:
        assert set(headers) == {"Host", "User-Agent", "Accept", "Accept-Encoding"}
        assert headers["User-Agent"] == "tooltray"


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (answers({}, status=404), "HTTP 404"),
        (answers({}, status=500), "HTTP 500"),
        (answers_text("x" * (MOST_BYTES + 1)), "larger than 256 KiB"),
        (redirects("http://mirror.example/releases.json"), "not begin with https"),
        (redirects("ftp://mirror.example/releases.json"), "not begin with https"),
        (redirects("/releases.json"), "in a circle"),
    ],
)
async def test_other_answers_are_refused(served: FakeReleaseList, handler: Handler, why: str) -> None:
    served.on_request["/releases.json"] = handler
    assert why in await refusal(served.address)


async def test_the_largest_list_is_read_whole(served: FakeReleaseList) -> None:
    served.on_request["/releases.json"] = answers_text("x" * MOST_BYTES)
    assert len(await fetched(served.address)) == MOST_BYTES


async def test_a_packed_answer_is_not_unpacked(served: FakeReleaseList) -> None:
    async def packed(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})

    served.on_request["/releases.json"] = packed
    assert await fetched(served.address) == b"\x1f\x8b"


async def test_a_redirect_of_the_same_server_is_followed(served: FakeReleaseList) -> None:
    served.on_request["/releases.json"] = redirects("/moved.json")
    assert await fetched(served.address) == b'{"releases": []}'


async def test_a_slow_answer_is_given_up(served: FakeReleaseList) -> None:
    event = asyncio.Event()
    served.on_request["/releases.json"] = never_ends(event)
    assert await refusal(served.address, within_s=0.05) == "no whole answer within 0.05 s"
    event.set()


async def test_a_server_that_is_away_and_a_proxy_that_cannot_be_used_are_named(served: FakeReleaseList) -> None:
    assert await refusal("http://127.0.0.1:9/releases.json")
    with pytest.raises(TooltrayError, match="a socks5 proxy cannot be used"):
        await fetched("https://releases.invalid/releases.json", environ={"https_proxy": "socks5://127.0.0.1:9"})
