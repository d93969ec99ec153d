"""The user's consents to entries of projects' own files: stored in `trust.json` of the home, and in memory while the hub runs."""

import asyncio
import os
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Literal

import msgspec

from tooltray.config.settings.given_entries import BUILTIN_NAMES, FORBIDDEN_IN_NAMES, MAX_NAME_LENGTH, check_name
from tooltray.consent.kept_file import KeptFile, UnixTime
from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustedEntry
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.upstream.project_folder import shown

LARGEST_BYTES = 32 * 2**20  # some hundred thousand entries


class KeptEntry(msgspec.Struct, rename="camel", frozen=True):
    """The stored facts about one entry, never its content, which may contain keys.

    Attributes:
        server: the server's name in the hub, assigned when the entry was first seen.
        digest: digest of the content to which the user consented; empty for none.
        trusted_at: time of the consent in unix seconds.
        is_own: whether Tooltray itself wrote the content.
        files: digests of the project's files that it starts, as they were then, by their paths; None: they are taken at the next start
            (of a consent of an older version, and of what Tooltray has written).
    """

    server: str
    digest: str = ""
    trusted_at: UnixTime = 0.0
    is_own: bool = False
    files: Mapping[str, str] | None = None


Kept = dict[str, dict[str, KeptEntry]]
"""Consents by the project's folder and the entry's name in its file."""


class _File(msgspec.Struct):
    version: Literal[1] = 1
    projects: Kept = {}


class TrustStore:
    """The store of one home. `write` blocks on the disk and must not run concurrently.

    If the file cannot be read, nothing is trusted: it is set aside, and `problem` reports it.
    """

    def __init__(self, path: Path) -> None:
        self._file = KeptFile(
            path,
            _File,
            most_bytes=LARGEST_BYTES,
            unread=Phrase("your trust in projects' servers cannot be read, so none of it counts"),
            remedy=Phrase("Trust the servers of your projects again."),
            unsaved=Phrase("what is trusted cannot be saved"),
        )
        self.kept, self.problem = self._file.content.projects, self._file.problem

    @property
    def lost(self) -> tuple[str, ...]:
        """See KeptFile.lost."""
        return self._file.lost

    def write(self, kept: Mapping[str, Mapping[str, KeptEntry]]) -> None:
        """Replaces all consents.

        Raises:
            TooltrayError: the file cannot be written; the earlier consents stay.
        """
        self._file.write(_File(projects={folder: dict(entries) for folder, entries in kept.items() if entries}))


class Trust:
    """The consents in memory; belongs to one event loop. A consent is written to the disk before it takes effect."""

    def __init__(self, store: TrustStore, *, is_taken: Callable[[str], bool], reserved: Collection[str] = BUILTIN_NAMES) -> None:
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

    def has_name(self, name: str) -> bool:
        """Returns whether a server of a project's file has this name, or had it when it was last seen."""
        return name in self._names

    def place(self, name: str) -> tuple[str, str] | None:
        """Returns folder and entry of the trusted server with this name; None without such a server."""
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
        """Returns the digests of the files that a trusted entry starts, as they were allowed; None if they are not known yet."""
        kept = self._kept.get(folder, {}).get(entry)
        return kept.files if kept else None

    @property
    def file_digests(self) -> set[str]:
        """The digests of all files that trusted entries start."""
        return {digest for entries in self._kept.values() for kept in entries.values() for digest in (kept.files or {}).values()}

    def hold(self, folder: str, entry: str) -> None:
        """Makes a trusted entry wait for consent again, since files that it starts have changed."""
        self._held.add((folder, entry))

    def is_held(self, folder: str, entry: str) -> bool:
        return (folder, entry) in self._held

    async def keep_files(self, folder: str, entry: str, files: Mapping[str, str]) -> None:
        """Stores which files a trusted entry starts, if that was not known.

        Raises:
            TooltrayError: it cannot be stored.
        """
        kept = self._kept.get(folder, {}).get(entry)
        if kept is not None and kept.digest:
            known = msgspec.structs.replace(kept, files=dict(files))
            await self._change(lambda all_kept: all_kept.setdefault(folder, {}).update({entry: known}))

    async def allow(
        self, folder: str, digests: Mapping[str, str], *, is_own: bool = False, files: Mapping[str, Mapping[str, str]] = {}
    ) -> list[str]:
        """Trusts entries and returns their servers' names.

        Args:
            digests: digests of the contents, by the entries' names.
            is_own: whether Tooltray itself writes the entries.
            files: the files that they start, by the entries' names; for other entries they are recorded at the next start.

        Raises:
            TooltrayError: the consent cannot be stored; nothing has changed.
        """
        now = time.time()
        names = {entry: self.name(folder, entry) for entry in digests}
        yes = {entry: KeptEntry(names[entry], digest, now, is_own, files.get(entry)) for entry, digest in digests.items()}
        await self._change(lambda kept: kept.setdefault(folder, {}).update(yes))
        self._held -= {(folder, entry) for entry in digests}
        return list(names.values())

    async def revoke(self, folder: str, entry: str) -> list[str]:
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


NO_NAME = "server"  # replaces a name without a usable character
REMEMBERED = 4096  # names in the cache; each is looked up whenever a file's servers are listed
_TO_DASHES = str.maketrans(dict.fromkeys(FORBIDDEN_IN_NAMES, "-"))


def server_name(written: str, folder: str, is_free: Callable[[str], bool], reserved: Collection[str] = ()) -> str:
    """Chooses a free name.

    Args:
        written: the name in the file.
        folder: the file's folder, which is appended if the name is taken.
        is_free: returns whether no other server has a name.
        reserved: names of built-in servers.
    """
    first = fitting(written)
    beside = fitting(f"{_cut(first, 24)}-{os.path.basename(folder)}") if os.path.basename(folder) else first
    candidates = (name for name in (first, beside) if look(name) not in reserved and is_free(name))
    numbered = (name for number in count(2) if is_free(name := f"{_cut(beside, 8)}-{number}"))
    return next(candidates, None) or next(numbered)


@lru_cache(REMEMBERED)
def look(name: str) -> str:
    """Folds case and compatibility characters, so that names that look alike are equal: a project's server must not imitate another."""
    return unicodedata.normalize("NFKC", name).casefold()


def fitting(written: str) -> str:
    """Returns a valid server name as close to the written one as possible."""
    if _may_be(written):
        return written
    seen = "".join(sign if sign.isprintable() else "-" for sign in written.translate(_TO_DASHES))
    return seen[:MAX_NAME_LENGTH].strip(" -") or NO_NAME


def _cut(name: str, room: int) -> str:
    return name[: MAX_NAME_LENGTH - room].rstrip()


def _may_be(name: str) -> bool:
    try:
        check_name(name, ())
    except TooltrayError:
        return False
    return True
