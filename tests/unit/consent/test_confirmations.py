"""confirmations.py, api.py: what waits in the window: shown harmlessly, joined where it is the same, bounded, and gone with who asked."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from tests.fakes.heard import Record
from tests.fakes.manual_wheel import ManualWheel

from tooltray.consent.ancestry import Origin, Process
from tooltray.consent.confirmations import LONGEST_FACT, MOST_FACTS, MOST_REFUSED, MOST_WAITING, REFUSED_FOR_S, WAIT_S, Confirmations
from tooltray.consent.questions import Inbox
from tooltray.foundation.confirm_widening import Wish
from tooltray.foundation.errors import Denied, NotFound
from tooltray.foundation.events import ConfirmationAsked, ConfirmationEnded, EventBus
from tooltray.foundation.snapshots.approvals import ConfirmationSnapshot
from tooltray.foundation.tasks import TaskKeeper

FROM = Origin((Process(7, "bash"), Process(5, "claude")), "Claude Code")


class Window:
    """Confirmations, and what a window hears of them."""

    def __init__(self) -> None:
        self.bus, self.wheel, self.keeper = EventBus(), ManualWheel(), TaskKeeper()
        self.asked: Record[ConfirmationAsked] = Record()
        self.ended: Record[ConfirmationEnded] = Record()
        self.waits = list[float]()
        self.bus.subscribe(ConfirmationAsked, self.asked.add)
        self.bus.subscribe(ConfirmationEnded, self.ended.add)
        self.all = Confirmations(
            inbox=Inbox(bus=self.bus, deadlines=self.wheel),  # type: ignore[arg-type]
            bus=self.bus,
            deadlines=self.wheel,  # type: ignore[arg-type]
            has_window=True,
            masked=lambda text: text.replace("hunter2", "***"),
        )

    def command(self, what: str = "A yes", **options: Any) -> "asyncio.Task[str]":
        return self.keeper.spawn(self.ask(what, **options), name="command")

    async def ask(
        self,
        what: str = "A yes",
        about: Mapping[str, str] = {},
        arguments: Mapping[str, object] = {},
        origin: Origin = FROM,
        shown: Mapping[str, str] = {},
    ) -> str:
        return await self.all.ask(Wish(what, about, "add_grant", arguments, shown), origin, self.waits.append)

    @property
    def waiting(self) -> list[ConfirmationSnapshot]:
        return self.all.waiting()


@pytest.fixture
async def here() -> AsyncIterator[Window]:
    here = Window()
    try:
        yield here
    finally:
        await here.keeper.close()


@pytest.mark.parametrize(("is_yes", "answer"), [(True, "yes"), (False, "no")])
async def test_a_command_waits_until_the_person_has_answered(here: Window, is_yes: bool, answer: str) -> None:
    arguments = {"server": "files", "tool": "write", "client": "", "n": {"b": 1, "a": "é"}}
    command = here.command(about={"server": "files"}, arguments=arguments, shown={"commands": "one: x"})
    await asyncio.sleep(0)
    [question] = here.waiting
    assert (question.what, question.verb, question.origin) == ("A yes", "add_grant", ("bash (7)", "claude (5)"))
    assert question.facts == (("server", "files"), ("commands", "one: x"), ("tool", "write"), ("n", '{"a": "é", "b": 1}'))
    assert question.ai_client == "Claude Code"
    assert [0 < seconds <= WAIT_S for seconds in here.waits] == [True]
    here.all.answer(question.id, is_yes)
    assert await command == answer
    assert here.waiting == []
    with pytest.raises(NotFound, match="no longer waits"):
        here.all.answer(question.id, True)


async def test_nobody_answers_in_time(here: Window, tmp_path: object) -> None:
    command = here.command()
    await asyncio.sleep(0)
    here.wheel.expire(WAIT_S)
    assert await command == "late"
    assert len(here.wheel.waiting) == 0


async def test_a_question_goes_with_the_command_that_asked(here: Window) -> None:
    command = here.command()
    await asyncio.sleep(0)
    command.cancel()
    await asyncio.wait([command])
    assert (here.waiting, len(here.ended.all)) == ([], 1)


async def test_the_same_request_twice_is_one_question_and_stays_for_who_waits_on(here: Window) -> None:
    first, second, other = here.command(), here.command(), here.command("Another")
    await asyncio.sleep(0)
    assert [(each.what, each.count) for each in here.waiting] == [("A yes", 2), ("Another", 1)]
    first.cancel()
    await asyncio.wait([first])
    assert here.waiting[0].count == 1
    here.all.answer(here.waiting[0].id, True)
    assert await second == "yes"
    other.cancel()


async def test_the_same_request_from_elsewhere_is_a_question_of_its_own_a_yes_to_one_is_none_to_the_other_and_a_no_is(here: Window) -> None:
    ours, again, theirs = here.command(), here.command(), here.command(origin=Origin((Process(8, "sh"), Process(6, "evil"))))
    await asyncio.sleep(0)
    assert [(each.origin[-1], each.count) for each in here.waiting] == [("claude (5)", 2), ("evil (6)", 1)]
    here.all.answer(here.waiting[0].id, True)
    assert (await ours, await again) == ("yes", "yes")
    assert [each.origin[-1] for each in here.waiting] == ["evil (6)"]
    once_more, another = here.command(), here.command("Another")
    await asyncio.sleep(0)
    here.all.answer(here.waiting[1].id, False)
    assert [each.what for each in here.waiting] == ["Another"]
    another.cancel()
    assert (await once_more, await theirs) == ("no", "no")


async def test_after_a_no_the_same_is_refused_for_a_while_without_a_question(here: Window) -> None:
    command = here.command()
    await asyncio.sleep(0)
    here.all.answer(here.waiting[0].id, False)
    await command
    with pytest.raises(Denied, match="you declined the same request in Tooltray's window a moment ago"):
        await here.ask()
    here.wheel.expire(REFUSED_FOR_S)
    again = here.command()
    await asyncio.sleep(0)
    assert len(here.waiting) == 1
    again.cancel()


async def test_refusals_and_questions_are_bounded(here: Window) -> None:
    for number in range(MOST_REFUSED + 1):
        command = here.command(str(number))
        await asyncio.sleep(0)
        here.all.answer(here.waiting[0].id, False)
        await command
    assert len(here.wheel.of(REFUSED_FOR_S)) == MOST_REFUSED
    commands = [here.command(f"more {number}") for number in range(MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(Denied, match="too many things wait"):
        await here.ask("one more")
    for each in commands:
        each.cancel()


async def test_what_is_shown_is_harmless_masked_and_bounded(here: Window) -> None:
    arguments = {f"a{number}": "x" for number in range(MOST_FACTS)}
    command = here.command(about={"key": "hunter2\u202e", "long": "y" * 9999}, arguments=arguments)
    await asyncio.sleep(0)
    facts = here.waiting[0].facts
    assert facts[0] == ("key", "***\\u202e")
    assert facts[1][1] == "y" * LONGEST_FACT + f"… ({9999 - LONGEST_FACT:,} more characters, which are not shown)"
    assert facts[-1] == ("…", "2 more")
    command.cancel()


async def test_while_no_window_listens_nothing_can_be_asked() -> None:
    here = Window()
    bus = EventBus()
    here.all = Confirmations(inbox=Inbox(bus=bus, deadlines=here.wheel), bus=bus, deadlines=here.wheel, has_window=True, masked=str)  # type: ignore[arg-type]
    with pytest.raises(Denied, match="not there yet"):
        await here.all.ask(Wish("A yes"), Origin(), lambda seconds: None)
