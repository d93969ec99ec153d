"""What is trusted of projects' own files while the hub runs, and how their servers are called.

Above it: ServerFiles, and `tooltray trust` where no hub runs. Below it: TrustStore, the disk.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from tooltray.errors import NotFound, Problem
from tooltray.phrases import Phrase
from tooltray.server_files.server_names import look, server_name
from tooltray.server_files.trust_store import Kept, KeptEntry, TrustStore
from tooltray.snapshots.trust import TrustedEntry
from tooltray.tasks import finish_in_thread
from tooltray.upstream.project_folder import shown


class Trust:
    """Belongs to one event loop. A yes is written before it counts."""

    def __init__(self, store: TrustStore, *, is_taken: Callable[[str], bool], reserved: Collection[str]) -> None:
        """
        Args:
            is_taken: whether a server besides those of projects' own files is called that, or nearly that.
            reserved: names that only servers of ours have.
        """
        self._store, self._is_taken, self._reserved = store, is_taken, reserved
        self._kept: Kept = {folder: dict(entries) for folder, entries in store.kept.items()}
        self._names = {kept.server for entries in self._kept.values() for kept in entries.values()}
        self._lock = asyncio.Lock()
        self._is_saved = True

    @property
    def problem(self) -> Problem | None:
        """What went wrong with what is kept."""
        return self._store.problem

    @property
    def lost(self) -> tuple[str, ...]:
        """Files that name projects which are not known here."""
        return self._store.lost

    def has_name(self, name: str) -> bool:
        """Whether a server of a project's file is called that, or was when it was last seen."""
        return name in self._names

    def is_trusted(self, name: str) -> bool:
        """Whether a person said yes to the server that is called that."""
        return self.place(name) is not None

    def place(self, name: str) -> tuple[str, str] | None:
        """Folder and entry of the server that is called that, if a person said yes to it."""
        for folder, entries in self._kept.items():
            for entry, kept in entries.items():
                if kept.server == name and kept.digest:
                    return folder, entry
        return None

    def digest(self, folder: str, entry: str) -> str:
        """Of the content that a person said yes to; empty: to none."""
        kept = self._kept.get(folder, {}).get(entry)
        return kept.digest if kept else ""

    def knows(self, folder: str) -> bool:
        """Whether a person said yes to anything of a folder."""
        return any(kept.digest for kept in self._kept.get(folder, {}).values())

    def name(self, folder: str, entry: str) -> str:
        """How the server of an entry is called, always; found out when it is first asked for, and when the settings have taken the name."""
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
        """How the server of each entry that is known is called here, by its project's folder and its name in the file."""
        return {folder: {entry: kept.server for entry, kept in entries.items()} for folder, entries in self._kept.items()}

    def forget_unseen(self, folder: str, written: Collection[str]) -> None:
        """The names of what is not in the file any more, and was never trusted, may be given to others."""
        entries = self._kept.get(folder, {})
        for gone in [entry for entry, kept in entries.items() if not kept.digest and entry not in written]:
            self._names.discard(entries.pop(gone).server)
            self._is_saved = False

    def entries(self) -> Iterator[TrustedEntry]:
        """All to which a person said yes."""
        for folder, entries in self._kept.items():
            for entry, kept in entries.items():
                if kept.digest:
                    yield TrustedEntry(folder, entry, kept.server, kept.trusted_at, kept.is_own)

    async def say_yes(self, folder: str, digests: Mapping[str, str], *, is_own: bool = False) -> list[str]:
        """Returns the servers' names.

        Args:
            digests: of the contents, by the entries' names.
            is_own: Tooltray itself writes them.

        Raises:
            TooltrayError: it cannot be kept; nothing has changed.
        """
        now = time.time()
        names = {entry: self.name(folder, entry) for entry in digests}
        yes = {entry: KeptEntry(names[entry], digest, now, is_own) for entry, digest in digests.items()}
        await self._change(lambda kept: kept.setdefault(folder, {}).update(yes))
        return list(names.values())

    async def take_back(self, folder: str, entry: str) -> list[str]:
        """Returns the names of the servers that were trusted; another's they become only when nobody sees them any more.

        Args:
            entry: empty: all of the folder.

        Raises:
            NotFound: nobody said yes to that.
            TooltrayError: it cannot be kept; nothing has changed.
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
        """Writes names that were found out since.

        Raises:
            TooltrayError: they cannot be kept.
        """
        if not self._is_saved:
            await self._change(lambda kept: None)

    async def _change(self, edit: Callable[[Kept], None]) -> None:
        """One at a time; names that are found out meanwhile stay."""
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
