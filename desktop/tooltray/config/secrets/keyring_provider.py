"""`${secret:keyring:SERVICE/NAME}`: an entry of another program, or of the user, in the system's keyring.

The last slash divides the two, since services are often addresses. Tooltray's own entries cannot be read this way: `${secret:NAME}` is for
them, and has its own rules.
"""

from tooltray.config.secrets.keyring_vault import SERVICE
from tooltray.config.secrets.provider import Surroundings, checked, not_given
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase

SPELLING = Phrase("Write ${{secret:keyring:SERVICE/NAME}}")


class KeyringProvider:
    """A Provider for entries of the system's keyring."""

    def origin(self, place: str) -> str:
        return Phrase("the keyring, {place}", place=place)

    def why_not(self, place: str, around: Surroundings) -> Problem | None:
        service, _, name = place.rpartition("/")
        owner = service.casefold().rpartition("@")[2]  # Windows keeps some entries as NAME@SERVICE
        if service and name and owner != SERVICE:
            return None
        return Problem(Phrase("'{place}' is no entry of the keyring that can be used", place=place), hint=SPELLING)

    async def fetch(self, place: str, around: Surroundings) -> str:
        if problem := self.why_not(place, around):
            raise not_given(self.origin(place), problem.title, problem.hint)
        service, _, name = place.rpartition("/")
        value = await around.ask_keyring(service, name)
        if value is None:
            raise not_given(self.origin(place), Phrase("there is no such entry"), SPELLING)
        return checked(value, self.origin(place))
