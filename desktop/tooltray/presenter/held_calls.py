"""Calls of modern AI clients on a legacy server.

A legacy server asks its client while a call runs (elicitation, sampling, roots); a modern client is never asked, it gets an
`input_required` result and calls again with the answers. So the call to the server stays open between the two calls of the client.

Above it: McpPresenter. Below it: McpClient.
"""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import msgspec
from msgspec import Raw

from tooltray.presenter.mcp_client import Caller, McpClient
from tooltray.tasks import Spawn
from tooltray.wire.deadlines import Deadline, DeadlineWheel
from tooltray.wire.envelope import Envelope, dump
from tooltray.wire.eras import Head
from tooltray.wire.protocol import CAPABILITY_FOR

HELD_FOR_S = 600.0  # a person may need minutes; the server's own call may time out before

Question = tuple[str, Raw, asyncio.Future[Envelope]]
"""What a server asks: method, params, and where the answer goes."""


@dataclass(eq=False)
class HeldCall:
    """One call to the server; stands for the modern client towards McpClient (a `Caller`)."""

    client: Caller
    capabilities: Raw
    questions: asyncio.Queue[Question] = field(default_factory=asyncio.Queue)
    open_question: Question | None = None
    outcome: asyncio.Task[Envelope] | None = None
    deadline: Deadline | None = None

    def __eq__(self, other: object) -> bool:
        """Two calls of one client are one caller: a question may go by either."""
        return isinstance(other, HeldCall) and other.client is self.client

    def __hash__(self) -> int:
        return id(self.client)

    def can_answer(self, method: str) -> bool:
        declared = msgspec.json.decode(self.capabilities)
        return isinstance(declared, dict) and CAPABILITY_FOR[method] in declared

    async def ask(self, method: str, params: Raw) -> Envelope:
        answer: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        self.questions.put_nowait((method, params, answer))
        return await answer

    def tell(self, method: str, params: Raw) -> None:
        self.client.tell(method, params)

    def answer(self, responses: Mapping[str, Raw]) -> None:
        """Passes on what the client says to the open question; if it says nothing, it is asked again."""
        question, self.open_question = self.open_question, None
        if question is None or question[2].done():  # the server may have withdrawn it, or died
            return
        if responses:
            question[2].set_result(Envelope(result=next(iter(responses.values()))))
        else:
            self.questions.put_nowait(question)


class HeldCalls:
    """Those of one session."""

    def __init__(self, *, client: Caller, deadlines: DeadlineWheel, spawn: Spawn) -> None:
        self._client, self._deadlines, self._spawn = client, deadlines, spawn
        self._held: dict[str, HeldCall] = {}

    async def relay(self, server: McpClient, request: Envelope, head: Head, *, timeout_s: float) -> Envelope:
        """Begins a call, or goes on with the one that the request's `requestState` names."""
        call = self._held.pop(head.request_state, None) or self._begin(server, request, head, timeout_s)
        if call.deadline:
            call.deadline.cancel()
            call.deadline = None
        call.answer(head.input_responses)
        assert call.outcome is not None
        question = self._spawn(call.questions.get(), name=f"question of {request.method}")
        try:
            await asyncio.wait({call.outcome, question}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            call.outcome.cancel()
            raise
        finally:
            if not question.done():
                question.cancel()
        if call.outcome.done():
            return call.outcome.result()
        return self._hold(call, question.result())

    def close(self) -> None:
        """The client is gone: its calls are given up."""
        for state in list(self._held):
            self._expire(state)

    def _begin(self, server: McpClient, request: Envelope, head: Head, timeout_s: float) -> HeldCall:
        call = HeldCall(self._client, head.meta.capabilities)
        call.outcome = self._spawn(server.call(request, head, call, timeout_s=timeout_s), name=f"held {request.method}")
        return call

    def _hold(self, call: HeldCall, question: Question) -> Envelope:
        state = secrets.token_urlsafe(12)
        self._held[state], call.open_question = call, question
        call.deadline = self._deadlines.add(HELD_FOR_S, partial(self._expire, state))
        method, params, _ = question
        asked = {"method": method} | ({"params": params} if params else {})
        return Envelope(result=dump({"resultType": "input_required", "inputRequests": {"1": asked}, "requestState": state}))

    def _expire(self, state: str) -> None:
        call = self._held.pop(state, None)
        if call and call.deadline and call.outcome:
            call.deadline.cancel()
            call.deadline = None
            call.outcome.cancel()
