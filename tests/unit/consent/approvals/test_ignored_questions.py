"""ignored_questions.py: when two questions of an AI client ran out, the third waits quietly until somebody answers anything."""

import asyncio

from msgspec.structs import replace
from tests.fakes.fake_clock import in_fake_time
from tests.unit.consent.approvals.test_waiting_approvals import ask, call, shown

from tooltray.consent.approvals.approval_questions import REFUSE
from tooltray.consent.approvals.ignored_questions import LOUD, MOST_CLIENTS, SEEN_AFTER_S, IgnoredQuestions
from tooltray.consent.approvals.waiting_approvals import CHANGED, EXPIRED, UNASKED, WITHDRAWN, WaitingApprovals
from tooltray.foundation.events import EventBus
from tooltray.protocol.deadlines import DeadlineWheel


def waiting() -> WaitingApprovals:
    return WaitingApprovals(bus=EventBus(), deadlines=DeadlineWheel(), has_window=True)


def ends(of: WaitingApprovals, answer: str, *, by: str = "") -> bool:
    """Asks, and lets the question end so; whether it was a quiet one."""
    question = ask(of, "s", answer)
    question.answered_by = by
    question.end(answer)
    of.close(question)
    return question.snapshot.is_quiet


@in_fake_time
async def test_the_third_question_after_two_that_ran_out_is_quiet_until_anything_is_answered() -> None:
    of = waiting()
    assert [ends(of, EXPIRED) for _ in range(4)] == [False, False, True, True]
    assert ends(of, REFUSE, by="person")
    assert not ends(of, EXPIRED)
    assert not ends(of, REFUSE, by="person")  # a refusal by an answer in between
    assert not ends(of, EXPIRED)
    assert not ends(of, EXPIRED)
    assert ends(of, EXPIRED)


@in_fake_time
async def test_what_its_client_took_back_counts_only_if_somebody_could_have_seen_it() -> None:
    of = waiting()
    for _ in range(3):
        assert not ends(of, WITHDRAWN)
    for _ in range(LOUD):
        question = ask(of, "s")
        await asyncio.sleep(SEEN_AFTER_S)
        of.close(question)
    assert ends(of, EXPIRED)


@in_fake_time
async def test_what_ends_for_other_reasons_and_other_clients_questions_are_loud() -> None:
    of = waiting()
    for answer in (CHANGED, UNASKED, CHANGED):
        assert not ends(of, answer)
    for _ in range(LOUD):
        ends(of, EXPIRED)
    other = of.ask(replace(call("s"), client="other"), shown)
    assert not other.snapshot.is_quiet
    of.close(other)


@in_fake_time
async def test_ten_questions_at_once_after_two_that_were_ignored_all_wait_quietly() -> None:
    of = waiting()
    for _ in range(LOUD):
        ends(of, EXPIRED)
    questions = [ask(of, f"s{n}") for n in range(10)]
    assert all(question.snapshot.is_quiet for question in questions)
    questions[0].answered_by = "person"
    questions[0].end("once")
    of.close(questions[0])
    assert not ask(of, "t").snapshot.is_quiet
    for question in list(of.asked):
        of.close(question)


def test_only_so_many_clients_are_remembered() -> None:
    ignored = IgnoredQuestions()
    for n in range(MOST_CLIENTS + 1):
        for _ in range(LOUD):
            ignored.ran_out(f"c{n}")
    assert not ignored.is_ignored("c0")
    assert ignored.is_ignored("c1")
