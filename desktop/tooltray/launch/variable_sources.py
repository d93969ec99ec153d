"""Fills in what a person's environment lacks of the variables that decide whether a server works, and knows where each one is from.

Above it: LoginShell, whose outcome this completes, and the presenter, which shows it. Below it: network_variables, system_variables,
remembered_variables, default_folders. The login shell's own value goes first, then the system's, then what is remembered.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from tooltray.launch.child_environment import with_default_folders
from tooltray.launch.login_shell import LoginShell
from tooltray.launch.network_variables import VARIABLES, in_environ, meaning
from tooltray.launch.remembered_variables import RememberedVariables
from tooltray.launch.system_variables import Found, look_up

SHELL, REMEMBERED = "login shell", "remembered"
LookUp = Callable[[Iterable[str], Mapping[str, str]], Found]


class Source(msgspec.Struct, frozen=True):
    """Of one variable.

    Attributes:
        origin: `login shell`, `remembered`, or the place in the system.
        since: the day since when it is remembered; empty for any other.
        is_used: servers get it; not where its file is gone.
    """

    value: str
    origin: str
    since: str = ""
    is_used: bool = True


class VariableSources:
    """
    Args:
        look_up: see system_variables.
        complete: adds what else an environment lacks.
    """

    def __init__(
        self,
        remembered: RememberedVariables,
        *,
        look_up: LookUp = look_up,
        complete: Callable[[Mapping[str, str]], Mapping[str, str]] = with_default_folders,
    ) -> None:
        self._remembered, self._look_up, self._complete = remembered, look_up, complete
        self._sources: Mapping[str, Source] = {}

    @property
    def sources(self) -> Mapping[str, Source]:
        """As of the last `complete`."""
        return self._sources

    def complete(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Returns an environment with what it lacks. Runs in a thread."""
        sources = {name: Source(value, SHELL) for name, value in in_environ(environ).items()}
        system = {name: Source(value, origin) for name, (value, origin) in self._look_up(VARIABLES, environ).items()}
        remembered = {name: Source(each.value, REMEMBERED, each.since) for name, each in self._remembered.variables.items()}
        for further in (system, remembered):
            _add(sources, further)
        self._sources = sources
        return self._complete({**environ, **{name: source.value for name, source in sources.items() if source.is_used}})


def make_login_shell(file: Path, own: Mapping[str, str] = os.environ) -> LoginShell:
    """The person's environment for a command that works without a hub.

    Args:
        file: what is remembered.
        own: see LoginShell.
    """
    remembered = RememberedVariables(file)
    remembered.load()
    return LoginShell(own=own, complete=VariableSources(remembered).complete)


def _add(sources: dict[str, Source], further: Mapping[str, Source]) -> None:
    decided = {meaning(name) for name, source in sources.items() if source.is_used}
    for name, source in further.items():
        if meaning(name) not in decided:
            is_used = VARIABLES[name].can_be_used(source.value)
            if is_used or name not in sources:
                sources[name] = Source(source.value, source.origin, source.since, is_used)
