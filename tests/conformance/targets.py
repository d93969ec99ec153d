"""What the suite is pointed at: the reference itself, or the reference behind a hub."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.suite import WIRES, node
from tests.end2end.processes import ROOT, World, wait_until

REFERENCE = Path(__file__).with_name("reference")
NAME = "reference"
TYPESCRIPT = ROOT / "tests" / "npm" / "reference" / "index.mjs"
REFERENCES: dict[str, Callable[..., list[str]]] = {
    "python": lambda *arguments: [sys.executable, str(REFERENCE), *arguments],
    "typescript": lambda *arguments: [node(), str(TYPESCRIPT), *arguments],
}
"""The command of each SDK's reference, by the SDK; to be called with a transport and, if it is to know one alone, an era."""


@dataclass(frozen=True)
class Target:
    """
    Attributes:
        label: the column's title.
        upstream: how the hub reaches the reference, "http" or "stdio"; empty: there is no hub.
        isolation: "session" or "shared".
        era: the only one that the reference speaks, "legacy" or "modern"; empty: both.
        endpoint: where the hub is asked.
        sdk: whose reference it is, a key of `REFERENCES`.
    """

    label: str
    upstream: str = ""
    isolation: str = "shared"
    era: str = ""
    endpoint: str = f"/servers/{NAME}/mcp"
    sdk: str = "python"

    @property
    def must_equal_direct(self) -> bool:
        """With a copy for each session a hub has no excuse."""
        return self.isolation == "session"

    @property
    def wires(self) -> Sequence[str]:
        """A server of one era is looked at from the other one."""
        return {"modern": WIRES[:1], "legacy": WIRES[1:]}.get(self.era, WIRES)


DIRECTS = (Target("direct"), Target("TypeScript, direct", sdk="typescript"))
HUBS = (
    Target("http, session", "http", "session"),
    Target("stdio, session", "stdio", "session"),
    Target("http, shared", "http"),
    Target("stdio, shared", "stdio"),
    Target("TypeScript, http, shared", "http", sdk="typescript"),
    Target("TypeScript, stdio, session", "stdio", "session", sdk="typescript"),
)
BESIDES = (
    Target("a legacy client, a server that is modern only", "stdio", era="modern"),
    Target("a modern client, a server that is legacy only", "stdio", era="legacy"),
    Target("all servers on one endpoint", "stdio", endpoint="/mcp"),
)
"""Where something is lost by design: the hub names the questions that a legacy server asks."""


@contextlib.contextmanager
def running(target: Target) -> Iterator[str]:
    """Starts what a target needs, gives the URL for the suite, and ends all of it.

    Raises:
        RuntimeError: something was left behind; says what.
    """
    world = World()
    try:
        yield _hub_url(world, target) if target.upstream else _reference_url(world, target)
    finally:
        left = world.end()
    if left:
        raise RuntimeError(f"{target.label} has left behind: {', '.join(left)}")


def _reference_url(world: World, target: Target) -> str:
    return world.start(*REFERENCES[target.sdk]("http")).read_line().decode()


def start_hub(world: World, entry: dict[str, Any], **settings: Any) -> None:
    """Starts a hub with one server, the reference."""
    servers = {NAME: {**entry, "autoApprove": ["all"]}}
    world.root.mkdir(mode=0o700)
    (world.root / "settings.json").write_text(json.dumps({"version": 1, "mcpServers": servers, "defaultServers": [NAME], **settings}))
    world.start_hub()


def _hub_url(world: World, target: Target) -> str:
    eras = [target.era] if target.era else []
    command, *arguments = REFERENCES[target.sdk]("stdio", *eras)
    reached: dict[str, Any] = {"command": command, "args": arguments}
    if target.upstream == "http":
        reached = {"type": "http", "url": _reference_url(world, target)}
    http = {"enabled": True, "port": 0, "requireToken": False}
    start_hub(world, {**reached, "isolation": target.isolation}, publish={"http": http})
    return f"{wait_until(lambda: http_address(world), 'the HTTP endpoints')}{target.endpoint}"


def http_address(world: World) -> str:
    address = json.loads((world.root / "run" / "hub.json").read_bytes()).get("http")
    return str(address).rstrip("/") if address else ""
