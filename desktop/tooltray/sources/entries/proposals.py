"""Proposals: servers that programs want to add or change, which wait for a person's consent. Running servers stay unchanged meanwhile.

No server object is made of a proposal, so that none can be started by mistake, and no version of Tooltray starts servers from
`proposals.json` of the home, where they are stored over restarts. A consent applies to what the person saw: its digest covers the content,
the target file and the replaced entry. Secrets of a proposal are stored under names that were never used, so that it neither gets nor
replaces other secrets.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec
from msgspec.structs import replace

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.file_server import FILE_NAME, FileEntry
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_entry, check_name, read_entry, read_given_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.widening import entry_widens
from tooltray.consent.kept_file import KeptFile, UnixTime
from tooltray.foundation.confirm_widening import asker_name
from tooltray.foundation.errors import Conflict, Denied, NotFound, Problem, TooltrayError
from tooltray.foundation.events import EventBus, ServerChanged, ServerFilesChanged, ServerRemoved
from tooltray.foundation.files.json_text import check_revision, digest_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.entries import ServerUpdatePreview
from tooltray.foundation.snapshots.servers import ServerEntry, ServerSnapshot, ServerState
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.servers.confinement.confinements import Confinements
from tooltray.sources.entries.portable_entry import without_secrets
from tooltray.sources.entries.server_entries import entry_diff
from tooltray.sources.entries.server_secrets import ServerSecrets, mentioned
from tooltray.sources.project_files.trust_requests import Place, trust_request, wanted_variables

LARGEST_BYTES = 8 * 2**20  # more than all waiting proposals can have


class KeptProposal(msgspec.Struct, rename="camel", frozen=True):
    """
    Attributes:
        entry: the entry for the file, without plain secrets.
        project: the folder of the project whose own file it is for; empty for the settings.
        is_change: whether it changes an existing server.
        is_default: whether the server would start with the hub.
        asked_by: name of the token of the program.
        asked_at: time in unix seconds.
        secrets: names of the secrets that were stored for it.
    """

    entry: JsonObject
    project: str = ""
    is_change: bool = False
    is_default: bool = True
    asked_by: str = ""
    asked_at: UnixTime = 0.0
    secrets: tuple[str, ...] = ()


class KeptProposals(msgspec.Struct):
    version: Literal[1] = 1
    servers: dict[str, KeptProposal] = {}


def proposal_store(path: Path) -> KeptFile[KeptProposals]:
    """Reads the file of one home."""
    return KeptFile(
        path,
        KeptProposals,
        most_bytes=LARGEST_BYTES,
        unread=Phrase("what programs have proposed cannot be read, so it is forgotten"),
        remedy=Phrase("Let the programs send it once more."),
        unsaved=Phrase("servers that wait for your approval cannot be saved"),
    )


WAITS = Phrase("it waits for your approval")


class ProposalSnapshots:
    """The read-only views of proposals; belongs to one event loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        home: Path,
        confinements: Confinements,
        snapshot: Callable[[str], ServerSnapshot | None] = lambda name: None,
    ) -> None:
        """
        Args:
            environ: returns the environment that servers get.
            home: the user's home folder, in which servers run.
            snapshot: returns the snapshot of an existing server.
        """
        self._config, self._environ, self._home, self._confinements = config, environ, home, confinements
        self.of_existing = snapshot

    async def requests(self, waiting: Mapping[str, KeptProposal]) -> list[TrustRequest]:
        """Returns the requests for consent to some proposals, by the servers' names."""
        environ = await self._environ() if any(wanted_variables(read_entry(name, kept.entry)) for name, kept in waiting.items()) else {}
        return await asyncio.to_thread(lambda: [self._request(name, kept, environ) for name, kept in waiting.items()])

    def preview(self, name: str, kept: KeptProposal, entry: JsonMapping) -> ServerUpdatePreview:
        """Returns what another entry of a proposed new server would change."""
        diff, slips = entry_diff(name, kept.entry, entry), tuple(check_entry(entry))
        return ServerUpdatePreview(self._file(name, kept), diff, revision=self.digest(name, kept), slips=slips)

    def of_new(self, name: str, kept: KeptProposal) -> ServerSnapshot:
        """Returns the snapshot of a proposed new server."""
        config = read_entry(name, kept.entry)
        return ServerSnapshot(
            name=name,
            transport=config.transport,
            target=config.target,
            state=ServerState.WAITING,
            since=kept.asked_at,
            is_default=kept.is_default,
            is_disabled=config.disable,
            icon=config.icons,
            description=config.descriptions,
            detail=WAITS,
            auto_approve=tuple(config.auto_approve),
            isolation=config.isolation,
            idle_stop_s=config.idle_stop,
            confinement=self._confinements.of(name, config),
            origin="proposal",
            file=self._file(name, kept),
            project=kept.project,
            revision=self.digest(name, kept),
            waiting=True,
        )

    def _request(self, name: str, kept: KeptProposal, environ: Mapping[str, str]) -> TrustRequest:
        """Builds the request for consent; blocks for a few file system calls."""
        config, before = read_entry(name, kept.entry), None
        if kept.is_change:
            there = without_secrets(name, self._config.server_entry(name).entry).entry
            before = FileEntry(name, read_entry(name, there), there)
        server = self._config.file_server(name)
        folder = kept.project or (server.folder if server else "")
        request = trust_request(
            FileEntry(name, config, kept.entry),
            Place(folder or str(self._home), self._file(name, kept), is_of_project=bool(folder)),
            auto_approve=tuple(config.auto_approve),
            confinement=self._confinements.of("", config),
            is_change=kept.is_change,
            before=before,
            environ=environ,
        )
        return replace(request, project="", digest=self.digest(name, kept), asked_by=kept.asked_by or "?")

    def _file(self, name: str, kept: KeptProposal) -> str:
        """Returns the path of the file into which the entry would be written."""
        if server := self._config.file_server(name):
            return server.file
        return str(Path(kept.project, FILE_NAME)) if kept.project else str(self._config.path)

    def digest(self, name: str, kept: KeptProposal) -> str:
        """Returns the digest of all that a consent applies to: the content, the target file and the replaced entry."""
        return digest_of([kept.entry, kept.project, kept.is_default, self._config.revision(name) if kept.is_change else ""])


logger = logging.getLogger(__name__)
MOST_WAITING = 50  # users read no more; further proposals are refused
LARGEST_ENTRY_BYTES = 64 * 1024  # users would not read a longer entry before the consent


class ProjectFiles(Protocol):
    """The part of ProjectServers that is used here."""

    async def folder_to_write(self, project: str) -> str:
        """Returns the real path of a project's folder whose file may be written.

        Raises:
            TooltrayError: the folder's file may not be written.
        """
        ...

    async def add(self, project: str, name: str, entry: JsonMapping) -> str: ...
    async def change(self, server: str, entry: JsonMapping, revision: str) -> None: ...


class Proposals:
    """The proposals of programs and their acceptance; belongs to one event loop, and makes one change at a time."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        store: KeptFile[KeptProposals],
        secrets: SecretStore,
        files: ProjectFiles,
        server_secrets: ServerSecrets,
        bus: EventBus,
        snapshots: ProposalSnapshots,
    ) -> None:
        self._config, self._store, self._secrets, self._files = config, store, secrets, files
        self._server_secrets, self._bus, self._snapshots = server_secrets, bus, snapshots
        self._kept = {name: kept for name, kept in store.content.servers.items() if _is_usable(name, kept)}
        self._lock = asyncio.Lock()

    # waiting proposals

    @property
    def problem(self) -> Problem | None:
        """The problem with the stored proposals, if there is one."""
        return self._store.problem

    def waits(self, name: str) -> bool:
        """Returns whether a server or a change of it waits for consent."""
        return name in self._waiting()

    def is_new(self, name: str) -> bool:
        """Returns whether a server exists only as a proposal."""
        kept = self._waiting().get(name)
        return kept is not None and not kept.is_change

    @property
    def entries(self) -> dict[str, JsonObject]:
        """The waiting entries by the servers' names."""
        return {name: kept.entry for name, kept in self._waiting().items()}

    def entry(self, name: str) -> ServerEntry:
        """Returns the entry of a proposed new server."""
        return ServerEntry(name, dict(self._kept[name].entry), dict(self._kept[name].entry))

    def preview(self, name: str, entry: JsonMapping) -> ServerUpdatePreview:
        """Returns what another entry of a proposed new server would change."""
        return self._snapshots.preview(name, self._kept[name], entry)

    def project(self, name: str) -> str:
        """Returns the project whose file a new server is for; empty for the settings."""
        return self._kept[name].project

    def snapshots(self) -> Iterator[ServerSnapshot]:
        """Yields snapshots of proposed new servers, to be shown beside the existing ones."""
        return (self._snapshots.of_new(name, kept) for name, kept in self._waiting().items() if not kept.is_change)

    async def requests(self) -> list[TrustRequest]:
        """Returns the requests for consent, with all that a person must know."""
        return await self._snapshots.requests(self._waiting())

    def check_may_run(self, name: str) -> None:
        """Checks that a server is not only a proposal.

        Raises:
            Denied: no person has consented to the server yet.
        """
        if self.is_new(name):
            raise Denied(Phrase("'{name}' does not run yet", name=name), WAITS, Phrase("Review it in the window, or with: tooltray trust"))

    def _waiting(self) -> dict[str, KeptProposal]:
        """Returns the waiting proposals, without changes of removed servers and new servers whose name is taken by now."""
        there = self._config.settings.mcp_servers
        return {name: kept for name, kept in self._kept.items() if kept.is_change == (name in there)}

    # for programs

    async def add(
        self, name: str, entry: JsonMapping, secrets: Mapping[str, str] = {}, *, is_default: bool, project: str, revision: str = ""
    ) -> str:
        """Proposes a new server, or replaces a waiting proposal of this name.

        Args:
            secrets: values by the names of secrets that the entry uses.
            project: folder of the project whose own file the entry is for; empty for the settings.
            revision: expected revision of the waiting proposal; empty for any.

        Raises:
            Denied: the folder's file may not be written.
            TooltrayError: the entry cannot be used, too many proposals wait, or it cannot be stored.
        """
        folder = await self._files.folder_to_write(project) if project else ""
        async with self._lock:
            check_name(name, BUILTIN_NAMES)
            before = self._waiting().get(name)
            check_revision(self._snapshots.digest(name, before) if before else "", revision)
            asked = without_secrets(name, entry)
            await self._hold(name, asked.entry, {**asked.values, **secrets}, KeptProposal({}, folder, is_default=is_default))
        return name

    async def change(self, name: str, entry: JsonMapping, revision: str, secrets: Mapping[str, str] = {}) -> None:
        """Proposes a change of a server; a change that widens nothing is made at once and replaces a waiting one.

        Args:
            secrets: as in `add`.

        Raises:
            Conflict: the server has another revision.
            TooltrayError: the entry cannot be used or stored, or its file is not changed by Tooltray.
        """
        read_given_entry(name, entry)
        async with self._lock:
            check_revision(self._config.revision(name), revision)
            if (there := self._config.file_server(name)) and there.origin != "project":
                await self._files.change(name, entry, revision)  # raises the error that explains why such a file is not changed
            was, asked = without_secrets(name, self._config.server_entry(name).entry), without_secrets(name, entry)
            new = {secret: value for secret, value in {**asked.values, **secrets}.items() if was.values.get(secret) != value}
            stored, values = await self._renamed(asked.entry, new, taken=was.values)
            named = set(mentioned(stored))
            kept = {secret: value for secret, value in was.values.items() if secret in named}
            if not entry_widens(name, was.entry, stored):
                async with self._server_secrets.stored(kept):
                    await self._write(name, stored, revision)
                await self._forget(name)
            else:
                await self._hold(name, stored, kept | values, KeptProposal({}, is_change=True))

    async def _hold(self, name: str, entry: JsonObject, values: Mapping[str, str], made: KeptProposal) -> None:
        read_given_entry(name, entry)
        if len(msgspec.json.encode(entry)) > LARGEST_ENTRY_BYTES:
            raise TooltrayError(
                Phrase("this entry is too long for a person to read"),
                Phrase("it has more than {largest_entry_bytes} KiB", largest_entry_bytes=LARGEST_ENTRY_BYTES // 1024),
            )
        waiting = self._waiting()
        if len(waiting) >= MOST_WAITING and name not in waiting:
            raise TooltrayError(
                Phrase("{most_waiting} servers already wait for approval", most_waiting=MOST_WAITING),
                hint=Phrase("A person has to look at them first: tooltray trust"),
            )
        if not made.is_change:
            entry, values = await self._renamed(entry, values)
        before = self._kept.get(name)
        kept = msgspec.structs.replace(made, entry=entry, asked_by=asker_name(), asked_at=time.time(), secrets=tuple(values))
        async with self._server_secrets.stored(values, are_used=False):
            await self._save({**waiting, name: kept})
        if before:
            await self._server_secrets.remove_unused(before.secrets)
        logger.info("the program '%s' wants to %s the server '%s'; %s", kept.asked_by, "change" if kept.is_change else "add", name, WAITS)
        self._tell(name)

    async def _renamed(
        self, entry: JsonObject, values: Mapping[str, str], taken: Collection[str] = ()
    ) -> tuple[JsonObject, dict[str, str]]:
        """Returns an entry and its secrets under names that were never used.

        Args:
            taken: names that the entry uses for other secrets.
        """
        if not values:
            return entry, {}
        known = {*await self._secrets.names(), *taken}
        renamed: dict[str, str] = {}
        for secret, value in values.items():
            name, number = secret, 1
            while name in known or name in renamed:
                number += 1
                name = f"{secret}_{number}"
            renamed[name] = value
            entry = {key: _replaced(member, _placeholder(secret), _placeholder(name)) for key, member in entry.items()}
        return entry, renamed

    # for the person

    async def trust(self, digests: Mapping[str, str]) -> list[str]:
        """Accepts proposals: a new server starts as if the person had added it. Returns the servers' names.

        Args:
            digests: digests of what the person saw, by the servers' names.

        Raises:
            NotFound: the proposal does not exist.
            Conflict: a proposal has changed; none was accepted.
            TooltrayError: an entry cannot be written.
        """
        async with self._lock:
            waiting = self._waiting()
            for name, digest in digests.items():
                if name not in waiting:
                    raise _waits_not(name)
                if self._snapshots.digest(name, waiting[name]) != digest:
                    reason = Phrase("it has been changed since you opened it, so nothing was trusted")
                    title = Phrase("'{name}' has changed meanwhile", name=name)
                    raise Conflict(title, reason, Phrase("Review it and decide again."))
            return [await self._carry_out(name, waiting[name]) for name in digests]

    async def withdraw(self, name: str) -> list[str]:
        """Deletes a proposal, declined by the person or withdrawn by the program. Returns the names of its removed secrets.

        Raises:
            NotFound: the proposal does not exist.
            TooltrayError: the change cannot be stored.
        """
        async with self._lock:
            if name not in self._waiting():
                raise _waits_not(name)
            return await self._forget(name)

    async def rename(self, before: str, after: str) -> None:
        """Gives the proposed change of a server to its new name.

        Raises:
            TooltrayError: it cannot be stored.
        """
        async with self._lock:
            if before in self._kept:
                await self._save({after if name == before else name: each for name, each in self._kept.items()})
                self._tell(after)

    async def removed(self, name: str) -> None:
        """Deletes the proposed change of a server that was removed."""
        async with self._lock:
            await self._forget(name)

    async def _carry_out(self, name: str, kept: KeptProposal) -> str:
        server = name
        if kept.is_change:
            await self._write(name, kept.entry, "")
        elif kept.project:
            server = await self._files.add(kept.project, name, kept.entry)
        else:
            await self._config.set_server(name, kept.entry, is_default=kept.is_default, is_new=True)
        await self._save({other: each for other, each in self._kept.items() if other != name})
        self._tell(name, is_gone=server != name)
        return server

    async def _write(self, name: str, entry: JsonMapping, revision: str) -> None:
        if self._config.file_server(name):
            await self._files.change(name, entry, revision)
        else:
            await self._config.set_server(name, entry, revision=revision)

    async def _forget(self, name: str) -> list[str]:
        kept = self._kept.get(name)
        if kept is None:
            return []
        await self._save({other: each for other, each in self._kept.items() if other != name})
        self._tell(name, is_gone=not kept.is_change)
        return await self._server_secrets.remove_unused(kept.secrets)

    async def _save(self, kept: dict[str, KeptProposal]) -> None:
        await finish_in_thread(self._store.write, KeptProposals(servers=kept))
        self._kept = kept

    def _tell(self, name: str, *, is_gone: bool = False) -> None:
        kept = self._waiting().get(name)
        shown = self._snapshots.of_new(name, kept) if kept and not kept.is_change else self._snapshots.of_existing(name)
        if shown:
            self._bus.publish(ServerChanged(shown))
        elif is_gone:
            self._bus.publish(ServerRemoved(name))
        self._bus.publish(ServerFilesChanged())


def _waits_not(name: str) -> NotFound:
    title = Phrase("'{name}' is not waiting for approval", name=name)
    return NotFound(title, hint=Phrase("List what is waiting: tooltray trust"))


def _placeholder(secret: str) -> str:
    return f"${{secret:{secret}}}"


def _replaced(value: Any, old: str, new: str) -> Any:
    """Replaces a placeholder in all texts of a value."""
    match value:
        case str():
            return value.replace(old, new)
        case list():
            return [_replaced(each, old, new) for each in value]
        case Mapping():
            return {key: _replaced(each, old, new) for key, each in value.items()}
    return value


def _is_usable(name: str, kept: KeptProposal) -> bool:
    """Returns whether a stored proposal is valid; the file may have been edited."""
    try:
        check_name(name, BUILTIN_NAMES)
        read_given_entry(name, kept.entry)
    except TooltrayError:
        return False
    return True
