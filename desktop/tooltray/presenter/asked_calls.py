"""Calls of legacy AI clients on a modern server: its `input_required` result becomes requests to the client, and the answers a second call.

The mirror of held_calls. Above it: McpPresenter. Below it: McpClient.
"""

import msgspec
from msgspec import Raw

from tooltray.presenter.mcp_client import NO_CLIENT_TO_ASK, Caller, McpClient
from tooltray.wire import eras
from tooltray.wire.envelope import INTERNAL_ERROR, NOTHING, Envelope, dump, failure
from tooltray.wire.eras import Head
from tooltray.wire.protocol import CAPABILITY_FOR

MAX_ROUNDS = 20  # a server that asks for ever is broken


class _Question(msgspec.Struct):
    method: str
    params: Raw = NOTHING


class _Result(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType", default="complete")
    questions: dict[str, _Question] = msgspec.field(name="inputRequests", default_factory=dict)
    state: Raw = msgspec.field(name="requestState", default=NOTHING)


_decoder = msgspec.json.Decoder(_Result)


async def relay(server: McpClient, request: Envelope, head: Head, caller: Caller, *, timeout_s: float) -> Envelope:
    """Calls the server until it no longer asks; that reply is the client's, and so is the error of a client that does not answer."""
    params = request.params
    for _ in range(MAX_ROUNDS):
        reply = await server.call(Envelope(method=request.method, params=params), head, caller, timeout_s=timeout_s)
        result = _read(reply)
        if result.result_type != "input_required":
            return reply
        answers = {}
        for key, question in result.questions.items():
            if question.method not in CAPABILITY_FOR or not caller.can_answer(question.method):
                return failure(NO_CLIENT_TO_ASK, f"server '{server.name}' asks for {question.method}, which this AI client cannot answer")
            answer = await caller.ask(question.method, question.params)
            if answer.error:
                return answer
            answers[key] = answer.result
        state = {"requestState": result.state} if result.state else {}
        params = eras.with_members(request.params, inputResponses=dump(answers), **state)
    return failure(INTERNAL_ERROR, f"server '{server.name}' asked {MAX_ROUNDS} times in a row without coming to a result")


def _read(reply: Envelope) -> _Result:
    try:
        return _decoder.decode(reply.result) if reply.result else _Result()
    except ValueError:
        return _Result()  # not ours to judge: the client gets it as it is
