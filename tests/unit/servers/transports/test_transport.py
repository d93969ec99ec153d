"""transport.py"""

import asyncio
import json
from collections.abc import Callable

import pytest
from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Record

from tooltray.protocol.channels import Outgoing
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, dump, failure, request_parts, success
from tooltray.servers.transports.transport import MOST, REMEMBERED_S, MemoryTransport, RefusedRequests


class Echo:
    """Answers with the parameters; `hang` never."""

    def __init__(self) -> None:
        self.asked: Record[str] = Record()
        self.cancelled: Record[str] = Record()

    async def answer(self, request: Envelope) -> Envelope:
        self.asked.add(request.method)
        if request.method == "fail":
            return failure(-32601, "Method not found")
        if request.method == "hang":
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.cancelled.add(request.method)
        return Envelope(result=request.params)


async def opened(
    server: Echo, take_notification: Callable[[Envelope], None] = lambda message: None
) -> tuple[MemoryTransport, RawDispatcher]:
    deadlines = DeadlineWheel()

    async def answer(request: Envelope) -> Envelope:
        return success({})

    dispatcher = RawDispatcher(
        name="hub", deadlines=deadlines, answer=answer, take_notification=take_notification, is_server=True, max_line_bytes=2**26
    )
    transport = MemoryTransport(name="hub", server=server, deadlines=deadlines)
    await transport.open(dispatcher)
    return transport, dispatcher


@in_fake_time
async def test_it_is_called_and_answers_verbatim() -> None:
    transport, dispatcher = await opened(Echo())
    for payload in ({"a": 1}, {"text": "x" * 500_000}, {"half": "\ud800", "big": 2**70}):
        assert json.loads(bytes((await dispatcher.call("m", dump(payload))).result)) == payload
    assert json.loads(bytes((await dispatcher.call("fail")).error))["code"] == -32601
    await transport.close()


@in_fake_time
async def test_a_call_that_is_given_up_is_cancelled_over_there() -> None:
    server = Echo()
    transport, dispatcher = await opened(server)
    reply = await dispatcher.call("hang", timeout_s=5)
    assert json.loads(bytes(reply.error))["code"] == -32001
    await server.cancelled.wait()
    await transport.close()


@in_fake_time
async def test_closing_it_fails_the_calls_in_flight_and_tells_that_it_is_gone() -> None:
    server = Echo()
    transport, dispatcher = await opened(server)
    call = dispatcher.start_call("hang")
    await server.asked.wait()
    await transport.close()
    await transport.close()
    assert json.loads(bytes((await dispatcher.calls.outcome(call)).error)) == {"code": -32000, "message": "Tooltray stopped it"}
    await dispatcher.closed.wait()
    await server.cancelled.wait()


@in_fake_time
async def test_closing_our_side_ends_the_work_over_there() -> None:
    server = Echo()
    transport, dispatcher = await opened(server)
    dispatcher.start_call("hang")
    await server.asked.wait()
    await dispatcher.close("no longer wanted")
    await server.cancelled.wait()
    await transport.close()


@pytest.mark.expected_warnings("answering m failed")
@in_fake_time
async def test_a_bug_in_it_is_an_internal_error_for_the_caller() -> None:
    class Broken:
        async def answer(self, request: Envelope) -> Envelope:
            raise KeyError("oops")

    transport, dispatcher = await opened(Broken())  # type: ignore[arg-type]
    assert json.loads(bytes((await dispatcher.call("m")).error))["code"] == -32603
    await transport.close()


@in_fake_time
async def test_it_has_no_process() -> None:
    transport, _ = await opened(Echo())
    assert (transport.pids, transport.exit_code) == ((), None)
    await transport.close()
    assert (transport.pids, transport.exit_code) == ((), None)


class Newsy(Echo):
    """Has news, too."""

    def __init__(self) -> None:
        super().__init__()
        self.tells: list[Callable[[str], None]] = []

    def listen(self, tell: Callable[[str], None]) -> Callable[[], None]:
        self.tells.append(tell)
        return self.tells.clear


@in_fake_time
async def test_what_a_server_tells_arrives_until_the_connection_is_closed() -> None:
    server, told = Newsy(), Record[str]()
    transport, _ = await opened(server, take_notification=lambda message: told.add(message.method))
    server.tells[0]("notifications/tools/list_changed")
    await told.wait()
    assert told.all == ["notifications/tools/list_changed"]
    await transport.close()
    await transport.close()
    assert server.tells == []


def call(name: str) -> Outgoing:
    return Outgoing(request_parts(b"7", "tools/call", Raw(name.encode())), Raw(b"7"), "tools/call")


def test_a_request_is_refused_first_by_one_session_however_often_it_was_sent() -> None:
    refused = RefusedRequests()
    assert [refused.is_first(call("a"), session) for session in ("A", "A", "B", "A")] == [True, True, False, True]
    assert refused.is_first(call("b"), "B")


def test_a_request_that_was_accepted_since_is_refused_first_again() -> None:
    refused = RefusedRequests()
    refused.note_accepted(call("a"))
    assert refused.is_first(call("a"), "A")
    refused.note_accepted(call("a"))
    assert refused.is_first(call("a"), "B")


def test_a_refusal_is_remembered_for_a_moment_and_of_a_bounded_number_of_requests() -> None:
    now_s = 0.0
    refused = RefusedRequests(clock=lambda: now_s)
    assert refused.is_first(call("a"), "A")
    now_s = REMEMBERED_S
    assert refused.is_first(call("a"), "B")
    for n in range(MOST):
        assert refused.is_first(call(str(n)), "B")
    assert refused.is_first(call("a"), "C")
