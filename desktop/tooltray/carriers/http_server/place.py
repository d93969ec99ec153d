"""The life cycle of one HTTP address: opened, moved and closed as wanted, or the problem why it could not be opened.

The module knows no settings, no files and no HTTP library.
"""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from tooltray.carriers.http_server.guard import is_everywhere
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.phrases import Phrase


class Application(Protocol):
    """The application that serves an open address."""

    async def open(self, place: socket.socket) -> None:
        """Serves on a bound socket."""
        ...

    async def stop_taking(self) -> None:
        """Stops accepting clients; may be called twice."""
        ...

    async def close(self) -> None:
        """Ends all connections in bounded time; may be called twice."""
        ...


Wanted = TypeVar("Wanted")
App = TypeVar("App", bound=Application)
HostAndPort = tuple[str | None, int]
"""Host and port. Host None means all addresses of this machine, port 0 any free port."""


class NotBound(Exception):
    """The failure to bind an address.

    Attributes:
        number: the errno, if there is one.
        reason: a text for users.
    """

    def __init__(self, host: str | None, port: int, error: Exception) -> None:
        self.number: int | None = getattr(error, "errno", None)
        self.reason = _reason(host, port, error)
        super().__init__(self.reason)


class HttpPlace(Generic[Wanted, App]):
    """An address that is opened, moved and closed. Belongs to the engine's loop. Changes hold its `lock`, so that one follows another.

    Attributes:
        wanted: the last wanted state, even if it could not be opened; None if nothing is to be open.
        app: the application that is open now; None if nothing is open.
        base_url: its URL without a path; empty if nothing is open.
        problem: why the wanted address could not be opened.
        is_closed: whether it is closed for good.
    """

    def __init__(
        self,
        *,
        address: Callable[[Wanted], HostAndPort],
        make_app: Callable[[Wanted, int], Awaitable[App]],
        cannot_open: Callable[[Wanted, NotBound], TooltrayError],
        bus: EventBus,
        on_leaving: Callable[[App], Awaitable[None]] | None = None,
    ) -> None:
        """
        Args:
            address: returns the address for a wanted state; raises TooltrayError if it must not be opened.
            make_app: makes the application for the bound port.
            cannot_open: turns the failure into an error for users, with a hint.
            on_leaving: called after `stop_taking` and before `close` of the application.
        """
        self._address, self._make_app, self._cannot_open, self._bus = address, make_app, cannot_open, bus
        self._on_leaving = on_leaving
        self.lock = asyncio.Lock()
        self.wanted: Wanted | None = None
        self.app: App | None = None
        self.base_url = ""
        self.problem: Problem | None = None
        self.is_closed = self._is_ending = False

    def is_as(self, wanted: Wanted | None, *, is_retry: bool = False) -> bool:
        """Reports whether the place is already in the wanted state.

        Args:
            is_retry: whether to try again what failed before; another program may have freed the port.
        """
        return self.is_closed or (wanted == self.wanted and not (is_retry and self.problem))

    async def move(self, wanted: Wanted | None) -> None:
        """Closes the open address and opens the wanted one; a failure is stored in `problem` and published."""
        self.wanted, self.problem = wanted, None
        await self._leave()
        if wanted is None:
            return
        try:
            await self._open(wanted)
        except TooltrayError as error:
            self.problem = error.problem
            self._bus.publish(ProblemReported(error.problem))
        except BaseException:
            self.wanted = None  # so that the next caller tries again
            raise

    async def stop_taking(self) -> None:
        """Stops accepting clients for good, also at an address that is just being opened; open connections stay."""
        self._is_ending = True
        if self.app:
            await self.app.stop_taking()

    async def close(self) -> None:
        """Closes for good, in bounded time; may be called twice."""
        self.is_closed = True
        async with self.lock:
            await self._leave()

    async def _open(self, wanted: Wanted) -> None:
        host, port = self._address(wanted)
        try:
            bound = await asyncio.to_thread(bind, host, port)
        except NotBound as failed:
            raise self._cannot_open(wanted, failed) from None
        try:
            port = bound.getsockname()[1]
            app = await self._make_app(wanted, port)
            await app.open(bound)
        except BaseException:
            bound.close()
            raise
        self.app, self.base_url = app, base_url(host, port)
        if self._is_ending:
            await app.stop_taking()

    async def _leave(self) -> None:
        app, self.app, self.base_url = self.app, None, ""
        if app:
            try:
                await app.stop_taking()
                if self._on_leaving:
                    await self._on_leaving(app)
            finally:  # no other code refers to the application any more
                await app.close()


def base_url(host: str | None, port: int) -> str:
    """Returns the URL by which a client on this machine reaches `host`."""
    name = "localhost" if host is None or is_everywhere(host) else host.strip("[]")
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def bind(host: str | None, port: int) -> socket.socket:
    """Binds a listening socket; blocks while the host is resolved.

    Raises:
        NotBound: the address cannot be bound.
    """
    try:
        bound = _everywhere(port) if host is None else _at(host.strip("[]"), port)
        bound.setblocking(False)
        return bound
    except (OSError, UnicodeError) as error:
        raise NotBound(host, port, error) from None


def _everywhere(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def _at(host: str, port: int) -> socket.socket:
    if not host:  # which Windows takes for all of its own addresses
        raise socket.gaierror(socket.EAI_NONAME, "the host is missing")
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(address, family=family)


def _reason(host: str | None, port: int, error: Exception) -> Phrase:
    number = getattr(error, "errno", None)
    if number == errno.EACCES:
        return Phrase("you are not allowed to open port {port}", port=port)
    if number == errno.EADDRINUSE:
        if host is None:
            return Phrase("another program uses port {port}", port=port)
        return Phrase("another program uses port {port} of {host}", port=port, host=host)
    reason = getattr(error, "strerror", None) or str(error)
    if host is None:
        return Phrase("port {port}: {reason}", port=port, reason=reason)
    return Phrase("{host}, port {port}: {reason}", host=host, port=port, reason=reason)
