"""The user's installations of Tooltray, the one path in AI clients' configs, `~/.tooltray/bin/tooltray-bridge`, and the entry with it.

All methods block on the disk. The rules, in full:

- The newest packaged installation owns the path. A checkout, or any other installation, takes it by `tooltray bridge use`.
- The script tries the owner, then the others, newest first: removing one passes the path on without any file being written.
- An installation whose programs no longer exist is dropped the next time that the file is written.
- A file of a newer version of Tooltray is read as far as it is understood, and not changed.
- Path and file belong to the user, not to a home: a hub of another home (`--home`) uses them, but records no installation.
"""

import contextlib
import json
import logging
import os
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.edited_files import EditedFiles, digest_of_bytes
from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.installs.bridge_file import bridge_file
from tooltray.foundation.installs.installation import Installation, this_installation
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import bridge_command
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.verbs import JsonObject

logger = logging.getLogger(__name__)
VERSION = 1
NOT_WRITTEN = Phrase("The program that AI clients start cannot be written")


class Record(msgspec.Struct, frozen=True):
    """The content of `installs.json`.

    Attributes:
        chosen: the bridge of the installation that the user has chosen; empty: no choice was made.
    """

    version: int = VERSION
    chosen: tuple[str, ...] = ()
    installations: tuple[Installation, ...] = ()


class Installations:
    """The user's installations.

    Args:
        home: the user's default home, not one that was chosen with `--home`.
    """

    def __init__(self, home: Home, files: EditedFiles | None = None) -> None:
        self._file, self.path = home.installs, home.bin / bridge_file.name
        self._files = files or EditedFiles()

    def known(self) -> list[Installation]:
        """Returns the installations that exist, the one in use first."""
        return _in_order(self._read()[0])

    @property
    def owner(self) -> Installation | None:
        """The installation whose bridge AI clients get; None if only checkouts are known and none of them was chosen."""
        record, _ = self._read()
        return _owner(record, _in_order(record))

    def will_give_path(self, own: Installation) -> bool:
        """Returns whether AI clients get the path once this installation's hub has run in the user's default home."""
        return own.is_packaged and bridge_file.can_write()

    def record(self, own: Installation) -> None:
        """Adds an installation, or its new version, and writes the script; for a hub that starts.

        Never raises: after a failure AI clients still find the earlier bridge at the path, and the doctor reports the problem.
        """
        try:
            self._change(own, is_chosen=False)
        except (OSError, TooltrayError) as error:
            logger.warning("%s: %s", NOT_WRITTEN, error)

    def use(self, own: Installation) -> None:
        """Gives the path to an installation, until another one is chosen or it no longer exists.

        Raises:
            TooltrayError: a file cannot be written, or is of a newer version.
        """
        try:
            self._change(own, is_chosen=True)
        except OSError as error:
            raise _cannot(error) from error

    def mend(self) -> bool:
        """Writes the script if it is missing or differs from the expected text; returns whether it was written.

        Raises:
            TooltrayError: it cannot be written.
        """
        try:
            return self._write_script(self._read()[0])
        except OSError as error:
            raise _cannot(error) from error

    def _change(self, own: Installation, *, is_chosen: bool) -> None:
        def attempt() -> Record:
            before, content = self._read()
            if before.version > VERSION:
                message = Phrase("{file} is of a newer version of Tooltray", file=str(self._file))
                raise TooltrayError(NOT_WRITTEN, message, Phrase("Update this installation, or remove it"))
            others = [each for each in before.installations if each.bridge != own.bridge and each.is_there]
            after = replace(before, chosen=own.bridge if is_chosen else before.chosen, installations=(*others, own))
            if after != before:
                self._files.replace(self._file, _written(after), based_on=digest_of_bytes(content))
            return after

        self._write_script(self._files.retry_until_kept(attempt))

    def _read(self) -> tuple[Record, bytes | None]:
        """Reads the file; unreadable content counts as empty, because each installation records itself again when it starts."""
        try:
            content = read_regular(self._file)
        except OSError:
            return Record(), None
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return msgspec.json.decode(content, type=Record), content
        return Record(), content

    def _write_script(self, record: Record) -> bool:
        known = _in_order(record)
        if not _owner(record, known) and not self.path.exists():
            return False
        return bridge_file.write(self.path, [each.bridge for each in known if each.is_packaged or each.bridge == record.chosen])


def _in_order(record: Record) -> list[Installation]:
    there = [each for each in reversed(record.installations) if each.is_there]  # of two of one version the later one counts
    return sorted(there, key=lambda each: (each.bridge == record.chosen, each.is_packaged, each.age), reverse=True)


def _owner(record: Record, known: Sequence[Installation]) -> Installation | None:
    return next((each for each in known if each.is_packaged or each.bridge == record.chosen), None)


def _written(record: Record) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def _cannot(error: OSError) -> TooltrayError:
    message = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    return TooltrayError(NOT_WRITTEN, message, Phrase("Free space on the disk, or make the folder writable"))


def bridge_entry(home: Home, environ: Mapping[str, str] = os.environ) -> JsonObject:
    """Returns the entry for one home, in the form that most AI clients read.

    For an installed Tooltray it has the one path that never changes, also before its first hub has written it. A
    checkout that has not taken that path names its own interpreter and script, with absolute paths: AI clients have another PATH than a
    terminal. A home other than the default one is named, because AI clients pass no TOOLTRAY_HOME.

    Args:
        environ: where HOME is looked up, to find out whether the home is the default one.
    """
    own = default_home(environ)
    command, *arguments = _command(own, is_own=home == own)
    if home != own:
        arguments += ["--home", str(home.root)]
    return {"mcpServers": {"tooltray": {"command": command, "args": arguments}}}


def _command(own: Home | None, *, is_own: bool) -> list[str]:
    if own is None:
        return bridge_command()
    installations = Installations(own)
    has_path = installations.owner and os.access(installations.path, os.X_OK)
    is_on_its_way = is_own and installations.will_give_path(this_installation())  # a hub of another home writes nothing
    return [str(installations.path)] if has_path or is_on_its_way else bridge_command()


def bridge_entry_text(home: Home) -> str:
    """Returns the entry as JSON, indented for pasting."""
    return json.dumps(bridge_entry(home), indent=2, ensure_ascii=False)
