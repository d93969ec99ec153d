"""Whether a tool call goes through, and who is asked where the settings do not say: the one broker of approvals.

Above it: ToolCalls, which asks before each call, and ApprovalsApi, whose verbs answer and revoke. Below it: ApprovalRules, GrantBook,
WaitingApprovals, and ApprovalRounds, which asks the person at the desktop or the one at the AI client.

Rules first (`autoApprove`; nothing is awaited for what they allow), then what a person has allowed, then rules on arguments, then the
person. With nobody to ask a
call is refused at once, with the command that would allow it.
"""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec
from msgspec.structs import asdict, replace

from tooltray.approvals import suspicion
from tooltray.approvals.approval_questions import AskedCall, asked_call, mark, named_with_mark
from tooltray.approvals.approval_rounds import APPROVED, ELICITATION, ApprovalRounds, reads
from tooltray.approvals.approval_rules import ApprovalRules
from tooltray.approvals.call_rules import CallRules
from tooltray.approvals.grant_book import GrantBook
from tooltray.approvals.grant_ends import GrantEnd
from tooltray.approvals.recent_yeses import RecentYeses
from tooltray.approvals.skill_book import SKILL, SkillBook
from tooltray.approvals.waiting_approvals import WaitingApprovals
from tooltray.catalogue.approval import Decision
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.confirmation import asker_name
from tooltray.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.phrases import Phrase
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure
from tooltray.protocol.eras import ROUND_KEYS, Era, Head, named_once
from tooltray.protocol.member_scanner import closed, opened
from tooltray.sessions.call_course import FROM_GRANT, FROM_PERSON
from tooltray.sessions.caller import Question as ClientQuestion
from tooltray.sessions.caller import lacking
from tooltray.sessions.exchange import Exchange
from tooltray.snapshots.approvals import ApprovalSnapshot, GrantSnapshot, ToolChange
from tooltray.snapshots.tools import CoveredTool, ToolSnapshot
from tooltray.upstream.relay import paused
from tooltray.upstream.server_manager import ServerManager

LONGEST_GRANT_S = 366 * 86_400.0
MOST_SHOWN = 64  # previews to which no grant was given yet
QUESTIONS_BELOW_BYTES = 262_144  # a result that only asks is small; larger ones are not looked into


class Approvals:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        rules: ApprovalRules,
        call_rules: CallRules,
        grants: GrantBook,
        skill_book: SkillBook,
        waiting: WaitingApprovals,
        rounds: ApprovalRounds,
        recent: RecentYeses,
        is_paused: Callable[[], bool],
    ) -> None:
        """
        Args:
            is_paused: whether the person has paused everything.
        """
        self._servers, self._tools, self._rules, self._grants, self._skills = servers, tools, rules, grants, skill_book
        self._waiting, self._rounds, self._recent, self._is_paused = waiting, rounds, recent, is_paused
        self._call_rules = call_rules
        self._shown: dict[tuple[str, str, str, str], dict[str, str]] = {}  # what previews have shown, until a grant is given

    @property
    def problems(self) -> Iterator[Problem]:
        """What was wrong with what is kept."""
        if problem := self._grants.problem:
            yield problem

    # a call

    async def refusal(self, route: Route, exchange: Exchange) -> Envelope | None:
        """What answers a call that the rules do not let through, in the place of its server; None: it goes through.

        What a person is shown of the request is what goes to the server, and answers to our own questions are taken off.
        """
        if self._is_paused():
            return paused()
        request, head = exchange.request, exchange.head
        request.params = named_once(request.params, "name", "arguments")  # the server reads what the person has read
        call = self._call(route, self._decision(route, exchange), exchange)
        owner = f"approval {route.server} {call.digest}"
        is_answer = exchange.era is Era.MODERN and exchange.held.is_held(head.request_state, owner)
        if not is_answer:
            try:
                allowed, call = await self._allowed(call, exchange)
            except TooltrayError as error:
                return failure(CONNECTION_CLOSED, str(error))
            if allowed:
                return None
        with exchange.course.at_person():
            reply = await self._asked(call, exchange if is_answer else exchange.child(head=_first(head)), owner)
        if reply is not APPROVED:
            return reply
        exchange.course.allowed_by = FROM_PERSON
        if is_answer:
            _take_off_answers(request, head)
        return None

    def answered(self, route: Route, exchange: Exchange, reply: Envelope) -> None:
        """A call has gone through. A modern one whose server asks for more comes again, and is then the call that was allowed."""
        if exchange.era is Era.LEGACY or (decision := self._decision(route, exchange)).is_approved:
            return
        state = _state_to_come_with(reply)
        if state is not None:
            call = self._call(route, decision, exchange)
            self._waiting.let_pass((*call.same_in_session, state))

    def _decision(self, route: Route, exchange: Exchange) -> Decision:
        return self._rules.decision(route, exchange.session.state, exchange.request.params)

    def _call(self, route: Route, decision: Decision, exchange: Exchange) -> AskedCall:
        current = partial(self._tools.current, route, exchange)
        confirmed = partial(self._tools.confirmed, route, exchange)
        return asked_call(route, decision, exchange, current, confirmed)

    async def _allowed(self, call: AskedCall, exchange: Exchange) -> tuple[bool, AskedCall]:
        """Whether a person has allowed a call before, of the tool as its server defines it at this moment; and the call of that tool.

        Raises:
            TooltrayError: the tool is not offered any more, or its server does not run; says why.
        """
        if self._tools.is_outdated(call.route, exchange):
            call = await self._rounds.renewed(call)
        while allowed_by := await self._allowed_by(call, exchange.head):
            exchange.course.allowed_by = allowed_by
            now = await self._rounds.renewed(call)
            if now is call or now.decision.is_approved:
                return True, now
            call = now
        return False, call

    async def _allowed_by(self, call: AskedCall, head: Head) -> str:
        """By what a person has said before; empty: not."""
        if not call.decision.flow and (lasting := await self._allowed_for_longer(call)):
            return lasting
        is_further = head.era is Era.MODERN and bool(head.request_state or head.input_responses)
        same = (*call.same_in_session, head.request_state) if is_further else call.same
        return FROM_PERSON if self._waiting.passes(same) else ""

    async def _allowed_for_longer(self, call: AskedCall) -> str:
        """The same, by what covers more than one call."""
        if self._grants.allows(call.route, call.state, call.client) or self._recent.covers(call):
            return FROM_GRANT
        return await self._call_rules.allowed_by(call)

    async def _asked(self, call: AskedCall, exchange: Exchange, owner: str) -> Envelope:
        if self._waiting.is_shown:
            return await self._rounds.decided(call, exchange, has_window=True)
        is_modern = exchange.era is Era.MODERN
        if lacking(ClientQuestion(ELICITATION), exchange.head.meta.capabilities if is_modern else exchange.caller.capabilities):
            return self._rounds.unasked(call)
        if is_modern:
            return await exchange.held.run(partial(self._rounds.decided, call), exchange, owner=owner)
        return await self._rounds.decided(call, exchange)

    # answers and grants

    def waiting(self) -> list[ApprovalSnapshot]:
        """See ApprovalsApi.get_approvals. Those among them that were refused already wait for a yes to the next call that is the same."""
        self._rounds.renew_refused()
        return [question.snapshot for question in self._waiting if not question.answer.done()]

    def question(self, id: str) -> ApprovalSnapshot | None:
        """What a person is asked about a call; None where it waits no longer."""
        found = self._waiting.find(id)
        return found.snapshot if found else None

    async def answer(self, id: str, answer: str) -> None:
        """See ApprovalsApi.answer_approval."""
        question = self._waiting.find(id)
        if question is None:
            raise NotFound(Phrase("This call waits no longer"), Phrase("it was answered, its AI client gave it up, or its time was over"))
        await self._rounds.take(question, answer, asker_name() or "person")

    def grants(self) -> list[GrantSnapshot]:
        """See ApprovalsApi.get_grants."""
        return self._grants.snapshots()

    async def preview(self, server: str, kind: str, tool: str, client: str) -> list[ToolSnapshot]:
        """See ApprovalsApi.preview_grant."""
        routes = await self._routes_for(server, kind, tool)
        if len(self._shown) >= MOST_SHOWN:
            self._shown.pop(next(iter(self._shown)))
        self._shown[server, kind, tool, client] = {name: mark(route) for name, route in routes.items()}
        listed = [(each, routes.get(each.original_name)) for each in await self._tools.snapshots(server)]
        return [CoveredTool(**asdict(each), warnings=suspicion.warnings(route.definition)) for each, route in listed if route]

    async def grant(self, server: str, kind: str, tool: str, client: str, end: GrantEnd) -> GrantSnapshot:
        """See ApprovalsApi.add_grant."""
        check_end(end.after_s)
        routes = await self._routes_for(server, kind, tool)
        now = {name: mark(route) for name, route in routes.items()}
        if self._shown.pop((server, kind, tool, client), now) != now:
            raise Conflict(Phrase("the tools have changed since they were shown"), hint=Phrase("Look at them once more."))
        return await self._grants.allow(server, "tool" if kind == "tool" else "reads", routes, client=client, end=end)

    def definitions(self, server: str, kind: str, tool: str) -> list[str]:
        """The tools that a grant would be for, as far as they are known now, each with the beginning of its definition's mark."""
        routes = reads(self._tools, server) if kind == "reads" else self._tools.routes(server)
        wanted = routes if kind == "reads" else {tool: routes[tool]} if tool in routes else {}
        return [named_with_mark(name, mark(route)) for name, route in wanted.items()]

    def changed_to(self, server: str, tool: str, kind: str) -> list[str]:
        """The same of one tool, or skill, that has changed."""
        return self._skills.definitions(server, tool) if kind == SKILL else self.definitions(server, "tool", tool)

    async def take_back(self, id: str) -> None:
        """See ApprovalsApi.remove_grant."""
        await self._grants.take_back(id)

    async def give_back(self, id: str) -> GrantSnapshot:
        """See ApprovalsApi.restore_grant."""
        return await self._grants.give_back(id)

    def changes(self) -> list[ToolChange]:
        """See ApprovalsApi.get_tool_changes."""
        return [*self._grants.changes(), *self._skills.changes()]

    async def accept(self, server: str, tool: str, kind: str) -> None:
        """See ApprovalsApi.accept_tool_change."""
        await (self._skills.accept(server, tool) if kind == SKILL else self._grants.accept(server, tool))

    def with_held(self, tools: list[ToolSnapshot]) -> list[ToolSnapshot]:
        """The same, those marked that were allowed and are other tools since."""
        held = {server: self._grants.held_tools(server) for server in {tool.server for tool in tools}}
        return [replace(each, is_held=True) if each.original_name in held[each.server] else each for each in tools]

    async def _routes_for(self, server: str, kind: str, tool: str) -> dict[str, Route]:
        """The tools that a grant would be for.

        Raises:
            TooltrayError: there is no such server, tool or kind, or nothing that it would allow.
        """
        self._servers.get(server)
        await self._tools.published(server)  # waits for one that was never listed
        if kind not in ("tool", "reads"):
            raise TooltrayError(
                Phrase("'{kind}' is no kind of grant", kind=suspicion.visible(kind)), hint=Phrase("It is 'tool' or 'reads'.")
            )
        if kind == "reads":
            routes = reads(self._tools, server)
            if not routes:
                raise NotFound(
                    Phrase("'{server}' has no tools that read", server=server), hint=Phrase("See them with `tooltray tools list`.")
                )
            return routes
        found = self._tools.routes(server).get(tool)
        if found is None:
            shown = suspicion.visible(tool)
            raise NotFound(
                Phrase("'{server}' offers no tool '{shown}'", server=server, shown=shown),
                hint=Phrase("The server's own name is wanted; see `tooltray tools list --json`."),
            )
        return {tool: found}


def check_end(expires_in_s: float | None) -> None:
    """
    Raises:
        TooltrayError: no grant lasts that long; seconds.
    """
    if expires_in_s is not None and not 0 < expires_in_s <= LONGEST_GRANT_S:
        raise TooltrayError(
            Phrase("a grant lasts for some time, and for a year at most"),
            hint=Phrase("Without a time it lasts until you take it back."),
        )


def _first(head: Head) -> Head:
    """Of a call that answers no question of ours: what else it answers opens nothing here."""
    return msgspec.structs.replace(head, request_state="", input_responses={})


def _take_off_answers(request: Envelope, head: Head) -> None:
    members = opened(request.params)
    request.params = closed({name: value for name, value in members.items() if name not in ROUND_KEYS})
    head.request_state, head.input_responses = "", {}


class _Result(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType", default="complete")
    state: str = msgspec.field(name="requestState", default="")


def _state_to_come_with(reply: Envelope) -> str | None:
    """The state with which a client is to call again; None where the call is over."""
    if reply.error or len(memoryview(reply.result)) >= QUESTIONS_BELOW_BYTES:
        return None
    try:
        result = msgspec.json.decode(reply.result, type=_Result)
    except (ValueError, RecursionError):
        return None
    return result.state if result.result_type == "input_required" else None
