"""The endpoint of the config that the hub was started with: open at the file's address, with its present servers and tokens. If it cannot
be opened at the start, the hub ends, as the proxy with this config does; later failures become problems in the window.
"""

import asyncio
import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from tooltray.carriers.http_server.place import HostAndPort, HttpPlace, NotBound
from tooltray.carriers.mcp.served_routes import Address, Route, ServedTokens, address_for
from tooltray.config.settings.file_server import Endpoint
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported, SecretsChanged, ServerFilesChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn
from tooltray.sources.project_files.server_files import ServerFiles

if TYPE_CHECKING:
    from tooltray.carriers.mcp.served_app import ServedApp


SERVED_APP = "tooltray.carriers.mcp.served_app"


class _Wanted(msgspec.Struct, frozen=True):
    """The endpoint that the files ask for now."""

    file: str
    endpoint: Endpoint
    address: Address
    routes: tuple[Route, ...]
    narrowed: Problem | None  # why it is only for this machine although the file asks for more

    @property
    def place(self) -> tuple[Endpoint, str, int]:
        """The values whose change requires opening the endpoint again."""
        return self.endpoint, self.address.host, self.address.port


MakeServed = Callable[[str], Any]
"""Makes the ServedServer of a server, by its name in the hub."""


class ServedListener:
    """The listener for the config's endpoint. Belongs to the engine's loop; `close` may be called twice."""

    def __init__(
        self,
        *,
        files: ServerFiles,
        config: McpConfHelper,
        tokens: ServedTokens,
        make_served: MakeServed,
        bus: EventBus,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            make_served: called when the endpoint opens, or gets another server.
        """
        self._files, self._config, self._tokens = files, config, tokens
        self._make_served, self._bus, self._spawn = make_served, bus, spawn
        self._place: HttpPlace[_Wanted, ServedApp] = HttpPlace(address=_address, make_app=self._make_app, cannot_open=_cannot_open, bus=bus)
        self._looking = asyncio.Lock()  # not the place's lock: the hub may end while a keyring asks the user
        self._kept: dict[str, Endpoint] = {}  # the last valid endpoints of files that are malformed now

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The reasons why the endpoint is not open, or not as the file asks for."""
        of_place = (self._place.wanted and self._place.wanted.narrowed, self._place.problem)
        return (*(problem for problem in of_place if problem), *self._tokens.problems)

    @property
    def startup_lines(self) -> tuple[str, ...]:
        """Lines for the user who starts the hub: the open address, and the problems."""
        return tuple(self._where()) + tuple(str(problem) for problem in self.problems)

    def url(self, file: str) -> str:
        """Returns the base URL of a file's servers, each of which is at its name; empty if they are not served."""
        wanted = self._opened
        return self._place.base_url + wanted.endpoint.base_path if wanted and wanted.file == file else ""

    async def start(self) -> None:
        """Opens what the files ask for, and follows them from now on.

        Raises:
            TooltrayError: it cannot be opened; the error has the reason and the remedy.
        """
        if not self._files.served():
            return  # the hub was started without such a config
        await self.follow()
        if problem := self._place.problem:
            raise TooltrayError(problem.title, problem.message, problem.hint)
        self._bus.subscribe(SecretsChanged, self._on_secrets_changed)
        self._bus.subscribe(ServerFilesChanged, lambda event: self._on_changed())
        self._bus.subscribe(ConfigChanged, lambda event: self._on_changed())
        self._on_changed()  # the files may have changed meanwhile

    async def follow(self) -> None:
        """Applies the present files."""
        async with self._looking:
            told = self.problems
            await self._tokens.look(server.entry for server in self._config.file_servers.values() if server.origin == "served")
            for problem in self._tokens.problems:
                if problem not in told:
                    self._bus.publish(ProblemReported(problem))
        async with self._place.lock:
            told, wanted = self.problems, self._wanted()
            if self._place.is_as(wanted):
                return
            if wanted and wanted.narrowed and wanted.narrowed not in told:
                self._bus.publish(ProblemReported(wanted.narrowed))
            if wanted and self._place.app and self._opened and self._opened.place == wanted.place:
                self._place.wanted = wanted
                await self._place.app.use(wanted.routes)
            else:
                await self._place.move(wanted)
            self._tell_where()

    async def stop_taking(self) -> None:
        """Accepts no new clients; open connections stay."""
        await self._place.stop_taking()

    async def close(self) -> None:
        """Closes the endpoint within a bounded time; may be called twice."""
        await self._place.close()

    # following the files

    def _on_secrets_changed(self, event: SecretsChanged) -> None:
        self._tokens.forget()
        if self._files.served():
            self._on_changed()

    def _on_changed(self) -> None:
        if not self._place.is_closed:
            self._spawn(self.follow(), name="served config")

    def _tell_where(self) -> None:
        endpoints = {self._opened.file: self.url(self._opened.file)} if self._opened else {}
        self._files.set_endpoints(endpoints)

    @property
    def _opened(self) -> _Wanted | None:
        """The open endpoint; None if it is closed."""
        return self._place.wanted if self._place.app else None

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
                needs_token = bool(server.entry.tokens or server.entry.secret_tokens)
                yield Route(server.entry.name, name, needs_token=needs_token, tokens=self._tokens.of(server.entry))

    # opening

    async def _make_app(self, wanted: _Wanted, port: int) -> "ServedApp":
        await asyncio.to_thread(importlib.import_module, SERVED_APP)  # importing would block the loop
        from tooltray.carriers.mcp.served_app import ServedApp

        app = ServedApp(wanted.endpoint, host=wanted.address.host, port=port, make_server=self._make_served)
        await app.use(wanted.routes)
        return app

    def _where(self) -> Iterator[str]:
        wanted = self._opened
        if not wanted:
            return
        yield f"Serves {wanted.file} at:"
        for route in wanted.routes:
            remark = " (asks for a token)" if route.needs_token else ""
            yield f"  {self.url(wanted.file)}/{quote(route.path)}/{remark}"


def _kept_here(file: str, endpoint: Endpoint, address: Address) -> Problem:
    title = Phrase("the endpoint of {file} is open only to this computer", file=file)
    where = (
        Phrase("{host}, port {port}", host=endpoint.host, port=endpoint.port)
        if endpoint.host
        else Phrase("port {port}", port=endpoint.port)
    )
    names = ", ".join(address.open_to_all)
    message = Phrase(
        "it is meant to be open to other computers too ({where}), but these servers have no token: {names}", where=where, names=names
    )
    return Problem(title, message, Phrase("Give each of its servers authTokens, or all of them in the options of mcpProxy."))


def _address(wanted: _Wanted) -> HostAndPort:
    return wanted.address.host or None, wanted.address.port


def _cannot_open(wanted: _Wanted, failed: NotBound) -> TooltrayError:
    title = Phrase("the endpoint of {file} is not open", file=wanted.file)
    return TooltrayError(title, failed.reason, Phrase("Choose another address in its mcpProxy.addr"))
