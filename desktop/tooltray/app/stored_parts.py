"""The parts of a hub that are made from the files of its home: what the hub and commands without one have in common."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.config.secrets.secrets import SecretStore, take_passphrase
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.ancestry import read_known_programs
from tooltray.consent.approvals.new_access import NewAccess
from tooltray.consent.passphrase import Passphrase
from tooltray.consent.tokens.api_tokens import ApiToken, ApiTokens, TrustedTokens
from tooltray.consent.tokens.client_tokens import ClientTokens
from tooltray.foundation.composition import Composition, made, part, read
from tooltray.foundation.events import EventBus
from tooltray.foundation.files.edited_files import FileHistory
from tooltray.foundation.home.home import Home
from tooltray.foundation.programs import resource
from tooltray.foundation.tasks import TaskKeeper
from tooltray.records.audit_trail import AuditTrail
from tooltray.records.log.masking import Mask
from tooltray.servers.confinement.confinements import Support, probe
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.launch.npm_config import Registry, read_mirrors
from tooltray.servers.logs.log_files import ServerLogFiles
from tooltray.servers.logs.log_reader import LogPages
from tooltray.servers.npm_mirrors.measuring import RegistryCache, RegistrySources
from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries
from tooltray.servers.sign_ins.tokens import TokenStore
from tooltray.servers.upstream.stops import StoppedServers
from tooltray.sources.clients.client_edits import ClientEdits
from tooltray.sources.entries.portable_entry import clean_text
from tooltray.sources.entries.server_entries import EntryWidenings
from tooltray.sources.project_files.project_servers import ProjectEdits
from tooltray.sources.project_files.started_files import StartedTexts
from tooltray.sources.projects.project_sources import ProjectFolders

if TYPE_CHECKING:  # the classes of parts that are made on demand
    import tooltray.servers.confinement.api
    import tooltray.sources.discovery.api
    import tooltray.sources.entries.setup


class StoredParts(Composition):
    """The parts over the files of a home, by name; see `hub`. Belongs to one event loop."""

    def __init__(self, home: Home, *, limits: Mapping[str, Any] | None = None) -> None:
        """
        Args:
            limits: replaces the defaults of parameters with these names, which bound waiting times. For tests.
        """
        super().__init__(limits or {})
        self.home = home
        self.bus, self.tasks = EventBus(), TaskKeeper()
        self.spawn = self.tasks.spawn

    user_folder: Path = made(lambda parts: Path.home())
    history: FileHistory = made(lambda parts: FileHistory(parts.home.history, clean_text))
    config: McpConfHelper = part(path="home.settings", history="history")
    secrets: SecretStore = part(kind="config.settings.secrets.backend", bus="bus", passphrase=lambda parts: take_passphrase())
    api_tokens: ApiTokens = read(lambda parts: ApiTokens(ApiToken(parts.home.http_token), parts.home.api_tokens))
    tokens: ClientTokens = read(lambda parts: ClientTokens(parts.home.clients))
    trusted: TrustedTokens = part()
    known_values: Callable[[], frozenset[str]] = made(lambda parts: lambda: parts.secrets.known_values() | parts.api_tokens.default.known)
    mask: Mask = made(lambda parts: Mask(parts.known_values))
    trail: AuditTrail = made(lambda parts: AuditTrail(parts.home.audit))
    environ: Callable[[], Awaitable[Mapping[str, str]]] = made(lambda parts: parts.login_shell.environ)
    registry_cache: RegistryCache = read(lambda parts: RegistryCache(parts.home.registries))
    mirrors: tuple[Registry, ...] = read(lambda parts: read_mirrors(resource("npm-registries.json")))
    registry_sources: RegistrySources = part(folder=lambda parts: str(parts.user_folder))
    registries: NpmRegistries = part(cache="registry_cache")
    sign_in_store: TokenStore = read(lambda parts: TokenStore(parts.home.sign_ins, parts.secrets))
    support: Support = read(lambda parts: probe())
    stopped: StoppedServers = read(lambda parts: StoppedServers(parts.home.stopped))
    catalogues: CatalogueStore = made(lambda parts: CatalogueStore(parts.home.catalogue))
    folders: ProjectFolders = part(home=lambda parts: str(parts.user_folder))
    texts: StartedTexts = made(lambda parts: StartedTexts(parts.home.started_files))
    edits: ProjectEdits = part(history="history")
    passphrase: Passphrase = made(lambda parts: Passphrase(parts.home.passphrase))
    known_programs: Callable[[], Mapping[str, str]] = made(
        lambda parts: lambda: read_known_programs(resource("ai-clients.json").read_bytes())
    )
    new_access: NewAccess = part()
    widenings: EntryWidenings = part()
    setup: "tooltray.sources.entries.setup.Setup" = part()
    shipped: Callable[[], dict[str, Any]] = made(lambda parts: _shipped_servers)
    client_edits: ClientEdits = part(mask="mask.masked_whole")
    make_guarded: "tooltray.servers.confinement.api.MakeGuarded" = made(
        lambda parts: lambda: GuardedFolders(str(parts.user_folder), str(parts.home.root))
    )
    server_logs: ServerLogFiles = made(lambda parts: ServerLogFiles(parts.home.server_logs))
    log_pages: LogPages = part(files="server_logs", hub_logs="home.logs")
    starters: "tooltray.sources.discovery.api.Starters" = made(lambda parts: _starters())


def _shipped_servers() -> dict[str, Any]:
    from tooltray.sources.entries.setup import shipped_servers

    return shipped_servers()


def _starters() -> "tooltray.sources.discovery.api.Starters":
    from tooltray.sources.discovery.api import Starters

    return Starters(resource("starter-servers.json"))
