"""What is trusted of projects' own files, where no hub runs: the verbs of a hub, from the files of a home.

Above it: settings_hub, which makes one while it holds the hub's lock. Below it: TrustDecisions.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from typing import Any

from tooltray.cli.terminal import print_note
from tooltray.config.files.reading import read_file
from tooltray.config.files.trust_store import TrustStore
from tooltray.config.home import Home
from tooltray.config.mcp_conf_helper import BUILTIN_NAMES, McpConfHelper
from tooltray.presenter.files.names import look
from tooltray.presenter.files.trust import Trust
from tooltray.presenter.files.trust_decisions import TrustDecisions
from tooltray.presenter.projects.project_folders import ProjectFolders
from tooltray.servers.environment.login_shell import LoginShell, own_environ


class SettingsTrust:
    """Answers verbs with the results of McpPresenter."""

    def __init__(self, home: Home, config: McpConfHelper, folders: ProjectFolders) -> None:
        store = TrustStore(home.trust)
        if store.problem:
            print_note(str(store.problem))

        def is_taken(name: str) -> bool:
            return any(look(name) == look(other) for other in config.own_settings.mcp_servers)

        shell = LoginShell(own=own_environ(is_foreign=True))  # what only this terminal has, no server gets
        self._trust = Trust(store, is_taken=is_taken, reserved=BUILTIN_NAMES)
        self._decisions = TrustDecisions(config=config, trust=self._trust, folders=folders, read=read_file, environ=shell.environ)
        self.verbs: Mapping[str, Callable[..., Coroutine[Any, Any, Any]]] = {
            "get_trust_requests": self._get_trust_requests,
            "trust_entries": self._trust_entries,
            "distrust_entries": self._distrust_entries,
            "get_trusted_entries": self._get_trusted_entries,
        }

    async def _get_trust_requests(self, project: str) -> list[dict[str, Any]]:
        file = await self._decisions.file(project)
        return [asdict(request) for request in await self._decisions.requests(file, file.running)]

    async def _trust_entries(self, project: str, entries: dict[str, str]) -> list[str]:
        _, names = await self._decisions.trust(project, entries)
        return names

    async def _distrust_entries(self, project: str, entry: str = "") -> None:
        await self._decisions.distrust(project, entry)

    async def _get_trusted_entries(self) -> list[dict[str, Any]]:
        return [asdict(entry) for entry in self._trust.entries()]
