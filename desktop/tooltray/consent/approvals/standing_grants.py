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
from tooltray.protocol.sessions.call_timings import FROM_GRANT
from tooltray.records.audit.audit_trail import AuditTrail, Decision

MOST_KEPT = 256  # more are not approved within minutes


class RecentApprovals:
    """The calls that the user has just approved once. Belongs to the engine's loop."""

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
        """Remembers a call that the user has approved, once."""
        if not self._for_s or not self._is_harmless_again(call):
            return
        self._until.pop(call.same, None)
        if len(self._until) >= MOST_KEPT:
            del self._until[next(iter(self._until))]
        self._until[call.same] = self._now() + self._for_s

    def covers(self, call: AskedCall) -> bool:
        """Returns whether the user has just approved the same call."""
        if not self._until:
            return False
        until = self._until.get(call.same, 0.0)
        return self._now() < until and self._for_s > 0

    def similar_window_s(self, call: AskedCall) -> int:
        """Returns for how many seconds the user may allow similar calls; 0: they may not."""
        tool = tool_of(call.route.definition.name, call.route.hints)
        is_safe = tool.category == "read" or tool.is_said("destructiveHint", False)
        return self._for_s if is_safe and self._is_harmless_again(call) else 0

    def _is_harmless_again(self, call: AskedCall) -> bool:
        tool = tool_of(call.route.definition.name, call.route.hints)
        return not (call.decision.flow or tool.destroys or tool.verbs.repeats or self._guard.sends(call.route))


LASTING = (SESSION, LIKE, *ENDS, READS)
YES = (ONCE, *LASTING)


class StandingGrants:
    """All that the user has allowed before. Belongs to the engine's loop."""

    def __init__(
        self, *, grants: GrantBook, recent_approvals: RecentApprovals, call_rules: CallRules, tools: ToolManager, trail: AuditTrail
    ) -> None:
        self._grants, self._recent, self._call_rules, self._tools, self._trail = grants, recent_approvals, call_rules, tools, trail

    async def allowed_by(self, call: AskedCall) -> str:
        """Returns by which of them a call goes through, as the record names it; empty: by none."""
        return FROM_GRANT if self._recent.covers(call) else await self.covered_by(call)

    async def covered_by(self, call: AskedCall) -> str:
        """Does the same without recent approvals, each of which was for one call."""
        if self._grants.allows(call.route, call.state, call.client):
            return FROM_GRANT
        return await self._call_rules.allowed_by(call)

    def remember(self, call: AskedCall) -> None:
        self._recent.remember(call)

    async def keep(self, call: AskedCall, question: ApprovalSnapshot, answer: str) -> None:
        """Saves an answer that lasts; others are not saved.

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
            end = GrantEnd(float(self._recent.similar_window_s(call)))
            await self._grants.allow(server, "tool", one, client=call.client, end=end, is_seen=True)
        elif answer in ENDS:
            await self._grants.allow(server, "tool", one, client=call.client, end=ENDS[answer], is_seen=True)
        elif rule := rule_answered(question, answer):
            if not await self._call_rules.is_plain_for(rule, bytes(call.arguments), call.project):
                hint = Phrase("A path in it leads elsewhere, by a link.")
                raise Conflict(Phrase("This rule would not mean what it says"), Phrase("nothing was allowed"), hint)
            await self._grants.allow(server, "rule", one, client=call.client, is_seen=True, rule=rule.members())

    async def record(self, call: AskedCall, answer: str, way: str) -> None:
        """Records an answer that lasts in the audit trail, before it counts; answers for one call are recorded as they happen.

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
    """Returns whether an answer allows more than one call."""
    return answer in LASTING or is_rule(answer)


def is_yes(answer: str) -> bool:
    return answer in YES or is_rule(answer)


def reads(tools: ToolManager, server: str) -> dict[str, Route]:
    """Returns a server's tools that read, as they are now."""
    return {name: route for name, route in tools.routes(server).items() if route.decision.is_plain_read}
