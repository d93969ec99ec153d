import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.events import EventBus, LogWritten
from tooltray.foundation.snapshots.activity import START, LogFilter, LogLine, LogPage
from tooltray.servers.logs import protocol_log
from tooltray.servers.logs.protocol_log import KEPT_AFTER_S, ProtocolLog

ALL = LogFilter()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Recorded:
    """A log of messages without servers: tests hand it what passes."""

    def __init__(self) -> None:
        self.bus, self.clock = EventBus(), Clock()
        self.dispatcher = SimpleNamespace(tap=None)
        servers: Any = SimpleNamespace(running_clients=lambda: [SimpleNamespace(name="s", dispatcher=self.dispatcher)])
        self.log = ProtocolLog(servers=lambda: servers, bus=self.bus, clock=self.clock, steady=self.clock)
        self.told: list[str] = []
        self.bus.subscribe(LogWritten, lambda event: self.told.append(event.source))

    def pass_(self, is_ours: bool, message: Any) -> None:
        tap = self.log.tap("s")
        assert tap
        tap(is_ours, message if isinstance(message, bytes) else json.dumps(message).encode())

    def page(self, wanted: LogFilter = ALL, before: str = "", after: str = "", limit: int = 99) -> LogPage:
        return self.log.page("s", wanted, before, after, limit)

    @property
    def lines(self) -> list[LogLine]:
        return list(self.page().lines)


@in_fake_time
async def test_a_request_and_its_reply_are_told_with_the_time_between() -> None:
    recorded = Recorded()
    recorded.log.record("s", 60)
    recorded.pass_(True, {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "query", "arguments": {}}})
    recorded.clock.now += 0.25
    recorded.pass_(False, {"jsonrpc": "2.0", "id": 7, "result": {"content": []}})
    recorded.pass_(False, {"jsonrpc": "2.0", "id": 7, "method": "roots/list"})
    recorded.pass_(True, {"jsonrpc": "2.0", "id": 7, "error": {"code": -1, "message": "no"}})
    recorded.pass_(True, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    recorded.pass_(False, {"jsonrpc": "2.0", "id": 99, "result": {}})
    recorded.pass_(False, {"jsonrpc": "2.0", "id": 98, "error": {"code": -1, "message": "no"}})
    assert [(line.direction, line.text, line.ms, line.level) for line in recorded.lines] == [
        ("out", "tools/call query #7", None, ""),
        ("in", "tools/call query #7", 250.0, ""),
        ("in", "roots/list #7", None, ""),
        ("out", "roots/list #7", 0.0, "error"),
        ("out", "notifications/initialized", None, ""),
        ("in", "result #99", None, ""),
        ("in", "error #98", None, "error"),
    ]
    assert json.loads(recorded.lines[0].detail)["params"]["name"] == "query"


@in_fake_time
async def test_a_large_message_is_cut_and_what_is_none_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_log, "MAX_MESSAGE_BYTES", 60)
    recorded = Recorded()
    recorded.log.record("s", 60)
    recorded.pass_(True, b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"much":"' + b"x" * 500)
    recorded.pass_(False, b"no message at all")
    first, second = recorded.lines
    assert (first.text, first.is_cut, len(first.detail)) == ("tools/list #1", True, 60)
    assert (second.text, second.is_cut, second.detail) == ("?", False, "no message at all")


@in_fake_time
async def test_only_so_many_messages_and_so_many_bytes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_log, "MAX_MESSAGES", 3)
    monkeypatch.setattr(protocol_log, "MAX_WAITING_REQUESTS", 2)
    recorded = Recorded()
    recorded.log.record("s", 60)
    for number in range(5):
        recorded.pass_(True, {"jsonrpc": "2.0", "id": number, "method": "ping"})
    assert [line.text for line in recorded.lines] == ["ping #2", "ping #3", "ping #4"]
    monkeypatch.setattr(protocol_log, "MAX_BYTES", 100)
    recorded.pass_(False, {"jsonrpc": "2.0", "id": 2, "result": {}})
    assert [(line.text, line.ms) for line in recorded.lines][-1] == ("result #2", None)
    recorded.pass_(False, {"jsonrpc": "2.0", "id": 3, "result": {}})
    assert [(line.text, line.ms) for line in recorded.lines][-1] == ("ping #3", 0.0)
    assert recorded.page().total_bytes <= 100


@in_fake_time
async def test_messages_are_paged_filtered_and_followed() -> None:
    recorded = Recorded()
    recorded.log.record("s", 60)
    empty = recorded.page()
    for number in range(6):
        recorded.pass_(True, {"jsonrpc": "2.0", "method": f"notifications/{number}"})
    assert len(recorded.page(after=empty.after).lines) == 6
    assert recorded.page().before == recorded.page(after=START, limit=2).before == ""
    newest = recorded.page(limit=2)
    assert [line.text[-1] for line in newest.lines] == ["4", "5"]
    assert [line.text[-1] for line in recorded.page(before=newest.before, limit=9).lines] == ["0", "1", "2", "3"]
    assert recorded.page(after=newest.after).lines == ()
    recorded.pass_(True, {"jsonrpc": "2.0", "method": "notifications/6"})
    assert [line.text[-1] for line in recorded.page(after=newest.after).lines] == ["6"]
    first = recorded.page(after=START, limit=4)
    assert [line.text[-1] for line in recorded.page(after=first.after, limit=4).lines] == ["4", "5", "6"]
    assert [line.text[-1] for line in recorded.page(LogFilter(text="NOTIFICATIONS/3")).lines] == ["3"]


@in_fake_time
async def test_recording_ends_by_itself_stays_readable_for_a_while_and_then_is_gone() -> None:
    recorded = Recorded()
    recorded.log.record("s", 60)
    recorded.pass_(True, {"jsonrpc": "2.0", "method": "x"})
    assert recorded.page().recorded_until == 1060.0
    recorded.log.record("s", 100)
    assert recorded.page().recorded_until == 1100.0
    assert recorded.dispatcher.tap == recorded.log.tap("s")
    await asyncio.sleep(101)
    assert recorded.told == ["messages:s", "messages:s"]
    assert recorded.log.tap("s") is recorded.dispatcher.tap is None
    assert (len(recorded.lines), recorded.page().recorded_until) == (1, 0.0)
    recorded.log.record("s", 10)
    assert recorded.lines == []
    await asyncio.sleep(10 + KEPT_AFTER_S + 1)
    assert recorded.page() == LogPage()
    assert len(recorded.told) == 5
    recorded.log.forget("s")


@in_fake_time
async def test_a_recording_that_was_forgotten_has_no_end() -> None:
    recorded, errors = Recorded(), list[Any]()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context))
    recorded.log.record("s", 10)
    recorded.log.forget("s")
    assert recorded.dispatcher.tap is None
    await asyncio.sleep(20)
    assert errors == []


async def test_connections_that_are_there_and_those_to_come_are_listened_to_and_no_others(tmp_path: Path) -> None:
    servers = {name: entry("p") for name in ("s", "other")}
    async with hub_parts(tmp_path, servers=servers, programs={"p": ScriptedServer(tool("t"))}) as parts:
        for name in servers:
            await parts.presenter.start_server(name)
        [client] = [each for each in parts.servers.running_clients() if each.name == "s"]
        assert client.dispatcher.tap is None
        parts.protocol_log.record("s", 60)
        await parts.call("t", server="s")
        await parts.presenter.restart_server("s")
        said = [(line.direction, line.text.rpartition(" ")[0]) for line in parts.protocol_log.page("s", ALL, "", "", 999).lines]
        assert ("out", "tools/call t") in said
        assert ("in", "tools/call t") in said
        assert any(text in ("initialize", "server/discover") for _, text in said)
        assert [each.name for each in parts.servers.running_clients() if each.dispatcher.tap] == ["s"]
        parts.protocol_log.forget("s")
        assert all(each.dispatcher.tap is None for each in parts.servers.running_clients())
