"""The servers that may be imported, found in the files of AI clients, in a file or in a text; and the entry and the secrets to store for
each. Reads files, and blocks on the disk.
"""

import contextlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.foreign_configs.documents import Content, Document, Format, read_content, read_document
from tooltray.config.settings.secret_looks import looks_secret
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.file_text import CannotOpen, FileText, read_text
from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import FoundSecret, ImportCandidate, ImportSource
from tooltray.foundation.snapshots.entries import FieldValue, FormField
from tooltray.foundation.verbs import JsonObject
from tooltray.sources.clients.client_kinds import ClientKind, KeyPath, Shape
from tooltray.sources.clients.found_entries import FoundEntry, State, entries_in, kind_of, value_at
from tooltray.sources.entries.pasted import parse_pasted
from tooltray.sources.entries.pasted_parts import with_escaped_paths
from tooltray.sources.entries.portable_entry import SHORTEST_KNOWN, PortableEntry, filled_in, without_secrets
from tooltray.sources.entries.server_entries import ORIGIN
from tooltray.sources.foreign_entries.entry_reading import RawServer, ReadServer

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
"""Places of servers in a document of an unknown client, with the shape of the entries at each place."""


class Found(HidesFields, frozen=True):
    """One server at the place where it was found.

    Attributes:
        state: as in its client; "on" for a given text or file.
        entry: as in its client's file; None if a text or file was given.
    """

    hidden: ClassVar = ("entry",)

    server: RawServer
    source: ImportSource
    state: State = "on"
    entry: FoundEntry | None = None


def of_clients(entries: Iterable[FoundEntry]) -> list[Found]:
    """Returns the servers of AI clients, without Tooltray itself and servers that lead to it."""
    inputs = _Inputs()
    return [_of_client(entry, inputs) for entry in entries if entry.kind == "server"]


def of_text(text: str, *, path: str = "", own_url: str | None = None, kinds: Sequence[ClientKind] = ()) -> list[Found]:
    """Returns the servers of a text: the content of a client's file, a block or a command from a README, a URL.

    Args:
        path: of the file with the text; empty without a file.
        own_url: the hub's address; entries with it are left out.
        kinds: the known clients; the name of a file shows its client.

    Raises:
        TooltrayError: no server was found in it, with the reason.
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
        TooltrayError: it cannot be read, or no server was found in it, with the reason.
    """
    try:
        file = read_text(Path(path))
    except CannotOpen as error:
        raise TooltrayError(Phrase("{file} cannot be read", file=path), error.reason) from None
    if not file.digest:
        raise TooltrayError(Phrase("{file} cannot be read", file=path), Phrase("no such file"))
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


# given texts


def _entries(content: Content, format: Format, path: str, own_url: str | None, kinds: Sequence[ClientKind]) -> list[FoundEntry]:
    place = next((place for place in _SHAPES if isinstance(value_at(content.value, place), Mapping | list)), None)
    if place is None:
        return []
    shape = _shape_of(path, kinds) or _SHAPES[place]
    kind = ClientKind("", "", format, (place,), shape)
    try:
        return entries_in(kind, Document(Path(path), format, FileText(), content), own_url=own_url)
    except CannotOpen as error:
        title = Phrase("{file} cannot be read", file=path) if path else Phrase("This is too long to be imported")
        raise TooltrayError(title, error.reason) from None


def _shape_of(path: str, kinds: Sequence[ClientKind]) -> Shape | None:
    """Returns the shape of the client that has a file of this name; None if no client has one."""
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
    entries = [(each.name, {**each.config, **dict.fromkeys(each.left_out, True)}) for each in found]  # reported as not imported
    return [Found(RawServer(name, entry, is_example=not path), ImportSource("", path, name)) for name, entry in entries]


Entry = JsonObject
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")
_UNUSUAL = re.compile("[^A-Za-z0-9_.-]+")


class Offer(HidesFields, frozen=True):
    """A server that can be imported.

    Attributes:
        read: its entry in the spelling of the settings; None if it cannot be used.
        found: all places where it was found.
    """

    hidden: ClassVar = ("read", "found")

    candidate: ImportCandidate
    found: tuple[Found, ...]
    read: ReadServer | None = None

    def stored_as(self, name: str, given: Mapping[str, FieldValue], known: Collection[str]) -> tuple[Entry, dict[str, str]]:
        """Returns the entry for the settings, and the secrets to store by their names.

        Args:
            name: under which it is added.
            given: the user's values for the fields.
            known: values of other secrets, which are searched in all texts.

        Raises:
            TooltrayError: a value is missing, or cannot be used.
        """
        if self.read is None:
            raise _unusable(self.candidate)
        values = {field.key: _answer(field, given) for field in self.read.asks}
        plain = {_asked(field.key): values[field.key] for field in self.read.asks if not field.is_secret}
        try:
            stored = masked(name, filled_in(self.read.entry, plain), {*known, *self.read.read})
        except CannotUse as error:
            raise TooltrayError(Phrase("'{name}' cannot be imported", name=name), error.reason) from None
        secrets = {_secret_name(name, field.key, stored.values): field.key for field in self.read.asks if field.is_secret}
        entry = filled_in(stored.entry, {_asked(key): f"${{secret:{secret}}}" for secret, key in secrets.items()})
        origin = {"kind": "client" if self.candidate.sources[0].client else "text", "client": self.candidate.sources[0].client}
        return {**entry, ORIGIN: origin}, {**stored.values, **{secret: values[key] for secret, key in secrets.items()}}


def masked(name: str, entry: Mapping[str, object], known: Collection[str]) -> PortableEntry:
    """Returns an entry with placeholders for its secrets, and their values.

    Args:
        name: of the server, and so the beginning of the secrets' names.
        known: values of secrets, which are searched in all texts.

    Raises:
        CannotUse: a secret and a placeholder are in the same text: stored secrets are filled in unchanged, so the placeholder would stay.
    """
    found = without_secrets(name, entry, known)
    mixed = {secret: value for secret, value in found.values.items() if "${" in value}
    rests = [_PLACEHOLDER.sub("", value) for value in mixed.values()]
    if any(looks_secret("", rest) or any(value in rest for value in known if len(value) >= SHORTEST_KNOWN) for rest in rests):
        raise CannotUse(Phrase("one text contains a secret and a placeholder; keep one of them"))
    back = {f"${{secret:{secret}}}": value for secret, value in mixed.items()}
    return PortableEntry(filled_in(found.entry, back), {secret: value for secret, value in found.values.items() if secret not in mixed})


def found_secrets(values: Mapping[str, str]) -> tuple[FoundSecret, ...]:
    """Returns the shown facts about secrets: their keys, and how they were recognised.

    Args:
        values: of secrets by their names, as in `masked`.
    """
    return tuple(FoundSecret(secret.rpartition("/")[2], "form" if looks_secret("", value) else "name") for secret, value in values.items())


def _asked(key: str) -> str:
    return f"${{input:{key}}}"


def _secret_name(server: str, key: str, taken: Collection[str]) -> str:
    name = f"{server}/{_UNUSUAL.sub('_', key)}"
    return name if name not in taken else f"{name}_asked"


def _answer(field: FormField, given: Mapping[str, FieldValue]) -> str:
    """
    Raises:
        TooltrayError: the value is missing, or cannot be used.
    """
    value = given.get(field.key, field.default)
    if not isinstance(value, str) or not value:
        raise TooltrayError(Phrase("'{name}' is missing", name=field.label), Phrase("its client asks for it, and keeps it nowhere"))
    if field.choices and value not in field.choices:
        raise TooltrayError(Phrase("'{name}' cannot be used", name=field.label), Phrase("it is not one of the choices"))
    if "${" in value and not field.is_secret:
        raise TooltrayError(Phrase("'{name}' cannot be used", name=field.label), Phrase("it would be taken for a placeholder"))
    return value


def _unusable(candidate: ImportCandidate) -> TooltrayError:
    problem = candidate.problem
    assert problem is not None
    return TooltrayError(problem.title, problem.message, problem.hint)
