"""The record of changes in AI clients' files, with a copy of each file from before: `~/.tooltray/client-changes/`. Blocks on the disk.

A copy may contain keys: it is encrypted with one key that is a secret itself, and deleted with its record after KEPT_DAYS.
"""

import logging
import os
import re
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal

import msgspec

from tooltray.config.foreign_configs.documents import Format
from tooltray.config.secrets.secrets import BACKUP_SECRET, SecretStore
from tooltray.config.secrets.vaults import SecretMissing
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.files.edited_files import digest_of_bytes
from tooltray.foundation.moments import day_of, days_kept
from tooltray.foundation.phrases import Phrase

logger = logging.getLogger(__name__)
KEPT_DAYS = 30
SURE_AFTER_DAYS = 3  # days on which the hub ran and a record was too old: a clock that is wrong for a day deletes nothing
MAX_RECORD_BYTES = 1024 * 1024
MAX_COPY_BYTES = 64 * 1024 * 1024  # twice the largest file that is changed
NONCE_BYTES, KEY_BYTES = 12, 32
_ID = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9]{9}-[0-9a-f]{4}")
_DAYS = "days.json"
_LIST_OF_TEXTS = list[str]


class EntryRecord(msgspec.Struct, frozen=True):
    """The change of one entry. The former entry is in the copy of the file.

    Attributes:
        place: keys from the document to the entry; for an item in a list its name.
        made: the outermost object that was added for the entry; empty if none was.
        written: `digest_of` of the entry as it was written; empty for a removed entry.
        is_new: the entry did not exist before.
    """

    place: tuple[str, ...]
    made: tuple[str, ...] = ()
    written: str = ""
    is_new: bool = False
    is_list: bool = False


class ChangeRecord(msgspec.Struct, frozen=True):
    """One change of one file.

    Attributes:
        id: sorts by time.
        at: unix seconds.
        path: in its client's form; links in it are not resolved.
        before, after: `digest_of_bytes` of the file; empty without a file.
        state: "undone" by a later change, or "made"; "begun" in records of earlier versions whose process ended too soon.
        undoes: for the action "undo": the change that this one reverses.
        folders: the folders that were made for the file, the outermost first.
        note: for the user.
    """

    client: str
    action: Literal["connect", "disconnect", "mend", "remove", "skill", "undo"]
    path: str
    format: Format
    id: str = ""
    at: float = 0.0
    entries: tuple[EntryRecord, ...] = ()
    before: str = ""
    after: str = ""
    state: Literal["begun", "made", "undone"] = "made"
    undoes: str = ""
    folders: tuple[str, ...] = ()
    is_encrypted: bool = False
    note: str = ""

    @property
    def can_be_undone(self) -> bool:
        return self.state != "undone" and self.action != "undo"


class CopyKey(msgspec.Struct, frozen=True):
    """The key that encrypts copies, each bound to its record; 32 bytes."""

    value: bytes

    hidden: ClassVar = ("value",)

    def __repr__(self) -> str:
        return "CopyKey()"

    def encrypt(self, content: bytes, record: ChangeRecord) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # imported late: it takes 50 ms, and only changes need it

        nonce = os.urandom(NONCE_BYTES)
        return nonce + AESGCM(self.value).encrypt(nonce, content, f"{record.id} {record.before}".encode())

    def decrypt(self, content: bytes, record: ChangeRecord) -> bytes:
        """
        Raises:
            ValueError: the copy was encrypted with another key or for another record, or is damaged.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(self.value).decrypt(content[:NONCE_BYTES], content[NONCE_BYTES:], f"{record.id} {record.before}".encode())
        except InvalidTag:
            raise ValueError(Phrase("it is damaged, or its key is another one by now")) from None


async def get_or_make_key(secrets: SecretStore) -> CopyKey | None:
    """Returns the key of all copies, a secret that is made with the first one; None if it cannot be stored, the store is locked, or the
    stored value is not a key. Must not run twice at once, as each run would make a key.
    """
    if secrets.kind == "memory":  # the key would be lost before the copy is needed
        return None
    with suppress(TooltrayError, ValueError):
        try:
            value = await secrets.get(BACKUP_SECRET)
        except SecretMissing:
            value = b64encode(os.urandom(KEY_BYTES)).decode()
            await secrets.set(BACKUP_SECRET, value)
        key = b64decode(value, validate=True)
        return CopyKey(key) if len(key) == KEY_BYTES else None
    return None


class CannotRestore(TooltrayError):
    """An error: the copy of a file cannot be read, since its key is lost or it is damaged."""


class ChangeStore:
    """The records and copies in one folder, which is made with the first change."""

    def __init__(self, folder: Path, *, now: Callable[[], int] = time.time_ns) -> None:
        """
        Args:
            now: returns unix nanoseconds.
        """
        self._folder, self._now = folder, now

    def save(self, record: ChangeRecord, before: bytes | None, key: CopyKey | None) -> ChangeRecord:
        """Saves the record of a change that is about to be made, with a new id and the present time, and the copy of its file.

        Args:
            before: the file's content; None: the file does not exist.
            key: None: the copy is not encrypted.

        Raises:
            OSError: the record or the copy cannot be written; neither of them is left.
        """
        now, is_encrypted = self._now(), before is not None and key is not None
        moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9))
        id = f"{moment}-{now % 10**9:09}-{os.urandom(2).hex()}"
        record = msgspec.structs.replace(record, id=id, at=now / 10**9, is_encrypted=is_encrypted)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        try:
            self._write(record)
            if before is not None:
                write_atomically(self._copy(record.id), key.encrypt(before, record) if key else before)
        except OSError:
            self.delete(record)
            raise
        return record

    def update(self, record: ChangeRecord) -> None:
        """Replaces the record of a change; a failure is logged."""
        try:
            self._write(record)
        except OSError as error:
            logger.warning("the record of a change of %s could not be written: %s", record.path, error.strerror or error)

    def delete(self, record: ChangeRecord) -> None:
        """Deletes the record of a change that was not made, or that is too old."""
        for path in (self._copy(record.id), self._file(record.id)):  # in this order: no copy is left without a record
            with suppress(OSError):
                path.unlink()

    def get(self, change: str) -> ChangeRecord:
        """
        Raises:
            NotFound: no change has this id.
        """
        found = self._read(self._file(change)) if _ID.fullmatch(change) else None
        if found is None:
            raise NotFound(
                Phrase("Change '{id}' not found", id=change), "", Phrase("See them: {command}", command="tooltray clients changes")
            )
        return found

    def all(self) -> list[ChangeRecord]:
        """Returns all records that can be read, the newest first."""
        names = sorted((path for path in self._folder.glob("*.json") if _ID.fullmatch(path.stem)), reverse=True)
        return [record for record in map(self._read, names) if record]

    def copy_of(self, record: ChangeRecord, key: CopyKey | None) -> bytes:
        """Returns the file as it was before a change.

        Raises:
            CannotRestore: the copy cannot be read any more.
        """
        try:
            content = read_own(self._copy(record.id), MAX_COPY_BYTES)
            if record.is_encrypted:
                if key is None:
                    raise ValueError(Phrase("its key cannot be had from the keyring"))
                content = key.decrypt(content, record)
            if digest_of_bytes(content) != record.before:
                raise ValueError(Phrase("it is damaged"))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error.args[0]
            raise CannotRestore(Phrase("The copy of {file} from before the change cannot be read", file=record.path), reason) from None
        return content

    def has_copy(self, record: ChangeRecord) -> bool:
        return self._copy(record.id).is_file()

    def delete_old(self) -> None:
        """Deletes records and copies older than KEPT_DAYS; to be called on each day on which a hub runs."""
        if not self._folder.is_dir():
            return
        try:
            days = self._note_day()
        except OSError as error:
            logger.warning("old changes of AI clients' files are not deleted: %s", error.strerror or error)
            return
        for record in self.all():
            last = day_of(record.at + KEPT_DAYS * 86_400)
            if sum(day > last for day in days) >= SURE_AFTER_DAYS:
                self.delete(record)

    def _note_day(self) -> frozenset[str]:
        """Returns the days on which this was called, including today."""
        path = self._folder / _DAYS
        try:
            known = msgspec.json.decode(read_own(path, MAX_RECORD_BYTES), type=_LIST_OF_TEXTS)
        except (OSError, ValueError):
            known = []
        days = days_kept(known, day_of(self._now() / 10**9), KEPT_DAYS + 2 * SURE_AFTER_DAYS)
        if days != frozenset(known):
            write_atomically(path, msgspec.json.encode(sorted(days)))
        return days

    def _read(self, path: Path) -> ChangeRecord | None:
        try:
            record = msgspec.json.decode(read_own(path, MAX_RECORD_BYTES), type=ChangeRecord)
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

    def _copy(self, change: str) -> Path:
        return self._folder / f"{change}.backup"
