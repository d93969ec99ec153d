"""`${secret:pass:PATH}`: the first line of the output of `pass show PATH`, as passwordstore.org defines it."""

import os
import shutil
from collections.abc import Mapping

from tooltray.config.secrets.provider import Surroundings, checked, not_given, printed
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread

PROGRAM = "pass"
STORE = ".password-store"  # in the home folder, unless PASSWORD_STORE_DIR names another one


class PassProvider:
    """A Provider for entries of `pass`."""

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
        if await finish_in_thread(_is_folder, place, around.environ):  # for a folder `pass show` prints the names in it, and ends with 0
            raise not_given(origin, Phrase("it is a folder of the store, and no entry"), Phrase("Name an entry in it"))
        text = await printed([PROGRAM, "show", place], around, origin)
        return checked(text.partition("\n")[0].rstrip("\r"), origin)


def _is_folder(place: str, environ: Mapping[str, str]) -> bool:
    path = os.path.join(environ.get("PASSWORD_STORE_DIR") or os.path.join(environ.get("HOME", ""), STORE), place)
    return os.path.isdir(path) and not os.path.isfile(f"{path}.gpg")
