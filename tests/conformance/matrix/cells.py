"""The cells of the matrix: who asks whom, in which era, on which way; and what a client observes in each."""

import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.suite import node
from tests.conformance.targets import REFERENCES, http_address
from tests.end2end.processes import BRIDGE, ROOT, World, new_world, wait_until
from tests.end2end.steered import START_S

HERE = Path(__file__).parent
CELL_S = 90.0  # all scenarios over one connection, on a busy machine; about two seconds on a quiet one
ERAS = ("legacy", "modern")
UPSTREAMS = ("stdio", "http")
DIRECT = "direct"
WAYS_TO_ONE = ("bridge, one server", "HTTP, one server")
WAYS_TO_ALL = ("bridge, all servers", "HTTP, all servers")
WAYS = (*WAYS_TO_ONE, *WAYS_TO_ALL)
Observed = dict[str, Any]
"""By scenario: what its steps gave, and what was heard meanwhile."""


class Cell(NamedTuple):
    """
    Attributes:
        client, server: names of SDKs, keys of `CLIENTS` and `REFERENCES`.
        upstream: how the server is reached, by the hub or, direct, by the client.
        way: `DIRECT`, or one of `WAYS` through the hub.
    """

    client: str
    server: str
    era: str
    upstream: str
    way: str

    def __str__(self) -> str:
        return f"{self.client} to {self.server} over {self.upstream}, {self.era}, {self.way}"

    @property
    def name(self) -> str:
        """The server's name in the hub."""
        return f"{self.server[:2]}{self.upstream[0]}"

    @property
    def is_of_all(self) -> bool:
        return self.way in WAYS_TO_ALL

    @property
    def direct(self) -> "Cell":
        return Cell(self.client, self.server, self.era, self.upstream, DIRECT)


def client_command(client: str) -> list[str]:
    if client == "python":
        return [sys.executable, str(HERE / "python_client.py")]
    return [node(), str(ROOT / "tests" / "npm" / "matrix" / "client.mjs"), str(HERE / "scenarios.json")]


def cells(client: str) -> list[Cell]:
    """All cells of a client; direct ones first."""
    return [Cell(client, *rest, way) for way, *rest in itertools.product((DIRECT, *WAYS), REFERENCES, ERAS, UPSTREAMS)]


def observe(client: str, cells: Sequence[Cell]) -> dict[Cell, Observed]:
    """Runs all scenarios in some cells of a client. Each hub has four servers: both SDKs', over both transports.

    A session of one server has a copy of it to itself; among all servers each server is shared.
    """
    of_all = {isolation: [cell for cell in cells if cell.is_of_all is (isolation == "shared")] for isolation in ("session", "shared")}
    return {cell: seen for isolation, some in of_all.items() for cell, seen in observe_with(client, some, isolation).items()}


def observe_with(client: str, cells: Sequence[Cell], isolation: str) -> dict[Cell, Observed]:
    found: dict[Cell, Observed] = {}
    if not cells:
        return found
    with new_world() as world:
        urls = {server: world.start(*command("http")).read_line(START_S).decode() for server, command in REFERENCES.items()}
        address = start_hub(world, urls, isolation)
        program = world.start(*client_command(client))
        for cell in cells:
            program.send(target(cell, urls, address))
            found[cell] = program.read(CELL_S)
        program.end()
    return found


def start_hub(world: World, urls: Mapping[str, str], isolation: str) -> str:
    """Starts the hub and waits until all its servers run; returns its address."""
    servers: dict[str, dict[str, Any]] = {}
    for server, command in REFERENCES.items():
        program, *arguments = command("stdio")
        servers[f"{server[:2]}s"] = {"command": program, "args": arguments}
        servers[f"{server[:2]}h"] = {"type": "http", "url": urls[server]}
    entries = {name: {**entry, "isolation": isolation, "autoApprove": ["all"]} for name, entry in servers.items()}
    http = {"enabled": True, "port": 0, "requireToken": False}
    settings = {"version": 1, "mcpServers": entries, "defaultServers": list(entries), "publish": {"http": http}}
    world.root.mkdir(mode=0o700)
    (world.root / "settings.json").write_text(json.dumps(settings))
    world.start_hub()
    wait_until(lambda: {server["state"] for server in world.servers().values()} == {"running"}, "all servers to run", START_S)
    return str(wait_until(lambda: http_address(world), "the HTTP endpoints"))


def target(cell: Cell, urls: Mapping[str, str], address: str) -> dict[str, Any]:
    """What the client is told: whom to ask, in which era."""
    among = {"server": cell.name, "prefix": f"{cell.name}_"} if cell.is_of_all else {}
    return {"era": cell.era, **reached(cell, urls, address), **among}


def reached(cell: Cell, urls: Mapping[str, str], address: str) -> dict[str, Any]:
    bridge = [sys.executable, "-I", "-S", str(BRIDGE)]
    match cell.way:
        case "bridge, one server":
            return {"command": [*bridge, "--server", cell.name]}
        case "HTTP, one server":
            return {"url": f"{address}/servers/{cell.name}/mcp"}
        case "bridge, all servers":
            return {"command": bridge}
        case "HTTP, all servers":
            return {"url": f"{address}/mcp"}
    return {"url": urls[cell.server]} if cell.upstream == "http" else {"command": REFERENCES[cell.server]("stdio")}
