"""Adds, changes and removes servers in projects' own files on behalf of the user.

The rest of the file stays unchanged, byte by byte. The file is read again for each change, and a concurrent save of another program is not
lost (see edited_files).
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tooltray.config.foreign_configs.config_source import CannotUse, ConfigSource
from tooltray.config.foreign_configs.mcp_json import holder_of, read_mcp_json, with_entry, without_entry
from tooltray.config.settings.file_server import FILE_NAME
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files.edited_files import EditedFiles, FileChanged
from tooltray.foundation.files.file_history import FileHistory
from tooltray.foundation.files.file_text import MAX_FILE_BYTES, CannotOpen, FileText, read_text
from tooltray.foundation.files.json_places import CannotRead, read
from tooltray.foundation.files.json_text import check_revision, digest_of, revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.upstream.project_folder import shown
from tooltray.sources.project_files.followed_files import check_stays_inside

NEW_FILE_MODE = 0o600  # an entry may contain a key
Edit = Callable[[str, Mapping[str, Any]], str]
"""Makes the new text of a file from its text and its server entries by name."""


class ProjectEdits:
    """The edits of projects' files, one at a time, so that none is lost. Belongs to the engine's loop.

    Args:
        history: receives the previous contents of the files.
    """

    def __init__(self, history: FileHistory | None = None, files: EditedFiles | None = None) -> None:
        self._files = files or EditedFiles(history)
        self._lock = asyncio.Lock()

    async def add(self, folder: str, name: str, entry: Mapping[str, Any]) -> str:
        """Adds an entry and returns its digest.

        Args:
            folder: the project's real path.

        Raises:
            Conflict: an entry with this name exists.
            TooltrayError: the entry cannot be used, or the file cannot be read or written.
        """

        def edit(text: str, there: Mapping[str, Any]) -> str:
            if name in there:
                hint = Phrase("Choose another name, or change the one that is there.")
                title = Phrase("there is a server '{name}' in '{folder}' already", name=shown(name), folder=shown(folder))
                raise Conflict(title, hint=hint)
            return with_entry(text, name, entry)

        return await self._change(folder, edit, name)

    async def change(self, folder: str, name: str, entry: Mapping[str, Any], revision: str) -> str:
        """Replaces an entry and returns its digest.

        Args:
            revision: the expected revision of the existing entry; empty for any.

        Raises:
            NotFound: the entry does not exist.
            Conflict: the entry has another revision.
            TooltrayError: as `add`.
        """

        def edit(text: str, there: Mapping[str, Any]) -> str:
            _check(there, name, folder, revision)
            return with_entry(text, name, entry)

        return await self._change(folder, edit, name)

    async def remove(self, folder: str, name: str, revision: str) -> None:
        """Removes an entry; arguments and errors as in `change`."""

        def edit(text: str, there: Mapping[str, Any]) -> str:
            _check(there, name, folder, revision)
            return without_entry(text, name)

        await self._change(folder, edit, "")

    async def _change(self, folder: str, edit: Edit, name: str) -> str:
        async with self._lock:
            return await finish_in_thread(self._change_file, folder, edit, name)

    def _change_file(self, folder: str, edit: Edit, name: str) -> str:
        """Makes a change in a thread; returns the digest of the written entry, empty for a removal."""
        path = Path(folder, FILE_NAME)

        def attempt() -> str:
            check_stays_inside(folder)
            file = _read(path)
            try:
                text, digest = _edited(path, file, edit, name)
            except (CannotRead, CannotUse) as error:
                if self._files.may_be_half_written(path):
                    raise FileChanged from None
                raise TooltrayError(_not_changed(path), error.reason, Phrase("Correct the file by hand.")) from None
            self._write(path, file, text)
            return digest

        try:
            return self._files.retry_until_kept(attempt)
        except FileChanged:
            raise TooltrayError(_not_changed(path), Phrase("another program writes it again and again"), Phrase("Try again.")) from None

    def _write(self, path: Path, file: FileText, text: str) -> None:
        title = _not_changed(path)
        try:
            data = file.to_bytes(text)
            if len(data) > MAX_FILE_BYTES:
                raise TooltrayError(title, Phrase("it would have more than {size} MB", size=MAX_FILE_BYTES // 2**20))
            self._files.replace(path, data, based_on=file.digest, new_mode=NEW_FILE_MODE)
        except OSError as error:
            hint = Phrase("Make it writable, or free space on the disk.")
            raise TooltrayError(title, error.strerror or str(error), hint) from None


def _not_changed(path: Path) -> str:
    return Phrase("'{file}' is not changed", file=shown(str(path)))


def _read(path: Path) -> FileText:
    try:
        return read_text(path)
    except CannotOpen as error:
        title = Phrase("'{name}' cannot be read", name=shown(str(path)))
        raise TooltrayError(title, error.reason, Phrase("Put that right; nothing was changed.")) from None


def _edited(path: Path, file: FileText, edit: Edit, name: str) -> tuple[str, str]:
    """Returns the new text and the digest of the written entry.

    Raises:
        CannotRead, CannotUse: the file is malformed.
    """
    text = edit(file.text, _servers(file.text))
    return text, digest_of(_servers(text)[name]) if name and _check_entry(path, text, name) else ""


def _servers(text: str) -> Mapping[str, Any]:
    """Returns the entries of a text by name, usable or not."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    holder = holder_of(read(text))
    return {name: value.content for name, (_, value) in holder.members.items()} if holder else {}


def _check_entry(path: Path, text: str, name: str) -> bool:
    """Checks that a written entry can be used, so that no unusable entry is saved.

    Raises:
        TooltrayError: it cannot be used.
    """
    source = ConfigSource(str(path), text)
    if any(entry.name == name for entry in read_mcp_json(source, read(text))):
        return True
    problem = next((each.problem for each in source.problems if each.entry == name), None)
    title = Phrase("The entry of server '{server}' cannot be used", server=shown(name))
    raise TooltrayError(title, problem.message if problem else "", Phrase("Nothing was changed."))


def _check(there: Mapping[str, Any], name: str, folder: str, revision: str) -> None:
    if name not in there:
        title = Phrase("there is no server '{name}' in '{folder}' any more", name=shown(name), folder=shown(folder))
        raise NotFound(title, hint=Phrase("Look again, and decide anew."))
    check_revision(revision_of(there[name]), revision)
