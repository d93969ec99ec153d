"""One bound socket that answers HTTP: opened, told to take nothing more, closed.

Above it: the applications (http_app, served). Below it: aiohttp. Knows no path and nobody who asks.
"""

import socket

from aiohttp import web

BACKLOG = 128  # connections that were not accepted yet
RESPONSES_END_WITHIN_S = 1.0  # twice at most: what was answered is read by then, and who does not read is cut off
MAX_HEADER_BYTES = 65536  # modern clients repeat arguments in headers
IDLE_CONNECTION_S = 75.0  # clients keep one for the next request


class HttpSite:
    """Belongs to the engine's loop; `close` may be called twice."""

    def __init__(self, application: web.Application) -> None:
        application.on_response_prepare.append(_say_nothing_of_us)
        self._site: web.SockSite | None = None
        self._runner = web.AppRunner(
            application,
            access_log=None,
            handle_signals=False,
            handler_cancellation=True,  # a client that leaves ends what waits for it
            shutdown_timeout=RESPONSES_END_WITHIN_S,
            keepalive_timeout=IDLE_CONNECTION_S,
            max_field_size=MAX_HEADER_BYTES,
            auto_decompress=False,  # bodies have their real size, and one that is broken breaks nothing
        )

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._runner.setup()
        self._site = web.SockSite(self._runner, place, backlog=BACKLOG)
        await self._site.start()

    async def stop_taking(self) -> None:
        """Takes no connection any more, and no request on those that are idle; responses go on. May be called twice."""
        site, self._site = self._site, None
        if site:
            await site.stop()

    async def close(self) -> None:
        """Ends the connections; what was answered is still read, for a bounded time."""
        await self.stop_taking()
        await self._runner.cleanup()


async def _say_nothing_of_us(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
