"""What the user has allowed before that lets a call through: recent approvals, grants, and rules on arguments.

A recent approval is one within `approvals.sameForSeconds` of the same call: the same client, project, server and its address, tool
definition and arguments. Other arguments count only where the user chose "like", which is a grant of some seconds. Neither is for a tool
that destroys or sends, or of which a second call does a second thing; and a similar call that writes counts only where its server declares
that nothing is destroyed.
"""

from collections.abc import Callable, Hashable

from tooltray.catalogue.approval import tool_of
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.asked_call import ONCE, READS, SESSION, AskedCall, is_rule, rule_answered, short_mark
from tooltray.consent.approvals.call_rules import CallRules
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grant_ends import ENDS, LIKE, GrantEnd, ScreenLocked
from tooltray.foundation.confirmation import YES_TO_CALLS
from tooltray.foundation.errors import Conflict
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.sessions.call_course import FROM_GRANT
from tooltray.records.audit.audit_trail import AuditTrail, Decision

MOST_KEPT = 256  # nobody says yes more often within minutes


class RecentYeses:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, flow_guard: FlowGuard, bus: EventBus, now: Callable[[], float]) -> None:
        """
        Args:
            now: seconds that never go back, and go on while the computer sleeps.
        """
        self._config, self._guard, self._now = config, flow_guard, now
        self._until: dict[Hashable, float] = {}
        bus.subscribe(ScreenLocked, lambda event: self._until.clear())

    @property
    def _for_s(self) -> int:
        return self._config.settings.approvals.same_for_seconds

    def remember(self, call: AskedCall) -> None:
        """A person has said yes to it, once."""
        if not self._for_s or not self._is_harmless_again(call):
            return
        self._until.pop(call.same, None)
        if len(self._until) >= MOST_KEPT:
            del self._until[next(iter(self._until))]
        self._until[call.same] = self._now() + self._for_s

    def covers(self, call: AskedCall) -> bool:
        """Whether a person has just said yes to the same call."""
        if not self._until:
            return False
        until = self._until.get(call.same, 0.0)
        return self._now() < until and self._for_s > 0

    def like_for_s(self, call: AskedCall) -> int:
        """For how many seconds a person may allow the like of a call; 0: they may not."""
        tool = tool_of(call.route.definition.name, call.route.hints)
        is_safe = tool.category == "read" or tool.is_said("destructiveHint", False)
        return self._for_s if is_safe and self._is_harmless_again(call) else 0

    def _is_harmless_again(self, call: AskedCall) -> bool:
        tool = tool_of(call.route.definition.name, call.route.hints)
        return not (call.decision.flow or tool.destroys or tool.verbs.repeats or self._guard.sends(call.route))


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
