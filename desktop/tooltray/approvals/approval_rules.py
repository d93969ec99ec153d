"""Whether the settings alone allow a tool call: the rules of the AI client, else those of the server.

Above it: Approvals and ApprovalRounds. Below it: Modes, for a client's rules, and catalogue/approval. Asked with each call: awaits nothing.
"""

from msgspec.structs import replace

from tooltray.catalogue import approval
from tooltray.catalogue.approval import Decision
from tooltray.catalogue.tool_routes import Route
from tooltray.sessions.session_state import SessionState
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.modes import Modes

OWN_RULES = "changes what goes through unasked for this AI client (`tooltray clients approve`)"


class ApprovalRules:
    """Has no state of its own."""

    def __init__(self, *, config: McpConfHelper, servers: ServerManager, modes: Modes) -> None:
        self._config, self._servers, self._modes = config, servers, modes

    def allow(self, route: Route, state: SessionState) -> bool:
        """Whether a call goes through without anybody's consent."""
        return self._config.settings.mcp_enabled and self.decision(route, state).is_approved

    def decision(self, route: Route, state: SessionState) -> Decision:
        """The client's own rules count in the place of the server's, except for tools that ask always; built-in servers keep theirs."""
        rules = self._modes.auto_approve(state)
        if rules is None or route.decision.is_excepted or self._servers.get(route.server).is_builtin:
            return route.decision
        decision = approval.decide(route.server, route.definition.name, route.hints, rules)
        return decision if decision.is_approved else replace(decision, hint=OWN_RULES)
