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
from tests.fakes.kept_log import KeptLog
from tests.fakes.manual_wheel import ManualWheel
from tests.fakes.npm_registry import NoRegistries
from tests.fakes.scripted_server import ScriptedServer

from tooltray.app.hub import Hub, HubOptions
from tooltray.carriers.control.control_session import HubControl
from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.list_times import FirstPatience
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.composition import made, part
from tooltray.foundation.confirm_widening import PERSON, set_asker
from tooltray.foundation.errors import Problem
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.foundation.tasks import Spawn
from tooltray.gateway.calls.elicitations import Elicitations
from tooltray.gateway.calls.stages import OwnTool
from tooltray.protocol.envelope import NOTHING, Envelope, dump, success
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.records.log.masking import Mask
from tooltray.servers.builtin import hub_server
from tooltray.servers.confinement.confinements import Support
from tooltray.servers.launch.program_launch import Launch
from tooltray.servers.launch.variable_sources import VariableSources
from tooltray.servers.npm_mirrors.measuring import RegistrySources
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.transports.transport import Transport
from tooltray.servers.upstream.start_limits import Patience, StartGate
from tooltray.sources.project_files.followed_files import FileWatch

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

    def is_from_own(self, name: str) -> bool:
        return name == "OF_SERVE"

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
    """In the place of FileWatcher: a test says which file has changed."""

    def __init__(self, spawn: Spawn, on_changed: Callable[[str], None]) -> None:
        self.paths: list[str] = []
        self._on_changed = on_changed

    def follow(self, paths: Iterable[str]) -> None:
        self.paths = list(paths)

    def close(self) -> None:
        self.paths = []

    def changed(self, path: Path) -> None:
        self._on_changed(str(path))


class HubParts(Hub):
    """The hub of hub.py, with parts of a test in the place of those that start processes, listen, or ask the machine."""

    deadlines: ManualWheel = made(lambda hub: ManualWheel())
    secrets: SecretStore = made(lambda hub: SecretStore(hub.home, "memory", bus=hub.bus))
    support: Support = made(lambda hub: Support("linux", 7, True, "/usr/bin/bwrap"))
    log: KeptLog = made(lambda hub: KeptLog())
    mask: Mask = made(lambda hub: Mask(lambda: {"hunter2"}))
    sources: VariableSources = part(look_up=lambda hub: lambda _, __: {})
    elicitations: Elicitations = part(has_window="has_window")
    registry_sources: RegistrySources = part(
        folder=lambda hub: str(hub.user_folder),
        mirrors=lambda hub: (),
        measure=lambda hub: NoRegistries().measure,
        read=lambda hub: NoRegistries().read,
    )
    own: dict[tuple[str, str], OwnTool] = made(lambda hub: {(hub_server.NAME, hub_server.COLLECT_FEEDBACK): hub.feedback_tool})
    file_watch: FileWatch = part(make_watcher=lambda hub: hub._make_watching)
    shipped_answers: tuple[str, ...] = made(lambda hub: ("Go on",))
    http: Door = made(lambda hub: Door())

    def __init__(
        self,
        home: Home,
        options: HubOptions,
        *,
        programs: Mapping[str, ScriptedServer],
        own_url: str | None,
        is_live: bool,
        limits: Mapping[str, Any],
    ) -> None:
        """
        Args:
            limits: parts, and values for parameters, in the place of those of the hub.
        """
        self.programs, self.launches = programs, list[Launch]()
        self.user_folder = self.person = home.root / "person"  # the person's home folder
        self.person.mkdir(exist_ok=True)
        self.shipped_setup: dict[str, Any] = {"mcpServers": {}, "defaultServers": []}  # the servers that come with Tooltray, for a reset
        self._is_live = is_live
        replaced = {
            "start_process": self._start,
            "own_url": lambda: own_url,
            "common": (),
            "count": counted_words,
            "shipped": lambda: self.shipped_setup,
            "stats_told_after_s": 0.0,
            "second_look_s": 0.0,
        }
        control = HubControl(kind=options.kind, execution_id="", stop=lambda: None, hand_over=settled, raise_window=None)
        super().__init__(home, options, control=control, limits={**replaced, **limits})
        self.keeper, self.heard = self.tasks, Heard(self.bus)

    def _start(self, *, name: str, launch: Launch, log: Any, mask: Any) -> Transport:
        self.launches.append(launch)
        return self.programs[launch.command](name=name, launch=launch, log=log, mask=mask)

    def _make_watching(self, spawn: Spawn, on_changed: Callable[[str], None]) -> Watching:
        self.watching = Watching(spawn, on_changed)
        return self.watching

    async def load(self) -> None:
        set_asker(PERSON)  # a test asks as the person at the window does, unless it says otherwise
        await self.build()
        self.file_watch.start()
        if self._is_live:
            self.live_settings.start()
        await super().load()

    # short names for tests

    @property
    def conf(self) -> McpConfHelper:
        return self.config

    @property
    def wheel(self) -> ManualWheel:
        return self.deadlines

    @property
    def shell(self) -> Shell:
        shell: Any = self.login_shell
        return shell

    @property
    def door(self) -> Door:
        return self.http

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
        await self.host_proxies.close()
        await self.log_keeper.close()
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
        waits: how long who waits for what, by the names of the parameters that take it.
        names_type, catalogues_type: what keeps the published names, and the last known lists.
        own_url: where the hub itself listens for AI clients.
        clock: by which servers are idle.
        has_window: whether a person at a desktop is asked about calls, as soon as somebody listens.
        is_live: whether what the settings name for the first time is started and listed; False: they are followed by the servers alone.
        configs, project: what the hub was started with, see HubOptions; the test starts `files`.
    """
    home = Home(root)
    home.prepare()
    if servers is not None:
        document = {"version": 1, "mcpServers": servers, "defaultServers": list(default), **(settings or {})}
        home.settings.write_text(json.dumps(document))
    limits: dict[str, Any] = {
        "builtins": builtins or {},
        "login_shell": shell or Shell(),
        "patience": patience,
        "gate": gate or StartGate(),
        "idle_clock": clock,
        "names": names_type(home.names),
        "catalogues": catalogues_type(home.catalogue),
        **(waits or {}),
    }
    if start_process:
        limits["start_process"] = start_process
    options = HubOptions(kind="desktop" if has_window else "serve", configs=tuple(map(str, configs)), project=project)
    parts = HubParts(home, options, programs=programs or {}, own_url=own_url, is_live=is_live, limits=limits)
    await parts.load()
    try:
        yield parts
    finally:
        await parts.close()


@contextlib.asynccontextmanager
async def started_parts(root: Path, *names: str, **options: Any) -> AsyncIterator[HubParts]:
    """The same with servers that have been started; `s` if none is named."""
    async with hub_parts(root, **options) as parts:
        await started(parts, *names)
        yield parts
