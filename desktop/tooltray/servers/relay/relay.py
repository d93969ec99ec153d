"""The way of a request to one server and of its reply back: the right connection, opened if needed, how long the reply may take, and a
bridge between different eras.

A modern server's `input_required` result becomes questions, and the answers become another call; the mirror of held_calls. The AI client is
asked if it can answer. A modern server sees what the client declared, and refuses the call if that lacks elicitation. Only then, and only
if a window shows questions, Tooltray makes the call again for a client that has both kinds of forms; the user is asked, and the client gets
the result. Otherwise the refusal is passed on unchanged. Sampling needs a model, which Tooltray has not.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Protocol

import msgspec
from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, INTERNAL_ERROR, NOT_DELIVERED, NOTHING, Envelope, NotDelivered, dump, failure
from tooltray.protocol.eras import CAPABILITY_FOR, CLIENT_CAPABILITIES_KEY, LOG_LEVEL_KEY, MISSING_CLIENT_CAPABILITY, Era, error_code
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.caller import MAY_ASK, Caller, CallerBehind, Question, can_be_asked, lacking
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.log_levels import LogLevels
from tooltray.servers.upstream.lifecycle_recorder import CLIENT, caused_by
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import ELICITATION, NO_CLIENT_TO_ASK, McpClient

MAX_ROUNDS = 20  # a server that asks for ever is broken
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 5.0  # before a repetition that a server requests without a question
FORMS = dump({"form": {}, "url": {}})


class _Result(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType", default="complete")
    questions: dict[str, Question] = msgspec.field(name="inputRequests", default_factory=dict)
    state: Raw = msgspec.field(name="requestState", default=NOTHING)


class _Refused(Exception):
    """The error that a client gave as its answer to a question."""

    def __init__(self, reply: Envelope) -> None:
        self.reply = reply


_decoder = msgspec.json.Decoder(_Result)


class Answering(Protocol):
    """The receiver of a call in rounds; McpClient satisfies it."""

    @property
    def name(self) -> str: ...

    async def call(self, exchange: Exchange, *, timeout_s: float) -> Envelope: ...


async def answer_in_rounds(server: Answering, exchange: Exchange, *, timeout_s: float) -> Envelope:
    """Calls the server until it no longer asks. The client gets that last reply, or the error of a client that does not answer.

    The request becomes the request of the last round: if the server did not take it, the next attempt continues there, and asks no question
    twice.
    """
    pause_s, request = FIRST_PAUSE_S, exchange.request
    for _ in range(MAX_ROUNDS):
        call = Envelope(id=request.id, method=request.method, params=request.params)
        reply = await server.call(exchange.child(request=call), timeout_s=timeout_s)
        asked = _read(reply) if request.method in MAY_ASK else _Result()
        if asked.result_type != "input_required":
            return _as_legacy(exchange, reply) if exchange.era is Era.LEGACY else reply
        if refusal := _refusal(server.name, asked, exchange.caller):
            return refusal
        if not asked.questions:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        try:
            answers = await _answers(asked, exchange)
        except _Refused as refused:
            return refused.reply
        request.params = _with_answers(request.params or Raw(b"{}"), answers)
    return failure(INTERNAL_ERROR, f"server '{server.name}' asked {MAX_ROUNDS} times in a row without returning a result")


def _with_answers(params: Raw, answers: dict[str, Raw]) -> Raw:
    """Returns params with the answers of this round only."""
    return closed({name: value for name, value in opened(params).items() if name not in eras.ROUND_KEYS} | answers)


def _refusal(server: str, asked: _Result, caller: Caller) -> Envelope | None:
    """Returns an error if the client cannot answer all questions; then none of them is asked."""
    for question in asked.questions.values():
        what = f"server '{server}' asks for {question.method}, which this AI client cannot answer"
        if question.method not in CAPABILITY_FOR:
            return failure(NO_CLIENT_TO_ASK, what)
        if missing := lacking(question, caller.capabilities):
            return failure(MISSING_CLIENT_CAPABILITY, what, {"requiredCapabilities": missing})
    return None


async def _answers(asked: _Result, exchange: Exchange) -> dict[str, Raw]:
    """Asks all questions together; returns the members to add to the next call.

    Raises:
        _Refused: the client answered a question with an error; the other questions are withdrawn.
    """
    given: dict[str, Raw] = {}

    async def ask(key: str, question: Question) -> None:
        params = eras.as_legacy_question(question.method, question.params)
        answer = await exchange.ask(question.method, params)
        if answer.error:
            raise _Refused(answer)
        given[key] = answer.result

    refused: _Refused | None = None
    try:
        async with asyncio.TaskGroup() as group:  # keeps its tasks and ends them together, so that TaskKeeper is not needed
            for key, question in asked.questions.items():
                group.create_task(ask(key, question), name=f"ask {question.method}")
    except* _Refused as several:
        refused = next(each for each in several.exceptions if isinstance(each, _Refused))
    if refused:
        raise refused
    responses = {"inputResponses": dump({key: given[key] for key in asked.questions})} if given else {}
    return responses | ({"requestState": asked.state} if asked.state else {})


def _as_legacy(exchange: Exchange, reply: Envelope) -> Envelope:
    method = exchange.request.method
    if reply.error:
        reply.error = eras.as_legacy_error(method, reply.error)
    else:
        reply.result = eras.as_legacy_result(method, reply.result, is_wrapped=bool(exchange.wraps_content))
    return reply


def _read(reply: Envelope) -> _Result:
    with contextlib.suppress(ValueError, RecursionError):  # a reply without a result that can be read is passed on unchanged
        return _decoder.decode(reply.result)
    return _Result()


class _ErrorData(msgspec.Struct):
    required: dict[str, Raw] = msgspec.field(name="requiredCapabilities", default_factory=dict)


class _Error(msgspec.Struct):
    data: _ErrorData = msgspec.field(default_factory=_ErrorData)


class InPlace(CallerBehind):
    """The client together with the user of this machine (a Caller)."""

    def __init__(self, server: McpClient, exchange: Exchange) -> None:
        super().__init__(exchange.caller)
        self._server, self._exchange = server, exchange
        self._own = exchange.head.meta.capabilities if exchange.era is Era.MODERN else exchange.caller.capabilities
        self._declared = eras.with_members(self._own, elicitation=FORMS)

    @property
    def capabilities(self) -> Raw:
        return self._declared

    def can_answer(self, method: str) -> bool:
        return can_be_asked(method, self.capabilities)

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        if self._exchange.era is Era.LEGACY and not lacking(Question(method, params), self._own):
            return await self._caller.ask(method, params, about=about)
        if method != ELICITATION:
            return failure(NO_CLIENT_TO_ASK, f"{method} cannot be answered during a call that waits for the user of this machine")
        return await self._server.ask_person(self._exchange, params)


def needs_user(server: McpClient, exchange: Exchange, reply: Envelope) -> bool:
    """Returns whether a reply refuses only for lack of elicitation, which the user can do in the client's place."""
    if exchange.request.method not in MAY_ASK or server.era is not Era.MODERN or not server.has_person:
        return False
    if error_code(reply.error) != MISSING_CLIENT_CAPABILITY:
        return False
    try:
        missing = msgspec.json.decode(reply.error, type=_Error).data.required
        opened(exchange.head.meta.capabilities if exchange.era is Era.MODERN else exchange.caller.capabilities)
    except (ValueError, RecursionError):
        return False
    return missing.keys() == {"elicitation"}


async def answer_in_place(server: McpClient, exchange: Exchange, *, timeout_s: float) -> Envelope:
    """Makes a refused call again, and asks the user until the server no longer asks."""
    in_place = exchange.child(caller=InPlace(server, exchange))
    if exchange.era is Era.MODERN:
        added = {CLIENT_CAPABILITIES_KEY: in_place.caller.capabilities}
        exchange.request.params = eras.with_meta(exchange.request.params, added)
    server.usage.begin()  # also between its rounds
    try:
        return await answer_in_rounds(server, in_place, timeout_s=timeout_s)
    finally:
        server.usage.end()


CALL_TIMEOUT_S = 600.0  # without progress; a server's own `callTimeout` goes before it
MAX_SENDS = 3  # of a request that its server did not take: a server that is reached again may be lost once more before it stays
START_WAIT_S = 20.0  # how long a call waits for its server


class ServerRelay:
    """The sender of requests to servers. Has no state of its own."""

    def __init__(self, *, is_paused: Callable[[], bool], log_levels: LogLevels, start_wait_s: float = START_WAIT_S) -> None:
        """
        Args:
            is_paused: whether the user has paused everything.
            log_levels: the levels that clients set, which each era expresses in its own way.
            start_wait_s: how long a call waits for its server.
        """
        self._is_paused, self._log_levels, self._start_wait_s = is_paused, log_levels, start_wait_s

    @property
    def is_paused(self) -> bool:
        return self._is_paused()

    async def send_with_retry(self, managed: ManagedServer, exchange: Exchange, *, timeout_s: float | None = None) -> Envelope:
        """Sends a request to a server and returns its reply, or an error with the reason why there was no reply.

        A request that the server certainly did not take is sent again: the connection was lost, or the server had dropped our session,
        which is being opened again.

        Args:
            timeout_s: how long the reply may take without progress; None: as long as the server's settings say.
        """
        if self._is_paused():
            return paused()
        reply: Envelope = NOT_DELIVERED
        for _ in range(MAX_SENDS):
            managed.is_used = True  # a tool listing that started it must not end it
            try:
                client = managed.client_for(exchange.era, exchange.caller.session) or await self._open(managed, exchange)
            except TooltrayError as error:
                return failure(CONNECTION_CLOSED, exchange.session.state.words(error))
            timings, began_at = exchange.timings, time.perf_counter()
            asked_s = timings.person_s or 0.0
            limit_s = timeout_s or managed.config.call_timeout or CALL_TIMEOUT_S
            try:
                reply = await self._send(client, exchange, limit_s)
                if reply.error and needs_user(client, exchange, reply):
                    reply = await answer_in_place(client, exchange, timeout_s=limit_s)
            finally:
                timings.add_server_time(began_at, asked_s)
            if not isinstance(reply, NotDelivered):
                break
        return reply

    async def _open(self, managed: ManagedServer, exchange: Exchange) -> McpClient:
        with exchange.timings.at_start(), caused_by(CLIENT, exchange.session.state.client or exchange.client):
            return await managed.running(exchange.era, timeout_s=self._start_wait_s, session=exchange.session)

    def _send(self, client: McpClient, exchange: Exchange, timeout_s: float) -> Coroutine[object, None, Envelope]:
        """Sends a request unchanged if client and server speak the same era and it names no log level; else through the bridge."""
        if exchange.era is client.era and (exchange.era is Era.LEGACY or not exchange.head.meta.log_level):
            sending = client.call(exchange, timeout_s=timeout_s)
            return sending if exchange.wraps_content is None else _with_content_of_legacy(sending)
        return self._send_bridged(client, exchange, timeout_s)

    async def _send_bridged(self, client: McpClient, exchange: Exchange, timeout_s: float) -> Envelope:
        client.usage.begin()  # also before the call and between its rounds
        try:
            if exchange.era is Era.LEGACY:
                return await self._send_to_modern(client, exchange, timeout_s)
            async with self._log_levels.during(exchange, client):
                if client.era is Era.MODERN:
                    return await client.call(exchange, timeout_s=timeout_s)
                return await exchange.held.run(partial(client.call, timeout_s=timeout_s), exchange, owner=client.name)
        finally:
            client.usage.end()

    async def _send_to_modern(self, client: McpClient, exchange: Exchange, timeout_s: float) -> Envelope:
        if level := self._log_levels.of(exchange.session):
            exchange.request.params = eras.with_meta(exchange.request.params, {LOG_LEVEL_KEY: level})
        return await answer_in_rounds(client, exchange, timeout_s=timeout_s)


async def _with_content_of_legacy(sending: Coroutine[object, None, Envelope]) -> Envelope:
    reply = await sending
    if reply.result:
        reply.result = eras.with_content_of_legacy(reply.result)
    return reply


def paused() -> Envelope:
    """Returns the error that AI clients get while everything is paused."""
    return failure(CONNECTION_CLOSED, "Tooltray is paused. Ask the user to resume Tooltray.")
