"""The servers that may be imported, as they were found: in the files of AI clients, in a file that was named, or in a text.

Reads files, and blocks on the disk.
"""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

from tooltray.config.foreign_configs.documents import Content, Document, Format, read_content, read_document
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.file_text import CannotOpen, FileText, read_text
from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ImportSource
from tooltray.sources.clients.client_kinds import ClientKind, KeyPath, Shape
from tooltray.sources.clients.entry_words import kind_of
from tooltray.sources.clients.found_entries import FoundEntry, State, entries_in
from tooltray.sources.entries.pasted import parse_pasted
from tooltray.sources.entries.pasted_backslashes import with_escaped_paths
from tooltray.sources.foreign_entries.entry_reading import RawServer

Inputs: TypeAlias = Mapping[str, Mapping[str, object]]
MAX_TEXT = 8 * 1024 * 1024  # characters of a text that is imported; thousands of servers have some hundred thousand
_FORMATS: tuple[Format, ...] = ("json", "toml", "yaml")
_SHAPES: Mapping[KeyPath, Shape] = {
    ("mcpServers",): "plain",
    ("amp.mcpServers",): "plain",
    ("servers",): "vscode",
    ("mcp_servers",): "codex",
    ("context_servers",): "zed",
    ("mcp", "servers"): "vscode",
    ("mcp",): "opencode",
    ("extensions",): "goose",
    (): "plain",
}
"""Places of servers in a document of an unknown client, and the shape that entries at each place have."""


class Found(HidesFields, frozen=True):
    """One server where it was found.

    Attributes:
        state: as in its client; "on" for what was given.
        entry: as it is in its client's file; None: it was given as a text or file.
    """

    hidden: ClassVar = ("entry",)

    server: RawServer
    source: ImportSource
    state: State = "on"
    entry: FoundEntry | None = None


def of_clients(entries: Iterable[FoundEntry]) -> list[Found]:
    """Returns the servers of AI clients, without Tooltray itself and what leads to it."""
    inputs = _Inputs()
    return [_of_client(entry, inputs) for entry in entries if entry.kind == "server"]


def of_text(text: str, *, path: str = "", own_url: str | None = None, kinds: Sequence[ClientKind] = ()) -> list[Found]:
    """Returns the servers of a text: the content of a client's file, a block or a command from a README, a URL.

    Args:
        path: of the file that the text is from; empty: none.
        own_url: at which the hub listens; entries with it are left out.
        kinds: of clients; the name of a file shows which client it belongs to.

    Raises:
        TooltrayError: the text contains no server; the error has the reason.
    """
    if len(text) > MAX_TEXT:
        raise TooltrayError(Phrase("This is too long to be imported"), Phrase("it has {number} characters", number=len(text)))
    for format in _FORMATS:
        with contextlib.suppress(CannotRead):
            content = read_content(text if format == "yaml" else with_escaped_paths(text), format)
            if entries := _entries(content, format, path, own_url, kinds):
                inputs = _inputs_in(content.value)
                return [_given(entry, path, inputs) for entry in entries if entry.kind == "server"]
    return _pasted(text, path, own_url)


def of_file(path: str, *, own_url: str | None = None, kinds: Sequence[ClientKind] = ()) -> list[Found]:
    """Returns the servers of a file.

    Raises:
        TooltrayError: it cannot be read, or contains no server; the error has the reason.
    """
    try:
        file = read_text(Path(path))
    except CannotOpen as error:
        raise TooltrayError(Phrase("{file} cannot be read", file=path), error.reason) from None
    if not file.digest:
        raise TooltrayError(Phrase("{file} cannot be read", file=path), Phrase("there is no such file"))
    return of_text(file.text, path=path, own_url=own_url, kinds=kinds)


# AI clients


class _Inputs:
    """The `inputs` of files: the values that their clients ask for. A file is read once, and only if an entry asks for one."""

    def __init__(self) -> None:
        self._known: dict[Path, Inputs] = {}

    def of(self, entry: FoundEntry) -> Inputs:
        if "${input:" not in json.dumps(entry.entry, default=str):
            return {}
        if entry.path not in self._known:
            self._known[entry.path] = {}
            with contextlib.suppress(CannotOpen):  # the values are asked for by their ids
                self._known[entry.path] = _inputs_in(read_document(entry.path, entry.client.format_of(entry.path)).content)
        return self._known[entry.path]


def _inputs_in(content: object) -> Inputs:
    mcp = content.get("mcp") if isinstance(content, Mapping) else None
    holders = [each for each in (content, mcp) if isinstance(each, Mapping)]
    lists = [given for holder in holders if isinstance(given := holder.get("inputs"), list)]
    return {str(each["id"]): each for given in lists for each in given if isinstance(each, Mapping) and "id" in each}


def _of_client(entry: FoundEntry, inputs: _Inputs) -> Found:
    folder = str(entry.path.parent)
    server = RawServer(entry.name, entry.entry, entry.client.shape, entry.project, folder, inputs.of(entry))
    return Found(server, ImportSource(entry.client.id, str(entry.path), entry.name, entry.project), entry.state, entry)


# what was given


def _entries(content: Content, format: Format, path: str, own_url: str | None, kinds: Sequence[ClientKind]) -> list[FoundEntry]:
    place = next((place for place in _SHAPES if _is_there(content.value, place)), None)
    if place is None:
        return []
    shape = _shape_of(path, kinds) or _SHAPES[place]
    kind = ClientKind("", "", format, (place,), shape)
    try:
        return entries_in(kind, Document(Path(path), format, FileText(), content), own_url=own_url)
    except CannotOpen as error:
        title = Phrase("{file} cannot be read", file=path) if path else Phrase("This is too long to be imported")
        raise TooltrayError(title, error.reason) from None


def _is_there(content: object, place: KeyPath) -> bool:
    for key in place:
        content = content.get(key) if isinstance(content, Mapping) else None
    return isinstance(content, Mapping | list)


def _shape_of(path: str, kinds: Sequence[ClientKind]) -> Shape | None:
    """Returns the shape of the client that has a file of this name; None: no client has."""
    parts = Path(path).parts
    for kind in kinds:
        files = kind.files
        for pattern in (*files.all, *files.linux, *files.macos, *files.windows, *kind.project_files):
            end = [part for part in pattern.split("/") if part != "~" and not part.startswith("${")][-2:]
            if list(parts[-len(end) :]) == end:
                return kind.shape
    return None


def _given(entry: FoundEntry, path: str, inputs: Inputs) -> Found:
    folder = str(Path(path).parent) if path else ""
    server = RawServer(entry.name, entry.entry, entry.client.shape, entry.project, folder, inputs, is_example=not path)
    return Found(server, ImportSource("", path, entry.name, entry.project), entry.state)


def _pasted(text: str, path: str, own_url: str | None) -> list[Found]:
    """Reads a block in another form, a command line, or a URL."""
    found = [each for each in parse_pasted(text) if kind_of(each.config, own_url) == "server"]
    entries = [(each.name, {**each.config, **dict.fromkeys(each.left_out, True)}) for each in found]  # named among what is not carried over
    return [Found(RawServer(name, entry, is_example=not path), ImportSource("", path, name)) for name, entry in entries]
