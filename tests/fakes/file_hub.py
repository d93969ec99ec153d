"""A hub that has servers of projects' own files, and AI clients that work on these projects."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import Client, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool
from tests.fakes.session_hub import SessionHub

from tooltray.sources.project_files.project_servers import ProjectServers
from tooltray.sources.project_files.server_files import ServerFiles


class FileHub(SessionHub):
    """Projects are folders with a `.mcp.json`."""

    @property
    def files(self) -> ServerFiles:
        return self.parts.files

    @property
    def project_servers(self) -> ProjectServers:
        return self.parts.project_servers

    def project(self, name: str = "shop", **entries: Any) -> str:
        """A folder with a `.mcp.json` that has these entries; without any there is no file."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        if entries:
            self.write(str(folder), entries)
        return str(folder)

    def write(self, folder: str, entries: Mapping[str, Any] | str) -> None:
        """Somebody saves the file of a project."""
        path = Path(folder) / ".mcp.json"
        path.write_text(entries if isinstance(entries, str) else json.dumps({"mcpServers": entries}, indent=2))
        self.parts.watching.changed(path)

    async def saved(self, folder: str, entries: Mapping[str, Any] | str) -> None:
        """The same, and the hub has read it."""
        self.write(folder, entries)
        await self.quiet()

    async def session(self, folder: str = "", **options: Any) -> Client:
        """The same, and its project's file is read."""
        client = await super().session(folder, **options)
        await self.parts.look_at_project(client)
        return client

    async def trusted(self, folder: str) -> list[str]:
        """A person says yes to all that waits in a project's file; the names of the servers here."""
        requests = await self.project_servers.trust_requests(folder)
        names = await self.project_servers.trust(folder, {each.entry: each.digest for each in requests})
        await self.quiet()
        return names

    def names(self) -> list[str]:
        """The servers of files that there are."""
        return list(self.parts.conf.file_servers)

    def states(self, folder: str) -> dict[str, str]:
        """What becomes of each entry of a project's file."""
        found = next((each for each in self.files.snapshots() if each.project == folder), None)
        return {entry.name: entry.state for entry in found.entries} if found else {}

    async def quiet(self) -> None:
        """Until nothing is being read or started any more."""
        async with asyncio.timeout(PATIENCE_S):
            while tasks := [task for task in asyncio.all_tasks() if task.get_name().startswith(("read ", "names of", "remove "))]:
                await asyncio.wait(tasks)


@contextlib.asynccontextmanager
async def file_hub(
    tmp_path: Path,
    *,
    servers: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    configs: Sequence[Path] = (),
    project: str = "",
) -> AsyncIterator[FileHub]:
    """
    Args:
        servers: of the settings.
        configs, project: what the hub was started with.
    """
    program = ScriptedServer(tool("work"))
    async with hub_parts(
        tmp_path / "home",
        servers=servers or {},
        programs={"program": program, "other": program},
        settings=settings,
        configs=configs,
        project=project,
    ) as parts:
        await parts.files.start()
        yield FileHub(parts, program, tmp_path.resolve() / "projects")
