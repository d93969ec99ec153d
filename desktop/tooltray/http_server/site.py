"""One bound socket that answers HTTP: opened, told to take nothing more, closed.

Above it: the applications (http_app, served). Below it: aiohttp. Knows no path and nobody who asks.
"""

import logging
import socket
from collections.abc import Awaitable, Callable

from aiohttp import HttpVersion11, web
from aiohttp.http import HttpProcessingError

from tooltray.http_server.acceptor import Acceptor

BACKLOG = 128  # connections that were not accepted yet
RESPONSES_END_WITHIN_S = 1.0  # twice at most: what was answered is read by then, and who does not read is cut off
MAX_HEADER_BYTES = 65536  # modern clients repeat arguments in headers
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    b"too many connections or files are open in Tooltray\n"
)
IDLE_CONNECTION_S = 75.0  # clients keep one for the next request


class HttpSite:
    """Belongs to the engine's loop; `close` may be called twice."""

    def __init__(self, application: web.Application) -> None:
        application.on_response_prepare.append(_say_nothing_of_us)
        self._acceptor: Acceptor | None = None
        self._runner = web.AppRunner(
            application,
            access_log=None,
            handle_signals=False,
            handler_cancellation=True,  # a client that leaves ends what waits for it
            shutdown_timeout=RESPONSES_END_WITHIN_S,
            keepalive_timeout=IDLE_CONNECTION_S,
            max_field_size=MAX_HEADER_BYTES,
            logger=_logger(),
            auto_decompress=False,  # bodies have their real size, and one that is broken breaks nothing
        )

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._runner.setup()
        assert self._runner.server
        self._acceptor = Acceptor(place, self._runner.server, backlog=BACKLOG, too_many=_TOO_MANY)

    async def stop_taking(self) -> None:
        """Takes no connection any more, and no request on those that are idle; responses go on. May be called twice."""
        if self._acceptor:
            self._acceptor.close()

    async def close(self) -> None:
        """Ends the connections; what was answered is still read, for a bounded time."""
        await self.stop_taking()
        await self._runner.cleanup()


def _logger() -> logging.Logger:
    """For what the HTTP library finds wrong."""
    logger = logging.getLogger(f"{__name__}.requests")
    if _is_our_fault not in logger.filters:
        logger.addFilter(_is_our_fault)
    return logger


def _is_our_fault(record: logging.LogRecord) -> bool:
    """Not where a client sends what is no HTTP, which is answered with 400: anybody could fill the log, and a token may stand in it."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def answer_all_else(application: web.Application, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
    """Every request that no route before this one fits is for `handler`; also one whose target is no path (`OPTIONS *`)."""
    rest = _Everything("/")
    application.router.register_resource(rest)
    rest.add_route("*", handler, expect_handler=expect)


class _Everything(web.PlainResource):
    async def resolve(self, request: web.Request) -> tuple[web.UrlMappingMatchInfo | None, set[str]]:
        return web.UrlMappingMatchInfo({}, next(iter(self))), set()


async def expect(request: web.Request) -> web.StreamResponse | None:
    """Asks for the body where the client waits for that; its request is answered whatever else it expects, which nobody knows here."""
    if request.version >= HttpVersion11 and request.headers["Expect"].lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the real response begins at its beginning
    return None


async def _say_nothing_of_us(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
