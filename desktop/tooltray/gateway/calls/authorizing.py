"""The stage that authorises a call: by the rules, or once the user has allowed it."""

from collections.abc import Coroutine
from functools import partial

from msgspec.structs import replace

from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.approvals import Approvals
from tooltray.gateway.calls.stage import REFUSED, Rest, Terms
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.call_timings import FROM_RULES
from tooltray.protocol.sessions.exchange import Exchange, Work


class Authorizing:
    """A stage without a state of its own."""

    def __init__(self, *, rules: ApprovalRules, approvals: Approvals) -> None:
        self._rules, self._approvals = rules, approvals

    def bind(self, terms: Terms, rest: Rest) -> Work:
        then = rest(terms)
        return partial(_let_through, then) if self._rules.frees(terms.route) else partial(self._authorized, terms, then, rest)

    async def _authorized(self, terms: Terms, then: Work, rest: Rest, exchange: Exchange) -> Envelope:
        route, course = terms.route, exchange.course
        if self._rules.allow(route, exchange.session.state, exchange.request.params):
            course.allowed_by = FROM_RULES
            return await then(exchange)
        if refusal := await self._approvals.refusal(route, exchange):
            course.outcome = REFUSED
            return refusal
        reply = await rest(replace(terms, is_free=False))(exchange)  # composed now: the settings may be others than before the question
        self._approvals.let_come_again(route, exchange, reply)
        return reply


def _let_through(then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
    exchange.course.allowed_by = FROM_RULES
    return then(exchange)
