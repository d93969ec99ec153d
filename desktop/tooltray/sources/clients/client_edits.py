"""Reads the files of the AI clients on this computer, connects and disconnects the clients, takes servers out, and undoes these changes.

Each file is changed independently: a failure does not stop the others, and its result has the reason. The code that reads and changes
files is imported with the first use, since most starts of a hub need none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange, ClientEdit, ClientScan
from tooltray.foundation.tasks import Spawn, finish_in_thread

if TYPE_CHECKING:
    from tooltray.sources.clients.bridge_entries import OwnEntry
    from tooltray.sources.clients.change_store import ChangeRecord, CopyKey
    from tooltray.sources.clients.change_writer import ChangeWriter
    from tooltray.sources.clients.client_kinds import ClientKind
    from tooltray.sources.clients.client_look import ClientLook
    from tooltray.sources.clients.file_edits import FileEdit
    from tooltray.sources.clients.found_entries import FoundEntry


class ClientScans:
    """The scans of AI clients; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        home: Home,
        config: McpConfHelper,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        own_url: Callable[[], str | None],
        known_projects: Callable[[], Iterable[str]],
    ) -> None:
        """
        Args:
            environ: the user's variables; the first call may take as long as their login shell.
            own_url: the hub's address, `http://host:port`; None if it has none.
            known_projects: folders that the user has allowed, or that sessions work on.
        """
        self._home, self._config, self._environ, self._own_url, self._known_projects = home, config, environ, own_url, known_projects

    async def scan(self, projects: Iterable[str] = ()) -> ClientScan:
        """Implements AiClientsApi.scan_ai_clients."""
        from tooltray.sources.clients.client_kinds import read_client_kinds
        from tooltray.sources.clients.client_look import scan
        from tooltray.sources.clients.import_offers import of_clients
        from tooltray.sources.clients.import_plan import count_new

        look, entries = await self.look(projects), tuple(self._config.entries.values())
        found = await asyncio.to_thread(lambda: scan(look, read_client_kinds()))
        new = await asyncio.to_thread(lambda: count_new(of_clients(look.entries()), entries, look.places.home))
        return replace(found, new_servers=new)

    async def look(self, projects: Iterable[str] = ()) -> "ClientLook":
        """Returns the files themselves; each is read on access, which blocks, so access them in a thread."""
        from tooltray.sources.clients.client_kinds import ClientPlaces
        from tooltray.sources.clients.client_look import ClientLook

        environ = await self._environ()
        own = await asyncio.to_thread(self._own_entry)
        return ClientLook(ClientPlaces(environ), own=own, projects=dict.fromkeys((*projects, *self._known_projects())))

    def skill_text(self, look: "ClientLook") -> str:
        """Returns the text of Tooltray's own skill for the present servers."""
        from tooltray.sources.clients.agent_skill import skill_command, skill_text

        return skill_text(self._config.own_settings.mcp_servers, skill_command(self._home, look.places.environ))

    def _own_entry(self) -> "OwnEntry":
        from tooltray.foundation.installs.installations import bridge_entry
        from tooltray.sources.clients.bridge_entries import OwnEntry

        entry, http, address = bridge_entry(self._home)["mcpServers"]["tooltray"], self._config.settings.publish.http, self._own_url()
        words = (entry["command"], *entry["args"])
        return OwnEntry(words, address or f"http://{http.host}:{http.port}", has_http=address is not None)


SWEPT_EVERY_S = 24 * 3600.0


class ClientEdits:
    """The edits of AI clients' files, one at a time. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        client_scans: ClientScans,
        secrets: SecretStore,
        home: Home,
        mask: Callable[[str], str],
        spawn: Spawn,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """
        Args:
            secrets: where the key of the copies is kept.
            home: of Tooltray, where changes are recorded.
            mask: takes known secrets out of a text.
        """
        self._scans, self._secrets, self._mask, self._spawn = client_scans, secrets, mask, spawn
        self._folder, self._sleep = home.client_changes, sleep
        self._lock = asyncio.Lock()

    def start(self) -> None:
        """Deletes old copies now and every day."""
        self._spawn(self._sweep(), name="old changes of AI clients' files")

    async def preview(self, action: Literal["connect", "disconnect"], clients: Sequence[str] = ()) -> list[ClientEdit]:
        """Implements AiClientsApi.preview_connect and preview_disconnect."""
        from tooltray.sources.clients.edit_previews import previews

        return await asyncio.to_thread(previews, action, clients, await self._scans.look(), self._mask)

    async def skill_text(self) -> str:
        """Implements AiClientsApi.get_own_skill."""
        return self._scans.skill_text(await self._scans.look())

    async def preview_skill(self, clients: Sequence[str], folder: str) -> list[ClientEdit]:
        """Implements AiClientsApi.preview_own_skill."""
        from tooltray.sources.clients.edit_previews import preview_of
        from tooltray.sources.clients.skill_edits import planned_skills

        look = await self._scans.look()
        text = self._scans.skill_text(look)
        return await asyncio.to_thread(
            lambda: [preview_of(edit, look, self._mask) for edit in planned_skills(clients, folder, text, look.places)]
        )

    async def preview_removal(self, entries: Sequence["FoundEntry"]) -> list[ClientEdit]:
        """Returns the edits that would remove servers from their files."""
        from tooltray.sources.clients.edit_previews import preview_of
        from tooltray.sources.clients.file_edits import removing

        look = await self._scans.look()
        return await asyncio.to_thread(lambda: [preview_of(edit, look, self._mask) for edit in removing(entries)])

    async def apply(self, edits: Mapping[str, str]) -> list[ClientChange]:
        """Implements AiClientsApi.apply_client_edits."""
        async with self._lock:
            return [await self._apply(edit, revision) for edit, revision in edits.items()]

    async def remove_entries(self, entries: Sequence["FoundEntry"]) -> list[ClientChange]:
        """Removes servers from their files; a server that has changed meanwhile stays, with a problem in its result."""
        from tooltray.sources.clients.file_edits import removing

        async with self._lock:
            look = await self._scans.look()
            edits = await asyncio.to_thread(lambda: list(removing(entries)))
            return [await self._make(edit, look) for edit in edits]

    async def undoing_writes(self, change: str) -> bool:
        """Returns whether undoing a change would put an entry, or an earlier skill, into its file.

        Raises:
            NotFound: the change does not exist.
        """
        record = await asyncio.to_thread(self._writer.store.get, change)
        return any(not entry.is_new for entry in record.entries) or (record.format == "text" and bool(record.before))

    async def undo(self, change: str) -> ClientChange:
        """Implements AiClientsApi.undo_client_change."""
        async with self._lock:
            record = await asyncio.to_thread(self._writer.store.get, change)
            key, look = await self._key(), await self._scans.look()
            return _shown(await finish_in_thread(self._writer.undo, record, key, own_url=look.own.url))

    async def changes(self) -> list[ClientChange]:
        """Returns all changes that are not older than 30 days, the newest first."""
        async with self._lock:
            return [_shown(record, undo) for record, undo in await asyncio.to_thread(self._writer.changes)]

    @cached_property
    def _writer(self) -> "ChangeWriter":
        from tooltray.sources.clients.change_store import ChangeStore
        from tooltray.sources.clients.change_writer import ChangeWriter

        return ChangeWriter(ChangeStore(self._folder))

    async def _key(self) -> "CopyKey | None":
        from tooltray.sources.clients.change_store import get_or_make_key

        return await get_or_make_key(self._secrets)

    async def _apply(self, id: str, revision: str) -> ClientChange:
        from tooltray.sources.clients.file_edits import edit_named, parse_edit_id
        from tooltray.sources.clients.skill_edits import skill_edit_named

        look = await self._scans.look()
        action, client, path = parse_edit_id(id)
        try:
            if action == "skill":
                edit = await asyncio.to_thread(skill_edit_named, client, path, self._scans.skill_text(look), look.places)
            else:
                edit = await asyncio.to_thread(edit_named, id, look)
        except TooltrayError as error:
            return ClientChange("", client, action, path, 0.0, problem=error.problem)
        if revision and revision != edit.revision:
            return _failed(edit, _has_changed(path))
        if edit.is_foreign and not revision:
            title = Phrase("{file} was not written by Tooltray", file=path)
            return _failed(edit, Problem(title, Phrase("it is replaced only after its difference was shown")))
        return await self._make(edit, look)

    async def _make(self, edit: "FileEdit", look: "ClientLook") -> ClientChange:
        if edit.problem:
            return _failed(edit, edit.problem)
        if not edit.is_change:
            return ClientChange("", edit.kind.id, edit.action, str(edit.path), 0.0, note=Phrase("nothing had to be changed"))
        try:
            key = await self._key()
            record = await self._made_by_command(edit, look, key)
            if record is None:
                record = await finish_in_thread(self._writer.make, edit, key)
        except TooltrayError as error:
            return _failed(edit, error.problem)
        return _shown(record, "exact", edit.kind)

    async def _made_by_command(self, edit: "FileEdit", look: "ClientLook", key: "CopyKey | None") -> "ChangeRecord | None":
        """Makes the client apply an edit by its own command; returns None if it has no command for the edit, or if the command did not
        apply it.
        """
        from tooltray.sources.clients.change_writer import command_for, run

        command = await asyncio.to_thread(command_for, edit, look)
        if not command:
            return None
        record = await finish_in_thread(self._writer.record, edit, key)
        try:
            await run(command, look.places.environ, cwd=str(look.places.home))
        finally:  # only the file shows whether the change was made
            done = await finish_in_thread(self._writer.confirm, record)
        return done

    async def _sweep(self) -> None:
        while True:
            if await asyncio.to_thread(self._folder.is_dir):
                async with self._lock:
                    await finish_in_thread(self._writer.store.delete_old)
            await self._sleep(SWEPT_EVERY_S)


def _shown(record: "ChangeRecord", undo: str = "none", kind: "ClientKind | None" = None) -> ClientChange:
    from tooltray.sources.clients.client_kinds import note_of

    return ClientChange(
        record.id,
        record.client,
        record.action,
        record.path,
        record.at,
        tuple(dict.fromkeys(entry.place[-1] for entry in record.entries)),
        undo=undo,  # type: ignore[arg-type]  # ChangeWriter.changes gives no other words
        is_encrypted=record.is_encrypted,
        note=record.note or (note_of(kind) if kind else ""),
    )


def _failed(edit: "FileEdit", problem: Problem) -> ClientChange:
    return ClientChange("", edit.kind.id, edit.action, str(edit.path), 0.0, edit.names, problem=problem)


def _has_changed(path: str) -> Problem:
    return Problem(Phrase("{file} has changed since", file=path), Phrase("another program has saved it"), Phrase("Review the change again"))
