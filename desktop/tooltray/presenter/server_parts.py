"""Joins the servers and what starting one takes: sign-ins, packages, transports, the memory of eras.

Above it: the engine. Below it: ServerManager and what it is made of. Knows nothing of what servers offer.
"""

import asyncio
import time
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw

from tooltray.launch.npm_registry import read_mirrors
from tooltray.presenter.hub_base import HubBase
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.registries.registry_cache import RegistryCache
from tooltray.resources import resource
from tooltray.sign_ins.sign_ins import SignIns
from tooltray.sign_ins.token_store import TokenStore
from tooltray.transports.memory_transport import MemoryServer
from tooltray.transports.stdio_transport import StdioTransport
from tooltray.upstream.era_memory import EraMemory
from tooltray.upstream.mcp_client import AskPerson
from tooltray.upstream.patience import Patience
from tooltray.upstream.server_manager import ServerManager
from tooltray.upstream.server_transports import ServerTransports, StartProcess
from tooltray.upstream.start_gate import StartGate
from tooltray.upstream.stopped_servers import StoppedServers
from tooltray.upstream.stops import Stops
from tooltray.upstream.visibility import Visibility


class ServerParts(msgspec.Struct, frozen=True, kw_only=True):
    sign_ins: SignIns
    visibility: Visibility
    eras: EraMemory
    stops: Stops
    servers: ServerManager


async def make_registries(base: HubBase) -> NpmRegistries:
    """The npm registries that servers may be fetched from."""
    return NpmRegistries(
        config=base.config,
        cache=await asyncio.to_thread(RegistryCache, base.home.registries),
        environ=base.login_shell.environ,
        folder=str(base.user_folder),
        bus=base.bus,
        spawn=base.spawn,
        mirrors=await asyncio.to_thread(read_mirrors, resource("npm-registries.json")),
    )


async def make_server_parts(
    *,
    base: HubBase,
    registries: NpmRegistries,
    builtins: Mapping[str, MemoryServer],
    tool_schema: Callable[[str, str], Raw | None],
    own_url: Callable[[], str | None],
    ask_person: AskPerson,
    start_process: StartProcess = StdioTransport,
    patience: Patience | None = None,
    gate: StartGate | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> ServerParts:
    """The servers of the settings, none of them started. For arguments see ServerManager and ServerTransports."""
    sign_ins = SignIns(
        config=base.config,
        secrets=base.secrets,
        store=await asyncio.to_thread(TokenStore, base.home.sign_ins, base.secrets),
        servers=lambda: servers,
        login_shell=base.login_shell,
        bus=base.bus,
        spawn=base.spawn,
    )
    sign_ins.follow()
    visibility = Visibility(base.config)
    transports = ServerTransports(
        secrets=base.secrets,
        login_shell=base.login_shell,
        folder=base.user_folder,
        mask=base.mask.masked,
        authorize=sign_ins.authorization,
        registry_variables=registries.variables,
        start_process=start_process,
        tool_schema=tool_schema,
        own_url=own_url,
    )
    eras = await asyncio.to_thread(EraMemory, base.home.eras)
    stops = Stops(await asyncio.to_thread(StoppedServers, base.home.stopped), config=base.config, spawn=base.spawn)
    servers = ServerManager(
        config=base.config,
        login_shell=base.login_shell,
        builtins=builtins,
        visibility=visibility,
        transports=transports,
        eras=eras,
        stops=stops,
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
        mask=base.mask.masked,
        patience=patience,
        gate=gate,
        ask_person=ask_person,
        clock=clock,
    )
    servers.load()
    return ServerParts(sign_ins=sign_ins, visibility=visibility, eras=eras, stops=stops, servers=servers)
