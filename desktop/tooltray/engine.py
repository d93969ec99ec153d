"""The engine's composition root: builds the parts of a hub, wires them, starts them, and ends them in reverse.

Above it: app.py (in a worker thread) and `tooltray serve` (in the main thread). Below it: everything else. Qt-free.
"""

import asyncio
import contextlib
import json
import logging
import os
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tooltray import __version__
from tooltray.activity.call_stats import CallStats
from tooltray.activity.masking import Mask
from tooltray.activity.recent_calls import RecentCalls
from tooltray.activity.structured_log import LogHandler, StructuredLog
from tooltray.builtin import hub_server
from tooltray.builtin.hub_server import HubServer
from tooltray.config.api_token import ApiToken
from tooltray.config.atomic_file import write_atomically
from tooltray.config.client_tokens import ClientTokens
from tooltray.config.feedback_history import FeedbackHistory
from tooltray.config.files.reading import read_file
from tooltray.config.files.trust_store import TrustStore
from tooltray.config.grants import GrantStore
from tooltray.config.home import Home
from tooltray.config.hub_lock import HubLock
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.registry_cache import RegistryCache
from tooltray.config.secrets import SecretStore, take_passphrase
from tooltray.config.watcher import FileWatcher
from tooltray.errors import TooltrayError
from tooltray.events import EventBus, ProblemReported
from tooltray.presenter.approvals.approvals import Approvals
from tooltray.presenter.approvals.grant_book import GrantBook
from tooltray.presenter.completion import Completion
from tooltray.presenter.doctor import Doctor
from tooltray.presenter.elicitations import Elicitations
from tooltray.presenter.era_memory import EraMemory
from tooltray.presenter.feedback.feedback_tool import FeedbackTool
from tooltray.presenter.feedback.feedbacks import Feedbacks
from tooltray.presenter.feedback.ready_answers import ReadyAnswers, read_shipped
from tooltray.presenter.files.hot_reload import HotReload
from tooltray.presenter.files.server_files import ServerFiles
from tooltray.presenter.http_access import HttpAccess
from tooltray.presenter.live_settings import LiveSettings
from tooltray.presenter.log_levels import LogLevels
from tooltray.presenter.mcp_presenter import McpPresenter
from tooltray.presenter.npm_registries import NpmRegistries
from tooltray.presenter.offers import Offers, read_offered
from tooltray.presenter.projects.projects import Projects
from tooltray.presenter.prompt_manager import PromptManager
from tooltray.presenter.relay import Relay
from tooltray.presenter.remedies import Remedies
from tooltray.presenter.request_router import RequestRouter
from tooltray.presenter.resource_manager import ResourceManager
from tooltray.presenter.seen_servers import SeenServers
from tooltray.presenter.served.call_log import ServedCallLog
from tooltray.presenter.served.required import RequiredServers, check_served
from tooltray.presenter.served.surroundings import in_surroundings
from tooltray.presenter.server_listen import ServerListens
from tooltray.presenter.server_lists import ServerLists
from tooltray.presenter.server_manager import ServerManager
from tooltray.presenter.session_state import SessionStates
from tooltray.presenter.setup import Setup, shipped_servers
from tooltray.presenter.sign_ins.sign_ins import SignIns
from tooltray.presenter.sign_ins.token_store import TokenStore
from tooltray.presenter.subscriptions import Subscriptions
from tooltray.presenter.tool_calls import ToolCalls
from tooltray.presenter.tool_formats import ToolFormats
from tooltray.presenter.tool_manager import ToolManager, read_tools
from tooltray.presenter.views.known_clients import KnownClients
from tooltray.presenter.views.modes import Modes
from tooltray.presenter.views.profiles import Profiles
from tooltray.presenter.views.tool_costs import ToolCosting
from tooltray.presenter.views.view_parts import make_views
from tooltray.presenter.visibility import Visibility
from tooltray.publish import bridge_listener, stdio_connection
from tooltray.publish.control_session import HubControl
from tooltray.publish.http_listener import HttpListener
from tooltray.publish.served.served_listener import ServedListener
from tooltray.publish.sessions import Sessions
from tooltray.resources import resource
from tooltray.servers.environment.command_lookup import DEFAULT_PATH
from tooltray.servers.environment.login_shell import LoginShell, session_variables
from tooltray.servers.npm_registry.registry import read_mirrors
from tooltray.tasks import TaskKeeper, finish_in_thread
from tooltray.tools.asked_words import read_asked_words
from tooltray.tools.catalogue import CatalogueStore
from tooltray.tools.client_profiles import read_client_profiles
from tooltray.tools.known_servers import KnownServers
from tooltray.tools.names import PublishedNames
from tooltray.tools.offer import KINDS, TOOLS
from tooltray.wire.deadlines import DeadlineWheel

logger = logging.getLogger(__name__)
HAND_OVER_WAIT_S = 10.0  # for calls in flight, when another hub takes over
END_WAIT_S = 0.5  # for calls in flight, when the hub is told to end: they are then answered with an error
SWITCH_INTERVAL_S = 0.0001  # how long another thread (the log's, the window's) may keep the loop waiting; Python's own 5 ms are felt
ENDED = "Tooltray has ended while this call was running; call again"


@dataclass(frozen=True)
class EngineOptions:
    """
    Attributes:
        kind: "serve" or "desktop".
        execution_id: stands in every log record; made up where empty.
        idle_exit_s: the hub ends so long after the last AI client left; None never.
        is_child_of_client: an AI client started this process, so its environment is the client's and not for servers.
        configs: files of other hubs and proxies with servers in them, which are served as they are; absolute.
        project: a folder whose own file's servers every session has; absolute, empty: none.
        on_raise_window: a second start of the desktop was asked for; called in the engine's thread.
    """

    kind: str = "serve"
    execution_id: str = ""
    log_to_stderr: bool = False
    idle_exit_s: float | None = None
    is_child_of_client: bool = False
    configs: tuple[str, ...] = ()
    project: str = ""
    on_raise_window: Callable[[], None] | None = None


class HubRunning(TooltrayError):
    """Another hub holds the lock of this home."""

    def __init__(self, pid: int) -> None:
        super().__init__("another hub of this home is running", f"pid {pid}" if pid else "", "Stop it with `tooltray stop`.")
        self.pid = pid


class HubFailed(TooltrayError):
    """A hub that ran cannot go on."""


class Engine:
    """One hub. `start` once, `close` as often as one likes; all in one event loop."""

    def __init__(self, home: Home, options: EngineOptions | None = None) -> None:
        self._home, self._options = home, options or EngineOptions()
        self._lock = HubLock(home.lock)
        self._tasks = TaskKeeper()
        self._stopped: asyncio.Future[str] | None = None
        self._listener: bridge_listener.Listener | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._is_started = self._is_built = self._is_closed = False
        self.execution_id = self._options.execution_id or uuid.uuid4().hex
        self.bus = EventBus()
        self.presenter: McpPresenter  # after `start`

    async def start(self) -> None:
        """Takes the hub's place, listens, and starts servers in the background.

        Raises:
            HubRunning: another hub has it.
            TooltrayError: the home cannot be used, the socket not be opened, or a config that was named not be served.
        """
        self._stopped = asyncio.get_running_loop().create_future()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        _use_pidfd_watcher()
        await asyncio.to_thread(self._home.prepare)
        self._take_lock()
        self._is_started = True  # from here on there is something to close
        await asyncio.to_thread(self._home.prepare)  # a hub that ended in this moment has removed its socket's folder
        await self._build()
        self._is_built = True
        self._log.start()
        self.bus.subscribe(ProblemReported, self._on_problem)
        logging.getLogger("tooltray").setLevel(logging.INFO)
        logging.getLogger("tooltray").addHandler(self._log_handler)
        await self._tools.load()
        await self._offers.load()
        await self._files.start()
        check_served(self._files.served())
        RequiredServers(config=self._config, servers=self._servers, on_failed=self.fail)
        await self.presenter.initialize()  # before anybody can ask: a first list waits for servers that are on their way
        self._live_settings.start()
        self._listener = await bridge_listener.listen(self._home.socket, self._sessions.open)
        await self._http.follow()
        await self._served.start()
        self._hot_reload.start()
        await finish_in_thread(self._write_hub_json)
        self._on_session_count(0)
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
        await stdio_connection.serve(self._sessions.open_client(server).dispatcher)

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
        return (*self._served.said, *self._files.said)

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
                self._log.record("service_stopped", f"hub ended: {reason}", reason=reason, requests=self._sessions.request_count)
                logging.getLogger("tooltray").removeHandler(self._log_handler)
                logging.getLogger("tooltray").setLevel(logging.NOTSET)
                await asyncio.to_thread(self._log.close)
        finally:  # the next hub is not to suffer from a bug in the end of this one
            await asyncio.to_thread(self._remove_files)
            self._lock.release()

    async def _close_parts(self) -> None:
        if self._idle_timer:
            self._idle_timer.cancel()
        self._hot_reload.close()
        if self._listener:
            self._listener.close()
        await self._http.stop_taking()
        await self._served.stop_taking()
        await self._sessions.close(ENDED, grace_s=END_WAIT_S)
        await self._feedbacks.close()
        await self._http.close()
        await self._served.close()
        await self._sign_ins.close()
        await self._servers.close()
        await self._tasks.close()
        await self._secrets.close()

    async def _hand_over(self) -> None:
        """Takes no new clients, lets calls finish, and then ends."""
        if self._listener:
            self._listener.close()
        await self._http.stop_taking()
        await self._served.stop_taking()
        await self._feedbacks.close()  # a person may need hours
        await self._sessions.finish_calls(within_s=HAND_OVER_WAIT_S)
        self.request_stop("hand_over")

    # building

    async def _build(self) -> None:
        home, deadlines, spawn = self._home, DeadlineWheel(), self._tasks.spawn
        self._config = McpConfHelper(home.settings, self.bus)
        await self._config.load()
        settings = self._config.settings
        self._secrets = SecretStore(home, settings.secrets.backend, passphrase=take_passphrase())
        self._api_token = await asyncio.to_thread(ApiToken, home.http_token)
        self._log = StructuredLog(
            home.logs,
            execution_id=self.execution_id,
            to_stderr=self._options.log_to_stderr,
            mask=self._known_values,
        )
        self._log_handler = LogHandler(self._log)
        self._mask = Mask(self._known_values)
        self._stats = CallStats()
        login_shell = LoginShell(own=_own_environ(is_foreign=self._options.is_child_of_client))
        user_folder = Path.home()
        catalogues = CatalogueStore(home.catalogue)
        tokens = await asyncio.to_thread(ClientTokens, home.clients)
        elicitations = Elicitations(self.bus, has_window=self._options.kind == "desktop")
        self._sign_ins = SignIns(
            config=self._config,
            secrets=self._secrets,
            store=await asyncio.to_thread(TokenStore, home.sign_ins, self._secrets),
            servers=lambda: self._servers,
            login_shell=login_shell,
            bus=self.bus,
            spawn=spawn,
        )
        self._sign_ins.follow()
        registries = NpmRegistries(
            config=self._config,
            cache=await asyncio.to_thread(RegistryCache, home.registries),
            environ=login_shell.environ,
            folder=str(user_folder),
            bus=self.bus,
            spawn=spawn,
            mirrors=await asyncio.to_thread(read_mirrors, resource("npm-registries.json")),
        )
        own_server = HubServer(
            get_snapshot=lambda: self.presenter.snapshot(),
            takes_reports=lambda: self._config.settings.publish.feedback,
            bus=self.bus,
        )
        visibility = Visibility(self._config)
        self._servers = ServerManager(
            config=self._config,
            secrets=self._secrets,
            login_shell=login_shell,
            builtins={hub_server.NAME: own_server},
            visibility=visibility,
            eras=await asyncio.to_thread(EraMemory, home.eras),
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
            folder=user_folder,
            mask=self._masked,
            own_url=lambda: self._http.address,
            tool_schema=lambda server, tool: self._tools.input_schema(server, tool),
            registry_variables=registries.variables,
            ask_person=elicitations.ask,
            authorize=self._sign_ins.authorization,
        )
        self._servers.load()
        log_levels = LogLevels(spawn=spawn, serves=self._servers.serves)
        relay = Relay(is_paused=lambda: not self._config.settings.mcp_enabled, log_levels=log_levels)
        names = await asyncio.to_thread(lambda: PublishedNames(home.names, naming=settings.publish.naming))
        tool_lists = ServerLists(
            (TOOLS,), read=read_tools, servers=self._servers, catalogues=catalogues, bus=self.bus, deadlines=deadlines, spawn=spawn
        )
        other_lists = ServerLists(
            KINDS, read=read_offered, servers=self._servers, catalogues=catalogues, bus=self.bus, deadlines=deadlines, spawn=spawn
        )
        self._offers = Offers(lists=other_lists, servers=self._servers, bus=self.bus)
        self._tools = ToolManager(
            servers=self._servers,
            lists=tool_lists,
            offers=self._offers,
            names=names,
            bus=self.bus,
        )
        self._states = SessionStates(bus=self.bus, deadlines=deadlines)
        client_profiles = await asyncio.to_thread(read_client_profiles, resource("client-profiles.json"))
        known_clients = KnownClients(config=self._config, profiles=client_profiles)
        profiles = Profiles(config=self._config, clients=known_clients, tools=self._tools, visibility=visibility)
        modes = Modes(
            config=self._config,
            states=self._states,
            clients=known_clients,
            profiles=profiles,
            tools=self._tools,
            visibility=visibility,
            bus=self.bus,
        )
        prompts = PromptManager(servers=self._servers, offers=self._offers, names=names, relay=relay, bus=self.bus)
        resources = ResourceManager(servers=self._servers, offers=self._offers, relay=relay)
        calls: ToolCalls  # below: it calls by way of the views, and they by way of it
        views = make_views(
            config=self._config,
            servers=self._servers,
            tools=self._tools,
            offers=self._offers,
            prompts=prompts,
            resources=resources,
            names=names,
            modes=modes,
            profiles=profiles,
            visibility=visibility,
            states=self._states,
            known=await asyncio.to_thread(KnownServers, resource("known-servers.json")),
            asked=await asyncio.to_thread(read_asked_words, resource("search-words.json")),
            call=lambda request, head, caller, held, **options: calls.call(request, head, caller, held, **options),
            bus=self.bus,
        )
        approvals = Approvals(
            servers=self._servers,
            tools=self._tools,
            modes=modes,
            states=self._states,
            grants=GrantBook(
                store=await asyncio.to_thread(GrantStore, home.grants),
                states=self._states,
                tools=self._tools,
                bus=self.bus,
                spawn=spawn,
                is_of_file=lambda server: self._files.keeps(server),
            ),
            has_window=self._options.kind == "desktop",
            masked=self._masked_whole,
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
        )
        projects = Projects(
            config=self._config,
            servers=self._servers,
            states=self._states,
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
            home=str(user_folder),
            includes=profiles.includes,
        )
        self._feedbacks = Feedbacks(
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
            states=self._states,
            history=FeedbackHistory(home.feedback),
            ready=ReadyAnswers(config=self._config, shipped=await asyncio.to_thread(read_shipped, resource("ready-answers.json"))),
            mask=self._masked_whole,
            has_window=self._options.kind == "desktop",
        )
        await self._feedbacks.start()
        feedback_tool = FeedbackTool(feedbacks=self._feedbacks, projects=projects, tools=self._tools, spawn=spawn, offers=views.offers)
        calls = ToolCalls(
            servers=self._servers,
            tools=self._tools,
            views=views,
            approvals=approvals,
            relay=relay,
            own={
                (hub_server.NAME, hub_server.COLLECT_FEEDBACK): feedback_tool,
                **{(hub_server.NAME, tool): SeenServers(own_server, tool, sees=visibility.sees) for tool in hub_server.ABOUT_SERVERS},
            },
            look_at_project=lambda session: self._files.before_listing(session),
            config=self._config,
            stats=self._stats,
            bus=self.bus,
        )
        listens = ServerListens(spawn=spawn, tell=self._servers.tell)
        subscriptions = Subscriptions(servers=self._servers, listens=listens, spawn=spawn)
        for follow in (log_levels.on_running, listens.on_running, subscriptions.on_running):
            self._servers.listen_running(follow)
        self._servers.keep_while(subscriptions.is_wanted)
        projects.listen_moved(subscriptions.follow)
        projects.listen_moved(lambda state: log_levels.follow())
        projects.listen_moved(views.moved)
        router = RequestRouter(
            servers=self._servers,
            calls=calls,
            views=views,
            prompts=prompts,
            resources=resources,
            completion=Completion(servers=self._servers, prompts=prompts, resources=resources, relay=relay),
            subscriptions=subscriptions,
            log_levels=log_levels,
            relay=relay,
        )
        self._hot_reload = HotReload(config=self._config, make_watcher=FileWatcher, spawn=spawn, bus=self.bus)
        self._files = ServerFiles(
            config=self._config,
            store=await asyncio.to_thread(TrustStore, home.trust),
            projects=projects,
            states=self._states,
            watching=self._hot_reload,
            read=in_surroundings(read_file, os.environ),
            home=str(user_folder),
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
            configs=self._options.configs,
            project=self._options.project,
        )
        remedies = Remedies(config=self._config, secrets=self._secrets, servers=self._servers, registries=registries, home=user_folder)
        self.presenter = McpPresenter(
            pid=os.getpid(),
            config=self._config,
            secrets=self._secrets,
            servers=self._servers,
            tools=self._tools,
            calls=calls,
            prompts=prompts,
            resources=resources,
            router=router,
            login_shell=login_shell,
            doctor=Doctor(secrets=self._secrets, login_shell=login_shell, remedies=remedies, folder=user_folder),
            stats=self._stats,
            http=HttpAccess(config=self._config, tokens=tokens, api_token=self._api_token, door=lambda: self._http),
            elicitations=elicitations,
            formats=ToolFormats(servers=self._servers, tools=self._tools),
            registries=registries,
            sign_ins=self._sign_ins,
            setup=Setup(config=self._config, secrets=self._secrets, shipped=shipped_servers),
            remedies=remedies,
            modes=modes,
            profiles=profiles,
            costs=ToolCosting(tools=self._tools, listing=views.at_start, sees=visibility.sees),
            projects=projects,
            approvals=approvals,
            feedbacks=self._feedbacks,
            files=self._files,
            recent=RecentCalls(bus=self.bus),
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
        )
        self._live_settings = LiveSettings(config=self._config, names=names, hub=self.presenter, spawn=spawn, bus=self.bus)
        control = HubControl(
            kind=self._options.kind,
            execution_id=self.execution_id,
            stop=lambda: self.request_stop("stop"),
            hand_over=self._hand_over,
            raise_window=self._options.on_raise_window,
        )
        self._sessions = Sessions(
            presenter=self.presenter,
            states=self._states,
            bus=self.bus,
            deadlines=deadlines,
            log=self._log,
            control=control,
            on_count_changed=self._on_session_count,
        )
        self._http = HttpListener(
            config=self._config,
            tokens=tokens,
            api_token=self._api_token,
            sessions=self._sessions,
            presenter=self.presenter,
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
            on_changed=self._on_http_changed,
        )
        self._served = ServedListener(
            files=self._files,
            config=self._config,
            sessions=self._sessions,
            schemas=self.presenter,
            bus=self.bus,
            deadlines=deadlines,
            spawn=spawn,
        )
        self.presenter.add_notices(lambda: self._served.problems)
        if self._options.configs:
            ServedCallLog(config=self._config, bus=self.bus)
        for hears in (listens.on_notification, self._sessions.on_server_said):
            self._servers.listen(on_changed=lambda name: None, on_notification=hears)

    def _on_session_count(self, count: int) -> None:
        if self._idle_timer:
            self._idle_timer.cancel()
            self._idle_timer = None
        if count == 0 and self._options.idle_exit_s is not None and not self._is_closed:
            self._idle_timer = asyncio.get_running_loop().call_later(self._options.idle_exit_s, self.request_stop, "idle")

    def _on_problem(self, event: ProblemReported) -> None:
        """Whatever a person has to hear of stands in the log, too."""
        if not event.server:
            self._log.record("log", str(event.problem), level="warning")
            return
        where = f" for {event.project}" if event.project else ""
        self._log.record("log", f"'{event.server}'{where}: {event.problem}", level="warning", server=event.server)

    def _on_http_changed(self) -> None:
        if not self._is_closed:
            self._tasks.spawn(finish_in_thread(self._write_hub_json), name="hub.json")

    def _known_values(self) -> frozenset[str]:
        """What must stand in no log."""
        return self._secrets.known_values() | self._api_token.known

    def _masked(self, text: str) -> str:
        self._mask.refresh()
        return self._mask.text(text)

    def _masked_whole(self, text: str) -> str:
        """The same for a text that is not cut."""
        self._mask.refresh()
        return self._mask.text(text, len(text))

    # files

    def _take_lock(self) -> None:
        try:
            if self._lock.try_take():
                return
        except OSError as error:
            message = f"{self._home.lock}: {error.strerror or error}"
            raise TooltrayError("the hub's lock cannot be taken", message, "Free space on the disk, or make the folder writable.") from None
        raise HubRunning(_pid_in(self._home.hub_json))

    def _write_hub_json(self) -> None:
        content = {
            "pid": os.getpid(),
            "version": __version__,
            "socket": str(self._home.socket),
            "http": self._http.address,
            "kind": self._options.kind,
        }
        try:
            write_atomically(self._home.hub_json, json.dumps(content).encode())
        except OSError as error:  # a full disk; the hub serves all the same, only others cannot tell its pid
            logger.warning("%s could not be written: %s", self._home.hub_json, error.strerror or error)

    def _remove_files(self) -> None:
        for path in (self._home.hub_json, self._home.socket):
            with contextlib.suppress(OSError):
                path.unlink()
        if self._home.socket.parent != self._home.run:
            with contextlib.suppress(OSError):
                self._home.socket.parent.rmdir()


def _own_environ(*, is_foreign: bool) -> Mapping[str, str]:
    """What servers get where no login shell can be read."""
    if not is_foreign:
        return os.environ
    return {**session_variables(os.environ), "PATH": os.environ.get("PATH", DEFAULT_PATH)}


def _pid_in(hub_json: Path) -> int:
    try:
        pid = json.loads(hub_json.read_bytes())["pid"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return pid if isinstance(pid, int) else 0


def _use_pidfd_watcher() -> None:
    """Before 3.12 asyncio starts a thread per child process, and can watch children through the kernel instead; later versions do that."""
    if sys.platform == "linux" and sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())
        asyncio.get_event_loop_policy().set_child_watcher(watcher)
