"""Makes changes of AI clients' files, and undoes them: the record and the copy first, then the file, in one step. Blocks on the disk.

A process that ends in between leaves a record with an unchanged file; such a change is not listed. A running client has its file in memory
and may write it at any time: then its own command, such as `claude mcp add-json`, makes the change.
"""

import asyncio
import json
import logging
import os
import shutil
from asyncio.subprocess import DEVNULL
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

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
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily
from tooltray.sources.clients.change_store import CannotRestore, ChangeRecord, ChangeStore, CopyKey, EntryRecord
from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.file_edits import EntryChange, FileEdit, changed, content_of, made_for, without
from tooltray.sources.clients.found_entries import kind_of

ASIDE = ".tooltray-removed"


class ChangeWriter:
    """The writer of AI clients' files; belongs to one process, and several threads may use it one after the other."""

    def __init__(self, store: ChangeStore, files: EditedFiles | None = None) -> None:
        self.store, self._files = store, files or EditedFiles()

    def record(self, edit: FileEdit, key: CopyKey | None) -> ChangeRecord:
        """Saves the record of an edit that is about to be made, and a copy of its file.

        Raises:
            TooltrayError: they cannot be written; nothing has changed.
        """
        assert edit.document is not None
        record = ChangeRecord(
            edit.kind.id,
            edit.action,
            str(edit.path),
            edit.document.format,
            entries=tuple(_entry_record(each, edit.document.content) for each in edit.changes),
            before=edit.document.digest,
            after=digest_of_bytes(_encoded(edit.document, edit.text)),
            folders=_missing_folders(edit.path),
        )
        return self._save(record, edit.document, key)

    def make(self, edit: FileEdit, key: CopyKey | None) -> ChangeRecord:
        """Makes an edit.

        Raises:
            Conflict: the file has changed since the edit was planned.
            TooltrayError: it cannot be written. In both cases nothing has changed.
        """
        record = self.record(edit, key)
        assert edit.document is not None
        self._write(record, _encoded(edit.document, edit.text))
        return record

    def confirm(self, record: ChangeRecord) -> ChangeRecord | None:
        """Returns the record of a change that the client's own command has made; if it has not made it, deletes the record and returns
        None.
        """
        with suppress(TooltrayError):
            document = _read(record)
            if document.digest != record.before and all(_has_happened(entry, document) for entry in record.entries):
                record = replace(record, after=document.digest)
                self.store.update(record)
                return record
        self.store.delete(record)
        return None

    def undo(self, record: ChangeRecord, key: CopyKey | None, *, own_url: str | None = None) -> ChangeRecord:
        """Undoes a change: byte for byte if the file has not been written since, else by reversing only this change.

        Args:
            own_url: the hub's address, open or not.

        Returns:
            the record of the undoing.

        Raises:
            Conflict: the change was undone already, or something else is in its place.
            TooltrayError: the file cannot be read or written.
        """
        if not record.can_be_undone:
            raise Conflict(Phrase("This change cannot be undone"), Phrase("it was undone already") if record.state == "undone" else "")
        document, note = _read(record), ""
        try:
            if document.digest != record.after:
                raise CannotRestore("")
            content = self.store.copy_of(record, key) if record.before else None
        except CannotRestore:
            content, note = self._reversed(record, document, key, own_url), Phrase("other changes of the file stay")
        undo = ChangeRecord(
            record.client,
            "undo",
            record.path,
            record.format,
            entries=record.entries,
            before=document.digest,
            after=digest_of_bytes(content),
            undoes=record.id,
            folders=record.folders,
            note=note,
        )
        undo = self._save(undo, document, key)
        if undo.after != undo.before:  # otherwise the user has undone it by hand, or removed the file
            self._write(undo, content)
        self.store.update(replace(record, state="undone"))
        return undo

    def changes(self) -> list[tuple[ChangeRecord, str]]:
        """Returns all changes, the newest first, each with the possible undo, as in `ClientChange.undo`."""
        found = ((record, self._undo_of(record)) for record in self.store.all())
        return [(record, undo) for record, undo in found if undo is not None]

    def _undo_of(self, record: ChangeRecord) -> str | None:
        """Returns the possible undo of a change; None if its file is as it was before the change."""
        if not record.can_be_undone:
            return "none"
        try:
            document = _read(record)
        except TooltrayError:
            return "none"
        if document.digest == record.before:
            return None
        has_old = not record.before or self.store.has_copy(record)
        if document.digest == record.after and has_old:
            return "exact"
        return "entries" if any(_can_reverse(entry, document.content, has_old=has_old) for entry in record.entries) else "none"

    def _reversed(self, record: ChangeRecord, document: Document, key: CopyKey | None, own_url: str | None) -> bytes | None:
        """Returns the file with the change reversed; None if a file that was made for the change would be empty."""
        if record.format == "text":
            title = Phrase("The change of {file} cannot be undone", file=record.path)
            raise Conflict(title, Phrase("it has changed meanwhile, or its copy is lost"), Phrase("Change it by hand"))
        before = None
        if record.before and not all(entry.is_new for entry in record.entries):
            before = content_of(text_of(self.store.copy_of(record, key)).text, record.format)
        try:
            text = reversed_text(record, document, before, own_url)
        except CannotRead as error:
            title = Phrase("The change of {file} cannot be undone", file=record.path)
            raise Conflict(title, error.reason, Phrase("Change it by hand in {file}", file=record.path)) from None
        is_empty = not record.before and not text.removeprefix("\ufeff").strip(" \t\r\n{}")
        return None if is_empty else _encoded(document, text)

    def _save(self, record: ChangeRecord, document: Document, key: CopyKey | None) -> ChangeRecord:
        try:
            return self.store.save(record, document.raw if document.exists else None, key)
        except OSError as error:
            title = Phrase("{file} was not changed", file=record.path)
            message = Phrase("the copy from before the change cannot be written: {reason}", reason=error.strerror or str(error))
            raise TooltrayError(title, message, hint_for(error, "")) from None

    def _write(self, record: ChangeRecord, content: bytes | None) -> None:
        """Writes a file that is unchanged since it was read; None deletes the file, and the folders that were made for it."""
        path = Path(record.path)
        try:
            if content is None:
                target = Path(os.path.realpath(path))
                aside = target.with_name(f".{target.name}{ASIDE}")
                self._files.move_away(path, aside, based_on=record.before)
                aside.unlink()
            else:
                for folder in record.folders:
                    Path(folder).mkdir(exist_ok=True)
                self._files.replace(path, content, based_on=record.before)
        except (OSError, FileChanged) as error:
            self.store.delete(record)
            if not record.before:
                _remove_folders(record)
            raise _not_written(record, error) from None
        if content is None:
            _remove_folders(record)


def reversed_text(record: ChangeRecord, document: Document, before: object, own_url: str | None) -> str:
    """Returns the present text of a file without a change, as far as the change is still in it.

    Args:
        before: the document before the change; None if it is unknown, or did not exist.
        own_url: as for `kind_of`.

    Raises:
        CannotRead: the file is malformed, or the changed place has other content now.
    """
    text = document.text
    for entry in reversed(record.entries):
        current = member_of(content_of(text, record.format), entry.place)
        if entry.written and current is MISSING:
            continue
        if entry.written:
            _check_is_ours(entry, current, own_url)
        elif current is not MISSING:
            raise CannotRead(Phrase("a new entry '{name}' was added meanwhile", name=entry.place[-1]))
        if entry.is_new:
            text = _without_new(text, record, entry)
        elif (old := member_of(before, entry.place)) is MISSING:
            raise CannotRead(Phrase("the earlier content of '{name}' is unknown", name=entry.place[-1]))
        else:
            text = changed(text, record.format, [EntryChange(entry.place, old, entry.is_list)])
    return text


def _check_is_ours(entry: EntryRecord, current: object, own_url: str | None) -> None:
    """Raises CannotRead for an entry that starts another program; additions by the user or the client are allowed."""
    is_ours = isinstance(current, Mapping) and kind_of(current, own_url) == "bridge"
    if digest_of(current) != entry.written and not is_ours:
        raise CannotRead(Phrase("'{name}' has changed meanwhile", name=entry.place[-1]))


def _without_new(text: str, record: ChangeRecord, entry: EntryRecord) -> str:
    """Removes a new entry, and the objects that were added for it, unless they have other members."""
    text = without(text, record.format, entry.place)
    for length in range(len(entry.place) - 1, len(entry.made) - 1 if entry.made else len(entry.place), -1):
        holder = member_of(content_of(text, record.format), entry.place[:length])
        if holder is MISSING:
            continue
        if holder not in ({}, [], None):
            break
        text = without(text, record.format, entry.place[:length])
    return text


def _can_reverse(entry: EntryRecord, content: object, *, has_old: bool) -> bool:
    is_there = member_of(content, entry.place) is not MISSING
    return is_there and (entry.is_new or has_old) if entry.written else has_old and not is_there


def _has_happened(entry: EntryRecord, document: Document) -> bool:
    """Returns whether an entry is as the change writes it; the rest of the file may have changed."""
    current = member_of(document.content, entry.place)
    return current is MISSING if not entry.written else current is not MISSING and digest_of(current) == entry.written


def _entry_record(change: EntryChange, content: object) -> EntryRecord:
    is_new = member_of(content, change.place) is MISSING
    written = "" if change.content is MISSING else digest_of(change.content)
    return EntryRecord(change.place, made_for(content, change.place), written, is_new, change.is_list)


def _read(record: ChangeRecord) -> Document:
    try:
        return read_document(Path(record.path), record.format)
    except CannotOpen as error:
        raise TooltrayError(Phrase("{file} cannot be read", file=record.path), error.reason) from None


def _encoded(document: Document, text: str) -> bytes:
    return FileText(encoding=document.encoding).to_bytes(text)


def _missing_folders(path: Path) -> tuple[str, ...]:
    missing = takewhile(lambda folder: not folder.exists(), Path(os.path.realpath(path)).parents)
    return tuple(map(str, missing))[::-1]


def _remove_folders(record: ChangeRecord) -> None:
    for folder in reversed(record.folders):
        with suppress(OSError):  # it has other members by now
            os.rmdir(folder)


def _not_written(record: ChangeRecord, error: OSError | FileChanged) -> TooltrayError:
    if isinstance(error, FileChanged):
        title = Phrase("{file} has changed since", file=record.path)
        return Conflict(title, Phrase("another program has saved it"), Phrase("Review the change again"))
    title = Phrase("{file} was not changed", file=record.path)
    return TooltrayError(title, error.strerror or str(error), hint_for(error, Phrase("Change it by hand")))


logger = logging.getLogger(__name__)
TIMEOUT_S = 10.0  # such a command takes one to three seconds; the user waits for it


def command_for(edit: FileEdit, look: ClientLook) -> tuple[str, ...]:
    """Returns the client's own command for an edit, with the path of its program; empty if the file is written instead."""
    kind = edit.kind
    if kind.way != "command" or len(edit.changes) != 1 or edit.text == (edit.document.text if edit.document else ""):
        return ()
    place, content = edit.changes[0].place, edit.changes[0].content
    own = look.places.files(kind)
    is_users = bool(own) and own[0].path == edit.path and place[:-1] in kind.places
    words = kind.command.remove if content is MISSING else kind.command.add
    if edit.action == "mend" or not words or not is_users or look.places.is_running(kind) is False:
        return ()
    program = shutil.which(words[0], path=look.places.environ.get("PATH", ""))
    return (os.path.abspath(program), *filled_in(words[1:], place[-1], content)) if program else ()


def filled_in(words: Sequence[str], name: str, content: object) -> list[str]:
    """Returns the words of a command with `{name}`, `{json}`, `{named_json}` and `{words}` filled in."""
    entry = dict(content) if isinstance(content, Mapping) else {}
    line = [str(entry.get("command", "")), *map(str, entry.get("args", ()))]
    filled: list[str] = []
    for word in words:
        if word == "{words}":
            filled += line
            continue
        texts = {"{name}": name, "{json}": json.dumps(entry), "{named_json}": json.dumps({"name": name, **entry})}
        filled.append(texts.get(word, word))
    return filled


async def run(command: Sequence[str], environ: Mapping[str, str], *, cwd: str, timeout_s: float = TIMEOUT_S) -> bool:
    """Runs a command to its end and discards its output; returns whether it succeeded.

    Args:
        environ: the whole environment.
        cwd: the folder in which it runs; not a project's folder, which would change the command's effect.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, cwd=cwd, env=environ, **START_OPTIONS
        )
    except OSError as error:
        logger.info("%s could not be started: %s", os.path.basename(command[0]), error.strerror)
        return False
    family, is_over = ProcessFamily(process.pid), False
    try:
        async with asyncio.timeout(timeout_s):
            await process.wait()
            is_over = True
    except TimeoutError:
        logger.info("%s took more than %g s", os.path.basename(command[0]), timeout_s)
        return False
    finally:
        if not is_over:
            family.kill()
            await process.wait()
    return process.returncode == 0
