"""The state of one report of a model, from the request to the answer, and of the calls that wait for it.

Above it: Feedbacks, which manages the reports, and the tool, which waits for answers. Below it: snapshots.
"""

import asyncio

import msgspec
from msgspec.structs import replace

from tooltray.feedback.feedback_attachments import Attachments
from tooltray.feedback.feedback_history import EXPIRED, WAITING
from tooltray.protocol.deadlines import Deadline
from tooltray.snapshots.feedback import FeedbackEntry, FeedbackSnapshot

ANSWERED, DISMISSED, WITHDRAWN, REPLACED = "answered", "dismissed", "withdrawn", "replaced"
__all__ = ["ANSWERED", "DISMISSED", "EXPIRED", "REPLACED", "WITHDRAWN", "Answer", "Asked", "Report"]


class Asked(msgspec.Struct, frozen=True):
    """A model's request for feedback, with texts that are safe to display.

    Attributes:
        project_path: empty if unknown.
        waits_s: how many seconds the person has.
        names_path: whether the model itself named the project's folder.
    """

    client: str
    summary: str
    project_name: str
    project_path: str
    waits_s: float
    names_path: bool = True


class Answer(msgspec.Struct, frozen=True):
    """How a report ended.

    Attributes:
        outcome: ANSWERED, DISMISSED (closed by the person), EXPIRED, WITHDRAWN (no client was left to receive an answer), or REPLACED (by a
            newer report of its session).
        at: time in unix seconds.
    """

    outcome: str
    at: float
    text: str = ""
    attachments: Attachments = msgspec.field(default_factory=Attachments)


class Report(msgspec.Struct, eq=False):
    """Belongs to the engine's loop.

    Attributes:
        session: key of the session that opened it; later calls of the same session find its answer.
        state: the id of the session's state, which may be that of a single request.
        waits_s: how many seconds the report is open.
        until: when it expires, in seconds of the monotonic clock.
        waiters: number of calls that wait for the answer now.
        is_collected: whether a call has returned the answer.
        is_repeated: whether a call had returned the answer before and it is returned once more.
        is_asked_there: whether the AI client shows the report to its user now (elicitation).
        left_alone: done when the AI client showed the report and got no answer; replaced when the report is opened again.
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
        """Ends the waiting of calls; the person may still answer on the command line. At most once for each time the report is opened."""
        self.left_alone.set_result(None)

    def stop_clock(self) -> None:
        if self.deadline:
            self.deadline.cancel()

    def entry(self, text: str = "") -> FeedbackEntry:
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
