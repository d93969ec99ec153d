"""The entries of servers, wherever each is: in the settings, in a project's own file, or among the proposals that wait for consent.

A server and its secrets are stored together or not at all. ServerManager and LiveSettings follow the settings; ServerStarts starts those
that are new. What an entry widens is confirmed by a person: compared with the existing entry, else with the last removed entry of its name,
so that removing a server and adding it again gains nothing, else with the default permissions.
"""

import difflib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_entry, check_name, check_runs_outside, read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, runs_otherwise
from tooltray.config.settings.server_edits import name_is_taken
from tooltray.config.settings.widening import calls_widen, words_mislead
from tooltray.consent.approvals.new_access import NewAccess
from tooltray.consent.approvals.rule_words import words
from tooltray.foundation.confirm_widening import OTHER_WORDS, YES_TO_CALLS, confirm_widening, must_wait
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import ServerUpdatePreview
from tooltray.foundation.snapshots.servers import AccessChoice, ServerEntry, ServerState
from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.foundation.tasks import Spawn
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.sources.entries.portable_entry import without_secrets

if TYPE_CHECKING:
    from tooltray.catalogue.tool_manager import ToolManager
    from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries
    from tooltray.servers.sign_ins.sign_ins import SignIns
    from tooltray.servers.upstream.managed_server import ManagedServer
    from tooltray.servers.upstream.server_manager import ServerManager
    from tooltray.sources.entries.proposals import Proposals
    from tooltray.sources.entries.server_secrets import ServerSecrets
    from tooltray.sources.project_files.project_servers import ProjectServers


LINES_AROUND = 3  # unchanged lines around each change
MASK = "••••••"


def preview_edit(config: McpConfHelper, name: str, entry: Mapping[str, object]) -> ServerUpdatePreview:
    """Implements ServersApi.preview_server_update."""
    there = config.server_entry(name).entry
    slips = tuple(check_entry(entry))
    server, now = config.file_server(name), config.settings.mcp_servers.get(name)
    return ServerUpdatePreview(
        file=server.file if server else str(config.path),
        diff=entry_diff(name, there, entry),
        is_restarted=not slips and (now is None or runs_otherwise(now, MCPServerConfig.model_validate(entry))),
        revision=config.revision(name),
        problem=_why_not(server, name, entry) if server and not slips else None,
        slips=slips,
    )


def _why_not(server: FileServer, name: str, entry: Mapping[str, object]) -> Problem | None:
    if server.origin == "served":
        title, where = Phrase("'{name}' is not changed", name=name), Phrase("its entry is in {file}", file=server.file)
        return Problem(title, where, Phrase("Change it there."))
    try:
        check_runs_outside(name, MCPServerConfig.model_validate(entry))
    except TooltrayError as error:
        return error.problem
    return None


def entry_diff(name: str, before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the lines by which two entries differ, with some around them; a changed secret is marked, and none is shown."""
    if before == after:
        return ()
    was, now = without_secrets(name, before), without_secrets(name, after)
    old = _lines(was.entry, dict.fromkeys(was.values, MASK))
    changed = Phrase("{masked} (another value)", masked=MASK)
    new = _lines(now.entry, {secret: MASK if was.values.get(secret, value) == value else changed for secret, value in now.values.items()})
    lines = list(difflib.unified_diff(old, new, lineterm="", n=LINES_AROUND))[2:]
    return tuple(" …" if line.startswith("@@") else line for line in lines[1:])


def _lines(entry: Mapping[str, object], masks: Mapping[str, str]) -> list[str]:
    text = json.dumps(entry, indent=2, ensure_ascii=False, default=str)
    for secret, mask in masks.items():
        text = text.replace(f"${{secret:{secret}}}", mask)
    return text.splitlines()


MORE, SECRETS = Phrase("Letting a server do more"), Phrase("Giving a server secrets of others")
MOST_REMOVED = 1000  # more than a user removes while Tooltray runs; beyond that the oldest is dropped


class Widening(NamedTuple):
    """The arguments of `confirm_widening`."""

    what: str
    about: Mapping[str, object]


class EntryWidenings:
    """The check of new and changed entries for wider permissions; belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, server_secrets: "ServerSecrets", new_access: NewAccess) -> None:
        self._config, self._secrets, self._access = config, server_secrets, new_access
        self._removed: dict[str, MCPServerConfig] = {}

    def note_removed(self, name: str, entry: MCPServerConfig | None) -> None:
        """
        Args:
            entry: the valid entry before the removal; None if unknown.
        """
        if entry is None:
            return
        self._removed.pop(name, None)
        if len(self._removed) >= MOST_REMOVED:
            del self._removed[next(iter(self._removed))]
        self._removed[name] = entry

    def as_new(self, name: str, entry: JsonMapping, chosen: AccessChoice | None) -> JsonObject:
        """Returns the entry of a server to add, with what it may do; one that was removed since Tooltray started comes back as it was.

        Args:
            chosen: what it may do, by the choice of the caller.
        """
        is_back = chosen is None and name in self._removed and read_entry(name, entry) == self._removed[name]
        return dict(entry) if is_back else self._access.entry(name, entry, chosen=chosen)

    async def confirm_new(self, name: str, entry: Mapping[str, object], like: MCPServerConfig | None = None) -> bool:
        """Requests the user's approval for permissions of a new server that the last server with its name, or else the setting for new
        servers, does not give. Returns whether anything had to be confirmed.

        Args:
            like: the server that the new one copies; if given, the entry is compared with this server.

        Raises:
            Denied: the person did not confirm.
            TooltrayError: the entry is not valid.
        """
        found = await self._found(name, entry, like)
        for each in found:
            await confirm_widening(each.what, server=name, **each.about)
        return bool(found)

    async def confirm(self, name: str, entry: Mapping[str, object], revision: str) -> str:
        """Requests the user's approval for permissions that a server's new entry has and the existing one lacks; without an existing entry
        see `confirm_new`.

        Args:
            revision: of the entry to replace; empty: the revision at the time of the question.

        Returns:
            The revision of the entry that may be replaced; empty if no question was needed and no revision was given.

        Raises:
            Denied: the person did not confirm.
            TooltrayError: the entry is not valid.
        """
        there = self._config.settings.mcp_servers.get(name)
        seen = self._config.revision(name) if there else ""
        return (revision or seen) if await self.confirm_new(name, entry, there) else revision

    async def told(self, name: str, entry: Mapping[str, object]) -> list[str]:
        """Returns the changes that a person has to confirm, each as the beginning of a sentence; empty if nothing widens."""
        return [each.what for each in await self._found(name, entry, self._config.settings.mcp_servers.get(name))]

    async def _found(self, name: str, entry: Mapping[str, object], before: MCPServerConfig | None) -> list[Widening]:
        now = read_entry(name, entry)
        was = before or self._removed.get(name) or self._access.expected(now)
        return [each async for each in self._widenings(name, was, now)]

    async def _widenings(self, name: str, was: MCPServerConfig, now: MCPServerConfig) -> AsyncIterator[Widening]:
        if calls_widen(was, now):
            yield Widening(YES_TO_CALLS, {"rules": _rules(now), "rules_before": _rules(was)})
        if tools := [tool for tool, each in now.tool_overrides.items() if words_mislead(was.tool_overrides.get(tool), each)]:
            yield Widening(OTHER_WORDS, {"tools": tools})
        if now.confinement.widens(was.confinement):
            yield Widening(MORE, now.confinement.beyond(was.confinement))
        wanted = set(secret_names(now)) - set(secret_names(was))
        if owners := await self._secrets.owners(wanted, besides=name):
            yield Widening(SECRETS, {"secrets": [f"{secret} ({', '.join(owners[secret])})" for secret in sorted(owners)]})


def _rules(config: MCPServerConfig) -> list[str]:
    return [*config.auto_approve, *map(words, config.call_rules)]


ORIGIN = "origin"
"""Member of an entry: `{"kind": "registry", "name": ..., "version": ...}`; kinds: registry, starter, bundle, link, client, text."""


class ServerEntries:
    """The entries of all files and proposals; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        project_servers: "ProjectServers",
        proposals: "Proposals",
        widenings: EntryWidenings,
        server_secrets: "ServerSecrets",
        server_removals: "ServerRemovals",
        servers: "ServerManager",
    ) -> None:
        self._config, self._project_servers, self._proposals = config, project_servers, proposals
        self._widenings, self._secrets, self._removals, self._servers = widenings, server_secrets, server_removals, servers

    def entry(self, name: str) -> ServerEntry:
        """Implements ServersApi.get_server_entry."""
        if self._proposals.is_new(name):
            return self._proposals.entry(name)
        check_is_in_settings(self._servers, name)
        return self._config.server_entry(name)

    def preview(self, name: str, entry: JsonMapping) -> ServerUpdatePreview:
        """Implements ServersApi.preview_server_update."""
        if self._proposals.is_new(name):
            return self._proposals.preview(name, entry)
        check_is_in_settings(self._servers, name)
        return preview_edit(self._config, name, entry)

    def check_may_run(self, name: str) -> None:
        """Checks that a server is not only a proposal.

        Raises:
            Denied: no person has consented to the server yet.
        """
        self._proposals.check_may_run(name)

    async def add(
        self,
        name: str,
        entry: JsonMapping,
        secrets: Mapping[str, str] = {},
        *,
        is_default: bool = True,
        project: str = "",
        like: MCPServerConfig | None = None,
        access: AccessChoice | None = None,
    ) -> str:
        """Implements ServersApi.add_mcp_server.

        Args:
            like: the server that the new one copies; the setting for new servers does not apply to a copy.
        """
        given = self._widenings.as_new(name, entry, access) if like is None else dict(entry)
        if await must_wait():
            return await self._proposals.add(name, given, secrets, is_default=is_default, project=project)
        check_name(name, BUILTIN_NAMES)
        if not project and (name in self._config.settings.mcp_servers or name in self._config.names):
            raise name_is_taken(name)
        await self._widenings.confirm_new(name, given, like=like)
        async with self._secrets.stored(secrets):
            if project:
                return await self._project_servers.add(project, name, given)
            await self._config.set_server(name, given, is_default=is_default, is_new=True)
        return name

    async def change(self, name: str, entry: JsonMapping, revision: str, secrets: Mapping[str, str] = {}) -> None:
        """Implements ServersApi.update_mcp_server."""
        if self._proposals.is_new(name):
            return await self._replace_proposal(name, entry, revision, secrets)
        check_is_in_settings(self._servers, name)
        if await must_wait():
            return await self._proposals.change(name, entry, revision, secrets)
        revision = await self._widenings.confirm(name, entry, revision)
        async with self._secrets.stored(secrets):
            if self._config.file_server(name):
                return await self._project_servers.change(name, entry, revision)
            return await self._config.set_server(name, entry, revision=revision)

    async def _replace_proposal(self, name: str, entry: JsonMapping, revision: str, secrets: Mapping[str, str]) -> None:
        """Replaces a waiting proposal; if a person or a trusted program replaces it, that is the consent."""
        project = self._proposals.project(name)
        if await must_wait():
            await self._proposals.add(name, entry, secrets, is_default=True, project=project, revision=revision)
        else:
            await self.add(name, entry, secrets, project=project)
            await self._proposals.removed(name)

    async def remove(self, name: str, revision: str, *, keep_secrets: bool) -> ServerRemoval:
        """Implements ServersApi.remove_mcp_server."""
        if self._proposals.is_new(name):
            return ServerRemoval(name, tuple(await self._proposals.withdraw(name)))
        check_is_not_builtin(self._servers, name)
        return await self._removals.remove(name, revision, keep_secrets=keep_secrets)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Returns a name for a new server: the wanted name, or the wanted name with a number.

    Args:
        taken: the names of all servers; names of servers that come with Tooltray are taken in any case.
    """
    taken = {*taken, *BUILTIN_NAMES}
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(name for name in numbered if name not in taken)


def check_exists(servers: "ServerManager", name: str | None) -> None:
    """Checks that a server exists; the name None means all servers, and always passes.

    Raises:
        NotFound: the server does not exist.
    """
    if name is not None:
        servers.get(name)


def check_is_in_settings(servers: "ServerManager", name: str) -> None:
    """
    Raises:
        NotFound: the server does not exist.
        TooltrayError: it comes with Tooltray, and has no entry in the settings that could be changed.
    """
    servers.get(name)
    check_is_not_builtin(servers, name)


def check_is_not_builtin(servers: "ServerManager", name: str) -> None:
    """
    Raises:
        TooltrayError: the server comes with Tooltray.
    """
    server = servers.find(name)
    if server and server.is_builtin:
        raise TooltrayError(
            Phrase("'{name}' comes with Tooltray", name=name), Phrase("it has no entry in the settings that could be changed")
        )


class ServerRemovals:
    """The removal of servers with all that only they used; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        project_servers: "ProjectServers",
        proposals: "Proposals",
        server_secrets: "ServerSecrets",
        widenings: EntryWidenings,
        tools: "ToolManager",
        on_removed: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            on_removed: called with a server's name when it was removed for good; deletes what only this server used.
        """
        self._config, self._project_servers, self._proposals = config, project_servers, proposals
        self._server_secrets, self._widenings, self._tools, self._on_removed = server_secrets, widenings, tools, on_removed

    async def remove(self, name: str, revision: str, *, keep_secrets: bool) -> ServerRemoval:
        """Implements ServersApi.remove_mcp_server."""
        removal, before = await self._server_secrets.of(name), self._config.settings.mcp_servers.get(name)
        if name not in self._config.own_settings.mcp_servers and self._project_servers.keeps(name):
            await self._project_servers.remove(name, revision)
        else:
            await self._config.remove_server(name, revision=revision)
        self._widenings.note_removed(name, before)
        await self._proposals.removed(name)
        if keep_secrets:
            return removal
        await self._tools.free_names(name)
        await self._on_removed(name)
        return await self._server_secrets.forget(removal)


class ServerStarts:
    """The automatic starts of servers; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        secrets: SecretStore,
        servers: "ServerManager",
        tools: "ToolManager",
        registries: "NpmRegistries",
        sign_ins: "SignIns",
        spawn: Spawn,
    ) -> None:
        self._config, self._secrets, self._servers = config, secrets, servers
        self._tools, self._registries, self._sign_ins, self._spawn = tools, registries, sign_ins, spawn

    async def start_all(self) -> None:
        """Measures npm registries and starts the servers that start with Tooltray, both in the background; while paused it starts none.

        May be called again: servers that run already are left unchanged.
        """
        self._registries.start()
        if self._config.settings.mcp_enabled:
            self._servers.start_defaults()
            self._tools.list_unknown_servers()

    def start_new(self, servers: Iterable[str]) -> None:
        """Starts the new servers that start with the hub, and once every server whose tools were never listed; does not wait."""
        self._servers.start_defaults(servers)
        self._tools.list_unknown_servers()

    def use_secret_backend(self) -> None:
        """Switches to the place for secrets that the settings name, and retries failed servers."""
        self._secrets.use(self._config.settings.secrets.backend)
        self.retry_failed()

    def retry_failed(self) -> None:
        """Retries servers that lacked a secret, which may be stored now: failed servers now, and servers that are about to fail later."""
        for server in self._servers:
            if server.needs_secrets or self._sign_ins.is_signed_in(server.name):
                if server.state is ServerState.ERROR:
                    server.start()
                elif server.status.is_busy:
                    self._spawn(self._retry_if_it_fails(server), name=f"check whether '{server.name}' got the new secret")

    async def _retry_if_it_fails(self, server: "ManagedServer") -> None:
        await server.settled()
        if server.state is ServerState.ERROR and self._servers.find(server.name) is server:
            server.start()
