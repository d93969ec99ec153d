"""feedbacks.py, feedback_report.py, feedback_history.py: a report has one answer, which reaches the model once, even after its call."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Heard
from tests.fakes.manual_wheel import ManualWheel
from tests.fakes.pictures import attached, png

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.events import EventBus, FeedbackAsked, FeedbackEnded
from tooltray.foundation.snapshots.questions import FeedbackEntry, FeedbackSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.feedback.feedback_history import FeedbackHistory, FeedbackNotes
from tooltray.gateway.feedback.feedback_report import ANSWER_KEPT_S, LEAST_OPEN_S, MOST_KEPT, REPEATED_FOR_S, Answer, Asked, Report
from tooltray.gateway.feedback.feedbacks import LONGEST_ANSWER, MOST_OPEN, Feedbacks
from tooltray.protocol.sessions.session_state import KEPT_FOR_S, SessionState, SessionStates

ASKED = Asked("Claude", "# Done", "shop", "/code/shop", 900.0)


def masked(text: str) -> str:
    return text.replace("hunter2", "***")


class Desk:
    """Feedbacks, with what they need."""

    def __init__(self, folder: Path, *, has_window: bool = True, spawn: Any = None, history: FeedbackHistory | None = None) -> None:
        self.bus, self.keeper = EventBus(), TaskKeeper()
        self.wheel, self.seconds = ManualWheel(), 0.0
        deadlines: Any = self.wheel
        self.heard = Heard(self.bus)
        self.states = SessionStates(bus=self.bus, deadlines=deadlines)
        self.history = history or FeedbackHistory(folder / "feedback")
        self.notes = FeedbackNotes(history=self.history, mask=masked, spawn=spawn or self.keeper.spawn)
        self.feedbacks = Feedbacks(
            bus=self.bus, deadlines=deadlines, notes=self.notes, mask=masked, has_window=has_window, now=lambda: self.seconds
        )

    def open(self, state: SessionState, **changes: Any) -> Report:
        return self.feedbacks.open(state, replace(ASKED, **changes))

    async def call(self, report: Report) -> Answer:
        """As the tool waits."""
        with self.feedbacks.collecting(report):
            return await self.feedbacks.answer_to(report, while_waiting=lambda: None)

    async def waiting_call(self, report: Report) -> "asyncio.Task[Answer]":
        call = self.keeper.spawn(self.call(report), name="call")
        await asyncio.sleep(0)
        return call

    def waiting(self) -> list[str]:
        """The ids of what waits."""
        return [each.id for each in self.feedbacks.waiting()]

    async def outcomes(self) -> list[tuple[str, str]]:
        return [(entry.outcome, entry.summary) for entry in await self.notes.read("", 100)]

    def told(self, kind: type) -> list[Any]:
        return self.heard.of(kind)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    while len(desk.keeper):
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})


async def given_up(call: "asyncio.Task[Answer]") -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_report_is_shown_answered_once_and_kept_in_the_history(desk: Desk) -> None:
    report = desk.open(SessionState("s1"))
    call = await desk.waiting_call(report)
    (snapshot,) = desk.feedbacks.waiting()
    assert (
        snapshot
        == desk.told(FeedbackAsked)[0].request
        == FeedbackSnapshot(report.id, "Claude", "/code/shop", "shop", "# Done", snapshot.asked_at, snapshot.asked_at + 900)
    )
    assert await desk.outcomes() == [("waiting", "# Done")]
    await desk.feedbacks.answer(report.id, " Yes ", [attached(png())])
    answer = await call
    assert (answer.outcome, answer.text, answer.attachments.names) == ("answered", "Yes", ("a.png",))
    assert desk.told(FeedbackEnded) == [FeedbackEnded(report.id)]
    assert desk.feedbacks.waiting() == []
    (entry,) = await desk.notes.read("/code/shop", 10)
    assert (entry.id, entry.outcome, entry.text, entry.attachments) == (report.id, "answered", "Yes", ("a.png",))
    assert entry.answered_at == answer.at
    for late in (desk.feedbacks.answer(report.id, "No", ()), desk.feedbacks.dismiss(report.id)):
        with pytest.raises(TooltrayError, match="has ended"):
            await late


async def test_what_is_no_answer_is_refused_and_the_report_waits_on(desk: Desk) -> None:
    report = desk.open(SessionState("s1"))
    for text, attachments in ((" \n", []), ("x" * (LONGEST_ANSWER + 1), []), ("x", [attached(b"no picture")])):
        with pytest.raises(TooltrayError):
            await desk.feedbacks.answer(report.id, text, attachments)
    assert len(desk.feedbacks.waiting()) == 1
    await desk.feedbacks.answer(report.id, "half \ud800", ())
    assert report.outcome.result().text == "half ?"


async def test_closing_a_report_tells_the_model_so_and_is_not_kept_for_the_next_call(desk: Desk) -> None:
    state = SessionState("s1")
    report = desk.open(state)
    call = await desk.waiting_call(report)
    await desk.feedbacks.dismiss(report.id)
    assert (await call).outcome == "dismissed"
    left_alone = desk.open(state)
    await desk.feedbacks.dismiss(left_alone.id)
    assert not desk.open(state).outcome.done()


async def test_two_answers_at_once_are_one(desk: Desk) -> None:
    report = desk.open(SessionState("s1"))
    call = await desk.waiting_call(report)
    both = await asyncio.gather(*(desk.feedbacks.answer(report.id, text, ()) for text in "ab"), return_exceptions=True)
    assert [type(each) for each in both].count(Conflict) == 1
    assert (await call).text in ("a", "b")
    assert len(await desk.notes.read("", 10)) == 1


async def test_time_runs_out(desk: Desk) -> None:
    call = await desk.waiting_call(desk.open(SessionState("s1")))
    assert desk.wheel.expire(900.0) == 1
    assert (await call).outcome == "expired"
    assert await desk.outcomes() == [("expired", "# Done")]


async def test_a_call_that_is_given_up_leaves_the_report_open_and_finds_the_answer_by_asking_again(desk: Desk) -> None:
    state = SessionState("s1")
    report = desk.open(state)
    await given_up(await desk.waiting_call(report))
    assert desk.waiting() == [report.id]
    await desk.feedbacks.answer(report.id, "Yes", ())
    for other in ({"client": "another"}, {"summary": "# Other"}, {"project_path": "/other"}):
        assert not desk.open(SessionState(f"another: {other}"), **other).outcome.done()
    again = desk.open(state, summary="something else", project_path="")
    assert (await desk.call(again)).text == "Yes"
    assert not desk.open(state).outcome.done()


async def test_an_answer_for_another_project_is_not_given(desk: Desk) -> None:
    state = SessionState("s1")
    report = desk.open(state)
    await desk.feedbacks.answer(report.id, "Yes", ())
    other = desk.open(state, project_path="/other")
    assert not other.outcome.done()
    await desk.feedbacks.dismiss(other.id)
    assert desk.open(state).outcome.result().text == "Yes"


async def test_an_answer_that_came_as_the_call_was_given_up_is_not_lost(desk: Desk) -> None:
    state = SessionState("s1")
    report = desk.open(state)
    call = await desk.waiting_call(report)
    await desk.feedbacks.answer(report.id, "Yes", ())
    await given_up(call)
    assert (await desk.call(desk.open(state))).text == "Yes"


async def test_a_report_that_its_client_showed_to_nobody_is_answered_later_for_the_next_call(desk: Desk) -> None:
    state = SessionState("s1")
    report = desk.open(state)
    call = await desk.waiting_call(report)
    report.leave_alone()
    assert await call is None
    assert desk.waiting() == [report.id]
    await desk.feedbacks.answer(report.id, "Yes", ())
    assert (await desk.call(desk.open(state))).text == "Yes"


async def test_the_same_report_again_joins_the_one_that_waits_and_gives_the_person_its_time(desk: Desk) -> None:
    state = SessionState("s1")
    report = desk.open(state)
    first = await desk.waiting_call(report)
    assert desk.open(state, waits_s=1200.0) is report
    second = await desk.waiting_call(report)
    assert desk.wheel.of(900.0) == []
    assert [each.request.id for each in desk.told(FeedbackAsked)] == [report.id] * 2
    assert desk.feedbacks.waiting()[0].ends_at > report.snapshot.asked_at + 1100
    await desk.feedbacks.answer(report.id, "Yes", ())
    assert (await first).text == (await second).text == "Yes"
    assert not desk.open(state).outcome.done()


async def test_of_two_calls_one_is_enough_to_take_the_answer(desk: Desk) -> None:
    state = SessionState("s1")
    report = desk.open(state)
    first, second = await desk.waiting_call(report), await desk.waiting_call(report)
    await desk.feedbacks.answer(report.id, "Yes", ())
    first.cancel()
    assert (await second).text == "Yes"
    assert first.cancelled()
    assert not desk.open(state).outcome.done()


async def test_a_newer_report_of_a_session_takes_the_place_of_the_one_before_under_an_id_of_its_own(desk: Desk) -> None:
    state = SessionState("s1")
    before = desk.open(state)
    call = await desk.waiting_call(before)
    newer = desk.open(state, summary="# More")
    assert (await call).outcome == "replaced"
    assert newer.id != before.id
    assert [each.request.id for each in desk.told(FeedbackAsked)] == [before.id, newer.id]
    assert desk.told(FeedbackEnded) == [FeedbackEnded(before.id)]
    for late in (desk.feedbacks.answer(before.id, "To the first", ()), desk.feedbacks.dismiss(before.id)):
        with pytest.raises(TooltrayError, match="replaced by a newer report"):
            await late
    assert [each.summary for each in desk.feedbacks.waiting()] == ["# More"]
    assert sorted(await desk.outcomes()) == [("waiting", "# More"), ("withdrawn", "# Done")]


async def test_an_id_that_never_was_is_said_to_be_unknown(desk: Desk) -> None:
    for wish in (desk.feedbacks.answer("zz\x1b99", "Yes", ()), desk.feedbacks.dismiss("zz\x1b99")):
        with pytest.raises(TooltrayError, match="Report 'zz99' not found"):
            await wish


async def test_a_report_of_an_earlier_hub_is_not_unknown(desk: Desk, tmp_path: Path) -> None:
    report = desk.open(SessionState("s1"))
    await desk.feedbacks.close()
    with pytest.raises(TooltrayError, match="has ended"):
        await Desk(tmp_path).feedbacks.dismiss(report.id)


async def test_what_waits_says_whether_a_call_still_does(desk: Desk) -> None:
    call = await desk.waiting_call(desk.open(SessionState("s1")))
    assert [each.is_client_there for each in desk.feedbacks.waiting()] == [True]
    await given_up(call)
    assert [each.is_client_there for each in desk.feedbacks.waiting()] == [False]


async def test_a_client_that_left_and_reports_the_same_in_a_new_session_joins_its_window(desk: Desk) -> None:
    report = desk.open(desk.states.connect("before"))
    await given_up(await desk.waiting_call(report))
    desk.states.disconnect("before")
    new = desk.states.connect("new")
    mine = desk.open(new, summary="# Something else")
    assert desk.open(new) is report
    assert mine.outcome.result().outcome == "replaced"
    call = await desk.waiting_call(report)
    assert desk.open(SessionState("a third, while the second waits")) is not report
    desk.wheel.expire(KEPT_FOR_S)
    await desk.feedbacks.answer(report.id, "Yes", ())
    assert (await call).text == "Yes"


async def answered_call(desk: Desk, state: SessionState, *, open_s: float, text: str = "Yes") -> str:
    report = desk.open(state)
    if report.outcome.done():
        return (await desk.call(report)).text
    with desk.feedbacks.collecting(report):
        desk.seconds += open_s
        await desk.feedbacks.answer(report.id, text, ())
        return (await desk.feedbacks.answer_to(report, while_waiting=lambda: None)).text


@pytest.mark.parametrize("session", ["s1", "s2"])
async def test_a_client_that_may_have_given_up_without_a_word_gets_its_answer_once_more(desk: Desk, session: str) -> None:
    state = SessionState(session)
    await answered_call(desk, SessionState("s1"), open_s=LEAST_OPEN_S)
    assert not desk.open(state, summary="# More").outcome.done()
    again = desk.open(state)
    assert again.is_repeated
    assert (await desk.call(again)).text == "Yes"
    assert not desk.open(state).outcome.done()


async def test_an_answer_that_is_given_once_more_is_not_lost_with_its_call(desk: Desk) -> None:
    state = SessionState("s1")
    await answered_call(desk, state, open_s=LEAST_OPEN_S)
    with pytest.raises(asyncio.CancelledError), desk.feedbacks.collecting(desk.open(state)):
        raise asyncio.CancelledError
    with desk.feedbacks.collecting(again := desk.open(state)):
        assert again.outcome.result().text == "Yes"
        desk.seconds += LEAST_OPEN_S
    assert not desk.open(state).outcome.done()


@pytest.mark.parametrize("case", ["a model that repeats itself", "a long time", "no answer"])
async def test_an_answer_is_not_given_twice_to(desk: Desk, case: str) -> None:
    state = SessionState("s1")
    if case == "no answer":
        with desk.feedbacks.collecting(report := desk.open(state)):
            desk.seconds += LEAST_OPEN_S
            await desk.feedbacks.dismiss(report.id)
    else:
        await answered_call(desk, state, open_s=LEAST_OPEN_S - (case == "a model that repeats itself"))
    assert desk.wheel.expire(REPEATED_FOR_S) == (case == "a long time")
    assert not desk.open(state).outcome.done()


async def test_answers_that_have_arrived_give_way_to_those_that_nobody_has(desk: Desk) -> None:
    given_up = [SessionState(f"s{number}") for number in range(MOST_KEPT)]
    for state in given_up[:-1]:
        await desk.feedbacks.answer(desk.open(state, client=state.id).id, "Yes", ())
    collected = SessionState("collected")
    await answered_call(desk, collected, open_s=LEAST_OPEN_S)
    await desk.feedbacks.answer(desk.open(given_up[-1], client=given_up[-1].id).id, "Yes", ())
    assert not desk.open(collected).outcome.done()
    assert all(desk.open(state, client=state.id).outcome.done() for state in given_up)


async def test_five_windows_are_enough_and_those_that_nobody_waits_for_give_way(desk: Desk) -> None:
    reports = [desk.open(SessionState(f"s{number}"), client=f"c{number}") for number in range(MOST_OPEN)]
    calls = [await desk.waiting_call(report) for report in reports]
    with pytest.raises(TooltrayError, match="Too many reports"):
        desk.open(SessionState("s9"))
    desk.open(SessionState("s0"), summary="a newer one of a session that has a window")
    await given_up(calls[1])
    newest = desk.open(SessionState("s9"))
    assert len(desk.feedbacks.waiting()) == MOST_OPEN
    assert reports[1].outcome.result().outcome == "withdrawn"
    assert newest.id in desk.waiting()
    await desk.feedbacks.close()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_kept_answers_are_forgotten_after_a_while_and_when_there_are_too_many(desk: Desk) -> None:
    states = [SessionState(f"s{number}") for number in range(MOST_KEPT + 1)]
    for state in states:
        await desk.feedbacks.answer(desk.open(state, client=state.id).id, "Yes", ())
    first = desk.open(states[0], client=states[0].id)
    assert not first.outcome.done()
    await desk.feedbacks.dismiss(first.id)
    assert desk.wheel.expire(ANSWER_KEPT_S) == MOST_KEPT
    assert not desk.open(states[1], client=states[1].id).outcome.done()


async def test_a_session_that_does_not_come_back_takes_its_report_along(desk: Desk) -> None:
    gone, back = desk.states.connect("gone"), desk.states.connect("back")
    desk.states.connect("silent")
    reports = desk.open(gone), desk.open(back, client="another")
    for key in ("gone", "back", "silent"):
        desk.states.disconnect(key)
    desk.states.connect("back")
    desk.wheel.expire(KEPT_FOR_S)
    assert reports[0].outcome.result().outcome == "withdrawn"
    assert desk.waiting() == [reports[1].id]


async def test_the_end_of_the_hub_ends_every_report_and_the_history_has_it(desk: Desk, tmp_path: Path) -> None:
    state = SessionState("s1")
    await desk.feedbacks.answer(desk.open(state).id, "Yes", ())
    call = await desk.waiting_call(desk.open(SessionState("s2"), summary="# Open"))
    await desk.feedbacks.close()
    assert (await call).outcome == "withdrawn"
    assert desk.wheel.waiting == []
    kept = FeedbackHistory(tmp_path / "feedback").read()
    assert sorted((entry.outcome, entry.summary) for entry in kept) == [("answered", "# Done"), ("withdrawn", "# Open")]


async def test_the_history_has_no_secret_and_is_of_one_project_or_of_all(desk: Desk, tmp_path: Path) -> None:
    first = desk.open(SessionState("s1"), summary="the password is hunter2")
    await desk.feedbacks.answer(first.id, "not hunter2!", ())
    second = desk.open(SessionState("s2"), project_path="/other")
    assert [entry.id for entry in await desk.notes.read("/code/shop", 10)] == [first.id]
    assert [entry.id for entry in await desk.notes.read("", 10)] == [second.id, first.id]
    assert [entry.id for entry in await desk.notes.read("", 1)] == [second.id]
    assert await desk.notes.read("", -1) == []
    await desk.feedbacks.close()
    (kept,) = FeedbackHistory(tmp_path / "feedback").read("/code/shop")
    assert (kept.summary, kept.text) == ("the password is ***", "not ***!")


async def test_a_report_is_in_the_history_before_it_has_an_answer(desk: Desk, tmp_path: Path) -> None:
    """A hub that is killed has no time to write."""
    desk.open(SessionState("s1"), summary="hunter2 is the password", waits_s=5.0)
    assert await desk.outcomes() == [("waiting", "*** is the password")]
    while len(desk.keeper):
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    killed = FeedbackHistory(tmp_path / "feedback")
    assert [entry.outcome for entry in killed.read()] == ["waiting"]
    next_hub = Desk(tmp_path)
    await next_hub.feedbacks.start()
    assert await next_hub.outcomes() == [("expired", "*** is the password")]


class SlowStart(FeedbackHistory):
    """The first write of a report takes longer than what comes after it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.may_write = threading.Event()

    def add(self, entry: FeedbackEntry) -> None:
        if entry.outcome == "waiting":
            assert self.may_write.wait(30)
        super().add(entry)


async def test_what_is_written_of_a_report_stays_in_its_order(tmp_path: Path) -> None:
    history = SlowStart(tmp_path / "feedback")
    desk = Desk(tmp_path, history=history)
    report = desk.open(SessionState("s1"))
    await asyncio.sleep(0)
    await desk.feedbacks.dismiss(report.id)
    await asyncio.sleep(0)
    history.may_write.set()
    await desk.feedbacks.close()
    assert [entry.outcome for entry in history.read()] == ["dismissed"]
    assert await desk.outcomes() == [("dismissed", "# Done")]


async def test_a_history_that_is_too_long_for_one_answer_is_cut(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.gateway.feedback.feedback_history.MOST_CHARS", 10)
    for number in range(3):
        desk.open(SessionState(f"s{number}"), summary=f"sum{number}")
    assert [summary for _, summary in await desk.outcomes()] == ["sum2", "sum1"]


async def test_known_secrets_in_a_report_are_shown_to_nobody(desk: Desk) -> None:
    asked = replace(ASKED, client="hunter2 client", summary="hunter2", project_name="hunter2 project")
    shown = desk.feedbacks.open(SessionState("s1"), desk.feedbacks.masked(asked)).snapshot
    assert (shown.client, shown.summary, shown.project_name) == ("*** client", "***", "*** project")


@pytest.mark.parametrize(
    ("reported", "asked"),
    [
        ({"project_path": "/link/to/shop"}, {"project_path": "/code/shop", "names_path": False}),
        ({"project_path": "", "names_path": False}, {"project_path": "/code/shop"}),
    ],
)
async def test_an_answer_is_found_again_where_the_project_is_named_only_once(
    desk: Desk, reported: dict[str, Any], asked: dict[str, Any]
) -> None:
    state = SessionState("s1")
    await desk.feedbacks.answer(desk.open(state, **reported).id, "Yes", ())
    assert desk.open(state, **asked).outcome.result().text == "Yes"


async def test_a_call_that_waits_less_long_takes_no_time_from_one_that_still_waits(desk: Desk) -> None:
    state = SessionState("s1")
    call = await desk.waiting_call(desk.open(state))
    report = desk.open(state, waits_s=100.0)
    assert desk.feedbacks.waiting()[0].ends_at - report.snapshot.asked_at == 900.0
    await given_up(call)
    desk.open(state, waits_s=100.0)
    assert desk.feedbacks.waiting()[0].ends_at - report.snapshot.asked_at < 101.0
    assert desk.wheel.expire(100.0) == 1
    assert report.outcome.result().outcome == "expired"


async def test_a_client_of_single_requests_that_does_not_come_back_leaves_no_window(desk: Desk) -> None:
    state = desk.states.connect("token", is_lasting=False)
    report = desk.open(state)
    await given_up(await desk.waiting_call(report))
    desk.states.disconnect("token", is_lasting=False)
    desk.states.connect("token", is_lasting=False)
    desk.states.disconnect("token", is_lasting=False)
    assert desk.waiting() == [report.id]
    desk.wheel.expire(KEPT_FOR_S)
    assert desk.feedbacks.waiting() == []
    assert desk.told(FeedbackEnded) == [FeedbackEnded(report.id)]


async def test_the_same_report_is_of_the_same_client_where_its_requests_cannot_be_tied(desk: Desk) -> None:
    first, second, third, other = (desk.states.connect(key, is_lasting=False, is_passing=True) for key in range(4))
    report = desk.open(first)
    await given_up(await desk.waiting_call(report))
    assert desk.open(second) is report
    assert desk.open(other, summary="# Other") is not report
    for key in (0, 1):
        desk.states.disconnect(key, is_lasting=False)
    await desk.feedbacks.answer(report.id, "Yes", ())
    assert not desk.open(other, client="another").outcome.done()
    desk.wheel.expire(KEPT_FOR_S)
    assert desk.open(third).outcome.result().text == "Yes"


async def test_what_nobody_comes_back_for_ends_with_its_last_request(desk: Desk) -> None:
    for key in range(2):
        report = desk.open(desk.states.connect(key, is_lasting=False, is_passing=True))
    desk.states.disconnect(0, is_lasting=False)
    desk.wheel.expire(KEPT_FOR_S)
    assert desk.waiting() == [report.id]
    desk.states.disconnect(1, is_lasting=False)
    desk.wheel.expire(KEPT_FOR_S)
    assert desk.feedbacks.waiting() == []


async def test_an_answer_waits_for_the_same_report_of_a_new_session_of_its_client(desk: Desk) -> None:
    await desk.feedbacks.answer(desk.open(desk.states.connect("gone")).id, "Yes", ())
    desk.states.disconnect("gone")
    desk.wheel.expire(KEPT_FOR_S)
    new = desk.states.connect("new")
    assert not desk.open(new, summary="# Other").outcome.done()
    assert desk.open(new).outcome.result().text == "Yes"
    assert not desk.open(new).outcome.done()


async def test_a_hub_that_is_about_to_end_takes_no_reports(desk: Desk) -> None:
    await desk.feedbacks.close()
    with pytest.raises(TooltrayError, match="Call again"):
        desk.open(SessionState("s1"))
    assert desk.told(FeedbackAsked) == []


def test_reports_are_shown_where_a_desktop_listens(tmp_path: Path) -> None:
    assert Desk(tmp_path).feedbacks.is_shown
    assert not Desk(tmp_path, has_window=False).feedbacks.is_shown


@in_fake_time
async def test_who_waits_is_told_every_quarter_of_a_minute_that_it_still_does() -> None:
    desk = Desk(Path("nowhere"), spawn=lambda work, name: work.close())
    report = desk.open(SessionState("s1"))
    told_at: list[float] = []

    def tell() -> None:
        told_at.append(asyncio.get_running_loop().time() - 1000.0)
        if len(told_at) == 4:
            asyncio.get_running_loop().call_later(1.0, desk.wheel.expire, 900.0)

    with desk.feedbacks.collecting(report):
        assert (await desk.feedbacks.answer_to(report, while_waiting=tell)).outcome == "expired"
    assert told_at == [0.0, 15.0, 30.0, 45.0]
