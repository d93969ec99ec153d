"""The API about models' reports, and ready answers, for answers that the user gives often."""

import json
from collections.abc import Sequence
from pathlib import Path

from tooltray.config.settings.document import Document
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.feedback import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot
from tooltray.foundation.verbs import MAX_PICTURES_BYTES, verb
from tooltray.gateway.feedback.feedback_history import FeedbackNotes
from tooltray.gateway.feedback.feedbacks import Feedbacks
from tooltray.protocol.sessions.elicitation_form import plain

MOST_READY = 20  # buttons in one window
LONGEST_READY = 200  # characters of one


def read_shipped(path: Path) -> tuple[str, ...]:
    """Reads the default ready answers."""
    return tuple(json.loads(path.read_bytes()))


class ReadyAnswers:
    """The user's ready answers, or the defaults. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, shipped: tuple[str, ...]) -> None:
        self._config, self._shipped = config, shipped

    def all(self) -> list[str]:
        return list(self._config.settings.ready_answers or self._shipped)

    async def set(self, answers: list[str]) -> None:
        """Replaces the ready answers; an empty list restores the defaults.

        Raises:
            TooltrayError: there are too many, one is empty or too long, or the settings cannot be written.
        """
        kept = list(dict.fromkeys(plain(answer, LONGEST_READY + 1) for answer in answers))
        if len(kept) > MOST_READY:
            raise TooltrayError(
                Phrase("These are too many ready answers"),
                Phrase("there are {number}", number=len(kept)),
                Phrase("Keep at most {most_ready}.", most_ready=MOST_READY),
            )
        if not all(0 < len(answer) <= LONGEST_READY for answer in kept):
            raise TooltrayError(
                Phrase("A ready answer cannot be kept"),
                Phrase("each has 1 to {longest_ready} characters", longest_ready=LONGEST_READY),
                Phrase("Shorten it, or remove it."),
            )

        def edit(document: Document) -> None:
            document.pop("readyAnswers", None)
            if kept:
                document["readyAnswers"] = kept

        await self._config.edit(edit)


class FeedbackApi:
    def __init__(self, *, feedbacks: Feedbacks, notes: FeedbackNotes, ready: ReadyAnswers) -> None:
        self._feedbacks, self._notes, self._ready = feedbacks, notes, ready

    async def get_feedback_requests(self) -> list[FeedbackSnapshot]:
        """Returns the reports that wait for an answer, the oldest first."""
        return self._feedbacks.waiting()

    @verb(max_body_bytes=MAX_PICTURES_BYTES)
    async def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        """Answers a report.

        Raises:
            TooltrayError: it waits no longer, the answer is empty, or a picture or file cannot be sent; the error has the reason.
        """
        await self._feedbacks.answer(id, text, attachments)

    async def dismiss_feedback(self, id: str) -> None:
        """Closes a report without an answer, and reports that to the model.

        Raises:
            TooltrayError: it waits no longer.
        """
        await self._feedbacks.dismiss(id)

    async def get_feedback_history(self, project_path: str = "", limit: int = 50) -> list[FeedbackEntry]:
        """Returns reports and answers, the newest first; only of the project `project_path` if it is given."""
        return await self._notes.read(project_path, limit)

    async def get_ready_answers(self) -> list[str]:
        """Returns the ready answers; the defaults while none are set."""
        return self._ready.all()

    async def set_ready_answers(self, answers: list[str]) -> None:
        """Replaces the ready answers; an empty list restores the defaults.

        Raises:
            TooltrayError: an answer cannot be kept, or the settings cannot be written.
        """
        await self._ready.set(answers)
