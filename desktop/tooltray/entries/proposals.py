"""Servers that programs want to add or to change, which wait for a person's yes: nothing of them runs, and what runs goes on.

Above it: McpPresenter's verbs, and the command line where no hub runs. Below it: the settings and projects' files, into which a yes writes,
and the secrets. No server is made of a proposal, so that none can be started by mistake. A yes is for what the person saw: its digest is
that of the content, where it would go, and what it would replace. Secrets that come with it are put away under names that nothing has used
before: it gets none that it does not name, and replaces none.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tooltray.confirmation import asker_name
from tooltray.entries.portable_entry import without_secrets
from tooltray.entries.proposal_store import KeptProposal, ProposalStore
from tooltray.entries.secret_uses import mentioned
from tooltray.errors import Conflict, Denied, NotFound, Problem, TooltrayError
from tooltray.events import EventBus, ServerChanged, ServerFilesChanged, ServerRemoved
from tooltray.files.revisions import check_revision, digest_of
from tooltray.phrases import Phrase
from tooltray.secrets.secrets import SecretStore
from tooltray.server_files.trust_requests import trust_request, wanted_variables
from tooltray.settings.file_server import FILE_NAME, FileEntry
from tooltray.settings.mcp_conf_helper import BUILTIN_NAMES, McpConfHelper
from tooltray.settings.settings import check_name, read_entry
from tooltray.settings.widening import entry_widens
from tooltray.snapshots.servers import ServerEntry, ServerSnapshot, ServerState
from tooltray.snapshots.trust import TrustRequest
from tooltray.tasks import finish_in_thread

logger = logging.getLogger(__name__)
MOST_WAITING = 50  # nobody reads more; a program that floods is told so
LARGEST_ENTRY_BYTES = 64 * 1024  # nobody reads a longer one before a yes
WAITS = Phrase("it waits for your yes")


class ProjectFiles(Protocol):
    """What of ServerFiles is used."""

    async def folder_to_write(self, project: str) -> str:
        """
        Raises:
            TooltrayError: no server may go into the file of that folder.
        """
        ...

    async def add(self, project: str, name: str, entry: Mapping[str, Any]) -> str: ...
    async def change(self, server: str, entry: Mapping[str, Any], revision: str) -> None: ...


class Proposals:
    """Belongs to one event loop; one change at a time."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        store: ProposalStore,
        secrets: SecretStore,
        files: ProjectFiles,
        remove_unused: Callable[[Collection[str]], Awaitable[list[str]]],
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        home: Path,
        bus: EventBus,
        snapshot: Callable[[str], ServerSnapshot | None] = lambda name: None,
    ) -> None:
        """
        Args:
            remove_unused: removes those secrets that no server uses.
            environ: the environment that servers get.
            home: the person's own folder, in which servers run.
            snapshot: of a server that there is.
        """
        self._config, self._store, self._secrets, self._files = config, store, secrets, files
        self._remove_unused, self._environ, self._home, self._bus, self._snapshot = remove_unused, environ, home, bus, snapshot
        self._kept = {name: kept for name, kept in store.kept.items() if _is_usable(name, kept)}
        self._lock = asyncio.Lock()

    # what waits

    @property
    def problem(self) -> Problem | None:
        """What went wrong with what is kept."""
        return self._store.problem

    def waits(self, name: str) -> bool:
        """Whether a server, or a change of it, waits for a yes."""
        return name in self._waiting()

    def is_new(self, name: str) -> bool:
        """Whether there is nothing of a server but that."""
        kept = self._waiting().get(name)
        return kept is not None and not kept.is_change

    @property
    def entries(self) -> dict[str, dict[str, Any]]:
        """Those that wait, by the servers' names."""
        return {name: kept.entry for name, kept in self._waiting().items()}

    def entry(self, name: str) -> ServerEntry:
        """How a new server is described."""
        return ServerEntry(name, dict(self._kept[name].entry), dict(self._kept[name].entry))

    def project(self, name: str) -> str:
        """Into whose file a new server would go."""
        return self._kept[name].project

    def snapshots(self) -> Iterator[ServerSnapshot]:
        """New servers, as they are shown beside those that there are."""
        return (self._new_snapshot(name, kept) for name, kept in self._waiting().items() if not kept.is_change)

    async def requests(self) -> list[TrustRequest]:
        """What a person has to know of each."""
        waiting = self._waiting()
        environ = await self._environ() if any(wanted_variables(read_entry(name, kept.entry)) for name, kept in waiting.items()) else {}
        return await asyncio.to_thread(lambda: [self._request(name, kept, environ) for name, kept in waiting.items()])

    def check_may_run(self, name: str) -> None:
        """
        Raises:
            Denied: a person has said yes to nothing of that server yet.
        """
        if self.is_new(name):
            raise Denied(Phrase("'{name}' does not run yet", name=name), WAITS, Phrase("Look at it in the window, or with: tooltray trust"))

    def _waiting(self) -> dict[str, KeptProposal]:
        """Without those of servers that were removed, and those whose name another server has by now."""
        there = self._config.settings.mcp_servers
        return {name: kept for name, kept in self._kept.items() if kept.is_change == (name in there)}

    # what programs want

    async def add(self, name: str, entry: Mapping[str, Any], *, is_default: bool, project: str, revision: str = "") -> str:
        """A server is to be added, or one that waits is to be another one.

        Args:
            project: a folder, into whose own file the entry is to go; empty: into the settings.
            revision: of what waits; empty: whatever it is.

        Raises:
            Denied: the folder's file may not be written.
            TooltrayError: it cannot be used, too much waits already, or it cannot be kept.
        """
        folder = await self._files.folder_to_write(project) if project else ""
        async with self._lock:
            check_name(name, BUILTIN_NAMES)
            before = self._waiting().get(name)
            check_revision(self._digest(name, before) if before else "", revision)
            asked = without_secrets(name, entry)
            await self._hold(name, asked.entry, asked.values, KeptProposal({}, folder, is_default=is_default))
        return name

    async def change(self, name: str, entry: Mapping[str, Any], revision: str) -> None:
        """A server is to be another one; a change that widens nothing is made at once, and ends one that waits.

        Raises:
            Conflict: it is another one by now.
            TooltrayError: it cannot be used, or is of a file that is not changed here; or it cannot be kept.
        """
        async with self._lock:
            check_revision(self._config.revision(name), revision)
            if (there := self._config.file_server(name)) and there.origin != "project":
                await self._files.change(name, entry, revision)  # raises, and says why such a file is not changed here
            was, asked = without_secrets(name, self._config.server_entry(name).entry), without_secrets(name, entry)
            new = {secret: value for secret, value in asked.values.items() if was.values.get(secret) != value}
            stored, values = await self._renamed(asked.entry, new, taken=was.values)
            named = set(mentioned(stored))
            kept = {secret: value for secret, value in was.values.items() if secret in named}
            if not entry_widens(name, was.entry, stored):
                for secret, value in kept.items():
                    await self._secrets.set(secret, value)
                await self._write(name, stored, revision)
                await self._forget(name)
            else:
                await self._hold(name, stored, kept | values, KeptProposal({}, is_change=True))

    async def _hold(self, name: str, entry: dict[str, Any], values: Mapping[str, str], made: KeptProposal) -> None:
        read_entry(name, entry)
        if len(msgspec.json.encode(entry)) > LARGEST_ENTRY_BYTES:
            raise TooltrayError("this entry is too long for a person to read", f"it has more than {LARGEST_ENTRY_BYTES // 1024} KiB")
        waiting = self._waiting()
        if len(waiting) >= MOST_WAITING and name not in waiting:
            raise TooltrayError(f"{MOST_WAITING} servers wait for a yes already", hint="A person has to look at them first: tooltray trust")
        if not made.is_change:
            entry, values = await self._renamed(entry, values)
        before = self._kept.get(name)
        for secret, value in values.items():
            await self._secrets.set(secret, value)
        kept = msgspec.structs.replace(made, entry=entry, asked_by=asker_name(), asked_at=time.time(), secrets=tuple(values))
        try:
            await self._save({**waiting, name: kept})
        except TooltrayError:
            await self._remove_unused(list(values))
            raise
        if before:
            await self._remove_unused(before.secrets)
        logger.info("the program '%s' wants to %s the server '%s'; %s", kept.asked_by, "change" if kept.is_change else "add", name, WAITS)
        self._tell(name)

    async def _renamed(
        self, entry: dict[str, Any], values: Mapping[str, str], taken: Collection[str] = ()
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """An entry and its secrets under names that nothing has used before.

        Args:
            taken: names that stand for something else in it.
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

    # a person's answer

    async def trust(self, digests: Mapping[str, str]) -> list[str]:
        """A person says yes; what is new starts as if it had been added here. Returns the servers' names.

        Args:
            digests: of what the person saw, by the servers' names.

        Raises:
            NotFound: one of them does not wait.
            Conflict: one of them is another one by now; none was trusted.
            TooltrayError: it cannot be written.
        """
        async with self._lock:
            waiting = self._waiting()
            for name, digest in digests.items():
                if name not in waiting:
                    raise _waits_not(name)
                if self._digest(name, waiting[name]) != digest:
                    reason = Phrase("somebody has changed it since you looked at it, and nothing was trusted")
                    title = Phrase("'{name}' is another one by now", name=name)
                    raise Conflict(title, reason, Phrase("Look again, and decide anew."))
            return [await self._carry_out(name, waiting[name]) for name in digests]

    async def withdraw(self, name: str) -> list[str]:
        """A person says no, or a program has thought better of it. Returns which of its secrets are gone.

        Raises:
            NotFound: it does not wait.
            TooltrayError: that cannot be written.
        """
        async with self._lock:
            if name not in self._waiting():
                raise _waits_not(name)
            return await self._forget(name)

    async def removed(self, name: str) -> None:
        """There is no such server any more, so that nothing is to be changed."""
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
        return await self._remove_unused(kept.secrets)

    async def _save(self, kept: dict[str, KeptProposal]) -> None:
        await finish_in_thread(self._store.write, kept)
        self._kept = kept

    # how it is shown

    def _tell(self, name: str, *, is_gone: bool = False) -> None:
        kept = self._waiting().get(name)
        shown = self._new_snapshot(name, kept) if kept and not kept.is_change else self._snapshot(name)
        if shown:
            self._bus.publish(ServerChanged(shown))
        elif is_gone:
            self._bus.publish(ServerRemoved(name))
        self._bus.publish(ServerFilesChanged())

    def _new_snapshot(self, name: str, kept: KeptProposal) -> ServerSnapshot:
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
            origin="proposal",
            file=self._file(name, kept),
            project=kept.project,
            revision=self._digest(name, kept),
            waiting=True,
        )

    def _request(self, name: str, kept: KeptProposal, environ: Mapping[str, str]) -> TrustRequest:
        """Blocks for a look or two at the disk."""
        config, before = read_entry(name, kept.entry), None
        if kept.is_change:
            there = without_secrets(name, self._config.server_entry(name).entry).entry
            before = FileEntry(name, read_entry(name, there), there)
        server = self._config.file_server(name)
        folder = kept.project or (server.folder if server else "")
        request = trust_request(
            FileEntry(name, config, kept.entry),
            folder=folder or str(self._home),
            file=self._file(name, kept),
            auto_approve=tuple(config.auto_approve),
            is_change=kept.is_change,
            before=before,
            environ=environ,
            is_of_project=bool(folder),
        )
        return replace(request, project="", digest=self._digest(name, kept), asked_by=kept.asked_by or "?")

    def _file(self, name: str, kept: KeptProposal) -> str:
        """Where it would be written."""
        if server := self._config.file_server(name):
            return server.file
        return str(Path(kept.project, FILE_NAME)) if kept.project else str(self._config.path)

    def _digest(self, name: str, kept: KeptProposal) -> str:
        return digest_of([kept.entry, kept.project, kept.is_default, self._config.revision(name) if kept.is_change else ""])


def _waits_not(name: str) -> NotFound:
    title = Phrase("'{name}' does not wait for a yes", name=name)
    return NotFound(title, hint=Phrase("See what does: tooltray trust"))


def _placeholder(secret: str) -> str:
    return f"${{secret:{secret}}}"


def _replaced(value: Any, old: str, new: str) -> Any:
    """A value of an entry with another placeholder in all its texts."""
    match value:
        case str():
            return value.replace(old, new)
        case list():
            return [_replaced(each, old, new) for each in value]
        case Mapping():
            return {key: _replaced(each, old, new) for key, each in value.items()}
    return value


def _is_usable(name: str, kept: KeptProposal) -> bool:
    """Somebody may have edited the file."""
    try:
        check_name(name, BUILTIN_NAMES)
        read_entry(name, kept.entry)
    except TooltrayError:
        return False
    return True
