"""The API about models' reports and a person's answers."""

from collections.abc import Sequence

from tooltray.foundation.snapshots.feedback import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot
from tooltray.foundation.verbs import MAX_PICTURES_BYTES, verb
from tooltray.gateway.feedback.feedback_history import FeedbackNotes
from tooltray.gateway.feedback.feedbacks import Feedbacks
from tooltray.gateway.feedback.ready_answers import ReadyAnswers


class FeedbackApi:
    def __init__(self, *, feedbacks: Feedbacks, notes: FeedbackNotes, ready: ReadyAnswers) -> None:
        self._feedbacks, self._notes, self._ready = feedbacks, notes, ready

    async def get_feedback_requests(self) -> list[FeedbackSnapshot]:
        """The reports that wait for an answer, the oldest first."""
        return self._feedbacks.waiting()

    @verb(max_body_bytes=MAX_PICTURES_BYTES)
    async def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        """A person's answer to a report.

        Raises:
            TooltrayError: it waits no longer, the answer is empty, or a picture or file cannot be taken; says why.
        """
        await self._feedbacks.answer(id, text, attachments)

    async def dismiss_feedback(self, id: str) -> None:
        """The person has closed it without an answer; the model is told so.

        Raises:
            TooltrayError: it waits no longer.
        """
        await self._feedbacks.dismiss(id)

    async def get_feedback_history(self, project_path: str = "", limit: int = 50) -> list[FeedbackEntry]:
        """Reports and answers, the newest first; `project_path`: of this project alone."""
        return await self._notes.read(project_path, limit)

    async def get_ready_answers(self) -> list[str]:
        """Answers that a person gives often; those that come with Tooltray while none were set."""
        return self._ready.all()

    async def set_ready_answers(self, answers: list[str]) -> None:
        """
        Raises:
            TooltrayError: the settings cannot be written.
        """
        await self._ready.set(answers)
