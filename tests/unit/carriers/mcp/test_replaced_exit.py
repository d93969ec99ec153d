"""replaced_exit.py"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import pytest

from tooltray.carriers.mcp import replaced_exit
from tooltray.carriers.mcp.replaced_exit import ReplacedExit


class Looks(msgspec.Struct):
    """What a hub is at each look, the last one from then on."""

    looks: Sequence["Look"]
    number: int = 0
    ended: int = 0

    @property
    def now(self) -> "Look":
        return self.looks[min(self.number, len(self.looks) - 1)]

    async def pause(self, _: float) -> None:
        self.number += 1

    async def end(self) -> None:
        self.ended += 1


class Look(NamedTuple):
    answered: int
    is_busy: bool = False
    may_end: bool = True
    is_replaced: bool = True


async def ended_after(monkeypatch: pytest.MonkeyPatch, *looks: Look) -> int:
    """The number of the look after which it has ended."""
    hub = Looks(looks)
    monkeypatch.setattr(replaced_exit.asyncio, "sleep", hub.pause)
    await ReplacedExit(
        is_replaced=lambda: hub.now.is_replaced,
        may_end=lambda: hub.now.may_end,
        is_busy=lambda: hub.now.is_busy,
        count=lambda: hub.now.answered,
    ).run(hub.end)
    assert hub.ended == 1
    return hub.number


async def test_a_hub_whose_program_is_replaced_ends_in_a_quiet_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await ended_after(monkeypatch, Look(0, is_replaced=False), Look(0)) == 1


async def test_it_goes_on_while_it_is_used_or_its_window_is_open_or_nothing_was_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = (Look(0), Look(5), Look(5, is_busy=True), Look(5, may_end=False), Look(5, is_replaced=False), Look(5))
    assert await ended_after(monkeypatch, *looks) == 5
