"""Which servers use which secrets: in the settings, in projects' own files, and in those that the hub was started with.

Above it: ServerSecrets. Below it: the settings, and the files as they are on the disk now: what is only half written there counts, too.
Knows no store of secrets. Rather one use too many than one too few: a secret that somebody uses is not to be thrown away.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tooltray.files.atomic_file import all_set_aside
from tooltray.files.file_text import CannotOpen, read_text
from tooltray.files.json_places import CannotRead, read
from tooltray.foreign_configs.config_source import CannotUse
from tooltray.foreign_configs.mcp_json import holder_of
from tooltray.settings.expansion import secret_names
from tooltray.settings.file_server import FILE_NAME
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.tasks import finish_in_thread

_SECRET = re.compile(r"\$\{secret:([^{}]+)\}")
_ESCAPED = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|[^u])")  # a character as JSON may write it: programs differ in which they write so

Names = Mapping[str, Mapping[str, str]]
"""How the servers of projects' own files are called here: by the project's folder, and the entry's name in its file."""


@dataclass(frozen=True)
class Uses:
    """
    Attributes:
        users: by secret, who uses it: servers by their names here, else files by their paths.
        unreadable: files of which nobody can say which secrets they use.
    """

    users: Mapping[str, frozenset[str]]
    unreadable: frozenset[str] = frozenset()

    def of(self, secret: str, besides: str = "") -> tuple[str, ...]:
        """Who uses a secret, or may, but for one server."""
        return tuple(sorted((self.users.get(secret, frozenset()) - {besides}) | self.unreadable))

    def by(self, server: str) -> set[str]:
        """The secrets that a server uses."""
        return {secret for secret, users in self.users.items() if server in users}


class SecretUses:
    """Belongs to one event loop."""

    def __init__(self, config: McpConfHelper) -> None:
        self._config = config

    async def all(
        self, projects: Names, served: Iterable[str], lost: Iterable[str] = (), proposed: Mapping[str, Any] = MappingProxyType({})
    ) -> Uses:
        """
        Args:
            projects: all that are known, also those on which nobody works now.
            served: the paths of the files that the hub was started with.
            lost: paths of files that say which projects there are, and cannot be read; one that is gone counts no more.
            proposed: entries that wait for a person's yes, by the servers' names.
        """
        found = _Found()
        self._of_settings(found)
        for name, entry in proposed.items():
            found.note(name, mentioned(entry))
        await finish_in_thread(_look_into, found, self._config.path, dict(projects), tuple(served))
        found.unreadable.update(await finish_in_thread(_present, tuple(lost)))
        return Uses({secret: frozenset(users) for secret, users in found.users.items()}, frozenset(found.unreadable))

    def _of_settings(self, found: "_Found") -> None:
        """What counts now: an entry whose file says something else by now may still run."""
        found.note_document(self._config.document, str(self._config.path))
        for name, config in self._config.settings.mcp_servers.items():
            found.note(name, secret_names(config))
        for name, server in self._config.file_servers.items():
            found.note(name, mentioned([server.entry.written, list(server.entry.secret_tokens)]))


class _Found:
    def __init__(self) -> None:
        self.users: dict[str, set[str]] = {}
        self.unreadable: set[str] = set()

    def note(self, user: str, secrets: Iterable[str]) -> None:
        for secret in secrets:
            self.users.setdefault(secret, set()).add(user)

    def note_document(self, document: Mapping[str, Any], path: str) -> None:
        """One in the form of the settings: what stands in no entry is used by the file itself."""
        entries = _members(document)
        for name, entry in entries.items():
            self.note(name, mentioned(entry))
        self.note(path, mentioned({key: value for key, value in document.items() if not (key == "mcpServers" and entries)}))


def mentioned(written: Any) -> Iterator[str]:
    """The secrets that are named anywhere in something written as JSON."""
    match written:
        case str():
            yield from _SECRET.findall(written)
        case Mapping():
            for value in written.values():
                yield from mentioned(value)
        case list() | tuple():
            for value in written:
                yield from mentioned(value)


def _members(document: Mapping[str, Any]) -> Mapping[str, Any]:
    entries = document.get("mcpServers")
    return entries if isinstance(entries, dict) else {}


def _look_into(found: _Found, settings: Path, projects: Names, served: tuple[str, ...]) -> None:
    """Blocks for as long as the disk takes."""
    if (text := _text(found, settings)) is not None:
        document = _object(text)
        if document is None:
            found.note(str(settings), _in_text(text))
        else:
            found.note_document(document, str(settings))
    for folder, names in projects.items():
        _look_into_project(found, Path(folder, FILE_NAME), names)
    broken = all_set_aside(Path(os.path.realpath(settings)))  # a person is told to correct such a file and to rename it back
    for path in (*map(Path, served), *broken):
        if (text := _text(found, path)) is not None:
            found.note(str(path), _in_text(text))


def _object(text: str) -> dict[str, Any] | None:
    try:
        content = read(text).content
    except (CannotRead, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _look_into_project(found: _Found, path: Path, names: Mapping[str, str]) -> None:
    if (text := _text(found, path)) is None:
        return
    try:
        holder = holder_of(read(text))
    except (CannotRead, CannotUse, RecursionError):
        found.note(str(path), _in_text(text))
        return
    for name, (_, value) in (holder.members if holder else {}).items():
        found.note(names.get(name, str(path)), mentioned(value.content))


def _text(found: _Found, path: Path) -> str | None:
    """None: there is no such file, or it cannot be read, which is noted."""
    try:
        return read_text(path).text
    except CannotOpen:
        found.unreadable.add(str(path))
        return None


def _present(paths: tuple[str, ...]) -> list[str]:
    return [path for path in paths if os.path.lexists(path)]


def _in_text(text: str) -> list[str]:
    """As it stands there, and as JSON means it: what cannot be read whole may be either."""
    return _SECRET.findall(text) + _SECRET.findall(_ESCAPED.sub(_unescaped, text))


def _unescaped(found: re.Match[str]) -> str:
    try:
        return str(json.loads(f'"{found[0]}"'))
    except ValueError:
        return found[0]
