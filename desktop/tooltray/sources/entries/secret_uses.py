"""Finds out which servers use which secrets: in the settings, in projects' own files, and in the files that the hub was started with.

Files on the disk are read even if they are half written. When in doubt, a secret counts as used: one that is needed must not be deleted.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.foreign_configs.mcp_json import holder_of
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.file_server import FILE_NAME
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.files.atomic_file import all_set_aside
from tooltray.foundation.files.file_text import CannotOpen, read_text
from tooltray.foundation.files.json_places import CannotRead, read
from tooltray.foundation.tasks import finish_in_thread

_SECRET = re.compile(r"\$\{secret:([^{}]+)\}")
_ESCAPED = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|[^u])")  # an escaped character in JSON; programs differ in which characters they escape

Names = Mapping[str, Mapping[str, str]]
"""The names in the hub of servers of projects' own files, by the project's folder and the entry's name in the file."""


class Uses(msgspec.Struct, frozen=True):
    """
    Attributes:
        users: the users of each secret: names of servers, else paths of files.
        unreadable: paths of files that cannot be read, which may use any secret.
    """

    users: Mapping[str, frozenset[str]]
    unreadable: frozenset[str] = frozenset()

    def of(self, secret: str, besides: str = "") -> tuple[str, ...]:
        """Returns the actual and possible users of a secret, except for the server `besides`."""
        return tuple(sorted((self.users.get(secret, frozenset()) - {besides}) | self.unreadable))

    def by(self, server: str) -> set[str]:
        """Returns the secrets that a server uses."""
        return {secret for secret, users in self.users.items() if server in users}


class SecretUses:
    """The search for uses of secrets; belongs to one event loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        projects: Callable[[], Names],
        served: Callable[[], Iterable[str]] = tuple,
        lost: Callable[[], Iterable[str]] = tuple,
        proposed: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """
        Args:
            projects: returns all known projects, in use or not.
            served: returns the paths of the files that the hub was started with.
            lost: returns the paths of unreadable files that name projects; those that were deleted are ignored.
            proposed: returns the entries that wait for consent, by the servers' names.
        """
        self._config, self._projects, self._served, self._lost, self._proposed = config, projects, served, lost, proposed

    async def all(self) -> Uses:
        """Finds all uses of secrets."""
        found = _Found()
        self._of_settings(found)
        for name, entry in self._proposed().items():
            found.note(name, mentioned(entry))
        await finish_in_thread(_look_into, found, self._config.path, dict(self._projects()), tuple(self._served()))
        found.unreadable.update(await finish_in_thread(_present, tuple(self._lost())))
        return Uses({secret: frozenset(users) for secret, users in found.users.items()}, frozenset(found.unreadable))

    def servers(self) -> set[str]:
        """Returns the names of all known servers, also of projects not in use, of unusable entries, and of served files."""
        written = self._config.document.get("mcpServers")
        found = {*self._config.settings.mcp_servers, *self._config.file_servers, *(written if isinstance(written, dict) else ())}
        return found.union(*(names.values() for names in self._projects().values()))

    def _of_settings(self, found: "_Found") -> None:
        """Adds the uses of the loaded settings: a server may still run with an entry that has changed on the disk."""
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
        """Adds the uses in a document like settings.json; secrets outside of entries are used by the file itself."""
        entries = _members(document)
        for name, entry in entries.items():
            self.note(name, mentioned(entry))
        self.note(path, mentioned({key: value for key, value in document.items() if not (key == "mcpServers" and entries)}))


def mentioned(written: object) -> Iterator[str]:
    """Yields the names of secrets in all placeholders of a JSON value."""
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
    """Adds the uses in all files; blocks on the disk."""
    if (text := _text(found, settings)) is not None:
        document = _object(text)
        if document is None:
            found.note(str(settings), _in_text(text))
        else:
            found.note_document(document, str(settings))
    for folder, names in projects.items():
        _look_into_project(found, Path(folder, FILE_NAME), names)
    broken = all_set_aside(Path(os.path.realpath(settings)))  # people are asked to correct such a file and to rename it back
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
    """Returns a file's text; None if it cannot be read, which is recorded."""
    try:
        return read_text(path).text
    except CannotOpen:
        found.unreadable.add(str(path))
        return None


def _present(paths: tuple[str, ...]) -> list[str]:
    return [path for path in paths if os.path.lexists(path)]


def _in_text(text: str) -> list[str]:
    """Finds placeholders in a text that cannot be parsed, both literally and with JSON escapes decoded."""
    return _SECRET.findall(text) + _SECRET.findall(_ESCAPED.sub(_unescaped, text))


def _unescaped(found: re.Match[str]) -> str:
    try:
        return str(json.loads(f'"{found[0]}"'))
    except ValueError:
        return found[0]
