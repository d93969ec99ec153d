"""Adds a server that comes with secrets, in one step: from the registry, a bundle, a link, or another program's file.

Above it: discovery, bundles, ai_clients. Below it: ServersApi and the secrets. It knows nothing of where a server is from; the entry's own
member `origin` keeps that, and does not count when it is decided whether the same program runs.
"""

import contextlib
from collections.abc import Mapping
from typing import Any

from tooltray.confirmation import must_wait
from tooltray.entries.api import ServersApi
from tooltray.entries.server_secrets import ServerSecrets
from tooltray.errors import TooltrayError
from tooltray.secrets.secrets import SecretStore
from tooltray.settings.given_entries import BUILTIN_NAMES, read_given_entry
from tooltray.settings.mcp_conf_helper import McpConfHelper

ORIGIN = "origin"
"""Member of an entry: `{"kind": "registry", "name": ..., "version": ...}`; kinds: registry, starter, bundle, link, client, text."""


class ServerAddition:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, secrets: SecretStore, server_secrets: ServerSecrets, servers_api: ServersApi) -> None:
        self._config, self._secrets, self._server_secrets, self._servers = config, secrets, server_secrets, servers_api

    def free_name(self, wanted: str) -> str:
        """The name, or with a number behind it if a server has it already."""
        taken = {*self._config.settings.mcp_servers, *BUILTIN_NAMES}
        numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
        return wanted if wanted not in taken else next(name for name in numbered if name not in taken)

    async def add(self, name: str, entry: Mapping[str, Any], values: Mapping[str, str], *, is_default: bool = True) -> str:
        """Stores the secrets, then adds the server; it starts as `add_mcp_server` says. A program's waits for a person's yes.

        Args:
            entry: in the spelling of `mcpServers`, with `${secret:NAME}` where a secret belongs.
            values: the secrets by their names; new ones are removed again if the server cannot be added.

        Returns:
            Its name here.

        Raises:
            Conflict: the name is taken.
            TooltrayError: the entry is not valid, or the secrets or the file cannot be written.
        """
        read_given_entry(name, entry)
        if await must_wait():  # a proposal keeps its secrets under names of its own
            return await self._servers.add_mcp_server(name, filled_in(dict(entry), _placeholders(values)), is_default)
        known = set(await self._secrets.names()) if values else set[str]()
        stored: list[str] = []
        try:
            for secret, value in values.items():
                await self._secrets.set(secret, value)
                stored.append(secret)
            return await self._servers.add_mcp_server(name, entry, is_default)
        except TooltrayError:
            with contextlib.suppress(TooltrayError):  # the first failure is the one to report
                await self._server_secrets.remove_unused([secret for secret in stored if secret not in known])
            raise


def filled_in(part: Any, texts: Mapping[str, str]) -> Any:
    """A part of an entry with other texts in the place of some.

    Args:
        texts: what stands there by what stood there, such as `${secret:NAME}`.
    """
    if isinstance(part, str):
        for old, new in texts.items():
            part = part.replace(old, new)
        return part
    if isinstance(part, Mapping):
        return {key: filled_in(value, texts) for key, value in part.items()}
    return [filled_in(each, texts) for each in part] if isinstance(part, list | tuple) else part


def _placeholders(values: Mapping[str, str]) -> dict[str, str]:
    return {f"${{secret:{secret}}}": value for secret, value in values.items()}
