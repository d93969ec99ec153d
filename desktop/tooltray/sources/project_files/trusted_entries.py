"""The trusted entries of projects' own files while the hub runs, and the names of their servers.

Above it: ServerFiles, and `tooltray trust` without a hub. Below it: TrustStore, the disk.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from tooltray.foundation.errors import NotFound, Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.trust import TrustedEntry
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.upstream.project_folder import shown
from tooltray.sources.project_files.server_names import look, server_name
from tooltray.sources.project_files.trust_store import Kept, KeptEntry, TrustStore


class Trust:
    """Belongs to one event loop. A consent is written to the disk before it takes effect."""

    def __init__(self, store: TrustStore, *, is_taken: Callable[[str], bool], reserved: Collection[str]) -> None:
        """
        Args:
            is_taken: returns whether a server that is not from a project's own file has this or a similar name.
            reserved: names of built-in servers.
        """
        self._store, self._is_taken, self._reserved = store, is_taken, reserved
        self._kept: Kept = {folder: dict(entries) for folder, entries in store.kept.items()}
        self._names = {kept.server for entries in self._kept.values() for kept in entries.values()}
        self._held: set[tuple[str, str]] = set()
        self._lock = asyncio.Lock()
        self._is_saved = True

    @property
    def problem(self) -> Problem | None:
        """The problem of the stored consents, if there is one."""
        return self._store.problem

    @property
    def lost(self) -> tuple[str, ...]:
        """See TrustStore.lost."""
        return self._store.lost

    def has_name(self, name: str) -> bool:
        """Returns whether a server of a project's file has this name, or had it when it was last seen."""
        return name in self._names

    def is_trusted(self, name: str) -> bool:
        """Returns whether the server with this name is trusted."""
        return self.place(name) is not None

    def place(self, name: str) -> tuple[str, str] | None:
        """Returns folder and entry of the trusted server with this name; None if there is none."""
        for folder, entries in self._kept.items():
            for entry, kept in entries.items():
                if kept.server == name and kept.digest:
                    return folder, entry
        return None

    def digest(self, folder: str, entry: str) -> str:
        """Returns the digest of the trusted content of an entry; empty for none."""
        kept = self._kept.get(folder, {}).get(entry)
        return kept.digest if kept else ""

    def knows(self, folder: str) -> bool:
        """Returns whether any entry of a folder is trusted."""
        return any(kept.digest for kept in self._kept.get(folder, {}).values())

    def name(self, folder: str, entry: str) -> str:
        """Returns the permanent name of an entry's server; chooses one at first, and again after the settings have taken it."""
        entries = self._kept.setdefault(folder, {})
        kept = entries.get(entry)
        if kept and not self._is_taken(kept.server):
            return kept.server
        others = {look(name) for name in self._names}
        name = server_name(entry, folder, lambda name: look(name) not in others and not self._is_taken(name), self._reserved)
        self._names.discard(kept.server if kept else "")
        self._names.add(name)
        entries[entry] = msgspec.structs.replace(kept, server=name) if kept else KeptEntry(name)
        self._is_saved = False
        return name

    @property
    def servers(self) -> dict[str, dict[str, str]]:
        """The names in the hub of all known entries' servers, by the project's folder and the name in the file."""
        return {folder: {entry: kept.server for entry, kept in entries.items()} for folder, entries in self._kept.items()}

    def forget_unseen(self, folder: str, written: Collection[str]) -> None:
        """Releases the names of entries that are no longer in the file and were never trusted."""
        entries = self._kept.get(folder, {})
        for gone in [entry for entry, kept in entries.items() if not kept.digest and entry not in written]:
            self._names.discard(entries.pop(gone).server)
            self._is_saved = False

    def entries(self) -> Iterator[TrustedEntry]:
        """Yields all trusted entries."""
        for folder, entries in self._kept.items():
            for entry, kept in entries.items():
                if kept.digest:
                    yield TrustedEntry(folder, entry, kept.server, kept.trusted_at, kept.is_own)

    def files(self, folder: str, entry: str) -> Mapping[str, str] | None:
        """Returns the digests of the files that a trusted entry starts, as they were allowed; None where nobody knows them yet."""
        kept = self._kept.get(folder, {}).get(entry)
        return kept.files if kept else None

    @property
    def file_digests(self) -> set[str]:
        """The digests of all such files."""
        return {digest for entries in self._kept.values() for kept in entries.values() for digest in (kept.files or {}).values()}

    def hold(self, folder: str, entry: str) -> None:
        """A trusted entry starts files that are other ones by now: it waits for another yes."""
        self._held.add((folder, entry))

    def is_held(self, folder: str, entry: str) -> bool:
        return (folder, entry) in self._held

    async def keep_files(self, folder: str, entry: str, files: Mapping[str, str]) -> None:
        """Notes which files a trusted entry starts, where that was not known.

        Raises:
            TooltrayError: it cannot be stored.
        """
        kept = self._kept.get(folder, {}).get(entry)
        if kept is not None and kept.digest:
            known = msgspec.structs.replace(kept, files=dict(files))
            await self._change(lambda all_kept: all_kept.setdefault(folder, {}).update({entry: known}))

    async def say_yes(
        self, folder: str, digests: Mapping[str, str], *, is_own: bool = False, files: Mapping[str, Mapping[str, str]] = {}
    ) -> list[str]:
        """Trusts entries and returns their servers' names.

        Args:
            digests: digests of the contents, by the entries' names.
            is_own: whether Tooltray itself writes the entries.
            files: what they start, by the entries' names; of others that is taken at the next start.

        Raises:
            TooltrayError: the consent cannot be stored; nothing has changed.
        """
        now = time.time()
        names = {entry: self.name(folder, entry) for entry in digests}
        yes = {entry: KeptEntry(names[entry], digest, now, is_own, files.get(entry)) for entry, digest in digests.items()}
        await self._change(lambda kept: kept.setdefault(folder, {}).update(yes))
        self._held -= {(folder, entry) for entry in digests}
        return list(names.values())

    async def take_back(self, folder: str, entry: str) -> list[str]:
        """Withdraws consent and returns the names of the servers; the names stay reserved while the entries are in the file.

        Args:
            entry: empty for all entries of the folder.

        Raises:
            NotFound: it is not trusted.
            TooltrayError: the change cannot be stored; nothing has changed.
        """
        entries = self._kept.get(folder, {})
        taken = {name: kept.server for name, kept in entries.items() if kept.digest and entry in ("", name)}
        if not taken:
            whole = Phrase("'{folder}' is not trusted", folder=shown(folder))
            title = Phrase("'{entry}' of '{folder}' is not trusted", entry=shown(entry), folder=shown(folder)) if entry else whole
            raise NotFound(title, hint=Phrase("See what is: tooltray trust list"))
        await self._change(lambda kept: kept[folder].update({name: KeptEntry(server) for name, server in taken.items()}))
        return list(taken.values())

    async def save(self) -> None:
        """Stores names that were chosen since the last write.

        Raises:
            TooltrayError: they cannot be stored.
        """
        if not self._is_saved:
            await self._change(lambda kept: None)

    async def _change(self, edit: Callable[[Kept], None]) -> None:
        """Makes one change at a time; names chosen meanwhile are kept."""
        async with self._lock:
            draft = {folder: dict(entries) for folder, entries in self._kept.items()}
            edit(draft)
            was_saved, self._is_saved = self._is_saved, True
            try:
                await finish_in_thread(self._store.write, draft)
            except BaseException:
                self._is_saved = was_saved
                raise
            edit(self._kept)
