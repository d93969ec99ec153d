"""One report of a model: the request, the answer, the result that a call returns, and answers that are kept for clients that call again."""

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from tooltray.foundation.snapshots.questions import FeedbackEntry, FeedbackSnapshot
from tooltray.foundation.verbs import JsonObject
from tooltray.gateway.feedback.feedback_attachments import Attachments
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era, own_result
from tooltray.protocol.sessions.elicitation_form import plain

WAITING, ANSWERED, DISMISSED, EXPIRED, WITHDRAWN, REPLACED = "waiting", "answered", "dismissed", "expired", "withdrawn", "replaced"
MOST_TOOLS_NAMED = 40  # of one server; the client can list the others itself
LONGEST_REASON = 1000  # characters
ONLY_ATTACHMENTS = "The user wrote no text; see the attachments."
NOT_SEEN = "The user has not seen your latest report: call collect_feedback again to show it."
NOT_SEEN_ANEW = "The user has not seen the report again: if you had that answer, call collect_feedback again to show it."
NO_ANSWERS = {
    DISMISSED: "The user closed the report without an answer. Continue with work that needs no answer, and ask again where you need one.",
    EXPIRED: "No answer came in time. Continue with work that needs no answer, or call collect_feedback again to wait longer.",
    REPLACED: "A newer report of this session replaced this one; the answer goes to that call.",
    WITHDRAWN: "The report was withdrawn before it was answered. Call collect_feedback again.",
}


class Asked(msgspec.Struct, frozen=True):
    """A model's request for feedback, with texts that are safe to display.

    Attributes:
        project_path: empty if unknown.
        waits_s: how many seconds the user has.
        names_path: whether the model itself named the project's folder.
    """

    client: str
    summary: str
    project_name: str
    project_path: str
    waits_s: float
    names_path: bool = True


class Answer(msgspec.Struct, frozen=True):
    """The end of a report.

    Attributes:
        outcome: ANSWERED, DISMISSED (closed by the user), EXPIRED, WITHDRAWN (no client was left to receive an answer), or REPLACED (by a
            newer report of its session).
        at: time in unix seconds.
    """

    outcome: str
    at: float
    text: str = ""
    attachments: Attachments = msgspec.field(default_factory=Attachments)


class Report(msgspec.Struct, eq=False):
    """A report that is open or answered; belongs to the engine's loop.

    Attributes:
        session: key of the session that opened it; later calls of the same session find its answer.
        state: the id of the session's state, which may be that of a single request.
        waits_s: how many seconds the report is open.
        until: when it expires, in seconds of the monotonic clock.
        waiters: number of calls that wait for the answer now.
        is_collected: whether a call has returned the answer.
        is_repeated: whether a call had returned the answer before and it is returned once more.
        is_asked_there: whether the AI client shows the report to its user now (elicitation).
        left_alone: is done when the AI client showed the report and got no answer; is replaced when the report is opened again.
        deadline: the deadline of the open report, then of the kept answer.
    """

    snapshot: FeedbackSnapshot
    session: str
    state: str
    waits_s: float
    until: float
    outcome: "asyncio.Future[Answer]"
    waiters: int = 0
    is_collected: bool = False
    is_repeated: bool = False
    is_asked_there: bool = False
    left_alone: "asyncio.Future[None]" = msgspec.field(default_factory=lambda: asyncio.get_running_loop().create_future())
    deadline: Deadline | None = None

    @property
    def id(self) -> str:
        return self.snapshot.id

    @property
    def shown(self) -> FeedbackSnapshot:
        """The current snapshot."""
        return replace(self.snapshot, is_client_there=self.waiters > 0)

    def is_like(self, asked: Asked) -> bool:
        """Returns whether a request repeats this report: same client, project and summary, in any session."""
        snapshot = self.snapshot
        return (snapshot.client, snapshot.project_path, snapshot.summary) == (asked.client, asked.project_path, asked.summary)

    def leave_alone(self) -> None:
        """Ends the waiting of calls; the user may still answer on the command line. At most once for each time the report is opened."""
        self.left_alone.set_result(None)

    def stop_clock(self) -> None:
        if self.deadline:
            self.deadline.cancel()

    def entry(self, text: str) -> FeedbackEntry:
        """Returns the entry for the history. `text` is the answer's text, with secrets masked."""
        answer = self.outcome.result() if self.outcome.done() else None
        snapshot = self.snapshot
        return FeedbackEntry(
            id=self.id,
            project_path=snapshot.project_path,
            project_name=snapshot.project_name,
            client=snapshot.client,
            summary=snapshot.summary,
            asked_at=snapshot.asked_at,
            outcome=WAITING if answer is None else WITHDRAWN if answer.outcome == REPLACED else answer.outcome,
            text=text,
            attachments=answer.attachments.names if answer else (),
            answered_at=answer.at if answer else 0.0,
        )


ANSWER_KEPT_S = 1800.0  # an answer that no call waited for; models need minutes to call again
REPEATED_FOR_S = 600.0  # a returned answer; a client that lost it by a time-out calls again soon
LEAST_OPEN_S = 20.0  # of a call that a client may have given up: time-outs are 30 s or more; a model that repeats itself is quicker
MOST_KEPT = 16  # answers; each may have 27 MiB


class KeptAnswers:
    """Answers that wait for the next call of their client. Belongs to the engine's loop."""

    def __init__(self, deadlines: DeadlineWheel) -> None:
        self._deadlines = deadlines
        self._reports: dict[str, Report] = {}  # by id, the oldest first

    def keep(self, report: Report) -> None:
        """Keeps an answer that no call has returned, for the next call."""
        if report.outcome.result().outcome == ANSWERED and report.id not in self._reports:
            self._add(report, ANSWER_KEPT_S)

    def keep_returned(self, report: Report, open_s: float) -> None:
        """Keeps a returned answer for a while, since its client may have given up the call before.

        Args:
            open_s: how many seconds the call was open.
        """
        if report.outcome.result().outcome == ANSWERED and open_s >= LEAST_OPEN_S and not report.is_repeated:
            self._add(report, REPEATED_FOR_S)

    def take(self, session: str, asked: Asked) -> Report | None:
        """Removes and returns the answered report that a request repeats; None without such a report."""
        found = [report for report in self._reports.values() if _is_for(report, session, asked)]
        if not found:
            return None
        report = min(found, key=lambda each: each.is_collected)  # first an answer that no client has
        self.forget(report)
        report.is_repeated, report.is_collected = report.is_repeated or report.is_collected, False
        return report

    def forget(self, report: Report) -> None:
        self._reports.pop(report.id, None)
        report.stop_clock()

    def clear(self) -> None:
        for report in list(self._reports.values()):
            self.forget(report)

    def _add(self, report: Report, kept_s: float) -> None:
        self._reports[report.id] = report
        report.deadline = self._deadlines.add(kept_s, partial(self.forget, report))
        if len(self._reports) > MOST_KEPT:
            self.forget(min(self._reports.values(), key=lambda each: not each.is_collected))  # drops returned answers first


def _is_for(report: Report, session: str, asked: Asked) -> bool:
    """Returns whether an answer is for a request: a repeated report in any session, or, if not returned yet, any report of its session."""
    if report.is_collected or report.session != session:
        return report.is_like(asked)
    path = report.snapshot.project_path
    return not asked.names_path or not path or asked.project_path in ("", path)


def result(blocks: Sequence[JsonObject], era: Era, *, is_error: bool = False) -> Envelope:
    """Builds a tool result in the form of an era."""
    return own_result("tools/call", dump({"content": list(blocks), "isError": is_error}), era)


def text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def answer_blocks(answer: Answer) -> list[JsonObject]:
    """Returns the blocks of an answer: text, then pictures and files, then the paths of files that are only named."""
    if answer.outcome != ANSWERED:
        return [text_block(NO_ANSWERS[answer.outcome])]
    attachments = answer.attachments
    blocks = [text_block(answer.text or ONLY_ATTACHMENTS), *attachments.blocks]
    if attachments.paths:
        files = "\n".join(f"- {json.dumps(path, ensure_ascii=False)}" for path in attachments.paths)
        blocks.append(text_block(f"The user also refers to these files on this computer:\n{files}"))
    return blocks


def nobody_blocks(report_id: str, how: str) -> list[JsonObject]:
    """Returns the blocks for a report that no user sees now. `how`: the reason."""
    return [
        text_block(
            f"{how}. The report is kept: it waits in Tooltray as {report_id}, where the user can read and answer it. "
            "Continue with work that needs no answer, and tell the user so; call collect_feedback again with the same report to get an "
            "answer that was given meanwhile."
        )
    ]


def notes_block(notes: Iterable[str]) -> list[JsonObject]:
    """Returns the block with notes, in a list; an empty list if there are none."""
    lines = [f"- {note}" for note in notes if note]
    return [text_block("\n".join(["Notes from Tooltray:", *lines]))] if lines else []


def late_note(report: Report, summary: str) -> str:
    """Returns the note for an answer that came before this call: it names the report that was answered."""
    at = time.strftime("%H:%M", time.localtime(report.snapshot.asked_at))
    if report.is_repeated:
        return f"This is again the answer to the same report of {at}, in case it did not reach you. {NOT_SEEN_ANEW}"
    note = f"This is the answer to your report of {at}, which you had stopped waiting for."
    return note if report.snapshot.summary == summary else f"{note} {NOT_SEEN}"


def started_note(server: str, tools: Sequence[str]) -> str:
    if not tools:
        return f"Server '{server}' has started for this project."
    more = f" and {len(tools) - MOST_TOOLS_NAMED} more" if len(tools) > MOST_TOOLS_NAMED else ""
    return f"Server '{server}' has started for this project. Its tools: {', '.join(tools[:MOST_TOOLS_NAMED])}{more}."


def failed_note(server: str, reason: str) -> str:
    return f"Server '{server}' did not start: {plain(reason, LONGEST_REASON)}"
