"""questions.py: a question has one answer, ends after its time, and is announced from its opening to its end."""

import asyncio

from tests.fakes.manual_wheel import ManualWheel

from tooltray.consent.questions import EXPIRED, WITHDRAWN, Inbox, Kind, Question, Remembered
from tooltray.foundation.events import Event, EventBus

WAIT_S, ID_BYTES = 60.0, 2


class Opened(Event, frozen=True):
    view: str


class Closed(Event, frozen=True):
    id: str


ASKED: Kind[str, str] = Kind(WAIT_S, ID_BYTES, Opened, Closed)
KEPT: Kind[str, str] = Kind(WAIT_S, ID_BYTES, is_awaited=False)


class Desk:
    def __init__(self) -> None:
        self.bus, self.wheel, self.heard = EventBus(), ManualWheel(), list[Event]()
        for kind in (Opened, Closed):
            self.bus.subscribe(kind, self.heard.append)
        self.inbox = Inbox(bus=self.bus, deadlines=self.wheel)  # type: ignore[arg-type]

    def open(self, kind: Kind[str, str] = ASKED, digest: str = "d") -> Question[str, str]:
        return self.inbox.open(kind, "a subject", digest, lambda id, ends_at: f"view of {id}")


async def test_a_question_is_announced_with_its_view_and_at_its_end() -> None:
    here = Desk()
    question = here.open()
    here.inbox.close(question)
    assert here.heard == [Opened(f"view of {question.id}"), Closed(question.id)]
    assert (question.answer.result(), len(question.id)) == (WITHDRAWN, 2 * ID_BYTES)
    assert (here.wheel.waiting, here.inbox.of(ASKED)) == ([], [])


async def test_a_question_is_found_by_its_kind_its_id_and_what_it_is_about() -> None:
    here = Desk()
    asked, kept = here.open(), here.open(KEPT)
    inbox = here.inbox
    assert (inbox.find(ASKED, asked.id), inbox.find(ASKED, kept.id), inbox.find(ASKED, "none")) == (asked, None, None)
    assert (inbox.same(ASKED, "d"), inbox.same(KEPT, "d"), inbox.same(ASKED, "other")) == (asked, kept, None)
    asked.end("yes")
    assert (inbox.same(ASKED, "d"), inbox.of(ASKED)) == (None, [asked])


async def test_the_first_answer_counts_for_all_who_wait_and_a_waiter_that_is_cancelled_ends_nothing() -> None:
    question = Desk().open()
    one, other = asyncio.ensure_future(question.wait()), asyncio.ensure_future(question.wait())
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.wait([one])
    question.end("yes")
    question.end("no")
    assert await other == "yes"


async def test_a_question_ends_after_its_time_unless_its_answer_is_being_written() -> None:
    here = Desk()
    question, late = here.open(), here.open(digest="other")
    question.is_being_answered = True
    assert here.wheel.expire(WAIT_S) == 2
    assert (late.answer.result(), late.is_overdue) == (EXPIRED, True)
    assert (question.is_open, question.is_overdue) == (True, True)
    assert here.inbox.of(ASKED) == [question, late], "whoever waits for it closes it"


async def test_a_question_that_is_extended_ends_after_its_new_time_and_is_announced_again() -> None:
    here = Desk()
    question = here.open()
    here.inbox.extend(question, "another view", 2 * WAIT_S)
    assert (question.view, here.heard[-1]) == ("another view", Opened("another view"))
    assert (here.wheel.expire(WAIT_S), here.wheel.expire(2 * WAIT_S)) == (0, 1)
    assert question.answer.result() == EXPIRED


async def test_a_question_for_whose_answer_nobody_waits_is_dropped_after_its_time_without_an_event() -> None:
    here = Desk()
    here.open(KEPT)
    here.wheel.expire(WAIT_S)
    here.inbox.close(here.open(KEPT))
    assert (here.inbox.of(KEPT), here.heard) == ([], [])


async def test_keys_are_remembered_for_a_time_and_of_too_many_the_newest() -> None:
    wheel = ManualWheel()
    known = Remembered[str](wheel, for_s=WAIT_S, most=2)  # type: ignore[arg-type]
    for key in ("a", "b", "a", "c"):
        known.add(key, f"value of {key}")
    assert [key in known for key in "abc"] == [True, False, True]
    assert (known.take("a"), known.take("a")) == ("value of a", None)
    wheel.expire(WAIT_S)
    assert ("c" in known, wheel.waiting) == (False, [])
