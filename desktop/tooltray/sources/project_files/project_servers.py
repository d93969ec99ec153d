"""Servers of projects' own files as the user decides about them: which entries may run, and entries added, changed and removed."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.given_entries import read_given_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import USUAL_RULES
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.trust import TrustedEntry, TrustRequest
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.sources.project_files.followed_files import ProjectFile
from tooltray.sources.project_files.project_edits import ProjectEdits
from tooltray.sources.project_files.server_files import ServerFiles
from tooltray.sources.project_files.trust import Trust
from tooltray.sources.project_files.trust_decisions import TrustDecisions
from tooltray.sources.projects.project_folders import OWN, ProjectFolders


class ProjectServers:
    """The servers of projects' files and the user's decisions; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        files: ServerFiles,
        trust: Trust,
        folders: ProjectFolders,
        decisions: TrustDecisions,
        edits: ProjectEdits,
        start: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            start: starts a server that has waited for consent to the files that it starts.
        """
        self._config, self._files = config, files
        self._trust, self._folders = trust, folders
        self._decisions, self._edits, self._start = decisions, edits, start

    def keeps(self, server: str) -> bool:
        """Returns whether a server of a file has this name, also one of a project that is not in use."""
        return self._config.file_server(server) is not None or self._trust.is_trusted(server)

    # trust

    async def trust_requests(self, project: str) -> list[TrustRequest]:
        """Implements FilesApi.get_trust_requests."""
        files = [await self._decisions.file(project)] if project else self._files.project_files
        return [request for file in files for request in await self._requests(file)]

    async def _requests(self, file: ProjectFile) -> list[TrustRequest]:
        followed = self._files.project_file(file.project) or file
        return await self._decisions.requests(file, followed.running)

    async def trust(self, project: str, entries: Mapping[str, str]) -> list[str]:
        """Implements FilesApi.trust_entries."""
        held = {entry for entry in entries if self._trust.is_held(await self._folders.real(project), entry)}
        file, names = await self._decisions.trust(project, entries)
        await self._files.read_now(file.project)  # the reading for the decision may be outdated by now
        for entry, name in zip(entries, names, strict=True):
            if entry in held:
                await self._start(name)
        return names

    async def check_started(self, server: FileServer) -> None:
        """Checks, before a server of a project's file starts, that the user allowed the project's files that it starts.

        Between this and the start of the process a file can still be changed; only a copy of all files could prevent that.

        Raises:
            CannotStart: one of them has changed; the entry waits for consent from now on.
        """
        if server.origin != "project":
            return
        try:
            await self._decisions.check_started(server.folder, server.entry)
        except CannotStart:
            self._files.settle(server.folder)
            raise

    async def distrust(self, project: str, entry: str) -> None:
        """Implements FilesApi.distrust_entries."""
        folder = await self._decisions.distrust(project, entry)
        self._files.settle(folder)

    async def restore(self, project: str, entry: str) -> list[str]:
        """Implements FilesApi.restore_trust."""
        file, names = await self._decisions.restore(project, entry)
        await self._files.read_now(file.project)
        return names

    def trusted(self) -> list[TrustedEntry]:
        """Implements FilesApi.get_trusted_entries."""
        return list(self._trust.entries())

    # changes

    async def add(self, project: str, name: str, entry: Mapping[str, Any]) -> str:
        """Writes a new entry into a project's own file and trusts it; returns the server's name in the hub."""
        folder = await self.folder_to_write(project)
        read_given_entry(name, entry)
        usual = ("autoApprove", list(USUAL_RULES))  # not written into the file, since other programs read it too
        written = {member: value for member, value in entry.items() if (member, value) != usual}
        digest = await self._edits.add(folder, name, written)
        [server] = await self._decisions.trust_own(folder, name, digest)
        self._files.in_use.touch(folder)  # so that the user sees the server at once
        await self._files.read_now(folder)
        return server

    async def change(self, server: str, entry: Mapping[str, Any], revision: str) -> None:
        """Replaces the entry of a server in the project's own file."""
        there = self._project_server(server)
        read_given_entry(server, entry)
        digest = await self._edits.change(there.folder, there.entry.name, entry, revision)
        await self._decisions.trust_own(there.folder, there.entry.name, digest)
        await self._files.read_now(there.folder)

    async def remove(self, server: str, revision: str) -> None:
        """Removes a server's entry from the project's own file, also if the project is not in use."""
        if not (place := None if self._config.file_server(server) else self._trust.place(server)):
            there = self._project_server(server)
            place = there.folder, there.entry.name
        folder, entry = place
        await self._edits.remove(folder, entry, revision)
        await self._decisions.distrust(folder, entry)
        await self._files.read_now(folder)

    async def folder_to_write(self, project: str) -> str:
        """Returns the real path of a folder whose file may be written: it is allowed, trusted or in use.

        Raises:
            TooltrayError: the folder's file may not be written.
        """
        folder = await self._folders.real(project)
        if folder in self._files.in_use or self._trust.knows(folder):
            return folder
        return await self._folders.permitted(folder, SessionState(OWN))

    def _project_server(self, server: str) -> FileServer:
        there = self._config.file_server(server)
        if there is None:
            title = Phrase("there is no server '{server}' of a project", server=server)
            raise NotFound(title, hint=Phrase("See which there are: tooltray servers list"))
        if there.origin == "served":
            title, where = Phrase("'{name}' is not changed", name=server), Phrase("its entry is in {file}", file=there.file)
            raise TooltrayError(title, where, Phrase("Change it there."))
        return there
