"""The secrets of servers: which servers use each, and their removal with a server.

Files on the disk are read even if they are half written. When in doubt, a secret counts as used, since a needed secret must not be deleted.
Secrets are removed only on a person's request: changed files and reloaded settings remove none.
"""

import contextlib
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.foreign_configs.mcp_json import holder_of
from tooltray.config.secrets.providers import reference_of
from tooltray.config.secrets.secrets import BACKUP_SECRET, LIST_TIMEOUT_S, SecretStore
from tooltray.config.secrets.vaults import SecretMissing
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.file_server import FILE_NAME
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.tokens.api_tokens import TRUSTED_SECRET
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import all_set_aside
from tooltray.foundation.files.file_text import CannotOpen, read_text
from tooltray.foundation.files.json_places import CannotRead, read
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.snapshots.setup import SecretSnapshot, ServerRemoval, SharedSecret, StoredSecrets
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.servers.sign_ins.tokens import PREFIX

_SECRET = lazy_pattern(r"\$\{secret:([^{}]+)\}")
_ESCAPED = lazy_pattern(r"\\(?:u[0-9A-Fa-f]{4}|[^u])")  # an escaped character in JSON; programs differ in which characters they escape

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
        proposed: Callable[[], JsonMapping] = dict,
    ) -> None:
        """
        Args:
            projects: returns all known projects, in use or not.
            served: returns the paths of the files that the hub was started with.
            lost: returns the paths of unreadable files that name projects; deleted files are ignored.
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

    def note_document(self, document: JsonMapping, path: str) -> None:
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


def _members(document: JsonMapping) -> JsonMapping:
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
    broken = all_set_aside(Path(os.path.realpath(settings)))  # users are asked to correct such a file and to rename it back
    for path in (*map(Path, served), *broken):
        if (text := _text(found, path)) is not None:
            found.note(str(path), _in_text(text))


def _object(text: str) -> JsonObject | None:
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


OWN_SECRETS = (TRUSTED_SECRET, BACKUP_SECRET)
"""Names of Tooltray's own secrets: no server uses them, and they cannot be set from outside."""


class KeptSignIns(Protocol):
    """The tokens of sign-ins among the secrets: SignIns, or TokenStore without a hub."""

    @property
    def kept(self) -> Mapping[str, str]:
        """The servers with tokens, each with the binding of its tokens."""
        ...

    async def forget(self, server: str) -> None:
        """Deletes a server's tokens.

        Raises:
            TooltrayError: the tokens could not be deleted.
        """
        ...


async def _none_known(name: str) -> None:
    return None


class ServerSecrets:
    """The secrets of servers; belongs to one event loop."""

    def __init__(
        self,
        *,
        secrets: SecretStore,
        sign_ins: KeptSignIns,
        secret_uses: SecretUses,
        provider_problem: Callable[[str], Awaitable[Problem | None]] = _none_known,
        on_stored: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Args:
            on_stored: called when secrets were stored for a server; servers that failed without them can start now.
            provider_problem: returns why a secret of another provider cannot be read.
        """
        self._secrets, self._sign_ins, self._uses, self._provider_problem = secrets, sign_ins, secret_uses, provider_problem
        self._on_stored = on_stored

    async def named_for(self, server: str) -> list[str]:
        """Returns the names of stored secrets that begin with a server's name."""
        return [name for name in await self._secrets.names() if name.startswith(f"{server}/")]

    @contextlib.asynccontextmanager
    async def stored(self, values: Mapping[str, str], *, are_used: bool = True) -> AsyncIterator[None]:
        """Stores secrets for the block inside: if the block fails, each secret gets its former value again.

        Args:
            values: by the names of the secrets.
            are_used: a server gets them now; False: they wait for a person's consent.

        Raises:
            TooltrayError: the secrets cannot be reached; none was changed.
        """
        there = await self._secrets.names() if values else []
        before: dict[str, str] = {}
        is_done = False
        try:
            for name, value in values.items():
                before[name] = await self._secrets.get(name) if name in there else ""
                await self._secrets.set(name, value)
            yield
            is_done = True
        finally:
            if not is_done:
                await self._put_back(before)
        if values and are_used:
            self._on_stored()

    async def _put_back(self, before: Mapping[str, str]) -> None:
        """Restores the former values of secrets; a secret that did not exist is removed, unless a server is known to use it by now."""
        users = (await self._uses.all()).users
        for name, value in before.items():
            with contextlib.suppress(TooltrayError):  # the first failure is the one to report
                if value:
                    await self._secrets.set(name, value)
                elif name not in users:
                    await self._secrets.remove(name)

    async def of(self, server: str) -> ServerRemoval:
        """Returns what would be removed with a server; nothing for an unknown name. Errors of the secret store are in `problem`."""
        if server not in self._uses.servers():
            return ServerRemoval(server)
        uses = await self._uses.all()
        named = uses.by(server)
        sign_in = PREFIX + server if server in self._sign_ins.kept else ""
        try:
            stored = await self._secrets.names()
        except TooltrayError as error:
            return ServerRemoval(server, tuple(sorted(named)), sign_in, problem=error.problem if named or sign_in else None)
        own = sorted(named.intersection(stored) | set(self._named_after(server, stored)))
        users = {secret: uses.of(secret, besides=server) for secret in own}
        shared = tuple(SharedSecret(secret, users[secret]) for secret in own if users[secret])
        return ServerRemoval(server, tuple(secret for secret in own if not users[secret]), sign_in, shared)

    async def owners(self, secrets: Collection[str], *, besides: str) -> dict[str, tuple[str, ...]]:
        """Returns the owners of some secrets: the servers and files that use them, and the server after which one is named. Secrets that
        belong only to the server `besides`, or have no owner, are left out.
        """
        if not secrets:
            return {}
        uses, servers = await self._uses.all(), self._uses.servers()
        found = {name: {*uses.users.get(name, ()), *_named_in(name, servers)} - {besides} for name in secrets}
        return {name: tuple(sorted(owners)) for name, owners in found.items() if owners}

    async def forget(self, removal: ServerRemoval) -> ServerRemoval:
        """Removes the secrets of a removed server that nothing uses now; returns what was removed.

        Args:
            removal: the result of `of` before the server was removed.
        """
        try:
            if removal.sign_in:
                await self._sign_ins.forget(removal.server)
            gone = await self.remove_unused(removal.secrets)
        except TooltrayError as error:
            return replace(removal, problem=error.problem)
        return replace(removal, secrets=tuple(gone), problem=None)

    async def all(self) -> StoredSecrets:
        """Returns the stored and the used secrets; only the used ones if the store cannot be read. Does not wait for a prompt."""
        stored: list[str] | None = None
        with contextlib.suppress(TooltrayError):
            stored = await self._secrets.names(timeout_s=LIST_TIMEOUT_S)
        uses = await self._uses.all()
        names = sorted({*(stored or ()), *uses.users})
        found = tuple([await self._provided(name, uses) or self._snapshot(name, stored, uses) for name in names])
        return StoredSecrets(self._secrets.kind, self._secrets.is_proven, self._secrets.problem, found)

    async def _provided(self, name: str, uses: Uses) -> SecretSnapshot | None:
        if (reference := reference_of(name)) is None:
            return None
        origin, problem = reference.provider.origin(reference.place), await self._provider_problem(name)
        return SecretSnapshot(name, None, tuple(sorted(uses.users.get(name, ()))), kind="provided", origin=origin, problem=problem)

    def _snapshot(self, name: str, stored: Collection[str] | None, uses: Uses) -> SecretSnapshot:
        is_stored = None if stored is None else name in stored
        if name in OWN_SECRETS:
            return SecretSnapshot(name, is_stored, kind="own")
        if self._is_of_sign_in(name):
            return SecretSnapshot(name, is_stored, (name.removeprefix(PREFIX),), kind="sign-in")
        return SecretSnapshot(name, is_stored, tuple(sorted(uses.users.get(name, ()))), tuple(sorted(uses.unreadable)))

    async def unused(self) -> list[str]:
        """Returns the stored secrets that no known server uses.

        Raises:
            TooltrayError: the secrets cannot be read.
        """
        return await self._unused_among(await self._secrets.names())

    async def remove_unused(self, names: Collection[str]) -> list[str]:
        """Removes the given secrets except those that a server uses now, and returns the names of the removed ones.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        removed = []
        for name in sorted(set(names).intersection(await self._secrets.names() if names else ())):
            if await self._unused_among([name]):  # checked again for each: a keyring may have waited for the user meanwhile
                await self._remove(name)
                removed.append(name)
        return removed

    async def _unused_among(self, stored: Iterable[str]) -> list[str]:
        uses = await self._uses.all()
        free = (secret for secret in sorted(stored) if secret not in OWN_SECRETS)
        return [secret for secret in free if not uses.of(secret) and not self._is_of_sign_in(secret, is_of_known=True)]

    async def _remove(self, name: str) -> None:
        if self._is_of_sign_in(name):
            await self._sign_ins.forget(name.removeprefix(PREFIX))
        with contextlib.suppress(SecretMissing):
            await self._secrets.remove(name)

    def _named_after(self, server: str, stored: Iterable[str]) -> Iterator[str]:
        """Yields the secrets that were stored for a server, whether its entry uses them or not."""
        return (name for name in stored if name.startswith(f"{server}/") and not self._is_of_sign_in(name))

    def _is_of_sign_in(self, name: str, *, is_of_known: bool = False) -> bool:
        """Returns whether a secret holds the tokens of a sign-in.

        Args:
            is_of_known: count only sign-ins to existing servers. They are recognised by the server's name, even if the index of sign-ins
                was lost.
        """
        server = name.removeprefix(PREFIX)
        if not name.startswith(PREFIX):
            return False
        return server in self._uses.servers() or (not is_of_known and server in self._sign_ins.kept)


def _named_in(secret: str, servers: Collection[str]) -> tuple[str, ...]:
    """Returns the owner of a secret by its name only: "SERVER/KEY", a sign-in of a server, or one of Tooltray's own."""
    if secret in OWN_SECRETS:
        return ("Tooltray",)
    server = secret.removeprefix(PREFIX) if secret.startswith(PREFIX) else secret.partition("/")[0]
    return (server,) if server in servers else ()
