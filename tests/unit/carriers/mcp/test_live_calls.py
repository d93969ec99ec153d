"""An AI client hears of a call before it gives it up, and progress never goes back."""

import asyncio
import json
import sys
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.conversation import META, Conversation
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import Client

from tooltray.carriers.mcp.live_calls import HAIR, STARTING, WAITS_FOR_PERSON, LiveCalls
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.sessions.client_limits import ClientLimits

PROGRESS = "notifications/progress"


class Live:
    """One call, and what its client hears of it: by a server through `passes`, and by the hub."""

    def __init__(self, call_s: float = 60.0) -> None:
        self.heard: list[dict[str, Any]] = []
        self.wheel = DeadlineWheel()
        self.calls = LiveCalls(deadlines=self.wheel, tell=lambda params, about: self.heard.append(json.loads(bytes(params))))
        request = Envelope(id=dump(7), method="tools/call", params=dump({"name": "x", "_meta": {"progressToken": "t"}}))
        self.exchange = exchange_of(request, Client())
        self.calls.begin(self.exchange, ClientLimits(call_s=call_s))

    def passes(self, **news: Any) -> None:
        sent = dump({"progressToken": "t", **news})
        self.heard.append(json.loads(bytes(self.calls.passes(sent, dump(7)))))

    @property
    def values(self) -> list[float]:
        return [each["progress"] for each in self.heard]


@pytest.mark.parametrize(("call_s", "after_s"), [(60.0, 45), (600.0, 450), (8.0, 6)])
@in_fake_time
async def test_of_a_silent_server_the_client_hears_in_time_for_its_own_limit(call_s: float, after_s: int) -> None:
    live = Live(call_s)
    await asyncio.sleep(after_s - 1)
    assert live.heard == []
    await asyncio.sleep(2.5)
    assert live.heard == [{"progressToken": "t", "progress": 0.0, "message": f"Still running, {after_s} s"}]
    await asyncio.sleep(after_s)
    assert live.values == [0.0, HAIR]
    live.calls.end(dump(7))
    assert (len(live.wheel), bool(live.calls)) == (0, False)


@in_fake_time
async def test_a_server_that_speaks_is_heard_as_it_speaks_and_nothing_is_added() -> None:
    live = Live()
    for value in (0, 1, 2):
        await asyncio.sleep(30)
        live.passes(progress=value, total=10)
    assert live.heard == [{"progressToken": "t", "progress": value, "total": 10} for value in (0, 1, 2)]
    live.calls.end(dump(7))


@in_fake_time
async def test_the_values_rise_whatever_the_server_says_after_the_hub() -> None:
    live = Live()
    await asyncio.sleep(46)
    live.passes(progress=0, total=1, message="theirs")
    live.passes(progress=0.1, total=1)
    await asyncio.sleep(46)
    live.passes(progress=1, total=1)
    await asyncio.sleep(46)
    live.passes(progress=2**60)
    await asyncio.sleep(46)
    assert live.values == sorted(set(live.values))
    assert [each.get("total") for each in live.heard] == [None, 1, 1, 1, 1, None, None, None]
    assert live.heard[1] == {"progressToken": "t", "progress": HAIR, "total": 1, "message": "theirs"}
    assert live.heard[2]["progress"] == 0.1
    live.calls.end(dump(7))


@in_fake_time
async def test_a_server_that_breaks_the_rule_itself_is_not_mended_and_what_cannot_be_read_goes_on() -> None:
    live = Live()
    await asyncio.sleep(46)
    live.passes(progress=5)
    live.passes(progress=4)
    live.passes(progress=4)
    live.passes(progress="much")
    assert live.values == [0.0, 5, 4, 4, "much"]
    await asyncio.sleep(46)
    assert live.values[-1] == 4 + HAIR
    assert live.calls.passes(Raw(b"[]"), dump(8)) == Raw(b"[]")  # of a call that is none of these
    live.calls.end(dump(7))


@in_fake_time
async def test_no_value_becomes_more_than_json_can_say() -> None:
    live = Live()
    await asyncio.sleep(46)
    live.passes(progress=sys.float_info.max)
    await asyncio.sleep(46)
    assert live.values[-1] == sys.float_info.max
    live.calls.end(dump(7))


@in_fake_time
async def test_while_a_person_has_it_the_client_hears_sooner_and_why_it_waits() -> None:
    live = Live(600.0)
    with live.exchange.timings.at_person():
        await asyncio.sleep(32)
    assert [each["message"] for each in live.heard] == [f"{WAITS_FOR_PERSON}, 15 s", f"{WAITS_FOR_PERSON}, 30 s"]
    with live.exchange.timings.at_start():
        await asyncio.sleep(460)
    assert live.heard[-1]["message"].startswith(STARTING)
    live.calls.end(dump(7))


def told(client: Conversation) -> list[Any]:
    return [each["params"] for each in client.channel.messages if each.get("method") == PROGRESS]


@pytest.mark.parametrize("is_modern", [False, True])
@in_fake_time
async def test_a_session_of_either_era_hears_of_calls_with_a_token_and_of_no_other(is_modern: bool) -> None:
    envelope = META if is_modern else {}
    async with Conversation() as client:
        if not is_modern:
            await client.greet()
        client.send(id=1, method="tools/call", params={"name": "hang", "_meta": envelope | {"progressToken": "a"}})
        client.send(id=2, method="tools/call", params={"name": "hang", "_meta": envelope})
        await asyncio.sleep(50)
        assert [each["progressToken"] for each in told(client)] == ["a"]
        client.session.tell(PROGRESS, dump({"progressToken": "a", "progress": 0}), about=dump(1))
        assert told(client)[-1] == {"progressToken": "a", "progress": HAIR}
        client.send(method="notifications/cancelled", params={"requestId": 1})
        await asyncio.sleep(50)
        assert len(told(client)) == 2


@in_fake_time
async def test_a_client_that_does_not_read_is_told_nothing() -> None:
    async with Conversation() as client:
        client.send(id=1, method="tools/call", params={"name": "hang", "_meta": {"progressToken": "a"}})
        await asyncio.sleep(1)
        client.session.dispatcher.pause_writing()
        await asyncio.sleep(50)
        assert told(client) == []
