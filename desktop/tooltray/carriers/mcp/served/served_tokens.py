"""The tokens of a config's servers, with the secrets that they name filled in.

Above it: served_listener. Below it: expansion, SecretStore. A token whose secret cannot be read opens nothing, and a person is told; what
else a server has for tokens goes on opening it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.expansion import fill_text
from tooltray.config.settings.file_server import FileEntry
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase

PLACE = "authTokens"


class _Filled(HidesFields, frozen=True):
    hidden: ClassVar = ("tokens",)

    tokens: tuple[str, ...]
    problem: Problem | None


class ServedTokens:
    """Belongs to the engine's loop. What was read stays until a secret changes: no keyring is asked for each look at a file."""

    def __init__(self, secrets: SecretStore, environ: Mapping[str, str]) -> None:
        """
        Args:
            environ: what variables in tokens are filled in from.
        """
        self._secrets, self._environ = secrets, environ
        self._known: dict[tuple[str, tuple[str, ...]], _Filled] = {}
        self._changes = self._known_since = 0

    def forget(self) -> None:
        """A secret is another one."""
        self._changes += 1

    async def look(self, entries: Iterable[FileEntry]) -> None:
        """Reads the secrets that are not known yet."""
        wanted = sorted({(entry.name, entry.secret_tokens) for entry in entries if entry.secret_tokens})
        while True:
            now = self._changes
            kept = self._known if self._known_since == now else {}
            known = {key: kept.get(key) or await self._filled(*key) for key in wanted}
            if now == self._changes:
                break
        self._known, self._known_since = known, now

    def of(self, entry: FileEntry) -> tuple[str, ...]:
        """All of a server's tokens that can be shown; empty does not mean that none is needed."""
        filled = self._known.get((entry.name, entry.secret_tokens))
        return tuple(dict.fromkeys((*entry.tokens, *(filled.tokens if filled else ()))))

    @property
    def problems(self) -> Iterator[Problem]:
        """Why some open nothing."""
        return (filled.problem for filled in self._known.values() if filled.problem)

    async def _filled(self, server: str, tokens: tuple[str, ...]) -> _Filled:
        found: list[str] = []
        problem: Problem | None = None
        for token in tokens:
            try:
                text = await fill_text(token, PLACE, secrets=self._secrets, environ=self._environ, server=server)
                found += [text.strip()] if text.strip() else []
            except TooltrayError as error:
                title = Phrase("a token of '{server}' opens nothing", server=server)
                problem = Problem(title, f"{error.problem.title}: {error.problem.message}".removesuffix(": "), error.problem.hint)
        return _Filled(tuple(found), problem)
