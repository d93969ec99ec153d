"""What is trusted of projects' own files and of programs' proposals, where no hub runs: the verbs of a hub, from the files of a home.

Above it: settings_hub, which makes one while it holds the hub's lock. Below it: TrustDecisions and Proposals.
"""

from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any

from tooltray.cli.terminal import print_note
from tooltray.confirmation import confirm_widening
from tooltray.entries.proposal_store import ProposalStore
from tooltray.entries.proposals import Proposals
from tooltray.entries.server_secrets import ServerSecrets
from tooltray.errors import NotFound
from tooltray.events import EventBus
from tooltray.foreign_configs.reading import read_file
from tooltray.home.home import Home
from tooltray.launch.login_shell import own_environ
from tooltray.launch.variable_sources import make_login_shell
from tooltray.phrases import as_json
from tooltray.projects.project_folders import ProjectFolders
from tooltray.projects.projects import OWN
from tooltray.secrets.secrets import SecretStore
from tooltray.server_files.project_edits import ProjectEdits
from tooltray.server_files.server_names import look
from tooltray.server_files.trust_decisions import TrustDecisions
from tooltray.server_files.trust_store import TrustStore
from tooltray.server_files.trusted_entries import Trust
from tooltray.sessions.session_state import SessionState
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.settings.settings import BUILTIN_NAMES


class SettingsTrust:
    """Answers verbs with the results of McpPresenter.

    Attributes:
        proposals: what programs have proposed.
    """

    def __init__(
        self,
        home: Home,
        config: McpConfHelper,
        folders: ProjectFolders,
        secrets: SecretStore,
        server_secrets: Callable[[], ServerSecrets],
        bus: EventBus,
    ) -> None:
        store, proposed = TrustStore(home.trust), ProposalStore(home.proposals)
        for problem in (store.problem, proposed.problem):
            if problem:
                print_note(str(problem))

        def is_taken(name: str) -> bool:
            return any(look(name) == look(other) for other in config.own_settings.mcp_servers)

        async def remove_unused(names: Collection[str]) -> list[str]:
            return await server_secrets().remove_unused(names)

        shell = make_login_shell(home.environment, own_environ(is_foreign=True))  # what only this terminal has, no server gets
        self._trust = Trust(store, is_taken=is_taken, reserved=BUILTIN_NAMES)
        self._decisions = TrustDecisions(config=config, trust=self._trust, folders=folders, read=read_file, environ=shell.environ)
        self.proposals = Proposals(
            config=config,
            store=proposed,
            secrets=secrets,
            files=_ProjectFiles(folders, self._trust, self._decisions),
            remove_unused=remove_unused,
            environ=shell.environ,
            home=Path.home(),
            bus=bus,
        )
        self.verbs: Mapping[str, Callable[..., Coroutine[Any, Any, Any]]] = {
            "get_trust_requests": self._get_trust_requests,
            "trust_entries": self._trust_entries,
            "distrust_entries": self._distrust_entries,
            "get_trusted_entries": self._get_trusted_entries,
        }

    def with_proposals(self, servers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Servers as they are listed, and what waits beside them."""
        listed = [server | {"waiting": self.proposals.waits(server["name"])} for server in servers]
        return listed + [as_json(each) | {"state": each.state.value} for each in self.proposals.snapshots()]

    async def _get_trust_requests(self, project: str = "") -> list[dict[str, Any]]:
        if not project:
            return [as_json(request) for request in await self.proposals.requests()]
        file = await self._decisions.file(project)
        return [as_json(request) for request in await self._decisions.requests(file, file.running)]

    async def _trust_entries(self, project: str, entries: dict[str, str]) -> list[str]:
        await confirm_widening("A yes to a project's servers")
        if not project:
            return await self.proposals.trust(entries)
        _, names = await self._decisions.trust(project, entries)
        return names

    async def _distrust_entries(self, project: str, entry: str = "") -> None:
        if project:
            await self._decisions.distrust(project, entry)
        else:
            await self.proposals.withdraw(entry)

    async def _get_trusted_entries(self) -> list[dict[str, Any]]:
        return [as_json(entry) for entry in self._trust.entries()]


class _ProjectFiles:
    """Writes what a person has said yes to into projects' own files, which a hub reads when it runs."""

    def __init__(self, folders: ProjectFolders, trust: Trust, decisions: TrustDecisions) -> None:
        self._folders, self._trust, self._decisions, self._edits = folders, trust, decisions, ProjectEdits()

    async def folder_to_write(self, project: str) -> str:
        return await self._folders.permitted(project, SessionState(OWN))

    async def add(self, project: str, name: str, entry: Mapping[str, Any]) -> str:
        folder = await self.folder_to_write(project)
        digest = await self._edits.add(folder, name, entry)
        [server] = await self._decisions.trust_own(folder, name, digest)
        return server

    async def change(self, server: str, entry: Mapping[str, Any], revision: str) -> None:
        if not (place := self._trust.place(server)):
            raise NotFound(f"there is no server '{server}' of a project", hint="See which there are: tooltray servers list")
        folder, name = place
        await self._decisions.trust_own(folder, name, await self._edits.change(folder, name, entry, revision))
