"""http_sessions.py: which message goes where, what is kept, and when a session ends."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.manual_wheel import ManualWheel

from tooltray.carriers.mcp.http_sessions import KEPT_BYTES, HttpSession, HttpSessions, Stream
from tooltray.protocol.channels import MessageChannel, Outgoing
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.unsent import HUB_BYTES, LOOKED_AT_EVERY_S, AllUnsent

EXPIRY_S = 100.0


class Dispatcher:
    """Notes what it is told; closes its channel when the connection is lost."""

    def __init__(self) -> None:
        self.channel: Any = None
        self.told: list[Any] = []
        self.requests_in_flight = 0
        self.unsent = AllUnsent().of(is_server=False)

    def attach_messages(self, channel: MessageChannel) -> None:
        self.channel = channel

    def receive(self, message: bytes | bytearray) -> None:
        self.told.append(message)

    def connection_lost(self, reason: str) -> None:
        self.told.append(reason)
        self.channel.close()

    async def close(self, reason: str, *, grace_s: float) -> None:
        self.connection_lost(reason)

    def pause_writing(self) -> None:
        self.told.append("pause")

    def resume_writing(self) -> None:
        self.told.append("resume")


class Opens:
    def __init__(self) -> None:
        self.dispatchers: list[Dispatcher] = []

    def open_client(self, server: str | None, *, is_lasting: bool = True, held: Any = None) -> Any:
        self.dispatcher = Dispatcher()
        self.dispatchers.append(self.dispatcher)
        return self


def session_of(dispatcher: Dispatcher | None = None) -> HttpSession:
    return HttpSession(id="s", owner="", server=None, dispatcher=dispatcher or Dispatcher(), on_closed=lambda session: None)


def reply(id: bytes, payload: bytes = b"{}") -> Outgoing:
    return Outgoing((b'{"jsonrpc":"2.0","id":%b,"result":' % id, Raw(payload), b"}\n"), id=Raw(id), about=Raw(id))


def news(method: str = "news", about: bytes = b"", payload: bytes = b"{}") -> Outgoing:
    return Outgoing((b'{"jsonrpc":"2.0","method":"%b","params":' % method.encode(), Raw(payload), b"}\n"), method=method, about=Raw(about))


def question(about: bytes = b"") -> Outgoing:
    return Outgoing(
        (b'{"jsonrpc":"2.0","id":77,"method":"roots/list"', Raw(b""), b"}\n"), id=Raw(b"77"), method="roots/list", about=Raw(about)
    )


def leave(session: HttpSession, stream: Stream) -> None:
    assert stream.queue
    session.left(stream, stream.queue)


def waiting(stream: Stream) -> list[bytes]:
    """Payloads that the stream's response has not written."""
    assert stream.queue
    return [bytes(event.message.payload) for event in stream.queue.waiting]


def test_each_message_goes_to_the_stream_of_its_request_and_the_rest_to_the_standing_one() -> None:
    session = session_of()
    first, second = session.begin([b"1"]), session.begin([b'"a"'])
    session.send(news(about=b'"a"', payload=b"1"))
    session.send(news(payload=b"2"))
    session.send(reply(b"1", b"3"))
    assert (waiting(first), waiting(second), waiting(session.open_standing())) == ([b"3"], [b"1"], [b"2"])
    assert first.is_complete
    assert not second.is_complete


def test_what_belongs_to_a_request_that_is_over_goes_nowhere_but_for_questions() -> None:
    session = session_of()
    session.send(news(about=b"1"))
    session.send(reply(b"1"))
    session.send(question(about=b"1"))
    assert [event.message.method for event in session.open_standing().queue.waiting] == ["roots/list"]  # type: ignore[union-attr]


def test_a_client_that_left_before_its_response_began_gets_nothing_kept() -> None:
    session = session_of()
    stream = session.begin([b"1"])
    leave(session, stream)
    session.send(reply(b"1"))
    assert session.resume("1-0") is None
    assert not session.is_waiting_for([b"1"])


def test_what_waited_when_the_response_began_can_be_resumed_too() -> None:
    session = session_of()
    stream = session.begin([b"1"])
    session.send(news(about=b"1", payload=b"1"))
    first_id = session.make_resumable(stream)
    leave(session, stream)
    session.send(reply(b"1", b"2"))
    resumed = session.resume(first_id)
    assert resumed is stream
    assert waiting(stream) == [b"1", b"2"]
    assert stream.queue
    assert stream.queue.is_ended


def test_what_is_kept_has_a_bound_and_the_oldest_goes_first() -> None:
    session = session_of()
    for size in (1, 2, 3):
        session.send(news(payload=b"%d" % size * (KEPT_BYTES // 4)))
    session.send(news(payload=b"4" * (KEPT_BYTES // 2)))
    assert [payload[:1] for payload in waiting(session.open_standing())] == [b"3", b"4"]


def test_the_newest_message_is_kept_whatever_its_size_until_it_is_written() -> None:
    session = session_of()
    session.send(news(payload=b"1" * (2 * KEPT_BYTES)))
    stream = session.open_standing()
    queue = stream.queue
    assert queue
    (event,) = queue.waiting
    queue.written(event)
    session.left(stream, queue)
    assert session.resume("0-0") is stream
    assert waiting(stream) == []


@in_fake_time
async def test_where_all_is_full_what_is_kept_for_clients_that_may_come_back_is_dropped() -> None:
    dispatcher = Dispatcher()
    session = session_of(dispatcher)
    stream = session.begin([b"1"])
    first_id = session.make_resumable(stream)
    leave(session, stream)
    session.send(reply(b"1", b"1" * (HUB_BYTES + 1)))
    assert dispatcher.unsent.all.is_full
    await asyncio.sleep(LOOKED_AT_EVERY_S)
    assert not dispatcher.unsent.all.is_full
    assert session.resume(first_id) is None
    assert dispatcher.unsent.all.bytes == 0


def test_a_stream_is_forgotten_with_the_last_of_what_is_kept_of_it() -> None:
    session = session_of()
    stream = session.begin([b"1"])
    session.make_resumable(stream)
    session.send(reply(b"1"))
    leave(session, stream)
    assert session.resume("1-0") is stream
    leave(session, stream)
    for _ in range(3):
        session.send(news(payload=b"1" * KEPT_BYTES))
    assert session.resume("1-0") is None


def test_a_new_response_takes_the_place_of_one_on_a_dead_connection() -> None:
    session = session_of()
    before = session.open_standing().queue
    assert before
    session.send(news(payload=b"1"))
    stream = session.resume("0-0")
    assert stream
    assert before.is_ended
    assert waiting(stream) == [b"1"]
    session.left(stream, before)  # the old response notices that it is over
    assert session.is_standing_open


def test_a_batch_has_one_stream_and_its_requests_are_not_given_up_one_by_one() -> None:
    session = session_of()
    stream = session.begin([b"1", b"2"])
    session.give_up(b"2")
    session.send(news(about=b"2", payload=b"1"))
    session.send(Outgoing((b"[{}", Raw(b""), b"]\n"), about=Raw(b"1")))
    assert stream.is_complete
    assert not session.is_waiting_for([b"1", b"2"])


def test_an_end_of_the_dispatcher_ends_all_streams_once() -> None:
    ended: list[HttpSession] = []
    dispatcher = Dispatcher()
    session = HttpSession(id="s", owner="", server=None, dispatcher=dispatcher, on_closed=ended.append)
    stream, standing = session.begin([b"1"]), session.open_standing()
    session.close()
    session.close()
    assert ended == [session]
    assert all(each.queue and each.queue.is_ended for each in (stream, standing))


def test_the_version_is_that_of_the_reply_to_initialize() -> None:
    session = session_of()
    session.begin([b"0"], is_initialize=True)
    session.send(news(payload=b"{}"))
    session.send(reply(b"0", b'{"protocolVersion":"2025-03-26"}'))
    assert (session.version, session.takes_batches, session.is_primed) == ("2025-03-26", True, False)
    session.begin([b"1"], is_initialize=True)
    session.send(reply(b"1", b"5"))
    assert session.version == "2025-03-26"


# sessions


def sessions_with(**options: Any) -> tuple[HttpSessions, Opens, ManualWheel]:
    opens, wheel = Opens(), ManualWheel()
    deadlines: Any = wheel
    return HttpSessions(opens, deadlines=deadlines, **options), opens, wheel


@in_fake_time
async def test_a_session_that_nobody_uses_ends_and_its_use_puts_that_off() -> None:
    opens = Opens()
    sessions = HttpSessions(opens, deadlines=DeadlineWheel(), idle_expiry_s=EXPIRY_S)
    session = sessions.open("", None)
    assert session
    await asyncio.sleep(EXPIRY_S - 1)
    assert sessions.find(session.id, "", None) is session
    await asyncio.sleep(EXPIRY_S - 1)
    assert not session.is_closed
    await asyncio.sleep(2)
    assert session.is_closed
    assert len(sessions) == 0


@pytest.mark.parametrize("use", ["stream", "request"])
@in_fake_time
async def test_an_open_stream_or_a_request_in_flight_is_use(use: str) -> None:
    opens = Opens()
    sessions = HttpSessions(opens, deadlines=DeadlineWheel(), idle_expiry_s=EXPIRY_S)
    session = sessions.open("", None)
    assert session
    stream = session.open_standing() if use == "stream" else None
    opens.dispatchers[0].requests_in_flight = int(use == "request")
    await asyncio.sleep(3 * EXPIRY_S)
    assert not session.is_closed
    opens.dispatchers[0].requests_in_flight = 0
    if stream:
        leave(session, stream)
    await asyncio.sleep(EXPIRY_S + 1)
    assert session.is_closed


def test_ids_cannot_be_guessed_and_lead_to_no_other_client() -> None:
    sessions, _, _ = sessions_with()
    one, other = sessions.open("a", None), sessions.open("a", "files")
    assert one
    assert other
    assert len(one.id) >= 32
    assert one.id != other.id
    assert sessions.find(one.id, "b", None) is None
    assert sessions.find(one.id, "a", "files") is None
    assert sessions.find("", "a", None) is None
    assert [len(sessions.dispatchers(owner)) for owner in (None, "a", "b")] == [2, 2, 0]


def test_an_end_leaves_nothing_behind() -> None:
    sessions, opens, wheel = sessions_with()
    session = sessions.open("", None)
    assert session
    sessions.end(session)
    sessions.touch(session)
    assert len(sessions) == 0
    assert opens.dispatchers[0].told == ["the AI client disconnected"]
    assert wheel.waiting == []
