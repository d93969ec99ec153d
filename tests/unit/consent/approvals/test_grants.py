"""grants.py, grant_book.py, api.py: grants survive a restart; they end by the clock or as the screen locks, and each end is heard of."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.fakes.approval_desk import Desk, desk
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.set_clock import SetClock

from tooltray.consent.approvals.grants import (
    CHECK_EVERY_S,
    DAY_S,
    HOUR_S,
    LONGEST_DEFINITION,
    SETTLE_S,
    Grant,
    GrantEnds,
    LiveGrants,
    ScreenLock,
    ScreenLocked,
    grant_store,
)
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.events import EventBus, GrantsChanged

ONE = Grant(id="1", kind="tool", server="s", tool="t", client="c", created_at=1.0, expires_at=2.0, tools={"t": "f1"})
TWO = Grant(id="2", kind="reads", server="s", tools={"a": "f1", "b": "f2"})


def grants(path: Path) -> LiveGrants:
    """Those of a file, while ONE has not expired."""
    return LiveGrants(grant_store=grant_store(path), screen_lock=ScreenLock(bus=EventBus(), has_window=True), now=lambda: 1.5)


async def test_grants_are_there_again_after_a_restart_in_the_spelling_of_the_other_files(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    await grants(path).write([ONE, TWO], {"f1": "one", "f2": "two"})
    again = grants(path)
    assert again.all() == [ONE, TWO]
    assert (again.definition("f1"), again.definition("f2"), again.definition("f3")) == ("one", "two", "")
    assert json.loads(path.read_bytes())["grants"][0]["createdAt"] == 1.0


async def test_a_definition_that_no_grant_needs_is_left_out_and_one_that_is_very_long(tmp_path: Path) -> None:
    live = grants(tmp_path / "grants.json")
    await live.write([TWO], {"f1": "one", "f2": "x" * (LONGEST_DEFINITION + 1)})
    await live.write([ONE], {})
    assert (live.definition("f1"), live.definition("f2")) == ("one", "")
    await live.write([], {})
    assert live.definition("f1") == ""


@pytest.mark.parametrize("content", ['{"version": 2}', '{"grants": [{"id": "1", "kind": "all", "server": "s"}]}'])
def test_what_this_version_does_not_write_allows_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "grants.json"
    path.write_text(content)
    live = grants(path)
    assert (live.all(), bool(live.problem)) == ([], True)


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-1", "1e300"])
@pytest.mark.parametrize("member", ["createdAt", "expiresAt"])
def test_a_time_that_no_clock_shows_allows_nothing(tmp_path: Path, member: str, written: str) -> None:
    path = tmp_path / "grants.json"
    path.write_text(f'{{"grants": [{{"id": "1", "kind": "tool", "server": "s", "{member}": {written}}}]}}')
    live = grants(path)
    assert (live.all(), bool(live.problem)) == ([], True)


async def test_a_grant_that_has_expired_counts_no_more_and_is_not_listed(alone: Desk) -> None:
    await alone.parts.presenter.add_grant("s", "tool", "write_it", expires_in_s=1e-9)
    assert "error" in await alone.call()
    assert await alone.parts.presenter.get_grants() == []


async def test_a_grant_for_a_time_does_not_last_longer_because_the_clock_is_set_back(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it", expires_in_s=3600.0)
        file = json.loads(here.parts.home.grants.read_text())
        [grant] = file["grants"]
        grant |= {"createdAt": grant["createdAt"] + 7200, "expiresAt": grant["expiresAt"] + 7200}
        here.parts.home.grants.write_text(json.dumps(file))
    async with desk(tmp_path, has_window=False) as here:
        assert "error" in await here.call()
        assert await here.parts.presenter.get_grants() == []


class Book:
    """Grants that end at these times, by the loop's clock, or by one of its own."""

    def __init__(self, *ends: float, clock: SetClock | None = None) -> None:
        self.ends, self._clock = ends, clock

    def now(self) -> float:
        return self._clock() if self._clock else asyncio.get_running_loop().time()

    @property
    def next_end(self) -> float:
        return min((end for end in self.ends if end > self.now()), default=0.0)


def ended(bus: EventBus) -> list[float]:
    """When ends were told, in seconds since the fake clock began."""
    told: list[float] = []
    bus.subscribe(GrantsChanged, lambda event: told.append(asyncio.get_running_loop().time() - 1000.0))
    return told


@pytest.mark.parametrize(("answer", "lasts_s"), [("hour", HOUR_S), ("day", DAY_S)])
async def test_a_yes_for_a_time_is_for_this_tool_and_client_and_ends_by_itself(here: Desk, answer: str, lasts_s: float) -> None:
    await here.allow(answer=answer)
    [grant] = await here.parts.presenter.get_grants()
    assert (grant.kind, grant.tool, grant.client, grant.expires_at - grant.created_at) == ("tool", "write_it", "Cursor", lasts_s)
    assert "result" in await here.call(arguments={"other": 1})


@in_fake_time
async def test_ends_are_told_when_they_come_a_hundred_at_once_as_one() -> None:
    bus = EventBus()
    told = ended(bus)
    GrantEnds(live_grants=Book(1000.2, *(1100.0 + n / 1000 for n in range(100)), 1100.7), bus=bus)
    await asyncio.sleep(200.0)
    assert [round(at, 1) for at in told] == [0.7, 100.5, 101.2]


@in_fake_time
async def test_nothing_wakes_the_hub_while_nothing_ends() -> None:
    bus, loop = EventBus(), asyncio.get_running_loop()
    wakes: list[float] = []

    class Watched(Book):
        def now(self) -> float:
            wakes.append(loop.time())
            return super().now()

    GrantEnds(live_grants=Watched(), bus=bus)
    wakes.clear()
    await asyncio.sleep(10 * CHECK_EVERY_S)
    assert wakes == []


@in_fake_time
async def test_an_end_that_passed_while_the_computer_slept_is_told_soon_after() -> None:
    bus, clock = EventBus(), SetClock(1000.0)
    told = ended(bus)
    GrantEnds(live_grants=Book(1000.0 + HOUR_S, clock=clock), bus=bus)
    await asyncio.sleep(1.0)
    clock.now += 2 * HOUR_S  # the loop's timers stood still
    await asyncio.sleep(2 * CHECK_EVERY_S)
    assert told == [CHECK_EVERY_S]


@in_fake_time
async def test_a_grant_that_ends_sooner_than_all_others_is_waited_for_from_then_on() -> None:
    bus = EventBus()
    told = ended(bus)
    book = Book(1000.0 + HOUR_S)
    GrantEnds(live_grants=book, bus=bus)
    book.ends = (*book.ends, 1004.0)
    bus.publish(GrantsChanged())
    await asyncio.sleep(10.0)
    assert told == [0.0, 4.0 + SETTLE_S]


def test_a_lock_is_awaited_only_while_somebody_tells_of_an_open_screen() -> None:
    bus, locks = EventBus(), list[ScreenLocked]()
    bus.subscribe(ScreenLocked, locks.append)
    screen = ScreenLock(bus=bus, has_window=True)
    seen = [(screen.is_awaited, screen.is_locked, screen.number)]
    for told in (None, False, False, True, True, False, None, None):
        screen.tell(told)
        seen.append((screen.is_awaited, screen.is_locked, screen.number))
    assert seen == [
        *((False, False, 1), (False, False, 1), (True, False, 1), (True, False, 1), (False, True, 2), (False, True, 3)),
        *((True, False, 3), (False, False, 4), (False, False, 4)),
    ]
    assert len(locks) == 3


async def test_a_yes_until_the_screen_locks_ends_there_and_is_in_no_file(here: Desk) -> None:
    p = here.parts.presenter
    await p.tell_screen_lock(False)
    call = here.calling()
    question = await here.answer("lock")
    assert question.choices == ("once", "session", "hour", "day", "lock", "always")
    assert "result" in await call
    assert "result" in await here.call(arguments={"other": 1})
    [grant] = await p.get_grants()
    assert (grant.until, grant.expires_at, grant.tool) == ("lock", 0.0, "write_it")
    assert json.loads(here.parts.home.grants.read_text())["grants"] == []
    assert grant_store(here.parts.home.grants).content.grants == []
    changed = len(here.parts.heard.of(GrantsChanged))
    await p.tell_screen_lock(True)
    assert len(here.parts.heard.of(GrantsChanged)) == changed + 1
    assert await p.get_grants() == []
    await p.tell_screen_lock(False)
    again = here.calling()
    await here.answer("refuse")
    assert "error" in await again


async def test_a_lasting_grant_is_written_beside_one_that_passes_and_outlives_it(here: Desk) -> None:
    p = here.parts.presenter
    await p.tell_screen_lock(False)
    passing = await p.add_grant("s", "tool", "write_it", until="lock", expires_in_s=3600.0)
    lasting = await p.add_grant("s", "tool", "read_it")
    assert (passing.until, passing.expires_at > 0, lasting.until) == ("lock", True, "")
    await here.redefine({"name": "write_it", "description": "Else", "inputSchema": {"type": "object"}})
    [change] = await p.get_tool_changes()
    assert "-description: Writes it" in change.diff  # what was seen is known, though in no file
    await p.tell_screen_lock(None)
    assert [each.id for each in await p.get_grants()] == [lasting.id]


async def test_where_nobody_hears_of_a_lock_or_it_is_locked_already_no_yes_lasts_until_then(here: Desk) -> None:
    p = here.parts.presenter
    with pytest.raises(TooltrayError, match="a locked screen cannot be detected here"):
        await p.add_grant("s", "tool", "write_it", until="lock")
    call = here.calling()
    question = await here.asked()
    with pytest.raises(TooltrayError, match=r"'lock' is not an answer to this call.*the screen lock cannot be detected"):
        await p.answer_approval(question.id, "lock")
    await p.answer_approval(question.id, "refuse")
    await call
    await p.tell_screen_lock(True)
    with pytest.raises(Conflict, match="locked just now"):
        await p.add_grant("s", "tool", "write_it", until="lock")
    with pytest.raises(TooltrayError, match="' is not a valid end of a grant"):
        await p.add_grant("s", "tool", "write_it", until="moon")
    assert await p.get_grants() == []


async def test_a_screen_that_locks_between_the_question_and_the_answer_allows_nothing(here: Desk) -> None:
    p = here.parts.presenter
    await p.tell_screen_lock(False)
    call = here.calling()
    question = await here.asked()
    await p.tell_screen_lock(True)
    with pytest.raises(Conflict, match="locked just now"):
        await p.answer_approval(question.id, "lock")
    assert [each.id for each in await p.get_approvals()] == [question.id]  # it waits on
    await p.answer_approval(question.id, "refuse")
    await call


async def test_what_was_taken_back_before_a_lock_does_not_come_back_after_it(here: Desk) -> None:
    p = here.parts.presenter
    await p.tell_screen_lock(False)
    grant = await p.add_grant("s", "tool", "write_it", until="lock")
    await p.remove_grant(grant.id)
    assert (await p.restore_grant(grant.id)).until == "lock"
    await p.remove_grant(grant.id)
    await p.tell_screen_lock(True)
    with pytest.raises(NotFound, match="cannot be undone"):
        await p.restore_grant(grant.id)


async def test_a_hub_without_a_window_is_told_of_no_open_screen(alone: Desk) -> None:
    with pytest.raises(Denied, match="Tooltray needs its window to detect a locked screen"):
        await alone.parts.presenter.tell_screen_lock(False)
    assert not alone.parts.screen_lock.is_awaited
