"""What a request waits for until it is known on which folder its session works, and which servers there are because of that.

Above it: RequestRouter. Below it: Projects, and whoever reads the files of folders.
"""

from collections.abc import Awaitable, Callable

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.caller import MAY_ASK, Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.sources.projects.projects import Projects


class ProjectWaits:
    """Has no state of its own."""

    def __init__(self, *, tools: ToolManager, projects: Projects, look_at_project: Callable[[Session], Awaitable[None]]) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._tools, self._projects, self._look_at_project = tools, projects, look_at_project

    async def before_listing(self, exchange: Exchange) -> None:
        """The first lists of a session have the servers of its project."""
        await self._look_at_project(exchange.session)
        if exchange.request.method == "tools/list":
            await self._projects.before_listing(exchange.session, exchange.server)

    async def question(self, exchange: Exchange) -> Envelope | None:
        """What a modern client is asked before a request of it is answered; None: nothing."""
        if exchange.request.method not in MAY_ASK:
            return None
        target = self._tools.target(exchange.head.name, exchange.server) if exchange.request.method == "tools/call" else None
        return await self._projects.rounds.before(exchange, target[0] if target else exchange.server)
