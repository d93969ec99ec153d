"""A question about a tool call as a form for an AI client's own person: `elicitation/create`.

Above it: Approvals. Below it: the snapshot that the desktop shows, too. A form has one field; what is no clear yes is a no.
"""

from typing import Any

from msgspec import Raw

from tooltray.approvals.approval_questions import ALWAYS, ONCE, READS, REFUSE, SESSION
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.sessions.elicitation_form import is_persons_no
from tooltray.snapshots.approvals import ApprovalSnapshot

FIELD = "answer"
MOST_LINES = 60  # of each part; a form in a terminal is small
LONGEST_ARGUMENTS = 4_000  # characters
TITLES = {
    REFUSE: "No",
    ONCE: "Yes, this once",
    SESSION: "Yes, for this session",
    ALWAYS: "Yes, always for this tool",
    READS: "Yes, for all tools of this server that read",
}


def params_of(question: ApprovalSnapshot) -> Raw:
    """The params of the request to the client."""
    values = [REFUSE, *question.choices]
    field = {
        "type": "string",
        "title": "Allow this call?",
        "enum": values,
        "enumNames": [TITLES[value] for value in values],
        "default": REFUSE,
    }
    schema = {"type": "object", "properties": {FIELD: field}, "required": [FIELD]}
    return dump({"message": "\n".join(_message(question)), "requestedSchema": schema})


def answer_in(reply: Envelope, question: ApprovalSnapshot, waited_s: float) -> str | None:
    """The person's answer; None where no person has given one: the client did not ask anybody, or nobody was there.

    Args:
        waited_s: for how long the client had the form.
    """
    if reply.error:
        return None
    try:
        result: Any = envelope.load(reply.result)
    except ValueError:
        return None
    if not isinstance(result, dict):
        return None
    action, content = result.get("action"), result.get("content")
    answer = content.get(FIELD) if action == "accept" and isinstance(content, dict) else None
    if isinstance(answer, str) and answer in question.choices:
        return answer
    return REFUSE if is_persons_no(action, waited_s) else None


def _message(question: ApprovalSnapshot) -> list[str]:
    client = question.client or "An AI client"
    lines = [f"{client} wants to call the tool '{question.tool}' of the server '{question.server}' ({question.category})."]
    lines += [f"Project: {question.project}"] if question.project else []
    lines += [f"It asks because {question.why}."]
    lines += [f"Careful: {warning}" for warning in question.warnings]
    lines += _part("The definition has changed:", list(question.definition_diff))
    lines += _part("It would change:", list(question.diff))
    arguments = question.arguments[:LONGEST_ARGUMENTS]
    cut = ["…"] if len(question.arguments) > LONGEST_ARGUMENTS else []
    return lines + (
        _part("Arguments:", arguments.splitlines() + cut) if not question.diff or cut else ["Arguments:", *arguments.splitlines()]
    )


def _part(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [title, *lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])]
