"""What stands for Tooltray in the files of AI clients, when Tooltray leaves the computer.

Above it: `tooltray uninstall`. Below it: client_look, file_edits.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tooltray.foundation.files.file_text import CannotOpen, read_text
from tooltray.sources.clients.client_kinds import ClientKind
from tooltray.sources.clients.client_look import ClientLook, ReadFile
from tooltray.sources.clients.edit_plans import without_us
from tooltray.sources.clients.file_edits import FileEdit

SIGNS = ("tooltray_bridge", "tooltray-bridge")  # one of them is in every entry that starts the bridge


def leftovers(look: ClientLook, kinds: Iterable[ClientKind]) -> Iterator[FileEdit]:
    """The edits that take the bridge out; some have a problem. Blocks for as long as reading takes."""
    return iter(without_us(list(kinds), look))


def unreadable(look: ClientLook, kinds: Iterable[ClientKind]) -> Iterator[tuple[ClientKind, Path]]:
    """The files that make no sense and have the bridge's name in them: a person has to take it out by hand."""
    for kind in kinds:
        yield from ((kind, file.place.path) for file in look.files(kind) if file.document is None and _names_us(file))


def _names_us(file: ReadFile) -> bool:
    try:
        text = read_text(file.place.path).text
    except CannotOpen:
        return False
    return any(sign in text for sign in SIGNS)
