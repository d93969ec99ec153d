"""Answers calls of `run_steps`. Each call of a chain passes the same stages as any other call: approvals, limits, the journal."""

from collections.abc import Mapping

from msgspec import Raw, to_builtins

from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.meta_calls import ToolCall
from tooltray.foundation.errors import TooltrayError, words_for_model
from tooltray.gateway.kept_results.result_fitting import ResultFitting
from tooltray.gateway.steps.call_checks import CallChecks
from tooltray.gateway.steps.chain import Chain, read_chain
from tooltray.gateway.steps.course import Course
from tooltray.gateway.steps.step_calls import StepCalls
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed
from tooltray.protocol.sessions.exchange import Exchange


class RunSteps:
    """The work behind `run_steps`. Has no state of its own."""

    def __init__(self, *, call: ToolCall, checks: CallChecks, result_fitting: ResultFitting) -> None:
        """
        Args:
            call: carries out each call.
        """
        self._call, self._checks, self._fitting = call, checks, result_fitting

    async def __call__(self, exchange: Exchange) -> Envelope:
        if exchange.era is Era.MODERN:
            return await exchange.held.run(self._answer, exchange, owner=meta_tools.RUN)
        return await self._answer(exchange)

    async def _answer(self, exchange: Exchange) -> Envelope:
        try:
            chain = self._read(exchange)
        except TooltrayError as error:
            return meta_tools.refusal(TooltrayError(words_for_model(error), "Nothing was called"), exchange.era)
        if chain.is_dry:
            return _answer({"calls": dump(await self._planned(chain, exchange))}, exchange.era)
        course = Course(chain, exchange, self._call, self._checks)
        try:
            result = await course.run()
        except TooltrayError as error:
            return meta_tools.refusal(error, exchange.era)
        skipped = {"skipped": dump(course.skipped)} if course.skipped else {}
        reply = _answer({"result": result} | skipped, exchange.era)
        return await self._fitting.fit_chain(reply, course.routes, exchange)

    def _read(self, exchange: Exchange) -> Chain:
        """Reads and checks a chain. Raises TooltrayError with the path of the mistake."""
        chain = read_chain(exchange.request.params)
        for place, step in enumerate(chain.steps):
            try:
                self._checks.check(step.tool, exchange.server)
            except TooltrayError as error:
                raise TooltrayError(f"steps[{place}].tool: {words_for_model(error)}") from None
        return chain

    async def _planned(self, chain: Chain, exchange: Exchange) -> list[object]:
        """Returns the steps as they would be called, each with the reason why it would be refused, if that is known."""
        calls, planned = StepCalls(exchange, len(chain.steps)), list[object]()
        for step in chain.steps:
            problem = await self._checks.problem(calls.exchange(step.tool, Raw(b"{}")))
            planned.append(to_builtins(step.written) | ({"problem": problem} if problem else {}))
        return planned


def _answer(members: Mapping[str, Raw], era: Era) -> Envelope:
    return meta_tools.answer(bytes(closed(members)).decode("utf-8", "replace"), era)
