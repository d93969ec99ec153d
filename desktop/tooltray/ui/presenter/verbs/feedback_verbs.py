"""QtMcpPresenter's verbs about reports of models and their answers. Mixed into it."""

from collections.abc import Sequence

from tooltray.snapshots.feedback import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot
from tooltray.ui.presenter.link import EngineLink


class FeedbackVerbs:
    _link: EngineLink

    async def get_feedback_requests(self) -> list[FeedbackSnapshot]:
        return await self._link.run(lambda engine: engine.get_feedback_requests())

    async def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        await self._link.run(lambda engine: engine.answer_feedback(id, text, attachments))

    async def dismiss_feedback(self, id: str) -> None:
        await self._link.run(lambda engine: engine.dismiss_feedback(id))

    async def get_feedback_history(self, project_path: str = "", limit: int = 50) -> list[FeedbackEntry]:
        return await self._link.run(lambda engine: engine.get_feedback_history(project_path, limit))

    async def get_ready_answers(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_ready_answers())

    async def set_ready_answers(self, answers: list[str]) -> None:
        await self._link.run(lambda engine: engine.set_ready_answers(answers))
