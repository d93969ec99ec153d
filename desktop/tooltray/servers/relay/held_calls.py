"""Calls of modern AI clients that ask while they run.

A legacy server asks its client while a call runs (elicitation, sampling, roots); a modern client is never asked, but gets an
`input_required` result and calls again with the answers. So the call to the server stays open between the calls of the client. Questions of
Tooltray itself are asked in the same way: approvals, and its own tools'.
"""

import asyncio
import itertools
import secrets
from functools import partial

from msgspec import Raw

from tooltray.foundation.tasks import Spawn
from tooltray.protocol import eras
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, dump, failure
from tooltray.protocol.sessions.caller import MAY_ASK, Caller, Question, Session, can_be_asked, lacking
from tooltray.protocol.sessions.exchange import Exchange, Work

HELD_FOR_S = 600.0  # the user may need minutes; the server's own call may time out before
MAX_HELD = 32  # of one AI client; a client that never continues its calls must not fill the memory
GATHERED_FOR_S = 0.02  # questions that a server asks together arrive one after another
STATE_BYTES = 24  # too many to guess
PROGRESS = "notifications/progress"
UNKNOWN_STATE = "the state of this call has expired; call again"


class HeldCall:
    """One call, and the Caller that represents the modern client to the server, or to Tooltray if Tooltray answers.

    Attributes:
        owner: the name of the server, or of the part of Tooltray, that answers the call.
        outcome: the reply to the call.
    """

    def __init__(self, owner: str, exchange: Exchange) -> None:
        head, self.method = exchange.head, exchange.request.method
        self.capabilities = head.meta.capabilities if self.method in MAY_ASK else Raw(b"{}")
        self.owner, self._name, self._first_token = owner, head.name, head.meta.progress_token
        self._take(exchange)
        self._questions: dict[str, tuple[Question, asyncio.Future[Envelope]]] = {}  # without an answer, by the key that the client sees
        self._keys = itertools.count(1)
        self._turn: asyncio.Future[None] | None = None
        self.outcome: asyncio.Task[Envelope]
        self.deadline: Deadline | None = None

    # requests of the server to the client (Caller)

    @property
    def session(self) -> Session:
        return self._caller.session

    def can_answer(self, method: str) -> bool:
        return can_be_asked(method, self.capabilities)

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        question = Question(method, params)
        if lacking(question, self.capabilities):
            return failure(INVALID_PARAMS, f"this AI client did not declare support for this kind of {method}")
        answer: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        key = str(next(self._keys))
        self._questions[key] = (question, answer)
        self._wake()
        try:
            return await answer
        finally:
            self._questions.pop(key, None)  # the server may have withdrawn it

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        """Notifies the client as part of its latest call; while the client is to call again, notifications are dropped."""
        if self._request_id is None or (method == PROGRESS and not self._token):
            return
        if method == PROGRESS and self._token != self._first_token:
            params = eras.with_members(params, progressToken=self._token)
        self._caller.tell(method, params, about=self._request_id if about else NOTHING)

    # actions of the client

    def is_continued_by(self, owner: str, exchange: Exchange) -> bool:
        """Returns whether an exchange is the same call, made again: a client cannot use the state of one call to continue another."""
        return (self.owner, self.method, self._name) == (owner, exchange.request.method, exchange.head.name)

    def go_on(self, exchange: Exchange) -> None:
        """Continues with a client's next call: its answers go to the server, and later notifications go with this call."""
        self._take(exchange)
        for key, response in exchange.head.input_responses.items():
            if key in self._questions:
                _, answer = self._questions.pop(key)
                if not answer.done():  # the server has just died, or withdrawn it
                    answer.set_result(Envelope(result=response))

    def _take(self, exchange: Exchange) -> None:
        self._caller: Caller = exchange.caller
        self._token = exchange.head.meta.progress_token
        self._request_id: Raw | None = exchange.request.id

    # progress

    def begin(self, outcome: "asyncio.Task[Envelope]") -> None:
        self.outcome = outcome
        outcome.add_done_callback(lambda outcome: self._wake())

    async def is_over(self) -> bool:
        """Waits until there is an outcome or a question; returns False for questions."""
        while not self.outcome.done():
            if not self._questions:
                await self._next_turn()
            elif not (await asyncio.wait({self.outcome}, timeout=GATHERED_FOR_S))[0] and self._questions:
                return False
        return True

    async def _next_turn(self) -> None:
        self._turn = asyncio.get_running_loop().create_future()
        await self._turn

    def required(self, state: str) -> Envelope:
        """Returns the questions without an answer, as the result of the client's call."""
        self._request_id = None
        asked = {key: question.to_json() for key, (question, _) in self._questions.items()}
        return Envelope(result=dump({"resultType": "input_required", "inputRequests": asked, "requestState": state}))

    def _wake(self) -> None:
        if self._turn and not self._turn.done():
            self._turn.set_result(None)


class HeldCalls:
    """The held calls of one AI client, which may have several connections. Satisfies Held. Belongs to the engine's loop."""

    def __init__(self, *, deadlines: DeadlineWheel, spawn: Spawn) -> None:
        self._deadlines, self._spawn = deadlines, spawn
        self._held: dict[str, HeldCall] = {}

    def is_held(self, state: str, owner: str) -> bool:
        """Returns whether a `requestState` belongs to a call of `owner` that waits for the client's answers."""
        call = self._held.get(state)
        return call is not None and call.owner == owner

    async def run(self, work: Work, exchange: Exchange, *, owner: str) -> Envelope:
        """Begins work that may ask the client's user, or continues the call that the request's `requestState` names.

        Args:
            work: gets an Exchange whose caller is asked in the modern way; its reply is the call's. Not begun if a call is continued.
            owner: the name of the server or part that answers the call; the state of its calls is not valid for another owner.
        """
        call = self._resumed(owner, exchange) if exchange.head.request_state else self._begin(work, owner, exchange)
        if call is None:
            return failure(INVALID_PARAMS, UNKNOWN_STATE)
        try:
            is_over = await call.is_over()
        except asyncio.CancelledError:
            call.outcome.cancel()
            raise
        return self._outcome(call) if is_over else self._hold(call)

    def close(self) -> None:
        """Cancels the calls of a client that has disconnected."""
        for state in list(self._held):
            self._give_up(state)

    def _begin(self, work: Work, owner: str, exchange: Exchange) -> HeldCall:
        call = HeldCall(owner, exchange)
        call.begin(self._spawn(work(exchange.child(caller=call)), name=f"held {call.method}"))
        return call

    def _resumed(self, owner: str, exchange: Exchange) -> HeldCall | None:
        state = exchange.head.request_state
        call = self._held.get(state)
        if call is None or not call.is_continued_by(owner, exchange):
            return None
        self._release(state)
        call.go_on(exchange)
        return call

    def _hold(self, call: HeldCall) -> Envelope:
        if len(self._held) >= MAX_HELD:
            self._give_up(next(iter(self._held)))
        state = secrets.token_urlsafe(STATE_BYTES)
        self._held[state] = call
        call.deadline = self._deadlines.add(HELD_FOR_S, partial(self._give_up, state))
        return call.required(state)

    def _outcome(self, call: HeldCall) -> Envelope:
        reply = call.outcome.result()
        if reply.error:
            reply.error = eras.as_modern_error(call.method, reply.error)
        return reply

    def _give_up(self, state: str) -> None:
        if call := self._release(state):
            call.outcome.cancel()

    def _release(self, state: str) -> HeldCall | None:
        call = self._held.pop(state, None)
        if call and call.deadline:
            call.deadline.cancel()
            call.deadline = None
        return call
