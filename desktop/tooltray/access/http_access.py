"""Access over HTTP as a person sees it: switched on or off, and for which AI clients.

Above it: McpPresenter, whose verbs these are. Below it: the settings, the clients' tokens, and the endpoints, which are handed in.
"""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.access.trusted_tokens import TrustedTokens
from tooltray.confirmation import confirm_widening
from tooltray.errors import Problem, TooltrayError
from tooltray.phrases import Phrase
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.settings.settings_edits import api_access, without_old_trust
from tooltray.snapshots.http import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.tasks import finish_in_thread

OLD_TRUST = Problem(
    Phrase("Programs do not decide in your place any more because a file says so"),
    Phrase("`trusted` in the settings is not counted: any program of yours could have written it there"),
    Phrase("If they shall, make a token for them: tooltray http api on --trusted. If not: tooltray http api on --no-trusted"),
)
"""Asked until a person has answered, which takes the old setting out."""


class HttpDoor(Protocol):
    """The endpoints."""

    @property
    def status(self) -> HttpStatus: ...

    async def follow(self, *, is_retry: bool = False) -> None:
        """Does what the settings say now."""
        ...

    async def forget_client(self, name: str) -> None:
        """Ends what a client has open whose token is worth nothing any more."""
        ...

    def forget_programs(self) -> None:
        """Ends what programs have open at the REST interface, whose token is worth nothing any more."""
        ...


class HttpAccess:
    """Belongs to the engine's loop."""

    def __init__(
        self, *, config: McpConfHelper, tokens: ClientTokens, api_tokens: ApiTokens, trusted: TrustedTokens, door: Callable[[], HttpDoor]
    ) -> None:
        """
        Args:
            tokens: those of AI clients.
            api_tokens: those of other programs, for the REST interface.
            trusted: which of these say yes in a person's place.
            door: gives the endpoints, which are made after this.
        """
        self._config, self._tokens, self._door = config, tokens, door
        self._api_tokens, self._trusted = api_tokens, trusted

    @property
    def status(self) -> HttpStatus:
        return self._door().status

    @property
    def problems(self) -> list[Problem]:
        """What a person should know of it."""
        asked = OLD_TRUST if self._config.settings.publish.http.api.trusted else None
        return [problem for problem in (self._tokens.problem, *self._api_tokens.problems, self.status.problem, asked) if problem]

    async def set_enabled(self, enabled: bool, port: int | None) -> HttpStatus:
        """
        Raises:
            TooltrayError: the settings cannot be written, or the address not be opened; the settings then still say that it should be.
        """
        await self._config.set_http(enabled, port)
        return await self._followed()

    async def _followed(self) -> HttpStatus:
        await self._door().follow(is_retry=True)
        if problem := self.status.problem:
            raise TooltrayError(problem.title, problem.message, problem.hint)
        return self.status

    @property
    def clients(self) -> list[ClientTokenSnapshot]:
        return self._tokens.list()

    async def create_token(self, name: str) -> str:
        token = await finish_in_thread(self._tokens.create, name)
        await self._door().forget_client(name)  # what its token of before has opened
        return token

    async def remove_token(self, name: str) -> None:
        await finish_in_thread(self._tokens.remove, name)
        await self._door().forget_client(name)

    async def set_api(self, enabled: bool, trusted: bool | None) -> HttpStatus:
        """Switching it on makes the default token, and switches HTTP on too: it is at the same address. Switching it off leaves HTTP as it
        is.

        Raises:
            TooltrayError: the token cannot be made, the settings not be written, or the address not be opened.
        """
        if trusted:
            raise TooltrayError(
                "trust belongs to a token", "it is no setting of the REST interface", "Make one: tooltray http api token --trusted"
            )
        if enabled:
            await finish_in_thread(self._api_tokens.default.value)
        if trusted is False:
            await self._trusted.remove(await finish_in_thread(self._api_tokens.distrust))
        await self._config.change_document(api_access(enabled, forget_trust=trusted is False))
        return await self._followed() if enabled else self.status

    async def api_token(self) -> str:
        return await finish_in_thread(self._api_tokens.default.value)

    async def rotate_api_token(self) -> str:
        token = await finish_in_thread(self._api_tokens.default.rotate)
        self._door().forget_programs()
        return token

    async def list_api_tokens(self) -> list[ApiTokenSnapshot]:
        """Which are trusted is looked up only of those that were made for it."""
        return [
            replace(each, is_trusted=each.is_trusted and await self._trusted.has(self._api_tokens.digest(each.name)))
            for each in self._api_tokens.list()
        ]

    async def create_api_token(self, name: str, scope: Scope, lasts_s: float | None, trusted: bool) -> NewApiToken:
        """
        Raises:
            Denied: it is to be trusted, and nobody has confirmed that.
            TooltrayError: the name, the scope or the time cannot be used, or it cannot be kept.
        """
        if trusted:
            await confirm_widening("A trusted token")
        if trusted and scope != "manage":
            raise TooltrayError("a trusted token has the scope manage", f"the scope {scope} approves nothing", "Leave one of them out.")
        before = self._api_tokens.digest(name)
        token = await finish_in_thread(partial(self._api_tokens.create, name, scope, lasts_s=lasts_s, is_trusted=trusted))
        made = next(each for each in self._api_tokens.list() if each.name == name)
        is_lasting = True
        if trusted:
            is_lasting = await self._trusted.add(self._api_tokens.digest(name), made.expires_at)
            await self._forget_old_setting()
        if before:
            await self._ended(before)
        return NewApiToken(token, name, scope, made.expires_at, trusted, is_lasting)

    async def revoke_api_token(self, name: str) -> None:
        """
        Raises:
            TooltrayError: there is none of this name, or the file cannot be written.
        """
        digest = self._api_tokens.digest(name)
        await finish_in_thread(self._api_tokens.revoke, name)
        await self._ended(digest)

    async def _ended(self, digest: str) -> None:
        """What a token has open ends; it opens nothing, so that what is kept of its trust is worth nothing either way."""
        self._door().forget_programs()
        with contextlib.suppress(TooltrayError):
            await self._trusted.remove([digest])

    async def _forget_old_setting(self) -> None:
        if self._config.settings.publish.http.api.trusted:
            await self._config.change_document(without_old_trust)
