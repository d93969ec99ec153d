"""A call within seconds of a yes to the same call: where the settings say so (`approvals.sameForSeconds`), it is the same question.

Above it: Approvals and ApprovalRounds. Below it: the settings, and what is known of tools. What is the same: the client, its project, the
server and where it is, the tool as it is defined, and the arguments. Other arguments count only where a person chose that ("the like of
it"), which GrantBook keeps as a grant of some seconds. Neither is for a tool that destroys or sends, or of which a second call does a
second thing; and the like of a call that writes counts only where its server says that nothing is destroyed.
"""

from collections.abc import Callable, Hashable

from tooltray.catalogue.approval import tool_of
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals.approval_questions import AskedCall
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.consent.approvals.screen_lock import ScreenLocked
from tooltray.foundation.events import EventBus

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
