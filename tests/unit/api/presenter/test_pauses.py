"""pauses.py"""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import Heard

from tooltray.api.presenter.pauses import MOST_PAUSE_S, Pauses
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported
from tooltray.foundation.tasks import TaskKeeper


class FullDisk(McpConfHelper):
    """`refusals`: so often nothing can be written."""

    refusals = 0

    async def set_enabled(self, enabled: bool, *, paused_until: float = 0.0) -> None:
        if self.refusals:
            self.refusals -= 1
            raise TooltrayError("The disk is full")
        await super().set_enabled(enabled, paused_until=paused_until)


class Paused:
    def __init__(self, folder: Path) -> None:
        self.path, self.bus, self.tasks = folder / "settings.json", EventBus(), TaskKeeper()
        self.conf = FullDisk(self.path, self.bus)
        self.heard = Heard(self.bus)
        self.pauses = Pauses(config=self.conf, spawn=self.tasks.spawn, bus=self.bus, check_every_s=0.001)

    async def start(self, **settings: Any) -> None:
        self.path.write_text(json.dumps({"version": 1, **settings}))
        await self.conf.load()
        self.pauses.start()

    @property
    def written(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.path.read_text())
        return {name: document[name] for name in ("mcpEnabled", "pausedUntil") if name in document}


@pytest.fixture
async def paused(tmp_path: Path) -> AsyncIterator[Paused]:
    paused = Paused(tmp_path)
    yield paused
    await paused.tasks.close()


async def test_a_pause_ends_by_itself_and_leaves_nothing_of_it(paused: Paused) -> None:
    await paused.start()
    await paused.pauses.set_enabled(False, 0.01)
    assert paused.pauses.until == pytest.approx(time.time(), abs=1.0)
    await paused.heard.event(ConfigChanged, mcp_enabled=True)
    assert (paused.written, paused.pauses.until) == ({"mcpEnabled": True}, 0.0)


async def test_the_next_hub_goes_on_with_it(paused: Paused) -> None:
    until = round(time.time()) + 3600
    await paused.start(mcpEnabled=False, pausedUntil=until)
    assert paused.pauses.until == pytest.approx(until, abs=1.0)
    await paused.pauses.set_enabled(True, None)
    assert (paused.written, paused.pauses.until) == ({"mcpEnabled": True}, 0.0)


async def test_one_that_ended_while_no_hub_ran_is_over(paused: Paused) -> None:
    await paused.start(mcpEnabled=False, pausedUntil=time.time() - 60)
    await paused.heard.event(ConfigChanged, mcp_enabled=True)


@pytest.mark.parametrize("settings", [{"mcpEnabled": False}, {"pausedUntil": 5.0}, {"mcpEnabled": False, "pausedUntil": "soon"}])
async def test_without_an_end_it_lasts_until_somebody_resumes(paused: Paused, settings: dict[str, Any]) -> None:
    await paused.start(**settings)
    assert (paused.pauses.until, len(paused.tasks)) == (0.0, 0)


async def test_an_end_by_a_clock_that_was_wrong_is_a_week_away_at_most(paused: Paused) -> None:
    await paused.start(mcpEnabled=False, pausedUntil=time.time() + 1e9)
    assert paused.pauses.until == pytest.approx(time.time() + MOST_PAUSE_S, abs=2.0)


async def test_a_longer_pause_takes_the_place_of_a_shorter_one(paused: Paused) -> None:
    await paused.start()
    await paused.pauses.set_enabled(False, 600.0)
    await paused.pauses.set_enabled(False, 7200.0)
    assert paused.pauses.until == pytest.approx(time.time() + 7200.0, abs=2.0)


@pytest.mark.parametrize(
    ("enabled", "for_s"), [(True, 60.0), (False, 0.0), (False, -1.0), (False, MOST_PAUSE_S + 1), (False, float("nan"))]
)
async def test_what_is_no_length_of_a_pause_is_refused(paused: Paused, enabled: bool, for_s: float) -> None:
    await paused.start()
    with pytest.raises(TooltrayError, match="no length of a pause"):
        await paused.pauses.set_enabled(enabled, for_s)


async def test_where_the_settings_cannot_be_written_that_is_said_once_and_tried_again(paused: Paused) -> None:
    paused.conf.refusals = 3
    await paused.start(mcpEnabled=False, pausedUntil=time.time() - 60)
    await paused.heard.event(ConfigChanged, mcp_enabled=True)
    assert [each.problem.title for each in paused.heard.of(ProblemReported)] == ["The disk is full"]
