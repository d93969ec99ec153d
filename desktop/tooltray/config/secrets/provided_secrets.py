"""Secrets by the names that entries have for them: those that Tooltray keeps, and those that a provider gives.

Above it: what starts a server, the doctor, the list of secrets. Below it: SecretStore, providers. What a provider gives is masked in logs
from then on, and kept nowhere: each start asks anew.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from tooltray.config.secrets.provider import NotAnswered, Run, Surroundings, not_answered
from tooltray.config.secrets.providers import COMMAND, Reference, reference_of
from tooltray.config.secrets.secrets import SecretStore
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import finish_in_thread


class ProvidedSecrets:
    """Belongs to one event loop."""

    def __init__(
        self,
        *,
        secrets: SecretStore,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        commands: Callable[[], Mapping[str, Sequence[str]]],
        run: Run,
    ) -> None:
        """
        Args:
            environ: gives the person's environment.
            commands: those that the person has set up, by name.
        """
        self._secrets, self._environ, self._commands, self._run = secrets, environ, commands, run
        self._turns = defaultdict[str, _Turn](_Turn)  # by who is asked

    async def get(self, name: str) -> str:
        """
        Raises:
            TooltrayError: there is none, or it cannot be had; says why.
        """
        reference = reference_of(name)
        if reference is None:
            return await self._secrets.get(name)
        value = await self._turn(reference).take(lambda: self._fetch(reference), reference.origin)
        self._secrets.note([value])
        return value

    def note(self, values: Collection[str]) -> None:
        """Masks further values in logs, which something else gives to a server's start."""
        self._secrets.note(values)

    def _turn(self, reference: Reference) -> "_Turn":
        """That of a provider; of commands that of the program, so that one that hangs holds up no other."""
        command = self._commands().get(reference.place) if reference.prefix == COMMAND else None
        return self._turns[f"{COMMAND}:{command[0]}" if command else reference.prefix]

    async def _fetch(self, reference: Reference) -> str:
        return await reference.provider.fetch(reference.place, await self._around())

    async def problem(self, name: str) -> Problem | None:
        """Why a provider cannot give a secret, as far as can be seen without asking for it; None: it may, or Tooltray keeps it."""
        reference = reference_of(name)
        if reference is None:
            return None
        return await finish_in_thread(reference.provider.why_not, reference.place, await self._around())

    async def _around(self) -> Surroundings:
        return Surroundings(await self._environ(), self._commands(), self._run, self._secrets.get_foreign)


class _Turn:
    """One is asked after the other, since each may ask the person; of those that wait when nobody has answered none is asked, or ten
    servers would wait for half a minute each."""

    def __init__(self) -> None:
        self._lock, self._unanswered = asyncio.Lock(), 0

    async def take(self, fetch: Callable[[], Awaitable[str]], origin: str) -> str:
        """
        Raises:
            TooltrayError: as `fetch` does; NotAnswered also for one that waited for another which nobody has answered.
        """
        before = self._unanswered
        async with self._lock:
            if self._unanswered != before:
                raise not_answered(origin)
            try:
                return await fetch()
            except NotAnswered:
                self._unanswered += 1
                raise


class UnfetchedSecrets:
    """The same for who looks whether a server could start: a provider is not asked, and what it would give is empty."""

    def __init__(self, provided: ProvidedSecrets) -> None:
        self._provided = provided

    async def get(self, name: str) -> str:
        """
        Raises:
            TooltrayError: it could not be had; says why.
        """
        if reference_of(name) is None:
            return await self._provided.get(name)
        if problem := await self._provided.problem(name):
            raise TooltrayError(problem.title, problem.message, problem.hint)
        return ""
