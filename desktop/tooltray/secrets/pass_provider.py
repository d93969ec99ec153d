"""`${secret:pass:PATH}`: the first line of what `pass show PATH` prints, as passwordstore.org has it.

Above it: providers. Below it: provider.
"""

import shutil

from tooltray.errors import Problem
from tooltray.phrases import Phrase
from tooltray.secrets.provider import Surroundings, checked, not_given, printed

PROGRAM = "pass"


class PassProvider:
    """Satisfies Provider."""

    def origin(self, place: str) -> str:
        return Phrase("pass, {place}", place=place)

    def why_not(self, place: str, around: Surroundings) -> Problem | None:
        if shutil.which(PROGRAM, path=around.environ.get("PATH")):
            return None
        return Problem(Phrase("pass is not installed"), hint=Phrase("Install it (passwordstore.org), or store the secret in Tooltray"))

    async def fetch(self, place: str, around: Surroundings) -> str:
        origin = self.origin(place)
        if place.startswith("-"):
            raise not_given(origin, Phrase("no entry is called so"))
        text = await printed([PROGRAM, "show", place], around, origin)
        return checked(text.partition("\n")[0].rstrip("\r"), origin)
