"""Takes entries of Tooltray out of the configs of AI clients.

Above it: leftovers, which finds them; `tooltray uninstall`. Below it: json_edit. Of a config that is changed a copy is kept beside it. A
concurrent save of the client wins (edited_files).
"""

from pathlib import Path
from typing import Any

import msgspec

from tooltray.errors import TooltrayError
from tooltray.files.atomic_file import write_atomically
from tooltray.files.edited_files import EditedFiles, FileChanged, digest_of_bytes
from tooltray.files.json_edit import without_member
from tooltray.files.json_places import CannotRead, read

KEPT_AS = ".before-tooltray-left"


class ClientEntry(msgspec.Struct, frozen=True):
    """One entry of Tooltray in the config of one AI client.

    Attributes:
        path: keys from the document to the entry; empty if the file is not JSON, or could not be read.
    """

    client: str
    file: Path
    path: tuple[str, ...] = ()

    @property
    def can_be_removed(self) -> bool:
        return bool(self.path)


def remove_entry(entry: ClientEntry, files: EditedFiles | None = None) -> Path:
    """Removes an entry from its file; returns the path of the copy with the original content.

    Raises:
        TooltrayError: the file cannot be read any more, or cannot be written.
    """
    title, edited = f"The entry in {entry.file} could not be removed", files or EditedFiles()
    try:
        return edited.retry_until_kept(lambda: _without(entry, edited))
    except FileChanged:
        raise TooltrayError(title, "another program writes it again and again", "Close the AI client and try again.") from None
    except OSError as error:
        raise TooltrayError(title, error.strerror or str(error), "Remove it by hand.") from None
    except ValueError as error:
        raise TooltrayError(title, str(error), "Remove it by hand.") from None


def _without(entry: ClientEntry, files: EditedFiles) -> Path:
    before = entry.file.read_bytes()
    try:
        text = before.decode()
        after = without_member(text, entry.path)
        _check_nothing_else_changed(text, after, entry.path)
    except ValueError:
        if files.may_be_half_written(entry.file):
            raise FileChanged from None
        raise
    kept = entry.file.with_name(entry.file.name + KEPT_AS)
    if not kept.exists():  # with two entries in one file, the copy from before the first removal is kept
        write_atomically(kept, before, entry.file.stat().st_mode & 0o777)
    files.replace(entry.file, after.encode(), based_on=digest_of_bytes(before))
    return kept


def _check_nothing_else_changed(before: str, after: str, path: tuple[str, ...]) -> None:
    expected = read(before).content
    holder: Any = expected
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    if read(after).content != expected:
        raise CannotRead("taking it out would change more than it")
