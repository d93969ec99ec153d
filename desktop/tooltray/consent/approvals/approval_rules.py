"""Decides whether a call runs or the user is asked: the rules of the settings, the client's own rules, and the flow guard."""

from collections.abc import Awaitable, Callable

from msgspec import Raw

from tooltray.catalogue import auto_approve
from tooltray.catalogue.auto_approve import Decision
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.modes import Modes
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals.asked_call import AskedCall, project_of
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.errors import NotFound
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager


class ApprovalRules:
    """The rules of the settings, and the flow guard against them. Has no state of its own."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        modes: Modes,
        flow_guard: FlowGuard,
        settle_project: Callable[[Session], Awaitable[None]],
    ) -> None:
        """
        Args:
            settle_project: waits, bounded, until a session's project is known, or known to be none.
        """
        self._config, self._servers, self._modes, self._guard = config, servers, modes, flow_guard
        self._settle_project = settle_project

    def allow(self, route: Route, state: SessionState, params: Raw) -> bool:
        """Returns whether a call runs without asking. `params`: of the `tools/call`."""
        return self._config.settings.mcp_enabled and self.decision(route, state, params).is_approved

    def frees(self, route: Route) -> bool:
        """Returns whether all calls of a tool run without asking until the settings change, from any client and with any arguments."""
        settings = self._config.settings
        return settings.mcp_enabled and not settings.publish.clients and not self._guard.is_on and route.decision.is_approved

    def decision(self, route: Route, state: SessionState, params: Raw) -> Decision:
        """Returns the decision of the rules, unless the flow guard makes the call ask."""
        return self._guard.guarded(self._by_rules(route, state), route, state, params)

    async def renewed(self, call: AskedCall, *, is_started: bool = True) -> AskedCall:
        """Returns the same call if its tool and its project are unchanged; else a call of the present tool for the present project.

        Args:
            is_started: its server is asked, and started if need be.

        Raises:
            TooltrayError: the tool is not offered any more, or its server does not run; the error has the reason.
        """
        now = await call.confirmed() if is_started else call.current()
        if now is None:
            raise NotFound(f"the tool '{call.shown_tool}' is not offered any more")
        return call if call.is_for(now) else self.judged_again(call, now)

    async def settled(self, call: AskedCall, session: Session) -> AskedCall:
        """Returns the call for the project of its session, once that is known: a question names it, and the answer counts for it alone.

        Raises:
            TooltrayError: the tool is not offered any more.
        """
        await self._settle_project(session)
        return call if project_of(call.state) == call.project else await self.renewed(call, is_started=False)

    def judged_again(self, call: AskedCall, now: Route) -> AskedCall:
        """Returns the call with the tool as it is now, and the rules' decision about it."""
        return call.of(now, self.decision(now, call.state, call.params))

    def _by_rules(self, route: Route, state: SessionState) -> Decision:
        """Returns the decision of the client's own rules instead of the server's, except for tools that always ask and built-in servers."""
        rules = self._modes.auto_approve(state)
        if rules is None or route.decision.is_excepted or self._servers.get(route.server).is_builtin:
            return route.decision
        return auto_approve.decide(route.server, route.definition.name, route.hints, rules)
