"""FakePresenter's verbs about feedback. Mixed into it."""

from collections.abc import Sequence

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.snapshots.feedback import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot


class FeedbackVerbs(HubInMemory):
    async def get_feedback_requests(self) -> list[FeedbackSnapshot]:
        self._note("get_feedback_requests")
        return list(self.feedback)

    async def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        self._note("answer_feedback", id, text, attachments)
        self.end_feedback(id)

    async def dismiss_feedback(self, id: str) -> None:
        self._note("dismiss_feedback", id)
        self.end_feedback(id)

    async def get_feedback_history(self, project_path: str = "", limit: int = 50) -> list[FeedbackEntry]:
        self._note("get_feedback_history", project_path, limit)
        return list(self.feedback_history)

    async def get_ready_answers(self) -> list[str]:
        self._note("get_ready_answers")
        return list(self.ready_answers)

    async def set_ready_answers(self, answers: list[str]) -> None:
        self._note("set_ready_answers", answers)
