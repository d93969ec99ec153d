"""Where each request of an AI client goes: to a list of the hub's own, to the state that clients share, or to one server.

Above it: McpPresenter, which sessions call. Below it: ToolManager and its neighbours, and Relay. A session that has one server alone
reaches it by any method, also by those that nobody here has heard of.
"""

from msgspec import Raw

from tooltray.presenter.caller import Session
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.mcp_client import McpClient
from tooltray.presenter.relay import Relay
from tooltray.presenter.server_manager import ServerManager
from tooltray.presenter.tool_manager import ToolManager
from tooltray.wire import eras
from tooltray.wire.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, failure
from tooltray.wire.eras import Era, Head

PROGRESS, ROOTS_CHANGED = "notifications/progress", "notifications/roots/list_changed"


class RequestRouter:
    """Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, relay: Relay) -> None:
        self._servers, self._tools, self._relay = servers, tools, relay

    async def answer(
        self, request: Envelope, head: Head, session: Session, held: HeldCalls, *, server: str | None, client: str
    ) -> Envelope:
        """Answers any request that is not the session's own to answer.

        Args:
            held: the session's calls that wait for an answer of its person.
            server: the session has this one alone, under its own names.
            client: who asks, for the record.
        """
        match request.method:
            case "tools/call":
                return await self._tools.call(request, head, session, held, server=server, client=client)
            case "tools/list":
                return _in_era(request.method, head.era, await self._tools.listing(server))
        if server is not None:
            return await self._answer_of(server, request, head, session, held)
        return failure(METHOD_NOT_FOUND, "Method not found", request.method)

    async def _answer_of(self, server: str, request: Envelope, head: Head, session: Session, held: HeldCalls) -> Envelope:
        managed = self._servers.find(server)
        if managed is None:
            return failure(INVALID_PARAMS, f"there is no server '{server}'")
        return await self._relay.to(managed, request, head, session, held)

    # notifications

    def take_notification(self, session: Session, method: str, params: Raw, *, server: str | None) -> None:
        """Passes on what an AI client says outside of requests, to the servers that it concerns."""
        for client in self._concerned(session, method, server):
            client.notify(method, params)

    def _concerned(self, session: Session, method: str, server: str | None) -> list[McpClient]:
        reached = [client for client in self._servers.running_clients() if client.owner in (None, session)]
        if method == PROGRESS:
            return [client for client in reached if client.is_asking(session)]
        if method == ROOTS_CHANGED:
            return [client for client in reached if client.era is Era.LEGACY and server in (None, client.name)]
        managed = self._servers.find(server) if server else None
        own = managed.client_for(Era.LEGACY if session.introduction else Era.MODERN, session) if managed else None
        return [own] if own else []


def _in_era(method: str, era: Era, result: Raw) -> Envelope:
    return Envelope(result=eras.as_modern_result(method, result) if era is Era.MODERN else result)
