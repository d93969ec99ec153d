"""Snapshots of the hub and of its servers, composed of what all parts know, and the public events about servers with them."""

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator

from tooltray import __version__
from tooltray.api.presenter.live_settings import Pauses
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings import Settings
from tooltray.consent.approvals.access import access_of
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import (
    ClientListUpdated,
    EventBus,
    KeyringAwaited,
    ReleaseNewsChanged,
    ServerChanged,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    SessionListChanged,
    SessionsChanged,
    ToolCallResult,
    ToolListChanged,
)
from tooltray.foundation.moments import Moment
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.hub import HubSnapshot, ReleaseNews
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.tasks import finish_in_thread
from tooltray.records.journal.journal_reader import DAY_S, JournalReader
from tooltray.records.log.call_stats import DURATIONS_KEPT, HOUR_S, HOURS_SHOWN, CallStats, day_start
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.confinement.refusals import SomethingRefused
from tooltray.servers.sign_ins.sign_ins import SignIns
from tooltray.servers.upstream.instance_status import Status
from tooltray.servers.upstream.managed_server import ManagedServer, ServerStateChanged
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.entries.proposals import Proposals
from tooltray.sources.projects.projects import ProjectSnapshots

STATS_TOLD_AFTER_S = 1.0  # calls change a card's numbers; users cannot read them faster
logger = logging.getLogger(__name__)
LOOKED_BACK_S = max(DAY_S + HOUR_S, HOURS_SHOWN * HOUR_S)  # a day may have 25 hours


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
            since=server.status.since.unix if server.status.since else 0.0,
            is_default=server.is_builtin or server.name in self._config.settings.default_servers,
            is_disabled=config.disable,
            is_builtin=server.is_builtin,
            icon=config.icons,
            description=config.descriptions,
            tool_count=self._tools.tool_count(server.name),
            is_listed=self._tools.is_listed(server.name),
            calls=self._stats.hours(server.name, now),
            calls_today=self._stats.today(server.name, now),
            p50_ms=self._stats.percentile_ms(server.name, 0.5),
            p95_ms=self._stats.percentile_ms(server.name, 0.95),
            problem=server.problem or self._tools.list_problem(server.name),
            detail=self._projects.detail(server),
            retry_at=_retry_at(server.status),
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
            access=None if server.is_builtin else access_of(config, self._confinements),
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


def _retry_at(status: Status) -> float:
    """Returns when the next attempt to start is made, in unix seconds; 0 if none is planned."""
    return status.since.unix + status.retry_after_s if status.since is not None and status.retry_after_s is not None else 0.0


Source = Callable[[], Iterable[Problem]]


class Notices:
    """The problems of all parts, collected again in each iteration."""

    def __init__(self, sources: Iterable[Source]) -> None:
        """
        Args:
            sources: in the order in which the user reads them.
        """
        self._sources = tuple(sources)

    def __iter__(self) -> Iterator[Problem]:
        for source in self._sources:
            yield from source()


class HubSnapshots:
    """The maker of hub snapshots. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        snapshots: ServerSnapshots,
        proposals: Proposals,
        notices: Notices,
        pauses: Pauses,
        bus: EventBus,
    ) -> None:
        self._config, self._servers, self._snapshots = config, servers, snapshots
        self._proposals, self._notices, self._pauses = proposals, notices, pauses
        self._started_at = Moment()
        self._session_count, self._awaits_keyring, self._release = 0, False, ReleaseNews()
        bus.subscribe(SessionsChanged, self._on_sessions_changed)
        bus.subscribe(KeyringAwaited, self._on_keyring_awaited)
        bus.subscribe(ReleaseNewsChanged, self._on_release_news_changed)

    def now(self) -> HubSnapshot:
        return HubSnapshot(
            pid=os.getpid(),
            version=__version__,
            is_paused=not self._config.settings.mcp_enabled,
            session_count=self._session_count,
            started_at=self._started_at.unix,
            servers=(*(self._snapshots.of(server) for server in self._servers), *self._proposals.snapshots()),
            notices=tuple(self._notices),
            paused_until=self._pauses.until,
            secret_backend=self._config.settings.secrets.backend or "keyring",
            awaits_keyring=self._awaits_keyring,
            release=self._release,
        )

    def _on_sessions_changed(self, event: SessionsChanged) -> None:
        self._session_count = event.session_count

    def _on_keyring_awaited(self, event: KeyringAwaited) -> None:
        self._awaits_keyring = event.is_awaited

    def _on_release_news_changed(self, event: ReleaseNewsChanged) -> None:
        self._release = event.news


def problems_of_settings(settings: Settings) -> Iterator[Problem]:
    """Yields a problem for each setting that is valid but probably a mistake."""
    for name, config in settings.mcp_servers.items():
        if any("${secret:" in argument for argument in config.arguments):
            title = Phrase("'{name}' gets a secret in its arguments", name=name)
            hint = Phrase("If the server can read it from a variable, pass it in `env`.")
            yield Problem(title, Phrase("other programs on this computer can read them"), hint)
        if config.idle_stop and name in settings.default_servers and not config.deferred_startup:
            title = Phrase("'{name}' is not stopped when it is idle", name=name)
            message = Phrase("it has idleStop but starts with Tooltray, so it keeps running")
            yield Problem(title, message, Phrase("Let it start when used, or remove idleStop from its settings."))


class ServerNews:
    """The publisher of public server events. Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, snapshots: ServerSnapshots, bus: EventBus, stats_told_after_s: float = STATS_TOLD_AFTER_S
    ) -> None:
        """
        Args:
            stats_told_after_s: calls within so many seconds become one change of a server's card.
        """
        self._servers, self._snapshots, self._bus, self._stats_told_after_s = servers, snapshots, bus, stats_told_after_s
        self._changed_stats: set[str] = set()
        self._running: set[str] = set()
        bus.subscribe(ServerStateChanged, self._on_server_state_changed)
        bus.subscribe(ToolCallResult, self._on_tool_call_result)
        bus.subscribe(ToolListChanged, self._on_tool_list_changed)
        bus.subscribe(SessionListChanged, self._on_session_list_changed)
        bus.subscribe(SomethingRefused, lambda event: self._tell_soon(event.server))

    def _on_server_state_changed(self, event: ServerStateChanged) -> None:
        self._publish_status(event.server)
        self._publish_card(event.server.name)

    def _publish_status(self, server: ManagedServer) -> None:
        """Publishes whether a server runs, if that changed. A server that is being replaced runs until its predecessor has ended."""
        name, is_running = server.name, server.state is ServerState.RUNNING
        if is_running == (name in self._running) or (not is_running and self._servers.is_being_replaced(name)):
            return
        if is_running:
            self._running.add(name)
            self._bus.publish(ServerStarted(name))
        else:
            self._running.discard(name)
            self._bus.publish(ServerStopped(name))
        self._bus.publish(ServerStatusChanged(name, "running" if is_running else "stopped"))
        self._bus.publish(ClientListUpdated())

    def _publish_card(self, name: str) -> None:
        if server := self._servers.find(name):
            self._bus.publish(ServerChanged(self._snapshots.of(server)))

    def _on_session_list_changed(self, event: SessionListChanged) -> None:
        for by_project in self._servers.deferred():
            self._publish_card(by_project.server.name)  # whom the server runs for, and whom it waits for

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        self._publish_card(event.server)  # its number of tools

    def _on_tool_call_result(self, event: ToolCallResult) -> None:
        self._tell_soon(event.response.server)

    def _tell_soon(self, server: str) -> None:
        if not self._changed_stats:
            asyncio.get_running_loop().call_later(self._stats_told_after_s, self._tell_changed_stats)
        self._changed_stats.add(server)

    def _tell_changed_stats(self) -> None:
        names, self._changed_stats = self._changed_stats, set()
        for name in names:
            self._publish_card(name)


class PastStats:
    """The reader of earlier calls. Belongs to the engine's loop."""

    def __init__(
        self, *, stats: CallStats, journal_reader: JournalReader, servers: ServerManager, clock: Callable[[], float] = time.time
    ) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._stats, self._reader, self._servers, self._clock = stats, journal_reader, servers, clock
        self._started_at = clock()

    async def count(self) -> None:
        """Adds the calls that the journal has from before this object was made; adds nothing if the journal cannot be read."""
        until = self._started_at
        try:
            found = await finish_in_thread(self._reader.past_calls, until - LOOKED_BACK_S, until, day_start(until), DURATIONS_KEPT)
        except sqlite3.Error as error:
            logger.info("earlier calls could not be counted: %s", error)
            return
        for each in found:
            self._stats.add_past(each.server, each.by_hour, each.today, each.durations, self._clock())
            self._servers.publish_changed(each.server)
