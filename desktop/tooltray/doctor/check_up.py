"""A check-up of servers, one or all: waits until they have settled, and lets the doctor examine each.

Above it: the API. Below it: the doctor, and the parts that know how a server is.
"""

import asyncio
import contextlib

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.doctor.diagnosis import Diagnosis
from tooltray.doctor.doctor import Doctor
from tooltray.projects.project_copies import ProjectSnapshots
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.server_manager import ServerManager


class CheckUp:
    """Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, project_snapshots: ProjectSnapshots, doctor: Doctor) -> None:
        self._servers, self._tools, self._projects, self._doctor = servers, tools, project_snapshots, doctor

    async def diagnose(self, server: str | None, wait_s: float) -> list[Diagnosis]:
        """The doctor's findings on one server, or on all.

        Args:
            wait_s: how long it waits, at most, for servers that are on their way to running.

        Raises:
            TooltrayError: there is no such server.
        """
        servers = [self._servers.get(server)] if server else list(self._servers)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await asyncio.gather(*(each.first.settled() for each in servers))
        return [await self._examine(each) for each in servers]

    async def _examine(self, server: ManagedServer) -> Diagnosis:
        return await self._doctor.examine(
            server,
            tool_count=self._tools.tool_count(server.name),
            is_listed=self._tools.is_listed(server.name),
            detail=self._projects.detail(server),
            list_problem=self._tools.list_problem(server.name),
        )
