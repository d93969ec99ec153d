"""idle_stop.py"""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import Client, HubParts, entry, hub_parts, opened, settled
from tests.fakes.offering import OfferingServer, resource
from tests.fakes.scripted_server import Copy, ScriptedServer, never, text, tool
from tests.fakes.set_clock import SetClock

from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.deadlines import TICK_S, DeadlineWheel
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.idle_stop import IdleStop, Usage
from tooltray.servers.upstream.instance_status import Status

LIMIT_S = 321.0  # as no other deadline


# by itself


def test_what_nobody_has_used_yet_is_idle_since_it_is_there() -> None:
    clock = SetClock(100.0)
    usage = Usage(clock)
    clock.now = 103.0
    assert usage.idle_s == 3.0


def test_it_is_idle_since_the_last_of_all_uses_has_ended() -> None:
    clock = SetClock(100.0)
    usage = Usage(clock)
    usage.begin()
    usage.begin()
    clock.now = 110.0
    assert usage.idle_s == 0.0
    usage.end()
    clock.now = 120.0
    assert usage.idle_s == 0.0
    usage.end()
    clock.now = 127.0
    assert usage.idle_s == 7.0


def test_a_use_of_one_moment_counts_from_that_moment() -> None:
    clock = SetClock(100.0)
    usage = Usage(clock)
    clock.now = 150.0
    usage.note()
    clock.now = 151.0
    assert usage.idle_s == 1.0


def test_without_a_clock_of_a_test_time_passes_by_itself() -> None:
    usage = Usage()
    usage.note()
    assert usage.idle_s >= 0.0


class OneCopy:
    """A copy of a server, which runs."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.usage = Usage(self.loop.time)
        self.client: Any = object()
        self.status = Status(ServerState.RUNNING)
        self.started_at = self.loop.time()
        self.stopped = asyncio.Event()
        self.lived_s = 0.0

    def start_stopping(self, *, then: ServerState) -> None:
        assert then is ServerState.ON_DEMAND
        self.client = None
        self.lived_s = self.loop.time() - self.started_at
        self.stopped.set()


class Watched:
    """Groups of copies with a limit of 10 s, and whatever of it a test changes."""

    def __init__(self, *groups: list[OneCopy]) -> None:
        self.groups, self.limit_s, self.wanted = list(groups), 10.0, set[Any]()
        self.wheel = DeadlineWheel()
        self.idle_stop = IdleStop(
            groups=lambda: self.groups, limit_s=lambda: self.limit_s, is_wanted=lambda client: client in self.wanted, deadlines=self.wheel
        )
        self.idle_stop.follow()


@in_fake_time
async def test_a_copy_is_stopped_when_nobody_has_used_it_for_so_long_and_not_before() -> None:
    copy = OneCopy()
    watched = Watched([copy])
    await copy.stopped.wait()
    assert 10.0 <= copy.lived_s <= 10.0 + 2 * TICK_S
    assert len(watched.wheel) == 0


@in_fake_time
async def test_each_use_puts_the_stop_off() -> None:
    copy = OneCopy()
    Watched([copy])
    for _ in range(3):
        await asyncio.sleep(9)
        copy.usage.note()
    await copy.stopped.wait()
    assert 37.0 <= copy.lived_s <= 37.0 + 2 * TICK_S


@in_fake_time
async def test_a_copy_that_is_in_use_stays_however_long_and_goes_so_long_after() -> None:
    copy = OneCopy()
    Watched([copy])
    copy.usage.begin()
    await asyncio.sleep(95)
    copy.usage.end()
    await copy.stopped.wait()
    assert 105.0 <= copy.lived_s <= 105.0 + 2 * TICK_S


@in_fake_time
async def test_a_copy_whose_news_somebody_waits_for_stays() -> None:
    copy = OneCopy()
    watched = Watched([copy])
    watched.wanted.add(copy.client)
    await asyncio.sleep(95)
    assert not copy.stopped.is_set()
    watched.wanted.clear()
    copy.usage.note()
    await copy.stopped.wait()
    assert 105.0 <= copy.lived_s <= 105.0 + 2 * TICK_S


@in_fake_time
async def test_copies_that_belong_together_stop_together() -> None:
    first, second = OneCopy(), OneCopy()
    Watched([first, second])
    await asyncio.sleep(6)
    second.usage.note()
    await second.stopped.wait()
    assert first.lived_s == second.lived_s >= 16.0


@in_fake_time
async def test_copies_of_others_stop_by_themselves() -> None:
    first, second = OneCopy(), OneCopy()
    Watched([first], [second])
    await asyncio.sleep(6)
    second.usage.note()
    await first.stopped.wait()
    assert second.client
    await second.stopped.wait()
    assert first.lived_s <= 10.0 + 2 * TICK_S < 16.0 <= second.lived_s


@in_fake_time
async def test_while_one_is_starting_none_of_its_group_is_stopped() -> None:
    running, starting = OneCopy(), OneCopy()
    starting.client, starting.status = None, Status(ServerState.STARTING)
    Watched([running, starting])
    await asyncio.sleep(35)
    assert running.client
    starting.status = Status(ServerState.RUNNING)
    await running.stopped.wait()
    assert not starting.stopped.is_set()


@in_fake_time
async def test_a_longer_limit_counts_from_the_last_use_and_none_at_all_ends_it() -> None:
    copy = OneCopy()
    watched = Watched([copy])
    await asyncio.sleep(9)
    watched.limit_s = 20.0
    watched.idle_stop.follow()
    await asyncio.sleep(9)
    watched.limit_s = None  # type: ignore[assignment]
    watched.idle_stop.follow()
    assert len(watched.wheel) == 0
    await asyncio.sleep(30)
    assert copy.client


@in_fake_time
async def test_a_limit_that_is_over_already_stops_at_once() -> None:
    copy = OneCopy()
    watched = Watched([copy])
    await asyncio.sleep(9)
    watched.limit_s = 5.0
    watched.idle_stop.follow()
    await copy.stopped.wait()
    assert copy.lived_s <= 9.0 + 2 * TICK_S


@in_fake_time
async def test_a_limit_that_is_gone_by_the_time_it_is_looked_at_stops_nothing() -> None:
    copy = OneCopy()
    watched = Watched([copy])
    watched.limit_s = None  # type: ignore[assignment]
    await asyncio.sleep(30)
    assert copy.client
    assert len(watched.wheel) == 0


@in_fake_time
async def test_where_nothing_runs_nothing_is_watched() -> None:
    copy = OneCopy()
    copy.client = None
    assert len(Watched([copy], []).wheel) == 0


# in a hub


class IdleHub:
    """A hub with one server `s` that is stopped when it is idle, and time that passes when a test says so."""

    def __init__(self, parts: HubParts, program: ScriptedServer, clock: SetClock) -> None:
        self.parts, self.program, self.clock = parts, program, clock

    def pass_time(self, seconds: float = LIMIT_S) -> int:
        """Time passes, and the deadline of the idle stop with it; returns how many such deadlines there were."""
        self.clock.now += seconds
        return self.parts.wheel.expire(seconds)

    @property
    def state(self) -> ServerState:
        return self.parts.servers.get("s").state

    async def at_rest(self, *, count: int = 1) -> None:
        await self.parts.heard.state("s", ServerState.ON_DEMAND, count=count)

    async def come_to_rest(self) -> None:
        """Time passes until it rests: a server that has just come back may still be asked for its lists."""
        while self.state is not ServerState.ON_DEMAND:
            self.pass_time()
            await settled()

    async def ask(self, client: Client, method: str, **params: Any) -> dict[str, Any]:
        """One request of a legacy AI client, by the way of all of them."""
        request = Envelope(id=Raw(b"1"), method=method, params=dump(params))
        return opened(await self.parts.router.answer(exchange_of(request, client)))


def idle_hub(root: Path, program: ScriptedServer, clock: SetClock, *, default: tuple[str, ...] = (), **fields: Any) -> Any:
    servers = {"s": entry("program", **{"idleStop": LIMIT_S, **fields})}
    return hub_parts(root, servers=servers, programs={"program": program}, default=default, clock=clock)


async def up(parts: HubParts, name: str = "s") -> None:
    """Starts a server and waits until it was asked for all its lists."""
    await parts.servers.start(name)
    await parts.listed()
    await parts.offers.listed(parts.servers.get(name)).wait()


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


async def test_an_idle_server_rests_stays_listed_and_is_started_by_the_next_call(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock) as parts:
        hub = IdleHub(parts, program, clock)
        await up(parts)
        assert await parts.listed() == ["t"]
        assert hub.pass_time() == 1
        await hub.at_rest()
        assert program.running == []
        assert await parts.listed() == ["t"]
        assert (await parts.call("t"))["result"] == text("")
        assert len(program.copies.all) == 2
        await hub.come_to_rest()
        assert parts.wheel.of(LIMIT_S) == []


async def test_a_call_in_the_very_moment_of_the_stop_waits_for_the_next_process(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock) as parts:
        hub = IdleHub(parts, program, clock)
        await up(parts)
        program.may_end.clear()
        at_once = asyncio.create_task(parts.call("t"))  # its turn comes before that of the process's owner
        hub.pass_time()
        await program.closing.wait()
        while_it_ends = asyncio.create_task(parts.call("t"))
        program.may_end.set()
        assert [reply["result"] for reply in await asyncio.gather(at_once, while_it_ends)] == [text("")] * 2
        assert len(program.copies.all) == 2
        assert program.asked.all[-1].copy is program.copies.all[1]


async def test_a_server_that_starts_with_the_hub_stays_up_until_it_does_so_no_more(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock, default=("s",)) as parts:
        hub = IdleHub(parts, program, clock)
        await up(parts)
        assert hub.pass_time() == 0
        await parts.presenter.remove_mcp_default_server("s")
        parts.wheel.expire(0.0)  # its time has been over for long
        await hub.at_rest()
        await parts.presenter.start_server("s")
        await parts.presenter.add_mcp_default_server("s")
        assert hub.pass_time() == 0


async def test_a_changed_setting_counts_for_what_runs_and_restarts_nothing(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock, idleStop=None) as parts:
        hub = IdleHub(parts, program, clock)
        await up(parts)
        assert hub.pass_time() == 0
        clock.now += 10.0
        await parts.call("t")
        await parts.presenter.update_mcp_server("s", entry("program", idleStop=50))
        await parts.presenter.update_mcp_server("s", entry("program", idleStop=70))
        assert (hub.pass_time(50.0), hub.state) == (0, ServerState.RUNNING)
        clock.now += 20.0
        parts.wheel.expire(70.0)
        await hub.at_rest()
        assert len(program.copies.all) == 1


async def test_a_server_that_is_removed_replaced_or_stopped_is_not_watched_any_more(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock) as parts:
        await up(parts)
        await parts.presenter.stop_server("s")
        assert parts.wheel.of(LIMIT_S) == []
        await up(parts)
        await parts.presenter.update_mcp_server("s", entry("program", args=["other"], idleStop=LIMIT_S))
        await parts.heard.until(lambda: len(program.copies.all) == 3 and parts.servers.get("s").state is ServerState.RUNNING)
        assert len(parts.wheel.of(LIMIT_S)) == 1
        await parts.presenter.remove_mcp_server("s")
        await parts.ended()
        assert parts.wheel.of(LIMIT_S) == []


async def test_a_call_in_flight_keeps_its_server_up(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("hang"), tool("t"))
    async with idle_hub(tmp_path, program, clock) as parts:
        hub = IdleHub(parts, program, clock)
        await up(parts)
        call = asyncio.create_task(parts.call("hang"))
        await program.request("tools/call")
        for _ in range(3):
            assert hub.pass_time() == 1
        assert hub.state is ServerState.RUNNING
        call.cancel()
        await asyncio.wait({call})
        hub.pass_time()
        await hub.at_rest()


async def test_a_question_to_a_modern_client_keeps_the_legacy_server_that_asked_it_up(tmp_path: Path, clock: SetClock) -> None:
    async def asks(copy: Copy, params: Any) -> Any:
        return text(json.dumps(await copy.ask("elicitation/create", {"message": "?", "requestedSchema": {}})))

    program = ScriptedServer(tool("asks"))
    program.calls["asks"] = asks
    async with idle_hub(tmp_path, program, clock) as parts:
        hub, client = IdleHub(parts, program, clock), parts.client()
        await up(parts)
        asked = (await parts.call("asks", client, is_modern=True))["result"]
        assert asked["resultType"] == "input_required"
        for _ in range(3):
            assert hub.pass_time() == 1
        [key] = asked["inputRequests"]
        answers = {"inputResponses": {key: {"action": "accept", "content": {}}}, "requestState": asked["requestState"]}
        assert "accept" in str(await parts.call("asks", client, is_modern=True, **answers))
        hub.pass_time()
        await hub.at_rest()


async def test_a_legacy_client_that_is_asked_for_a_modern_server_keeps_it_up_between_its_calls(tmp_path: Path, clock: SetClock) -> None:
    def asks(copy: Copy, params: Any) -> Any:
        if "inputResponses" in params:
            return text("thanks")
        question = {"method": "elicitation/create", "params": {"mode": "form", "message": "?", "requestedSchema": {}}}
        return {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "s"}

    program = ScriptedServer(tool("asks"), eras=("modern",))
    program.calls["asks"] = asks
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def answer(method: str) -> Any:
        return await answered

    async with idle_hub(tmp_path, program, clock) as parts:
        hub, client = IdleHub(parts, program, clock), parts.client(capabilities={"elicitation": {}}, answer=answer)
        await up(parts)
        call = asyncio.create_task(parts.call("asks", client))
        await client.asked.wait()
        running = program.running
        for _ in range(3):
            assert hub.pass_time() == 1
        answered.set_result({"action": "accept", "content": {}})
        assert (await call)["result"]["content"] == text("thanks")["content"]
        assert program.running == running
        hub.pass_time()
        await hub.at_rest()


async def test_a_question_outside_of_calls_keeps_the_server_that_waits_for_the_answer_up(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock, isolation="session") as parts:
        hub = IdleHub(parts, program, clock)
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def answer(method: str) -> Any:
            return await answered

        client = parts.client(capabilities={"roots": {}}, answer=answer)
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10, session=client)
        [copy] = program.running
        question = asyncio.create_task(copy.ask("roots/list"))
        await client.asked.wait()
        hub.pass_time()
        await settled()
        assert copy.is_open
        answered.set_result({"roots": []})
        assert await question == {"roots": []}
        hub.pass_time()
        await program.copies.until(lambda: not program.running)


async def _listening(program: OfferingServer, copy: Copy, params: Any) -> Any:
    """Tells what was asked for, as a modern server does, until it ends."""
    asked = next(each for each in reversed(program.asked.all) if each.method == "subscriptions/listen" and each.copy is copy)
    meta = {"_meta": {"io.modelcontextprotocol/subscriptionId": asked.id}}
    copy.notify("notifications/subscriptions/acknowledged", {"notifications": params["notifications"], **meta})
    return await never(copy, params)


@pytest.mark.parametrize("is_modern", [False, True])
async def test_a_subscription_keeps_its_server_up_until_it_ends(tmp_path: Path, clock: SetClock, *, is_modern: bool) -> None:
    program = OfferingServer(resources=[resource("x://1")], eras=("modern",) if is_modern else ("legacy",))
    program.handlers |= {"resources/subscribe": _fine, "resources/unsubscribe": _fine, "subscriptions/listen": partial(_listening, program)}
    async with idle_hub(tmp_path, program, clock) as parts:
        hub, client = IdleHub(parts, program, clock), parts.client()
        await up(parts)
        assert (await hub.ask(client, "resources/subscribe", uri="x://1"))["result"] is not None
        for _ in range(3):
            assert hub.pass_time() == 1
        assert hub.state is ServerState.RUNNING
        clock.now += 5.0
        await hub.ask(client, "resources/unsubscribe", uri="x://1")
        parts.wheel.expire(LIMIT_S)
        assert hub.state is ServerState.RUNNING
        hub.pass_time()
        await hub.at_rest()


async def test_a_listen_of_a_modern_client_keeps_the_servers_of_its_resources_up_and_no_others(tmp_path: Path, clock: SetClock) -> None:
    program, other = (OfferingServer(resources=[resource(f"{name}://1")]) for name in ("x", "y"))
    program.handlers |= {"resources/subscribe": _fine, "resources/unsubscribe": _fine}
    servers = {"s": entry("program", idleStop=LIMIT_S), "o": entry("other", idleStop=LIMIT_S)}
    async with hub_parts(tmp_path, servers=servers, programs={"program": program, "other": other}, clock=clock) as parts:
        hub, client = IdleHub(parts, program, clock), parts.client()
        for name in servers:
            await up(parts, name)
        await parts.client_listens.to_resources(client, Raw(b"7"), ["x://1"], server=None)
        hub.pass_time()
        await parts.heard.state("o", ServerState.ON_DEMAND)
        hub.pass_time()
        assert hub.state is ServerState.RUNNING
        parts.notifications.end_session(client)
        hub.pass_time()
        await hub.at_rest()


async def test_the_copies_of_both_eras_stop_together_and_start_again_as_they_are_called(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"), eras=("legacy", "modern"))
    async with idle_hub(tmp_path, program, clock) as parts:
        hub = IdleHub(parts, program, clock)
        await up(parts)
        await parts.call("t", is_modern=True)
        clock.now += 100.0
        await parts.call("t")
        assert len(program.running) == 2
        clock.now += LIMIT_S - 100.0
        parts.wheel.expire(LIMIT_S)
        await settled()
        assert len(program.running) == 2
        hub.pass_time(100.0)
        await program.copies.until(lambda: not program.running)
        await hub.at_rest()
        await parts.call("t")
        assert len(program.running) == 2
        assert len(program.copies.all) == 4


async def test_the_copies_of_sessions_stop_by_themselves(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock, isolation="session") as parts:
        hub, lazy, busy = IdleHub(parts, program, clock), parts.client(), parts.client()
        await up(parts)
        for client in (lazy, busy):
            await parts.call("t", client)
        shared, of_lazy, of_busy = program.running
        clock.now += 100.0
        await parts.call("t", busy)
        clock.now += LIMIT_S - 100.0
        parts.wheel.expire(LIMIT_S)
        await hub.at_rest()
        await program.copies.until(lambda: program.running == [of_busy])
        assert (shared.is_open, of_lazy.is_open) == (False, False)
        await parts.call("t", lazy)
        assert program.running[-1] is program.copies.all[3]
        await parts.servers.end_session(lazy)
        assert program.running == [of_busy]
        hub.pass_time(100.0)
        await program.copies.until(lambda: not program.running)


async def test_a_server_that_died_and_came_back_has_its_time_anew(tmp_path: Path, clock: SetClock) -> None:
    program = ScriptedServer(tool("t"))
    async with idle_hub(tmp_path, program, clock) as parts:
        hub = IdleHub(parts, program, clock)
        await up(parts)
        clock.now += LIMIT_S - 1.0
        program.running[0].die()
        await parts.heard.state("s", ServerState.RUNNING, count=2)
        clock.now += 1.0
        assert len(parts.wheel.of(LIMIT_S)) == 1
        await hub.come_to_rest()


def _fine(copy: Copy, params: Any) -> Any:
    return {}
