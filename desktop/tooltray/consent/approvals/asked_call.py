"""One tool call about which the user may be asked, and the names of the answers."""

from collections.abc import Callable, Coroutine

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.auto_approve import Decision
from tooltray.catalogue.definition import canonical, digest
from tooltray.catalogue.tool_routes import Route
from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals import suspicion
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.eras import named_once
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.exchange import CallTimings, Exchange
from tooltray.protocol.sessions.session_state import SessionState

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
        asked: the client's own arguments, if the user has changed them; None: they are unchanged.
        timings: the call's record, which gets the change that the user is shown.
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
    asked: Raw | None = None
    timings: CallTimings = msgspec.field(default_factory=CallTimings)

    @property
    def same_in_session(self) -> tuple[str, ...]:
        """The key of one question: calls of one session with the same key share a question."""
        return (self.state.id, *self.same)

    @property
    def same(self) -> tuple[str, ...]:
        """The key of the calls that an approval of one call covers: this client, its project, this tool as it is now, these arguments."""
        return (self.client, self.project, self.route.server, self.route.definition.name, self.route.mark, self.digest)

    @property
    def edit(self) -> Raw | None:
        """The arguments of the user; None: the client's own."""
        return None if self.asked is None else self.arguments

    @property
    def same_as_sent(self) -> tuple[str, ...]:
        """The key `same` of the call as its client sent it, whatever the user has changed."""
        return self.same if self.asked is None else (*self.same[:-1], _digest(bytes(self.asked)))

    @property
    def shown_tool(self) -> str:
        """The tool's name, with all characters visible."""
        return suspicion.visible(self.route.definition.name)

    def of(self, route: Route, decision: Decision) -> "AskedCall":
        """Returns the same call of the present tool, for the present project."""
        return replace(self, route=route, decision=decision, project=project_of(self.state))

    def with_arguments(self, arguments: Raw) -> "AskedCall":
        """Returns the same call with arguments of the user."""
        asked = self.arguments if self.asked is None else self.asked
        params = named_once(self.params, "name", "arguments", arguments=arguments)
        return replace(self, arguments=arguments, digest=_digest(bytes(arguments)), params=params, asked=asked)

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
    params, timings = exchange.request.params, exchange.timings
    return AskedCall(route, decision, state, name, arguments, digest, project_of(state), current, confirmed, params, timings=timings)


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
