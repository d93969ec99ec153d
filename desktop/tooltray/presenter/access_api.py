"""Verbs of McpPresenter about secrets, questions to the person, and who gets in over HTTP. Mixed into it."""

from abc import ABC, abstractmethod
from typing import Any, get_args

from tooltray.access.http_access import HttpAccess
from tooltray.access.trusted_tokens import TRUSTED_SECRET
from tooltray.calls.elicitations import Elicitations
from tooltray.entries.server_secrets import ServerSecrets
from tooltray.errors import TooltrayError
from tooltray.secrets.secrets import SecretStore
from tooltray.secrets.vaults import SecretBackend
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.http import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.snapshots.removals import ServerRemoval


class AccessVerbs(ABC):
    _config: McpConfHelper
    _secrets: SecretStore
    _http: HttpAccess
    _elicitations: Elicitations
    _server_secrets: ServerSecrets

    @abstractmethod
    def _retry_failed(self) -> None: ...

    # secrets

    async def get_secret_names(self) -> list[str]:
        return sorted(await self._secrets.names())

    async def set_secret(self, name: str, value: str) -> None:
        if name == TRUSTED_SECRET:
            raise TooltrayError(f"'{name}' is kept by Tooltray itself", hint="Choose another name")
        await self._secrets.set(name, value)
        self._retry_failed()

    async def remove_secret(self, name: str) -> None:
        await self._secrets.remove(name)

    async def preview_removal(self, name: str) -> ServerRemoval:
        """What goes among the secrets if a server is removed, and what stays since something else uses it."""
        return await self._server_secrets.of(name)

    async def get_unused_secrets(self) -> list[str]:
        """The names of the secrets that no server uses, also none of a project or file that is known here.

        Raises:
            TooltrayError: the secrets cannot be looked into.
        """
        return await self._server_secrets.unused()

    async def remove_unused_secrets(self, names: list[str]) -> list[str]:
        """Removes those of these secrets that no server uses at this moment; returns them.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        return await self._server_secrets.remove_unused(names)

    async def check_secrets(self) -> str:
        """Looks whether the place of the secrets can be used; returns which one it is: `keyring`, `file` or `memory`.

        Raises:
            TooltrayError: it cannot; tells absent, locked and denied apart.
        """
        await self._secrets.check()
        return self._secrets.kind

    async def unlock_secrets(self, passphrase: str) -> None:
        await self._secrets.unlock(passphrase)
        self._retry_failed()

    async def set_secret_backend(self, kind: str) -> None:
        """Chooses where secrets are kept: `keyring`, `file` or `memory`; what is stored elsewhere stays there."""
        await self._config.set_secret_backend(_backend(kind))
        self.use_secret_backend()

    def use_secret_backend(self) -> None:
        """Goes on with the place for secrets that the settings name."""
        self._secrets.use(self._config.settings.secrets.backend)
        self._retry_failed()

    # questions to the person

    async def answer_elicitation(self, id: str, action: str, content: dict[str, Any] | None = None) -> None:
        """Answers a server's question: "accept" with the values of its form, "decline", or "cancel" for no answer at all.

        Raises:
            TooltrayError: it has ended, or the answer does not fit.
        """
        self._elicitations.answer(id, action, content)

    # HTTP

    async def get_http_status(self) -> HttpStatus:
        return self._http.status

    async def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        """Opens the endpoints for AI clients, or closes them; they stay as they are after a restart.

        Args:
            port: where, from now on; 0: any that is free; None leaves that as it is.

        Raises:
            TooltrayError: the address cannot be opened, as where another program has the port.
        """
        return await self._http.set_enabled(enabled, port)

    async def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        """Lets other programs do over HTTP what a person can do here, or no more. They show a token of their own.

        Args:
            trusted: False: no token may say yes in a person's place any more; None leaves that as it is.

        Raises:
            TooltrayError: the settings cannot be written, or the address not be opened.
        """
        return await self._http.set_api(enabled, trusted)

    async def get_api_token(self) -> str:
        """What opens that to a program; it is made when it is first asked for, and stays the same across restarts.

        Raises:
            TooltrayError: it cannot be read or made.
        """
        return await self._http.api_token()

    async def rotate_api_token(self) -> str:
        """Makes another one; that of before opens nothing any more, and what it has open ends.

        Raises:
            TooltrayError: it cannot be kept; then that of before goes on.
        """
        return await self._http.rotate_api_token()

    async def list_api_tokens(self) -> list[ApiTokenSnapshot]:
        """The tokens of programs, also those whose time is over."""
        return await self._http.list_api_tokens()

    async def create_api_token(
        self, name: str, scope: Scope = "manage", expires_in_s: float | None = None, trusted: bool = False
    ) -> NewApiToken:
        """Makes a token for a program, shown this once; one that the name had before ends.

        Args:
            scope: "read" (look), "call" (and call tools) or "manage" (and change things).
            expires_in_s: seconds; None: until it is revoked.
            trusted: it may also approve calls, trust servers and allow folders.

        Raises:
            Denied: it is to be trusted, and nobody has confirmed that.
            TooltrayError: the name or the time cannot be used, or the token not be kept.
        """
        return await self._http.create_api_token(name, scope, expires_in_s, trusted)

    async def revoke_api_token(self, name: str) -> None:
        """Ends a program's token, and what it has open.

        Raises:
            TooltrayError: there is none of this name, or that cannot be written.
        """
        await self._http.revoke_api_token(name)

    async def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return self._http.clients

    async def create_client_token(self, name: str) -> str:
        """Makes a token for an AI client and returns it, for this once; one that the client had before ends.

        Raises:
            TooltrayError: the name cannot be used, or the token not be saved.
        """
        return await self._http.create_token(name)

    async def remove_client_token(self, name: str) -> None:
        """
        Raises:
            TooltrayError: there is none of this name.
        """
        await self._http.remove_token(name)


def _backend(kind: str) -> SecretBackend:
    for backend in get_args(SecretBackend):
        if kind == backend:
            return backend  # type: ignore[no-any-return]
    raise TooltrayError(f"'{kind}' is no place for secrets", hint=f"Choose one of {', '.join(get_args(SecretBackend))}.")
