"""Connects and disconnects AI clients, takes imported servers out of their files, and undoes all of it.

Above it: the API, imports, `tooltray uninstall`. Below it: file_edits (what would change), change_writer (makes and undoes it),
client_cli, backup_key. Most of it is loaded with the first change, since most starts of a hub need none. Each file for
itself: one that fails does not stop the others, and says why in its result.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange, ClientEdit
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.sources.clients.backup_key import BackupKeys
from tooltray.sources.clients.edit_names import name_of, parts_of

if TYPE_CHECKING:
    from tooltray.sources.clients.change_store import BackupKey, ChangeRecord
    from tooltray.sources.clients.change_writer import ChangeWriter
    from tooltray.sources.clients.client_kinds import ClientKind
    from tooltray.sources.clients.client_look import ClientLook
    from tooltray.sources.clients.client_scans import ClientScans, Surroundings
    from tooltray.sources.clients.edit_names import Action
    from tooltray.sources.clients.file_edits import FileEdit
    from tooltray.sources.clients.found_entries import FoundEntry

VERIFIED_AFTER_S = (3.0, 12.0)  # Claude Code and Cursor write their files within seconds of what a person does in them
SWEPT_EVERY_S = 24 * 3600.0
Sleep = Callable[[float], Awaitable[None]]
Run = Callable[..., Awaitable[bool]]


class Outside(msgspec.Struct, frozen=True, eq=False):
    """`asyncio.sleep`, and what runs clients' own commands; None: `client_cli.run`."""

    sleep: Sleep = asyncio.sleep
    run: Run | None = None


class ClientEdits:
    """Belongs to the engine's loop. One change at a time."""

    def __init__(
        self,
        *,
        client_scans: "ClientScans",
        backup_keys: BackupKeys,
        home: Home,
        mask: Callable[[str], str],
        spawn: Spawn,
        user_folder: Path,
        outside: Outside = Outside(),  # noqa: B008 (frozen)
    ) -> None:
        """
        Args:
            mask: takes known secrets out of a text.
            home: of Tooltray, where changes are written down.
            user_folder: where clients' own commands run.
        """
        self._scans, self._keys, self._mask, self._spawn = client_scans, backup_keys, mask, spawn
        self._changes, self._folder, self._sleep, self._run = home.client_changes, user_folder, outside.sleep, outside.run
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
        from tooltray.sources.clients.file_edits import removing

        async with self._lock:
            await finish_in_thread(self._writer.settle)
            around, look = await self._look()
            edits = await asyncio.to_thread(lambda: list(removing(entries)))
            return [await self._make(edit, around, look) for edit in edits]

    async def undoing_writes(self, change: str) -> bool:
        """Whether undoing a change would put an entry into its file.

        Raises:
            NotFound: there is no such change.
        """
        record = await asyncio.to_thread(self._writer.store.get, change)
        return any(not entry.is_new for entry in record.entries)

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
            key, around = await self._keys.get_or_make(), await self._scans.surroundings()
            return self._shown(await finish_in_thread(self._writer.undo, record, key, own_url=around.own.url))

    async def changes(self) -> list[ClientChange]:
        """All that were made and are not older than 30 days, the newest first."""
        async with self._lock:
            await finish_in_thread(self._writer.settle)
            found = await asyncio.to_thread(self._writer.changes)
        return [self._shown(record, undo) for record, undo in found]

    @cached_property
    def _writer(self) -> "ChangeWriter":
        from tooltray.sources.clients.change_store import ChangeStore
        from tooltray.sources.clients.change_writer import ChangeWriter

        return ChangeWriter(ChangeStore(self._changes))

    async def _preview(self, action: "Action", clients: Sequence[str]) -> list[ClientEdit]:
        around, look = await self._look()
        return await asyncio.to_thread(self._shown_plans, action, clients, around, look)

    async def _look(self) -> tuple["Surroundings", "ClientLook"]:
        return await self._scans.surroundings(), await self._scans.look()

    def _shown_plans(self, action: "Action", clients: Sequence[str], around: "Surroundings", look: "ClientLook") -> list[ClientEdit]:
        from tooltray.sources.clients import edit_plans

        kinds = edit_plans.chosen(action, clients, look)
        edits = [self._described(edit, around, look) for edit in edit_plans.planned(action, kinds, around, look)]
        if action != "connect":
            return edits
        unable = ((kind, edit_plans.why_unable(kind, look)) for kind in kinds)
        return edits + [
            ClientEdit(name_of("connect", kind.id, ""), kind.id, "connect", "", problem=problem) for kind, problem in unable if problem
        ]

    def _shown_removal(self, entries: Sequence["FoundEntry"], around: "Surroundings", look: "ClientLook") -> list[ClientEdit]:
        from tooltray.sources.clients.file_edits import removing

        return [self._described(edit, around, look) for edit in removing(entries)]

    def _described(self, edit: "FileEdit", around: "Surroundings", look: "ClientLook") -> ClientEdit:
        from tooltray.sources.clients.client_cli import command_for
        from tooltray.sources.clients.edit_diff import diff_of
        from tooltray.sources.clients.version_control import WorkTrees

        document = edit.document
        text, is_new = (document.text, not document.exists) if document else ("", False)
        diff = diff_of(text, edit.text, str(edit.path), is_new=is_new, mask=self._mask) if edit.is_change else ""
        return ClientEdit(
            edit.id,
            edit.kind.id,
            edit.action,
            str(edit.path),
            edit.revision,
            diff,
            command_for(edit, look, around.environ),
            needs_own_yes=WorkTrees().holds(edit.path),
            problem=edit.problem,
        )

    async def _apply(self, name: str, revision: str) -> ClientChange:
        from tooltray.sources.clients import edit_plans

        around, look = await self._look()
        action, client, path = parts_of(name)
        try:
            edit = await asyncio.to_thread(edit_plans.edit_named, name, around, look)
        except TooltrayError as error:
            return ClientChange("", client, action, path, 0.0, problem=error.problem)
        if revision and revision != edit.revision:
            return _failed(edit, _has_changed(path))
        return await self._make(edit, around, look)

    async def _make(self, edit: "FileEdit", around: "Surroundings", look: "ClientLook") -> ClientChange:
        if edit.problem:
            return _failed(edit, edit.problem)
        if not edit.is_change:
            return ClientChange("", edit.kind.id, edit.action, str(edit.path), 0.0, note=Phrase("nothing had to be changed"))
        try:
            key = await self._keys.get_or_make()
            record = await self._made_by_command(edit, around, look, key)
            if record is None:
                record = await finish_in_thread(self._writer.make, edit, key)
        except TooltrayError as error:
            return _failed(edit, error.problem)
        is_running = await asyncio.to_thread(look.places.is_running, edit.kind)
        if is_running is not False:
            self._spawn(self._verify(edit, record.id), name=f"verify {edit.kind.id}")
        return self._shown(record, "exact", edit.kind)

    async def _made_by_command(
        self, edit: "FileEdit", around: "Surroundings", look: "ClientLook", key: "BackupKey | None"
    ) -> "ChangeRecord | None":
        """Has the client make an edit; None: it has no command for it, or that did not do it."""
        from tooltray.sources.clients import client_cli

        command = await asyncio.to_thread(client_cli.command_for, edit, look, around.environ)
        if not command:
            return None
        record = await finish_in_thread(self._writer.begin, edit, key)
        run = self._run or client_cli.run
        try:
            await run(command, around.environ, cwd=str(self._folder))
        finally:  # whatever it says, the file tells whether it was done
            done = await finish_in_thread(self._writer.end_elsewhere, record)
        return done

    async def _verify(self, edit: "FileEdit", change: str) -> None:
        """Makes an edit once more if its client, which runs, has written its file as it was before."""
        for delay_s in VERIFIED_AFTER_S:
            await self._sleep(delay_s)
            async with self._lock:
                if await finish_in_thread(self._writer.repair, edit, change):
                    return

    async def _sweep(self) -> None:
        while True:
            if await asyncio.to_thread(self._changes.is_dir):
                async with self._lock:
                    await finish_in_thread(self._writer.settle)
                    await finish_in_thread(self._writer.store.forget_old)
            await self._sleep(SWEPT_EVERY_S)

    def _shown(self, record: "ChangeRecord", undo: str = "none", kind: "ClientKind | None" = None) -> ClientChange:
        from tooltray.sources.clients.client_kinds import note_of

        names = tuple(dict.fromkeys(entry.place[-1] for entry in record.entries))
        note = record.note or (note_of(kind) if kind else "")
        return ClientChange(
            record.id,
            record.client,
            record.action,
            record.path,
            record.at,
            names,
            undo=undo,  # type: ignore[arg-type]  # undo_of gives no other words
            is_encrypted=record.is_encrypted,
            note=note,
        )


def _failed(edit: "FileEdit", problem: Problem) -> ClientChange:
    return ClientChange("", edit.kind.id, edit.action, str(edit.path), 0.0, edit.names, problem=problem)


def _has_changed(path: str) -> Problem:
    return Problem(
        Phrase("{file} has changed since", file=path), Phrase("another program has saved it"), Phrase("Look at the change again")
    )
