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
from tests.fakes.exchanges import exchange_of
from tests.fakes.heard import Heard, Record
from tests.fakes.manual_wheel import ManualWheel
from tests.fakes.npm_registry import NoRegistries
from tests.fakes.scripted_server import ScriptedServer

from tooltray.access.api_token import ApiToken
from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.access.trusted_tokens import TrustedTokens
from tooltray.activity.call_stats import CallStats
from tooltray.activity.masking import Mask
from tooltray.calls.elicitations import Elicitations
from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.list_times import FirstPatience
from tooltray.catalogue.names import PublishedNames
from tooltray.confirmation import PERSON, set_asker
from tooltray.entries.proposal_store import ProposalStore
from tooltray.errors import Problem
from tooltray.events import EventBus
from tooltray.foreign_configs.reading import read_file
from tooltray.home.home import Home
from tooltray.launch.program_launch import Launch
from tooltray.launch.remembered_variables import RememberedVariables
from tooltray.launch.server_environment import ServerEnvironment
from tooltray.launch.variable_sources import VariableSources
from tooltray.presenter.file_parts import make_files
from tooltray.presenter.hub_base import HubBase
from tooltray.presenter.offer_parts import make_offer_parts
from tooltray.presenter.presenter_parts import make_presenter_parts
from tooltray.presenter.request_parts import RequestParts, make_request_parts
from tooltray.presenter.server_parts import make_server_parts
from tooltray.presenter.view_parts import make_view_parts
from tooltray.protocol.envelope import NOTHING, Envelope, dump, success
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.registries.registry_cache import RegistryCache
from tooltray.secrets.secrets import SecretStore
from tooltray.server_files.hot_reload import WatchedFileChanged
from tooltray.server_files.server_files import ServerFiles
from tooltray.sessions.session_state import SessionState
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.http import HttpStatus
from tooltray.tasks import TaskKeeper
from tooltray.transports.transport import Transport
from tooltray.upstream.held_calls import HeldCalls
from tooltray.upstream.upstream_services import Patience, StartGate

QUICK = Patience(restart_after_s=(0.0, 0.0, 0.0))
SILENT_S = 0.05  # after which a server that is silent to the modern greeting is greeted in the legacy way

FOR_EVER = {"first_patience": FirstPatience(*[600.0] * 6)}
BARELY = {"first_patience": FirstPatience(*[0.02] * 6)}
"""For `hub_parts`: how long first lists are waited for."""

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

    def invalidate(self) -> None:
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

    def __init__(self, bus: EventBus) -> None:
        self.paths: list[str] = []
        self._bus = bus

    def follow(self, paths: Iterable[str]) -> None:
        self.paths = list(paths)

    def changed(self, path: Path) -> None:
        self._bus.publish(WatchedFileChanged(str(path)))


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
        waits: Mapping[str, Any],
        names_type: type[PublishedNames],
        catalogues_type: type[CatalogueStore],
        own_url: str | None,
        clock: Callable[[], float],
        has_window: bool,
        is_live: bool,
        configs: Sequence[Path],
        project: str,
    ) -> None:
        self.home, self.programs, self.shell = home, programs, shell
        self.keeper, self.bus, self.wheel = TaskKeeper(), EventBus(), ManualWheel()
        self.heard = Heard(self.bus)
        self.person = home.root / "person"  # the person's home folder
        self.person.mkdir(exist_ok=True)
        self.conf = McpConfHelper(home.settings, self.bus)
        self.secrets = SecretStore(home, "memory", bus=self.bus)
        self.api_tokens = ApiTokens(ApiToken(home.http_token), home.api_tokens)
        self.trusted = TrustedTokens(self.secrets)
        self.stats = CallStats()
        self.catalogues = catalogues_type(home.catalogue)
        self._server_options: dict[str, Any] = {"builtins": builtins, "patience": patience, "gate": gate, "clock": clock}
        self._start_process = start_process or self._start
        self._own_url = lambda: own_url
        self._has_window = has_window
        self._is_live = is_live
        self._configs, self._project = tuple(map(str, configs)), project
        self._names_type = names_type
        self._offer_waits = {name: wait_s for name, wait_s in waits.items() if name != "lists_wait_s"}
        self._view_waits = {name: wait_s for name, wait_s in waits.items() if name in ("start_wait_s", "lists_wait_s")}
        self.launches: list[Launch] = []
        self.door = Door()
        self.shipped: dict[str, Any] = {"mcpServers": {}, "defaultServers": []}  # the servers that come with Tooltray, for a reset

    def _start(self, *, name: str, launch: Launch, log: Any, mask: Any) -> Transport:
        self.launches.append(launch)
        return self.programs[launch.command](name=name, launch=launch, log=log, mask=mask)

    async def load(self) -> None:
        set_asker(PERSON)  # a test asks as the person at the window does, unless it says otherwise
        await self.conf.load()
        spawn, bus = self.keeper.spawn, self.bus
        base = self._base()
        elicitations = Elicitations(bus, has_window=False)
        self.registries = NpmRegistries(
            config=self.conf,
            cache=RegistryCache(self.home.registries),
            environ=self.shell.environ,
            folder=str(self.person),
            bus=bus,
            spawn=spawn,
            mirrors=(),
            measure=NoRegistries().measure,
            read=NoRegistries().read,
        )
        started = await make_server_parts(
            base=base,
            registries=self.registries,
            tool_schema=lambda server, tool: self.tools.input_schema(server, tool),
            own_url=self._own_url,
            ask_person=elicitations.ask,
            start_process=self._start_process,
            **self._server_options,
        )
        self.sign_ins, self.visibility, self.eras, self.servers = started.sign_ins, started.visibility, started.eras, started.servers
        offered = make_offer_parts(
            base=base, servers=self.servers, catalogues=self.catalogues, names=self._names_type(self.home.names), **self._offer_waits
        )
        self.offers, self.tools, self.log_levels, self.relay = offered.offers, offered.tools, offered.log_levels, offered.relay
        self.prompts, self.resources, self.looks = offered.prompts, offered.resources, offered.looks
        self.instructions = offered.instructions
        viewed = await make_view_parts(
            base=base,
            servers=self.servers,
            visibility=self.visibility,
            offered=offered,
            call=lambda exchange: self.calls.call(exchange),
            **self._view_waits,
        )
        self.states, self.known_clients, self.profiles = viewed.states, viewed.clients, viewed.profiles
        self.modes, self.views = viewed.modes, viewed.views
        requests: RequestParts = await make_request_parts(
            base=base,
            servers=self.servers,
            offered=offered,
            viewed=viewed,
            is_of_file=lambda server: self.files.keeps(server),
            look_at_project=lambda session: self.files.before_listing(session),
            own_tools={},
            shipped_answers=("Go on",),
            stats=self.stats,
        )
        self.approvals, self.projects, self.router = requests.approvals, requests.projects, requests.router
        self.feedbacks, self.feedback_tool, self.calls = requests.feedbacks, requests.feedback_tool, requests.calls
        self.completion = requests.completion
        self.listens, self.subscriptions = requests.listens, requests.subscriptions
        self.watching = Watching(bus)
        self.files: ServerFiles = await make_files(
            base=base,
            projects=self.projects,
            states=self.states,
            watching=self.watching,
            read=read_file,
            configs=self._configs,
            project=self._project,
            second_look_s=0.0,
        )
        joined = make_presenter_parts(
            pid=1,
            base=base,
            started=started,
            offered=offered,
            viewed=viewed,
            requests=requests,
            files=self.files,
            registries=self.registries,
            elicitations=elicitations,
            tokens=ClientTokens(self.home.clients),
            api_tokens=self.api_tokens,
            trusted=self.trusted,
            proposed=ProposalStore(self.home.proposals),
            door=lambda: self.door,
            stats=self.stats,
            shipped=lambda: self.shipped,
            common_folders=(),
            count=counted_words,
            stats_told_after_s=0.0,
        )
        self.presenter, self.live_settings = joined.presenter, joined.live_settings
        self.snapshots, self.notices, self.server_news = joined.snapshots, joined.notices, joined.news
        self.remedies = joined.remedies
        if self._is_live:
            self.live_settings.start()
        await offered.load()

    def _base(self) -> HubBase:
        shell: Any = self.shell
        self.remembered = RememberedVariables(self.home.environment)
        self.sources = VariableSources(self.remembered, look_up=lambda _, __: {})
        deadlines: Any = self.wheel
        return HubBase(
            home=self.home,
            config=self.conf,
            secrets=self.secrets,
            mask=Mask(lambda: {"hunter2"}),
            login_shell=shell,
            environment=ServerEnvironment(
                login_shell=shell, sources=self.sources, remembered=self.remembered, bus=self.bus, spawn=self.keeper.spawn
            ),
            user_folder=self.person,
            has_window=self._has_window,
            bus=self.bus,
            deadlines=deadlines,
            spawn=self.keeper.spawn,
        )

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

    @property
    def settings_on_disk(self) -> dict[str, Any]:
        """What stands in settings.json now."""
        document: dict[str, Any] = json.loads(self.home.settings.read_bytes())
        return document

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
        return opened(await self.calls.call(exchange_of(request, client, server=server)))


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


def one_server(program: ScriptedServer, **fields: Any) -> dict[str, Any]:
    """For `hub_parts`: a server `s` that runs a program; more of its entry is in `fields`."""
    return {"servers": {"s": entry("program", **fields)}, "programs": {"program": program}}


def two_servers(first: ScriptedServer, second: ScriptedServer) -> dict[str, Any]:
    """For `hub_parts`: servers `a` and `b`."""
    return {"servers": {"a": entry("first"), "b": entry("second")}, "programs": {"first": first, "second": second}}


async def text_of(parts: HubParts, name: str, **options: Any) -> str:
    """Calls a tool; returns the first text of its result."""
    reply = await parts.call(name, **options)
    return str(reply["result"]["content"][0]["text"])


async def refusal_of(parts: HubParts, name: str, **options: Any) -> str:
    """Calls a tool; returns why that cannot be."""
    return str((await parts.call(name, **options))["error"]["message"])


async def started(parts: "HubParts", *names: str) -> None:
    """Starts servers one after the other; `s` if none is named."""
    for name in names or ("s",):
        await parts.servers.start(name)


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
    waits: Mapping[str, Any] | None = None,
    names_type: type[PublishedNames] = PublishedNames,
    catalogues_type: type[CatalogueStore] = CatalogueStore,
    own_url: str | None = None,
    clock: Callable[[], float] = time.monotonic,
    has_window: bool = False,
    is_live: bool = True,
    configs: Sequence[Path] = (),
    project: str = "",
) -> AsyncIterator[HubParts]:
    """Parts of a hub in the folder `root`, loaded; nothing is started.

    Args:
        servers, default: entries of `mcpServers`, and which of them start with the hub; None leaves the file as it is.
        settings: more of the settings.
        programs: what the commands in the entries run.
        waits: how long who waits for what, by the names of make_offer_parts and make_view_parts.
        names_type, catalogues_type: what keeps the published names, and the last known lists.
        own_url: where the hub itself listens for AI clients.
        clock: by which servers are idle.
        has_window: whether a person at a desktop is asked about calls, as soon as somebody listens.
        is_live: whether what the settings name for the first time is started and listed; False: they are followed by the servers alone.
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
        waits=waits or {},
        names_type=names_type,
        catalogues_type=catalogues_type,
        own_url=own_url,
        clock=clock,
        has_window=has_window,
        is_live=is_live,
        configs=configs,
        project=project,
    )
    await parts.load()
    try:
        yield parts
    finally:
        await parts.close()
