"""Proposals: servers that programs want to add or change, which wait for a person's consent. Running servers stay unchanged meanwhile.

No server object is made of a proposal, so that none can be started by mistake. A consent applies to what the person saw: its digest covers
the content, the target file and the replaced entry. Secrets of a proposal are stored under names that were never used, so that it neither
gets nor replaces other secrets.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

import msgspec

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name, read_given_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.widening import entry_widens
from tooltray.consent.kept_file import KeptFile
from tooltray.foundation.confirmation import asker_name
from tooltray.foundation.errors import Conflict, Denied, NotFound, Problem, TooltrayError
from tooltray.foundation.events import EventBus, ServerChanged, ServerFilesChanged, ServerRemoved
from tooltray.foundation.files.json_text import check_revision
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.entries import ServerUpdatePreview
from tooltray.foundation.snapshots.servers import ServerEntry, ServerSnapshot
from tooltray.foundation.tasks import finish_in_thread
from tooltray.sources.entries.portable_entry import without_secrets
from tooltray.sources.entries.proposal_snapshots import WAITS, KeptProposal, KeptProposals, ProposalSnapshots
from tooltray.sources.entries.server_secrets import ServerSecrets, mentioned

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

    async def add(self, project: str, name: str, entry: Mapping[str, Any]) -> str: ...
    async def change(self, server: str, entry: Mapping[str, Any], revision: str) -> None: ...


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
    def entries(self) -> dict[str, dict[str, Any]]:
        """The waiting entries by the servers' names."""
        return {name: kept.entry for name, kept in self._waiting().items()}

    def entry(self, name: str) -> ServerEntry:
        """Returns the entry of a proposed new server."""
        return ServerEntry(name, dict(self._kept[name].entry), dict(self._kept[name].entry))

    def preview(self, name: str, entry: Mapping[str, Any]) -> ServerUpdatePreview:
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
            raise Denied(Phrase("'{name}' does not run yet", name=name), WAITS, Phrase("Look at it in the window, or with: tooltray trust"))

    def _waiting(self) -> dict[str, KeptProposal]:
        """Returns the waiting proposals, without changes of removed servers and new servers whose name is taken by now."""
        there = self._config.settings.mcp_servers
        return {name: kept for name, kept in self._kept.items() if kept.is_change == (name in there)}

    # for programs

    async def add(
        self, name: str, entry: Mapping[str, Any], secrets: Mapping[str, str] = {}, *, is_default: bool, project: str, revision: str = ""
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

    async def change(self, name: str, entry: Mapping[str, Any], revision: str, secrets: Mapping[str, str] = {}) -> None:
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

    async def _hold(self, name: str, entry: dict[str, Any], values: Mapping[str, str], made: KeptProposal) -> None:
        read_given_entry(name, entry)
        if len(msgspec.json.encode(entry)) > LARGEST_ENTRY_BYTES:
            raise TooltrayError(
                Phrase("this entry is too long for a person to read"),
                Phrase("it has more than {largest_entry_bytes} KiB", largest_entry_bytes=LARGEST_ENTRY_BYTES // 1024),
            )
        waiting = self._waiting()
        if len(waiting) >= MOST_WAITING and name not in waiting:
            raise TooltrayError(
                Phrase("{most_waiting} servers wait for a yes already", most_waiting=MOST_WAITING),
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
        self, entry: dict[str, Any], values: Mapping[str, str], taken: Collection[str] = ()
    ) -> tuple[dict[str, Any], dict[str, str]]:
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
                    reason = Phrase("somebody has changed it since you looked at it, and nothing was trusted")
                    title = Phrase("'{name}' is another one by now", name=name)
                    raise Conflict(title, reason, Phrase("Look again, and decide anew."))
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

    async def _write(self, name: str, entry: Mapping[str, Any], revision: str) -> None:
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
    title = Phrase("'{name}' does not wait for a yes", name=name)
    return NotFound(title, hint=Phrase("See what does: tooltray trust"))


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
