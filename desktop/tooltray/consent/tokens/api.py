"""The API about who gets in over HTTP: it switches the endpoints and the REST interface, and creates and revokes tokens."""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings_edits import api_access, http_access, without_old_trust
from tooltray.consent.tokens.api_tokens import ApiTokens, TrustedTokens
from tooltray.consent.tokens.client_tokens import ClientTokens
from tooltray.foundation.confirm_widening import confirm_widening, note_narrowing
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import always, verb

OLD_TRUST = Problem(
    Phrase("Programs can no longer approve in your place because of a setting"),
    Phrase("`trusted` in the settings is not counted: any program of yours could have written it there"),
    Phrase("To allow it, create a token: tooltray http api on --trusted. Otherwise: tooltray http api on --no-trusted"),
)
"""A problem that is shown until the user decides; the decision removes the old setting."""


class HttpDoor(Protocol):
    """The open HTTP endpoints."""

    @property
    def status(self) -> HttpStatus: ...

    async def follow(self, *, is_retry: bool = False) -> None:
        """Opens, moves or closes the endpoints according to the settings."""
        ...

    async def forget_client(self, name: str) -> None:
        """Ends the sessions of a client whose token has become invalid."""
        ...

    def forget_programs(self) -> None:
        """Ends the event streams of programs whose token has become invalid."""
        ...


class AccessApi:
    """The tokens and the endpoints together. Belongs to the engine's loop."""

    def __init__(
        self, *, config: McpConfHelper, tokens: ClientTokens, api_tokens: ApiTokens, trusted: TrustedTokens, door: Callable[[], HttpDoor]
    ) -> None:
        """
        Args:
            tokens: the tokens of AI clients.
            api_tokens: the tokens of the REST interface.
            trusted: stores which programs' tokens may consent in the user's place.
            door: returns the endpoints, which are made later.
        """
        self._config, self._tokens, self._door = config, tokens, door
        self._api_tokens, self._trusted = api_tokens, trusted

    @property
    def problems(self) -> list[Problem]:
        """The problems with tokens, endpoints and old settings."""
        asked = OLD_TRUST if self._config.settings.publish.http.api.trusted else None
        found = (self._tokens.problem, *self._api_tokens.problems, self._door().status.problem, asked)
        return [problem for problem in found if problem]

    async def get_http_status(self) -> HttpStatus:
        return self._door().status

    @verb(trusted=always)
    async def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        """Opens or closes the endpoints for AI clients, also after a restart.

        Args:
            port: the new port; 0: any free port; None: the present port.

        Raises:
            TooltrayError: the settings cannot be written, or the address cannot be opened, for example because another program has the
                port; HTTP then stays enabled in the settings.
        """
        await self._config.edit(http_access(enabled, port))
        return await self._followed()

    @verb("person")
    async def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        """Enables or disables the REST interface, by which other programs with a token can do over HTTP what the user can do here. Enabling
        it also makes the default token and enables HTTP, as both have the same address; disabling it does not change HTTP.

        Args:
            trusted: False withdraws the trust of all tokens; None changes no trust; True is refused, as trust belongs to a token.

        Raises:
            TooltrayError: the token cannot be made, the settings cannot be written, or the address cannot be opened.
        """
        if trusted:
            raise TooltrayError(
                Phrase("trust belongs to a token"),
                Phrase("it is not a setting of the REST interface"),
                Phrase("Make one: tooltray http api token --trusted"),
            )
        if enabled:
            await finish_in_thread(self._api_tokens.default.value)
        if trusted is False:
            await self._trusted.remove(await finish_in_thread(self._api_tokens.distrust))
        await self._config.edit(api_access(enabled, forget_trust=trusted is False))
        return await self._followed() if enabled else self._door().status

    @verb("person")
    async def get_api_token(self) -> str:
        """Returns the default token of programs, which is made at the first call and stays the same across restarts.

        Raises:
            TooltrayError: it cannot be read or made.
        """
        return await finish_in_thread(self._api_tokens.default.value)

    @verb("person")
    async def rotate_api_token(self) -> str:
        """Replaces the default token. The old one stops working at once and its open connections are closed.

        Raises:
            TooltrayError: the new one cannot be stored; the old one stays valid.
        """
        token = await finish_in_thread(self._api_tokens.default.rotate)
        self._door().forget_programs()
        return token

    @verb("person")
    async def list_api_tokens(self) -> list[ApiTokenSnapshot]:
        """Lists the tokens of programs, also the expired ones."""
        return [
            replace(each, is_trusted=each.is_trusted and await self._trusted.has(self._api_tokens.digest(each.name)))
            for each in self._api_tokens.list()
        ]

    @verb("person")
    async def create_api_token(
        self, name: str, scope: Scope = "manage", expires_in_s: float | None = None, trusted: bool = False
    ) -> NewApiToken:
        """Makes a token for a program, which is shown only now; an earlier token of this name becomes invalid.

        Args:
            scope: "read" (look), "call" (and call tools) or "manage" (and change things).
            expires_in_s: seconds; None: until it is revoked.
            trusted: whether it may also approve calls, trust servers and allow folders.

        Raises:
            Denied: `trusted` was requested, and the user has not confirmed that.
            TooltrayError: the name, the scope or the time cannot be used, or the token cannot be stored.
        """
        if trusted:
            await confirm_widening(Phrase("Creating a trusted token"), token=name, scope=scope)
        if trusted and scope != "manage":
            raise TooltrayError(
                Phrase("a trusted token has the scope manage"),
                Phrase("the scope {scope} approves nothing", scope=scope),
                Phrase("Leave one of them out."),
            )
        before = self._api_tokens.digest(name)
        token = await finish_in_thread(partial(self._api_tokens.create, name, scope, lasts_s=expires_in_s, is_trusted=trusted))
        made = next(each for each in self._api_tokens.list() if each.name == name)
        is_lasting = True
        if trusted:
            is_lasting = await self._trusted.add(self._api_tokens.digest(name), made.expires_at)
            if self._config.settings.publish.http.api.trusted:
                await self._config.edit(without_old_trust)
        if before:
            await self._ended(before)
        return NewApiToken(token, name, scope, made.expires_at, trusted, is_lasting)

    @verb("person")
    async def revoke_api_token(self, name: str) -> None:
        """Revokes a program's token, and ends its open connections.

        Raises:
            NotFound: no token has this name.
            TooltrayError: that cannot be written.
        """
        digest = self._api_tokens.digest(name)
        await finish_in_thread(self._api_tokens.revoke, name)
        await self._ended(digest)
        await note_narrowing(Phrase("A token of a program"), token=name)

    async def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return self._tokens.list()

    @verb(trusted=always)
    async def create_client_token(self, name: str) -> str:
        """Makes a token for an AI client and returns it, only now; an earlier token of the client becomes invalid, and its sessions end.

        Raises:
            TooltrayError: the name cannot be used, or the token cannot be saved.
        """
        token = await finish_in_thread(self._tokens.create, name)
        await self._door().forget_client(name)  # sessions opened with its earlier token
        return token

    async def remove_client_token(self, name: str) -> None:
        """Revokes an AI client's token, and ends its sessions.

        Raises:
            NotFound: no token has this name.
        """
        await finish_in_thread(self._tokens.remove, name)
        await self._door().forget_client(name)

    async def restore_client_token(self, name: str) -> None:
        """Makes an AI client's token valid again that was revoked less than half a minute ago.

        Raises:
            NotFound: it cannot be undone any more.
            Conflict: the client has another token now.
            TooltrayError: that cannot be written.
        """
        await confirm_widening(Phrase("Restoring a revoked token"), token=name)
        await finish_in_thread(self._tokens.restore, name)

    async def _followed(self) -> HttpStatus:
        await self._door().follow(is_retry=True)
        status = self._door().status
        if problem := status.problem:
            raise TooltrayError(problem.title, problem.message, problem.hint)
        return status

    async def _ended(self, digest: str) -> None:
        """Ends the connections of an invalid token and deletes its trust; a failure does not matter, as the token is invalid."""
        self._door().forget_programs()
        with contextlib.suppress(TooltrayError):
            await self._trusted.remove([digest])
