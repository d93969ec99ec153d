"""The engine's composition root: builds the parts of a hub, wires them, starts them, and ends them in reverse.

Above it: app.py (in a worker thread) and `tooltray serve` (in the main thread). Below it: everything else. Qt-free.
"""

import asyncio
import logging
import os
import sys
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from tooltray import __version__
from tooltray.access.api_token import ApiToken
from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.access.trusted_tokens import TrustedTokens
from tooltray.activity.call_stats import CallStats
from tooltray.activity.hub_log import HubLog
from tooltray.activity.masking import Mask
from tooltray.activity.structured_log import StructuredLog
from tooltray.builtin import hub_server
from tooltray.builtin.hub_server import HubServer
from tooltray.calls.elicitations import Elicitations
from tooltray.calls.seen_servers import SeenServers
from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.names import PublishedNames
from tooltray.control.control_session import HubControl
from tooltray.downstream import stdio_connection
from tooltray.downstream.endpoints import Doors, make_doors
from tooltray.downstream.idle_exit import IdleExit
from tooltray.downstream.served.call_log import ServedCallLog
from tooltray.downstream.served.required import RequiredServers, check_served
from tooltray.downstream.served.surroundings import in_surroundings
from tooltray.entries.clean_text import clean_text
from tooltray.entries.proposal_store import ProposalStore
from tooltray.errors import TooltrayError
from tooltray.event_loop import use_pidfd_watcher
from tooltray.events import EventBus, HttpAddressChanged
from tooltray.feedback.ready_answers import read_shipped
from tooltray.files.file_history import FileHistory
from tooltray.files.watcher import FileWatcher
from tooltray.foreign_configs.reading import read_file
from tooltray.home.home import Home
from tooltray.home.hub_place import HubPlace
from tooltray.home.leftovers import remove_leftovers
from tooltray.launch.descriptors import raise_limit
from tooltray.launch.login_shell import LoginShell, own_environ
from tooltray.launch.remembered_variables import RememberedVariables
from tooltray.launch.server_environment import ServerEnvironment
from tooltray.launch.variable_sources import VariableSources
from tooltray.presenter.file_parts import make_files
from tooltray.presenter.hub_base import HubBase
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.presenter.offer_parts import make_offer_parts
from tooltray.presenter.presenter_parts import make_presenter_parts
from tooltray.presenter.request_parts import RequestParts, make_request_parts
from tooltray.presenter.server_parts import make_registries, make_server_parts
from tooltray.presenter.view_parts import make_view_parts
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.resources import resource
from tooltray.secrets.secrets import SecretStore, take_passphrase
from tooltray.server_files.hot_reload import HotReload
from tooltray.server_files.server_files import ServerFiles
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.tasks import TaskKeeper, end_in_turn, finish_in_thread

logger = logging.getLogger(__name__)
HAND_OVER_WAIT_S = 10.0  # for calls in flight, when another hub takes over
END_WAIT_S = 0.5  # for calls in flight, when the hub is told to end: they are then answered with an error
SWITCH_INTERVAL_S = 0.0001  # how long another thread (the log's, the window's) may keep the loop waiting; Python's own 5 ms are felt
ENDED = "Tooltray has ended while this call was running; call again"


class EngineOptions(msgspec.Struct, frozen=True):
    """
    Attributes:
        kind: "serve" or "desktop".
        execution_id: stands in every log record; made up where empty.
        idle_exit_s: the hub ends so long after the last AI client left; None never.
        is_child_of_client: an AI client started this process, so its environment is the client's and not for servers.
        remembers: what of this process's environment later hubs get: "nothing" where a bridge or an AI client started it; "additions": what
            is there, and what was remembered stays; "all": that of a terminal, what is missing there is forgotten.
        configs: files of other hubs and proxies with servers in them, which are served as they are; absolute.
        project: a folder whose own file's servers every session has; absolute, empty: none.
        on_raise_window: a second start of the desktop was asked for; called in the engine's thread.
    """

    kind: str = "serve"
    execution_id: str = ""
    log_to_stderr: bool = False
    idle_exit_s: float | None = None
    is_child_of_client: bool = False
    remembers: Literal["nothing", "additions", "all"] = "nothing"
    configs: tuple[str, ...] = ()
    project: str = ""
    on_raise_window: Callable[[], None] | None = None


class HubFailed(TooltrayError):
    """A hub that ran cannot go on."""


class Engine:
    """One hub. `start` once, `close` as often as one likes; all in one event loop."""

    def __init__(self, home: Home, options: EngineOptions | None = None) -> None:
        self._home, self._options = home, options or EngineOptions()
        self._place = HubPlace(home)
        self._tasks = TaskKeeper()
        self._stopped: asyncio.Future[str] | None = None
        self._is_started = self._is_built = self._is_closed = False
        self.execution_id = self._options.execution_id or uuid.uuid4().hex
        self.bus = EventBus()
        self.bus.subscribe(HttpAddressChanged, self._on_http_changed)
        self._idle_exit = IdleExit(after_s=self._options.idle_exit_s, end=lambda: self.request_stop("idle"), bus=self.bus)
        self.presenter: McpPresenter  # this and the next two after `start`
        self._files: ServerFiles
        self._doors: Doors

    async def start(self) -> None:
        """Takes the hub's place, listens, and starts servers in the background.

        Raises:
            HubRunning: another hub has it.
            TooltrayError: the home cannot be used, the socket not be opened, or a config that was named not be served.
        """
        self._stopped = asyncio.get_running_loop().create_future()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        use_pidfd_watcher()
        raise_limit()
        await asyncio.to_thread(self._home.prepare)
        self._place.take()
        self._is_started = True  # from here on there is something to close
        await asyncio.to_thread(self._home.prepare)  # a hub that ended in this moment has removed its socket's folder
        await asyncio.to_thread(remove_leftovers, self._home.root)
        await self._build()
        self._is_built = True
        self._hub_log.start()
        await self._offers.load()
        await self._files.start()
        check_served(self._files.served())
        RequiredServers(config=self._config, bus=self.bus, on_failed=self.fail)
        await self.presenter.hub.initialize()  # before anybody can ask: a first list waits for servers that are on their way
        self._live_settings.start()
        await self._doors.open()
        self._hot_reload.start()
        await finish_in_thread(self._tell_place)
        self._idle_exit.start()
        summary = f"hub of {self._home.root} started"
        self._log.record("service_started", summary, pid=os.getpid(), version=__version__, kind=self._options.kind)

    async def serve(self) -> str:
        """Until the hub is told to end; returns why: "stop", "hand_over", "idle", or what `request_stop` was given.

        Raises:
            HubFailed: it cannot go on; says why.
        """
        assert self._stopped is not None, "start first"
        return await asyncio.shield(self._stopped)  # who waits for it may be cancelled, and `close` still wants to know why

    async def serve_stdio(self, server: str | None) -> None:
        """Serves one AI client on this process's stdin and stdout; returns when it is gone.

        Raises:
            TooltrayError: there is no server of this name.
        """
        if server and not self.presenter.has_server(server):
            raise TooltrayError(f"there is no server '{server}'", hint="See `tooltray servers list`.")
        await stdio_connection.serve(self._doors.sessions.open_client(server).dispatcher)

    def request_stop(self, reason: str) -> None:
        """Ends `serve`; the first reason counts. From the loop's thread."""
        if self._stopped and not self._stopped.done():
            self._stopped.set_result(reason)

    def fail(self, error: TooltrayError) -> None:
        """Ends `serve` with an error. From the loop's thread."""
        if self._stopped and not self._stopped.done():
            logger.error("%s", error)
            self._stopped.set_exception(HubFailed(error.problem.title, error.problem.message, error.problem.hint))

    @property
    def said(self) -> tuple[str, ...]:
        """What a person who started the hub by hand should read of what it serves, a line each."""
        return (*self._doors.served.said, *self._files.startup_lines)

    async def close(self) -> None:
        """Ends everything in order, each step bounded: calls answered, AI clients told, servers stopped, the last record written."""
        if not self._is_started or self._is_closed:
            return
        self._is_closed = True
        is_told = self._stopped is not None and self._stopped.done() and not self._stopped.exception()
        reason = self._stopped.result() if self._stopped and is_told else "failure"
        try:
            if self._is_built:
                await self._close_parts()
                self._log.record("service_stopped", f"hub ended: {reason}", reason=reason, requests=self._doors.sessions.request_count)
                self._hub_log.close()
                await asyncio.to_thread(self._log.close)
        finally:  # the next hub is not to suffer from a bug in the end of this one
            await asyncio.to_thread(self._place.give_back)

    async def _close_parts(self) -> None:
        self._idle_exit.close()
        self._hot_reload.close()
        await end_in_turn(
            self._doors.stop_taking,
            partial(self._doors.sessions.close, ENDED, grace_s=END_WAIT_S),
            self._feedbacks.close,
            self._doors.close,
            self._sign_ins.close,
            self._servers.close,
            self._tasks.close,
            self._secrets.close,
        )

    async def _hand_over(self) -> None:
        """Takes no new clients, lets calls finish, and then ends."""
        await self._doors.stop_taking()
        await self._feedbacks.close()  # a person may need hours
        await self._doors.sessions.finish_calls(within_s=HAND_OVER_WAIT_S)
        self.request_stop("hand_over")

    # building

    async def _build(self) -> None:
        """From the ground up: parts know those before them, and ask for a later one when it is used."""
        base = await self._make_base()
        stats, trusted = CallStats(), TrustedTokens(base.secrets)
        tokens = await asyncio.to_thread(ClientTokens, self._home.clients)
        elicitations = Elicitations(self.bus, has_window=base.has_window)
        registries = await make_registries(base)
        own_server = HubServer(
            get_snapshot=lambda: self.presenter.snapshot(),
            takes_reports=lambda: base.config.settings.publish.feedback,
            bus=self.bus,
        )
        started = await make_server_parts(
            base=base,
            registries=registries,
            builtins={hub_server.NAME: own_server},
            tool_schema=lambda server, tool: offered.tools.input_schema(server, tool),
            own_url=lambda: self._doors.http.address,
            ask_person=elicitations.ask,
        )
        offered = make_offer_parts(
            base=base,
            servers=started.servers,
            catalogues=CatalogueStore(self._home.catalogue),
            names=await asyncio.to_thread(lambda: PublishedNames(self._home.names, naming=base.config.settings.publish.naming)),
        )
        viewed = await make_view_parts(
            base=base,
            servers=started.servers,
            visibility=started.visibility,
            offered=offered,
            call=lambda exchange: requests.calls.call(exchange),
        )
        requests: RequestParts = await make_request_parts(
            base=base,
            servers=started.servers,
            offered=offered,
            viewed=viewed,
            is_of_file=lambda server: self._files.keeps(server),
            look_at_project=lambda session: self._files.before_listing(session),
            own_tools={
                (hub_server.NAME, tool): SeenServers(own_server, tool, sees=started.visibility.sees) for tool in hub_server.ABOUT_SERVERS
            },
            shipped_answers=await asyncio.to_thread(read_shipped, resource("ready-answers.json")),
            stats=stats,
        )
        await requests.feedbacks.start()
        self._hot_reload = HotReload(config=base.config, make_watcher=FileWatcher, spawn=base.spawn, bus=self.bus)
        self._files = await make_files(
            base=base,
            projects=requests.projects,
            states=viewed.states,
            watching=self._hot_reload,
            read=in_surroundings(read_file, os.environ),
            configs=self._options.configs,
            project=self._options.project,
        )
        joined = make_presenter_parts(
            pid=os.getpid(),
            base=base,
            started=started,
            offered=offered,
            viewed=viewed,
            requests=requests,
            files=self._files,
            registries=registries,
            elicitations=elicitations,
            tokens=tokens,
            api_tokens=self._api_tokens,
            trusted=trusted,
            proposed=await asyncio.to_thread(ProposalStore, self._home.proposals),
            door=lambda: self._doors.http,
            stats=stats,
        )
        joined.notices.add(lambda: self._doors.served.problems)
        self._doors = make_doors(
            base=base,
            presenter=joined.presenter,
            states=viewed.states,
            files=self._files,
            tokens=tokens,
            api_tokens=self._api_tokens,
            trusted=trusted,
            log=self._log,
            control=self._make_control(),
        )
        if self._options.configs:
            ServedCallLog(config=base.config, bus=self.bus)
        self._sign_ins, self._servers, self._offers, self._feedbacks = started.sign_ins, started.servers, offered, requests.feedbacks
        self.presenter, self._live_settings = joined.presenter, joined.live_settings

    async def _make_base(self) -> HubBase:
        """The settings, the secrets, and what is put on record."""
        self._config = McpConfHelper(self._home.settings, self.bus, history=FileHistory(self._home.history, clean_text))
        await self._config.load()
        self._secrets = SecretStore(self._home, self._config.settings.secrets.backend, bus=self.bus, passphrase=take_passphrase())
        default = await asyncio.to_thread(ApiToken, self._home.http_token)
        self._api_tokens = await asyncio.to_thread(ApiTokens, default, self._home.api_tokens)
        self._log = StructuredLog(
            self._home.logs,
            execution_id=self.execution_id,
            to_stderr=self._options.log_to_stderr,
            mask=self._known_values,
        )
        self._hub_log = HubLog(self._log, bus=self.bus)
        remembered = RememberedVariables(self._home.environment)
        await asyncio.to_thread(self._remember_environment, remembered)
        sources = VariableSources(remembered)
        shell = LoginShell(own=own_environ(is_foreign=self._options.is_child_of_client), complete=sources.complete)
        spawn = self._tasks.spawn
        return HubBase(
            home=self._home,
            config=self._config,
            secrets=self._secrets,
            mask=Mask(self._known_values),
            login_shell=shell,
            environment=ServerEnvironment(login_shell=shell, sources=sources, remembered=remembered, bus=self.bus, spawn=spawn),
            user_folder=Path.home(),
            has_window=self._options.kind == "desktop",
            bus=self.bus,
            deadlines=DeadlineWheel(),
            spawn=spawn,
        )

    def _remember_environment(self, remembered: RememberedVariables) -> None:
        remembered.load()
        if self._options.remembers != "nothing":
            remembered.remember(os.environ, is_all=self._options.remembers == "all")

    def _make_control(self) -> HubControl:
        """What a control session may do with the hub."""
        return HubControl(
            kind=self._options.kind,
            execution_id=self.execution_id,
            stop=lambda: self.request_stop("stop"),
            hand_over=self._hand_over,
            raise_window=self._options.on_raise_window,
        )

    def _on_http_changed(self, event: HttpAddressChanged) -> None:
        if not self._is_closed:
            self._tasks.spawn(finish_in_thread(self._tell_place), name="hub.json")

    def _known_values(self) -> frozenset[str]:
        """What must stand in no log."""
        return self._secrets.known_values() | self._api_tokens.default.known

    def _tell_place(self) -> None:
        self._place.tell(version=__version__, http=self._doors.http.address, kind=self._options.kind)
