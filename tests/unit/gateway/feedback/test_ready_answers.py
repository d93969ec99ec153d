"""A person's own ready answers are kept in the settings; without any, those that come with Tooltray are there."""

import json
from pathlib import Path

import pytest

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.resources import resource
from tooltray.gateway.feedback.ready_answers import LONGEST_READY, MOST_READY, ReadyAnswers, read_shipped


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
