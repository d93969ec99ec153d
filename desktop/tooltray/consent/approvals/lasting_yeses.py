"""What a person has said before that lets a call through: grants, yeses of a moment ago, and rules on arguments; and what keeps such a yes.

Above it: Approvals, which asks before anybody is asked, and ApprovalRounds, which has an answer to keep. Below it: GrantBook, RecentYeses,
CallRules, and the audit trail. Knows of no question that waits.
"""

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.approval_questions import ONCE, READS, SESSION, AskedCall, is_rule, rule_answered, short_mark
from tooltray.consent.approvals.call_rules import CallRules
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grant_ends import ENDS, LIKE, GrantEnd
from tooltray.consent.approvals.recent_yeses import RecentYeses
from tooltray.foundation.confirmation import YES_TO_CALLS
from tooltray.foundation.errors import Conflict
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.sessions.call_course import FROM_GRANT
from tooltray.records.audit.audit_trail import AuditTrail, Decision

LASTING = (SESSION, LIKE, *ENDS, READS)
YES = (ONCE, *LASTING)


class LastingYeses:
    """Belongs to the engine's loop."""

    def __init__(self, *, grants: GrantBook, recent: RecentYeses, call_rules: CallRules, tools: ToolManager, trail: AuditTrail) -> None:
        self._grants, self._recent, self._call_rules, self._tools, self._trail = grants, recent, call_rules, tools, trail

    async def allowed_by(self, call: AskedCall) -> str:
        """By which of them a call goes through, as the record names it; empty: by none."""
        return FROM_GRANT if self._recent.covers(call) else await self.covered_by(call)

    async def covered_by(self, call: AskedCall) -> str:
        """The same without the yeses of a moment ago, each of which was for one call."""
        if self._grants.allows(call.route, call.state, call.client):
            return FROM_GRANT
        return await self._call_rules.allowed_by(call)

    def remember(self, call: AskedCall) -> None:
        """A person has said yes to it, once."""
        self._recent.remember(call)

    async def keep(self, call: AskedCall, question: ApprovalSnapshot, answer: str) -> None:
        """Keeps an answer that lasts; of others nothing is to be kept.

        Args:
            question: what the person read.

        Raises:
            TooltrayError: it cannot be written, its session has ended, or its rule would be wider than it reads; nothing was allowed.
        """
        server, name, one = call.route.server, call.route.definition.name, {call.route.definition.name: call.route}
        if answer == SESSION and not call.state.connections:
            hint = Phrase("Allow it for longer, for example for an hour.")
            raise Conflict(Phrase("The session has ended"), Phrase("its AI client is not connected any more, so nothing was allowed"), hint)
        if answer == SESSION:
            self._grants.allow_in_session(call.route, call.state, call.client, knows_flow=bool(call.decision.flow))
        elif answer == READS:
            await self._grants.allow(server, "reads", {**reads(self._tools, server), name: call.route}, client=call.client, is_seen=True)
        elif answer == LIKE:
            end = GrantEnd(float(self._recent.like_for_s(call)))
            await self._grants.allow(server, "tool", one, client=call.client, end=end, is_seen=True)
        elif answer in ENDS:
            await self._grants.allow(server, "tool", one, client=call.client, end=ENDS[answer], is_seen=True)
        elif rule := rule_answered(question, answer):
            if not await self._call_rules.is_plain_for(rule, bytes(call.arguments), call.project):
                hint = Phrase("A path in it leads elsewhere, by a link.")
                raise Conflict(Phrase("This rule would not mean what it says"), Phrase("nothing was allowed"), hint)
            await self._grants.allow(server, "rule", one, client=call.client, is_seen=True, rule=rule.members())

    async def record(self, call: AskedCall, answer: str, way: str) -> None:
        """An answer that lasts counts only once it stands in the audit trail; answers for one call are recorded as they happen.

        Args:
            way: by which the AI client's own person was asked.

        Raises:
            TooltrayError: it cannot be written.
        """
        if is_lasting(answer):
            about = {"server": call.route.server, "tool": call.shown_tool, "client": call.client, "answer": answer}
            about["definitions"] = short_mark(call.route)
            await self._trail.record(Decision(YES_TO_CALLS, "yes", way, suspicion.visible(call.client), about=about))


def is_lasting(answer: str) -> bool:
    """Whether an answer allows more than one call."""
    return answer in LASTING or is_rule(answer)


def is_yes(answer: str) -> bool:
    return answer in YES or is_rule(answer)


def reads(tools: ToolManager, server: str) -> dict[str, Route]:
    """A server's tools that read, as they are now."""
    return {name: route for name, route in tools.routes(server).items() if route.decision.is_plain_read}
