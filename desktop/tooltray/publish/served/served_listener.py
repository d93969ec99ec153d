"""The endpoint of the config that the hub was started with: open where the file says, with the servers and tokens that it names now.

Above it: the engine. Below it: ServerFiles, which has read the files; routes; served_app, imported when the first endpoint opens. What
cannot be opened at the start ends the hub, as it ends the proxy whose config it is; later it is a problem that a person is told of.
"""

import asyncio
import errno
import importlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from msgspec import Raw

from tooltray.config.files.file_server import Endpoint, FileReading
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.errors import Problem, TooltrayError
from tooltray.events import ConfigChanged, EventBus, ProblemReported, ServerFilesChanged
from tooltray.phrases import Phrase
from tooltray.publish.http_listener import base_url
from tooltray.publish.http_sessions import OpensClients
from tooltray.publish.served.routes import Address, Route, address_for
from tooltray.tasks import Spawn
from tooltray.wire.deadlines import DeadlineWheel

if TYPE_CHECKING:
    from tooltray.publish.served.served_app import ServedApp
    from tooltray.publish.served.served_server import ServedServer

EVERYWHERE = "0.0.0.0"
SERVED_APP = "tooltray.publish.served.served_app"


class Readings(Protocol):
    """What of ServerFiles is used.

    Attributes:
        endpoints: where what files ask for is open, by their paths; kept here.
    """

    endpoints: dict[str, str]

    def served(self) -> tuple[FileReading, ...]:
        """What the files say that the hub was started with, in their order."""
        ...


class Schemas(Protocol):
    """What of McpPresenter is used."""

    def tool_schema(self, name: str, server: str | None) -> Raw | None: ...


@dataclass(frozen=True)
class _Wanted:
    """What the files ask for now."""

    file: str
    endpoint: Endpoint
    address: Address
    routes: tuple[Route, ...]
    narrowed: Problem | None  # why it is to be open for this machine alone, where the file asks for more

    @property
    def place(self) -> tuple[Endpoint, str, int]:
        return self.endpoint, self.address.host, self.address.port


@dataclass(frozen=True)
class _Open:
    wanted: _Wanted
    app: "ServedApp"
    port: int


class ServedListener:
    """Belongs to the engine's loop; `close` may be called twice."""

    def __init__(
        self,
        *,
        files: Readings,
        config: McpConfHelper,
        sessions: OpensClients,
        schemas: Schemas,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
    ) -> None:
        self._files, self._config = files, config
        self._sessions, self._schemas, self._bus, self._deadlines, self._spawn = sessions, schemas, bus, deadlines, spawn
        self._lock = asyncio.Lock()
        self._kept: dict[str, Endpoint] = {}  # of files that are not understood now, as they were when they were
        self._open: _Open | None = None
        self._tried: _Wanted | None = None
        self._problem: Problem | None = None
        self._is_closed = False

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Why it is not open, or not as the file asks for."""
        return tuple(problem for problem in (self._tried and self._tried.narrowed, self._problem) if problem)

    @property
    def said(self) -> tuple[str, ...]:
        """What a person who started the hub should read: where it is open, and what is not as the file asks for."""
        return tuple(self._where()) + tuple(str(problem) for problem in self.problems)

    def url(self, file: str) -> str:
        """Where a file's servers are, each at its name below; empty: nowhere."""
        if not self._open or self._open.wanted.file != file:
            return ""
        wanted = self._open.wanted
        return base_url(wanted.address.host or EVERYWHERE, self._open.port) + wanted.endpoint.base_path

    async def start(self) -> None:
        """Opens what the files ask for, and follows them from now on.

        Raises:
            TooltrayError: it cannot be opened; says why and what to do.
        """
        if not self._files.served():
            return  # the hub was started with none
        await self.follow()
        if self._problem:
            raise TooltrayError(self._problem.title, self._problem.message, self._problem.hint)
        self._bus.subscribe(ServerFilesChanged, lambda event: self._on_changed())
        self._bus.subscribe(ConfigChanged, lambda event: self._on_changed())
        self._on_changed()  # they may have changed meanwhile

    async def follow(self) -> None:
        """Does what the files say now."""
        async with self._lock:
            wanted = self._wanted()
            if wanted == self._tried or self._is_closed:
                return
            told, self._tried, self._problem = self.problems, wanted, None
            if wanted and wanted.narrowed and wanted.narrowed not in told:
                self._tell(wanted.narrowed)
            if self._open and wanted and self._open.wanted.place == wanted.place:
                await self._open.app.follow(wanted.routes)
                self._open = _Open(wanted, self._open.app, self._open.port)
            else:
                await self._shut()
                if wanted:
                    await self._try_to_open(wanted)
            self._tell_where()

    async def stop_taking(self) -> None:
        """Takes no new clients; what is open goes on."""
        if self._open:
            await self._open.app.stop_taking()

    async def close(self) -> None:
        """Bounded; may be called twice."""
        self._is_closed = True
        async with self._lock:
            await self._shut()

    # following the files

    def _on_changed(self) -> None:
        if not self._is_closed:
            self._spawn(self.follow(), name="served config")

    def _tell_where(self) -> None:
        endpoints = {self._open.wanted.file: self.url(self._open.wanted.file)} if self._open else {}
        if endpoints != self._files.endpoints:
            self._files.endpoints = endpoints
            self._bus.publish(ServerFilesChanged())

    def _tell(self, problem: Problem) -> None:
        self._bus.publish(ProblemReported(problem))

    def _wanted(self) -> _Wanted | None:
        found = next(self._endpoints(), None)
        if found is None:
            return None
        file, endpoint = found
        routes = tuple(self._routes(file))
        address = address_for(endpoint, routes)
        return _Wanted(file, endpoint, address, routes, _kept_here(file, endpoint, address) if address.open_to_all else None)

    def _endpoints(self) -> Iterator[tuple[str, Endpoint]]:
        for reading in self._files.served():
            if reading.endpoint:
                self._kept[reading.path] = reading.endpoint
            elif reading.is_understood:
                self._kept.pop(reading.path, None)
            if endpoint := self._kept.get(reading.path):
                yield reading.path, endpoint

    def _routes(self, file: str) -> Iterator[Route]:
        for name, config in self._config.settings.mcp_servers.items():
            server = self._config.file_server(name)
            if server and (server.origin, server.file) == ("served", file) and not config.disable:
                tokens = server.entry.tokens
                yield Route(server.entry.name, name, needs_token=bool(tokens), tokens=tokens)

    # opening

    async def _try_to_open(self, wanted: _Wanted) -> None:
        try:
            place = await asyncio.to_thread(_bind, wanted.file, wanted.address.host, wanted.address.port)
        except TooltrayError as error:
            self._problem = error.problem
            self._tell(error.problem)
            return
        try:
            self._open = await self._serve(wanted, place)
        except BaseException:
            place.close()
            raise

    async def _serve(self, wanted: _Wanted, place: socket.socket) -> _Open:
        await asyncio.to_thread(importlib.import_module, SERVED_APP)  # the loop would stand still for as long as that takes
        from tooltray.publish.served.served_app import ServedApp

        port = place.getsockname()[1]
        app = ServedApp(wanted.endpoint, host=wanted.address.host, port=port, make_server=self._make_server)
        await app.follow(wanted.routes)
        await app.open(place)
        return _Open(wanted, app, port)

    def _make_server(self, server: str) -> "ServedServer":
        from tooltray.publish.served.served_server import ServedServer

        schema = self._schemas.tool_schema
        return ServedServer(server, opens=self._sessions, tool_schema=schema, deadlines=self._deadlines, spawn=self._spawn)

    async def _shut(self) -> None:
        before, self._open = self._open, None
        if before:
            await before.app.close()

    def _where(self) -> Iterator[str]:
        if not self._open:
            return
        wanted = self._open.wanted
        yield f"Serves {wanted.file} at:"
        for route in wanted.routes:
            remark = " (asks for a token)" if route.needs_token else ""
            yield f"  {self.url(wanted.file)}/{quote(route.path)}/{remark}"


def _kept_here(file: str, endpoint: Endpoint, address: Address) -> Problem:
    title = Phrase("the endpoint of {file} is open to this machine alone", file=file)
    where = (
        Phrase("{host}, port {port}", host=endpoint.host, port=endpoint.port)
        if endpoint.host
        else Phrase("port {port}", port=endpoint.port)
    )
    names = ", ".join(address.open_to_all)
    message = Phrase("it asks to be open to others too ({where}), but these have no token: {names}", where=where, names=names)
    return Problem(title, message, Phrase("Give each of its servers authTokens, or all of them in the options of mcpProxy."))


def _bind(file: str, host: str, port: int) -> socket.socket:
    """Blocks while a name is looked up.

    Raises:
        TooltrayError: it cannot be opened there; says why, and what to do.
    """
    try:
        place = _everywhere(port) if not host else _at(host.strip("[]"), port)
        place.setblocking(False)
        return place
    except (OSError, UnicodeError) as error:
        raise cannot_open(file, host, port, error) from None


def _everywhere(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def _at(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(address, family=family)


def cannot_open(file: str, host: str, port: int, error: Exception) -> TooltrayError:
    """Why a file's address could not be opened, in words, and what to do."""
    title, number = Phrase("the endpoint of {file} is not open", file=file), getattr(error, "errno", None)
    hint = Phrase("Name another place in its mcpProxy: addr")
    if number == errno.EADDRINUSE:
        return TooltrayError(title, Phrase("another program has port {port}", port=port), hint)
    if number == errno.EACCES:
        return TooltrayError(title, Phrase("this user may not open port {port}", port=port), hint)
    reason = getattr(error, "strerror", None) or str(error)
    return TooltrayError(title, Phrase("{host}, port {port}: {reason}", host=host, port=port, reason=reason), hint)
