"""The proxies of servers that may reach only some hosts: one for each server, at a port of its own.

Changed hosts in the settings take effect at once, also for running servers. A server has a port of its own because Landlock can restrict a
process to ports, but not to addresses or paths. Its token is for systems on which other processes can reach the port, too. The token is
only in the server's environment.

A connection carries one request, which is read, judged, and relayed. The name in the request counts: the content of a tunnel (TLS and its
server name) is not inspected, so a listed host that serves others under their names serves them here, too.
"""

import asyncio
import base64
import contextlib
import hmac
import logging
from collections.abc import Callable, Collection, Mapping
from functools import partial
from http import HTTPStatus
from secrets import token_hex
from typing import ClassVar

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ServerRemoved
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn, TaskKeeper
from tooltray.servers.confinement.destinations import Destination, HostList
from tooltray.servers.confinement.outward import HostRefused, Outward
from tooltray.servers.confinement.proxy_requests import MAX_HEAD_BYTES, ProxyRequest, pass_all, pass_body, read_request, relay_tunnel
from tooltray.servers.confinement.refusals import Refusals

REQUEST_S = 30.0  # from the connection to the end of the request's head; browsers connect some seconds before they ask
LINGER_S = 1.0  # a refused body is read for this long, so that the answer is not lost with it
MADE = b"HTTP/1.1 200 Connection established\r\n\r\n"
USER = "tooltray"

logger = logging.getLogger(__name__)


class Refusal(Exception):
    """An error: a request is not relayed; with the status and reason of the response."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        """
        Args:
            reason: in ASCII, in one line; many programs show only this part of the answer.
        """
        super().__init__()
        self.status, self.reason = status, reason


def credentials(token: str) -> str:
    """Returns the value that the header Proxy-Authorization must have."""
    return "Basic " + base64.b64encode(f"{USER}:{token}".encode()).decode()


class ProxyConnection:
    """A connection of one server; belongs to one task, which calls `run`.

    Attributes:
        destination: the requested host and port; None before the request is read.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        token: str,
        hosts: Callable[[], HostList],
        outward: Outward,
        refused: Callable[[Destination], None],
        request_s: float,
    ) -> None:
        """
        Args:
            token: the server's password, which no other process knows.
            hosts: returns the hosts that are allowed at this moment.
            refused: called with each destination that is not listed.
        """
        self._reader, self._writer, self._token = reader, writer, token
        self._hosts, self._outward, self._refused, self._request_s = hosts, outward, refused, request_s
        self._further: asyncio.StreamWriter | None = None
        self.destination: Destination | None = None

    def cut(self) -> None:
        """Ends the connection at once."""
        for writer in filter(None, (self._writer, self._further)):
            writer.transport.abort()

    async def run(self) -> None:
        try:
            await self._serve()
        except Refusal as refusal:
            await self._answer(refusal)
        except (OSError, EOFError):  # one side is gone
            pass
        finally:
            for writer in filter(None, (self._writer, self._further)):
                writer.close()

    async def _serve(self) -> None:
        request = await self._request()
        self.destination = request.destination
        try:
            opened = await self._outward.open(request, self._hosts())
        except HostRefused as refused:
            raise self._not_listed(refused.destination) from None
        except (OSError, EOFError, ValueError, TooltrayError):  # UnicodeError, a name that DNS cannot have, is a ValueError
            raise Refusal(HTTPStatus.BAD_GATEWAY, f"{request.destination} cannot be reached") from None
        further_reader, self._further = opened.streams
        if request.is_tunnel:
            self._writer.write(MADE)
            await relay_tunnel((self._reader, self._writer), opened.streams)
            return
        self._further.write(opened.head)
        async with asyncio.TaskGroup() as group:  # keeps its tasks and ends them together, so that TaskKeeper is not needed
            body = group.create_task(self._send_body(request, self._further))
            with contextlib.suppress(OSError):
                await pass_all(further_reader, self._writer)
            body.cancel()

    async def _request(self) -> ProxyRequest:
        try:
            async with asyncio.timeout(self._request_s):
                head = await self._reader.readuntil(b"\r\n\r\n")
            request = read_request(head)
        except TimeoutError:
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "the request was not received") from None
        except asyncio.LimitOverrunError:
            raise Refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too long") from None
        except ValueError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, str(error)) from None
        if not hmac.compare_digest(request.authorization.encode(), credentials(self._token).encode()):
            raise Refusal(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, "use the proxy variables that this server was started with")
        if not self._hosts().allows(request.destination):
            raise self._not_listed(request.destination)
        return request

    def _not_listed(self, destination: Destination) -> Refusal:
        self._refused(destination)
        return Refusal(HTTPStatus.FORBIDDEN, f"Tooltray lets this server reach only its listed hosts, and {destination} is not among them")

    async def _send_body(self, request: ProxyRequest, further: asyncio.StreamWriter) -> None:
        try:
            await pass_body(self._reader, further, request.length)
        except (OSError, EOFError, ValueError):  # the server is gone, or sends an invalid body
            self.cut()

    async def _answer(self, refusal: Refusal) -> None:
        text = f"{refusal.reason}\n".encode()
        lines = [
            f"HTTP/1.1 {refusal.status.value} {refusal.reason}",
            *([f'Proxy-Authenticate: Basic realm="{USER}"'] if refusal.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else []),
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(text)}",
            "Connection: close",
        ]
        with contextlib.suppress(OSError):
            self._writer.write("\r\n".join([*lines, "", ""]).encode() + text)
            self._writer.write_eof()
            async with asyncio.timeout(LINGER_S):
                while await self._reader.read(64 * 1024):
                    pass


MAX_CONNECTIONS = 200  # for one server; a browser opens 6 to one host and 256 in all
LOOPBACK = "127.0.0.1"


class ProxyDoor(HidesFields, frozen=True):
    """The access of one server to its proxy.

    Attributes:
        port: of 127.0.0.1.
        variables: for the server's process; they replace the user's and the entry's own.
    """

    hidden: ClassVar = ("variables",)

    port: int
    variables: Mapping[str, str]


def proxy_variables(port: int, token: str) -> dict[str, str]:
    """Returns the variables that make programs use a proxy: in both spellings, since curl reads one and Go the other; Node.js and npm have
    names of their own."""
    url = f"http://{USER}:{token}@{LOOPBACK}:{port}"
    names = ("http_proxy", "https_proxy", "all_proxy")
    urls = dict.fromkeys((*names, *map(str.upper, names), "npm_config_proxy", "npm_config_https_proxy"), url)
    return {**urls, "no_proxy": "", "NO_PROXY": "", "NODE_USE_ENV_PROXY": "1"}


class _Door:
    """The proxy of one server."""

    def __init__(self, server: str, *, refused: Callable[[Destination], None], outward: Outward, request_s: float) -> None:
        self._server, self._refused, self._outward, self._request_s = server, refused, outward, request_s
        self.token = token_hex(16)
        self.hosts = HostList(())
        self._tasks = TaskKeeper()
        self._connections: set[ProxyConnection] = set()
        self._listener: asyncio.Server | None = None

    async def open(self) -> None:
        """Opens the port.

        Raises:
            OSError: no port is free.
        """
        self._listener = await asyncio.start_server(self._on_connected, LOOPBACK, 0, limit=MAX_HEAD_BYTES)

    @property
    def port(self) -> int:
        assert self._listener is not None, "open first"
        return int(self._listener.sockets[0].getsockname()[1])

    def use(self, hosts: Collection[str]) -> None:
        """Sets the hosts at once: connections to a host that is not listed any more end."""
        self.hosts = HostList(hosts)
        for connection in self._connections:
            if connection.destination and not self.hosts.allows(connection.destination):
                connection.cut()

    def _on_connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= MAX_CONNECTIONS:
            writer.transport.abort()
            return
        connection = ProxyConnection(
            reader,
            writer,
            token=self.token,
            hosts=lambda: self.hosts,
            outward=self._outward,
            refused=self._refused,
            request_s=self._request_s,
        )
        self._connections.add(connection)
        task = self._tasks.spawn(connection.run(), name=f"proxy of {self._server}")
        task.add_done_callback(lambda task: self._connections.discard(connection))

    async def close(self) -> None:
        assert self._listener is not None, "open first"
        self._listener.close()
        await self._tasks.close()


class HostProxies:
    """The proxies of all servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        outward: Outward,
        refusals: Refusals,
        note: Callable[[Collection[str]], None],
        bus: EventBus,
        spawn: Spawn,
        request_s: float = REQUEST_S,
    ) -> None:
        """
        Args:
            note: masks values in logs from now on.
            request_s: seconds within which a request has to arrive.
        """
        self._outward, self._refusals, self._request_s = outward, refusals, request_s
        self._config, self._note, self._spawn = config, note, spawn
        self._doors: dict[str, _Door] = {}
        self._opening = asyncio.Lock()
        bus.subscribe(ServerRemoved, self._on_removed)
        bus.subscribe(ConfigChanged, self._on_config_changed)

    async def door(self, server: str, hosts: Collection[str]) -> ProxyDoor:
        """Returns the proxy of a server; it stays at its port until it is closed, whatever hosts are given later.

        Args:
            hosts: the hosts that the server may reach from now on, as its entry lists them.

        Raises:
            TooltrayError: no port is free.
        """
        async with self._opening:
            door = self._doors.get(server) or await self._opened(server)
            self._doors[server] = door
        door.use(hosts)
        return ProxyDoor(door.port, proxy_variables(door.port, door.token))

    async def _opened(self, server: str) -> _Door:
        door = _Door(server, refused=partial(self._on_refused, server), outward=self._outward, request_s=self._request_s)
        try:
            await door.open()
        except OSError as error:
            title = Phrase("'{name}' cannot be given its hosts: no port is free", name=server)
            raise TooltrayError(title, error.strerror or str(error)) from None
        self._note([door.token])
        return door

    async def close_door(self, server: str) -> None:
        """Closes the proxy of a server, if it has one."""
        if door := self._doors.pop(server, None):
            await door.close()

    async def close(self) -> None:
        for server in list(self._doors):
            await self.close_door(server)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        for server, door in self._doors.items():
            if config := self._config.settings.mcp_servers.get(server):
                door.use(config.confinement.hosts if config.confinement.network == "hosts" else ())

    def _on_removed(self, event: ServerRemoved) -> None:
        self._spawn(self.close_door(event.name), name=f"end proxy of {event.name}")

    def _on_refused(self, server: str, destination: Destination) -> None:
        logger.info("'%s' was blocked from reaching %s", server, destination)
        self._refusals.host(server, str(destination))
