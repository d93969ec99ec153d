"""Connects once with an entry to test it: returns its tools and their tokens, or why it does not work and how to fix it. Nothing is saved,
and clients cannot call the tested server, which is not one of the hub's servers. Its process always ends with the test.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from tooltray.catalogue import token_counts
from tooltray.catalogue.definition import ToolDefinition, read_definitions
from tooltray.catalogue.list_pages import list_all
from tooltray.catalogue.offer import TOOLS
from tooltray.config.settings.given_entries import check_runs_outside, read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, config_hash
from tooltray.foundation.errors import Conflict, Problem, TooltrayError
from tooltray.foundation.events import ServerTestOutput
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.entries import NextStep, ServerTest, ToolSize
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.launch.command_lookup import downloads
from tooltray.servers.transports.server_output import LOG_LINES, last_attempt
from tooltray.servers.transports.transport_table import is_remote
from tooltray.servers.upstream.idle_stop import IdleStop
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.instance_factory import ServerTransports
from tooltray.servers.upstream.instance_status import Program
from tooltray.servers.upstream.managed_server import ManagedServer, ServerEntry
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_copy import ServerCopy
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.servers.upstream.upstream_services import UpstreamServices
from tooltray.sources.doctor.doctor import Doctor

MOST_AT_ONCE = 4  # each test is a process; users watch one
LISTED_WITHIN_S = 30.0  # the user waits for it
EXAMINED_WITHIN_S = 10.0  # the search for the reason reads the disk, and contacts a host that may not answer
OUTPUT_LINES = 40  # lines of its stderr in the result
LONGEST_DESCRIPTION = 200  # characters, for a tooltip
REPORTED_EVERY_S = 0.1  # lines come in bursts
Count = Callable[[Sequence[str]], list[int] | None]


class ServerTests:
    """The tests of servers; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        test_transports: ServerTransports,
        services: UpstreamServices,
        doctor: Doctor,
        count: Count = token_counts.counted,
    ) -> None:
        """
        Args:
            test_transports: begin no sign-in.
            count: see token_counts.counted; blocks.
        """
        self._config, self._servers, self._transports = config, servers, test_transports
        patience = replace(services.patience, restart_after_s=())  # a test is a single attempt
        self._services, self._doctor, self._count = replace(services, patience=patience, ask_person=None), doctor, count
        self._running: dict[str, asyncio.Task[ServerTest]] = {}

    async def run(self, test: str, name: str, entry: Mapping[str, object] | None) -> ServerTest:
        """Implements ServersApi.test_server.

        Args:
            entry: None for the server's present entry.
        """
        if test in self._running:
            raise Conflict(Phrase("this test runs already"), hint=Phrase("Wait for it, or stop it."))
        if len(self._running) >= MOST_AT_ONCE:
            raise TooltrayError(Phrase("{count} tests run already", count=MOST_AT_ONCE), hint=Phrase("Wait for one, or stop it."))
        server = self._made(test, name, entry)
        task = self._running[test] = self._services.spawn(self._run(server), name=f"test '{name}'")
        try:
            await asyncio.wait({task})
        finally:
            del self._running[test]
            task.cancel()
        return ServerTest(name, False, problem=Problem(Phrase("The test was stopped"))) if task.cancelled() else task.result()

    def cancel(self, test: str) -> None:
        """Ends a test that still runs."""
        if task := self._running.get(test):
            task.cancel()

    def _made(self, test: str, name: str, entry: Mapping[str, object] | None) -> ManagedServer:
        there = self._servers.find(name) if entry is not None else self._servers.get(name)
        file = there.file if there else None
        config = read_entry(name, entry) if entry is not None else self._servers.get(name).config
        if file is not None:
            check_runs_outside(name, config)
        found = ServerEntry(name, config.model_copy(update={"disable": False}), config_hash(config), file)
        return ManagedServer(
            found,
            log=_ReportingLog(partial(self._tell, test)),
            make_copies=lambda server: ServerCopy(server, _project_of(there, config), self._make_instance),
            make_idle_stop=lambda server: IdleStop(
                groups=lambda: server.groups, limit_s=lambda: None, is_wanted=lambda client: False, deadlines=self._services.deadlines
            ),
        )

    def _tell(self, test: str, lines: tuple[str, ...]) -> None:
        self._services.bus.publish(ServerTestOutput(test, lines))

    def _make_instance(self, copy: ServerCopy, era: Era, owner: Session | None) -> Instance:
        server = copy.server
        command, arguments = server.config.command or "", server.config.arguments
        program = Program(
            name=server.name,
            make_transport=lambda: self._transports.make(copy),
            is_launcher=downloads(command, arguments),
            is_remote=is_remote(server.config.transport),
            is_isolated=False,
            is_known_legacy=self._services.eras.eras(server.config_hash) == {Era.LEGACY.value},
            only_era=server.config.only_era,
            is_first_start=True,
        )
        return Instance(
            program=lambda: program, wants=era, services=self._services, on_changed=_nothing, on_failed=_nothing, on_notification=_nothing
        )

    async def _run(self, server: ManagedServer) -> ServerTest:
        began, (copy,) = time.monotonic(), server.copies
        instance = copy.first
        try:
            if server.config.deferred_startup and copy.project is None:
                return ServerTest(server.name, False, problem=_lacks_project(server.name))
            instance.start()
            await instance.settled()
            if (client := instance.client) is None:
                return await self._failed(server, instance.problem, time.monotonic() - began)
            try:
                tools = await self._listed(client)
            except TooltrayError as error:
                return await self._failed(server, error.problem, time.monotonic() - began)
            return await self._worked(server, client, tools, time.monotonic() - began)
        finally:
            await instance.stop()

    async def _listed(self, client: McpClient) -> list[ToolDefinition]:
        try:
            async with asyncio.timeout(LISTED_WITHIN_S):
                raws = await list_all(client, TOOLS.method, TOOLS.member)
        except TimeoutError:
            title = Phrase("'{name}' does not list its tools", name=client.name)
            raise TooltrayError(title, Phrase("No answer for {seconds} s", seconds=f"{LISTED_WITHIN_S:.0f}")) from None
        found = await finish_in_thread(read_definitions, raws)
        return list(found.tools)

    async def _worked(self, server: ManagedServer, client: McpClient, tools: Sequence[ToolDefinition], took_s: float) -> ServerTest:
        texts = [token_counts.counted_text(tool.raw) for tool in tools]
        counts = await finish_in_thread(self._count, texts)
        sizes = counts if counts is not None else [token_counts.estimated(len(text.encode("utf-8", "replace"))) for text in texts]
        return ServerTest(
            server.name,
            True,
            took_s,
            tuple(ToolSize(tool.name, size, tool.description[:LONGEST_DESCRIPTION]) for tool, size in zip(tools, sizes, strict=True)),
            tokens=sum(sizes),
            is_estimated=counts is None,
            version=client.greeting.version,
            output=_last(server),
        )

    async def _failed(self, server: ManagedServer, problem: Problem | None, took_s: float) -> ServerTest:
        steps: tuple[NextStep, ...] = ()
        exit_code = server.copies[0].first.exit_code
        with contextlib.suppress(TimeoutError, TooltrayError):
            async with asyncio.timeout(EXAMINED_WITHIN_S):
                found = await self._doctor.examine(server, tool_count=0)
                problem, exit_code = problem or found.problem, found.exit_code
                steps = tuple(NextStep(each.kind, each.title, each.value) for each in found.remedies if each.kind != "start")
        problem = problem or Problem(Phrase("'{name}' did not answer", name=server.name))
        return ServerTest(server.name, False, took_s, problem=problem, remedies=steps, output=_last(server), exit_code=exit_code)


class _ReportingLog(deque[str]):
    """A server's log that reports new lines, several at once. Belongs to an event loop."""

    def __init__(self, tell: Callable[[tuple[str, ...]], None]) -> None:
        super().__init__(maxlen=LOG_LINES)
        self._tell, self._new = tell, list[str]()

    def append(self, line: str) -> None:
        super().append(line)
        if not self._new:
            asyncio.get_running_loop().call_later(REPORTED_EVERY_S, self._on_time)
        self._new.append(line)

    def _on_time(self) -> None:
        lines, self._new = tuple(self._new), []
        self._tell(lines)


def _project_of(there: ManagedServer | None, config: MCPServerConfig) -> SessionProject | None:
    """Returns a project for which a deferred server runs now, or was to run last."""
    if not config.deferred_startup or there is None or there.by_project is None:
        return None
    return next((copy.project for copy in there.copies if copy.project), there.by_project.chosen)


def _lacks_project(name: str) -> Problem:
    title = Phrase("'{name}' starts for a project, and none is known", name=name)
    return Problem(title, hint=Phrase("Choose a folder for it once, then test again."))


def _last(server: ManagedServer) -> tuple[str, ...]:
    return tuple(last_attempt(server.log))[-OUTPUT_LINES:]


def _nothing(*_anything: object) -> None: ...
