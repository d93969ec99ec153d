"""All servers of the settings, and the life of each. It knows nothing of tools or AI clients."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, config_hash, runs_otherwise
from tooltray.foundation.confirm_widening import asker_name
from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, ServerRemoved
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.transports.transport import MemoryServer
from tooltray.servers.upstream.copies_by_project import CopiesByProject, ProjectSource
from tooltray.servers.upstream.idle_stop import IdleStop
from tooltray.servers.upstream.instance_factory import InstanceFactory, ServerTransports
from tooltray.servers.upstream.instance_status import IDLE
from tooltray.servers.upstream.lifecycle_recorder import BY_PERSON, CLIENT, HUB, PERSON, SETTINGS, caused_by
from tooltray.servers.upstream.managed_server import ManagedServer, ServerEntry, ServerLog, ServersConfigured, ServerStateChanged
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_copy import ServerCopy
from tooltray.servers.upstream.stops import Stops
from tooltray.servers.upstream.upstream_services import UpstreamServices
from tooltray.servers.upstream.visibility import EVERYBODY, Visibility

STARTED_BY_HAND_WAIT_S = 300.0  # a user who starts a server wants its outcome, also of a first npx


class ServerManager:
    """All servers of the settings. Belongs to the engine's loop.

    Attributes:
        changes: a number that differs whenever there are other servers than before.
    """

    def __init__(
        self,
        *,
        config: McpConfHelper,
        builtins: Mapping[str, MemoryServer],
        visibility: Visibility,
        transports: ServerTransports,
        stops: Stops,
        services: UpstreamServices,
        get_projects: Callable[[], ProjectSource],
    ) -> None:
        """
        Args:
            builtins: the servers that come with Tooltray, by name.
            visibility: which servers exist for which sessions.
            stops: the servers that the user has stopped.
            get_projects: returns the source that knows the projects on which sessions work.
        """
        self._config, self._builtins, self._visibility, self._transports = config, builtins, visibility, transports
        self._stops, self._deadlines = stops, services.deadlines
        self._instances = InstanceFactory(
            transports=transports, services=services, is_current=self._is_current, before_start=self._before_start
        )
        self._bus, self._spawn, self._keep_output = services.bus, services.spawn, services.keep_output
        self._servers: dict[str, ManagedServer] = {}
        self.changes = 0
        self._leaving: list[ManagedServer] = []  # removed or replaced, and not ended yet
        self._to_start: set[ManagedServer] = set()  # as soon as their predecessors have ended
        self._get_projects, self._is_wanted = get_projects, services.is_wanted

    # lookups

    def __iter__(self) -> Iterator[ManagedServer]:
        return iter(self._servers.values())

    def get(self, name: str) -> ManagedServer:
        """
        Raises:
            NotFound: no server has this name, or its entry cannot be used; the error gives the reason.
        """
        if server := self._servers.get(name):
            return server
        for broken in self._config.file_problems:
            if broken.entry == name:
                raise NotFound(broken.problem.title, broken.problem.message, broken.problem.hint)
        known = ", ".join(self._servers)
        raise NotFound(
            Phrase("server '{name}' not found", name=name),
            Phrase("there are: {known}", known=known),
            Phrase("See `tooltray servers list`."),
        )

    def find(self, name: str) -> ManagedServer | None:
        return self._servers.get(name)

    def is_default(self, name: str) -> bool:
        server = self._servers[name]
        return server.is_builtin or name in self._config.settings.default_servers

    def running_clients(self) -> list[McpClient]:
        return [instance.client for server in self for instance in server.instances if instance.client]

    def clients_for(self, session: Session) -> list[McpClient]:
        """Returns the running connections that one AI client's session may hear of."""
        return [client for client in self.running_clients() if self.serves(client, session)]

    def serves(self, client: McpClient, session: Session) -> bool:
        """Reports whether an AI client's session may hear of a connection: one for all, for itself, or for the project it works on."""
        server = self._servers.get(client.name)
        return server is not None and server.serves(client, session) and self._visibility.sees(session.state, client.name)

    def sees(self, state: SessionState, server: str) -> bool:
        """Reports whether a server exists for a session: servers of other projects do not."""
        return self._visibility.sees(state, server)

    def own(self, state: SessionState) -> frozenset[str]:
        """Returns the servers that a session has because of its project."""
        return self._visibility.own(state)

    def is_for_all(self, server: str) -> bool:
        """Reports whether a server exists for every session."""
        return self._visibility.includes(EVERYBODY, server)

    def deferred(self) -> list[CopiesByProject]:
        """Returns the copies of each server that starts for projects, in the settings' order."""
        found = (self._servers.get(name) for name in self._config.settings.mcp_servers)
        return [server.by_project for server in found if server and server.by_project]

    def find_deferred(self, name: str) -> CopiesByProject:
        """
        Raises:
            TooltrayError: no server has this name, or it does not wait for a project.
        """
        if by_project := self.get(name).by_project:
            return by_project
        hint = Phrase("Start it with: tooltray servers start {name}", name=quoted(name))
        raise TooltrayError(
            Phrase("'{name}' does not start for projects", name=name),
            Phrase("`deferredStartup` is not set in its settings"),
            hint,
        )

    @property
    def pids(self) -> frozenset[int]:
        """The processes of all servers; each leads a session of its own."""
        return frozenset(pid for server in self for pid in server.pids)

    @property
    def configs(self) -> tuple[MCPServerConfig, ...]:
        """The entries of all servers, with the servers that were removed or replaced and have not ended yet."""
        return tuple(server.config for server in (*self, *self._leaving))

    # life

    def load(self) -> None:
        """Makes the servers of the settings, without starting any, and subscribes to changes of the settings."""
        self._stops.load({*self._builtins, *self._config.settings.mcp_servers})
        for name, builtin in self._builtins.items():
            self._servers[name] = self._make(name, MCPServerConfig(type="inmemory"), builtin)
        for name, config in self._config.settings.mcp_servers.items():
            self._servers[name] = self._make(name, config)
        self._bus.subscribe(ConfigChanged, self._on_config_changed)

    def start_defaults(self, among: Iterable[str] | None = None) -> None:
        """Starts, without waiting, the servers that start with Tooltray, or the named ones among them. A stopped server stays stopped."""
        for server in self if among is None else map(self.get, among):
            if self.is_default(server.name) and not server.config.disable and self._stops.since(server.name) is None:
                server.start()

    async def start(self, name: str) -> None:
        """Starts a server for the user; waits for the outcome.

        Raises:
            TooltrayError: no server has this name, it is disabled, or it does not start.
        """
        server = self.get(name)
        if server.config.disable:
            raise TooltrayError(
                Phrase("server '{name}' is disabled", name=name),
                Phrase("`disable` is true in its settings"),
                Phrase("Enable it first."),
            )
        self._refresh_environment(server)
        await self._stops.discard(server)
        with _by_person():
            present = self.get(name)
            if present is server:
                try:
                    await server.run(timeout_s=STARTED_BY_HAND_WAIT_S)
                    return
                except TooltrayError:
                    present = self._servers.get(name, server)
                    if present is server:
                        raise
            if refusal := present.refusal:
                raise refusal
            await present.run(timeout_s=STARTED_BY_HAND_WAIT_S)  # the server's settings changed meanwhile

    async def start_soon(self, name: str) -> None:
        """Starts a server for the user; does not wait until it runs.

        Raises:
            TooltrayError: no server has this name.
        """
        await self._stops.discard(self.get(name))
        server = self.get(name)
        server.is_used = True  # a task that lists its tools meanwhile then leaves it running
        with _by_person():
            server.start()

    async def allow_start(self, server: ManagedServer) -> None:
        """Allows starts of a server again, which the caller then starts, perhaps for a project."""
        await self._stops.discard(server)

    async def stop(self, name: str) -> None:
        """Stops a server for the user: it stays stopped, also after a restart of Tooltray, until the user starts it.

        Raises:
            NotFound: no server has this name.
            TooltrayError: it has stopped, and that cannot be saved.
        """
        server = self.get(name)
        try:
            await self._stops.add(server)
        finally:
            with _by_person():
                await server.stop()

    async def restart(self, name: str) -> None:
        """Restarts a server. Its tools stay listed meanwhile, and it is shown as RESTARTING until it runs or has failed.

        Raises:
            TooltrayError: as `start`.
        """
        server = self.get(name)
        self._refresh_environment(server)
        server.restarts += 1
        if server.shown_state is not server.state:
            self.publish_changed(name)  # an idle server is not stopped first: nothing else would publish the change at once
        try:
            await self._stops.discard(server)
            with _by_person():
                await server.stop(then=server.idle_state)
            if self._stops.since(name) is not None:
                raise TooltrayError(Phrase("server '{name}' is stopped", name=name), Phrase("it was stopped during the restart"))
            await self.start(name)
        finally:
            server.restarts -= 1
            self.publish_changed(name)

    def _refresh_environment(self, server: ManagedServer) -> None:
        """Drops the known PATH before the user starts a server that has failed: a missing program may have been installed since."""
        if server.state is ServerState.ERROR:
            self._transports.forget_environment()

    def require_sign_in(self, name: str, problem: Problem) -> None:
        """Closes a server's connections, until it is started again, because the user has to sign in."""
        if server := self._servers.get(name):
            server.require_sign_in(problem)

    def publish_changed(self, name: str) -> None:
        """Publishes a change on a server's card: a problem with its lists, or a sign-in."""
        if server := self._servers.get(name):
            self._bus.publish(ServerStateChanged(server))

    def is_being_replaced(self, name: str) -> bool:
        """Reports whether a server's previous process, from before its entry was changed, is still ending."""
        return name in self._servers and any(server.name == name for server in self._leaving)

    async def end_session(self, session: Session) -> None:
        """Ends the instances that an AI client had for itself."""
        with caused_by(CLIENT, session.state.client):
            await asyncio.gather(*(server.end_session(session) for server in (*self, *self._leaving)))

    async def close(self) -> None:
        """Stops all servers together; bounded by the time that one server gets."""
        with caused_by(HUB):
            await asyncio.gather(*(server.stop() for server in (*self, *self._leaving)))

    def rename(self, before: str, after: str) -> Awaitable[None]:
        """Replaces a server by one with another name, as a change of its entry does, once the settings have that name.

        Returns:
            The rest: its former instances have ended, and that it is stopped is saved.
        """
        saved, swapped = self._stops.rename(before, after), None
        if old := self._servers.get(before):
            self._servers = {after if name == before else name: each for name, each in self._servers.items()}  # in its place
            old.name = after  # its successor waits until it has ended, and its late events count as those of any predecessor
            swapped = self._replace(old, self._config.settings.mcp_servers[after])
            self._bus.publish(ServerRemoved(before))
        return _both(saved, swapped)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        settings = self._config.settings.mcp_servers
        for name in [server.name for server in self if not server.is_builtin and server.name not in settings]:
            self._leaving.append(removed := self._servers.pop(name))
            self.changes += 1
            self._stops.on_removed(removed)
            self._spawn(self._remove(removed), name=f"remove '{name}'")
        for name, config in settings.items():
            server = self._servers.get(name)
            if server is not None:
                self._stops.on_changed(server, config)
            if server is None:
                self._stops.on_added(name, self._hash(name, config))
                self._servers[name] = self._make(name, config)
            elif server.config_hash != self._hash(name, config) or runs_otherwise(server.config, config):
                self._replace(server, config)
            else:
                self._adopt(server, config)
            self.publish_changed(name)
        self._bus.publish(ServersConfigured())

    def _adopt(self, server: ManagedServer, config: MCPServerConfig) -> None:
        """Takes settings that do not change what runs."""
        if config.disable and server.state is not ServerState.STOPPED:
            with caused_by(SETTINGS):
                self._spawn(server.stop(), name=f"stop '{server.name}'")
        server.adopt(config, self._config.file_server(server.name))

    def _replace(self, old: ManagedServer, config: MCPServerConfig) -> "asyncio.Task[None]":
        was_up = old.state not in IDLE or old in self._to_start
        new = self._servers[old.name] = self._make(old.name, config)
        if old.by_project and new.by_project:
            new.by_project.take_over(old.by_project)
        new.is_used = old.is_used
        self._leaving.append(old)
        if is_restart := was_up and new.refusal is None:
            self._to_start.add(new)
            new.restarts += 1  # it is shown as RESTARTING, not as idle, until it starts
        return self._spawn(self._swap(old, new, is_restart=is_restart), name=f"replace '{old.name}'")

    async def _swap(self, old: ManagedServer, new: ManagedServer, *, is_restart: bool) -> None:
        with caused_by(SETTINGS):
            await self._end(old)
            if self._servers.get(new.name) is new:
                if new in self._to_start and new.refusal is None:  # the user may have stopped it meanwhile
                    new.start()
                new.restarts -= is_restart
                self.publish_changed(new.name)
            self._to_start.discard(new)

    async def _remove(self, server: ManagedServer) -> None:
        with caused_by(SETTINGS):
            await self._end(server)
        if server.name in self._servers:  # added again meanwhile
            self.publish_changed(server.name)
        else:
            self._bus.publish(ServerRemoved(server.name))

    async def _end(self, server: ManagedServer) -> None:
        await server.stop()
        self._leaving.remove(server)

    # making one

    def _make(self, name: str, config: MCPServerConfig, builtin: MemoryServer | None = None) -> ManagedServer:
        self.changes += 1
        entry = ServerEntry(name, config, self._hash(name, config), self._config.file_server(name), builtin is not None)
        server = ManagedServer(
            entry,
            log=ServerLog(partial(self._keep_output, name)),
            make_copies=partial(self._make_copies, builtin=builtin),
            make_idle_stop=self._make_idle_stop,
        )
        if (since := self._stops.since(name)) is not None:
            server.keep_stopped(since)
        return server

    def _make_copies(self, server: ManagedServer, *, builtin: MemoryServer | None) -> ServerCopy | CopiesByProject:
        make_instance = partial(self._instances.make, builtin=builtin)
        if not server.config.deferred_startup:
            return ServerCopy(server, None, make_instance)
        source, on_idle_changed = self._get_projects, self._instances.publish_state
        return CopiesByProject(server, make_instance, source=source, on_idle_changed=on_idle_changed)

    def _hash(self, name: str, config: MCPServerConfig) -> str:
        """Returns the hash of an entry. The same entry is another program in another project's folder."""
        file, own = self._config.file_server(name), config_hash(config)
        return digest_of([own, file.folder]) if file and file.folder else own

    def _make_idle_stop(self, server: ManagedServer) -> IdleStop:
        limit_s = partial(self._idle_limit_s, server)
        return IdleStop(groups=lambda: server.groups, limit_s=limit_s, is_wanted=self._is_wanted, deadlines=self._deadlines)

    def _idle_limit_s(self, server: ManagedServer) -> float | None:
        """Returns the idle limit of a server, in seconds. A server that starts with Tooltray stays, and a removed one is being ended
        anyway.
        """
        is_there = self._servers.get(server.name) is server
        stays = self.is_default(server.name) and not server.config.deferred_startup if is_there else True
        return None if stays else server.config.idle_stop

    def _is_current(self, server: ManagedServer) -> bool:
        """Reports whether no newer server has this server's name; also true for a removed server."""
        return self._servers.get(server.name, server) is server

    async def _before_start(self, copy: ServerCopy) -> None:
        for predecessor in [each for each in self._leaving if each.name == copy.server.name]:
            await predecessor.stop()  # the successor may need its port or its database
        if copy.project:
            await self._get_projects().check(copy.project)


async def _both(saved: Awaitable[None], swapped: Awaitable[None] | None) -> None:
    await saved
    if swapped is not None:
        await swapped


def _by_person() -> AbstractContextManager[None]:
    """Marks starts and stops inside the block as caused by the user, or by a program in the user's place."""
    return caused_by(PERSON, asker_name() or BY_PERSON)
