"""The API over parts that are built and not started: verbs that need only the files of a home, for commands where no hub runs.

A part's class here derives from the hub's. Verbs that need running servers do their work in another way, or are not offered.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from tooltray import __version__
from tooltray.api.parts import Api, remote_parts
from tooltray.api.presenter.hub_api import HubApi
from tooltray.app.unstarted_parts import UnstartedParts
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.settings.given_entries import BUILTIN_NAMES
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, config_hash
from tooltray.config.settings.server_edits import name_is_taken
from tooltray.consent.api import ConfirmationsApi
from tooltray.consent.approvals.access import access_of
from tooltray.consent.approvals.api import ApprovalsApi
from tooltray.consent.approvals.permissions import Permissions
from tooltray.consent.tokens.api import AccessApi
from tooltray.foundation.confirm_widening import confirm_widening, note_narrowing
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ALL_LINES, LogFilter, LogPage
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.clients import HttpStatus, NewApiToken, Scope
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import AccessChoice, ServerEntry, ServerSnapshot, ServerState
from tooltray.foundation.snapshots.setup import ServerRemoval, SetupChange
from tooltray.foundation.verbs import JsonMapping, LazyPart
from tooltray.records.audit_trail import AuditApi
from tooltray.records.journal.api import ActivityApi
from tooltray.records.journal.journal import Journal
from tooltray.servers.confinement.api import ConfinementApi
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.logs.api import LogsApi
from tooltray.servers.npm_mirrors.npm_registries import RegistriesApi
from tooltray.sources.clients.api import AiClientsApi
from tooltray.sources.discovery.api import DiscoveryApi
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.links import client_links
from tooltray.sources.entries.settings_api import (
    YES_TO_SERVERS,
    FilesApi,
    SecretsApi,
    SetupApi,
    about_entries,
    commands_of,
    distrust_other,
    known_requests,
    trust_others,
)
from tooltray.sources.projects.api import ALLOWING, ProjectsApi


def unstarted_api(parts: UnstartedParts) -> Api:
    """Returns an API whose parts are each made at their first verb."""
    made: dict[str, Callable[[], object]] = {
        "hub": lambda: _HubApi(parts),
        "servers": lambda: _ServersApi(parts),
        "logs": lambda: _LogsApi(parts),
        "secrets": lambda: _SecretsApi(parts),
        "access": lambda: _AccessApi(parts),
        "ai_clients": lambda: _AiClientsApi(parts),
        "approvals": lambda: _ApprovalsApi(parts),
        "projects": lambda: _ProjectsApi(parts),
        "files": lambda: _FilesApi(parts),
        "registries": lambda: RegistriesApi(registries=parts.registries),
        "setup": lambda: _SetupApi(parts),
        "activity": lambda: _ActivityApi(parts),
        "confirmations": lambda: ConfirmationsApi(consent=parts.consent),
        "audit": lambda: AuditApi(trail=parts.trail),
        "confinement": lambda: _ConfinementApi(parts),
        "discovery": lambda: _DiscoveryApi(parts),
    }
    return Api(**remote_parts(_not_offered) | {name: LazyPart(make) for name, make in made.items()})


async def _not_offered(verb: str, /, **params: object) -> Any:
    raise TooltrayError(Phrase("Tooltray is not running"), Phrase("{verb} needs one", verb=verb), Phrase("Start it: tooltray serve"))


class _Unstarted:
    """A part of the API without what only a hub has; an inherited verb that needs a missing attribute is not offered."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TooltrayError(
            Phrase("Tooltray is not running"), Phrase("This needs Tooltray to be running"), Phrase("Start it: tooltray serve")
        )


class _HubApi(_Unstarted, HubApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._parts = parts

    async def get_snapshot(self) -> HubSnapshot:
        parts, settings = self._parts, self._parts.config.settings
        has_proposals = parts.home.proposals.exists()
        servers = [self._server(name, config, waits=self._waits(name, config)) for name, config in settings.mcp_servers.items()]
        servers += parts.proposals.snapshots() if has_proposals else ()
        return HubSnapshot(0, __version__, not settings.mcp_enabled, 0, 0.0, tuple(servers), parts.config.problems)

    def _waits(self, name: str, config: MCPServerConfig) -> bool:
        parts = self._parts
        is_proposed = parts.home.proposals.exists() and parts.proposals.waits(name)
        return is_proposed or (config.transport == "inmemory" and parts.inmemory_trust.waits(name))

    def _server(self, name: str, config: MCPServerConfig, *, waits: bool) -> ServerSnapshot:
        settings = self._parts.config.settings
        is_default = name in settings.default_servers
        since = self._parts.stopped.since(name)
        is_stopped = config.disable or since is not None or (is_default and not config.deferred_startup)
        idle_state = ServerState.WAITING if config.deferred_startup else ServerState.ON_DEMAND
        catalogue = self._parts.catalogues.load(name, config_hash(config))
        return ServerSnapshot(
            name,
            config.transport,
            config.target,
            ServerState.STOPPED if is_stopped else idle_state,
            since=since or 0.0,
            is_default=is_default,
            is_disabled=config.disable,
            icon=config.icons,
            description=config.descriptions,
            tool_count=len(catalogue.definitions) if catalogue else 0,
            is_listed=catalogue is not None,
            auto_approve=config.auto_approve,
            isolation=config.isolation,
            idle_stop_s=config.idle_stop,
            is_lazy=settings.publish.shows_lazily(config),
            is_deferred=config.deferred_startup,
            startup_template=config.template if config.deferred_startup else (),
            waiting=waits,
            confinement=self._parts.confinements.of(name, config),
            access=access_of(config, self._parts.confinements),
        )

    async def forget_environment(self) -> None:
        self._parts.remembered.forget()


class _LogsApi(_Unstarted, LogsApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._pages = parts.log_pages

    async def get_log(self, source: str, wanted: LogFilter = ALL_LINES, before: str = "", after: str = "", limit: int = 200) -> LogPage:
        return await self._pages.page(source, wanted, before, after, limit)


class _AiClientsApi(_Unstarted, AiClientsApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._scans, self._edits = parts.client_scans, parts.client_edits


class _ServersApi(_Unstarted, ServersApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._parts, self._config = parts, parts.config
        self._home = parts.home

    async def get_client_links(self, server: str = "") -> dict[str, str]:
        if not server:
            raise TooltrayError(
                Phrase("Tooltray is not running"),
                Phrase("Links to Tooltray itself need it to be running"),
                Phrase("Start it: tooltray serve"),
            )
        return client_links(server, self._config.server_entry(server).counts)

    async def get_server_entry(self, name: str) -> ServerEntry:
        return self._config.server_entry(name)

    async def add_mcp_server(
        self,
        name: str,
        config: JsonMapping,
        is_default: bool = True,
        project: str = "",
        secrets: Mapping[str, str] = {},
        access: AccessChoice | None = None,
    ) -> str:
        if name in self._config.settings.mcp_servers or name in self._config.names:
            raise name_is_taken(name)
        await self._set(name, self._parts.new_access.entry(name, config, chosen=access), "", secrets, is_default=is_default)
        return name

    async def update_mcp_server(self, name: str, config: JsonMapping, revision: str = "", secrets: Mapping[str, str] = {}) -> None:
        self._config.server_entry(name)  # raises if the server does not exist
        await self._set(name, config, revision, secrets)

    async def _set(
        self, name: str, entry: JsonMapping, revision: str, secrets: Mapping[str, str], *, is_default: bool | None = None
    ) -> None:
        for secret in secrets:
            _check_keeps_secrets(self._parts.secrets.kind, secret)
        revision = await self._parts.widenings.confirm(name, entry, revision)
        async with self._parts.server_secrets.stored(secrets):
            await self._config.set_server(name, entry, is_default=is_default, revision=revision)
        self._forget_stop(name)

    async def remove_mcp_server(self, name: str, revision: str = "", keep_secrets: bool = False) -> ServerRemoval:
        parts = self._parts
        if parts.home.proposals.exists() and parts.proposals.is_new(name):
            return ServerRemoval(name, tuple(await parts.proposals.withdraw(name)))
        removal = await parts.server_secrets.of(name)
        await self._config.remove_server(name, revision=revision)
        parts.catalogues.forget(name)
        self._forget_stop(name)
        PublishedNames(parts.home.names).free(name)
        return removal if keep_secrets else await parts.server_secrets.forget(removal)

    async def stop_server(self, name: str) -> None:
        """Keeps the next hub from starting a server, until the user starts it. No server runs now.

        Raises:
            NotFound: the settings have no such server.
            TooltrayError: it cannot be saved.
        """
        if name not in BUILTIN_NAMES:
            self._config.server_entry(name)
        self._parts.stopped.add(name, at=time.time())
        self._parts.stopped.save()

    def _forget_stop(self, name: str) -> None:
        """Deletes the record that a server was stopped: adding or replacing a server means to run it, and a removed one leaves no record"""
        if self._parts.stopped.discard(name):
            self._parts.stopped.save()

    async def add_mcp_default_server(self, name: str) -> None:
        await self._config.set_default(name, True)

    async def remove_mcp_default_server(self, name: str) -> None:
        await self._config.set_default(name, False)


class _SecretsApi(_Unstarted, SecretsApi):
    def __init__(self, parts: UnstartedParts) -> None:
        super().__init__(config=parts.config, secrets=parts.secrets, server_secrets=parts.server_secrets, starts=parts.starts)

    async def set_secret(self, name: str, value: str) -> None:
        _check_keeps_secrets(self._secrets.kind, name)
        await super().set_secret(name, value)

    async def check_secrets(self) -> str:
        _check_keeps_secrets(self._secrets.kind, Phrase("Secret"))
        return await super().check_secrets()


class _SetupApi(_Unstarted, SetupApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._setup, self._starts, self._parts = parts.setup, parts.starts, parts

    async def import_setup(self, setup: JsonMapping, replace: bool = False) -> list[SetupChange]:
        planned = await self.preview_import(setup, replace)
        if moved := next((change.name for change in planned if (change.kind, change.subject) == ("replace", "secret")), None):
            _check_keeps_secrets(self._parts.secrets.kind, moved)
        return await super().import_setup(setup, replace)


def _check_keeps_secrets(kind: str, name: str) -> None:
    """
    Raises:
        TooltrayError: a secret would be lost when this command ends.
    """
    if kind == "memory":
        message = Phrase("Secrets are kept in Tooltray's memory, and it is not running")
        raise TooltrayError(Phrase("{name} cannot be stored", name=name), message, Phrase("Start it: tooltray serve"))


class _ClosedDoor:
    """The HTTP endpoints when no hub runs: all are closed."""

    def __init__(self, config: McpConfHelper, has_trusted: Callable[[], bool]) -> None:
        self._config, self._has_trusted = config, has_trusted

    @property
    def status(self) -> HttpStatus:
        http = self._config.settings.publish.http
        return HttpStatus(
            is_enabled=http.enabled,
            requires_token=http.require_token,
            is_api_enabled=http.api.enabled,
            is_api_trusted=self._has_trusted(),
            is_trust_asked=http.api.trusted,
        )

    async def follow(self, *, is_retry: bool = False) -> None: ...

    async def forget_client(self, name: str) -> None: ...

    def forget_programs(self) -> None: ...


class _AccessApi(_Unstarted, AccessApi):
    def __init__(self, parts: UnstartedParts) -> None:
        tokens, api_tokens = parts.tokens, parts.api_tokens
        door = _ClosedDoor(parts.config, lambda: api_tokens.has_trusted)
        super().__init__(config=parts.config, tokens=tokens, api_tokens=api_tokens, trusted=parts.trusted, door=lambda: door)

    async def create_api_token(
        self, name: str, scope: Scope = "manage", expires_in_s: float | None = None, trusted: bool = False
    ) -> NewApiToken:
        made = await super().create_api_token(name, scope, expires_in_s, trusted)
        if not made.is_lasting:  # the trust would last as long as a hub runs, and none runs
            await self.revoke_api_token(name)
            message = Phrase("Trusted tokens are recorded among the secrets, which are unavailable or are lost when Tooltray ends")
            raise TooltrayError(Phrase("No token was created"), message, Phrase("Start Tooltray first: tooltray serve"))
        return made


class _ApprovalsApi(_Unstarted, ApprovalsApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._permissions = _RulesInFiles(parts.config, parts.confinements)


class _RulesInFiles(_Unstarted, Permissions):
    """The rules of servers without their tools, which only a hub knows."""

    def __init__(self, config: McpConfHelper, confinements: Confinements) -> None:
        self._config, self._confinements = config, confinements


class _ProjectsApi(_Unstarted, ProjectsApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._folders = parts.folders

    async def disallow_folder(self, path: str) -> None:
        await self._folders.disallow(path)
        await note_narrowing(ALLOWING, folder=path)


class _ConfinementApi(_Unstarted, ConfinementApi):
    def __init__(self, parts: UnstartedParts) -> None:
        super().__init__(config=parts.config, confinements=parts.confinements, guarded=parts.make_guarded)


class _ActivityApi(_Unstarted, ActivityApi):
    """The journal, read from its file. Without a running hub the file is not written."""

    def __init__(self, parts: UnstartedParts) -> None:
        self._reader, self._trail = parts.journal_reader, parts.trail
        self._journal = Journal(journal_file=parts.home.activity, config=parts.config, bus=parts.bus, known_values=tuple)


class _FilesApi(_Unstarted, FilesApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._parts = parts

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        if not project:
            return [*await self._parts.inmemory_trust.requests(), *await self._parts.proposals.requests()]
        file = await self._parts.decisions.file(project)
        return await self._parts.decisions.requests(file, file.running)

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        requests = await known_requests(self.get_trust_requests(project))
        await confirm_widening(YES_TO_SERVERS, commands_of(requests, entries), project=project, **about_entries(entries))
        if not project:
            return await trust_others(entries, self._parts.inmemory_trust, self._parts.proposals)
        _, names = await self._parts.decisions.trust(project, entries)
        return names

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        if project:
            await self._parts.decisions.distrust(project, entry)
        else:
            await distrust_other(entry, self._parts.inmemory_trust, self._parts.proposals)
        await note_narrowing(YES_TO_SERVERS, project=project, entry=entry)

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        return list(self._parts.trust.entries())


class _DiscoveryApi(_Unstarted, DiscoveryApi):
    def __init__(self, parts: UnstartedParts) -> None:
        self._config, self._starters = parts.config, parts.starters
