"""Builds the result of `collect_feedback`: the answer in the first content blocks, notes for the model in the last.

Above it: feedback_tool. Below it: protocol's envelopes. Pure.
"""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

from tooltray.gateway.feedback.feedback_report import ANSWERED, DISMISSED, EXPIRED, REPLACED, WITHDRAWN, Answer, Report
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.own_results import own_result

MOST_TOOLS_NAMED = 40  # of one server; the client can list the others itself
LONGEST_REASON = 1000  # characters
ONLY_ATTACHMENTS = "The person wrote no text; see what is attached."
NOT_SEEN = "The person has not seen your latest report: call collect_feedback again to show it."
NOT_SEEN_ANEW = "The person has not seen the report again: if you had that answer, call collect_feedback again to show it."
NO_ANSWERS = {
    DISMISSED: "The person closed the report without an answer. Go on with what needs none, and ask again where you cannot.",
    EXPIRED: "No answer came in time. Go on with what needs none, or call collect_feedback again to wait longer.",
    REPLACED: "A newer report of this session has taken the place of this one; the answer goes to that call.",
    WITHDRAWN: "The report was put away before an answer came. Call collect_feedback again.",
}


def result(blocks: Sequence[dict[str, Any]], era: Era, *, is_error: bool = False) -> Envelope:
    """Builds a tool result in the form of an era."""
    return own_result("tools/call", dump({"content": list(blocks), "isError": is_error}), era)


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def answer_blocks(answer: Answer) -> list[dict[str, Any]]:
    """Returns the blocks of an answer: text, then pictures and files, then the paths of files that are only named."""
    if answer.outcome != ANSWERED:
        return [text_block(NO_ANSWERS[answer.outcome])]
    attachments = answer.attachments
    blocks = [text_block(answer.text or ONLY_ATTACHMENTS), *attachments.blocks]
    if attachments.paths:
        files = "\n".join(f"- {json.dumps(path, ensure_ascii=False)}" for path in attachments.paths)
        blocks.append(text_block(f"The person also points to these files on this computer:\n{files}"))
    return blocks


def nobody_blocks(report_id: str, how: str) -> list[dict[str, Any]]:
    """Returns the blocks for a report that no person sees now. `how` says why not."""
    return [
        text_block(
            f"{how}. The report is kept: it waits in Tooltray as {report_id}, where the user can read and answer it. "
            "Go on with what needs no answer, and tell the person so; call collect_feedback again with the same report to get an answer "
            "that was given meanwhile."
        )
    ]


def notes_block(notes: Iterable[str]) -> list[dict[str, Any]]:
    """Returns the block with notes, in a list; an empty list if there are none."""
    lines = [f"- {note}" for note in notes if note]
    return [text_block("\n".join(["Notes of Tooltray:", *lines]))] if lines else []


def late_note(report: Report, summary: str) -> str:
    """Says to which report an answer belongs that came before this call."""
    at = time.strftime("%H:%M", time.localtime(report.snapshot.asked_at))
    if report.is_repeated:
        return f"This is once more the answer to the same report of {at}, in case it did not reach you. {NOT_SEEN_ANEW}"
    note = f"This is the answer to your report of {at}, which you had stopped waiting for."
    return note if report.snapshot.summary == summary else f"{note} {NOT_SEEN}"


def started_note(server: str, tools: Sequence[str]) -> str:
    if not tools:
        return f"Server '{server}' has started for this project."
    more = f" and {len(tools) - MOST_TOOLS_NAMED} more" if len(tools) > MOST_TOOLS_NAMED else ""
    return f"Server '{server}' has started for this project. Its tools: {', '.join(tools[:MOST_TOOLS_NAMED])}{more}."


def failed_note(server: str, reason: str) -> str:
    return f"Server '{server}' did not start: {plain(reason, LONGEST_REASON)}"
