"""What is kept among the secrets for a server, and what becomes of it when the server is removed; and what is there for no server at all.

Above it: the presenter's verbs, and the command line where no hub runs. Below it: SecretUses, SecretStore, and the sign-ins. Only a
person's word removes a secret, and never one that is still used: files that change, and settings that are read again, remove none.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from tooltray.access.trusted_tokens import TRUSTED_SECRET
from tooltray.entries.secret_uses import Names, SecretUses, Uses
from tooltray.errors import TooltrayError
from tooltray.secrets.secrets import SecretMissing, SecretStore
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.sign_ins.token_store import PREFIX
from tooltray.snapshots.removals import ServerRemoval, SharedSecret


class KeptSignIns(Protocol):
    """What sign-ins left among the secrets: that of SignIns, or the TokenStore where no hub runs."""

    @property
    def kept(self) -> Mapping[str, str]:
        """By the servers' names."""
        ...

    async def forget(self, server: str) -> None:
        """
        Raises:
            TooltrayError: it is still there.
        """
        ...


class ServerSecrets:
    """Belongs to one event loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        secrets: SecretStore,
        sign_ins: KeptSignIns,
        projects: Callable[[], Names],
        served: Callable[[], Iterable[str]] = tuple,
        lost: Callable[[], Iterable[str]] = tuple,
        proposed: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """
        Args:
            projects, served, lost, proposed: see SecretUses.all.
        """
        self._config, self._secrets, self._sign_ins, self._projects, self._served = config, secrets, sign_ins, projects, served
        self._lost, self._proposed = lost, proposed
        self._look = SecretUses(config)

    async def of(self, server: str) -> ServerRemoval:
        """What would go with a server, nothing where there is none of that name; never fails because of the secrets."""
        if server not in self._servers():
            return ServerRemoval(server)
        uses = await self._uses()
        named = uses.by(server)
        sign_in = PREFIX + server if server in self._sign_ins.kept else ""
        try:
            stored = await self._secrets.names()
        except TooltrayError as error:
            return ServerRemoval(server, tuple(sorted(named)), sign_in, problem=error.problem if named or sign_in else None)
        own = sorted(named.intersection(stored) | set(self._named_after(server, stored)))
        users = {secret: uses.of(secret, besides=server) for secret in own}
        shared = tuple(SharedSecret(secret, users[secret]) for secret in own if users[secret])
        return ServerRemoval(server, tuple(secret for secret in own if not users[secret]), sign_in, shared)

    async def forget(self, removal: ServerRemoval) -> ServerRemoval:
        """Removes what a server that is gone has left, as far as nothing uses it now; returns what was done.

        Args:
            removal: what `of` said before.
        """
        try:
            if removal.sign_in:
                await self._sign_ins.forget(removal.server)
            gone = await self.remove_unused(removal.secrets)
        except TooltrayError as error:
            return replace(removal, problem=error.problem)
        return replace(removal, secrets=tuple(gone), problem=None)

    async def unused(self) -> list[str]:
        """The stored secrets that no server uses, as far as anybody knows here.

        Raises:
            TooltrayError: the secrets cannot be looked into.
        """
        return await self._unused_among(await self._secrets.names())

    async def remove_unused(self, names: Collection[str]) -> list[str]:
        """Removes those of these secrets that no server uses now; returns them.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        removed = []
        for name in sorted(set(names).intersection(await self._secrets.names() if names else ())):
            if await self._unused_among([name]):  # looked again for each: a keyring may have asked the person before the last was gone
                await self._remove(name)
                removed.append(name)
        return removed

    async def _unused_among(self, stored: Iterable[str]) -> list[str]:
        uses = await self._uses()
        free = (secret for secret in sorted(stored) if secret != TRUSTED_SECRET)
        return [secret for secret in free if not uses.of(secret) and not self._is_of_sign_in(secret, is_of_known=True)]

    async def _uses(self) -> Uses:
        return await self._look.all(self._projects(), self._served(), self._lost(), self._proposed())

    async def _remove(self, name: str) -> None:
        if self._is_of_sign_in(name):
            await self._sign_ins.forget(name.removeprefix(PREFIX))
        with contextlib.suppress(SecretMissing):
            await self._secrets.remove(name)

    def _named_after(self, server: str, stored: Iterable[str]) -> Iterator[str]:
        """What was stored for a server, but is not in its entry (any more)."""
        return (name for name in stored if name.startswith(f"{server}/") and not self._is_of_sign_in(name))

    def _is_of_sign_in(self, name: str, *, is_of_known: bool = False) -> bool:
        """
        Args:
            is_of_known: and to a server that there is; whose it is stands in a list that may be lost, and the sign-in is not, then.
        """
        server = name.removeprefix(PREFIX)
        if not name.startswith(PREFIX):
            return False
        return server in self._servers() or (not is_of_known and server in self._sign_ins.kept)

    def _servers(self) -> set[str]:
        """All that are known, also those on which nobody works now, those whose entry cannot be used, and those of served files."""
        written = self._config.document.get("mcpServers")
        found = {*self._config.settings.mcp_servers, *self._config.file_servers, *(written if isinstance(written, dict) else ())}
        return found.union(*(names.values() for names in self._projects().values()))
