"""What one tool call costs the hub's own code: everything between an AI client's channel and a server's, in one process, without either.

Usage: python -m tests.bench.micro [--calls N] [--in-flight N] [--era legacy|modern] [--server-era legacy|modern] [--no-log]
       [--profile [SORT]]

For judging a change on a machine on which others work: it prints the processor time that this thread used for a call (the fastest of many
short rounds, which other programs disturb last), and with --profile the number of Python function calls, which nothing disturbs, and
where they are. "until sent on" and "until answered" are the two parts that a client waits for; the whole has what comes after them too.
System calls and waiting are not in it; `run.py` measures those.
"""

import argparse
import asyncio
import cProfile
import gc
import pstats
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Raw
from tests.fakes import hub_parts

from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import dump, load
from tooltray.records.log.structured_log import StructuredLog

ROUND = 250  # calls; short enough that some rounds are undisturbed
TOOL = "echo"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
RESULT = b'{"content":[{"type":"text","text":"%b"}]}' % (b"x" * 64)


class _Pipe:
    """A channel that hands on what is written."""

    def __init__(self, write: Callable[[bytes | memoryview], None]) -> None:
        self.write = write

    def close(self) -> None:
        pass


class EchoServer:
    """A transport whose server answers a call as soon as the loop turns, by the few bytes around the id. Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    on_call: Callable[[], None] = staticmethod(lambda: None)
    """Told when a call has reached it."""

    def __init__(self, *, era: str) -> None:
        self._era = era
        self._hub: Any = None
        self._loop = asyncio.get_running_loop()
        self._result = RESULT if era == "legacy" else b'{"resultType":"complete",' + RESULT[1:]

    async def open(self, dispatcher: Any) -> None:
        self._hub = dispatcher
        dispatcher.attach(_Pipe(self.take))

    async def close(self) -> None:
        pass

    def take(self, data: bytes | memoryview) -> None:
        for line in bytes(data).splitlines():
            self._take_line(line)

    def _take_line(self, line: bytes) -> None:
        if b'"tools/call"' not in line:
            self._greet(load(Raw(line)))
            return
        self.on_call()
        start = line.index(b'"id":') + 5
        id = line[start : line.index(b",", start)]
        self._loop.call_soon(self._hub.feed, b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (id, self._result))

    def _greet(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            return
        reply = {"error": {"code": -32601, "message": "Method not found"}}
        if message["method"] == "tools/list":
            reply = {"result": {"tools": [{"name": TOOL, "inputSchema": {"type": "object"}}]}}
        elif self._era == "modern" and message["method"] == "server/discover":
            reply = {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}}
        elif self._era == "legacy" and message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}}
            reply = {"result": result}
        line = bytes(dump({"jsonrpc": "2.0", "id": message["id"], **reply}))
        self._loop.call_soon(self._hub.feed, line + b"\n")


class BenchClient:
    """An AI client's channel that sends the next call when one is answered."""

    def __init__(self, dispatcher: Any, era: str) -> None:
        self._dispatcher, self._era = dispatcher, era
        self._loop = asyncio.get_running_loop()
        params: dict[str, Any] = {"name": TOOL, "arguments": {"text": "x" * 64}}
        if era == "modern":
            params["_meta"] = META
        self._tail = b',"method":"tools/call","params":%b}\n' % bytes(dump(params))
        self._id = self._left = self._open = 0
        self._done: asyncio.Future[None] = self._loop.create_future()
        self.sent_at = 0.0
        self.answered: list[float] = []
        dispatcher.attach(self)

    async def greet(self) -> None:
        if self._era == "legacy":
            params = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "bench"}, "capabilities": {}}
            await self._tell({"method": "initialize", "params": params})
            self._dispatcher.feed(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        await self._tell({"method": "tools/list", "params": {} if self._era == "legacy" else {"_meta": META}})

    async def _tell(self, message: dict[str, Any]) -> None:
        self._left, self._open, self._done = 0, 1, self._loop.create_future()
        self._dispatcher.feed(bytes(dump({"jsonrpc": "2.0", "id": 0, **message})) + b"\n")
        await self._done

    async def calls(self, count: int, in_flight: int) -> None:
        """Makes `count` calls, so many of them at a time."""
        self._left, self._open, self._done = count, 0, self._loop.create_future()
        for _ in range(min(in_flight, count)):
            self._send()
        await self._done
        for _ in range(4):  # what is done after the answer belongs to the call
            await asyncio.sleep(0)

    def _send(self) -> None:
        if not self._left:
            return
        self._left -= 1
        self._open += 1
        self._id += 1
        self.sent_at = time.thread_time()
        self._dispatcher.feed(b'{"jsonrpc":"2.0","id":%d%b' % (self._id, self._tail))

    def write(self, data: bytes | memoryview) -> None:
        self.answered.append(time.thread_time() - self.sent_at)
        if b'"result"' not in bytes(data):
            raise SystemExit(f"the call failed: {bytes(data)!r}")
        replies = bytes(data).count(b"\n")  # those of one turn of the loop come together
        self._open -= replies
        for _ in range(min(replies, self._left)):
            self._loop.call_soon(self._send)
        if not self._left and not self._open and not self._done.done():
            self._done.set_result(None)

    def close(self) -> None:
        pass


async def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="ttm") as folder:
        servers: list[EchoServer] = []

        def start_process(**_: Any) -> Any:
            servers.append(EchoServer(era=options.server_era))
            return servers[-1]

        home = Path(folder) / "home"
        log = StructuredLog(None if options.no_log else home / "logs", execution_id="bench")
        servers_of = {"s": hub_parts.entry("echo")}
        hub = hub_parts.hub_parts(home, servers=servers_of, default=("s",), start_process=start_process, waits={"log": log})
        async with hub as parts:
            await serve(options, parts, servers)


async def serve(options: argparse.Namespace, parts: hub_parts.HubParts, servers: list[EchoServer]) -> None:
    parts.news._stats_told_after_s = 1.0  # as in the product; for tests it is 0
    sessions = parts.sessions
    parts.log.start()
    await parts.presenter.initialize()
    dispatcher = sessions.open_client(None).dispatcher
    client = BenchClient(dispatcher, options.era)
    try:
        await client.greet()
        await measure(options, client, servers)
    finally:
        dispatcher.connection_lost("the end")
        await sessions.close("the end", grace_s=0)
        parts.log.close()


async def measure(options: argparse.Namespace, client: BenchClient, servers: list[EchoServer]) -> None:
    sent_on: list[float] = []
    for server in servers:
        server.on_call = lambda: sent_on.append(time.thread_time() - client.sent_at)  # type: ignore[method-assign]
    await client.calls(2 * ROUND, options.in_flight)  # warm
    if options.profile:
        for server in servers:
            server.on_call = lambda: None  # type: ignore[method-assign]
        await profile(options, client)
        return
    figures: list[tuple[float, float, float]] = []
    for _ in range(max(1, options.calls // ROUND)):
        sent_on.clear()
        client.answered.clear()
        gc.collect()
        started = time.thread_time()
        await client.calls(ROUND, options.in_flight)
        whole = (time.thread_time() - started) / ROUND
        figures.append((whole, median(sent_on), median(client.answered)))
    whole, forth, back = (min(each) * 1e6 for each in zip(*figures, strict=True))
    parts = f"; until sent on {forth:.1f}, until answered {back:.1f}" if options.in_flight == 1 else ""
    print(f"{options.era} client, {options.server_era} server, {options.in_flight} in flight: {whole:.1f} us a call{parts}")


async def profile(options: argparse.Namespace, client: BenchClient) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    await client.calls(options.calls, options.in_flight)
    profiler.disable()
    found = pstats.Stats(profiler).strip_dirs().sort_stats(options.profile)
    print(f"{found.total_calls / options.calls:.1f} function calls a tool call")  # type: ignore[attr-defined]
    found.print_stats(45)


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def main() -> None:
    hub_parts.ManualWheel = DeadlineWheel  # type: ignore[assignment, misc]  # the product's own
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--in-flight", type=int, default=1)
    parser.add_argument("--era", choices=["legacy", "modern"], default="legacy", help="of the client")
    parser.add_argument("--server-era", choices=["legacy", "modern"], help="the client's, unless told otherwise")
    parser.add_argument("--no-log", action="store_true", help="nothing is written to a file")
    parser.add_argument("--profile", nargs="?", const="tottime", help="counts function calls; SORT as pstats has it")
    options = parser.parse_args()
    options.server_era = options.server_era or options.era
    sys.setswitchinterval(0.0005)
    asyncio.run(run(options))


main()
