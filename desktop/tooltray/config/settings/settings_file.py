"""The file `settings.json`: a file that cannot be read is kept beside the new one, and no file is overwritten blindly.

Everything here blocks, so McpConfHelper calls it from a thread. Possible problems of the file, and their treatment:
- It is missing or empty: defaults.
- It is not JSON, or not an object: it is renamed to `settings.json.broken-<time>`, defaults are used, the user is notified.
- It cannot be read, is a folder, or is absurdly large: defaults are used, and the file is not written until the user has corrected this.
- It comes from a newer Tooltray: its known parts are used, and it is never written.
- It comes from an older one: a copy goes to `settings.json.v<version>.bak`, then it is migrated.
- A part of it cannot be read: that part is not used, and stays in the file as it is.
- A key is given twice: a copy goes to `settings.json.broken-<time>` before the file is first written.
- Another program edited it since it was read, or saves it at the same moment: the change is applied to the new content (edited_files).
- It ends in the middle: it may be half saved, so it gets a moment before it counts as broken.
- It is gone, empty, or unreadable when it is read again while the hub runs: the known settings stay in use, and the file stays unchanged.
  An entry that becomes unusable stays in use as it was, until the hub ends, but each of its calls asks.
"""

import copy
import errno
import os
import stat
import time
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.document import CURRENT_VERSION, NOT_CHANGED, Document, Edit, migrate, version_of
from tooltray.config.settings.settings_reading import Reading, SettingsPlaces, read_settings
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.files.edited_files import EditedFiles, FileChanged, digest_of_bytes
from tooltray.foundation.files.json_text import NotJson, read_json, write_json
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.snapshots.setup import FileProblem

MAX_SETTINGS_BYTES = 64 * 1024 * 1024  # hundreds of servers fit into one; a larger file is not ours
NOTHING_SAVED = Phrase("Nothing is saved until this is fixed")


class Loaded(msgspec.Struct, frozen=True):
    """The settings as they were last read or written.

    Attributes:
        content: the bytes on disk; None if the file does not exist.
        document: the parsed file, migrated. Not to be changed.
        reading: the document as models.
        notices: the problems of the file as a whole, and their treatment.
        problems: the slips of `reading`, with their lines in the file.
        copy_as: the name of the copy that has to be made before `content` is overwritten; empty if none has to be.
        is_migrated: whether the document is newer than `content`.
    """

    content: bytes | None = None
    document: Document = msgspec.field(default_factory=lambda: {"version": CURRENT_VERSION})
    reading: Reading = msgspec.field(default_factory=Reading)
    notices: tuple[Problem, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    copy_as: str = ""
    is_migrated: bool = False


class NotReread(TooltrayError):
    """The content of the file is unknown for now.

    Attributes:
        line: where that was seen, from 1; 0: unknown.
    """

    def __init__(self, title: str, message: str, hint: str, *, line: int) -> None:
        super().__init__(title, message, hint)
        self.line = line


class SettingsFile:
    """Reads and writes one settings file. Calls must not overlap.

    Args:
        path: of the file. It may be a symbolic link, and stays one.
        reserved: names of servers that are part of Tooltray, which no entry may have.
        files: how it is replaced, and where its history goes.
    """

    def __init__(self, path: Path, reserved: Collection[str], files: EditedFiles) -> None:
        self._path = path
        self._reserved = reserved
        self._files = files

    def load(self) -> Loaded:
        """Reads the file; sets it aside or migrates it if it has to be. Never fails: the notices list what went wrong."""
        loaded = Loaded()

        def attempt() -> Loaded:
            nonlocal loaded
            loaded = self._parse(self._read(), Loaded())
            return self._write(loaded, loaded.document) if loaded.is_migrated else loaded

        try:
            return self._until_kept(attempt)
        except TooltrayError as error:
            return replace(loaded, notices=(*loaded.notices, error.problem))

    def change(self, known: Loaded, edit: Edit) -> Loaded:
        """Applies a change to the present content of the file, and writes it.

        Args:
            known: the settings as last read or written; used if the file is gone or broken.
            edit: changes the document; may raise TooltrayError, and then nothing happens. Called once more for each save by another
                program.

        Raises:
            TooltrayError: the file cannot be read or written, or must not be; it stays unchanged.
        """
        return self._until_kept(lambda: self._changed(known, edit))

    def _changed(self, known: Loaded, edit: Edit) -> Loaded:
        content = self._read()
        newest = known if content == known.content else self._parse(content, known)
        if version_of(newest.document) > CURRENT_VERSION:
            raise TooltrayError(NOT_CHANGED, self._why_newer(newest.document), Phrase("Update Tooltray"))
        document = copy.deepcopy(newest.document)
        edit(document)
        return _going_on(known, self._write(newest, document))

    def reread(self, known: Loaded) -> Loaded:
        """Returns the present content of the file, and never changes the file.

        Args:
            known: the settings as last read or written.

        Raises:
            NotReread: it is gone, or its content is unknown: another program may be just writing it.
            TooltrayError: it cannot be read.
        """
        content = self._read()
        if content == known.content:
            return known
        if content is None:
            raise self._not_reread(Phrase("it is gone"))
        if not content.strip():
            raise self._not_reread(Phrase("it is empty"))
        try:
            return _going_on(known, self._understand(content, *_read_object(content)))
        except NotJson as error:
            raise self._not_reread(error.reason, error.line) from None

    def _until_kept(self, attempt: Callable[[], Loaded]) -> Loaded:
        try:
            return self._files.retry_until_kept(attempt)
        except FileChanged:
            message = self._of_file(Phrase("another program writes it again and again"))
            raise TooltrayError(NOT_CHANGED, message, Phrase("Try again.")) from None

    def _read(self) -> bytes | None:
        try:
            status = self._path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise self._unreadable(Phrase("it is a folder") if stat.S_ISDIR(status.st_mode) else Phrase("it is not a regular file"))
            if status.st_size > MAX_SETTINGS_BYTES:
                size = status.st_size // 1024**2
                raise self._unreadable(Phrase("it has {size} MB, so it cannot be a settings file of Tooltray", size=size))
            return read_regular(self._path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(str(error.strerror)) from error

    def _parse(self, content: bytes | None, before: Loaded) -> Loaded:
        """Reads the content; the settings known before stay in use if it cannot be read."""
        if content is None:
            self._wait_for_more(is_half_written=before.content is not None)
            return replace(before, content=None)
        if not content.strip():
            self._wait_for_more()
            return replace(before, content=content, notices=(*before.notices, self._empty()), copy_as="")
        try:
            return self._understand(content, *_read_object(content))
        except NotJson as error:
            self._wait_for_more()
            return replace(before, content=None, notices=(*before.notices, self._set_aside(content, error.reason)), copy_as="")

    def _wait_for_more(self, *, is_half_written: bool = True) -> None:
        """Raises FileChanged if another program may be just saving the file, so that it is read once more in a moment."""
        if is_half_written and self._files.may_be_half_written(self._path):
            raise FileChanged

    def _understand(self, content: bytes, document: Document, twice: list[str]) -> Loaded:
        places = SettingsPlaces(content)
        notices = [Problem(Phrase("The settings give a name twice"), self._of_file(places.repeated(key))) for key in dict.fromkeys(twice)]
        version = version_of(document)
        if version > CURRENT_VERSION:
            notices.append(Problem(Phrase("The settings come from a newer Tooltray"), self._why_newer(document), Phrase("Update Tooltray")))
        copy_as = f"broken-{_now()}" if twice else ""
        if version < CURRENT_VERSION:
            copy_as = f"v{version}.bak"
            document = migrate(document)
        reading = read_settings(document, self._reserved)
        problems = places.located(reading.slips)
        return Loaded(content, document, reading, tuple(notices), problems, copy_as, is_migrated=version < CURRENT_VERSION)

    def _write(self, newest: Loaded, document: Document) -> Loaded:
        try:
            content = write_json(document)
        except NotJson as error:
            raise TooltrayError(NOT_CHANGED, Phrase("the new content is not possible: {reason}", reason=error.reason)) from None
        if len(content) > MAX_SETTINGS_BYTES:
            raise TooltrayError(NOT_CHANGED, Phrase("they would have {size} MB", size=len(content) // 1024**2))
        try:
            if newest.copy_as and newest.content is not None:
                self._copy(newest.content, newest.copy_as)
            self._files.replace(self._path, content, based_on=digest_of_bytes(newest.content))
        except OSError as error:
            title = Phrase("The settings could not be written")
            raise TooltrayError(title, self._of_file(str(error.strerror)), _hint(error)) from error
        reading = read_settings(document, self._reserved)
        return Loaded(content, document, reading, newest.notices, SettingsPlaces(content).located(reading.slips))

    def _copy(self, content: bytes, suffix: str) -> None:
        """Keeps a copy beside the file; an earlier copy of something else stays."""
        place = self._beside(suffix)
        if not (place.exists() and read_regular(place) == content):
            write_atomically(_free(place), content)

    def _set_aside(self, content: bytes, reason: str) -> Problem:
        place = _free(self._beside(f"broken-{_now()}"))
        try:
            self._files.move_away(self._path, place, based_on=digest_of_bytes(content))
        except OSError as error:
            message = Phrase("{reason}; it could not be renamed: {error}", reason=self._of_file(reason), error=error.strerror)
            raise TooltrayError(Phrase("The settings are broken"), message, NOTHING_SAVED) from error
        message = Phrase("{reason}; it is now {file}", reason=self._of_file(reason), file=place)
        hint = Phrase("Correct it and rename it back, or start with new settings")
        return Problem(Phrase("The settings were broken and have been set aside"), message, hint)

    def _beside(self, suffix: str) -> Path:
        target = Path(os.path.realpath(self._path))
        return target.with_name(f"{target.name}.{suffix}")

    def _why_newer(self, document: Document) -> str:
        return Phrase(
            "{file} has version {version}, this Tooltray knows versions up to {known}",
            file=self._path,
            version=version_of(document),
            known=CURRENT_VERSION,
        )

    def _empty(self) -> Problem:
        return Problem(Phrase("The settings are empty"), Phrase("{file} is empty", file=self._path))

    def _of_file(self, reason: str) -> str:
        return Phrase("{place}: {reason}", place=self._path, reason=reason)

    def _not_reread(self, reason: str, line: int = 0) -> "NotReread":
        hint = Phrase("The previous settings apply until this is fixed")
        return NotReread(Phrase("The settings cannot be read again"), self._of_file(reason), hint, line=line)

    def _unreadable(self, reason: str) -> TooltrayError:
        return TooltrayError(Phrase("The settings cannot be read"), self._of_file(reason), NOTHING_SAVED)


def _read_object(content: bytes) -> tuple[Document, list[str]]:
    """Reads a JSON object and the keys that it has twice. Raises NotJson if it is not JSON, or not an object."""
    document, twice = read_json(content)
    if not isinstance(document, dict):
        raise NotJson(Phrase('the file must be an object with "mcpServers" in it'))
    return document, twice


def _going_on(known: Loaded, new: Loaded) -> Loaded:
    """Returns the new settings with the entries that became unusable as they were: a typing error must not end a server that is in use. But
    each of its calls asks, since the rules that cannot be read may be stricter.
    """
    servers, written = new.reading.settings.mcp_servers, new.document.get("mcpServers")
    unusable = written.keys() - servers.keys() if isinstance(written, dict) else ()
    asking = {"auto_approve": (), "call_rules": ()}
    before = known.reading.settings.mcp_servers
    kept = {name: config.model_copy(update=asking) for name, config in before.items() if name in unusable}
    if not kept:
        return new
    settings = new.reading.settings.model_copy(update={"mcp_servers": {**servers, **kept}})
    return replace(new, reading=replace(new.reading, settings=settings))


def _free(place: Path) -> Path:
    count, free = 1, place
    while os.path.lexists(free):
        count += 1
        free = place.with_name(f"{place.name}-{count}")
    return free


def _now() -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def _hint(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Phrase("Free some space on that disk; nothing was changed")
    return Phrase("Make it writable; nothing was changed")
