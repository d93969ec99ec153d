"""`${secret:command:NAME}`: the output of a command that the user has set up in `secretCommands` of the settings.

Its arguments are the user's own: an entry names the command, and adds nothing to it.
"""

import shutil

from tooltray.config.secrets.provider import Surroundings, checked, not_given, printed
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase


class CommandProvider:
    """A Provider for the output of the user's commands."""

    def origin(self, place: str) -> str:
        return Phrase("your command '{name}'", name=place)

    def why_not(self, place: str, around: Surroundings) -> Problem | None:
        command = around.commands.get(place)
        if not command:
            hint = Phrase("Add it in the tab Secrets of the settings, or to secretCommands in settings.json")
            return Problem(Phrase("There is no command '{name}'", name=place), Phrase("secretCommands does not have it"), hint)
        if shutil.which(command[0], path=around.environ.get("PATH")):
            return None
        hint = Phrase("Install it, or correct the command in the tab Secrets of the settings")
        return Problem(Phrase("'{program}' is not installed", program=command[0]), hint=hint)

    async def fetch(self, place: str, around: Surroundings) -> str:
        origin, command = self.origin(place), around.commands.get(place)
        if not command:
            problem = self.why_not(place, around)
            assert problem is not None
            raise not_given(origin, problem.message, problem.hint)
        value = (await printed(command, around, origin)).rstrip("\r\n")
        if "\n" in value:
            raise not_given(origin, Phrase("it printed several lines"), Phrase("Have it print the value alone"))
        return checked(value, origin)
