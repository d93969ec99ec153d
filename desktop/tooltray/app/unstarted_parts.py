"""The composition for commands where no hub runs. Code that uses these parts holds the hub's lock."""

import os
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from tooltray.app.stored_parts import StoredParts
from tooltray.config.foreign_configs.reading import read_file
from tooltray.consent.askers import Consent
from tooltray.consent.kept_file import KeptFile
from tooltray.foundation.composition import made, part
from tooltray.foundation.errors import NotFound, Problem
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonMapping
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.records.journal.journal_reader import JournalReader
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.launch.login_shell import LoginShell, own_environ
from tooltray.servers.launch.remembered_variables import RememberedVariables
from tooltray.servers.launch.variable_sources import make_login_shell
from tooltray.servers.npm_mirrors.measuring import RegistrySources
from tooltray.sources.clients.client_edits import ClientScans
from tooltray.sources.entries.proposals import KeptProposals, Proposals, ProposalSnapshots, proposal_store
from tooltray.sources.entries.server_entries import ServerStarts
from tooltray.sources.entries.server_secrets import SecretUses, ServerSecrets
from tooltray.sources.project_files.trust import Trust, TrustStore, look
from tooltray.sources.project_files.trust_decisions import InMemoryTrust, TrustDecisions
from tooltray.sources.projects.project_sources import OWN


class _Stored(Protocol):
    problem: Problem | None


Store = TypeVar("Store", bound=_Stored)


async def _terminal() -> Mapping[str, str]:
    """Returns the variables of the terminal, which the user's AI clients have there, too."""
    return os.environ


async def _nothing(*_: object) -> None:
    """Does nothing, since no server runs."""


class UnstartedParts(StoredParts):
    """The parts of a hub that is not started. Belongs to one event loop; `load` must read the settings first."""

    def __init__(self, home: Home, note: Callable[[str], None]) -> None:
        """
        Args:
            note: receives what a hub would show on its card: faults in a file of the home.
        """
        super().__init__(home)
        self._note = note

    async def load(self) -> None:
        """Reads the settings."""
        await self.config.load()
        for problem in self.config.problems:
            self._note(str(problem))

    async def close(self) -> None:
        """Ends the tasks that verbs began, including cancelled verbs."""
        await self.tasks.close()
        if "journal_reader" in vars(self):
            self.journal_reader.close()
        if "secrets" in vars(self):
            await self.secrets.close()

    def noted(self, store: Store) -> Store:
        """Returns a store that was read, and passes on its problem."""
        if store.problem:
            self._note(str(store.problem))
        return store

    journal_reader: JournalReader = part(journal_file="home.activity")
    consent: Consent = part()
    confinements: Confinements = part()
    remembered: RememberedVariables = made(lambda parts: RememberedVariables(parts.home.environment))
    login_shell: LoginShell = made(  # servers get no variables that only this terminal has
        lambda parts: make_login_shell(parts.home.environment, own_environ(is_foreign=True))
    )
    starts: ServerStarts = made(lambda parts: NoStarts(parts))
    client_scans: ClientScans = part(
        environ=lambda _: _terminal, own_url=lambda _: lambda: None, known_projects=lambda parts: parts.folders.listed
    )
    registry_sources: RegistrySources = part(
        environ=lambda parts: make_login_shell(parts.home.environment).environ, folder=lambda parts: str(parts.user_folder)
    )
    secret_uses: SecretUses = part(
        projects=lambda parts: lambda: _servers_of_projects(parts.trust_store),
        lost=lambda parts: lambda: parts.trust_store.lost,
        proposed=lambda parts: lambda: parts.proposals.entries if parts.home.proposals.exists() else {},
    )
    server_secrets: ServerSecrets = part(sign_ins="sign_in_store")
    trust_store: TrustStore = made(lambda parts: parts.noted(TrustStore(parts.home.trust)))
    trust: Trust = part(
        store="trust_store", is_taken=lambda parts: lambda name: any(look(name) == look(other) for other in parts.config.names)
    )
    decisions: TrustDecisions = part(read=lambda _: read_file)
    inmemory_store: TrustStore = made(lambda parts: parts.noted(TrustStore(parts.home.inmemory_trust)))
    inmemory_trust: InMemoryTrust = part(store="inmemory_store", home="user_folder", start=lambda _: _nothing, stop=lambda _: _nothing)
    proposal_store: KeptFile[KeptProposals] = made(lambda parts: parts.noted(proposal_store(parts.home.proposals)))
    proposal_snapshots: ProposalSnapshots = part(home="user_folder")
    proposals: Proposals = part(files=lambda parts: ProjectFiles(parts), store="proposal_store", snapshots="proposal_snapshots")


def _servers_of_projects(store: TrustStore) -> dict[str, dict[str, str]]:
    return {folder: {entry: each.server for entry, each in entries.items()} for folder, entries in store.kept.items()}


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
    """A writer of entries that a person consented to into projects' own files, which a hub reads when it runs."""

    def __init__(self, parts: UnstartedParts) -> None:
        self._parts = parts

    async def folder_to_write(self, project: str) -> str:
        return await self._parts.folders.permitted(project, SessionState(OWN))

    async def add(self, project: str, name: str, entry: JsonMapping) -> str:
        folder = await self.folder_to_write(project)
        digest = await self._parts.edits.add(folder, name, entry)
        [server] = await self._parts.decisions.trust_own(folder, name, digest)
        return server

    async def change(self, server: str, entry: JsonMapping, revision: str) -> None:
        """Writes a server's entry. No project's file is served where no hub runs, so no change of such a server can wait."""
        raise NotFound(Phrase("no project has a server '{server}'", server=server), hint=Phrase("List the servers: tooltray servers list"))
