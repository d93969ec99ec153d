"""What there is on this computer: which AI clients are installed, which servers their files have, and which of them use Tooltray.

Nothing here starts a program, and no value of a secret leaves it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from tooltray.config.foreign_configs.document_lines import Place
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientScan, ClientServer
from tooltray.sources.clients.bridge_entries import best, connection_of
from tooltray.sources.clients.client_kinds import ClientKind, note_of, why_not_of
from tooltray.sources.clients.client_look import ClientLook, ReadFile
from tooltray.sources.clients.client_places import WorkTrees
from tooltray.sources.clients.entry_words import url_of, words_of
from tooltray.sources.clients.found_entries import FoundEntry
from tooltray.sources.clients.plain_secrets import plain_secrets_of, target_of
from tooltray.sources.entries.pasted_urls import without_keys

_DROPPED_WORDS = ("-y", "--yes", "-q", "--quiet")


def scan(look: ClientLook, kinds: Iterable[ClientKind]) -> ClientScan:
    """Describes some clients, those that are installed first. Blocks while their files are read."""
    described = _Described(look)
    clients = sorted(map(described.client, kinds), key=lambda each: (not each.is_installed, each.name.lower()))
    return ClientScan(tuple(clients), *described.totals())


class _Described:
    """Snapshots of clients, files and servers."""

    def __init__(self, look: ClientLook) -> None:
        self._look, self._trees = look, WorkTrees()
        self._servers: dict[tuple[Path, Place], ClientServer] = {}

    def client(self, kind: ClientKind) -> AiClient:
        files = [shown for file in self._look.files(kind) for shown in self._files(file)]
        why_not = why_not_of(kind) or _why_no_file(kind, files)
        return AiClient(
            kind.id,
            kind.name,
            is_installed=self._look.places.is_installed(kind),
            is_running=self._look.places.is_running(kind),
            connection=best(file.connection for file in files if not file.project),
            files=tuple(files),
            can_connect=not why_not,
            way=kind.way,
            why_not=why_not,
            note=note_of(kind),
            link=kind.link,
        )

    def _files(self, file: ReadFile) -> Iterator[AiClientFile]:
        """Yields a file, and once more for each folder for which it has a list of its own."""
        of_folder = {folder: list(each) for folder, each in groupby(file.entries, lambda entry: entry.project)}
        for folder in dict.fromkeys((file.project, *of_folder)):
            entries = of_folder.get(folder, [])
            yield AiClientFile(
                str(file.place.path),
                exists=file.place.exists,
                project=folder,
                connection=connection_of(entries, self._look.own, self._look.places.environ),
                servers=tuple(map(self._server, entries)),
                is_version_controlled=self._trees.holds(file.place.path),
                problem=file.problem,
                line=file.line,
            )

    def _server(self, entry: FoundEntry) -> ClientServer:
        """Describes an entry once: several clients may have the same file."""
        key = (entry.path, entry.place)
        if key not in self._servers:
            place, secrets = tuple(map(str, entry.place)), plain_secrets_of(entry.entry)
            self._servers[key] = ClientServer(entry.name, place, target_of(entry.entry), entry.kind, entry.state, secrets, entry.line)
        return self._servers[key]

    def totals(self) -> tuple[int, int, int]:
        """Returns how many servers there are, how many different ones, and how many secrets in plain text."""
        servers = [entry for entry in self._look.entries() if entry.kind == "server"]
        return len(servers), len(set(map(_what_runs, servers))), sum(len(self._server(entry).secrets) for entry in servers)


def _why_no_file(kind: ClientKind, files: Sequence[AiClientFile]) -> str:
    own = [file for file in files if not file.project]
    if kind.way == "link" or any(not file.problem for file in own):
        return ""
    if own:
        return Phrase("its file cannot be changed as it is")
    return Phrase("its file is not there yet, and it is not certain where it has to be: start {client} once", client=kind.name)


def _what_runs(entry: FoundEntry) -> object:
    """Returns a key that is the same for entries that start or call the same, however each client writes it."""
    words = words_of(entry.entry)
    if not words:
        return without_keys(url_of(entry.entry)).rstrip("/").lower() or (entry.path, entry.place)
    if len(words) > 2 and words[0].lower() in ("cmd", "cmd.exe") and words[1].lower() == "/c":
        words = words[2:]
    program = re.sub(r"\.(?:exe|cmd)$", "", re.split(r"[/\\]", words[0])[-1].lower())
    return (program, *(word.removesuffix("@latest") for word in words[1:] if word not in _DROPPED_WORDS))
