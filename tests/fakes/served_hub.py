"""A config's endpoint on a loopback port, in front of sessions that a test scripts, with readings that a test changes."""

import contextlib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from msgspec import Raw
from tests.fakes.heard import Heard
from tests.fakes.http_hub import HttpHub as Client
from tests.fakes.http_hub import ScriptedClients

from tooltray.carriers.mcp.served_app import ServedServer
from tooltray.carriers.mcp.served_listener import ServedListener
from tooltray.carriers.mcp.served_routes import ServedTokens
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.file_server import Endpoint, FileEntry, FileReading, FileServer
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.events import EventBus, ServerFilesChanged
from tooltray.foundation.home.home import Home
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel

FILE = "/configs/config.json"


def entry(name: str, *, tokens: tuple[str, ...] = (), disable: bool = False, **options: Any) -> FileEntry:
    """A server of a config."""
    return FileEntry(name, MCPServerConfig(command="run", disable=disable), {"command": "run"}, tokens=tokens, **options)


def reading(*entries: FileEntry, endpoint: Endpoint | None = None, **options: Any) -> FileReading:
    """A config as it was read; its endpoint is on any free port of this machine unless a test says otherwise."""
    return FileReading(FILE, "tbxark", "1", entries=entries, endpoint=endpoint or Endpoint("127.0.0.1", 0), **options)


class Files:
    """In the place of ServerFiles and of SessionServers.

    Attributes:
        readings: what the files say.
        endpoints: what the listener keeps there.
        schemas: of tools by name, for `Mcp-Param-*` headers.
    """

    def __init__(self) -> None:
        self.readings: tuple[FileReading, ...] = ()
        self.endpoints: Mapping[str, str] = {}
        self.schemas: dict[str, Raw] = {}

    def served(self) -> tuple[FileReading, ...]:
        return self.readings

    def set_endpoints(self, endpoints: Mapping[str, str]) -> None:
        self.endpoints = endpoints

    def tool_schema(self, name: str, server: str | None) -> Raw | None:
        return self.schemas.get(name)


@dataclass
class ServedHub:
    """What follows the files, and what it is told by them."""

    files: Files
    config: McpConfHelper
    bus: EventBus
    clients: ScriptedClients
    heard: Heard
    http: aiohttp.ClientSession
    listener: ServedListener
    secrets: SecretStore

    def now(self, *readings: FileReading, names: Mapping[str, str] | None = None) -> None:
        """The files say this now, and everybody is told.

        Args:
            names: what servers are called here, where that is not their name in the file.
        """
        called = names or {}
        self.files.readings = readings
        servers = {
            called.get(each.name, each.name): FileServer(each, file.path, "served", "") for file in readings for each in file.entries
        }
        self.config.set_file_servers(servers)
        self.bus.publish(ServerFilesChanged())

    def client(self) -> Client:
        """A client of the port that is open now."""
        parts: Any = None
        return Client(parts, self.clients, parts, self.port, self.http)

    @property
    def port(self) -> int:
        """That is open now; 0: none."""
        found = re.search(r"://[^/]*:([0-9]+)", " ".join(self.listener.startup_lines))
        return int(found[1]) if found else 0


@contextlib.asynccontextmanager
async def served_hub(
    folder: Path, *readings: FileReading, names: Mapping[str, str] | None = None, tokens: ServedTokens | None = None
) -> AsyncIterator[ServedHub]:
    """A listener that has not started, whose files say this."""
    home, bus, keeper, clients, files = Home(folder), EventBus(), TaskKeeper(), ScriptedClients(), Files()
    config = McpConfHelper(home.settings, bus)
    await config.load()
    secrets = SecretStore(home, "memory", bus=bus)
    stand_in: Any = files
    deadlines = DeadlineWheel(tick_s=0.01)

    def make_served(server: str) -> ServedServer:
        return ServedServer(server, opens=clients, tool_schema=files.tool_schema, deadlines=deadlines, spawn=keeper.spawn)

    listener = ServedListener(
        files=stand_in,
        config=config,
        tokens=tokens or ServedTokens(secrets, {}),
        make_served=make_served,
        bus=bus,
        spawn=keeper.spawn,
    )
    async with aiohttp.ClientSession() as http:
        hub = ServedHub(files, config, bus, clients, Heard(bus), http, listener, secrets)
        hub.now(*readings, names=names)
        try:
            yield hub
        finally:
            clients.go.set()
            await listener.close()
            await secrets.close()
            await keeper.close()
