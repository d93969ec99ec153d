"""Connects and disconnects AI clients, takes imported servers out of their files, and undoes all of it.

Above it: the API, imports, `tooltray uninstall`. Below it: file_edits (what would change), change_writer (makes and undoes it),
client_commands, backup_key. Each file for itself: one that fails does not stop the others, and says why in its result.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tooltray.ai_clients.backup_key import BackupKeys
from tooltray.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.phrases import Phrase
from tooltray.snapshots.ai_clients import ClientChange, ClientEdit
from tooltray.tasks import Spawn, finish_in_thread

if TYPE_CHECKING:
    from tooltray.ai_clients.change_store import BackupKey, ChangeRecord
    from tooltray.ai_clients.change_writer import ChangeWriter
    from tooltray.ai_clients.client_kinds import ClientKind
    from tooltray.ai_clients.client_look import ClientLook
    from tooltray.ai_clients.client_scans import ClientScans, Surroundings
    from tooltray.ai_clients.file_edits import Action, FileEdit
    from tooltray.ai_clients.found_entries import FoundEntry

VERIFIED_AFTER_S = (3.0, 12.0)  # Claude Code and Cursor write their files within seconds of what a person does in them
SWEPT_EVERY_S = 24 * 3600.0
Sleep = Callable[[float], Awaitable[None]]
Run = Callable[..., Awaitable[bool]]


class ClientEdits:
    """Belongs to the engine's loop. One change at a time."""

    def __init__(
        self,
        *,
        client_scans: "ClientScans",
        backup_keys: BackupKeys,
        change_writer: "ChangeWriter",
        mask: Callable[[str], str],
        spawn: Spawn,
        user_folder: Path,
        sleep: Sleep = asyncio.sleep,
        run: Run | None = None,
    ) -> None:
        """
        Args:
            mask: takes known secrets out of a text.
            user_folder: where clients' own commands run.
            sleep, run: `asyncio.sleep`, `client_commands.run`.
        """
        self._scans, self._keys, self._writer, self._mask, self._spawn = client_scans, backup_keys, change_writer, mask, spawn
        self._folder, self._sleep, self._run = user_folder, sleep, run
        self._lock = asyncio.Lock()

    def start(self) -> None:
        """Deletes old copies now and every day."""
        self._spawn(self._sweep(), name="old changes of AI clients' files")

    async def preview_connect(self, clients: Sequence[str] = ()) -> list[ClientEdit]:
        """
        Args:
            clients: ids; empty: all that are installed.

        Raises:
            NotFound: there is no such client.
        """
        return await self._preview("connect", clients)

    async def preview_disconnect(self, clients: Sequence[str] = ()) -> list[ClientEdit]:
        """
        Args:
            clients: ids; empty: all.

        Raises:
            NotFound: there is no such client.
        """
        return await self._preview("disconnect", clients)

    async def preview_removal(self, entries: Sequence["FoundEntry"]) -> list[ClientEdit]:
        """What taking servers out of their files would change."""
        around, look = await self._look()
        return await asyncio.to_thread(self._shown_removal, entries, around, look)

    async def apply(self, edits: Mapping[str, str]) -> list[ClientChange]:
        """Makes edits.

        Args:
            edits: revisions by the id of the edit; an empty revision accepts whatever the file is now.
        """
        async with self._lock:
            await finish_in_thread(self._writer.settle)
            return [await self._apply(edit, revision) for edit, revision in edits.items()]

    async def remove_entries(self, entries: Sequence["FoundEntry"]) -> list[ClientChange]:
        """Takes servers out of their files; one that is another one by now stays, and its result says so."""
        from tooltray.ai_clients.file_edits import removing

        async with self._lock:
            await finish_in_thread(self._writer.settle)
            around, look = await self._look()
            edits = await asyncio.to_thread(lambda: list(removing(entries)))
            return [await self._make(edit, around, look) for edit in edits]

    async def undo(self, change: str) -> ClientChange:
        """
        Raises:
            NotFound: there is no such change.
            Conflict: it was undone already, or something else stands where it was.
            TooltrayError: the file cannot be read or written.
        """
        async with self._lock:
            await finish_in_thread(self._writer.settle)
            record = await asyncio.to_thread(self._writer.store.get, change)
            key = await self._keys.get_or_make()
            return self._shown(await finish_in_thread(self._writer.undo, record, key))

    async def changes(self) -> list[ClientChange]:
        """All that were made and are not older than 30 days, the newest first."""
        async with self._lock:
            await finish_in_thread(self._writer.settle)
            found = await asyncio.to_thread(self._writer.changes)
        return [self._shown(record, undo) for record, undo in found]
