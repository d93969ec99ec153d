"""A proxy of confined servers with DNS and an environment of the test's, what speaks to it, and what listens behind it."""

import asyncio
import base64
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.confinement.destinations import Address
from tooltray.servers.confinement.host_proxies import HostProxies, ProxyDoor
from tooltray.servers.confinement.launch_line import Policy
from tooltray.servers.confinement.outward import Outward
from tooltray.servers.confinement.refusals import Refusals

PATIENCE_S = 20.0
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Proxied:
    """The proxies of a hub; `dns` says what names mean, `environ` is the person's."""

    def __init__(self, folder: Path, request_s: float) -> None:
        self.bus, self.tasks = EventBus(), TaskKeeper()
        self.dns: dict[str, list[str]] = {}
        self.environ: dict[str, str] = {}
        self.asked: list[str] = []
        self.noted: list[str] = []
        self.config = McpConfHelper(folder / "settings.json", self.bus)
        self.refusals = Refusals(bus=self.bus, spawn=self.tasks.spawn)
        self.proxies = HostProxies(
            config=self.config,
            outward=Outward(self._environ, resolve=self._resolve),
            refusals=self.refusals,
            note=self.noted.extend,
            bus=self.bus,
            spawn=self.tasks.spawn,
            request_s=request_s,
        )

    async def door(self, *hosts: str, server: str = "s") -> ProxyDoor:
        self.refusals.begin(server, Policy(network="proxy"))
        return await self.proxies.door(server, hosts)

    def refused(self, server: str = "s") -> list[str]:
        return [thing.name for thing in self.refusals.of(server)]

    async def _environ(self) -> dict[str, str]:
        return self.environ

    async def _resolve(self, name: str, port: int) -> list[Address]:
        self.asked.append(name)
        if name not in self.dns:
            raise OSError("no such name")
        return [ipaddress.ip_address(each) for each in self.dns[name]]


@asynccontextmanager
async def proxied(folder: Path, *, request_s: float = PATIENCE_S) -> AsyncIterator[Proxied]:
    made = Proxied(folder, request_s)
    try:
        yield made
    finally:
        await made.proxies.close()
        await made.tasks.close()


@asynccontextmanager
async def listening(serve: Serve, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A listener that serves each connection and then closes it; gives its port."""
    tasks = TaskKeeper()

    async def whole(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.spawn(whole(reader, writer), name="served")

    listener = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        await tasks.close()


def authorized(door: ProxyDoor) -> str:
    """The header by which the server of a door is known."""
    user = door.variables["http_proxy"].removeprefix("http://").partition("@")[0]
    return f"Proxy-Authorization: Basic {base64.b64encode(user.encode()).decode()}\r\n"


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What still comes; nothing of a connection that is cut."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read()
    except ConnectionError:
        return b""


async def said(door: ProxyDoor, request: bytes) -> bytes:
    """All that a door answers to a request, after which nothing more is sent."""
    async with connected(door.port) as (reader, writer):
        writer.write(request)
        return await rest(reader)


async def tunnelled(door: ProxyDoor, authority: str) -> bytes:
    """What a door answers who wants a tunnel."""
    return await said(door, f"CONNECT {authority} HTTP/1.1\r\n{authorized(door)}\r\n".encode())


def status(answer: bytes) -> int:
    return int(answer.split(b" ")[1])
