"""What a person should be told each time that the hub is looked at: what is wrong, or not as the settings say.

Above it: McpPresenter's snapshot. Below it: every part that may have something to tell.
"""

from collections.abc import Callable, Iterable, Iterator

from tooltray.access.http_access import HttpAccess
from tooltray.approvals.approvals import Approvals
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.errors import Problem
from tooltray.launch.login_shell import LoginShell
from tooltray.phrases import Phrase
from tooltray.projects.projects import Projects
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.server_files.server_files import ServerFiles
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.sign_ins.sign_ins import SignIns
from tooltray.views.profiles import Profiles


class Notices:
    """Each time that it is gone through, as things are then."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        http: HttpAccess,
        registries: NpmRegistries,
        tools: ToolManager,
        profiles: Profiles,
        sign_ins: SignIns,
        approvals: Approvals,
        projects: Projects,
        files: ServerFiles,
        login_shell: LoginShell,
    ) -> None:
        self._config, self._http, self._registries, self._tools, self._profiles = config, http, registries, tools, profiles
        self._sign_ins, self._approvals, self._projects, self._files = sign_ins, approvals, projects, files
        self._login_shell = login_shell
        self._others: list[Callable[[], Iterable[Problem]]] = []

    def add(self, problems: Callable[[], Iterable[Problem]]) -> None:
        """Asks for more of them."""
        self._others.append(problems)

    def __iter__(self) -> Iterator[Problem]:
        yield from self._config.problems
        yield from self._http.problems
        yield from self._registries.problems
        yield from self._tools.problems()
        yield from self._profiles.problems()
        yield from self._sign_ins.problems
        yield from self._approvals.problems
        yield from self._projects.problems()
        yield from self._files.problems()
        for problems in self._others:
            yield from problems()
        if self._login_shell.problem:
            yield self._login_shell.problem
        for name, config in self._config.settings.mcp_servers.items():
            if any("${secret:" in argument for argument in config.arguments):
                title = Phrase("'{name}' gets a secret in its arguments", name=name)
                hint = Phrase("Pass it in `env`, if the server can take it from there.")
                yield Problem(title, Phrase("other programs of this machine can read them"), hint)
            if config.idle_stop and name in self._config.settings.default_servers and not config.deferred_startup:
                title = Phrase("'{name}' is not stopped when it is idle", name=name)
                message = Phrase("it has idleStop, and starts with the hub: what does stays up")
                yield Problem(title, message, Phrase("Let it start on demand, or take idleStop out of its settings."))
