"""The API about secrets: their names, users and place. Values can be set, but are never returned."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from tooltray.config.secrets.secrets import BACKUP_SECRET, SecretStore
from tooltray.config.secrets.vaults import SecretBackend, SecretsAbsent
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings_edits import secret_backend
from tooltray.consent.tokens.api_tokens import TRUSTED_SECRET
from tooltray.foundation.confirmation import confirm_widening
from tooltray.foundation.errors import SecretsUnreachable, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import ServerRemoval, StoredSecrets
from tooltray.foundation.verbs import always, verb

if TYPE_CHECKING:
    from tooltray.sources.entries.server_secrets import ServerSecrets
    from tooltray.sources.entries.server_starts import ServerStarts


async def _replaces_a_secret(part: "SecretsApi", arguments: Mapping[str, Any]) -> bool:
    """Requires a trusted token for a secret that exists or is used: it may be part of a command, and decides as whom a server acts."""
    name = arguments["name"]
    if name in await part.get_secret_names():
        return True
    return any(name in secret_names(server) for server in part._config.settings.mcp_servers.values())


async def _removes_a_used_secret(part: "SecretsApi", arguments: Mapping[str, Any]) -> bool:
    """Requires a trusted token to remove a secret in use: a program could set another value then."""
    name = arguments["name"]
    return name in await part.get_secret_names() and name not in await part.get_unused_secrets()


class SecretsApi:
    def __init__(self, *, config: McpConfHelper, secrets: SecretStore, server_secrets: "ServerSecrets", starts: "ServerStarts") -> None:
        self._config, self._secrets, self._server_secrets, self._starts = config, secrets, server_secrets, starts
        self._before: SecretBackend | None = None  # the place before the last choice

    async def get_secrets(self) -> StoredSecrets:
        """Returns which secrets are stored, which are used by what, and where they are kept. Values are not read, so that no keyring shows
        a prompt.
        """
        return await self._server_secrets.all()

    async def get_secret_names(self) -> list[str]:
        return sorted(await self._secrets.names())

    @verb(trusted=_replaces_a_secret)
    async def set_secret(self, name: str, value: str) -> None:
        if name in (TRUSTED_SECRET, BACKUP_SECRET):
            raise TooltrayError(Phrase("'{name}' is kept by Tooltray itself", name=name), hint=Phrase("Choose another name"))
        await self._secrets.set(name, value)
        self._starts.retry_failed()

    @verb(trusted=_removes_a_used_secret)
    async def remove_secret(self, name: str) -> None:
        """Deletes a secret; for half a minute `restore_secret` puts it back.

        Raises:
            NotFound: no secret has that name.
            TooltrayError: the secrets cannot be reached.
        """
        await self._secrets.remove(name)

    @verb(trusted=always)
    async def restore_secret(self, name: str) -> None:
        """Puts back a secret that was removed less than half a minute ago.

        Raises:
            NotFound: its value is not kept any more.
            Conflict: another secret of that name exists now.
            TooltrayError: the secrets cannot be reached.
        """
        await self._secrets.restore(name)
        self._starts.retry_failed()

    async def preview_removal(self, name: str) -> ServerRemoval:
        """Returns the secrets that would be deleted with a server, and those that would be kept since something else uses them."""
        return await self._server_secrets.of(name)

    async def get_unused_secrets(self) -> list[str]:
        """Returns the names of the secrets that no server uses, not even one of a known project or file.

        Raises:
            TooltrayError: the secrets cannot be read.
        """
        return await self._server_secrets.unused()

    async def remove_unused_secrets(self, names: list[str]) -> list[str]:
        """Deletes the given secrets except those that a server uses at this moment; returns the names of the deleted ones.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        return await self._server_secrets.remove_unused(names)

    async def check_secrets(self) -> str:
        """Checks that the place of the secrets can be used; returns which one it is: `keyring`, `file` or `memory`.

        Raises:
            TooltrayError: it cannot be used; the error distinguishes absent, locked and denied.
        """
        await self._secrets.check()
        return self._secrets.kind

    async def unlock_secrets(self, passphrase: str) -> None:
        await self._secrets.unlock(passphrase)
        self._starts.retry_failed()

    async def _is_left(self, backend: SecretBackend) -> bool:
        """Reports whether the choice replaces a usable place. It does not without a keyring, or when returning to the former place from one
        that was just chosen and cannot be opened.
        """
        try:
            await self._secrets.check()
        except SecretsAbsent:
            return False
        except SecretsUnreachable:
            return backend != self._before
        return True

    async def set_secret_backend(self, kind: str) -> None:
        """Chooses where secrets are kept: `keyring`, `file` or `memory`; secrets in other places stay there.

        Raises:
            Denied: a person did not confirm the other place.
            TooltrayError: the name is not one of these, or the settings cannot be written.
        """
        backend, before = _backend(kind), self._secrets.kind
        if backend != before and await self._is_left(backend):
            await confirm_widening(Phrase("Keeping secrets in another place"), {"from": before}, to=backend)
        await self._config.edit(secret_backend(backend))
        self._before = before
        self._starts.use_secret_backend()


def _backend(kind: str) -> SecretBackend:
    for backend in get_args(SecretBackend):
        if kind == backend:
            return backend  # type: ignore[no-any-return]
    raise TooltrayError(
        Phrase("'{kind}' is no place for secrets", kind=kind),
        hint=Phrase("Choose one of {secretbackend}.", secretbackend=", ".join(get_args(SecretBackend))),
    )
