"""Calls of legacy AI clients on a modern server: its `input_required` result becomes requests to the client, and the answers a second call.

The mirror of held_calls. Above it: ServerRelay, asked_in_place. Below it: McpClient.
"""

import asyncio
import contextlib

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.envelope import INTERNAL_ERROR, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import CAPABILITY_FOR, MISSING_CLIENT_CAPABILITY, Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.caller import MAY_ASK, Caller, Question, lacking
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.upstream.mcp_client import NO_CLIENT_TO_ASK, McpClient

MAX_ROUNDS = 20  # a server that asks for ever is broken
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 5.0  # before a call that a server wants made again although it asks nothing: it waits for something


class _Result(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType", default="complete")
    questions: dict[str, Question] = msgspec.field(name="inputRequests", default_factory=dict)
    state: Raw = msgspec.field(name="requestState", default=NOTHING)


class _Refused(Exception):
    """The client answered a question with an error."""

    def __init__(self, reply: Envelope) -> None:
        self.reply = reply


_decoder = msgspec.json.Decoder(_Result)


async def answered(server: McpClient, exchange: Exchange, *, timeout_s: float) -> Envelope:
    """Calls the server until it no longer asks; that reply is the client's, and so is the error of a client that does not answer.

    The request becomes that of the last round: where the server did not take it, the next one goes on from there, and asks nobody again.
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
    return failure(INTERNAL_ERROR, f"server '{server.name}' asked {MAX_ROUNDS} times in a row without coming to a result")


def _with_answers(params: Raw, answers: dict[str, Raw]) -> Raw:
    """Those of this round alone."""
    return closed({name: value for name, value in opened(params).items() if name not in eras.ROUND_KEYS} | answers)


def _refusal(server: str, asked: _Result, caller: Caller) -> Envelope | None:
    """Where not all questions can be answered, none is asked."""
    for question in asked.questions.values():
        what = f"server '{server}' asks for {question.method}, which this AI client cannot answer"
        if question.method not in CAPABILITY_FOR:
            return failure(NO_CLIENT_TO_ASK, what)
        if missing := lacking(question, caller.capabilities):
            return failure(MISSING_CLIENT_CAPABILITY, what, {"requiredCapabilities": missing})
    return None


async def _answers(asked: _Result, exchange: Exchange) -> dict[str, Raw]:
    """Asks everything together; returns what is added to the next call.

    Raises:
        _Refused: the client answered one with an error; the others are withdrawn.
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
        reply.result = eras.as_legacy_result(method, reply.result, is_wrapped=exchange.wraps_content is True)
    return reply


def _read(reply: Envelope) -> _Result:
    with contextlib.suppress(ValueError, RecursionError):  # what cannot be read is not ours to judge: the client gets it as it is
        if reply.result:
            return _decoder.decode(reply.result)
    return _Result()
