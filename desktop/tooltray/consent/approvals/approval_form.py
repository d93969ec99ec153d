"""A question about a tool call as a form for an AI client's own user: one field, and anything but a clear approval is a refusal."""

from msgspec import Raw

from tooltray.consent.approvals.asked_call import ONCE, READS, REFUSE, SESSION
from tooltray.consent.approvals.grant_ends import ALWAYS, DAY, HOUR, LIKE, LOCK
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.sessions.elicitation_form import is_persons_no

FIELD = "answer"
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


def form_params(question: ApprovalSnapshot) -> Raw:
    """Returns the params of the request to the client."""
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
    """Returns the user's answer; None without an answer: the client did not ask, or the user was away.

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
    """Returns the narrowest rule for the form, and no wider ones: a form in another program is read in a hurry."""
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
