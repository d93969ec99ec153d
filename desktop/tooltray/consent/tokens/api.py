"""The API about who gets in over HTTP: AI clients, and programs with a token."""

from tooltray.consent.tokens.http_access import HttpAccess
from tooltray.foundation.confirmation import confirm_widening
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.http import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.foundation.verbs import always, verb


class AccessApi:
    def __init__(self, *, http: HttpAccess) -> None:
        self._http = http

    async def get_http_status(self) -> HttpStatus:
        return self._http.status

    @verb(trusted=always)
    async def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        """Opens the endpoints for AI clients, or closes them; they stay as they are after a restart.

        Args:
            port: where, from now on; 0: any that is free; None leaves that as it is.

        Raises:
            TooltrayError: the address cannot be opened, as where another program has the port.
        """
        return await self._http.set_enabled(enabled, port)

    @verb("person")
    async def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        """Lets other programs do over HTTP what a person can do here, or no more. They show a token of their own.

        Args:
            trusted: False: no token may say yes in a person's place any more; None leaves that as it is.

        Raises:
            TooltrayError: the settings cannot be written, or the address not be opened.
        """
        return await self._http.set_api(enabled, trusted)

    @verb("person")
    async def get_api_token(self) -> str:
        """What opens that to a program; it is made when it is first asked for, and stays the same across restarts.

        Raises:
            TooltrayError: it cannot be read or made.
        """
        return await self._http.api_token()

    @verb("person")
    async def rotate_api_token(self) -> str:
        """Makes another one; that of before opens nothing any more, and what it has open ends.

        Raises:
            TooltrayError: it cannot be kept; then that of before goes on.
        """
        return await self._http.rotate_api_token()

    @verb("person")
    async def list_api_tokens(self) -> list[ApiTokenSnapshot]:
        """The tokens of programs, also those whose time is over."""
        return await self._http.list_api_tokens()

    @verb("person")
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

    @verb("person")
    async def revoke_api_token(self, name: str) -> None:
        """Ends a program's token, and what it has open.

        Raises:
            NotFound: there is none of this name.
            TooltrayError: that cannot be written.
        """
        await self._http.revoke_api_token(name)

    async def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return self._http.clients

    @verb(trusted=always)
    async def create_client_token(self, name: str) -> str:
        """Makes a token for an AI client and returns it, for this once; one that the client had before ends.

        Raises:
            TooltrayError: the name cannot be used, or the token not be saved.
        """
        return await self._http.create_token(name)

    async def remove_client_token(self, name: str) -> None:
        """Ends an AI client's token, and its sessions.

        Raises:
            NotFound: there is none of this name.
        """
        await self._http.remove_token(name)

    async def restore_client_token(self, name: str) -> None:
        """Lets an AI client's token count again that was ended less than half a minute ago.

        Raises:
            NotFound: it cannot be undone any more.
            Conflict: the client has another token now.
            TooltrayError: that cannot be written.
        """
        await confirm_widening(Phrase("Restoring a revoked token"), token=name)
        await self._http.restore_token(name)
