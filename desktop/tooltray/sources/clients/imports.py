"""Imports servers: adds each, waits until it has listed its tools, and only then removes its entry from its clients' files. An interrupted
import loses nothing: a client keeps each entry until its server has listed its tools here, and no client's file is changed before all
servers have been added. Files of projects stay unchanged, since other people use them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.confirm_widening import with_current_asker
from tooltray.foundation.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.foundation.events import EventBus, ImportProgressed
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange, ImportedServer, ImportPlan, moved_by
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import Spawn
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager
from tooltray.sources.clients.client_edits import ClientEdits, ClientScans
from tooltray.sources.entries.api import ServersApi

if TYPE_CHECKING:
    from tooltray.sources.clients.client_look import ClientLook
    from tooltray.sources.clients.found_entries import FoundEntry
    from tooltray.sources.clients.import_offers import Found, Offer


AT_ONCE = 6  # servers that are waited for at once; the number of simultaneous starts is limited elsewhere

Values = Mapping[str, Mapping[str, FieldValue]]
"""The user's values by the candidate's id and the field's key."""

ENDS_WITHIN_S = 1.0  # seconds after a cancel; without an open prompt, adding a server takes far less

T = TypeVar("T")


class ImportWaits:
    """The waits of an import; belongs to the engine's loop, and has no state of its own."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        spawn: Spawn,
        listed_within_s: float = STARTED_BY_HAND_WAIT_S,
    ) -> None:
        """
        Args:
            listed_within_s: how long to wait for the tools of one server; a slower one is imported, and also stays in its client.
        """
        self._config, self._servers, self._tools, self._spawn, self._listed_within_s = config, servers, tools, spawn, listed_within_s

    async def outcome(self, id: str, name: str, cancelled: asyncio.Event) -> ImportedServer:
        """Waits until an added server has listed its tools, or cannot; returns the outcome.

        Args:
            id: of its candidate.
            cancelled: ends the wait.
        """
        server = self._servers.find(name)
        if server is None or not self._will_list(server):
            return ImportedServer(id, name, "added")
        if server.state is ServerState.ERROR:  # it failed before, and is imported again
            server.start()
        self._tools.list_unknown_servers()
        await self._first_of(self._tools.listed(server), cancelled)
        return self._outcome(id, server)

    async def unless_cancelled(self, work: Coroutine[object, None, T], cancelled: asyncio.Event) -> T | None:
        """Runs work that may wait for a prompt of the keyring; returns None if the import was cancelled, and the work then undoes
        itself.
        """
        doing = self._spawn(with_current_asker(work), name="import a server")
        ending = self._spawn(cancelled.wait(), name="end of an import")
        try:
            await asyncio.wait((doing, ending), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait((doing,), timeout=ENDS_WITHIN_S)
            return doing.result() if doing.done() else None
        finally:
            ending.cancel()
            doing.cancel()

    def _will_list(self, server: ManagedServer) -> bool:
        """Returns whether a server may start without the user."""
        is_held = server.config.disable or server.config.deferred_startup or server.state is ServerState.STOPPED
        return self._config.settings.mcp_enabled and not is_held

    def _outcome(self, id: str, server: ManagedServer) -> ImportedServer:
        if self._tools.is_listed(server.name) and self._tools.is_offering(server):
            return ImportedServer(id, server.name, "listed", self._tools.tool_count(server.name))
        if server.state is ServerState.ERROR:
            return ImportedServer(id, server.name, "failed", problem=server.problem)
        return ImportedServer(id, server.name, "added")

    async def _first_of(self, *events: asyncio.Event) -> None:
        waiting = [self._spawn(event.wait(), name="wait for an imported server") for event in events]
        try:
            await asyncio.wait(waiting, timeout=self._listed_within_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()


class Imports:
    """The import that runs, if there is one; belongs to the engine's loop."""

    def __init__(
        self, *, secrets: SecretStore, servers_api: ServersApi, import_waits: ImportWaits, client_edits: ClientEdits, bus: EventBus
    ) -> None:
        self._secrets, self._servers, self._waits, self._edits, self._bus = secrets, servers_api, import_waits, client_edits, bus
        self._cancelled: asyncio.Event | None = None  # of the import that runs
        self._done = 0
        self._adding = asyncio.Lock()  # all parts of the hub handle a new server before the next one is added
        self._opening = asyncio.Lock()  # the place of secrets is opened once for all servers
        self._secrets_problem: TooltrayError | None = None
        self._has_asked = False

    def cancel(self) -> None:
        """Cancels the running import: no further server is added or waited for, and no file is changed."""
        if self._cancelled:
            self._cancelled.set()

    async def run(self, offers: "Sequence[Offer]", *, names: Mapping[str, str], values: Values, tidy: bool) -> list[ImportedServer]:
        """Imports servers; a failing one does not delay the others.

        Args:
            names: under which they are added, by their ids; others get the proposed one.
            tidy: removes servers that have listed their tools from the clients' own files.

        Raises:
            Conflict: an import runs already.
        """
        if self._cancelled:
            raise Conflict(Phrase("Servers are being imported already"), "", Phrase("Wait until that is done, or cancel it"))
        cancelled, self._done = asyncio.Event(), 0
        self._has_asked = False
        self._cancelled = cancelled
        self._bus.publish(ImportProgressed(0, len(offers), ""))
        few = asyncio.Semaphore(AT_ONCE)

        async def one(offer: "Offer") -> ImportedServer:
            async with few:
                name = names.get(offer.candidate.id) or offer.candidate.name
                made = await self._one(offer, name, values.get(offer.candidate.id, {}), cancelled, total=len(offers))
            self._done += 1
            self._bus.publish(ImportProgressed(self._done, len(offers), made.name, made.state))
            return made

        try:
            made = await asyncio.gather(*map(one, offers))
            return await self._tidied(offers, made) if tidy and not cancelled.is_set() else list(made)
        finally:
            self._cancelled = None

    async def _one(
        self, offer: "Offer", name: str, values: Mapping[str, FieldValue], cancelled: asyncio.Event, *, total: int
    ) -> ImportedServer:
        id = offer.candidate.id
        found = await self._waits.unless_cancelled(self._come_in(offer, name, values, cancelled, total=total), cancelled)
        if found is None:
            return ImportedServer(id, name, "cancelled")
        if isinstance(found, Problem):
            return ImportedServer(id, name, "failed", problem=found)
        return await self._waits.outcome(id, found, cancelled)

    async def _come_in(
        self, offer: "Offer", name: str, values: Mapping[str, FieldValue], cancelled: asyncio.Event, *, total: int
    ) -> str | Problem | None:
        """Returns the name of the added server, the reason why it was not added, or None if the import was cancelled before."""
        try:
            if _has_secrets(offer):
                await self._open_secrets(total)
            async with self._adding:
                return None if cancelled.is_set() else await self._added(offer, name, values)
        except TooltrayError as error:
            return error.problem

    async def _open_secrets(self, total: int) -> None:
        """Opens the place of secrets, once for all servers of an import: a locked place shows one prompt.

        Raises:
            TooltrayError: it cannot be used.
        """
        async with self._opening:
            if not self._has_asked:
                self._bus.publish(ImportProgressed(self._done, total, "", "unlocking"))
                self._has_asked, self._secrets_problem = True, None
                try:
                    await self._secrets.check()
                except TooltrayError as error:
                    self._secrets_problem = error
                self._bus.publish(ImportProgressed(self._done, total, ""))
        if self._secrets_problem is not None:
            raise self._secrets_problem

    async def _added(self, offer: "Offer", name: str, values: Mapping[str, FieldValue]) -> str:
        if offer.candidate.state == "same":
            return offer.candidate.here
        entry, secrets = offer.stored_as(name, values, self._secrets.known_values())
        return await self._servers.add_mcp_server(name, entry, is_default=False, secrets=secrets)

    # removing entries from the clients

    async def _tidied(self, offers: "Sequence[Offer]", made: Sequence[ImportedServer]) -> list[ImportedServer]:
        """Removes servers that have listed their tools from the clients' files; a failure is a problem in the server's result."""
        leaving = [_leaving(offer) if each.state == "listed" else [] for offer, each in zip(offers, made, strict=True)]
        entries = [entry for each in leaving for entry in each]
        try:
            kept = {edit.path for edit in await self._edits.preview_removal(entries) if edit.needs_own_yes} if entries else set()
            changes = await self._edits.remove_entries([entry for entry in entries if str(entry.path) not in kept]) if entries else []
        except TooltrayError as error:
            return [replace(each, problem=error.problem) if gone else each for each, gone in zip(made, leaving, strict=True)]
        return [_left(each, gone, changes, kept) for each, gone in zip(made, leaving, strict=True)]


def _has_secrets(offer: "Offer") -> bool:
    """Returns whether adding this server stores secrets."""
    candidate = offer.candidate
    return candidate.state != "same" and (bool(candidate.secrets) or any(field.is_secret for field in candidate.asks))


def _leaving(offer: "Offer") -> "list[FoundEntry]":
    """Returns the entries of an imported server that its clients do not need any more."""
    return [each.entry for each in offer.found if each.entry and each.state == "on" and not each.source.project]


def _left(made: ImportedServer, gone: "Sequence[FoundEntry]", changes: Sequence[ClientChange], kept: Collection[str]) -> ImportedServer:
    """Adds to a result the outcome for the server's entries in its clients' files.

    Args:
        kept: files under version control, which are not changed.
    """
    paths = {(str(entry.path), entry.name) for entry in gone}
    of_it = tuple(change for change in changes if any(change.path == path and name in change.servers for path, name in paths))
    if staying := [path for path, _ in sorted(paths) if path in kept]:
        reason = Phrase("it is under version control; take its entry out by hand")
        return replace(made, removed_from=of_it, problem=Problem(Phrase("{file} is not changed by Tooltray", file=staying[0]), reason))
    return replace(made, removed_from=of_it)


async def put_back(edits: ClientEdits) -> list[ClientChange]:
    """Restores in the clients' files the entries that imports have removed, keys included; the last change first.

    Entries that cannot be restored are in the result, with the reason. The servers here stay.
    """
    made: list[ClientChange] = []
    for change in moved_by(await edits.changes()):
        try:
            made.append(await edits.undo(change.id))
        except TooltrayError as error:
            made.append(replace(change, action="undo", undo="none", problem=error.problem))
    return made


class ClientImports:
    """The import of servers; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        secrets: SecretStore,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        own_url: Callable[[], str | None],
        user_folder: Path,
        client_scans: ClientScans,
        imports: Imports,
    ) -> None:
        """
        Args:
            environ: returns the environment that servers get.
            own_url: where the hub listens, `http://host:port`; None: nowhere.
            user_folder: the user's home.
        """
        self._config, self._secrets, self._environ, self._own_url = config, secrets, environ, own_url
        self._home, self._scans, self._imports = user_folder, client_scans, imports

    async def preview(self, clients: Sequence[str], text: str, file: str) -> ImportPlan:
        """Returns the candidates for an import; see `AiClientsApi.preview_client_import`."""
        offers, problems = await self._offers(clients, text, file)
        return ImportPlan(tuple(offer.candidate for offer in offers), problems)

    async def run(
        self, choices: Sequence[str], *, names: Mapping[str, str], values: Values, tidy: bool, clients: Sequence[str], text: str, file: str
    ) -> list[ImportedServer]:
        """Imports the chosen servers; see `AiClientsApi.import_servers`."""
        offers, _ = await self._offers(clients, text, file)
        known = {offer.candidate.id: offer for offer in offers}
        if missing := [id for id in choices if id not in known]:
            message = Phrase("{number} of the selected servers have changed or are gone; nothing was imported", number=len(missing))
            raise Conflict(Phrase("What was to be imported has changed"), message, Phrase("Review them and decide again."))
        return await self._imports.run([known[id] for id in dict.fromkeys(choices)], names=names, values=values, tidy=tidy)

    def cancel(self) -> None:
        self._imports.cancel()

    async def _offers(self, clients: Sequence[str], text: str, file: str) -> "tuple[list[Offer], tuple[Problem, ...]]":
        from tooltray.sources.clients.import_plan import offers

        if text or file:
            found, problems = await asyncio.to_thread(self._given, text, file), tuple[Problem, ...]()
        else:
            found, problems = await self._of_clients(clients)
        made = await offers(found, config=self._config, secrets=self._secrets, environ=self._environ, user_folder=self._home)
        return made, problems

    def _given(self, text: str, file: str) -> "list[Found]":
        from tooltray.sources.clients.client_kinds import read_client_kinds
        from tooltray.sources.clients.import_offers import of_file, of_text

        if text and file:
            raise TooltrayError(Phrase("Give a text or a file, not both"))
        own_url, kinds = self._own_url(), read_client_kinds()
        return of_text(text, own_url=own_url, kinds=kinds) if text else of_file(file, own_url=own_url, kinds=kinds)

    async def _of_clients(self, clients: Sequence[str]) -> "tuple[list[Found], tuple[Problem, ...]]":
        look = await self._scans.look()
        return await asyncio.to_thread(_of_clients, look, clients)


def _of_clients(look: "ClientLook", clients: Sequence[str]) -> "tuple[list[Found], tuple[Problem, ...]]":
    """Returns the servers in the files of some clients, or of all; blocks on the disk.

    Raises:
        NotFound: a client is unknown.
    """
    from tooltray.sources.clients.client_kinds import read_client_kinds
    from tooltray.sources.clients.import_offers import of_clients

    kinds = {kind.id: kind for kind in read_client_kinds()}
    if unknown := [client for client in clients if client not in kinds]:
        hint = Phrase("See those that are known with: tooltray clients scan --all")
        raise NotFound(Phrase("AI client '{name}' not found", name=unknown[0]), "", hint)
    files = [file for id in dict.fromkeys(clients or kinds) for file in look.files(kinds[id])]
    problems = {str(file.place.path): file.problem for file in files if file.problem and file.document is None}
    return of_clients(look.entries()), tuple(problems.values())
