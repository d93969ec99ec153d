"""registry_client.py: a registry is read page by page, and whatever it answers is bounded and named."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.fakes.mcp_registry import (
    FakeMcpRegistry,
    Handler,
    answers,
    answers_text,
    cut_off,
    listening_registry,
    never_ends,
    redirects,
    server,
)

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.discovery import registry_client
from tooltray.sources.discovery.registry_client import Page, RegistryClient

NAMES = ["a/one", "a/two", "a/three", "b/four", "b/five"]


@contextlib.asynccontextmanager
async def asking(registry: FakeMcpRegistry, **options: Any) -> AsyncIterator[RegistryClient]:
    options = {"environ": {}, "trust": ssl.create_default_context(), "retries_after_s": (0.0,), **options}
    async with listening_registry(registry), RegistryClient(registry.url, **options) as client:
        yield client


def filled() -> FakeMcpRegistry:
    registry = FakeMcpRegistry()
    for name in NAMES:
        registry.put(server(name))
    return registry


async def pages(client: RegistryClient, **options: Any) -> list[Page]:
    return [page async for page in client.pages(**options)]


async def test_all_pages_are_read_to_the_end() -> None:
    registry = filled()
    async with asking(registry) as client:
        read = await pages(client)
    assert [len(page.items) for page in read] == [2, 2, 1]
    assert [path for path, _ in registry.asked] == [
        "/v0.1/servers?limit=100&version=latest",
        "/v0.1/servers?limit=100&version=latest&cursor=2",
        "/v0.1/servers?limit=100&version=latest&cursor=4",
    ]
    assert registry.asked[0][1]["User-Agent"].startswith("tooltray/")


async def test_changes_are_asked_for_from_a_moment_on_and_nothing_is_sent_twice() -> None:
    registry = filled()
    async with asking(registry) as client:
        (first,) = await pages(client, since=registry.updated["b/five"])
        assert len(first.items) == 1
        (second,) = await pages(client, since=registry.updated["b/five"], before=first)
        assert (second.items, second.is_unchanged, second.etag) == ((), True, first.etag)
        assert (await pages(client, before=first))[0].items
    assert "If-None-Match" not in registry.asked[0][1]
    assert registry.asked[1][1]["If-None-Match"] == first.etag


async def test_a_registry_with_dates_alone_is_asked_with_them() -> None:
    registry = filled()
    registry.has_etags = False
    async with asking(registry) as client:
        (page,) = await pages(client, since="2026-01-01T00:00:05")
        await pages(client, since="2026-01-01T00:00:05", before=Page(address=page.address, modified="yesterday"))
    assert page.etag == ""
    assert registry.asked[1][1]["If-Modified-Since"] == "yesterday"


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (answers({}, status=403), "HTTP 403"),
        (answers({}, status=404), "has no list of servers"),
        (answers({"servers": 3}), "is not a list of servers"),
        (answers_text("<html>"), "a web page"),
        (redirects("https://elsewhere.example/v0.1/servers"), "redirects to elsewhere.example"),
    ],
)
async def test_answers_that_are_none_are_named(handler: Handler, why: str) -> None:
    registry = filled()
    registry.on_list = [handler]
    async with asking(registry) as client:
        with pytest.raises(TooltrayError, match=why):
            await pages(client)
    assert len(registry.asked) == 1


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (answers({}, status=500), "HTTP 500"),
        (answers_text('{"servers": ['), "cut off"),
        (answers_text('{"x":' * 100_000), "cut off"),
        (cut_off(), "registry of servers"),
    ],
)
async def test_what_may_pass_is_asked_for_again_once(handler: Handler, why: str) -> None:
    registry = filled()
    registry.on_list = [handler] if why != "cut off" else []
    async with asking(registry) as client:
        assert len(await pages(client)) == 3
        registry.on_list = [handler, handler]
        with pytest.raises(TooltrayError, match=why):
            await pages(client)


async def test_a_slow_answer_is_given_up() -> None:
    registry, event = filled(), asyncio.Event()
    registry.on_list = [never_ends(event), never_ends(event)]
    async with asking(registry, page_limit_s=0.05) as client:
        with pytest.raises(TooltrayError, match=r"no whole answer within 0\.05 s"):
            await pages(client)
        event.set()


async def test_a_list_that_goes_in_circles_or_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = filled()
    item = {"server": server("a/b")}
    registry.on_list = [answers({"servers": [item], "metadata": {"next_cursor": "again"}}) for _ in range(5)]
    async with asking(registry) as client:
        with pytest.raises(TooltrayError, match="does not end"):
            await pages(client)
        monkeypatch.setattr(registry_client, "MAX_PAGES", 2)
        registry.on_list = [answers({"servers": [item], "metadata": {"nextCursor": str(number)}}) for number in range(5)]
        with pytest.raises(TooltrayError, match="does not end"):
            await pages(client)
        monkeypatch.setattr(registry_client, "MAX_PAGE_BYTES", 10)
        registry.on_list = []
        with pytest.raises(TooltrayError, match="larger than"):
            await pages(client)


async def test_redirects_within_the_registry_are_followed_and_circles_are_not() -> None:
    registry = filled()
    registry.on_list = [redirects("/v0.1/servers?limit=100&version=latest")]
    async with asking(registry) as client:
        assert len(await pages(client)) == 3
        registry.on_list = [redirects("/v0.1/servers")] * 3
        with pytest.raises(TooltrayError, match="in a circle"):
            await pages(client)


async def test_one_version_of_one_server_is_asked_for() -> None:
    registry = filled()
    async with asking(registry) as client:
        assert b'"a/one"' in (await client.version("a/one", "1.0.0") or b"")
        assert await client.version("a/one", "9+b c/d") is None
    assert [path for path, _ in registry.asked] == ["/v0.1/servers/a%2Fone/versions/1.0.0", "/v0.1/servers/a%2Fone/versions/9+b%20c%2Fd"]


async def test_without_a_registry_or_a_usable_proxy_it_says_so() -> None:
    trust = ssl.create_default_context()
    async with RegistryClient("http://127.0.0.1:9", environ={}, trust=trust, retries_after_s=()) as client:
        with pytest.raises(TooltrayError, match="refused"):
            await pages(client)
    async with RegistryClient("https://r.example", environ={"https_proxy": "socks5://127.0.0.1:9"}, trust=trust) as client:
        with pytest.raises(TooltrayError, match="socks5"):
            await pages(client)
