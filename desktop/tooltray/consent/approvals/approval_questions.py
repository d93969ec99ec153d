"""One tool call about which a person is asked, and what the person reads before an answer.

Above it: Approvals. Below it: diffs, suspicion, fingerprints of definitions. Servers and models write these texts, so that they come out
harmless: everything in them can be seen, known secrets are masked, and they are bounded. The same question as a form for an AI client's
own person has one field; what is no clear yes is a no.
"""

import json
from collections.abc import Callable, Coroutine

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.approval import Decision
from tooltray.catalogue.definition import TwiceNamed, canonical, definition_text, digest, fingerprint, read_once_named
from tooltray.catalogue.tool_routes import Route
from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals import diffs, rule_maker, suspicion
from tooltray.consent.approvals.grant_ends import ALWAYS, DAY, HOUR, LIKE, LOCK
from tooltray.consent.approvals.rule_paths import Place
from tooltray.consent.approvals.rule_words import brief, words
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.protocol import envelope
from tooltray.protocol.envelope import NOTHING, Envelope, dump
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.elicitation_form import is_persons_no, plain
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState

LONGEST_ARGUMENTS = 20_000  # characters that are shown; a cut is marked
READ_BELOW_BYTES = 262_144  # larger arguments are shown by their beginning: reading them would keep the loop from other calls
LONGEST_DESCRIPTION, LONGEST_NAME = 1_000, 200  # characters
ONCE, SESSION, READS, REFUSE = "once", "session", "reads", "refuse"
RULE = "rule"
"""The answers that make a rule on arguments are `rule-1` and so on."""
FIELD = "answer"
MARK_LENGTH = 16  # of a mark in the audit trail
LONGEST_TITLE = 300  # characters of a choice in a form
MOST_LINES = 60  # of each part; a form in a terminal is small
LONGEST_IN_FORM = 4_000  # characters
TITLES = {
    REFUSE: "No",
    ONCE: "Yes, this once",
    LIKE: "Yes, and the like of it for some seconds",
    SESSION: "Yes, for this session",
    HOUR: "Yes, for an hour",
    DAY: "Yes, for a day",
    LOCK: "Yes, until the screen locks",
    ALWAYS: "Yes, always for this tool",
    READS: "Yes, for all tools of this server that read",
}
OTHER_SETTINGS = Phrase("the server is started or reached in another way than when this tool was allowed or shown")
SAME_NAME_TWICE = Phrase("the arguments name a member twice; the server may read another value than the one that is read here")

Masked = Callable[[str], str]
"""Takes known secrets out of a text."""


class AskedCall(msgspec.Struct, frozen=True):
    """
    Attributes:
        route: the tool as it was defined when it was called.
        decision: why the rules do not allow it.
        client: as it names itself.
        arguments: as they came.
        digest: the same for the same arguments.
        project: the folder on which the session works, where that is known.
        params: of the `tools/call`.
        current: the same tool as it is defined now, as far as that is known; None if it is not offered any more.
        confirmed: the same as its server, which is started if need be, says now; raises TooltrayError where it does not.
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
        """Calls of one session with the same of this are one question."""
        return (self.state.id, *self.same)

    @property
    def same(self) -> tuple[str, ...]:
        """What a yes to one call covers: this client, its project, this tool as it is now, these arguments."""
        return (self.client, self.project, self.route.server, self.route.definition.name, mark(self.route), self.digest)

    @property
    def shown_tool(self) -> str:
        """The tool's name, in which everything can be seen."""
        return suspicion.visible(self.route.definition.name)

    def of(self, route: Route, decision: Decision) -> "AskedCall":
        """The same call of the tool as it is now, for the project of now."""
        return replace(self, route=route, decision=decision, project=project_of(self.state))

    def is_current(self) -> bool:
        """Whether the tool is still defined as it was when it was called."""
        now = self.current()
        return now is not None and mark(now) == mark(self.route)

    def is_for(self, route: Route) -> bool:
        """Whether a tool is still the one that this call is about, and its project the same."""
        return mark(route) == mark(self.route) and project_of(self.state) == self.project


def asked_call(
    route: Route,
    decision: Decision,
    exchange: Exchange,
    current: Callable[[], Route | None],
    confirmed: Callable[[], Coroutine[object, None, Route | None]],
) -> AskedCall:
    """A call as a person is asked about it. Who calls is named as the session's state has it, or else as its records name it."""
    state, arguments = exchange.session.state, opened(exchange.request.params).get("arguments", NOTHING)
    name, digest = state.client or exchange.client, _digest(bytes(arguments))
    return AskedCall(route, decision, state, name, arguments, digest, project_of(state), current, confirmed, exchange.request.params)


def project_of(state: SessionState) -> str:
    return state.project.path if state.project else ""


def mark(route: Route) -> str:
    """What a yes is bound to: how a tool is defined, and by which program or address."""
    return f"{fingerprint(route.definition)}.{route.origin}"


def short_mark(route: Route) -> str:
    """The beginning of a mark, for the audit trail."""
    return mark(route)[:MARK_LENGTH]


def named_with_mark(name: str, whole: str) -> str:
    """What a person is shown, and the audit trail has, of a definition. `whole`: its mark."""
    return f"{suspicion.visible(name)} {whole[:MARK_LENGTH]}"


def _digest(arguments: bytes) -> str:
    if len(arguments) < READ_BELOW_BYTES:
        try:
            return digest(canonical(arguments or b"{}"))
        except ValueError:  # it names a member twice, or is too deep: every byte counts
            pass
    return digest(arguments.decode("utf-8", "surrogateescape"))


class Circumstances(msgspec.Struct, frozen=True):
    """What a person should know of a call besides the call itself.

    Attributes:
        before: the definition that was allowed or shown before, where it is another one now.
        is_new_read: all reads of the server were allowed before the tool was there.
        has_session: "for this session" makes sense.
        note: stands before the reason.
        replaces: the id of the same question about the tool as it was.
        has_lock: it will be heard of when the screen locks.
        like_for_s: for how many seconds the like of it may be allowed; 0: not.
        home: the person's own folder, of which no rule is offered.
    """

    before: str | None
    is_new_read: bool
    has_session: bool
    note: str = ""
    replaces: str = ""
    home: str = ""
    has_lock: bool = False
    like_for_s: int = 0


def snapshot(call: AskedCall, circumstances: Circumstances, *, id: str, ends_at: float, masked: Masked) -> ApprovalSnapshot:
    """What the person reads."""
    tool, before, note = call.route.definition, circumstances.before, circumstances.note
    text, value, warnings = read_arguments(call.arguments)
    why = _why(call, before, circumstances.is_new_read)
    return ApprovalSnapshot(
        id=id,
        server=suspicion.visible(call.route.server),
        tool=suspicion.visible(tool.name),
        client=plain(call.client, LONGEST_NAME),
        category=call.route.decision.category,
        arguments=suspicion.visible(_cut(masked(text))),
        why=Phrase("{note}; {why}", note=note, why=why) if note else why,
        ends_at=ends_at,
        choices=_choices(call, circumstances),
        project=suspicion.visible(call.project),
        description=plain(tool.description, LONGEST_DESCRIPTION, keeps_lines=True),
        diff=diffs.of_arguments(value, masked),
        definition_diff=diffs.of_definitions(before, definition_text(tool)) if before is not None else (),
        warnings=(*warnings, *suspicion.warnings(tool)),
        replaces=circumstances.replaces,
        like_for_s=circumstances.like_for_s,
        flow=call.decision.flow,
        rules=() if call.decision.flow else _offered(call, circumstances.home, masked),
    )


def _choices(call: AskedCall, circumstances: Circumstances) -> tuple[str, ...]:
    """The yeses that make sense; where the flow guard asks, only those after which it is not asked again by itself."""
    of_session = [SESSION] if circumstances.has_session else []
    if call.decision.flow:
        return (ONCE, *of_session)
    like, lock = [LIKE] if circumstances.like_for_s else [], [LOCK] if circumstances.has_lock else []
    reads = [READS] if call.route.decision.is_plain_read else []
    return (ONCE, *like, *of_session, HOUR, DAY, *lock, ALWAYS, *reads)


def _offered(call: AskedCall, home: str, masked: Masked) -> tuple[OfferedRule, ...]:
    """Rules that the call may be answered with; none that has a secret in it, since it would be kept."""
    made = rule_maker.offers(call.route.definition.name, bytes(call.arguments), Place(call.project, home))
    harmless = (rule for rule in made if masked(rule.text) == rule.text)
    return tuple(OfferedRule(f"{RULE}-{place}", brief(rule), words(rule), rule.members()) for place, rule in enumerate(harmless, 1))


def rule_answered(question: ApprovalSnapshot, answer: str) -> CallRule | None:
    """The rule that an answer makes; None: it makes none."""
    offered = next((each for each in question.rules if each.answer == answer), None)
    return read_rule(offered.rule) if offered else None


def is_rule(answer: str) -> bool:
    return answer.startswith(f"{RULE}-")


def _why(call: AskedCall, before: str | None, is_new_read: bool) -> str:
    if before is not None and before == definition_text(call.route.definition):
        return OTHER_SETTINGS
    if before is not None:
        return Phrase("the tool is defined in another way than when it was allowed or shown")
    if call.decision.flow:
        return call.decision.flow
    if call.decision.is_excepted:
        return Phrase("asked because you chose that this tool asks first")
    if is_new_read and call.route.decision.category == "read":
        return Phrase("all reads of this server were allowed, and this tool is new since then")
    if call.route.decision.category == "read":
        return Phrase("asked because this server may not read without asking")
    return Phrase("asked because this tool can change things")


def read_arguments(arguments: Raw) -> tuple[str, object, tuple[str, ...]]:
    """Arguments as text and as Python values, and what is odd in them."""
    raw = bytes(arguments)
    if len(raw) >= READ_BELOW_BYTES:
        beginning = raw[: 2 * LONGEST_ARGUMENTS].decode("utf-8", "replace")
        cut = Phrase("the arguments are very large ({size} bytes); only their beginning is shown", size=f"{len(raw):,}")
        return beginning, None, (cut,)
    try:
        value = read_once_named(raw or b"{}")
        return json.dumps(value, ensure_ascii=False, indent=2), value, ()
    except TwiceNamed:
        return raw.decode("utf-8", "replace"), None, (SAME_NAME_TWICE,)
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace"), None, ()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_ARGUMENTS else text[:LONGEST_ARGUMENTS] + "…"


# the question as a form for an AI client's own person


def form_params(question: ApprovalSnapshot) -> Raw:
    """The params of the request to the client."""
    values = [REFUSE, *question.choices, *(each.answer for each in _in_form(question))]
    titles = TITLES | {each.answer: _rule_title(each) for each in _in_form(question)}
    field = {
        "type": "string",
        "title": "Allow this call?",
        "enum": values,
        "enumNames": [titles[value] for value in values],
        "default": REFUSE,
    }
    schema = {"type": "object", "properties": {FIELD: field}, "required": [FIELD]}
    return dump({"message": "\n".join(_message(question)), "requestedSchema": schema})


def form_answer(reply: Envelope, question: ApprovalSnapshot, waited_s: float) -> str | None:
    """The person's answer; None where no person has given one: the client did not ask anybody, or nobody was there.

    Args:
        waited_s: for how long the client had the form.
    """
    if reply.error:
        return None
    try:
        result: object = envelope.load(reply.result)
    except ValueError:
        return None
    if not isinstance(result, dict):
        return None
    action, content = result.get("action"), result.get("content")
    answer = content.get(FIELD) if action == "accept" and isinstance(content, dict) else None
    if isinstance(answer, str) and answer in (*question.choices, *(each.answer for each in _in_form(question))):
        return answer
    return REFUSE if is_persons_no(action, waited_s) else None


def _in_form(question: ApprovalSnapshot) -> tuple[OfferedRule, ...]:
    """The narrowest rule alone: a form in another program is read in a hurry."""
    return tuple(each for each in question.rules[:1] if len(each.words) <= LONGEST_TITLE)


def _rule_title(offered: OfferedRule) -> str:
    return f"Yes, always: {offered.words}"


def _message(question: ApprovalSnapshot) -> list[str]:
    client = question.client or "An AI client"
    lines = [f"{client} wants to call the tool '{question.tool}' of the server '{question.server}' ({question.category})."]
    lines += [f"Project: {question.project}"] if question.project else []
    lines += [f"It asks because {question.why}."]
    lines += [f"Careful: {warning}" for warning in question.warnings]
    lines += _part("The definition has changed:", list(question.definition_diff))
    lines += _part("It would change:", list(question.diff))
    arguments = question.arguments[:LONGEST_IN_FORM]
    cut = ["…"] if len(question.arguments) > LONGEST_IN_FORM else []
    return lines + (
        _part("Arguments:", arguments.splitlines() + cut) if not question.diff or cut else ["Arguments:", *arguments.splitlines()]
    )


def _part(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [title, *lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])]
