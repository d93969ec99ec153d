"""download.py: bounded, over https or from this computer, each redirection looked at."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.bundles import download as module
from tooltray.sources.bundles.download import download


@asynccontextmanager
async def site() -> AsyncIterator[str]:
    async def whole(request: web.Request) -> web.Response:
        return web.Response(body=b"x" * 1000)

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(50):
            await response.write(b"x" * 1000)
        return response

    async def silent(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "10"})
        await response.prepare(request)
        await response.write(b"x")
        assert request.transport
        request.transport.close()
        return response

    async def lead(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": request.query["to"]})

    app = web.Application()
    app.add_routes([web.get("/whole", whole), web.get("/endless", endless), web.get("/cut", silent), web.get("/lead", lead)])
    runner = web.AppRunner(app)
    await runner.setup()
    await (at := web.TCPSite(runner, "127.0.0.1", 0)).start()
    try:
        yield f"http://127.0.0.1:{at._server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
    finally:
        await runner.cleanup()


async def fetched(url: str, most_bytes: int = 10_000) -> bytes:
    found = bytearray()

    def take(data: bytes) -> None:
        found.extend(data)
        if len(found) > most_bytes:
            raise TooltrayError("too much")

    await download(url, take, environ={}, most_bytes=most_bytes)
    return bytes(found)


async def test_what_is_at_an_address_is_handed_over_also_behind_a_redirection() -> None:
    async with site() as url:
        assert await fetched(f"{url}/whole") == b"x" * 1000
        assert await fetched(f"{url}/lead?to=/whole") == b"x" * 1000


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/none", "404"),
        ("/endless", "too much"),
        ("/cut", "127.0.0.1"),
        ("/lead?to=/lead%3Fto%3D/whole", None),
        ("/lead?to=http://example.com/a", "over http, anyone in between could replace it"),
        ("/lead?to=file:///etc/passwd", "cannot be used"),
    ],
)
async def test_what_goes_wrong_is_said(path: str, reason: str | None) -> None:
    async with site() as url:
        if reason is None:
            assert await fetched(url + path)
            return
        with pytest.raises(TooltrayError, match=reason):
            await fetched(url + path)


async def test_what_says_it_is_too_large_is_not_begun_and_a_circle_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_REDIRECTS", 0)
    async with site() as url:
        with pytest.raises(TooltrayError, match="MiB"):
            await fetched(f"{url}/whole", most_bytes=999)
        with pytest.raises(TooltrayError, match="circle"):
            await fetched(f"{url}/lead?to=/whole")
        monkeypatch.setattr(module, "TIMEOUT_S", 0.0)
        with pytest.raises(TooltrayError, match="no answer"):
            await fetched(f"{url}/whole")


@pytest.mark.parametrize("url", ["ftp://example.com/a", "https://", "https://[", "http://example.com/a", "http://169.254.169.254/a", "x"])
async def test_other_addresses_are_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be downloaded"):
        await fetched(url)


def test_no_redirection_leads_from_elsewhere_to_this_computer() -> None:
    from yarl import URL

    with pytest.raises(TooltrayError, match="leads to this computer"):
        module.checked_address("http://localhost:8080/a", URL("https://example.com/b"))
    assert module.checked_address("https://cdn.example.com/a", URL("https://example.com/b")).host == "cdn.example.com"
