"""The ways into a hub: its local socket, its HTTP endpoints, and the addresses of served configs; and who has come in.

Above it: the engine. Below it: bridge_listener, HttpListener, ServedListener and Sessions.
"""

import os
from pathlib import Path

from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.access.trusted_tokens import TrustedTokens
from tooltray.activity.structured_log import StructuredLog
from tooltray.control.control_session import HubControl
from tooltray.downstream import bridge_listener
from tooltray.downstream.http_listener import HttpListener
from tooltray.downstream.served.served_listener import ServedListener
from tooltray.downstream.served.served_tokens import ServedTokens
from tooltray.downstream.sessions import Sessions
from tooltray.presenter.hub_base import HubBase
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.server_files.server_files import ServerFiles
from tooltray.sessions.session_state import SessionStates


class Doors:
    """All ways in. `open` once; the sessions are ended between `stop_taking` and `close`."""

    def __init__(self, *, socket: Path, sessions: Sessions, http: HttpListener, served: ServedListener) -> None:
        """
        Args:
            socket: where the local socket is to be.
        """
        self.sessions, self.http, self.served = sessions, http, served
        self._socket = socket
        self._listener: bridge_listener.Listener | None = None

    async def open(self) -> None:
        """
        Raises:
            TooltrayError: the socket cannot be opened, or a config that was named not be served.
        """
        self._listener = await bridge_listener.listen(self._socket, self.sessions.open)
        await self.http.follow()
        await self.served.start()

    async def stop_taking(self) -> None:
        """Takes no new clients; sessions go on. May be called twice, and before `open`."""
        if self._listener:
            self._listener.close()
        await self.http.stop_taking()
        await self.served.stop_taking()

    async def close(self) -> None:
        """Bounded; may be called twice."""
        await self.http.close()
        await self.served.close()


def make_doors(
    *,
    base: HubBase,
    presenter: McpPresenter,
    states: SessionStates,
    files: ServerFiles,
    tokens: ClientTokens,
    api_tokens: ApiTokens,
    trusted: TrustedTokens,
    log: StructuredLog,
    control: HubControl,
) -> Doors:
    """For arguments see Sessions, HttpListener and ServedListener."""
    sessions = Sessions(
        presenter=presenter,
        states=states,
        bus=base.bus,
        deadlines=base.deadlines,
        log=log,
        control=control,
    )
    http = HttpListener(
        config=base.config,
        tokens=tokens,
        api_tokens=api_tokens,
        trusted=trusted,
        sessions=sessions,
        presenter=presenter,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
    )
    served = ServedListener(
        files=files,
        config=base.config,
        tokens=ServedTokens(base.secrets, os.environ),
        sessions=sessions,
        schemas=presenter,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
    )
    return Doors(socket=base.home.socket, sessions=sessions, http=http, served=served)
