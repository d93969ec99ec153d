"""Snapshots of servers for cards, lists and other programs, composed of what all parts know about a server."""

import time
from collections.abc import Callable

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.records.activity.call_stats import CallStats
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.sign_ins.sign_ins import SignIns
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.sources.projects.projects import ProjectSnapshots


class ServerSnapshots:
    """The maker of server snapshots. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        tools: ToolManager,
        project_snapshots: ProjectSnapshots,
        sign_ins: SignIns,
        stats: CallStats,
        confinements: Confinements,
        waits: Callable[[str], bool] = lambda name: False,
    ) -> None:
        """
        Args:
            waits: whether a change of a server waits for a person's approval.
        """
        self._config, self._tools = config, tools
        self._projects, self._sign_ins, self._stats, self._waits = project_snapshots, sign_ins, stats, waits
        self._confinements = confinements

    def of(self, server: ManagedServer) -> ServerSnapshot:
        config, now = server.config, time.time()
        return ServerSnapshot(
            name=server.name,
            transport=config.transport,
            target=config.target,
            state=server.shown_state,
            since=server.first.since,
            is_default=server.is_builtin or server.name in self._config.settings.default_servers,
            is_disabled=config.disable,
            is_builtin=server.is_builtin,
            icon=config.icons,
            description=config.descriptions,
            tool_count=self._tools.tool_count(server.name),
            is_listed=self._tools.is_listed(server.name),
            calls=self._stats.hours(server.name, now),
            calls_today=self._stats.today(server.name, now),
            p95_ms=self._stats.p95_ms(server.name),
            problem=server.problem or self._tools.list_problem(server.name),
            detail=self._projects.detail(server),
            pids=server.pids,
            auto_approve=tuple(config.auto_approve),
            isolation=config.isolation,
            idle_stop_s=config.idle_stop,
            saved_processes=server.saved_processes * len(server.pids),
            is_signed_in=self._sign_ins.is_signed_in(server.name),
            has_sign_in_page=self._sign_ins.has_page(server.name),
            is_lazy=self._config.settings.publish.shows_lazily(config) and not server.is_builtin,
            is_deferred=config.deferred_startup,
            startup_template=config.template if config.deferred_startup else (),
            copies=self._projects.copies(server),
            waiting=self._waits(server.name),
            label=config.label,
            color=config.color,
            projects=tuple(config.projects),
            confinement=self._confinements.of(server.name, config),
            flaws=self._tools.list_flaws(server.name),
            flaw_counts=self._tools.flaw_counts(server.name),
            **self._origin(server),
        )

    def _origin(self, server: ManagedServer) -> dict[str, str]:
        revision = self._config.revision(server.name)
        if server.is_builtin:
            return {"origin": server.name}
        if found := self._config.file_server(server.name):
            return {"origin": found.origin, "file": found.file, "project": found.project, "revision": revision}
        return {"revision": revision}
