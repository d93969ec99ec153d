"""Reports of models that wait for a person's answer, and the answers.

Above it: McpPresenter and the tool `collect_feedback`. Below it: the history on the disk, and the event bus, by which the desktop hears of
a report and of its end.
"""

from collections.abc import Sequence

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.events import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot


class Feedbacks:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper) -> None:
        self._config = config

    def waiting(self) -> list[FeedbackSnapshot]:
        """See FeedbackVerbs.get_feedback_requests."""
        return []

    async def answer(self, id: str, text: str, attachments: Sequence[FeedbackAttachment]) -> None:
        """See FeedbackVerbs.answer_feedback."""

    async def dismiss(self, id: str) -> None:
        """See FeedbackVerbs.dismiss_feedback."""

    async def history(self, project_path: str, limit: int) -> list[FeedbackEntry]:
        """See FeedbackVerbs.get_feedback_history."""
        return []

    def ready_answers(self) -> list[str]:
        """See FeedbackVerbs.get_ready_answers."""
        return []

    async def set_ready_answers(self, answers: list[str]) -> None:
        """See FeedbackVerbs.set_ready_answers."""
