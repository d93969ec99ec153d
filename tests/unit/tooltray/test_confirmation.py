"""confirmation.py: what widens is confirmed by a person, and by nobody where no carrier says who asks."""

import pytest

from tooltray.confirmation import PERSON, UNATTENDED, asked_by, asker_name, confirm_widening, must_wait
from tooltray.errors import Denied


class Program:
    """A program that asks for what it may not do by itself."""

    name, proposes = "panel", True

    def __init__(self, *, is_trusted: bool) -> None:
        self._is_trusted = is_trusted

    async def has_confirmed(self) -> bool:
        return self._is_trusted

    def refusal(self, what: str) -> Denied:
        return Denied(f"{what} is not for {self.name}")


async def test_a_person_confirms_by_having_asked() -> None:
    with asked_by(PERSON):
        await confirm_widening("This")
        assert (await must_wait(), asker_name()) == (False, "")
    assert "This" in str(PERSON.refusal("This"))


async def test_nobody_widens_anything_unless_a_carrier_says_who_asks() -> None:
    with pytest.raises(Denied, match="This needs a person at a terminal"):
        await confirm_widening("This")


async def test_without_a_terminal_nothing_is_widened_and_what_is_added_does_not_wait() -> None:
    with asked_by(UNATTENDED):
        with pytest.raises(Denied, match="terminal"):
            await confirm_widening("This")
        assert not await must_wait()


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_a_program_widens_what_its_trust_covers_and_the_rest_waits(is_trusted: bool) -> None:
    with asked_by(PERSON), asked_by(Program(is_trusted=is_trusted)):
        assert (await must_wait(), asker_name()) == (not is_trusted, "panel")
        if is_trusted:
            await confirm_widening("This")
        else:
            with pytest.raises(Denied, match="This is not for panel"):
                await confirm_widening("This")
