"""The parts of a hub that commands need where no hub runs: built from the files of a home, and never started.

Code that uses these parts holds the hub's lock. Each part is made at its first use, since most commands need one or two.
"""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.config.secrets.secrets import SecretStore, take_passphrase
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, Problem
from tooltray.foundation.events import EventBus
from tooltray.foundation.files.file_history import FileHistory
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import TaskKeeper
from tooltray.records.journal.journal_reader import JournalReader
from tooltray.servers.upstream.stops import StoppedServers
from tooltray.sources.entries.portable_entry import clean_text
from tooltray.sources.entries.server_starts import ServerStarts

if TYPE_CHECKING:
    from tooltray.consent.askers import Consent
    from tooltray.records.audit.audit_trail import AuditTrail
    from tooltray.servers.confinement.confinements import Confinements
    from tooltray.servers.confinement.guarded_folders import GuardedFolders
    from tooltray.servers.launch.login_shell import LoginShell
    from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries
    from tooltray.sources.clients.client_edits import ClientEdits, ClientScans
    from tooltray.sources.entries.proposals import Proposals
    from tooltray.sources.entries.server_entries import EntryWidenings
    from tooltray.sources.entries.server_secrets import ServerSecrets
    from tooltray.sources.entries.setup import Setup
    from tooltray.sources.project_files.trust import Trust, TrustStore
    from tooltray.sources.project_files.trust_decisions import InMemoryTrust, TrustDecisions
    from tooltray.sources.projects.project_folders import ProjectFolders


class UnstartedParts:
    """The parts of a hub that is not started. Belongs to one event loop.

    Attributes:
        config: the settings; `load` must read them first.
    """

    def __init__(self, home: Home, note: Callable[[str], None]) -> None:
        """
        Args:
            note: receives faults in files of the home, which a hub would show.
        """
        self._note = note
        self.home, self.bus, self.tasks = home, EventBus(), TaskKeeper()
        self.config = McpConfHelper(home.settings, self.bus, history=FileHistory(home.history, clean_text))
        self.journal_reader = JournalReader(journal_file=home.activity)
        self._store: SecretStore | None = None

    async def load(self) -> None:
        await self.config.load()
        for problem in self.config.problems:
            self._note_problem(problem)

    def _note_problem(self, problem: Problem | None) -> None:
        if problem:
            self._note(str(problem))

    async def close(self) -> None:
        """Ends the tasks that verbs began, including cancelled verbs."""
        await self.tasks.close()
        self.journal_reader.close()
        if self._store is not None:
            await self._store.close()

    @cached_property
    def trail(self) -> "AuditTrail":
        from tooltray.records.audit.audit_trail import AuditTrail

        return AuditTrail(self.home.audit)

    @cached_property
    def consent(self) -> "Consent":
        from tooltray.consent.ancestry import read_known_programs
        from tooltray.consent.askers import Consent
        from tooltray.consent.passphrase import Passphrase
        from tooltray.foundation.resources import resource

        return Consent(
            trail=self.trail,
            passphrase=Passphrase(self.home.passphrase),
            known_programs=lambda: read_known_programs(resource("ai-clients.json").read_bytes()),
        )

    @property
    def secrets(self) -> SecretStore:
        if self._store is None:
            self._store = SecretStore(self.home, self.config.settings.secrets.backend, passphrase=take_passphrase())
        return self._store

    @cached_property
    def starts(self) -> "NoStarts":
        return NoStarts(self)

    @cached_property
    def catalogues(self) -> CatalogueStore:
        return CatalogueStore(self.home.catalogue)

    @cached_property
    def stopped(self) -> StoppedServers:
        return StoppedServers(self.home.stopped)

    @cached_property
    def confinements(self) -> "Confinements":
        from tooltray.servers.confinement.confinements import Confinements
        from tooltray.servers.confinement.support import probe

        return Confinements(support=probe())

    def guarded(self) -> "GuardedFolders":
        from tooltray.servers.confinement.guarded_folders import GuardedFolders

        return GuardedFolders(str(Path.home()), str(self.home.root))

    @cached_property
    def setup(self) -> "Setup":
        from tooltray.sources.entries.setup import Setup, shipped_servers

        return Setup(
            config=self.config,
            secrets=self.secrets,
            server_secrets=self.server_secrets,
            widenings=self.widenings,
            shipped=shipped_servers,
        )

    @cached_property
    def folders(self) -> "ProjectFolders":
        from tooltray.sources.projects.project_folders import ProjectFolders

        return ProjectFolders(config=self.config, home=str(Path.home()))

    @cached_property
    def client_scans(self) -> "ClientScans":
        """Scans with the variables of the terminal, which the user's AI clients have there, too."""
        from tooltray.sources.clients.client_edits import ClientScans

        async def environ() -> Mapping[str, str]:
            return os.environ

        return ClientScans(
            home=self.home, config=self.config, environ=environ, own_url=lambda: None, known_projects=lambda: self.folders.listed()
        )

    @cached_property
    def client_edits(self) -> "ClientEdits":
        from tooltray.records.activity.masking import Mask
        from tooltray.sources.clients.client_edits import ClientEdits

        return ClientEdits(
            client_scans=self.client_scans,
            secrets=self.secrets,
            home=self.home,
            mask=Mask(self.secrets.known_values).masked_whole,
            spawn=self.tasks.spawn,
        )

    @cached_property
    def registries(self) -> "NpmRegistries":
        """The npm registries; measurements made here are used by the next hub."""
        from tooltray.foundation.resources import resource
        from tooltray.servers.launch.npm_config import read_mirrors
        from tooltray.servers.launch.variable_sources import make_login_shell
        from tooltray.servers.npm_mirrors.measuring import RegistryCache, RegistrySources
        from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries

        return NpmRegistries(
            config=self.config,
            cache=RegistryCache(self.home.registries),
            registry_sources=RegistrySources(
                environ=make_login_shell(self.home.environment).environ,
                folder=str(Path.home()),
                mirrors=read_mirrors(resource("npm-registries.json")),
            ),
            bus=self.bus,
            spawn=self.tasks.spawn,
        )

    @cached_property
    def server_secrets(self) -> "ServerSecrets":
        from tooltray.servers.sign_ins.token_store import TokenStore
        from tooltray.sources.entries.server_secrets import SecretUses, ServerSecrets

        def projects() -> dict[str, dict[str, str]]:
            kept = self.trust_store.kept
            return {folder: {entry: each.server for entry, each in entries.items()} for folder, entries in kept.items()}

        uses = SecretUses(
            config=self.config,
            projects=projects,
            lost=lambda: self.trust_store.lost,
            proposed=lambda: self.proposals.entries if self.home.proposals.exists() else {},
        )
        return ServerSecrets(secrets=self.secrets, sign_ins=TokenStore(self.home.sign_ins, self.secrets), secret_uses=uses)

    # parts for everything that needs the user's consent

    @cached_property
    def widenings(self) -> "EntryWidenings":
        from tooltray.sources.entries.server_entries import EntryWidenings

        return EntryWidenings(config=self.config, server_secrets=self.server_secrets)

    @cached_property
    def trust_store(self) -> "TrustStore":
        from tooltray.sources.project_files.trust import TrustStore

        store = TrustStore(self.home.trust)
        self._note_problem(store.problem)
        return store

    @cached_property
    def trust(self) -> "Trust":
        from tooltray.sources.project_files.trust import Trust, look

        def is_taken(name: str) -> bool:
            return any(look(name) == look(other) for other in self.config.names)

        return Trust(self.trust_store, is_taken=is_taken)

    @cached_property
    def trust_decisions(self) -> "TrustDecisions":
        from tooltray.config.foreign_configs.reading import read_file
        from tooltray.sources.project_files.started_files import StartedTexts
        from tooltray.sources.project_files.trust_decisions import TrustDecisions

        environ = self._servers_shell.environ
        return TrustDecisions(
            config=self.config,
            trust=self.trust,
            folders=self.folders,
            read=read_file,
            environ=environ,
            texts=StartedTexts(self.home.started_files),
            confinements=self.confinements,
        )

    @cached_property
    def inmemory_trust(self) -> "InMemoryTrust":
        from tooltray.sources.project_files.trust import TrustStore
        from tooltray.sources.project_files.trust_decisions import InMemoryTrust

        async def nothing_runs(name: str) -> None: ...

        store = TrustStore(self.home.inmemory_trust)
        self._note_problem(store.problem)
        return InMemoryTrust(config=self.config, store=store, home=Path.home(), bus=self.bus, start=nothing_runs, stop=nothing_runs)

    @cached_property
    def proposals(self) -> "Proposals":
        from tooltray.sources.entries.proposal_snapshots import ProposalSnapshots, proposal_store
        from tooltray.sources.entries.proposals import Proposals

        proposals = Proposals(
            config=self.config,
            store=proposal_store(self.home.proposals),
            secrets=self.secrets,
            files=ProjectFiles(self),
            server_secrets=self.server_secrets,
            bus=self.bus,
            snapshots=ProposalSnapshots(
                config=self.config, environ=self._servers_shell.environ, home=Path.home(), confinements=self.confinements
            ),
        )
        self._note_problem(proposals.problem)
        return proposals

    @cached_property
    def _servers_shell(self) -> "LoginShell":
        from tooltray.servers.launch.login_shell import own_environ
        from tooltray.servers.launch.variable_sources import make_login_shell

        return make_login_shell(self.home.environment, own_environ(is_foreign=True))  # servers get no variables that only this terminal has


class NoStarts(ServerStarts):
    """A stand-in for ServerStarts: no server runs, and none starts."""

    def __init__(self, parts: UnstartedParts) -> None:
        self._parts = parts

    async def start_all(self) -> None:
        pass

    def use_secret_backend(self) -> None:
        self._parts.secrets.use(self._parts.config.settings.secrets.backend)

    def retry_failed(self) -> None:
        pass


class ProjectFiles:
    """A writer of entries, after a person's consent, into projects' own files, which the next hub reads."""

    def __init__(self, parts: UnstartedParts) -> None:
        from tooltray.sources.project_files.project_servers import ProjectEdits

        self._parts, self._edits = parts, ProjectEdits()

    async def folder_to_write(self, project: str) -> str:
        from tooltray.protocol.sessions.session_state import SessionState
        from tooltray.sources.projects.project_folders import OWN

        return await self._parts.folders.permitted(project, SessionState(OWN))

    async def add(self, project: str, name: str, entry: Mapping[str, Any]) -> str:
        folder = await self.folder_to_write(project)
        digest = await self._edits.add(folder, name, entry)
        [server] = await self._parts.trust_decisions.trust_own(folder, name, digest)
        return server

    async def change(self, server: str, entry: Mapping[str, Any], revision: str) -> None:
        """Writes a server's entry. Without a hub no project's file is served, so a change of such a server cannot wait."""
        raise NotFound(
            Phrase("there is no server '{server}' of a project", server=server), hint=Phrase("See which there are: tooltray servers list")
        )
