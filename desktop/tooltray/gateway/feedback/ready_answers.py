"""Ready answers, for answers that a person gives often: the person's own, else the defaults.

Above it: Feedbacks. Below it: the settings, and the data file of the defaults, which the window translates.
"""

import json
from pathlib import Path

from tooltray.config.settings.document import Document
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.sessions.elicitation_form import plain

MOST_READY = 20  # buttons in one window
LONGEST_READY = 200  # characters of one


def read_shipped(path: Path) -> tuple[str, ...]:
    """Reads the default ready answers."""
    return tuple(json.loads(path.read_bytes()))


class ReadyAnswers:
    """Belongs to the engine's loop."""

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
