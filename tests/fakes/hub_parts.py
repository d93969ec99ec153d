"""What the engine wires, without sockets and processes: settings in a folder, secrets in memory, servers that a test scripts.

An entry of the settings whose command is the name of a program here runs that program.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Raw
from tests.fakes.heard import Heard, Record
from tests.fakes.manual_wheel import ManualWheel
from tests.fakes.npm_registry import NoRegistries
from tests.fakes.scripted_server import ScriptedServer

from tooltray.activity.call_stats import CallStats
from tooltray.activity.recent_calls import RecentCalls
from tooltray.config.api_token import ApiToken
from tooltray.config.client_tokens import ClientTokens
from tooltray.config.feedback_history import FeedbackHistory
from tooltray.config.files.reading import read_file
from tooltray.config.files.trust_store import TrustStore
from tooltray.config.grants import GrantStore
from tooltray.config.home import Home
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.registry_cache import RegistryCache
from tooltray.config.secrets import SecretStore
from tooltray.errors import Problem
from tooltray.events import EventBus
from tooltray.presenter.approvals.approvals import Approvals
from tooltray.presenter.approvals.grant_book import GrantBook
from tooltray.presenter.completion import Completion
from tooltray.presenter.doctor import Doctor
from tooltray.presenter.elicitations import Elicitations
from tooltray.presenter.era_memory import EraMemory
from tooltray.presenter.feedback.feedback_tool import FeedbackTool
from tooltray.presenter.feedback.feedbacks import Feedbacks
from tooltray.presenter.feedback.ready_answers import ReadyAnswers
from tooltray.presenter.files.server_files import ServerFiles
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.http_access import HttpAccess
from tooltray.presenter.instance import Patience
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
from tooltray.presenter.server_listen import ServerListens
from tooltray.presenter.server_lists import ServerLists
from tooltray.presenter.server_manager import ServerManager
from tooltray.presenter.session_state import SessionState, SessionStates
from tooltray.presenter.setup import Setup
from tooltray.presenter.sign_ins.sign_ins import SignIns
from tooltray.presenter.sign_ins.token_store import TokenStore
from tooltray.presenter.start_gate import StartGate
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
from tooltray.resources import resource
from tooltray.servers.stdio_transport import Launch
from tooltray.servers.transport import Transport
from tooltray.snapshots import HttpStatus
from tooltray.tasks import TaskKeeper
from tooltray.tools.asked_words import read_asked_words
from tooltray.tools.catalogue import CatalogueStore
from tooltray.tools.client_profiles import read_client_profiles
from tooltray.tools.known_servers import KnownServers
from tooltray.tools.names import PublishedNames
from tooltray.tools.offer import KINDS, TOOLS
from tooltray.wire import eras
from tooltray.wire.envelope import NOTHING, Envelope, dump, success

QUICK = Patience(restart_after_s=(0.0, 0.0, 0.0))
SILENT_S = 0.05  # after which a server that is silent to the modern greeting is greeted in the legacy way

MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


class Shell:
    """A login shell whose variables are known beforehand."""

    def __init__(self, **environ: str) -> None:
        self.variables = {"PATH": "/usr/bin:/bin", **environ}
        self.problem: Problem | None = None
        self.expired = 0  # how often it was to be asked again

    async def environ(self) -> Mapping[str, str]:
        return self.variables

    def expire(self) -> None:
        self.expired += 1


class Client:
    """An AI client as the presenter sees it (a `Session`, and thereby a `Caller`); answers what it is asked with `answer`.

    Attributes:
        abouts: for each question and each piece of news, the id of the request that it belongs to; None where it belongs to none.
    """

    def __init__(
        self, *, capabilities: dict[str, Any] | None = None, answer: Any = None, name: str = "client", introduction: Raw = NOTHING
    ) -> None:
        self.declared = capabilities or {}
        self.answer = answer
        self.name, self.folder, self.is_lasting, self.introduction = name, "", True, introduction
        self.identity: Hashable = self
        self.state = SessionState(name)
        self.asked: Record[tuple[str, Any]] = Record()
        self.told: Record[tuple[str, Any]] = Record()
        self.abouts: list[Any] = []
        self.held: HeldCalls

    @property
    def session(self) -> "Client":
        return self

    @property
    def capabilities(self) -> Raw:
        return dump(self.declared)

    def can_answer(self, method: str) -> bool:
        return {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}[method] in self.declared

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        self.abouts.append(loaded(about))
        self.asked.add((method, loaded(params)))
        answer = await self.answer(method) if callable(self.answer) else self.answer
        return answer if isinstance(answer, Envelope) else success(answer)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        self.abouts.append(loaded(about))
        self.told.add((method, loaded(params)))


class Door:
    """The HTTP endpoints as the presenter sees them."""

    def __init__(self) -> None:
        self.status = HttpStatus()
        self.calls: list[tuple[str, Any]] = []

    async def follow(self, *, is_retry: bool = False) -> None:
        self.calls.append(("follow", is_retry))

    async def forget_client(self, name: str) -> None:
        self.calls.append(("forget_client", name))

    def forget_programs(self) -> None:
        self.calls.append(("forget_programs", None))


def counted_words(texts: Sequence[str]) -> list[int]:
    """A tokenizer to which each word is a token."""
    return [len(text.split()) for text in texts]


class Watching:
    """In the place of HotReload: a test says which file has changed."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._hears: list[Callable[[str], None]] = []

    def follow(self, paths: Iterable[str]) -> None:
        self.paths = list(paths)

    def listen(self, on_changed: Callable[[str], None]) -> None:
        self._hears.append(on_changed)

    def changed(self, path: Path) -> None:
        for hear in self._hears:
            hear(str(path))


class HubParts:
    """All parts by name; made by `hub_parts`."""

    def __init__(
        self,
        home: Home,
        *,
        programs: Mapping[str, ScriptedServer],
        builtins: Mapping[str, Any],
        shell: Shell,
        patience: Patience,
        gate: StartGate | None,
        start_process: Callable[..., Transport] | None,
        tools: Mapping[str, Any],
        offers: Mapping[str, Any],
        names_type: type[PublishedNames],
        catalogues_type: type[CatalogueStore],
        own_url: str | None,
        clock: Callable[[], float],
        has_window: bool,
        configs: Sequence[Path],
        project: str,
    ) -> None:
        self.home, self.programs, self.shell = home, programs, shell
        self.keeper, self.bus, self.wheel = TaskKeeper(), EventBus(), ManualWheel()
        self.heard = Heard(self.bus)
        self.conf = McpConfHelper(home.settings, self.bus)
        self.secrets = SecretStore(home, "memory")
        self.stats = CallStats()
        self.catalogues = catalogues_type(home.catalogue)
        self._given: dict[str, Any] = {
            "builtins": builtins,
            "patience": patience,
            "gate": gate,
            "start_process": start_process or self._start,
            "own_url": lambda: own_url,
            "clock": clock,
        }
        self._has_window = has_window
        self._configs, self._project = tuple(map(str, configs)), project
        self._tool_options, self._offer_options, self._names_type = tools, offers, names_type
        self.launches: list[Launch] = []
        self.door = Door()
        self.shipped: dict[str, Any] = {"mcpServers": {}, "defaultServers": []}  # the servers that come with Tooltray, for a reset

    def _start(self, *, name: str, launch: Launch, log: Any, mask: Any) -> Transport:
        self.launches.append(launch)
        return self.programs[launch.command](name=name, launch=launch, log=log, mask=mask)

    async def load(self) -> None:
        await self.conf.load()
        spawn, bus, folder = self.keeper.spawn, self.bus, self.home.root
        deadlines: Any = self.wheel
        self.eras = EraMemory(self.home.eras)
        self.registries = NpmRegistries(
            config=self.conf,
            cache=RegistryCache(self.home.registries),
            environ=self.shell.environ,
            folder=str(folder),
            bus=bus,
            spawn=spawn,
            mirrors=(),
            measure=NoRegistries().measure,
            read=NoRegistries().read,
        )
        self.sign_ins = SignIns(
            config=self.conf,
            secrets=self.secrets,
            store=TokenStore(self.home.sign_ins, self.secrets),
            servers=lambda: self.servers,
            login_shell=self.shell,  # type: ignore[arg-type]
            bus=bus,
            spawn=spawn,
        )
        self.sign_ins.follow()
        self.visibility = Visibility(self.conf)
        self.servers = ServerManager(
            config=self.conf,
            secrets=self.secrets,
            login_shell=self.shell,  # type: ignore[arg-type]
            visibility=self.visibility,
            eras=self.eras,
            bus=bus,
            deadlines=deadlines,
            spawn=spawn,
            folder=folder,
            mask=lambda text: text,
            registry_variables=self.registries.variables,
            authorize=self.sign_ins.authorization,
            **self._given,
        )
        self.servers.load()
        options = dict(self._tool_options)
        self._view_options = {"lists_wait_s": options.pop("lists_wait_s")} if "lists_wait_s" in options else {}
        relay_options = {"start_wait_s": options.pop("start_wait_s")} if "start_wait_s" in options else {}
        manager_options = {"confirmed_within_s": options.pop("confirmed_within_s")} if "confirmed_within_s" in options else {}
        self.log_levels = LogLevels(spawn=spawn, serves=self.servers.serves)
        self.relay = Relay(is_paused=lambda: not self.conf.settings.mcp_enabled, log_levels=self.log_levels, **relay_options)
        names = self._names_type(self.home.names)
        parts = {"servers": self.servers, "catalogues": self.catalogues, "bus": bus, "deadlines": deadlines, "spawn": spawn}
        self.offers = Offers(lists=ServerLists(KINDS, read=read_offered, **parts, **self._offer_options), servers=self.servers, bus=bus)
        self.tools = ToolManager(
            servers=self.servers,
            lists=ServerLists((TOOLS,), read=read_tools, **parts, **options),
            offers=self.offers,
            names=names,
            bus=bus,
            **manager_options,
        )
        self.states = SessionStates(bus=bus, deadlines=deadlines)
        self.known_clients = KnownClients(config=self.conf, profiles=read_client_profiles(resource("client-profiles.json")))
        self.profiles = Profiles(config=self.conf, clients=self.known_clients, tools=self.tools, visibility=self.visibility)
        self.modes = Modes(
            config=self.conf,
            states=self.states,
            clients=self.known_clients,
            profiles=self.profiles,
            tools=self.tools,
            visibility=self.visibility,
            bus=bus,
        )
        self.prompts = PromptManager(servers=self.servers, offers=self.offers, names=names, relay=self.relay, bus=bus)
        self.resources = ResourceManager(servers=self.servers, offers=self.offers, relay=self.relay)
        self.views = make_views(
            config=self.conf,
            servers=self.servers,
            tools=self.tools,
            offers=self.offers,
            prompts=self.prompts,
            resources=self.resources,
            names=names,
            modes=self.modes,
            profiles=self.profiles,
            visibility=self.visibility,
            states=self.states,
            known=KnownServers(resource("known-servers.json")),
            asked=read_asked_words(resource("search-words.json")),
            call=lambda request, head, caller, held, **options: self.calls.call(request, head, caller, held, **options),
            bus=bus,
            **relay_options,
            **self._view_options,
        )
        self.approvals = Approvals(
            servers=self.servers,
            tools=self.tools,
            modes=self.modes,
            states=self.states,
            grants=GrantBook(
                store=GrantStore(self.home.grants),
                states=self.states,
                tools=self.tools,
                bus=bus,
                spawn=spawn,
                is_of_file=lambda server: self.files.keeps(server),
            ),
            has_window=self._has_window,
            masked=lambda text: text.replace("hunter2", "***"),
            bus=bus,
            deadlines=deadlines,
            spawn=spawn,
        )
        self.projects = Projects(
            config=self.conf,
            servers=self.servers,
            states=self.states,
            bus=bus,
            deadlines=deadlines,
            spawn=spawn,
            home=str(folder / "person"),
            includes=self.profiles.includes,
        )
        self.feedbacks = Feedbacks(
            bus=bus,
            deadlines=deadlines,
            spawn=spawn,
            states=self.states,
            history=FeedbackHistory(self.home.feedback),
            ready=ReadyAnswers(config=self.conf, shipped=("Go on",)),
            mask=lambda text: text.replace("hunter2", "***"),
            has_window=self._has_window,
        )
        self.feedback_tool = FeedbackTool(
            feedbacks=self.feedbacks,
            projects=self.projects,
            tools=self.tools,
            spawn=spawn,
            offers=lambda state, route: self.views.offers(state, route),
        )
        self.calls: ToolCalls = ToolCalls(
            servers=self.servers,
            tools=self.tools,
            views=self.views,
            approvals=self.approvals,
            relay=self.relay,
            own={("hub", "collect_feedback"): self.feedback_tool},
            look_at_project=lambda session: self.files.before_listing(session),
            config=self.conf,
            stats=self.stats,
            bus=bus,
        )
        self.completion = Completion(servers=self.servers, prompts=self.prompts, resources=self.resources, relay=self.relay)
        self.listens = ServerListens(spawn=spawn, tell=self.servers.tell)
        self.subscriptions = Subscriptions(servers=self.servers, listens=self.listens, spawn=spawn)
        for follow in (self.log_levels.on_running, self.listens.on_running, self.subscriptions.on_running):
            self.servers.listen_running(follow)
        self.servers.keep_while(self.subscriptions.is_wanted)
        self.projects.listen_moved(self.subscriptions.follow)
        self.projects.listen_moved(lambda state: self.log_levels.follow())
        self.projects.listen_moved(self.views.moved)
        self.servers.listen(on_changed=lambda name: None, on_notification=self.listens.on_notification)
        self.router = RequestRouter(
            servers=self.servers,
            calls=self.calls,
            views=self.views,
            prompts=self.prompts,
            resources=self.resources,
            completion=self.completion,
            subscriptions=self.subscriptions,
            log_levels=self.log_levels,
            relay=self.relay,
        )
        self.remedies = Remedies(
            config=self.conf,
            secrets=self.secrets,
            servers=self.servers,
            registries=self.registries,
            home=self.home.root / "person",
            common=(),
        )
        self.watching = Watching()
        self.files: ServerFiles = ServerFiles(
            config=self.conf,
            store=TrustStore(self.home.trust),
            projects=self.projects,
            states=self.states,
            watching=self.watching,
            read=read_file,
            home=str(folder / "person"),
            bus=bus,
            deadlines=deadlines,
            spawn=spawn,
            configs=self._configs,
            project=self._project,
            second_look_s=0.0,
        )
        self.presenter = McpPresenter(
            pid=1,
            config=self.conf,
            secrets=self.secrets,
            servers=self.servers,
            tools=self.tools,
            calls=self.calls,
            prompts=self.prompts,
            resources=self.resources,
            router=self.router,
            login_shell=self.shell,  # type: ignore[arg-type]
            doctor=Doctor(
                secrets=self.secrets,
                login_shell=self.shell,  # type: ignore[arg-type]
                remedies=self.remedies,
                folder=folder,
            ),
            stats=self.stats,
            http=HttpAccess(
                config=self.conf, tokens=ClientTokens(self.home.clients), api_token=ApiToken(self.home.http_token), door=lambda: self.door
            ),
            elicitations=Elicitations(bus, has_window=False),
            formats=ToolFormats(servers=self.servers, tools=self.tools),
            registries=self.registries,
            sign_ins=self.sign_ins,
            setup=Setup(config=self.conf, secrets=self.secrets, shipped=lambda: self.shipped),
            remedies=self.remedies,
            modes=self.modes,
            profiles=self.profiles,
            costs=ToolCosting(tools=self.tools, listing=self.views.at_start, sees=self.visibility.sees, count=counted_words),
            projects=self.projects,
            approvals=self.approvals,
            feedbacks=self.feedbacks,
            files=self.files,
            recent=RecentCalls(bus=bus),
            bus=bus,
            deadlines=deadlines,
            spawn=spawn,
            stats_told_after_s=0.0,
        )
        self.live_settings = LiveSettings(config=self.conf, names=names, hub=self.presenter, spawn=spawn, bus=bus)
        await self.tools.load()
        await self.offers.load()

    async def ended(self) -> None:
        """Stops all servers and waits for everything that is still being done, on the disk too."""
        await self.sign_ins.close()
        await self.servers.close()
        while len(self.keeper):
            others = asyncio.all_tasks() - {asyncio.current_task()}
            await (asyncio.wait(others) if others else asyncio.sleep(0))  # none: one has just ended, and is about to be forgotten

    async def close(self) -> None:
        for program in self.programs.values():
            program.may_end.set()
        await self.sign_ins.close()
        await self.servers.close()
        await self.keeper.close()
        await self.secrets.close()

    # short ways for tests

    def client(self, **options: Any) -> Client:
        client = Client(**options)
        wheel: Any = self.wheel
        client.held = HeldCalls(deadlines=wheel, spawn=self.keeper.spawn)
        return client

    async def listed(self, server: str | None = None) -> list[str]:
        """The names in `tools/list`."""
        return [each["name"] for each in json.loads(bytes(await self.tools.listing(server)))["tools"]]

    async def call(
        self, name: str, client: Client | None = None, *, server: str | None = None, is_modern: bool = False, **params: Any
    ) -> dict[str, Any]:
        """One `tools/call`; the reply as an object with `result` or `error`."""
        client = client or self.client()
        params = {"name": name, "arguments": {}, **params}
        if is_modern:
            params["_meta"] = {**MODERN_META, **params.get("_meta", {})}
        request = Envelope(method="tools/call", params=dump(params))
        head = eras.read_head(request.params)
        assert head is not None
        return opened(await self.calls.call(request, head, client, client.held, server=server, client="test"))


def opened(reply: Envelope) -> dict[str, Any]:
    if reply.error:
        return {"error": loaded(reply.error)}
    return {"result": loaded(reply.result)}


def loaded(payload: Raw) -> Any:
    return json.loads(bytes(payload)) if payload else None


async def settled() -> None:
    """Gives everything that could happen by itself the turns to happen; for what must not happen."""
    for _ in range(30):
        await asyncio.sleep(0)


def entry(command: str, /, **fields: Any) -> dict[str, Any]:
    """An entry of `mcpServers` whose tools may all be called."""
    return {"command": command, "autoApprove": ["all"], **fields}


@contextlib.asynccontextmanager
async def hub_parts(
    root: Path,
    *,
    servers: Mapping[str, Any] | None = None,
    default: tuple[str, ...] = (),
    settings: Mapping[str, Any] | None = None,
    programs: Mapping[str, ScriptedServer] | None = None,
    builtins: Mapping[str, Any] | None = None,
    shell: Shell | None = None,
    patience: Patience = QUICK,
    gate: StartGate | None = None,
    start_process: Callable[..., Transport] | None = None,
    tools: Mapping[str, Any] | None = None,
    offers: Mapping[str, Any] | None = None,
    names_type: type[PublishedNames] = PublishedNames,
    catalogues_type: type[CatalogueStore] = CatalogueStore,
    own_url: str | None = None,
    clock: Callable[[], float] = time.monotonic,
    has_window: bool = False,
    configs: Sequence[Path] = (),
    project: str = "",
) -> AsyncIterator[HubParts]:
    """Parts of a hub in the folder `root`, loaded; nothing is started.

    Args:
        servers, default: entries of `mcpServers`, and which of them start with the hub; None leaves the file as it is.
        settings: more of the settings.
        programs: what the commands in the entries run.
        tools, offers: further options of the ServerLists for tools and for all else; of the Relay, too, in `tools`.
        names_type, catalogues_type: what keeps the published names, and the last known lists.
        own_url: where the hub itself listens for AI clients.
        clock: by which servers are idle.
        has_window: whether a person at a desktop is asked about calls, as soon as somebody listens.
        configs, project: what the hub was started with, see EngineOptions; the test starts `files`.
    """
    home = Home(root)
    home.prepare()
    if servers is not None:
        document = {"version": 1, "mcpServers": servers, "defaultServers": list(default), **(settings or {})}
        home.settings.write_text(json.dumps(document))
    parts = HubParts(
        home,
        programs=programs or {},
        builtins=builtins or {},
        shell=shell or Shell(),
        patience=patience,
        gate=gate,
        start_process=start_process,
        tools=tools or {},
        offers=offers or {},
        names_type=names_type,
        catalogues_type=catalogues_type,
        own_url=own_url,
        clock=clock,
        has_window=has_window,
        configs=configs,
        project=project,
    )
    await parts.load()
    try:
        yield parts
    finally:
        await parts.close()
