"""Access over HTTP as a person sees it: switched on or off, and for which AI clients.

Above it: McpPresenter, whose verbs these are. Below it: the settings, the clients' tokens, and the endpoints, which are handed in.
"""

from collections.abc import Callable
from typing import Protocol

from tooltray.config.api_token import ApiToken
from tooltray.config.client_tokens import ClientTokens
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.settings_edits import api_access
from tooltray.errors import Problem, TooltrayError
from tooltray.snapshots.http import ClientTokenSnapshot, HttpStatus
from tooltray.tasks import finish_in_thread


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

    def __init__(self, *, config: McpConfHelper, tokens: ClientTokens, api_token: ApiToken, door: Callable[[], HttpDoor]) -> None:
        """
        Args:
            tokens: those of AI clients.
            api_token: that of other programs, for the REST interface.
            door: gives the endpoints, which are made after this.
        """
        self._config, self._tokens, self._api_token, self._door = config, tokens, api_token, door

    @property
    def status(self) -> HttpStatus:
        return self._door().status

    @property
    def problems(self) -> list[Problem]:
        """What a person should know of it."""
        return [problem for problem in (self._tokens.problem, self._api_token.problem, self.status.problem) if problem]

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
        """Switching it on makes its token, and switches HTTP on too: it is at the same address. Switching it off leaves HTTP as it is.

        Raises:
            TooltrayError: the token cannot be made, the settings not be written, or the address not be opened.
        """
        if enabled:
            await finish_in_thread(self._api_token.value)
        await self._config.change_document(api_access(enabled, trusted))
        return await self._followed() if enabled else self.status

    async def api_token(self) -> str:
        return await finish_in_thread(self._api_token.value)

    async def rotate_api_token(self) -> str:
        token = await finish_in_thread(self._api_token.rotate)
        self._door().forget_programs()
        return token
