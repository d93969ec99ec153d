"""An aiohttp application on one bound socket. The module knows no paths and no clients."""

import asyncio
import logging
import socket
import sys
from collections.abc import Awaitable, Callable

from aiohttp import HttpVersion11, web
from aiohttp.http import HttpProcessingError

from tooltray.carriers.http_server.acceptor import Acceptor, Strangers

BACKLOG = 128  # connections that wait to be accepted
RESPONSES_END_WITHIN_S = 1.0  # applied at most twice: clients read their responses by then, and others are disconnected
MAX_HEADER_BYTES = 65536  # modern MCP clients repeat arguments in headers
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    b"Tooltray has too many HTTP connections or files open (ulimit -n)\n"
)
IDLE_CONNECTION_S = 75.0  # clients keep a connection for the next request


class HttpSite:
    """An application that serves a socket. Belongs to the engine's loop; `close` may be called twice."""

    def __init__(self, application: web.Application, strangers: Strangers | None = None) -> None:
        """
        Args:
            strangers: counts connections until a request of theirs is welcome; None: no request shows who sends it.
        """
        self._strangers = strangers
        application.on_response_prepare.append(_say_nothing_of_us)
        self._acceptor: Acceptor | asyncio.Server | None = None
        self._runner = web.AppRunner(
            application,
            access_log=None,
            handle_signals=False,
            handler_cancellation=True,  # a client that disconnects cancels its handler
            shutdown_timeout=RESPONSES_END_WITHIN_S,
            keepalive_timeout=IDLE_CONNECTION_S,
            max_field_size=MAX_HEADER_BYTES,
            logger=_logger(),
            auto_decompress=False,  # no decompression bombs, and no errors by broken bodies
        )

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        await self._runner.setup()
        assert self._runner.server
        if sys.platform == "win32":  # Windows has enough handles, and its loop cannot wait until a socket is ready
            self._acceptor = await asyncio.get_running_loop().create_server(self._runner.server, sock=place, backlog=BACKLOG)
        else:
            self._acceptor = Acceptor(place, self._runner.server, backlog=BACKLOG, too_many=_TOO_MANY, strangers=self._strangers)

    async def stop_taking(self) -> None:
        """Stops accepting connections; responses in progress continue. May be called twice."""
        if self._acceptor:
            self._acceptor.close()

    async def close(self) -> None:
        """Ends the connections after clients had a bounded time to read their responses."""
        await self.stop_taking()
        await self._runner.cleanup()
        if self._strangers:
            self._strangers.close()


def _logger() -> logging.Logger:
    """Returns the logger for aiohttp's errors, with a filter for malformed requests."""
    logger = logging.getLogger(f"{__name__}.requests")
    if _is_our_fault not in logger.filters:
        logger.addFilter(_is_our_fault)
    return logger


def _is_our_fault(record: logging.LogRecord) -> bool:
    """Reports whether to log a record: not for malformed requests (400), which could fill the log and contain tokens."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def answer_all_else(application: web.Application, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
    """Registers `handler` for all requests without another route, also for a target that is not a path (`OPTIONS *`, `CONNECT host:1`)."""
    router = application.router
    route, known = router.add_route("*", "/", handler, expect_handler=expect), router.resolve

    async def resolve(request: web.Request) -> web.UrlMappingMatchInfo:
        found = await known(request)
        return found if found.http_exception is None else web.UrlMappingMatchInfo({}, route)

    router.resolve = resolve  # type: ignore[method-assign]  # no resource is asked about a target without a path


async def expect(request: web.Request) -> web.StreamResponse | None:
    """Sends `100 Continue` if the client waits for it; other expectations are ignored, as none is known."""
    if request.version >= HttpVersion11 and request.headers["Expect"].lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # aiohttp must not take the final response for one already begun
    return None


async def _say_nothing_of_us(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
