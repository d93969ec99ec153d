"""The decision by rules: the AI client's, else the server's, unless the flow guard makes the call ask."""

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue import approval
from tooltray.catalogue.approval import Decision
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.modes import Modes
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.asked_call import AskedCall
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.errors import NotFound
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.session_flow import SessionFlow
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager

LONGEST_PLACE = 120  # characters of a host or a path


class ApprovalRules:
    """The rules of the settings, and the flow guard against them. Has no state of its own."""

    def __init__(self, *, config: McpConfHelper, servers: ServerManager, modes: Modes, flow_guard: FlowGuard) -> None:
        self._config, self._servers, self._modes, self._guard = config, servers, modes, flow_guard

    def allow(self, route: Route, state: SessionState, params: Raw) -> bool:
        """Returns whether a call runs without asking. `params`: of the `tools/call`."""
        return self._config.settings.mcp_enabled and self.decision(route, state, params).is_approved

    def frees(self, route: Route) -> bool:
        """Returns whether all calls of a tool run without asking until the settings change, from any client and with any arguments."""
        settings = self._config.settings
        return settings.mcp_enabled and not settings.publish.clients and not self._guard.is_on and route.decision.is_approved

    def decision(self, route: Route, state: SessionState, params: Raw) -> Decision:
        """Returns the decision of the rules, unless the flow guard makes the call ask."""
        decision = self._by_rules(route, state)
        if self._guard.is_on and (read := self._guard.asks(route, state, params)):
            return _guarded(decision, route, read)
        return decision

    async def renewed(self, call: AskedCall, *, is_started: bool = True) -> AskedCall:
        """Returns the same call if its tool and its project are unchanged; else the call of the present ones.

        Args:
            is_started: its server is asked, and started if need be.

        Raises:
            TooltrayError: the tool is not offered any more, or its server does not run; the error has the reason.
        """
        now = await call.confirmed() if is_started else call.current()
        if now is None:
            raise NotFound(f"the tool '{call.shown_tool}' is not offered any more")
        return call if call.is_for(now) else self.judged_again(call, now)

    def judged_again(self, call: AskedCall, now: Route) -> AskedCall:
        """Returns the call of the tool as it is now, with the decision of the rules about that."""
        return call.of(now, self.decision(now, call.state, call.params))

    def _by_rules(self, route: Route, state: SessionState) -> Decision:
        """Returns the decision of the client's own rules instead of the server's, except for tools that always ask and built-in servers."""
        rules = self._modes.auto_approve(state)
        if rules is None or route.decision.is_excepted or self._servers.get(route.server).is_builtin:
            return route.decision
        return approval.decide(route.server, route.definition.name, route.hints, rules)


def _guarded(decision: Decision, route: Route, read: SessionFlow) -> Decision:
    what, tool = in_words(read), suspicion.visible(route.definition.name)
    message = Phrase("this session has {read}, and '{tool}' sends or publishes", read=what, tool=tool)
    flow = Phrase("it has {read}, and now wants to send with {tool}", read=what, tool=tool)
    return replace(decision, is_approved=False, rule="", message=message, flow=flow)


def in_words(read: SessionFlow) -> Phrase:
    """Returns a description of what was read, to follow the word "has"; texts of servers and models are made harmless."""
    server, tool, place = suspicion.visible(read.server), suspicion.visible(read.tool), plain(read.place, LONGEST_PLACE)
    if place:
        return Phrase("read {place} with {tool} of {server}", place=place, tool=tool, server=server)
    if tool:
        return Phrase("read what strangers may have written, with {tool} of {server}", tool=tool, server=server)
    return Phrase("read what strangers may have written, from {server}", server=server)
