"""confirmation.py: what widens is confirmed by a person, and by nobody where no carrier says who asks."""

import pytest
from tests.fakes.fake_clock import in_fake_time

from tooltray.foundation.confirm_widening import (
    PERSON,
    UNATTENDED,
    Asker,
    Person,
    Wish,
    asked_by,
    asker_name,
    confirm_answer,
    confirm_reading,
    confirm_widening,
    current_asker,
    must_wait,
    note_narrowing,
    set_call,
    with_current_asker,
)
from tooltray.foundation.errors import Denied
from tooltray.foundation.tasks import TaskKeeper


class Program(Person):
    """A program that asks for what it may not do by itself, and keeps what was confirmed."""

    name, proposes = "panel", True

    def __init__(self, *, is_trusted: bool) -> None:
        self._is_trusted = is_trusted
        self.wishes: list[Wish] = []

    async def has_confirmed(self) -> bool:
        return self._is_trusted

    async def confirm(self, wish: Wish) -> None:
        if not self._is_trusted:
            raise Denied(f"{wish.what} is not for {self.name}")
        self.wishes.append(wish)

    async def note(self, wish: Wish) -> None:
        self.wishes.append(wish)


async def test_a_person_confirms_by_having_asked() -> None:
    with asked_by(PERSON):
        await confirm_widening("This")
        await note_narrowing("That")
        assert (await must_wait(), asker_name(), current_asker()) == (False, "", PERSON)
        assert await PERSON.has_confirmed()


async def test_nobody_widens_anything_unless_a_carrier_says_who_asks() -> None:
    with pytest.raises(Denied, match="This needs a person at a terminal"):
        await confirm_widening("This")


async def test_without_a_terminal_nothing_is_widened_and_what_is_added_does_not_wait() -> None:
    with asked_by(UNATTENDED):
        with pytest.raises(Denied, match="terminal"):
            await confirm_widening("This")
        assert not await must_wait()
        assert not await UNATTENDED.has_confirmed()


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_a_program_widens_what_its_trust_covers_and_the_rest_waits(is_trusted: bool) -> None:
    with asked_by(PERSON), asked_by(Program(is_trusted=is_trusted)):
        assert (await must_wait(), asker_name()) == (not is_trusted, "panel")
        if is_trusted:
            await confirm_widening("This")
        else:
            with pytest.raises(Denied, match="This is not for panel"):
                await confirm_widening("This")


async def test_an_asker_hears_of_the_verb_and_of_what_it_is_about_without_what_is_empty() -> None:
    program = Program(is_trusted=True)
    set_call("add_grant", {"server": "s"})
    with asked_by(program):
        await confirm_widening("A yes", server="s", tool="", rules=["a", "b"], expires_in_s=None, count=0)
        await confirm_answer("A yes")
        await confirm_reading("Reading")
        await note_narrowing("A no", what="x")
    first, answer, reading, no = program.wishes
    assert first == Wish("A yes", {"server": "s", "rules": "a, b", "count": "0"}, "add_grant", {"server": "s"})
    assert (answer.is_shown, reading.is_reading, no.about) == (True, True, {"what": "x"})


@in_fake_time
async def test_a_background_task_does_not_keep_the_asker_of_the_request_that_started_it() -> None:
    async def asker() -> Asker:
        return current_asker()

    keeper = TaskKeeper()
    with asked_by(PERSON):
        background = keeper.spawn(asker(), name="background")
        part_of_request = keeper.spawn(with_current_asker(asker()), name="part of the request")
    assert (await background, await part_of_request) == (UNATTENDED, PERSON)
