"""Servers of projects' own files: which entries are added, changed and removed, by the user. Whether one may run is decided in
`trust_decisions`, which this module hands the question to.

The rest of a file stays unchanged, byte by byte. The file is read again for each change, and a concurrent save of another program is not
lost (see edited_files).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from tooltray.config.foreign_configs.config_source import CannotUse, ConfigSource
from tooltray.config.foreign_configs.mcp_json import holder_of, read_mcp_json, with_entry, without_entry
from tooltray.config.settings.file_server import FILE_NAME, FileServer
from tooltray.config.settings.given_entries import read_given_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import USUAL_RULES
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files.edited_files import EditedFiles, FileChanged, FileHistory
from tooltray.foundation.files.file_text import MAX_FILE_BYTES, CannotOpen, FileText, read_text
from tooltray.foundation.files.json_places import CannotRead, read
from tooltray.foundation.files.json_text import check_revision, digest_of, revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.upstream.project_folder import shown
from tooltray.sources.project_files.followed_files import ProjectFile, check_stays_inside
from tooltray.sources.project_files.server_files import ServerFiles
from tooltray.sources.project_files.trust import Trust
from tooltray.sources.project_files.trust_decisions import TrustDecisions
from tooltray.sources.projects.project_sources import OWN, ProjectFolders

NEW_FILE_MODE = 0o600  # an entry may contain a key
Edit = Callable[[str, JsonMapping], str]
"""Makes the new text of a file from its text and its server entries by name."""


class ProjectEdits:
    """The edits of projects' files, one at a time, so that none is lost. Belongs to the engine's loop.

    Args:
        history: receives the previous contents of the files.
    """

    def __init__(self, history: FileHistory | None = None, files: EditedFiles | None = None) -> None:
        self._files = files or EditedFiles(history)
        self._lock = asyncio.Lock()

    async def add(self, folder: str, name: str, entry: JsonMapping) -> str:
        """Adds an entry and returns its digest.

        Args:
            folder: the project's real path.

        Raises:
            Conflict: an entry with this name exists.
            TooltrayError: the entry cannot be used, or the file cannot be read or written.
        """

        def edit(text: str, there: JsonMapping) -> str:
            if name in there:
                hint = Phrase("Choose another name, or change the one that is there.")
                title = Phrase("there is a server '{name}' in '{folder}' already", name=shown(name), folder=shown(folder))
                raise Conflict(title, hint=hint)
            return with_entry(text, name, entry)

        return await self._change(folder, edit, name)

    async def change(self, folder: str, name: str, entry: JsonMapping, revision: str) -> str:
        """Replaces an entry and returns its digest.

        Args:
            revision: the expected revision of the existing entry; empty for any.

        Raises:
            NotFound: the entry does not exist.
            Conflict: the entry has another revision.
            TooltrayError: as `add`.
        """

        def edit(text: str, there: JsonMapping) -> str:
            _check(there, name, folder, revision)
            return with_entry(text, name, entry)

        return await self._change(folder, edit, name)

    async def remove(self, folder: str, name: str, revision: str) -> None:
        """Removes an entry; arguments and errors as in `change`."""

        def edit(text: str, there: JsonMapping) -> str:
            _check(there, name, folder, revision)
            return without_entry(text, name)

        await self._change(folder, edit, "")

    async def _change(self, folder: str, edit: Edit, name: str) -> str:
        async with self._lock:
            return await finish_in_thread(self._change_file, folder, edit, name)

    def _change_file(self, folder: str, edit: Edit, name: str) -> str:
        """Makes a change in a thread; returns the digest of the written entry, empty for a removal."""
        path = Path(folder, FILE_NAME)

        def attempt() -> str:
            check_stays_inside(folder)
            file = _read(path)
            try:
                text, digest = _edited(path, file, edit, name)
            except (CannotRead, CannotUse) as error:
                if self._files.may_be_half_written(path):
                    raise FileChanged from None
                raise TooltrayError(_not_changed(path), error.reason, Phrase("Correct the file by hand.")) from None
            self._write(path, file, text)
            return digest

        try:
            return self._files.retry_until_kept(attempt)
        except FileChanged:
            raise TooltrayError(_not_changed(path), Phrase("another program writes it again and again"), Phrase("Try again.")) from None

    def _write(self, path: Path, file: FileText, text: str) -> None:
        title = _not_changed(path)
        try:
            data = file.to_bytes(text)
            if len(data) > MAX_FILE_BYTES:
                raise TooltrayError(title, Phrase("it would have more than {size} MB", size=MAX_FILE_BYTES // 2**20))
            self._files.replace(path, data, based_on=file.digest, new_mode=NEW_FILE_MODE)
        except OSError as error:
            hint = Phrase("Make it writable, or free space on the disk.")
            raise TooltrayError(title, error.strerror or str(error), hint) from None


def _not_changed(path: Path) -> str:
    return Phrase("'{file}' is not changed", file=shown(str(path)))


def _read(path: Path) -> FileText:
    try:
        return read_text(path)
    except CannotOpen as error:
        title = Phrase("'{name}' cannot be read", name=shown(str(path)))
        raise TooltrayError(title, error.reason, Phrase("Put that right; nothing was changed.")) from None


def _edited(path: Path, file: FileText, edit: Edit, name: str) -> tuple[str, str]:
    """Returns the new text and the digest of the written entry.

    Raises:
        CannotRead, CannotUse: the file is malformed.
    """
    text = edit(file.text, _servers(file.text))
    return text, digest_of(_servers(text)[name]) if name and _check_entry(path, text, name) else ""


def _servers(text: str) -> JsonMapping:
    """Returns the entries of a text by name, usable or not."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    holder = holder_of(read(text))
    return {name: value.content for name, (_, value) in holder.members.items()} if holder else {}


def _check_entry(path: Path, text: str, name: str) -> bool:
    """Checks that a written entry can be used, so that no unusable entry is saved.

    Raises:
        TooltrayError: it cannot be used.
    """
    source = ConfigSource(str(path), text)
    if any(entry.name == name for entry in read_mcp_json(source, read(text))):
        return True
    problem = next((each.problem for each in source.problems if each.entry == name), None)
    title = Phrase("The entry of server '{server}' cannot be used", server=shown(name))
    raise TooltrayError(title, problem.message if problem else "", Phrase("Nothing was changed."))


def _check(there: JsonMapping, name: str, folder: str, revision: str) -> None:
    if name not in there:
        title = Phrase("server '{name}' in '{folder}' no longer exists", name=shown(name), folder=shown(folder))
        raise NotFound(title, hint=Phrase("Review them and decide again."))
    check_revision(revision_of(there[name]), revision)


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
        return self._config.file_server(server) is not None or self._trust.place(server) is not None

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
        await self._files.read_now(file.project)  # the file as read for the decision may be outdated by now
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

    async def add(self, project: str, name: str, entry: JsonMapping) -> str:
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

    async def change(self, server: str, entry: JsonMapping, revision: str) -> None:
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
            title = Phrase("no project has a server '{server}'", server=server)
            raise NotFound(title, hint=Phrase("List the servers: tooltray servers list"))
        if there.origin == "served":
            title, where = Phrase("'{name}' is not changed", name=server), Phrase("its entry is in {file}", file=there.file)
            raise TooltrayError(title, where, Phrase("Change it there."))
        return there
