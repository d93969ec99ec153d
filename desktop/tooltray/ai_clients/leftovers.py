"""What stands for Tooltray in the files of AI clients, when Tooltray leaves the computer.

Above it: `tooltray uninstall`. Below it: client_look; client_entries, which takes entries out.
"""

from collections.abc import Iterable, Iterator

from tooltray.ai_clients.client_kinds import ClientKind
from tooltray.ai_clients.client_look import ClientLook, ReadFile
from tooltray.files.file_text import CannotOpen, read_text
from tooltray.foreign_configs.client_entries import ClientEntry

SIGNS = ("tooltray_bridge", "tooltray-bridge")  # one of them is in every entry that starts the bridge


def leftovers(look: ClientLook, kinds: Iterable[ClientKind]) -> Iterator[ClientEntry]:
    """The entries of the bridge; those that a person has to take out by hand have no path. Blocks for as long as reading takes."""
    for kind in kinds:
        for file in look.files(kind):
            if file.document is None and _names_us(file):
                yield ClientEntry(kind.name, file.place.path)
            for entry in file.entries:
                if entry.kind == "bridge":
                    is_json = file.document is not None and file.document.format == "json"
                    yield ClientEntry(kind.name, entry.path, tuple(map(str, entry.place)) if is_json else ())


def _names_us(file: ReadFile) -> bool:
    """Whether a file that makes no sense has the bridge's name in it."""
    try:
        text = read_text(file.place.path).text
    except CannotOpen:
        return False
    return any(sign in text for sign in SIGNS)
