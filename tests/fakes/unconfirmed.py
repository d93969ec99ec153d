"""A program whose wishes nobody confirms."""

from tooltray.foundation.confirm_widening import Person, Wish
from tooltray.foundation.errors import Denied


class Program(Person):
    """A program over REST, whose token nobody trusts."""

    name, proposes = "some program", True

    async def has_confirmed(self) -> bool:
        return False

    async def confirm(self, wish: Wish) -> None:
        raise Denied(wish.what)
