"""One tool call about which the user is asked, and the names of the answers."""

from collections.abc import Callable, Coroutine

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.approval import Decision
from tooltray.catalogue.definition import canonical, digest, fingerprint
from tooltray.catalogue.tool_routes import Route
from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals import suspicion
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState

READ_BELOW_BYTES = 262_144  # larger arguments are shown by their beginning: reading them would keep the loop from other calls
ONCE, SESSION, READS, REFUSE = "once", "session", "reads", "refuse"
RULE = "rule"
"""The prefix of answers that make a rule on arguments: `rule-1` and so on."""
MARK_LENGTH = 16  # of a mark in the audit trail
OTHER_SETTINGS = Phrase("the server is started or reached in another way than when this tool was allowed or shown")


class AskedCall(msgspec.Struct, frozen=True):
    """One tool call about which the user is asked.

    Attributes:
        route: the tool as it was defined when it was called.
        decision: why the rules do not allow it.
        client: as it names itself.
        arguments: as they came.
        digest: equal for equal arguments.
        project: the folder on which the session works, if that is known.
        params: of the `tools/call`.
        current: the same tool as it is defined now, as far as that is known; None if it is not offered any more.
        confirmed: the same as its server defines it now, started if need be; raises TooltrayError if the server does not answer.
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
        return (self.client, self.project, self.route.server, self.route.definition.name, mark(self.route), self.digest)

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
        return now is not None and mark(now) == mark(self.route)

    def is_for(self, route: Route) -> bool:
        """Returns whether a tool and its project are still those of this call."""
        return mark(route) == mark(self.route) and project_of(self.state) == self.project


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


def mark(route: Route) -> str:
    """Returns the mark that an approval is bound to: of a tool's definition, and of its server's program or address."""
    return f"{fingerprint(route.definition)}.{route.origin}"


def short_mark(route: Route) -> str:
    """Returns the beginning of a mark, for the audit trail."""
    return mark(route)[:MARK_LENGTH]


def named_with_mark(name: str, whole: str) -> str:
    """Returns a name with the beginning of a definition's mark, for the user and the audit trail. `whole`: the mark."""
    return f"{suspicion.visible(name)} {whole[:MARK_LENGTH]}"


def _digest(arguments: bytes) -> str:
    if len(arguments) < READ_BELOW_BYTES:
        try:
            return digest(canonical(arguments or b"{}"))
        except ValueError:  # it names a member twice, or is too deep: every byte counts
            pass
    return digest(arguments.decode("utf-8", "surrogateescape"))


def is_rule(answer: str) -> bool:
    return answer.startswith(f"{RULE}-")


def rule_answered(question: ApprovalSnapshot, answer: str) -> CallRule | None:
    """Returns the rule that an answer makes; None without a rule."""
    offered = next((each for each in question.rules if each.answer == answer), None)
    return read_rule(offered.rule) if offered else None
