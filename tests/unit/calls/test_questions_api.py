"""calls/questions_api.py, through McpPresenter's verbs"""

from tests.fakes.hub_parts import HubParts
from tests.fakes.refusal import refusal


async def test_an_answer_to_no_question_is_refused(parts: HubParts) -> None:
    assert "has ended" in await refusal(parts.presenter.answer_elicitation("gone", "accept", {}))
