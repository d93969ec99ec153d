"""One tool call about which the user may be asked, the names of the answers, and what the rules of the settings decide about it."""

from collections.abc import Callable, Coroutine

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue import approval
from tooltray.catalogue.approval import Decision
from tooltray.catalogue.definition import canonical, digest
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.modes import Modes
from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.errors import NotFound
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager

READ_BELOW_BYTES = 262_144  # of larger arguments only the beginning is shown: reading them would block the loop
ONCE, SESSION, READS, REFUSE = "once", "session", "reads", "refuse"
RULE = "rule"
"""The prefix of answers that make a rule on arguments: `rule-1` and so on."""


class AskedCall(msgspec.Struct, frozen=True):
    """One tool call about which the user is asked.

    Attributes:
        route: the tool as it was defined when it was called.
        decision: why the rules do not allow it.
        client: the client's own name.
        arguments: unchanged, as JSON.
        digest: equal for equal arguments.
        project: the folder on which the session works, if that is known.
        params: of the `tools/call`.
        current: the same tool as it is defined now, as far as known; None if the tool is not offered any more.
        confirmed: the same tool as its server defines it now; starts the server if need be, and raises TooltrayError if it does not answer.
    """

    route: Route
    decision: Decision
    state: SessionState
    client: str
    arguments: Raw
    digest: str
    project: str
    current: Callable[[], Route | None]
    confirmed: Callable[[], Coroutine[object, None, Route | None]]
    params: Raw = NOTHING

    @property
    def same_in_session(self) -> tuple[str, ...]:
        """The key of one question: calls of one session with the same key share a question."""
        return (self.state.id, *self.same)

    @property
    def same(self) -> tuple[str, ...]:
        """The key of the calls that an approval of one call covers: this client, its project, this tool as it is now, these arguments."""
        return (self.client, self.project, self.route.server, self.route.definition.name, self.route.mark, self.digest)

    @property
    def shown_tool(self) -> str:
        """The tool's name, with all characters visible."""
        return suspicion.visible(self.route.definition.name)

    def of(self, route: Route, decision: Decision) -> "AskedCall":
        """Returns the same call of the present tool, for the present project."""
        return replace(self, route=route, decision=decision, project=project_of(self.state))

    def is_current(self) -> bool:
        """Returns whether the tool is still defined as it was when it was called."""
        now = self.current()
        return now is not None and now.mark == self.route.mark

    def is_for(self, route: Route) -> bool:
        """Returns whether this call was made of this tool and for this project."""
        return route.mark == self.route.mark and project_of(self.state) == self.project


def asked_call(
    route: Route,
    decision: Decision,
    exchange: Exchange,
    current: Callable[[], Route | None],
    confirmed: Callable[[], Coroutine[object, None, Route | None]],
) -> AskedCall:
    """Makes an AskedCall. The client's name is from the session's state, or else from its records."""
    state, arguments = exchange.session.state, opened(exchange.request.params).get("arguments", NOTHING)
    name, digest = state.client or exchange.client, _digest(bytes(arguments))
    return AskedCall(route, decision, state, name, arguments, digest, project_of(state), current, confirmed, exchange.request.params)


def project_of(state: SessionState) -> str:
    return state.project.path if state.project else ""


def _digest(arguments: bytes) -> str:
    if len(arguments) < READ_BELOW_BYTES:
        try:
            return digest(canonical(arguments or b"{}"))
        except ValueError:  # a member twice, or nested too deeply: compared byte by byte
            pass
    return digest(arguments.decode("utf-8", "surrogateescape"))


def is_rule(answer: str) -> bool:
    return answer.startswith(f"{RULE}-")


def rule_answered(question: ApprovalSnapshot, answer: str) -> CallRule | None:
    """Returns the rule that an answer makes; None without a rule."""
    offered = next((each for each in question.rules if each.answer == answer), None)
    return read_rule(offered.rule) if offered else None


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

    def judged_again(self, call: AskedCall, now: Route) -> AskedCall:
        """Returns the call with the tool as it is now, and the rules' decision about it."""
        return call.of(now, self.decision(now, call.state, call.params))

    def _by_rules(self, route: Route, state: SessionState) -> Decision:
        """Returns the decision of the client's own rules instead of the server's, except for tools that always ask and built-in servers."""
        rules = self._modes.auto_approve(state)
        if rules is None or route.decision.is_excepted or self._servers.get(route.server).is_builtin:
            return route.decision
        return approval.decide(route.server, route.definition.name, route.hints, rules)
