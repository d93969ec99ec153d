"""The user's consent to entries of a project's own file, and to servers that run inside Tooltray, with or without a running hub.

A project's file is read again for each decision: an entry is trusted only if its content is still the one that the user has seen. Servers
inside Tooltray are only in the settings, which any program may have edited, so that an entry there does not count as consent.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.file_server import FileEntry
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.server_edits import all_choices, choices, choices_of
from tooltray.foundation.confirm_widening import asker_name
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.events import EventBus, ServerFilesChanged
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping
from tooltray.servers.confinement.confinements import CONFINEMENT, OWN_FILES, Confinements, starts_confined
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.upstream.project_folder import shown
from tooltray.sources.project_files.followed_files import ProjectFile, ReadFile, read_project_file
from tooltray.sources.project_files.started_files import Digests, StartedTexts, changed, seen_digest, shown_files, started_files
from tooltray.sources.project_files.trust import KeptEntry, Trust, TrustStore
from tooltray.sources.project_files.trust_requests import Place, trust_request, wanted_variables
from tooltray.sources.projects.project_sources import ProjectFolders

MOST_NAMED = 3  # files, in a sentence
Environ = Callable[[], Awaitable[Mapping[str, str]]]
"""See LoginShell.environ."""


class Revoked(NamedTuple):
    """A revoked consent: the digest of the entry's content, the choices for its server, and the files that it started."""

    folder: str = ""
    entry: str = ""
    digest: str = ""
    choices: JsonMapping = {}
    files: Digests | None = None


class TrustDecisions:
    """The decisions on entries of projects' files; belongs to one event loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        trust: Trust,
        folders: ProjectFolders,
        read: ReadFile,
        environ: Environ,
        texts: StartedTexts,
        confinements: Confinements,
    ) -> None:
        """
        Args:
            environ: returns the environment that servers get.
            texts: copies of the files that were allowed, for differences.
        """
        self._environ, self._texts, self._confinements = environ, texts, confinements
        self._config, self._trust = config, trust
        self._folders, self._read = folders, read
        self._lock = asyncio.Lock()
        self._revoked = Revoked()  # the last revoked consent, for restoring it, or its choices if the entry is added again

    async def file(self, project: str) -> ProjectFile:
        """Reads the file of a folder.

        Raises:
            TooltrayError: the folder cannot be a project, or the file cannot be read.
        """
        folder = await self._folders.real(project)
        file = ProjectFile(folder, self._trust)
        file.adopt(await asyncio.to_thread(read_project_file, self._read, folder))
        if file.latest and not file.latest.is_understood:
            problem = file.problems[0].problem
            raise TooltrayError(problem.title, problem.message, problem.hint)
        return file

    async def requests(self, file: ProjectFile, running: Callable[[str], FileEntry | None]) -> list[TrustRequest]:
        """Returns the requests for consent to a file's waiting entries.

        Args:
            running: returns the content with which an entry's server runs now.
        """
        waiting = await asyncio.to_thread(self._waiting, file)
        environ = await self._environ() if any(wanted_variables(entry.config) for entry in waiting) else {}
        return await asyncio.to_thread(lambda: [self._request(file, entry, running(entry.name), environ) for entry in waiting])

    async def trust(self, project: str, entries: Mapping[str, str]) -> tuple[ProjectFile, list[str]]:
        """Implements FilesApi.trust_entries; also returns the file as it was read for the decision."""
        async with self._lock:
            file = await self.file(project)
            wanted = {entry.name: entry for entry in file.entries if entry.name in entries}
            files = await asyncio.to_thread(lambda: {name: started_files(each.config, file.project) for name, each in wanted.items()})
            for name, digest in entries.items():
                _check_is_the_same(file, wanted.get(name), name, digest, files.get(name, {}))
            for name in entries:
                await self._confine(file.project, wanted[name])
            names = await self._trust.allow(file.project, {name: wanted[name].digest for name in entries}, files=files)
            await asyncio.to_thread(self._keep_texts, file.project, files)
        file.settle()
        return file, names

    async def check_started(self, folder: str, entry: FileEntry) -> None:
        """Checks that a trusted entry starts the files that the user allowed.

        For a consent of an older version, which has no files, the present ones are recorded.

        Raises:
            CannotStart: one of them has changed; the entry waits for consent from now on.
        """
        allowed = self._trust.files(folder, entry.name)
        now = await asyncio.to_thread(started_files, entry.config, folder)
        if allowed is None:
            with contextlib.suppress(TooltrayError):  # as with names: the next start tries again
                await self._trust.keep_files(folder, entry.name, now)
                await asyncio.to_thread(self._texts.keep, folder, now)
        elif others := changed(allowed, now):
            self._trust.hold(folder, entry.name)
            names = ", ".join(shown(each) for each in others[:MOST_NAMED]) + (", …" if len(others) > MOST_NAMED else "")
            title = Phrase("'{name}' waits for your approval", name=shown(entry.name))
            message = Phrase("what it starts has changed since you allowed it: {files}", files=names)
            raise CannotStart(title, message, Phrase("Review it in the window, or with: tooltray trust {folder}", folder=shown(folder)))

    def _keep_texts(self, folder: str, files: Mapping[str, Digests]) -> None:
        self._texts.tidy(self._trust.file_digests)
        for each in files.values():
            self._texts.keep(folder, each)

    def _waiting(self, file: ProjectFile) -> list[FileEntry]:
        """Returns the entries that wait, and trusted entries that would start other files than the allowed ones."""
        waiting = {entry.name for entry in file.waiting()}
        on = [entry for entry in file.entries if not entry.config.disable]
        return [entry for entry in on if entry.name in waiting or self._has_changed(file, entry)]

    def _has_changed(self, file: ProjectFile, entry: FileEntry) -> bool:
        allowed = self._trust.files(file.project, entry.name)
        return allowed is not None and started_files(entry.config, file.project) != dict(allowed)

    async def _confine(self, folder: str, entry: FileEntry) -> None:
        """Sandboxes a server, unless its entry, which the user has seen, has another confinement, or the user chose one before.

        This includes a server whose entry had a confinement of its own when it was trusted, and has none now.
        """
        if self._default(folder, entry):
            await self._config.edit(choices(self._trust.name(folder, entry.name), {CONFINEMENT: OWN_FILES}))

    def _default(self, folder: str, entry: FileEntry) -> bool:
        chosen = self._config.own_settings.file_servers.get(self._trust.name(folder, entry.name))
        return (chosen is None or chosen.confinement is None) and starts_confined(entry.config.to_entry())

    async def trust_own(self, folder: str, entry: str, digest: str) -> list[str]:
        """Trusts an entry that Tooltray itself has written; returns a list with the server's name. For an entry that was just removed, the
        choices in the settings are restored.
        """
        async with self._lock:
            names = await self._trust.allow(folder, {entry: digest}, is_own=True)
            if self._revoked[:3] == (folder, entry, digest) and self._revoked.choices:
                await self._config.edit(all_choices(dict.fromkeys(names, self._revoked.choices)))
        return names

    async def distrust(self, project: str, entry: str) -> str:
        """Implements FilesApi.distrust_entries; works also for a deleted folder. Returns the folder."""
        async with self._lock:
            folder = await asyncio.to_thread(self._known, project)
            digest = self._trust.digest(folder, entry)
            files = self._trust.files(folder, entry)
            names = await self._trust.revoke(folder, entry)
            self._revoked = Revoked(folder, entry, digest, choices_of(self._config.document, names[0]), files)
            await self._forget_choices(names)
        return folder

    async def restore(self, project: str, entry: str) -> tuple[ProjectFile, list[str]]:
        """Implements FilesApi.restore_trust; also returns the file as it was read for the decision."""
        async with self._lock:
            file = await self.file(project)
            revoked = self._revoked
            if revoked[:2] != (file.project, entry):
                raise NotFound(Phrase("This cannot be undone any more"), hint=Phrase("Look again at what waits: tooltray trust DIR"))
            written = next((each for each in file.entries if each.name == entry), None)
            _check_is_the_same(file, written, entry, revoked.digest, {})
            if revoked.choices:  # before the server may start, as the choices decide which of its calls run without asking
                await self._config.edit(all_choices({self._trust.name(file.project, entry): revoked.choices}))
            files = {} if revoked.files is None else {entry: revoked.files}
            names = await self._trust.allow(file.project, {entry: revoked.digest}, files=files)
        file.settle()
        return file, names

    def _known(self, project: str) -> str:
        return project if self._trust.knows(project) or not os.path.isabs(project) or "\0" in project else os.path.realpath(project)

    async def _forget_choices(self, names: list[str]) -> None:
        """Deletes the choices for servers, so that they do not apply to later servers with the same names."""
        if not self._config.own_settings.file_servers.keys().isdisjoint(names):
            await self._config.edit(all_choices({name: {} for name in names}))

    def _request(self, file: ProjectFile, entry: FileEntry, before: FileEntry | None, environ: Mapping[str, str]) -> TrustRequest:
        chosen = self._config.own_settings.file_servers.get(self._trust.name(file.project, entry.name))
        rules = entry.config.auto_approve if chosen is None or chosen.auto_approve is None else chosen.auto_approve
        files, allowed = started_files(entry.config, file.project), self._trust.files(file.project, entry.name) or {}
        config = chosen.applied(entry.config) if chosen else entry.config
        if self._default(file.project, entry):
            config = config.model_copy(update={CONFINEMENT: Confinement(files=OWN_FILES)})
        request = trust_request(
            entry,
            Place(file.project, file.path),
            auto_approve=tuple(rules),
            confinement=self._confinements.of("", config),
            is_change=bool(self._trust.digest(file.project, entry.name)),
            before=before,
            environ={**environ, **entry.variables},
        )
        difference = self._texts.differences(file.project, allowed, files) if request.is_change else ()
        return replace(
            request, digest=seen_digest(entry.digest, files), files=shown_files(files), diff=(*_changes_only(request.diff), *difference)
        )


def _changes_only(diff: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the lines of a difference; empty if they show no change."""
    return diff if any(not line.startswith(" ") for line in diff) else ()


def _check_is_the_same(file: ProjectFile, entry: FileEntry | None, name: str, digest: str, files: Digests) -> None:
    if entry is None:
        title = Phrase("'{name}' not found in '{file}'", name=shown(name), file=shown(file.path))
        raise NotFound(title, hint=Phrase("Look again at what waits: tooltray trust DIR"))
    if seen_digest(entry.digest, files) != digest:
        reason = Phrase("it has been changed since you opened it, so nothing was trusted")
        raise Conflict(Phrase("'{name}' has changed meanwhile", name=shown(name)), reason, Phrase("Review it and decide again."))


NO_PROJECT = ""  # the key of these servers in the store's table by projects


class InMemoryTrust:
    """The consents to servers inside Tooltray; belongs to one event loop, and makes one change at a time."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        store: TrustStore,
        home: Path,
        bus: EventBus,
        start: Callable[[str], Awaitable[None]],
        stop: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            store: a store for only these servers.
            home: the user's home folder, in which Tooltray runs.
            start, stop: called for a server that was just allowed, or revoked.
        """
        self._config, self._store, self._home = config, store, home
        self._bus, self._start, self._stop = bus, start, stop
        self._lock = asyncio.Lock()

    def allows(self, name: str, config: MCPServerConfig) -> bool:
        """Returns whether a server may be started with this entry: it does not run inside Tooltray, or the user consented to exactly it."""
        kept = self._kept.get(name)
        return config.transport != "inmemory" or (kept is not None and kept.digest == _digest(config))

    def waits(self, name: str) -> bool:
        """Returns whether a server of the settings waits for this consent."""
        config = self._config.own_settings.mcp_servers.get(name)
        return config is not None and not self.allows(name, config)

    def knows(self, name: str) -> bool:
        """Returns whether a name is of such a server, so that a decision about it belongs here."""
        return self.waits(name) or name in self._kept

    async def requests(self) -> list[TrustRequest]:
        """Returns the requests for consent."""
        waiting = {name: config for name, config in self._config.own_settings.mcp_servers.items() if not self.allows(name, config)}
        return await asyncio.to_thread(lambda: [self._request(name, config) for name, config in waiting.items()])

    async def trust(self, digests: Mapping[str, str]) -> list[str]:
        """Allows servers and starts those that were to run; returns their names.

        Raises:
            Denied: the caller is a program, not the user.
            NotFound: a server does not exist.
            Conflict: one of them has changed since; none was allowed.
            TooltrayError: the consent cannot be stored.
        """
        if asker_name():
            title = Phrase("only the user can approve a server inside Tooltray")
            raise Denied(title, "", Phrase("Review it in the window, or with: tooltray trust"))
        async with self._lock:
            for name, digest in digests.items():
                self._check(name, digest)
            now = time.time()
            await self._write({**self._kept, **{name: KeptEntry(name, digest, now) for name, digest in digests.items()}})
        for name in digests:
            await self._start(name)
        return list(digests)

    async def distrust(self, name: str) -> None:
        """Revokes a consent; the server is stopped.

        Raises:
            TooltrayError: this cannot be stored.
        """
        async with self._lock:
            await self._write({other: kept for other, kept in self._kept.items() if other != name})
        await self._stop(name)

    def rename(self, before: str, after: str) -> Awaitable[None]:
        """Gives the consent to a server to its new name. The rest, which is returned, stores it, and raises TooltrayError if it cannot."""
        if consent := self._kept.get(before):
            others = {name: kept for name, kept in self._kept.items() if name != before}
            self._store.kept = {NO_PROJECT: {**others, after: replace(consent, server=after)}}
        return self._save()

    async def _save(self) -> None:
        async with self._lock:
            await self._write(dict(self._kept))

    @property
    def _kept(self) -> Mapping[str, KeptEntry]:
        return self._store.kept.get(NO_PROJECT, {})

    async def _write(self, kept: dict[str, KeptEntry]) -> None:
        """Stores the consents, except for removed servers."""
        there = self._config.own_settings.mcp_servers
        after = {NO_PROJECT: {name: each for name, each in kept.items() if name in there}}
        await finish_in_thread(self._store.write, after)
        self._store.kept = after
        self._bus.publish(ServerFilesChanged())

    def _check(self, name: str, digest: str) -> None:
        config = self._config.own_settings.mcp_servers.get(name)
        if config is None or config.transport != "inmemory":
            raise NotFound(Phrase("'{name}' is not waiting for approval", name=name), hint=Phrase("List what is waiting: tooltray trust"))
        if _digest(config) != digest:
            reason = Phrase("it has been changed since you opened it, so nothing was trusted")
            raise Conflict(Phrase("'{name}' has changed meanwhile", name=name), reason, Phrase("Review it and decide again."))

    def _request(self, name: str, config: MCPServerConfig) -> TrustRequest:
        """Blocks for a few file system calls."""
        before = self._kept.get(name)
        request = trust_request(
            FileEntry(name, read_entry(name, config.to_entry()), config.to_entry()),
            Place(str(self._home), str(self._config.path), is_of_project=False),
            auto_approve=tuple(config.auto_approve),
            is_change=before is not None,
            before=None,
            environ={},
        )
        return replace(request, project="", digest=_digest(config), is_change=before is not None)


def _digest(config: MCPServerConfig) -> str:
    """Returns a digest that is equal exactly for entries that run in the same way."""
    return digest_of([config.command, list(config.arguments)])
