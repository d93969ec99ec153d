"""Makes changes of AI clients' files, and undoes them: a record and a copy first, then the file, in one step.

Above it: client_edits. Below it: change_store, edited_files, change_undo. Methods block on the disk; one at a time.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from tooltray.config.foreign_configs.documents import Document, read_document
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.files.edited_files import EditedFiles, FileChanged, digest_of_bytes
from tooltray.foundation.files.file_text import CannotOpen, FileText, text_of
from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.files.member_change import MISSING, member_of
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.change_store import BackupKey, CannotRestore, ChangeRecord, ChangeStore, EntryRecord
from tooltray.sources.clients.change_undo import reversed_text, undo_of
from tooltray.sources.clients.entry_changes import EntryChange, changed, content_of, made_for
from tooltray.sources.clients.file_edits import FileEdit

NO_DIGEST = "written with others"
"""In the place of a digest: the file was never what our change alone makes of it."""
ASIDE = ".tooltray-removed"
T = TypeVar("T")


class ChangeWriter:
    """Belongs to one process; several threads may use it one after the other."""

    def __init__(self, store: ChangeStore, files: EditedFiles | None = None) -> None:
        self.store, self._files = store, files or EditedFiles()

    def begin(self, edit: FileEdit, key: BackupKey | None) -> ChangeRecord:
        """Writes down an edit that is about to be made, with a copy of the file.

        Raises:
            TooltrayError: that cannot be written; nothing has changed.
        """
        assert edit.document is not None
        change, at = self.store.new_id()
        record = ChangeRecord(
            change,
            edit.kind.id,
            edit.action,
            str(edit.path),
            edit.document.format,
            at,
            tuple(_entry_record(each, edit.document.content) for each in edit.changes),
            before=edit.document.digest,
            after=digest_of_bytes(_encoded(edit.document, edit.text)),
            folders=_missing_folders(edit.path),
        )
        return self._begin(record, edit.document, key)

    def make(self, edit: FileEdit, key: BackupKey | None) -> ChangeRecord:
        """Makes an edit.

        Raises:
            Conflict: the file is not what the edit is based on.
            TooltrayError: it cannot be written. In both cases nothing has changed.
        """
        record = self.begin(edit, key)
        assert edit.document is not None
        self._write(record, edit.document, _encoded(edit.document, edit.text))
        return self.store.finish(record)

    def undo(self, record: ChangeRecord, key: BackupKey | None, *, own_url: str | None = None) -> ChangeRecord:
        """Undoes a change: to the byte if the file is as the change has left it, else by reversing the change alone.

        Args:
            own_url: at which the hub listens or would.

        Returns:
            the record of the undoing.

        Raises:
            Conflict: the change was undone already, or something else stands where it was.
            TooltrayError: the file cannot be read or written.
        """
        if record.state != "made" or record.action == "undo":
            raise Conflict(Phrase("This change cannot be undone"), Phrase("it was undone already") if record.state == "undone" else "")
        document = _read(record)
        if document.digest == record.after and (undone := self._undone_exactly(record, document, key)):
            return undone
        text = self._reversed(record, document, key, own_url)
        return self._write_undo(
            record, document, None if text is None else _encoded(document, text), key, Phrase("other changes of the file stay")
        )

    def end_elsewhere(self, record: ChangeRecord) -> ChangeRecord | None:
        """Looks whether the client's own command has made a change; returns its record, or None and forgets it."""
        with suppress(TooltrayError):
            document = _read(record)
            if document.digest != record.before and _has_happened(record, document):
                return self.store.finish(replace(record, after=document.digest))
        self.store.drop(record)
        return None

    def repair(self, edit: FileEdit, change: str) -> bool:
        """Makes an edit again if its client has written the file without it meanwhile; returns whether that was necessary.

        A change that was undone, or whose file cannot be written now, is left as it is.
        """
        with suppress(TooltrayError, CannotRead, OSError, FileChanged):
            record = self.store.get(change)
            document = _read(record)
            if record.state == "made" and not _has_happened(record, document):
                text = changed(document.text, document.format, edit.changes)
                self._files.replace(edit.path, _encoded(document, text), based_on=document.digest)
                note = Phrase("{client} had written its file meanwhile; the change was made again", client=edit.kind.name)
                self.store.update(replace(record, after=NO_DIGEST, note=note))
                return True
        return False

    def changes(self) -> list[tuple[ChangeRecord, str]]:
        """All changes, the newest first, with what can be undone of each."""
        return [(record, undo_of(record, self.store, _digest_now(record))) for record in self.store.all() if record.state != "begun"]

    def settle(self) -> None:
        """Finds out which changes were made whose process was killed meanwhile; for before anything else is done."""
        for record in self.store.all():
            if record.state == "begun":
                self._settle(record)

    def _settle(self, record: ChangeRecord) -> None:
        try:
            document = _read(record)
        except TooltrayError:  # what cannot be read now is looked at again later
            return
        if document.digest == record.before or not _has_happened(record, document):
            self.store.drop(record)
        else:
            self._finish_undo(record) if record.undoes else self.store.finish(record)

    def _undone_exactly(self, record: ChangeRecord, document: Document, key: BackupKey | None) -> ChangeRecord | None:
        if not record.before:
            return self._write_undo(record, document, None, key, "")
        try:
            content = self.store.backup_of(record, key)
        except CannotRestore:
            return None
        return self._write_undo(record, document, content, key, "")

    def _reversed(self, record: ChangeRecord, document: Document, key: BackupKey | None, own_url: str | None) -> str | None:
        """The text with the change reversed; None: nothing would be left of a file that was made for it."""
        title = Phrase("The change of {file} cannot be undone", file=record.path)
        try:
            text = reversed_text(record, document, self._before(record, key), own_url)
        except CannotRead as error:
            raise Conflict(title, error.reason, Phrase("Change it by hand in {file}", file=record.path)) from None
        is_empty = not record.before and not content_of(text, record.format)
        return None if is_empty and not _has_comments(text) else text

    def _before(self, record: ChangeRecord, key: BackupKey | None) -> object:
        """The document from before a change; None: it is not needed, or there was none."""
        if not record.before or all(entry.is_new for entry in record.entries):
            return None
        return content_of(text_of(self.store.backup_of(record, key)).text, record.format)

    def _write_undo(
        self, record: ChangeRecord, document: Document, content: bytes | None, key: BackupKey | None, note: str
    ) -> ChangeRecord:
        change, at = self.store.new_id()
        undo = ChangeRecord(
            change,
            record.client,
            "undo",
            record.path,
            record.format,
            at,
            record.entries,
            before=document.digest,
            after=digest_of_bytes(content),
            undoes=record.id,
            folders=record.folders,
            note=note,
        )
        undo = self._begin(undo, document, key)
        if undo.after != undo.before:  # else somebody has undone it by hand, or removed the file
            self._write(undo, document, content)
        return self._finish_undo(undo)

    def _finish_undo(self, undo: ChangeRecord) -> ChangeRecord:
        with suppress(TooltrayError):  # it was too old
            self.store.update(replace(self.store.get(undo.undoes), state="undone", undone_by=undo.id))
        return self.store.finish(undo)

    def _begin(self, record: ChangeRecord, document: Document, key: BackupKey | None) -> ChangeRecord:
        try:
            return self.store.begin(record, document.raw if document.exists else None, key)
        except OSError as error:
            title = Phrase("{file} was not changed", file=record.path)
            message = Phrase("the copy from before the change cannot be written: {reason}", reason=error.strerror or str(error))
            raise TooltrayError(title, message, hint_for(error, "")) from None

    def _write(self, record: ChangeRecord, document: Document, content: bytes | None) -> None:
        """Puts a content in the place of what was read; None: the file goes."""
        path = Path(record.path)
        try:
            if content is None:
                self._remove(path, document, record.folders)
            else:
                for folder in record.folders:
                    Path(folder).mkdir(exist_ok=True)
                self._kept(path, lambda: self._files.replace(path, content, based_on=document.digest))
        except (OSError, Conflict) as error:
            self.store.drop(record)
            _remove_folders(record.folders if not record.before else ())
            if isinstance(error, Conflict):
                raise
            raise _not_written(record, error) from None

    def _remove(self, path: Path, document: Document, folders: Sequence[str]) -> None:
        target = Path(os.path.realpath(path))
        aside = target.with_name(f".{target.name}{ASIDE}")
        self._kept(path, lambda: self._files.move_away(path, aside, based_on=document.digest))
        aside.unlink()
        _remove_folders(folders)

    def _kept(self, path: Path, write: Callable[[], T]) -> T:
        def attempt() -> T:
            try:
                return write()
            except FileChanged:
                if self._files.may_be_half_written(path):
                    raise
                raise _changed(path) from None

        return self._files.retry_until_kept(attempt)  # whose patience with half a file ends before its tries


def _read(record: ChangeRecord) -> Document:
    try:
        return read_document(Path(record.path), record.format)
    except CannotOpen as error:
        raise TooltrayError(Phrase("{file} cannot be read", file=record.path), error.reason) from None


def _digest_now(record: ChangeRecord) -> str:
    with suppress(TooltrayError):
        return _read(record).digest
    return NO_DIGEST + " or not readable"


def _encoded(document: Document, text: str) -> bytes:
    return FileText(encoding=document.encoding).to_bytes(text)


def _entry_record(change: EntryChange, content: object) -> EntryRecord:
    is_new = member_of(content, change.place) is MISSING
    written = "" if change.content is MISSING else digest_of(change.content)
    return EntryRecord(change.place, made_for(content, change.place), written, is_new, change.is_list)


def _has_happened(record: ChangeRecord, document: Document) -> bool:
    """Whether the entries are as the change would have left them, whatever the client has written besides."""
    if document.digest == record.after:
        return True
    if record.action == "undo":
        return False
    for entry in record.entries:
        current = member_of(document.content, entry.place)
        if (current is MISSING) == bool(entry.written) or (entry.written and digest_of(current) != entry.written):
            return False
    return True


def _has_comments(text: str) -> bool:
    return bool(text.removeprefix("\ufeff").strip(" \t\r\n{}"))


def _missing_folders(path: Path) -> tuple[str, ...]:
    missing = takewhile(lambda folder: not folder.exists(), Path(os.path.realpath(path)).parents)
    return tuple(map(str, missing))[::-1]


def _remove_folders(folders: Sequence[str]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # something else is in it by now
            os.rmdir(folder)


def _changed(path: Path) -> Conflict:
    title = Phrase("{file} has changed since", file=str(path))
    return Conflict(title, Phrase("another program has saved it"), Phrase("Look at the change again"))


def _not_written(record: ChangeRecord, error: OSError) -> TooltrayError:
    title = Phrase("{file} was not changed", file=record.path)
    return TooltrayError(title, error.strerror or str(error), hint_for(error, Phrase("Change it by hand")))
