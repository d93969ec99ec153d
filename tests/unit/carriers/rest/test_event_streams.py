"""event_streams.py: the hub's events as a stream that can be resumed, and that waits for nobody."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import PATIENCE_S, Record
from tests.fakes.http_hub import OpenResponse

from tooltray.carriers.http_server.answers import KEEPALIVE_S
from tooltray.carriers.rest.event_streams import KEPT_BYTES, KEPT_EVENTS, READ_WITHIN_S, EventStreams
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported, ServerStarted, SessionsChanged
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.event_stream import KEEPALIVE, Event, EventReader

NOW_S = 1_000_000.0


class Reader:
    """A response of which a test decides when it takes more."""

    def __init__(self, *, is_reading: bool = True) -> None:
        self.written: Record[bytes] = Record()
        self.reads = asyncio.Event()
        if is_reading:
            self.reads.set()

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.add(bytes(data))
        await self.reads.wait()

    @property
    def events(self) -> list[Event]:
        return list(EventReader().feed(b"".join(self.written.all)))

    @property
    def told(self) -> list[tuple[str, Any]]:
        return [(event.type, json.loads(event.data)) for event in self.events if event.data]

    async def until_told(self, count: int) -> list[tuple[str, Any]]:
        await self.written.until(lambda: len(self.told) >= count)
        return self.told


def streams(bus: EventBus, *, is_begun: bool = True) -> EventStreams:
    made = EventStreams(bus, clock=lambda: NOW_S)
    if is_begun:
        made.begin()
    return made


async def ids(events: EventStreams, seen: str = "") -> list[str | None]:
    """Those in a stream, up to now."""
    reader = Reader()
    writing = asyncio.get_running_loop().create_task(events.stream(seen)(reader))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait({writing})
    return [event.id for event in reader.events]


@contextlib.asynccontextmanager
async def following(events: EventStreams, seen: str = "", *, reader: Reader | None = None) -> AsyncIterator[tuple[Reader, Any]]:
    reader = reader or Reader()
    writing = asyncio.get_running_loop().create_task(events.stream(seen)(reader))
    await reader.written.wait()
    try:
        yield reader, writing
    finally:
        writing.cancel()
        await asyncio.wait({writing})


async def test_every_event_is_told_by_its_name_with_an_id_and_its_content() -> None:
    bus = EventBus()
    async with following(streams(bus)) as (reader, _):
        bus.publish(ServerStarted("files"))
        bus.publish(ProblemReported(Problem(Phrase("{what} failed", what="it")), "files"))
        assert await reader.until_told(2) == [
            ("ServerStarted", {"serverName": "files"}),
            (
                "ProblemReported",
                {"problem": {"title": "it failed", "message": "", "hint": "", "code": ""}, "server": "files", "project": ""},
            ),
        ]
        start, first, second = (int(event.id or "") for event in reader.events)
        assert (first, second) == (start + 1, start + 2)


async def test_a_stream_ends_before_the_next_event_when_its_token_has_ended() -> None:
    bus, may_read = EventBus(), [True]
    reader = Reader()
    writing = asyncio.get_running_loop().create_task(streams(bus).stream("", lambda: may_read[0])(reader))
    await reader.written.wait()
    bus.publish(ServerStarted("a"))
    await reader.until_told(1)
    may_read[0] = False
    bus.publish(ServerStarted("b"))
    assert await writing is True
    assert [data["serverName"] for _, data in reader.told] == ["a"]


@in_fake_time
async def test_a_stream_in_which_nothing_happens_ends_with_its_token_too() -> None:
    asked: list[bool] = []
    reader = Reader()
    assert await streams(EventBus()).stream("", lambda: asked.append(True) or len(asked) < 2)(reader) is True  # type: ignore[func-returns-value]
    assert KEEPALIVE not in reader.written.all


async def test_who_comes_again_gets_what_was_missed_and_nothing_twice() -> None:
    bus = EventBus()
    events = streams(bus)
    async with following(events) as (reader, _):
        bus.publish(ServerStarted("a"))
        await reader.until_told(1)
        seen = reader.events[-1].id or ""
    bus.publish(ServerStarted("b"))
    async with following(events, seen) as (reader, _):
        bus.publish(ServerStarted("c"))
        assert [data["serverName"] for _, data in await reader.until_told(2)] == ["b", "c"]
    assert await ids(events, seen) == [seen, str(int(seen) + 1), str(int(seen) + 2)]


async def test_who_has_seen_no_event_yet_can_resume_too() -> None:
    bus = EventBus()
    events = streams(bus)
    start = (await ids(events))[0] or ""
    bus.publish(ServerStarted("a"))
    async with following(events, start) as (reader, _):
        assert await reader.until_told(1) == [("ServerStarted", {"serverName": "a"})]


@pytest.mark.parametrize("seen", ["1", "99999999999999999", "-1", "x", "²", "9" * 500, "1000000000000.5"])
async def test_an_id_that_is_not_known_any_more_is_answered_with_a_reset(seen: str) -> None:
    bus = EventBus()
    events = streams(bus)
    bus.publish(ServerStarted("a"))
    async with following(events, seen) as (reader, _):
        bus.publish(ServerStarted("b"))
        assert await reader.until_told(2) == [("reset", {}), ("ServerStarted", {"serverName": "b"})]


async def test_the_last_thousand_events_are_kept_and_no_more() -> None:
    bus = EventBus()
    events = streams(bus)
    start = int((await ids(events))[0] or "")
    for number in range(KEPT_EVENTS + 1):
        bus.publish(SessionsChanged(number))
    async with following(events, str(start)) as (reader, _):
        assert (await reader.until_told(1))[0][0] == "reset"
    async with following(events, str(start + 1)) as (reader, _):
        assert [data["sessionCount"] for _, data in await reader.until_told(KEPT_EVENTS)] == list(range(1, KEPT_EVENTS + 1))


async def test_long_events_are_kept_up_to_a_size_and_one_that_is_longer_is_not() -> None:
    bus = EventBus()
    events = streams(bus)
    start = int((await ids(events))[0] or "")
    for _ in range(3):
        bus.publish(ProblemReported(Problem("x" * (KEPT_BYTES // 2))))
    assert len(await ids(events, str(start + 2))) == 2
    async with following(events, str(start)) as (reader, _):
        assert (await reader.until_told(1))[0][0] == "reset"
    bus.publish(ProblemReported(Problem("x" * KEPT_BYTES)))
    async with following(events, str(start + 3)) as (reader, _):
        assert (await reader.until_told(1))[0][0] == "reset"


async def test_ids_go_on_from_run_to_run_of_the_hub() -> None:
    before, after = EventStreams(EventBus(), clock=lambda: NOW_S), EventStreams(EventBus(), clock=lambda: NOW_S + 5)
    before.begin()
    after.begin()
    seen = (await ids(before))[0] or ""
    async with following(after, seen) as (reader, _):
        assert await reader.until_told(1) == [("reset", {})]


async def test_entries_of_the_settings_are_told_by_name_alone() -> None:
    bus = EventBus()
    async with following(streams(bus)) as (reader, _):
        bus.publish(ConfigChanged({"b": {"env": {"KEY": "hunter2"}}, "a": {}}, ("a",), True))
        assert await reader.until_told(1) == [("ConfigChanged", {"defaultServers": ["a"], "mcpEnabled": True, "mcpServers": ["a", "b"]})]
        assert b"hunter2" not in b"".join(reader.written.all)


async def test_what_is_no_text_in_utf_8_is_told_too() -> None:
    bus = EventBus()
    async with following(streams(bus)) as (reader, _):
        bus.publish(ServerStarted("\udcff"))
        bus.publish(ServerStarted("b\nid: 7"))
        assert [data["serverName"] for _, data in await reader.until_told(2)] == ["\udcff", "b\nid: 7"]


async def test_nothing_is_heard_before_it_begins_and_nothing_after_its_end() -> None:
    bus = EventBus()
    events = streams(bus, is_begun=False)
    assert not bus.is_heard(ServerStarted)
    events.begin()
    events.begin()
    assert bus.is_heard(ServerStarted)
    bus.publish(ServerStarted("a"))
    seen = (await ids(events))[0] or ""
    async with following(events) as (_, writing):
        events.end()
        assert await writing is True
    events.end()
    assert not bus.is_heard(ServerStarted)
    bus.publish(ServerStarted("b"))
    events.begin()
    async with following(events, seen) as (reader, _):
        assert await reader.until_told(1) == [("reset", {})]


async def test_what_switches_the_interface_off_is_not_kept_and_no_event_after_that_is_lost() -> None:
    bus = EventBus()
    events = streams(bus, is_begun=False)
    off = ConfigChanged({}, (), True)
    bus.subscribe(ConfigChanged, lambda event: events.end())
    events.begin()
    bus.publish(off)
    events.begin()
    async with following(events) as (reader, _):
        for name in "abc":
            bus.publish(ServerStarted(name))
        assert [data["serverName"] for _, data in await reader.until_told(3)] == ["a", "b", "c"]


async def test_streams_that_are_ended_can_be_resumed() -> None:
    bus = EventBus()
    events = streams(bus)
    async with following(events) as (reader, writing):
        bus.publish(ServerStarted("a"))
        await reader.until_told(1)
        events.end_streams()
        assert await writing is True
        seen = reader.events[-1].id or ""
    bus.publish(ServerStarted("b"))
    async with following(events, seen) as (reader, _):
        assert await reader.until_told(1) == [("ServerStarted", {"serverName": "b"})]


@in_fake_time
async def test_a_stream_in_which_nothing_happens_shows_that_it_is_there() -> None:
    async with following(streams(EventBus())) as (reader, _):
        began = asyncio.get_running_loop().time()
        for count in (1, 2):
            await reader.written.wait(lambda data: data == KEEPALIVE, count=count)
        assert asyncio.get_running_loop().time() - began == pytest.approx(2 * KEEPALIVE_S)


async def test_who_reads_too_slowly_is_cut_and_learns_it_when_it_comes_again() -> None:
    bus = EventBus()
    events = streams(bus)
    async with following(events, reader=Reader(is_reading=False)) as (reader, writing):
        for number in range(KEPT_EVENTS + 1):
            bus.publish(SessionsChanged(number))
        reader.reads.set()
        assert await writing is False
        assert reader.told == []
    async with following(events, reader.events[-1].id or "") as (reader, _):
        assert (await reader.until_told(1))[0][0] == "reset"


@in_fake_time
async def test_who_reads_nothing_at_all_is_cut_after_a_while() -> None:
    bus = EventBus()
    async with following(streams(bus)) as (reader, writing):
        reader.reads.clear()
        bus.publish(ServerStarted("a"))
        began = asyncio.get_running_loop().time()
        assert await writing is False
        assert asyncio.get_running_loop().time() - began == pytest.approx(READ_WITHIN_S)
    async with following(streams(bus), reader=Reader(is_reading=False)) as (_, writing):
        assert await writing is False


# over HTTP


@contextlib.asynccontextmanager
async def serving(events: EventStreams) -> AsyncIterator[Any]:
    """A server with the stream at `/`; gives what opens it."""
    app = web.Application()
    app.router.add_get("/", events.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    async with aiohttp.ClientSession() as session:

        async def open_stream(headers: Mapping[str, str] | None = None) -> OpenResponse:
            async with asyncio.timeout(PATIENCE_S):
                return OpenResponse(await session.get(url, headers=headers))

        yield open_stream
    await runner.cleanup()


async def test_over_http_a_stream_begins_resumes_and_ends() -> None:
    bus = EventBus()
    events = streams(bus)
    async with serving(events) as open_stream:
        stream = await open_stream()
        assert stream.response.headers["Content-Type"] == "text/event-stream"
        assert "no-cache" in stream.response.headers["Cache-Control"]
        start = await stream.event()
        assert start.retry_ms
        bus.publish(ServerStarted("a"))
        assert json.loads((await stream.event()).data) == {"serverName": "a"}
        events.end_streams()
        await stream.end()
        again = await open_stream({"Last-Event-ID": start.id or ""})
        assert not (await again.event()).data
        event = await again.event()
        assert (event.type, json.loads(event.data)) == ("ServerStarted", {"serverName": "a"})
        again.close()


async def test_over_http_who_is_cut_loses_the_connection() -> None:
    bus = EventBus()
    events = streams(bus)
    async with serving(events) as open_stream:
        stream = await open_stream()
        await stream.event()
        for number in range(KEPT_EVENTS + 1):  # in one go: the stream has no chance to write
            bus.publish(SessionsChanged(number))
        with pytest.raises(aiohttp.ClientPayloadError):
            await stream.end()
