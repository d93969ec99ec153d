"""One report of a model, from its question to the answer, and who waits for it.

Above it: Feedbacks, which keeps them, and the tool, which waits. Below it: the events' snapshots.
"""

import asyncio
from dataclasses import dataclass, field, replace

from tooltray.feedback.feedback_attachments import Attachments
from tooltray.feedback.feedback_history import EXPIRED, WAITING
from tooltray.protocol.deadlines import Deadline
from tooltray.snapshots.feedback import FeedbackEntry, FeedbackSnapshot

ANSWERED, DISMISSED, WITHDRAWN, REPLACED = "answered", "dismissed", "withdrawn", "replaced"
__all__ = ["ANSWERED", "DISMISSED", "EXPIRED", "REPLACED", "WITHDRAWN", "Answer", "Asked", "Report"]


@dataclass(frozen=True)
class Asked:
    """A model's report, as it may be shown.

    Attributes:
        project_path: empty where none is known.
        waits_s: how long the person has.
        names_path: whether the model has named the project itself.
    """

    client: str
    summary: str
    project_name: str
    project_path: str
    waits_s: float
    names_path: bool = True


@dataclass(frozen=True)
class Answer:
    """How a report ended.

    Attributes:
        outcome: ANSWERED, DISMISSED (the person closed it), EXPIRED, WITHDRAWN (nobody was left to be told), or REPLACED (by a newer report
            of its session).
        at: unix seconds.
    """

    outcome: str
    at: float
    text: str = ""
    attachments: Attachments = field(default_factory=Attachments)


@dataclass(eq=False)
class Report:
    """Belongs to the engine's loop.

    Attributes:
        session: whose it is; a call of the same one finds its answer.
        state: the id of the session's state, which may be that of a single request.
        waits_s: how long it is open.
        until: the same as a moment, in seconds of a clock that nobody sets.
        waiters: how many calls wait for its answer now.
        is_collected: a call has returned the answer.
        is_repeated: a call had returned the answer before, and it is given once more.
        is_asked_there: the client's own person is asked now.
        left_alone: done when the client's own person was asked, and nobody answered; until it is asked anew.
        deadline: of the report while it is open, then of its answer, while that is kept.
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
    left_alone: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    deadline: Deadline | None = None

    @property
    def id(self) -> str:
        return self.snapshot.id

    @property
    def shown(self) -> FeedbackSnapshot:
        """As it is now."""
        return replace(self.snapshot, is_client_there=self.waiters > 0)

    def is_like(self, asked: Asked) -> bool:
        """Whether it is the same report of the same client, in whichever session."""
        snapshot = self.snapshot
        return (snapshot.client, snapshot.project_path, snapshot.summary) == (asked.client, asked.project_path, asked.summary)

    def leave_alone(self) -> None:
        """Calls that wait for it need wait no longer; the person may still answer by the command line. Once for each time it is asked."""
        self.left_alone.set_result(None)

    def stop_clock(self) -> None:
        if self.deadline:
            self.deadline.cancel()

    def entry(self, text: str = "") -> FeedbackEntry:
        """As the history shows it. `text`: of the answer, as it may be kept."""
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
