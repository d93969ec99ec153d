"""What the window's pages do without the hub. Each function imports what it needs when it is first called: the window does not wait for it,
and the engine, which starts meanwhile, needs most of it too."""

from collections.abc import Collection, Mapping, Sequence

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.snapshots.entries import EntryText
from tooltray.ui.kit.local_work import LocalWork, Pasted
from tooltray.ui.kit.window_memory import WindowMemory


def local_work(memory: WindowMemory) -> LocalWork:
    """Returns the functions for the pages of a window, with what the window remembers."""
    return LocalWork(_read_pasted, _find_secrets, write_atomically, _read_entry, _move_secrets, memory)


def _read_pasted(text: str) -> Sequence[Pasted]:
    from tooltray.sources.entries.pasted import parse_pasted

    return parse_pasted(text)


def _find_secrets(text: str) -> Sequence[tuple[int, int]]:
    from tooltray.sources.entries.pasted_parts import secret_spans

    return secret_spans(text)


def _read_entry(text: str) -> EntryText:
    from tooltray.config.settings.given_entries import read_entry_text

    return read_entry_text(text)


def _move_secrets(
    server: str, entry: Mapping[str, object], before: Mapping[str, object], *, plain: Collection[str] = (), taken: Collection[str] = ()
) -> tuple[Mapping[str, object], Mapping[str, str]]:
    from tooltray.sources.entries.portable_entry import with_new_secrets_moved

    return with_new_secrets_moved(server, entry, before, plain=plain, taken=taken)
