"""The ways into a hub: its two local sockets, its HTTP endpoints, and the addresses of served configs; and the open sessions."""

from tooltray.carriers.mcp import bridge_listener
from tooltray.carriers.mcp.connection import CONTROL
from tooltray.carriers.mcp.http_listener import HttpListener
from tooltray.carriers.mcp.served.served_listener import ServedListener
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.foundation.home.home import Home


class Doors:
    """All ways in. `open` once; the sessions are ended between `stop_taking` and `close`."""

    def __init__(self, *, home: Home, sessions: Sessions, http: HttpListener, served: ServedListener) -> None:
        """
        Args:
            home: the place of the local sockets.
        """
        self.sessions, self.http, self.served = sessions, http, served
        self._home = home
        self._listeners: list[bridge_listener.Listener] = []

    async def open(self) -> None:
        """
        Raises:
            TooltrayError: a socket cannot be opened, or a given config cannot be served.
        """
        await self._open_sockets()
        await self.http.follow()
        await self.served.start()

    async def _open_sockets(self) -> None:
        """Opens the control socket first: a command that finds the other socket then finds this one, too.

        The other socket serves commands, too, since versions without a control socket know no other; see control/endpoints.py.
        """
        self._listeners.append(await bridge_listener.listen(self._home.control_socket, self.sessions.open, only=CONTROL))
        self._listeners.append(await bridge_listener.listen(self._home.socket, self.sessions.open))

    async def stop_taking(self) -> None:
        """Accepts no new clients; sessions continue. May be called twice, and before `open`."""
        for listener in self._listeners:
            listener.close()
        await self.http.stop_taking()
        await self.served.stop_taking()

    async def close(self) -> None:
        """Closes all ways in, in bounded time; may be called twice."""
        await self.http.close()
        await self.served.close()
