"""The record of changes in AI clients' files, with a copy of each file as it was before: `~/.tooltray/client-changes/`.

Above it: client_edits. Below it: atomic_file, `cryptography`. Knows no client and no format. Methods block on the disk.

A change is written down before it is made ("begun") and marked when it was ("made"): a process that is killed in between leaves a record
that says what to look for, and none that claims what did not happen. A copy may hold keys: it is encrypted, if there is a key, and goes
KEPT_DAYS later with its record.
"""

import hashlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal

import msgspec

from tooltray.config.foreign_configs.documents import Format
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.moments import day_of, days_kept
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.entry_changes import NamedPlace

logger = logging.getLogger(__name__)
KEPT_DAYS = 30
SURE_AFTER_DAYS = 3  # days on which the hub ran and found a record too old: a clock that is wrong for a day deletes nothing
MOST_CHANGES = 1000  # a person makes a dozen; the oldest go first
MOST_RECORD_BYTES = 1024 * 1024
MOST_BACKUP_BYTES = 64 * 1024 * 1024  # twice the largest file that is changed
NONCE_BYTES, KEY_BYTES = 12, 32
_DAY_S = 86_400.0
_ID = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9]{9}-[0-9a-f]{4}")
_DAYS = "days.json"


class EntryRecord(msgspec.Struct, frozen=True):
    """What a change did with one entry. What stood there before is in the copy of the file.

    Attributes:
        made: the outermost holder that was made for the entry; empty: none.
        written: `digest_of` of the entry as it was written; empty: it was taken out.
        is_new: there was none before.
    """

    place: NamedPlace
    made: NamedPlace = ()
    written: str = ""
    is_new: bool = False
    is_list: bool = False


class ChangeRecord(msgspec.Struct, frozen=True):
    """One change of one file.

    Attributes:
        id: sorts by time.
        at: unix seconds.
        path: as its client has it; a link is not followed in it.
        before, after: `digest_of_bytes` of the file; empty: there was none.
        state: "begun", "made", or "undone" by the change `undone_by`.
        undoes: the change that this one reverses; of the action "undo".
        folders: that were made for the file, the outermost first.
        has_backup: the file was there before, and a copy of it is here.
        note: for the person.
    """

    id: str
    client: str
    action: Literal["connect", "disconnect", "mend", "remove", "undo"]
    path: str
    format: Format
    at: float
    entries: tuple[EntryRecord, ...] = ()
    before: str = ""
    after: str = ""
    state: Literal["begun", "made", "undone"] = "begun"
    undone_by: str = ""
    undoes: str = ""
    folders: tuple[str, ...] = ()
    has_backup: bool = False
    is_encrypted: bool = False
    note: str = ""


class BackupKey(msgspec.Struct, frozen=True):
    """The key that encrypts copies; 32 bytes."""

    value: bytes

    hidden: ClassVar = ("value",)

    def __repr__(self) -> str:
        return "BackupKey()"


class CannotRestore(TooltrayError):
    """The copy of a file cannot be read: its key is gone, or it is damaged."""


class ChangeStore:
    """
    Args:
        folder: made with the first change.
        now: unix nanoseconds.
    """

    def __init__(self, folder: Path, *, now: Callable[[], int] = time.time_ns) -> None:
        self._folder, self._now = folder, now

    def new_id(self) -> tuple[str, float]:
        """An identifier for a change of now, and the time in unix seconds."""
        now = self._now()
        moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9))
        return f"{moment}-{now % 10**9:09}-{os.urandom(2).hex()}", now / 10**9

    def begin(self, record: ChangeRecord, before: bytes | None, key: BackupKey | None) -> ChangeRecord:
        """Writes down a change that is about to be made.

        Args:
            before: the file's content; None: there is no file.
            key: None: the copy is not encrypted.

        Raises:
            OSError: it cannot be written; nothing is left of it.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        record = msgspec.structs.replace(record, has_backup=before is not None, is_encrypted=before is not None and key is not None)
        try:
            if before is not None:
                write_atomically(self._backup(record.id), _sealed(record, before, key) if key else before)
            self._write(record)
        except OSError:
            self.drop(record)
            raise
        return record

    def finish(self, record: ChangeRecord) -> ChangeRecord:
        """Marks a change as made. If that cannot be written, the next look at the file finds out that it was."""
        made = msgspec.structs.replace(record, state="made")
        self.update(made)
        return made

    def update(self, record: ChangeRecord) -> None:
        """Replaces the record of a change; a failure is logged."""
        try:
            self._write(record)
        except OSError as error:
            logger.warning("the record of a change of %s could not be written: %s", record.path, error.strerror or error)

    def drop(self, record: ChangeRecord) -> None:
        """Forgets a change that was not made, or is too old."""
        for path in (self._file(record.id), self._backup(record.id)):  # in this order: a copy without a record is swept
            with suppress(OSError):
                path.unlink()

    def get(self, change: str) -> ChangeRecord:
        """
        Raises:
            NotFound: there is no change of this id.
        """
        found = self._read(self._file(change)) if _ID.fullmatch(change) else None
        if found is None:
            raise NotFound(
                Phrase("There is no change '{id}'", id=change), "", Phrase("See them: {command}", command="tooltray clients changes")
            )
        return found

    def all(self) -> list[ChangeRecord]:
        """The newest first; records that cannot be read are left out."""
        return sorted(self._records(), key=lambda record: record.id, reverse=True)

    def backup_of(self, record: ChangeRecord, key: BackupKey | None) -> bytes:
        """The file as it was before a change.

        Raises:
            CannotRestore: the copy cannot be read any more.
        """
        try:
            content = read_own(self._backup(record.id), MOST_BACKUP_BYTES)
            content = _opened(record, content, key) if record.is_encrypted else content
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise _cannot_restore(record, reason) from None
        if hashlib.sha256(content).hexdigest() != record.before:
            raise _cannot_restore(record, Phrase("it is damaged"))
        return content

    def has_backup(self, record: ChangeRecord) -> bool:
        return record.has_backup and self._backup(record.id).is_file()

    def forget_old(self) -> None:
        """Deletes what is older than KEPT_DAYS, and copies without a record. For every day on which a hub runs."""
        if not self._folder.is_dir():
            return
        now = self._now() / 10**9
        try:
            days = self._note_day(day_of(now))
            records = self.all()
            old = [record for record in records if now - record.at > KEPT_DAYS * _DAY_S and _is_sure(record, days)]
            for record in {record.id: record for record in (*old, *records[MOST_CHANGES:])}.values():
                self.drop(record)
            self._sweep()
        except OSError as error:
            logger.warning("old changes of AI clients' files could not be deleted: %s", error.strerror or error)

    def _note_day(self, today: str) -> frozenset[str]:
        """The days on which somebody looked, today among them."""
        path = self._folder / _DAYS
        try:
            known = msgspec.json.decode(read_own(path, MOST_RECORD_BYTES), type=list[str])
        except (OSError, ValueError):
            known = []
        days = days_kept(known, today, KEPT_DAYS + 2 * SURE_AFTER_DAYS)
        if days != frozenset(known):
            write_atomically(path, msgspec.json.encode(sorted(days)))
        return days

    def _sweep(self) -> None:
        """Removes copies whose record is not there: of a change that was never begun, or is forgotten."""
        for path in self._folder.glob("*.backup"):
            if not self._file(path.stem).exists() and self._now() / 10**9 - path.stat().st_mtime > _DAY_S:
                path.unlink(missing_ok=True)

    def _records(self) -> Iterator[ChangeRecord]:
        for path in self._folder.glob("*.json"):
            if _ID.fullmatch(path.stem) and (record := self._read(path)):
                yield record

    def _read(self, path: Path) -> ChangeRecord | None:
        try:
            record = msgspec.json.decode(read_own(path, MOST_RECORD_BYTES), type=ChangeRecord)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("the record %s cannot be read: %s", path.name, type(error).__name__)
            return None
        return record if record.id == path.stem else None

    def _write(self, record: ChangeRecord) -> None:
        write_atomically(self._file(record.id), msgspec.json.format(msgspec.json.encode(record, enc_hook=str)) + b"\n")

    def _file(self, change: str) -> Path:
        return self._folder / f"{change}.json"

    def _backup(self, change: str) -> Path:
        return self._folder / f"{change}.backup"


def _is_sure(record: ChangeRecord, days: frozenset[str]) -> bool:
    """Whether a record was too old on enough of the days on which somebody looked."""
    last = day_of(record.at + KEPT_DAYS * _DAY_S)
    return len([day for day in days if day > last]) >= SURE_AFTER_DAYS


def _cannot_restore(record: ChangeRecord, reason: str) -> CannotRestore:
    return CannotRestore(Phrase("The copy of {file} from before the change cannot be read", file=record.path), reason)


def _bound_to(record: ChangeRecord) -> bytes:
    return f"{record.id} {record.before}".encode()


def _sealed(record: ChangeRecord, content: bytes, key: BackupKey) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # 50 ms, which only a change costs

    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key.value).encrypt(nonce, content, _bound_to(record))


def _opened(record: ChangeRecord, content: bytes, key: BackupKey | None) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if key is None:
        raise ValueError(Phrase("its key cannot be had from the keyring"))
    try:
        return AESGCM(key.value).decrypt(content[:NONCE_BYTES], content[NONCE_BYTES:], _bound_to(record))
    except InvalidTag:
        raise ValueError(Phrase("it is damaged, or its key is another one by now")) from None
