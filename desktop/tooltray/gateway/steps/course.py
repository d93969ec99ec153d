"""One chain on its way: makes its calls one after the other, and keeps the values that later ones need."""

from collections.abc import Mapping
from typing import NoReturn

from msgspec import Raw

from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.meta_calls import ToolCall
from tooltray.foundation.errors import TooltrayError, words_for_model
from tooltray.foundation.tasks import finish_in_thread
from tooltray.gateway.calls.stage import REFUSED
from tooltray.gateway.steps.call_checks import CallChecks
from tooltray.gateway.steps.chain import Chain, Step, check_calls
from tooltray.gateway.steps.references import ITEM, Room, dumped, resolve
from tooltray.gateway.steps.step_calls import StepCalls
from tooltray.gateway.steps.step_values import failed_reason, value_of
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import answer_in_rounds

AT_ONCE_BYTES = 2**20  # of values that are read or joined in the loop, in some milliseconds; with more it is done in a thread
LONGEST_SKIPPED = 200  # characters of the reason why a call was skipped; one result may have fifty of them


class _Refused(TooltrayError):
    """A call that was not approved. It ends the chain in any case: the model has to see it before it makes further calls."""


class _Rounds:
    """One call to a tool, in one or more rounds: a modern server may answer with a question. Satisfies Answering.

    Attributes:
        exchange: of the last round.
    """

    def __init__(self, name: str, calls: StepCalls, call: ToolCall, exchange: Exchange) -> None:
        self.name, self._calls, self._call, self.exchange = name, calls, call, exchange

    async def call(self, exchange: Exchange, *, timeout_s: float = 0.0) -> Envelope:
        """Makes the call of one round, which has the time that its server's settings give it."""
        self.exchange = self._calls.repeated(exchange.request.params)
        return await self._call(self.exchange)


class Course:
    """One chain on its way.

    Attributes:
        routes: the tools that were called.
        skipped: the calls that failed and did not end the chain.
    """

    def __init__(self, chain: Chain, exchange: Exchange, call: ToolCall, checks: CallChecks) -> None:
        """
        Args:
            exchange: of the call of `run_steps`.
            call: carries out each call.
        """
        self._chain, self._exchange, self._call, self._checks = chain, exchange, call, checks
        self._calls, self._room = StepCalls(exchange, len(chain.steps)), Room("the values of this chain")
        self._values: dict[str, object] = {}
        self._made: dict[str, int] = {}  # calls that succeeded, by step
        self.routes: list[Route] = []
        self.skipped: list[object] = []

    async def run(self) -> Raw:
        """Makes the calls, and returns the result as JSON.

        Raises:
            TooltrayError: a step has failed; the error has what was done before, for a model.
        """
        for place, step in enumerate(self._chain.steps):
            try:
                value = await self._step(step, place)
            except TooltrayError as error:
                self._fail(f"step '{step.id}' failed: {words_for_model(error)}")
            if step.id in self._chain.used:
                self._values[step.id] = value
        try:
            return dumped(await self._resolved(self._chain.result, self._values))
        except TooltrayError as error:
            self._fail(words_for_model(error))

    def _fail(self, reason: str) -> NoReturn:
        made = ", ".join(f"{step}: {count} call{'s' if count > 1 else ''}" for step, count in self._made.items())
        raise TooltrayError(reason, f"Done before, and not undone: {made}" if made else "Nothing was done before")

    async def _step(self, step: Step, place: int) -> object:
        """Returns the value of a step: the value of its call, or a list with the values of its calls."""
        if step.for_each is None:
            return next(iter(await self._value(step, place, self._values)), None)
        items = await self._resolved(step.for_each, self._values)
        if not isinstance(items, list):
            raise TooltrayError("for_each needs a list")
        later = sum(each.for_each is None for each in self._chain.steps[place + 1 :])
        check_calls(sum(self._made.values()) + len(self.skipped) + len(items) + later, "for_each")
        found = list[object]()
        for number, item in enumerate(items):
            found += await self._value(step, place, {**self._values, ITEM: item}, number, len(items))
        return found

    async def _value(self, step: Step, place: int, values: Mapping[str, object], number: int = 0, count: int = 1) -> list[object]:
        """Returns the value of one call of a step; nothing if it has failed and is skipped.

        Args:
            place: of the step in the chain.
            values: for the arguments.
            number: of the call in the step, from 0.
            count: how many calls the step has.
        """
        self._calls.begin(place, step.id, number, count)
        try:
            return [await self._called(step, values)]
        except TooltrayError as error:
            if step.skips and not isinstance(error, _Refused):
                self.skipped.append({"step": step.id, "call": number + 1, "reason": words_for_model(error)[:LONGEST_SKIPPED]})
                return []
            if count == 1:
                raise
            raise TooltrayError(f"call {number + 1} of {count}: {words_for_model(error)}") from None

    async def _called(self, step: Step, values: Mapping[str, object]) -> object:
        self._checks.check(step.tool, self._exchange.server)
        arguments = dumped(await self._resolved(step.arguments, values))
        exchange = self._calls.exchange(step.tool, arguments)
        rounds = _Rounds(step.tool, self._calls, self._call, exchange)
        is_modern = exchange.era is Era.MODERN
        reply = await (answer_in_rounds(rounds, exchange, timeout_s=0.0) if is_modern else rounds.call(exchange))
        if (route := self._checks.route(rounds.exchange)) and route not in self.routes:
            self.routes.append(route)
        if reason := failed_reason(reply):
            raise (_Refused if rounds.exchange.timings.outcome == REFUSED else TooltrayError)(reason)
        self._made[step.id] = self._made.get(step.id, 0) + 1
        if step.id not in self._chain.used:
            return None
        if len(memoryview(reply.result)) <= AT_ONCE_BYTES:
            return value_of(reply.result, self._room)
        return await finish_in_thread(value_of, reply.result, self._room)

    async def _resolved(self, value: object, values: Mapping[str, object]) -> object:
        room = Room("the values that are joined here")
        if self._room.used_bytes <= AT_ONCE_BYTES:
            return resolve(value, values, room)
        return await finish_in_thread(resolve, value, values, room)
