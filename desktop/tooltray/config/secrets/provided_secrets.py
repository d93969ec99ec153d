"""Secrets by the names that entries have for them: stored ones, and ones from a provider.

A provider's value is masked in logs from then on, and stored nowhere: each start asks again.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence

from tooltray.config.secrets.providers import COMMAND, NotAnswered, Reference, Run, Surroundings, not_answered, reference_of
from tooltray.config.secrets.secrets import SecretStore
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import finish_in_thread


class ProvidedSecrets:
    """The secrets of a home. They belong to one event loop."""

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
            environ: returns the user's environment.
            commands: returns the commands that the user has set up, by name.
        """
        self._secrets, self._environ, self._commands, self._run = secrets, environ, commands, run
        self._turns = defaultdict[str, _Turn](_Turn)  # by provider, see `_turn`

    async def get(self, name: str) -> str:
        """Returns the value of a secret. Raises TooltrayError with the reason if it does not exist, or cannot be read."""
        reference = reference_of(name)
        if reference is None:
            return await self._secrets.get(name)
        value = await self._turn(reference).take(lambda: self._fetch(reference), reference.origin)
        self._secrets.note([value])
        return value

    def _turn(self, reference: Reference) -> "_Turn":
        """Returns the queue of a provider. Each program of a command has its own queue, so that a program that hangs delays no other."""
        command = self._commands().get(reference.place) if reference.prefix == COMMAND else None
        return self._turns[f"{COMMAND}:{command[0]}" if command else reference.prefix]

    async def _fetch(self, reference: Reference) -> str:
        return await reference.provider.fetch(reference.place, await self._around())

    async def problem(self, name: str) -> Problem | None:
        """Returns why a provider cannot give a secret, as far as can be seen without asking for it; None: it may, or Tooltray stores it."""
        reference = reference_of(name)
        if reference is None:
            return None
        return await finish_in_thread(reference.provider.why_not, reference.place, await self._around())

    async def _around(self) -> Surroundings:
        return Surroundings(await self._environ(), self._commands(), self._run, self._secrets.get_foreign)


class _Turn:
    """A queue in which one request runs after the other, since each may ask the user. When one is not answered, the waiting ones fail, too:
    otherwise ten servers would wait for half a minute each.
    """

    def __init__(self) -> None:
        self._lock, self._unanswered = asyncio.Lock(), 0

    async def take(self, fetch: Callable[[], Awaitable[str]], origin: str) -> str:
        """Fetches a value in turn.

        Raises:
            TooltrayError: as `fetch` does; NotAnswered also for one that waited for another which was not answered.
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
    """The secrets for a check whether a server could start: a provider is not asked, and its value is empty."""

    def __init__(self, provided: ProvidedSecrets) -> None:
        self._provided = provided

    async def get(self, name: str) -> str:
        """Returns the value of a secret. Raises TooltrayError with the reason if it could not be read."""
        if reference_of(name) is None:
            return await self._provided.get(name)
        if problem := await self._provided.problem(name):
            raise TooltrayError(problem.title, problem.message, problem.hint)
        return ""
