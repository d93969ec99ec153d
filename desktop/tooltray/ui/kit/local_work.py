"""What pages do without the hub, with functions of packages that ui does not import; app/desktop.py hands them in."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

import msgspec

from tooltray.foundation.snapshots.entries import EntryText
from tooltray.ui.kit.window_memory import SaveFile, WindowMemory
from tooltray.ui.widgets.code_view import FindSpans


class Pasted(Protocol):
    """A server that was read from a pasted text; see sources/entries/pasted.py, which app/desktop.py hands in."""

    @property
    def name(self) -> str: ...
    @property
    def config(self) -> Mapping[str, object]: ...
    @property
    def secrets(self) -> Mapping[str, str]: ...
    @property
    def is_remote(self) -> bool: ...
    @property
    def works_in_sandbox(self) -> bool: ...
    @property
    def target(self) -> str: ...
    @property
    def transport(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def headers(self) -> tuple[str, ...]: ...
    @property
    def origin(self) -> str: ...
    @property
    def own_rules(self) -> tuple[str, ...]: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    @property
    def secret_arguments(self) -> tuple[str, ...]: ...
    def stored_as(self, name: str, secrets: Mapping[str, str]) -> tuple[Mapping[str, object], Mapping[str, str]]: ...
    def filled_in(self, values: Mapping[str, str | None], entry: Mapping[str, object] | None = None) -> Mapping[str, object]: ...


ReadPasted = Callable[[str], Sequence[Pasted]]
"""Reads a pasted text; raises TooltrayError in words."""


class MoveSecrets(Protocol):
    """A function that moves the secrets of an entry out before it is saved; see sources/entries/portable_entry.py."""

    def __call__(
        self,
        server: str,
        entry: Mapping[str, object],
        before: Mapping[str, object],
        *,
        plain: Collection[str] = (),
        taken: Collection[str] = (),
    ) -> tuple[Mapping[str, object], Mapping[str, str]]: ...


class LocalWork(msgspec.Struct, frozen=True):
    """The functions that pages use without the engine.

    Args:
        read_pasted: reads what the user pastes to add a server.
        find_secrets: returns the places of secrets in a text.
        save_file: writes a backup.
        read_entry: reads the JSON of a server's entry, with the errors of each line; see config/settings/given_entries.py.
        move_secrets: returns the entry to save, with placeholders for the secrets that were typed into it, and these by their names.
        memory: what the window remembers of how it is used.
    """

    read_pasted: ReadPasted
    find_secrets: FindSpans
    save_file: SaveFile
    read_entry: Callable[[str], EntryText]
    move_secrets: MoveSecrets
    memory: WindowMemory = msgspec.field(default_factory=WindowMemory)
