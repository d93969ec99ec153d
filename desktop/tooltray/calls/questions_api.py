"""The API about what servers ask a person."""

from typing import Any

from tooltray.calls.elicitations import Elicitations


class QuestionsApi:
    def __init__(self, *, elicitations: Elicitations) -> None:
        self._elicitations = elicitations

    async def answer_elicitation(self, id: str, action: str, content: dict[str, Any] | None = None) -> None:
        """Answers a server's question: "accept" with the values of its form, "decline", or "cancel" for no answer at all.

        Raises:
            TooltrayError: it has ended, or the answer does not fit.
        """
        self._elicitations.answer(id, action, content)
