"""waiting_approvals.py; the rest of it is tested by whole calls in test_approvals.py."""

from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time

from tooltray.catalogue import approval
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals.approval_questions import AskedCall
from tooltray.consent.approvals.waiting_approvals import (
    EXPIRED,
    MOST_OF_ONE_SERVER,
    MOST_WAITING,
    WAIT_S,
    Question,
    WaitingApprovals,
)
from tooltray.foundation.events import ApprovalAsked, ApprovalEnded, EventBus
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.deadlines import TICK_S, DeadlineWheel
from tooltray.protocol.sessions.session_state import SessionState

TOOL = read_definition(b'{"name":"write_it"}')


def call(server: str, digest: str = "") -> AskedCall:
    decision = approval.decide(server, TOOL.name, None, ())
    return AskedCall(Route(server, TOOL, decision), decision, SessionState("s1"), "c", Raw(b"{}"), digest, "", lambda: None, gone)


async def gone() -> None:
    return None


def shown(id: str, ends_at: float) -> ApprovalSnapshot:
    return ApprovalSnapshot(id, "s", "write_it", "c", "write", "{}", "", ends_at, ("once",))


def ask(waiting: WaitingApprovals, server: str, digest: str = "") -> Question:
    return waiting.ask(call(server, digest), shown)


async def test_only_so_many_questions_wait_in_all() -> None:
    waiting = WaitingApprovals(bus=EventBus(), deadlines=DeadlineWheel(), has_window=True)
    questions = [ask(waiting, f"s{n // MOST_OF_ONE_SERVER}", str(n)) for n in range(MOST_WAITING)]
    assert not waiting.has_room("s0")
    assert not waiting.has_room("another")
    for question in questions[1:]:
        waiting.close(question)
    assert waiting.has_room("s0")
    assert waiting.has_room("another")
    waiting.close(questions[0])


async def test_questions_are_shown_where_there_is_a_window_that_listens() -> None:
    deaf, heard = EventBus(), EventBus()
    heard.subscribe(ApprovalAsked, lambda event: None)
    made = [
        WaitingApprovals(bus=bus, deadlines=DeadlineWheel(), has_window=has_window) for bus in (deaf, heard) for has_window in (False, True)
    ]
    assert [each.is_shown for each in made] == [False, False, False, True]


async def test_a_question_is_found_by_its_id_whether_it_waits_or_was_refused() -> None:
    waiting = WaitingApprovals(bus=EventBus(), deadlines=DeadlineWheel(), has_window=True)
    asked, refused = ask(waiting, "s"), waiting.refuse(call("s", "other"), shown)
    assert (waiting.find(asked.snapshot.id), waiting.find(refused.snapshot.id), waiting.find("none")) == (asked, refused, None)
    waiting.close(asked)


@in_fake_time
async def test_a_question_ends_after_its_time_and_tells_so_when_it_is_closed() -> None:
    bus = EventBus()
    told: list[object] = []
    bus.subscribe_all(told.append)
    waiting = WaitingApprovals(bus=bus, deadlines=DeadlineWheel(tick_s=TICK_S), has_window=True)
    question = ask(waiting, "s")
    assert waiting.same(call("s")) is question
    assert await question.ended() == EXPIRED
    assert waiting.same(call("s")) is None
    waiting.close(question)
    assert [type(event) for event in told] == [ApprovalAsked, ApprovalEnded]
    assert list(waiting) == []
    assert WAIT_S == 120.0


@in_fake_time
async def test_an_answer_that_is_being_written_down_goes_before_the_end_of_the_time() -> None:
    waiting = WaitingApprovals(bus=EventBus(), deadlines=DeadlineWheel(tick_s=TICK_S), has_window=True)
    question, other = ask(waiting, "s"), ask(waiting, "other")
    question.is_being_answered = True
    assert await other.ended() == EXPIRED
    assert (question.is_overdue, question.answer.done()) == (True, False)
    for each in (question, other):
        waiting.close(each)
