"""The settings in the place of a hub: the same verbs, for what needs no running server.

Above it: hub, which makes one while it holds the hub's lock. Below it: McpConfHelper, SecretStore and the catalogue on disk. Imported only
where no hub runs: it costs what pydantic costs.
"""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tooltray import __version__
from tooltray.access.api_token import ApiToken
from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.names import PublishedNames
from tooltray.cli.terminal import print_note
from tooltray.confirmation import Asker, asked_by, confirm_widening
from tooltray.errors import TooltrayError
from tooltray.events import EventBus
from tooltray.files.file_history import FileHistory
from tooltray.home.home import Home
from tooltray.phrases import as_json
from tooltray.secrets.secrets import SecretStore, take_passphrase
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.settings.server_config import MCPServerConfig, config_hash
from tooltray.settings.settings_edits import http_access, secret_backend
from tooltray.settings.widening import rules_widen
from tooltray.snapshots.http import HttpStatus
from tooltray.snapshots.hub import HubSnapshot
from tooltray.snapshots.removals import ServerRemoval
from tooltray.snapshots.servers import ServerSnapshot, ServerState
from tooltray.upstream.stopped_servers import StoppedServers

if TYPE_CHECKING:
    from tooltray.access.http_access import HttpAccess
    from tooltray.cli.settings_registries import SettingsRegistries
    from tooltray.cli.settings_trust import SettingsTrust
    from tooltray.entries.server_secrets import ServerSecrets
    from tooltray.entries.setup import Setup
    from tooltray.projects.project_folders import ProjectFolders


class SettingsHub:
    """Answers verbs from the files of a home, with the results of McpPresenter. Whoever makes one holds the hub's lock."""

    is_running = False

    def __init__(self, home: Home, release: Callable[[], None], *, asker: Asker) -> None:
        """Reads the settings.

        Args:
            release: frees the lock; called by `close`.
            asker: who runs the command.
        """
        self._home, self._asker = home, asker
        self._release = release
        self._runner = asyncio.Runner()
        self._bus = EventBus()
        from tooltray.entries.clean_text import clean_text

        self._helper = McpConfHelper(home.settings, self._bus, history=FileHistory(home.history, clean_text))
        self._catalogues, self._stopped = CatalogueStore(home.catalogue), StoppedServers(home.stopped)
        self._store: SecretStore | None = None
        self._of_servers: ServerSecrets | None = None
        self._http: HttpAccess | None = None
        self._registries: SettingsRegistries | None = None
        self._trust: SettingsTrust | None = None
        self._verbs: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
            "get_snapshot": self._get_snapshot,
            "forget_environment": self._forget_environment,
            "get_mcp_servers": self._get_mcp_servers,
            "get_server_entry": self._get_server_entry,
            "set_server_auto_approve": self._set_server_auto_approve,
            "add_mcp_server": self._add_mcp_server,
            "update_mcp_server": self._update_mcp_server,
            "remove_mcp_server": self._remove_mcp_server,
            "add_mcp_default_server": self._add_mcp_default_server,
            "remove_mcp_default_server": self._remove_mcp_default_server,
            "get_secret_names": self._get_secret_names,
            "set_secret": self._set_secret,
            "remove_secret": self._remove_secret,
            "preview_removal": self._preview_removal,
            "get_unused_secrets": self._get_unused_secrets,
            "remove_unused_secrets": self._remove_unused_secrets,
            "unlock_secrets": self._unlock_secrets,
            "set_secret_backend": self._set_secret_backend,
            "get_http_status": self._get_http_status,
            "set_http_enabled": self._set_http_enabled,
            "set_api_enabled": self._set_api_enabled,
            "get_api_token": self._get_api_token,
            "rotate_api_token": self._rotate_api_token,
            "list_api_tokens": self._list_api_tokens,
            "create_api_token": self._create_api_token,
            "revoke_api_token": self._revoke_api_token,
            "list_client_tokens": self._list_client_tokens,
            "create_client_token": self._create_client_token,
            "remove_client_token": self._remove_client_token,
            "export_setup": self._export_setup,
            "preview_import": self._preview_import,
            "import_setup": self._import_setup,
            "preview_reset": self._preview_reset,
            "reset_to_default_servers": self._reset_to_default_servers,
            "get_allowed_folders": self._get_allowed_folders,
            "allow_folder": self._allow_folder,
            "disallow_folder": self._disallow_folder,
        }
        try:
            self._runner.run(self._helper.load())
        except BaseException:
            self.close()
            raise
        for problem in self._helper.problems:  # a hub would show them on its card
            print_note(str(problem))

    def call(self, method: str, /, *, timeout_s: float | None = None, **params: Any) -> Any:
        """Runs a verb to its end; files do not need a limit, and a keyring's dialog waits for the person.

        Raises:
            TooltrayError: it failed.
        """
        with asked_by(self._asker):
            return self._runner.run(self._verb(method)(**params), context=contextvars.copy_context())

    def close(self) -> None:
        """Frees the lock, also where something before that fails. May be called once."""
        try:
            if self._registries is not None:
                self._runner.run(self._registries.close())
            if self._store is not None:
                self._runner.run(self._store.close())
            self._runner.close()
        finally:
            self._release()

    def _verb(self, method: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if "trust" in method:
            return self._make_trust().verbs[method]
        if "npm_registry" not in method:
            return self._verbs[method]
        if self._registries is None:
            from tooltray.cli.settings_registries import SettingsRegistries

            self._registries = SettingsRegistries(self._home, self._helper, self._bus)
        return self._registries.verbs[method]

    async def _forget_environment(self) -> None:
        from tooltray.launch.remembered_variables import RememberedVariables

        RememberedVariables(self._home.environment).forget()

    async def _get_snapshot(self) -> dict[str, Any]:
        settings = self._helper.settings
        servers = [self._server(name, config) for name, config in settings.mcp_servers.items()]
        if self._home.proposals.exists():
            servers = self._make_trust().with_proposals(servers)
        snapshot = as_json(HubSnapshot(0, __version__, not settings.mcp_enabled, 0, 0.0, (), self._helper.problems))
        return snapshot | {"servers": servers}

    def _make_trust(self) -> "SettingsTrust":
        if self._trust is None:
            from tooltray.cli.settings_trust import SettingsTrust

            made = SettingsTrust(self._home, self._helper, self._folders(), self._secrets(), self._server_secrets, self._bus)
            self._trust = made
        return self._trust

    def _server(self, name: str, config: MCPServerConfig) -> dict[str, Any]:
        is_default = name in self._helper.settings.default_servers
        since = self._stopped.since(name)
        is_stopped = config.disable or since is not None or (is_default and not config.deferred_startup)
        idle_state = ServerState.WAITING if config.deferred_startup else ServerState.ON_DEMAND
        catalogue = self._catalogues.load(name, config_hash(config))
        snapshot = ServerSnapshot(
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
            auto_approve=config.auto_approve,
            isolation=config.isolation,
            idle_stop_s=config.idle_stop,
            is_lazy=self._helper.settings.publish.shows_lazily(config),
            is_deferred=config.deferred_startup,
            startup_template=config.template if config.deferred_startup else (),
        )
        return as_json(snapshot) | {"state": snapshot.state.value}

    async def _get_allowed_folders(self) -> list[str]:
        return self._folders().listed()

    async def _allow_folder(self, path: str) -> str:
        await confirm_widening("Allowing a folder")
        return await self._folders().allow(path)

    async def _disallow_folder(self, path: str) -> None:
        await self._folders().disallow(path)

    def _folders(self) -> "ProjectFolders":
        from tooltray.projects.project_folders import ProjectFolders

        return ProjectFolders(config=self._helper, home=str(Path.home()))

    async def _get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        return self._helper.entries

    async def _get_server_entry(self, name: str) -> dict[str, Any]:
        return as_json(self._helper.server_entry(name))

    async def _set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        known = self._helper.settings.mcp_servers.get(server)
        if known and rules_widen(known.auto_approve, rules):
            await confirm_widening("A yes to tool calls")
        await self._helper.change_server(server, auto_approve=tuple(rules))

    async def _add_mcp_server(self, name: str, config: dict[str, Any], is_default: bool = True) -> None:
        await self._helper.set_server(name, config, is_default=is_default)
        self._forget_stop(name)

    async def _update_mcp_server(self, name: str, config: dict[str, Any]) -> None:
        await self._helper.set_server(name, config)
        self._forget_stop(name)

    def _forget_stop(self, name: str) -> None:
        """Who adds or replaces a server means it to run; of one that is removed nothing stays."""
        if self._stopped.discard(name):
            self._stopped.save()

    async def _add_mcp_default_server(self, name: str) -> None:
        await self._helper.set_default(name, True)

    async def _remove_mcp_default_server(self, name: str) -> None:
        await self._helper.set_default(name, False)

    async def _remove_mcp_server(self, name: str, keep_secrets: bool = False) -> dict[str, Any]:
        if self._home.proposals.exists() and self._make_trust().proposals.is_new(name):
            return as_json(ServerRemoval(name, tuple(await self._make_trust().proposals.withdraw(name))))
        removal = await self._server_secrets().of(name)
        await self._helper.remove_server(name)
        self._catalogues.forget(name)
        self._forget_stop(name)
        PublishedNames(self._home.names).free(name)
        return as_json(removal if keep_secrets else await self._server_secrets().forget(removal))

    async def _preview_removal(self, name: str) -> dict[str, Any]:
        return as_json(await self._server_secrets().of(name))

    async def _get_unused_secrets(self) -> list[str]:
        return await self._server_secrets().unused()

    async def _remove_unused_secrets(self, names: list[str]) -> list[str]:
        return await self._server_secrets().remove_unused(names)

    def _server_secrets(self) -> "ServerSecrets":
        if self._of_servers is None:
            from tooltray.cli.settings_secrets import server_secrets

            self._of_servers = server_secrets(self._home, self._helper, self._secrets())
        return self._of_servers

    async def _get_secret_names(self) -> list[str]:
        return sorted(await self._secrets().names())

    async def _set_secret(self, name: str, value: str) -> None:
        self._check_keeps_secrets(name)
        await self._secrets().set(name, value)

    def _check_keeps_secrets(self, name: str) -> None:
        if self._helper.settings.secrets.backend == "memory":
            message = "Secrets are kept in the memory of the running hub, and none is running"
            raise TooltrayError(f"{name} cannot be stored", message, "Start it with: tooltray serve")

    async def _remove_secret(self, name: str) -> None:
        await self._secrets().remove(name)

    async def _unlock_secrets(self, passphrase: str) -> None:
        await self._secrets().unlock(passphrase)

    async def _set_secret_backend(self, kind: Any) -> None:
        await self._helper.edit(secret_backend(kind))

    async def _get_http_status(self) -> dict[str, Any]:
        http = self._helper.settings.publish.http
        status = HttpStatus(
            is_enabled=http.enabled,
            requires_token=http.require_token,
            is_api_enabled=http.api.enabled,
            is_api_trusted=ApiTokens(ApiToken(self._home.http_token), self._home.api_tokens).has_trusted,
            is_trust_asked=http.api.trusted,
        )
        return as_json(status)

    async def _set_http_enabled(self, enabled: bool, port: int | None = None) -> dict[str, Any]:
        await self._helper.edit(http_access(enabled, port))
        return await self._get_http_status()

    async def _set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> dict[str, Any]:
        await self._access().set_api(enabled, trusted)
        return await self._get_http_status()

    async def _get_api_token(self) -> str:
        return await self._access().api_token()

    async def _rotate_api_token(self) -> str:
        return await self._access().rotate_api_token()

    async def _list_api_tokens(self) -> list[dict[str, Any]]:
        return [as_json(each) for each in await self._access().list_api_tokens()]

    async def _create_api_token(
        self, name: str, scope: Any = "manage", expires_in_s: float | None = None, trusted: bool = False
    ) -> dict[str, Any]:
        made = await self._access().create_api_token(name, scope, expires_in_s, trusted)
        if not made.is_lasting:  # there is no hub for whose time it could be trusted
            await self._access().revoke_api_token(name)
            message = "What makes a token trusted is kept among the secrets, and they cannot be reached, or end with a hub"
            raise TooltrayError("No token was made", message, "Start a hub first: tooltray serve")
        return as_json(made)

    async def _revoke_api_token(self, name: str) -> None:
        await self._access().revoke_api_token(name)

    def _access(self) -> "HttpAccess":
        if self._http is None:
            from tooltray.cli.settings_access import http_access

            self._http = http_access(self._home, self._helper, self._secrets())
        return self._http

    async def _list_client_tokens(self) -> list[dict[str, Any]]:
        return [as_json(client) for client in self._tokens().list()]

    async def _create_client_token(self, name: str) -> str:
        return self._tokens().create(name)

    async def _remove_client_token(self, name: str) -> None:
        self._tokens().remove(name)

    async def _export_setup(self) -> dict[str, Any]:
        return await self._setup().exported()

    async def _preview_import(self, setup: dict[str, Any], replace: bool = False) -> list[dict[str, Any]]:
        return [as_json(change) for change in await self._setup().preview_import(setup, replace=replace)]

    async def _import_setup(self, setup: dict[str, Any], replace: bool = False) -> list[dict[str, Any]]:
        planned = await self._setup().preview_import(setup, replace=replace)
        if moved := next((change.name for change in planned if (change.kind, change.subject) == ("replace", "secret")), None):
            self._check_keeps_secrets(moved)
        return [as_json(change) for change in await self._setup().take_over(setup, replace=replace)]

    async def _preview_reset(self) -> list[dict[str, Any]]:
        return [as_json(change) for change in await self._setup().preview_reset()]

    async def _reset_to_default_servers(self) -> list[dict[str, Any]]:
        return [as_json(change) for change in await self._setup().reset()]

    def _setup(self) -> "Setup":
        from tooltray.entries.setup import Setup, shipped_servers

        return Setup(config=self._helper, secrets=self._secrets(), shipped=shipped_servers)

    def _tokens(self) -> ClientTokens:
        return ClientTokens(self._home.clients)

    def _secrets(self) -> SecretStore:
        if self._store is None:
            self._store = SecretStore(self._home, self._helper.settings.secrets.backend, passphrase=take_passphrase())
        return self._store
