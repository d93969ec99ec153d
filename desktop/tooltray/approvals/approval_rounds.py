"""Asks a person about one tool call until there is an answer to the tool as it is, and takes the answer.

Above it: Approvals. Below it: WaitingApprovals, which tells the desktop, and GrantBook, which keeps what lasts.
"""

import asyncio
from functools import partial

from msgspec.structs import replace

from tooltray.approvals import suspicion
from tooltray.approvals.approval_questions import (
    MARK_LENGTH,
    ONCE,
    OTHER_SETTINGS,
    READS,
    REFUSE,
    SESSION,
    AskedCall,
    Circumstances,
    Masked,
    form_answer,
    form_params,
    is_rule,
    mark,
    rule_answered,
    snapshot,
)
from tooltray.approvals.approval_rules import ApprovalRules
from tooltray.approvals.call_rules import CallRules
from tooltray.approvals.grant_book import GrantBook
from tooltray.approvals.grant_ends import ENDS, LIKE, LOCK, GrantEnd
from tooltray.approvals.recent_yeses import RecentYeses
from tooltray.approvals.screen_lock import ScreenLock
from tooltray.approvals.waiting_approvals import (
    CHANGED,
    EXPIRED,
    TOO_MANY,
    UNASKED,
    WAIT_S,
    WITHDRAWN,
    Question,
    WaitingApprovals,
)
from tooltray.audit.audit_trail import AuditTrail, Decision
from tooltray.catalogue.definition import definition_text
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.confirmation import YES_TO_CALLS
from tooltray.errors import Conflict, NotFound, TooltrayError
from tooltray.phrases import Phrase
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure, success
from tooltray.sessions.exchange import Exchange
from tooltray.sessions.session_state import SessionStates
from tooltray.shell_words import joined
from tooltray.snapshots.approvals import ApprovalSnapshot
from tooltray.tasks import Spawn

LASTING = (SESSION, LIKE, *ENDS, READS)
YES = (ONCE, *LASTING)
CLIENT = "client"  # by whom a question was answered, and by which way: a form of the AI client
MOST_ROUNDS = 6  # of one call; a tool that is another one each time a person looks is not to be called
MOST_FORMS = 3  # of one question, where the answer cannot be written
ELICITATION = "elicitation/create"
WORDS_OF_APPROVE = ("refuse",)
"""What `tooltray approve` takes as a word of its own before a name."""
APPROVED = success({})
"""Known by identity: the call goes through."""

_REFUSED_ALREADY = Phrase("nobody answered when it was called, and it was refused")


class ApprovalRounds:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        tools: ToolManager,
        states: SessionStates,
        grants: GrantBook,
        waiting: WaitingApprovals,
        rules: ApprovalRules,
        recent: RecentYeses,
        screen_lock: ScreenLock,
        call_rules: CallRules,
        masked: Masked,
        spawn: Spawn,
        trail: AuditTrail,
    ) -> None:
        """
        Args:
            masked: takes known secrets out of what is shown.
        """
        self._tools, self._states, self._grants, self._waiting = tools, states, grants, waiting
        self._rules, self._call_rules, self._masked, self._spawn = rules, call_rules, masked, spawn
        self._recent, self._screen_lock, self._trail = recent, screen_lock, trail

    async def decided(self, call: AskedCall, exchange: Exchange, *, has_window: bool = False) -> Envelope:
        """APPROVED, or why not.

        Args:
            exchange: its client is asked where no desktop is there.
        """
        try:
            return await self._decided(call, None if has_window else exchange)
        except TooltrayError as error:
            return _failure(str(error))

    async def _decided(self, call: AskedCall, asked: Exchange | None) -> Envelope:
        before = self._grants.seen_before(call.route, call.state, call.client)
        for _ in range(MOST_ROUNDS):
            answer = await self._answered(call, asked, before)
            is_yes = answer in YES or is_rule(answer)
            if not is_yes and answer != CHANGED:
                return self._outcome(call, answer)
            now = await self.renewed(call, is_started=is_yes)
            if (now is call and is_yes) or now.decision.is_approved:
                return APPROVED
            if before is None and mark(now.route) != mark(call.route):
                before = definition_text(call.route.definition)
            call = now
        return _failure(f"the tool '{_name(call)}' changes while a person is asked about it; it was not called")

    async def renewed(self, call: AskedCall, *, is_started: bool = True) -> AskedCall:
        """The same call if its tool and its project are what they were; else the call of what they are now.

        Args:
            is_started: its server is asked, and started if need be.

        Raises:
            TooltrayError: the tool is not offered any more, or its server does not run; says why.
        """
        now = await call.confirmed() if is_started else call.current()
        if now is None:
            raise NotFound(f"the tool '{_name(call)}' is not offered any more")
        return call if call.is_for(now) else call.of(now, self._rules.decision(now, call.state, call.params))

    def unasked(self, call: AskedCall, how: str = "Nobody can be asked here") -> Envelope:
        """Refused without a person's answer, and remembered: the command that is named allows the next call that is the same.

        Args:
            how: it came to that.
        """
        before = self._grants.seen_before(call.route, call.state, call.client)
        question = self._waiting.refuse(call, partial(self._snapshot, call, before, _REFUSED_ALREADY))
        command = f"tooltray approve {question.snapshot.id}"
        if self._waiting.is_refused(call.same):
            return _failure(
                f"the person refused this call of '{_name(call)}' a short while ago; do not call it again unasked. "
                f"A person who thinks better of it types in a terminal: {command} (the next call that is the same, within 10 minutes)"
            )
        why = call.decision.message if before is None else f"the tool '{_name(call)}' is defined in another way than when it was allowed"
        if before == definition_text(call.route.definition):
            why = f"'{_name(call)}' was allowed, but {OTHER_SETTINGS}"
        if call.decision.flow:
            way = f"To allow it, a person types in a terminal: {command}"
            return _failure(f"{why}. {how}. {way} (the next call that is the same, within 10 minutes)")
        return _failure(
            f"{why}. {how}. To allow it, a person types in a terminal: {command} (the next call that is the same, "
            f"within 10 minutes) or {lasting_command(call) or f'{command} --always'} (always, for this AI client alone), "
            f"or {call.decision.hint}."
        )

    def renew_refused(self) -> None:
        """Calls that were refused already, and whose tool is defined in another way since, are questions about the tool as it is now."""
        for question in self._waiting.refused:
            self._renew(question)

    def _renew(self, question: Question) -> str:
        """The id under which the question goes on; empty if there is none any more."""
        call, now = question.call, question.call.current()
        if now is None or mark(now) == mark(call.route):
            return question.snapshot.id
        self._waiting.forget(question)
        other = call.of(now, self._rules.decision(now, call.state, call.params))
        if other.decision.is_approved:
            return ""
        if known := self._waiting.refused_like(other):
            return known.snapshot.id  # which its client was told
        before = definition_text(call.route.definition)
        return self._waiting.refuse(
            other, partial(self._snapshot, other, before, _REFUSED_ALREADY, replaces=question.snapshot.id)
        ).snapshot.id

    async def take(self, question: Question, answer: str, by: str) -> None:
        """Takes a person's answer; what lasts is written first.

        Args:
            by: see Question.answered_by.

        Raises:
            TooltrayError: the question has ended, this is no answer to it, or what lasts cannot be written: then it waits on.
        """
        if question.answer.done() or question.is_being_answered:
            raise Conflict("This call waits no longer", "it was answered, or the tool has changed since this was shown")
        choices = (*question.snapshot.choices, *(each.answer for each in question.snapshot.rules))
        if answer not in (REFUSE, *choices):
            options = ", ".join((*choices, REFUSE))
            reason = "nothing here can tell when the screen locks, or it is locked now" if answer == LOCK else ""
            raise TooltrayError(f"'{suspicion.visible(answer)}' is no answer to this call", reason, f"Answer with one of {options}.")
        if not question.is_asked and answer != REFUSE and (id := self._renew(question)) != question.snapshot.id:
            hint = f"Look at it as it is now: tooltray approve {id}" if id else "It goes through now: call again."
            raise Conflict("The tool has changed since this was shown", "nothing was allowed", hint)
        question.is_being_answered = True
        try:
            await self._keep(question, answer)
            question.answered_by = by
            question.end(answer)
            if answer in LASTING or is_rule(answer):
                await self._release(by)
            elif answer == ONCE and question.is_asked:
                self._recent.remember(question.call)
        finally:
            question.is_being_answered = False
            if question.is_overdue:
                question.end(EXPIRED)
        if not question.is_asked:
            self._waiting.forget(question)
            self._waiting.note(question)
            if answer == ONCE:
                self._waiting.let_pass(question.call.same)
            elif answer == REFUSE:
                self._waiting.remember_refusal(question.call.same)

    async def _keep(self, question: Question, answer: str) -> None:
        call = question.call
        server, name, one = call.route.server, call.route.definition.name, {call.route.definition.name: call.route}
        if answer == SESSION:
            self._grants.allow_in_session(call.route, call.state, call.client, knows_flow=bool(call.decision.flow))
        elif answer == READS:
            await self._grants.allow(server, "reads", {**reads(self._tools, server), name: call.route}, client=call.client, is_seen=True)
        elif answer == LIKE:
            end = GrantEnd(float(self._recent.like_for_s(call)))
            await self._grants.allow(server, "tool", one, client=call.client, end=end, is_seen=True)
        elif answer in ENDS:
            await self._grants.allow(server, "tool", one, client=call.client, end=ENDS[answer], is_seen=True)
        elif rule := rule_answered(question.snapshot, answer):
            if not await self._call_rules.is_plain_for(rule, bytes(call.arguments), call.project):
                hint = Phrase("A path in it leads elsewhere, by a link.")
                raise Conflict(Phrase("This rule would not mean what it says"), Phrase("nothing was allowed"), hint)
            await self._grants.allow(server, "rule", one, client=call.client, is_seen=True, rule=rule.members())

    async def _release(self, by: str) -> None:
        """Other calls that wait, and that a yes which lasts covers as well, are not asked about one by one."""
        for other in self._waiting.asked:
            call = other.call
            if call.decision.flow:
                continue
            is_covered = self._grants.allows(call.route, call.state, call.client) or bool(await self._call_rules.allowed_by(call))
            if is_covered and not (other.is_being_answered or other.answer.done()):
                other.answered_by = by
                other.end(SESSION)

    async def _answered(self, call: AskedCall, asked: Exchange | None, before: str | None) -> str:
        while same := self._waiting.same(call):
            if (answer := await same.ended()) not in (ONCE, WITHDRAWN):  # once is for one of them; the next of them asks again
                return answer
        if not self._waiting.has_room(call.route.server):
            return TOO_MANY
        question = self._waiting.ask(call, partial(self._snapshot, call, before, ""))
        asking = self._spawn(self._ask(question, asked), name=f"approval {call.route.server}") if asked else None
        try:
            return await question.ended()
        finally:
            self._waiting.close(question)
            if asking:
                asking.cancel()

    async def _ask(self, question: Question, exchange: Exchange) -> None:
        """Asks the client's own person; an answer that cannot be kept is asked for again."""
        shown, loop = question.snapshot, asyncio.get_running_loop()
        for _ in range(MOST_FORMS):
            asked_at = loop.time()
            reply = await exchange.ask(ELICITATION, form_params(shown))
            answer = form_answer(reply, shown, loop.time() - asked_at)
            if answer is None:
                break
            try:
                await self._record(question.call, answer)
                await self.take(question, answer, CLIENT)
                return
            except TooltrayError as error:
                shown = replace(shown, why=f"{error}; {question.snapshot.why}")
        question.end(UNASKED)

    async def _record(self, call: AskedCall, answer: str) -> None:
        """What is answered here lasts only once it stands in the audit trail; answers for one call are recorded as they happen."""
        if answer in LASTING or is_rule(answer):
            name, mark_now = _name(call), mark(call.route)[:MARK_LENGTH]
            about = {"server": call.route.server, "tool": name, "client": call.client, "answer": answer, "definitions": mark_now}
            await self._trail.record(Decision(YES_TO_CALLS, "yes", CLIENT, suspicion.visible(call.client), about=about))

    def _outcome(self, call: AskedCall, answer: str) -> Envelope:
        if answer == UNASKED:
            return self.unasked(call, "Its AI client was asked, and nobody answered there")
        if answer == EXPIRED:
            return self.unasked(call, f"A person was asked, and nobody answered within {WAIT_S:.0f} s")
        if answer == TOO_MANY:
            return _failure("too many calls wait for a person's yes already; call again when some are answered")
        return _failure(f"the person refused this call of '{_name(call)}'")

    def _snapshot(self, call: AskedCall, before: str | None, note: str, id: str, ends_at: float, *, replaces: str = "") -> ApprovalSnapshot:
        is_new_read = self._grants.has_all_reads(call.route.server, call.client)
        has_session = self._states.find(call.state.id) is call.state
        has_lock, like_for_s, home = self._screen_lock.is_awaited, self._recent.like_for_s(call), self._call_rules.place("").home
        circumstances = Circumstances(before, is_new_read, has_session, note, replaces, home, has_lock, like_for_s)
        return snapshot(call, circumstances, id=id, ends_at=ends_at, masked=self._masked)


def reads(tools: ToolManager, server: str) -> dict[str, Route]:
    """A server's tools that read, as they are now."""
    return {name: route for name, route in tools.routes(server).items() if route.decision.is_plain_read}


def _name(call: AskedCall) -> str:
    return suspicion.visible(call.route.definition.name)


def lasting_command(call: AskedCall) -> str:
    """What allows a tool to the client that calls it; empty where a name has characters that nobody can type."""
    server, tool, client = call.route.server, call.route.definition.name, call.client
    if not "".join((server, tool, client)).isprintable() or not tool:
        return ""
    for_whom = [f"--client={client}"] if client.startswith("-") else ["--client", client] if client else []
    needs_mark = server in WORDS_OF_APPROVE or server.startswith("-") or tool.startswith("-")
    words = [*for_whom, "--", server, tool] if needs_mark else [server, tool, *for_whom]
    return joined(["tooltray", "approve", *words])


def _failure(message: str) -> Envelope:
    return failure(CONNECTION_CLOSED, message)
