"""A hub with a server `s` that starts for projects, and AI clients that work on some."""

import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from tests.fakes.hub_parts import Client, entry, hub_parts
from tests.fakes.scripted_server import Copy, ScriptedServer, tool
from tests.fakes.session_hub import SessionHub

from tooltray.protocol.eras import Era
from tooltray.servers.upstream.copies_by_project import CopiesByProject
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient

TEMPLATE = ["--project", "{project_path}", "--name={project_name}"]


class ProjectHub(SessionHub):
    """The projects are folders in its `root`."""

    @property
    def server(self) -> ManagedServer:
        return self.parts.servers.get("s")

    @property
    def by_project(self) -> CopiesByProject:
        return self.parts.servers.find_deferred("s")

    def folder(self, name: str) -> str:
        """A folder that may be a project."""
        (self.root / name).mkdir(parents=True, exist_ok=True)
        return str(self.root / name)

    def leave(self, client: Client, key: Any) -> None:
        self.parts.states.disconnect(key, is_lasting=client.is_lasting)

    async def opened(self, client: Client, era: Era = Era.LEGACY) -> McpClient:
        """The connection that a session gets."""
        return await self.server.running(era, timeout_s=10, session=client)

    async def listed(self, client: Client) -> list[str]:
        """Those of `s` in a session's `tools/list`."""
        return [name for name in await super().listed(client) if name.startswith("work")]

    def args(self) -> list[tuple[str, ...]]:
        """With what the copies that run were started."""
        return [copy.launch.args for copy in self.program.running]

    def copy_of(self, folder: str) -> Copy:
        return next(copy for copy in self.program.running if folder in copy.launch.args)


@contextlib.asynccontextmanager
async def project_hub(
    tmp_path: Path,
    *,
    program: ScriptedServer | None = None,
    others: Mapping[str, Any] | None = None,
    settings: Any = None,
    clock: Any = time.monotonic,
    **fields: Any,
) -> AsyncIterator[ProjectHub]:
    """
    Args:
        others: further servers of the settings; all of them run the same program.
        settings: further settings.
        clock: by which copies are idle.
        **fields: of the entry of `s`.
    """
    program = program or ScriptedServer(tool("work"))
    entries = {"s": entry("program", **{"deferredStartup": True, "startupArgsTemplate": TEMPLATE, **fields}), **(others or {})}
    async with hub_parts(tmp_path / "home", servers=entries, programs={"program": program}, settings=settings, clock=clock) as parts:
        yield ProjectHub(parts, program, tmp_path.resolve() / "projects")
