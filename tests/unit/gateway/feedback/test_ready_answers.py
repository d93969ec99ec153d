"""feedbacks.py: ready answers, and the verbs about reports."""

import json
from pathlib import Path

import pytest
from tests.fakes.hub_parts import hub_parts

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.programs import resource
from tooltray.gateway.feedback.feedback_report import Asked
from tooltray.gateway.feedback.feedbacks import LONGEST_READY, MOST_READY, ReadyAnswers, read_shipped


async def answers_in(folder: Path) -> ReadyAnswers:
    conf = McpConfHelper(folder / "settings.json", EventBus())
    await conf.load()
    return ReadyAnswers(config=conf, shipped=("Go on",))


def test_some_come_with_tooltray() -> None:
    shipped = read_shipped(resource("ready-answers.json"))
    assert len(shipped) >= 3
    assert all(isinstance(each, str) and each for each in shipped)


async def test_ones_own_take_their_place_until_there_are_none(tmp_path: Path) -> None:
    ready = await answers_in(tmp_path)
    assert ready.all() == ["Go on"]
    await ready.set(["Yes", " No\n", "Yes"])
    assert ready.all() == (await answers_in(tmp_path)).all() == ["Yes", "No"]
    await ready.set([])
    assert ready.all() == ["Go on"]
    assert "readyAnswers" not in json.loads((tmp_path / "settings.json").read_bytes())


@pytest.mark.parametrize("answers", [[""], ["\x00"], ["x" * (LONGEST_READY + 1)], [str(number) for number in range(MOST_READY + 1)]])
async def test_what_is_no_button_is_refused_and_nothing_changes(tmp_path: Path, answers: list[str]) -> None:
    ready = await answers_in(tmp_path)
    with pytest.raises(TooltrayError):
        await ready.set(answers)
    assert ready.all() == ["Go on"]


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
