"""api.py"""

from pathlib import Path

from tests.fakes.hub_parts import hub_parts

from tooltray.gateway.feedback.feedback_report import Asked


async def test_the_verbs_show_answer_and_put_away_reports_and_keep_ready_answers(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}) as parts:
        presenter = parts.presenter
        first, second = (parts.feedbacks.open(parts.client(name=name).state, Asked(name, "# Done", "p", "/p", 600.0)) for name in "ab")
        assert await presenter.get_feedback_requests() == [first.shown, second.shown]
        await presenter.answer_feedback(first.id, "Yes")
        await presenter.dismiss_feedback(second.id)
        assert {entry.outcome for entry in await presenter.get_feedback_history("/p", 10)} == {"answered", "dismissed"}
        assert await presenter.get_feedback_history("/other") == []
        assert await presenter.get_ready_answers() == ["Go on"]
        await presenter.set_ready_answers(["Yes"])
        assert await presenter.get_ready_answers() == ["Yes"]
