"""sdk_transport.py, sdk_server.py, server_thread.py, streams.py"""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.fakes import sdk_packages
from tests.fakes.heard import PATIENCE_S, Record
from tests.fakes.sdk_packages import GROUP, importable, install
from tests.unit.servers.transports.test_transport_table import Given

from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, dump, success
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.inmemory import sdk_transport
from tooltray.servers.transports.inmemory.sdk_transport import SdkTransport, find, listed, make_importable
from tooltray.servers.transports.inmemory.streams import FULL_BYTES
from tooltray.servers.transports.server_output import SEPARATOR, new_log
from tooltray.servers.transports.transport_table import make_transport

LEGACY = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
QUICK = {"grace_after_end_s": 0.05, "grace_after_cancel_s": 0.05}


class Inside:
    """One server behind its transport."""

    def __init__(self, transport: SdkTransport, log: Any) -> None:
        self.transport, self.log = transport, log
        self.heard: Record[Envelope] = Record()
        self.dispatcher = RawDispatcher(
            name="inside",
            deadlines=DeadlineWheel(),
            answer=self._answer,
            take_notification=self.heard.add,
            is_server=True,
            max_line_bytes=2**26,
        )

    async def _answer(self, request: Envelope) -> Envelope:
        return success({})

    async def open(self, *, greets: bool = True) -> None:
        await self.transport.open(self.dispatcher)
        if greets:
            await self.ask("initialize", LEGACY)
            self.dispatcher.send_notification("notifications/initialized")

    async def ask(self, method: str, params: Any = None) -> Any:
        """The result; waits for it."""
        async with asyncio.timeout(PATIENCE_S):
            reply = await self.dispatcher.call(method, dump(params or {}))
        assert reply.error is None or not bytes(reply.error), bytes(reply.error)
        return json.loads(bytes(reply.result))

    async def call(self, tool: str, **arguments: Any) -> str:
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    async def fails(self, tool: str, **arguments: Any) -> str:
        """What whoever calls a tool reads, of a server that ends meanwhile."""
        async with asyncio.timeout(PATIENCE_S):
            reply = await self.dispatcher.call("tools/call", dump({"name": tool, "arguments": arguments}))
        return json.loads(bytes(reply.error))["message"]

    async def lost(self) -> str:
        async with asyncio.timeout(PATIENCE_S):
            await self.dispatcher.closed.wait()
        return str(self.dispatcher.closed_because)

    async def close(self) -> None:
        await self.dispatcher.close("Tooltray stopped it")
        await self.transport.close()


Start = Callable[..., Any]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Installs a package, starts the server that it brings, and ends it behind the test."""
    running: list[Inside] = []

    async def begin(code: str = sdk_packages.TOOLS, what: str = "make", args: tuple[str, ...] = (), **options: Any) -> Inside:
        name = f"thing-{len(running)}"
        sdk_packages.install(tmp_path / "packages", name, code, points={name: what})
        return await again(name, args, **options)

    async def again(
        name: str, args: tuple[str, ...] = (), *, greets: bool = True, mask: Any = str, log: Any = None, **graces: float
    ) -> Inside:
        log = new_log() if log is None else log
        offered = find(name, tmp_path / "packages")
        server = Inside(SdkTransport(name="thing", offered=offered, args=args, log=log, mask=mask, **graces), log)
        running.append(server)
        await server.open(greets=greets)
        return server

    begin.again = again  # type: ignore[attr-defined]
    with sdk_packages.importable():
        yield begin
        for server in running:
            await server.close()


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("server '"):
            thread.join(PATIENCE_S)
    assert type(sys.stdout).__module__ != "tooltray.servers.transports.inmemory.streams"


async def test_its_tools_are_listed_and_called(start: Start) -> None:
    server = await start()
    assert "say" in [tool["name"] for tool in (await server.ask("tools/list"))["tools"]]
    assert await server.call("say", text="it is ünder 'way'") == "it is ünder 'way'"


async def test_it_speaks_the_modern_era_too(start: Start) -> None:
    server = await start(greets=False)
    assert "2026-07-28" in (await server.ask("server/discover", MODERN))["supportedVersions"]
    assert "say" in [tool["name"] for tool in (await server.ask("tools/list", MODERN))["tools"]]


async def test_a_callable_gets_the_arguments(start: Start) -> None:
    server = await start(args=("--root", "/x y"))
    assert await server.call("arguments") == "--root /x y"


async def test_an_object_and_a_low_level_server_are_servers(start: Start) -> None:
    made = sdk_packages.TOOLS + "\nserver = make()\nlow = make()._lowlevel_server\n"
    assert await (await start(made, "server")).call("say", text="high") == "high"
    assert await (await start(made, "low")).call("say", text="low") == "low"


async def test_it_runs_in_a_thread_of_its_own(start: Start) -> None:
    server = await start()
    assert await server.call("loop_id") != str(id(asyncio.get_running_loop()))


async def test_an_object_lives_in_one_loop_and_what_a_callable_makes_in_one_each(start: Start) -> None:
    made = sdk_packages.TOOLS + "\nserver = make()\n"
    first = await start(made, "server")
    second = await start.again("thing-0")  # type: ignore[attr-defined]
    assert await first.call("loop_id") == await second.call("loop_id")
    await first.close()
    assert await second.call("say", text="goes on") == "goes on"
    third = await start()
    fourth = await start.again("thing-2")  # type: ignore[attr-defined]
    assert await third.call("loop_id") != await fourth.call("loop_id")


async def test_large_messages_and_many_calls_at_once_get_through(start: Start) -> None:
    server = await start()
    large = "x" * (3 * 2**20)
    assert await server.call("say", text=large) == large
    texts = [f"{number}" for number in range(200)]
    assert await asyncio.gather(*(server.call("say", text=text) for text in texts)) == texts


async def test_what_it_prints_and_logs_goes_to_its_own_log(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    server = await start()
    await server.call("noise")
    print("of the hub")
    await server.close()
    of_loop = ["of its loop", "lost", "ValueError: no"]
    assert list(server.log) == ["printed", "on stderr", "as bytes", "ERROR: of.server: logged", "in a thread", *of_loop]
    assert capsys.readouterr().out == "of the hub\n"
    again = await start.again("thing-0", log=server.log)  # type: ignore[attr-defined]
    await again.call("noise")
    await again.close()
    assert [line.startswith(SEPARATOR) for line in again.log] == [False] * 8 + [True] + [False] * 8


async def test_secrets_in_its_words_are_masked(start: Start) -> None:
    server = await start("raise ValueError('the key is s3cr3t')", greets=False, mask=lambda text: text.replace("s3cr3t", "****"))
    assert "s3cr3t" not in await server.lost()
    assert "s3cr3t" not in "\n".join(server.log) + str(server.transport.failure)
    assert "ValueError: the key is ****" in str(server.transport.failure)


@pytest.mark.parametrize(
    ("code", "what", "says"),
    [
        ("import nothing_of_this_name", "make", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("import sys; sys.exit('no display')", "make", "It called sys.exit(no display)"),
        ("def make(args): raise OSError('no disk')", "make", "OSError: no disk"),
        ("def make(): pass", "make", "returns a builtins.NoneType"),
        ("make = dict.fromkeys", "make", "returns a builtins.dict"),
        ("make = 7", "make", "gives a builtins.int, not a server of the mcp SDK 2.3"),
        ("def make(args): return 'x'", "make", "returns a builtins.str, not a server of the mcp SDK 2.3"),
        ("async def make(args): pass", "make", "is an asynchronous function"),
        ("", "make", "has no attribute 'make'"),
    ],
)
async def test_what_cannot_be_made_says_why_and_is_not_tried_again(start: Start, code: str, what: str, says: str) -> None:
    server = await start(code, what, greets=False)
    assert says in await server.lost()
    failure = server.transport.failure
    assert failure is not None
    assert failure.is_lasting
    assert failure.problem.title.startswith("'thing' did not start: ")
    assert says in failure.problem.title


async def test_a_callable_without_parameters_is_called_without_arguments(start: Start) -> None:
    server = await start(sdk_packages.TOOLS + "\nplain = lambda: make()\n", "plain")
    assert await server.call("arguments") == ""


@pytest.mark.parametrize("what", ["server", "plain"])
async def test_arguments_for_what_takes_none_are_refused(start: Start, what: str) -> None:
    server = await start(sdk_packages.TOOLS + "\nserver = make()\nplain = lambda: make()\n", what, ("--x",), greets=False)
    assert "takes no arguments" in await server.lost()


@pytest.mark.parametrize(
    ("how", "says"),
    [("exit", "It called sys.exit(3)"), ("stop", "It stopped its event loop"), ("cancel", "It cancelled its own task")],
)
async def test_what_ends_a_server_that_runs_ends_it_alone_and_is_said(start: Start, how: str, says: str) -> None:
    server = await start()
    assert says in await server.fails("end", how=how)
    failure = server.transport.failure
    assert failure is not None
    assert not failure.is_lasting
    assert failure.problem.title == f"'thing' ended: {says}"
    again = await start()
    assert await again.call("say", text="back") == "back"


async def test_a_lifespan_that_raises_says_why(start: Start) -> None:
    code = """
from contextlib import asynccontextmanager
from mcp.server import MCPServer
@asynccontextmanager
async def lifespan(server):
    raise RuntimeError("no database")
    yield
def make(args): return MCPServer("x", lifespan=lifespan)
"""
    server = await start(code, greets=False)
    assert "RuntimeError: no database" in await server.lost()


async def test_what_was_written_before_the_end_arrives(start: Start) -> None:
    code = """
import asyncio, sys
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
def make(args):
    server = MCPServer("x")
    @server.tool()
    async def flood(ctx: Context) -> str:
        for _ in range(100):
            await ctx.session.send_tool_list_changed()
        for _ in range(10):
            await asyncio.sleep(0)
        sys.exit(0)
    return server
"""
    server = await start(code)
    assert "sys.exit(0)" in await server.fails("flood")
    assert [each.method for each in server.heard.all] == ["notifications/tools/list_changed"] * 100


@pytest.mark.expected_warnings("does not end; its thread is abandoned")
async def test_one_that_blocks_for_ever_holds_nothing_up(start: Start, tmp_path: Path) -> None:
    server = await start(**QUICK)
    pending = server.dispatcher.start_call("tools/call", dump({"name": "block", "arguments": {}}))
    await asyncio.sleep(0)
    for size in (FULL_BYTES, 10):  # the first fills what it does not read
        server.dispatcher.send_notification("x", dump({"large": "y" * size}))
    assert 10 < server.dispatcher.unsent.bytes < 200
    module = sys.modules[find("thing-0", tmp_path / "packages").entry_point.module]
    async with asyncio.timeout(PATIENCE_S):
        await server.close()
    assert bytes((await server.dispatcher.calls.outcome(pending)).error)
    assert "its thread keeps its resources" in server.log[-1]
    again = await start.again("thing-0")  # type: ignore[attr-defined]
    assert await again.call("say", text="new") == "new"
    module.GATE.set()


async def test_closing_waits_until_its_thread_has_cleaned_up(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends while such a thread works may crash at its very end."""
    code = """
import asyncio, threading
from mcp.server import MCPServer
BEGAN, GATE, KEPT = threading.Event(), threading.Event(), []
async def stay():
    try:
        await asyncio.Event().wait()
    finally:
        BEGAN.set()
        GATE.wait(60)
def make(args):
    server = MCPServer("x")
    @server.tool()
    async def begin() -> str:
        KEPT.append(asyncio.create_task(stay()))
        await asyncio.sleep(0)
        return "begun"
    return server
"""
    monkeypatch.setattr(sdk_transport, "GRACE_FOR_THREAD_S", PATIENCE_S)
    server = await start(code)
    assert await server.call("begin") == "begun"
    module = sys.modules[find("thing-0", tmp_path / "packages").entry_point.module]
    closing = asyncio.create_task(server.close())
    assert await asyncio.to_thread(module.BEGAN.wait, PATIENCE_S)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not closing.done()
    module.GATE.set()
    await closing
    assert not [thread for thread in threading.enumerate() if thread.name == "server 'thing'"]


async def test_closing_twice_and_before_it_was_opened_is_no_error(start: Start, tmp_path: Path) -> None:
    server = await start()
    await server.close()
    await server.close()
    assert server.transport.failure is None
    never = SdkTransport(name="x", offered=find("thing-0", tmp_path / "packages"), args=(), log=new_log(), mask=str)
    await never.close()


async def test_a_request_that_the_sdk_cannot_read_is_answered(start: Start) -> None:
    server = await start()
    deep = Raw(b'{"name":"say","arguments":{"text":' + b"[" * 300 + b"]" * 300 + b"}}")
    async with asyncio.timeout(PATIENCE_S):
        reply = await server.dispatcher.call("tools/call", deep)
    assert b"cannot read this request" in bytes(reply.error)
    assert await server.call("say", text="goes on") == "goes on"


async def test_a_reply_that_json_cannot_carry_becomes_an_error(start: Start) -> None:
    code = """
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
def make(args):
    server = MCPServer("x")
    @server.tool(structured_output=False)
    async def odd(ctx: Context) -> str:
        await ctx.session.send_progress_notification("token", 1.0, message=chr(0xD800))
        return chr(0xD800)
    return server
"""
    server = await start(code)
    assert "not JSON" in await server.fails("odd")
    assert server.heard.all == []


# from the settings


def order(given: Given, folder: Path, **entry: Any) -> Any:
    made = given.order(**{"command": "thing", "type": "inmemory", **entry})
    return replace(made, packages=folder, log=new_log())


async def test_the_settings_make_such_a_transport(tmp_path: Path) -> None:
    sdk_packages.install(tmp_path, "thing")
    assert isinstance(await make_transport(order(Given(), tmp_path)), SdkTransport)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"command": None}, "'thing' names no server"),
        ({"command": "other"}, "no installed package offers the server 'other'"),
        ({"cwd": "/"}, "'thing' cannot have `cwd`"),
    ],
)
async def test_what_cannot_be_in_memory_is_refused_before_anything_is_imported(tmp_path: Path, entry: dict[str, Any], says: str) -> None:
    sdk_packages.install(tmp_path, "thing")
    with pytest.raises(CannotStart, match=says):
        await make_transport(order(Given(), tmp_path, **entry))


async def test_an_environment_is_refused(tmp_path: Path) -> None:
    sdk_packages.install(tmp_path, "thing")
    made = order(Given(), tmp_path)
    with pytest.raises(CannotStart, match="`env`"):
        await make_transport(replace(made, resolved=replace(made.resolved, env={"A": "1"})))


def test_each_server_of_a_package_is_listed_with_what_it_says_of_itself(tmp_path: Path) -> None:
    install(tmp_path, "two-things", points={"first": "make", "second": "make"}, summary="Does two things")
    install(tmp_path, "other-thing", "raise SystemExit")
    found = [(each.name, each.package, each.version, each.summary, each.problem) for each in listed(tmp_path)]
    assert found == [
        ("first", "two-things", "1.2", "Does two things", None),
        ("other-thing", "other-thing", "1.2", "", None),
        ("second", "two-things", "1.2", "Does two things", None),
    ]
    assert not [name for name in sys.modules if name.startswith("sdk_package_")]


def test_without_a_folder_there_is_what_this_python_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "thing")
    assert listed() == []
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [each.name for each in listed()] == ["thing"]
    assert [each.name for each in listed(tmp_path)] == ["thing"], "the same package twice is one"


def test_a_name_that_two_packages_claim_is_nobody_s(tmp_path: Path) -> None:
    for package in ("one", "other"):
        install(tmp_path, package, points={"thing": "make"})
    assert [str(each.problem and each.problem.message) for each in listed(tmp_path)] == ["one, other", "one, other"]
    with pytest.raises(CannotStart, match="more than one package offers the server 'thing'"):
        find("thing", tmp_path)


def test_what_is_not_there_is_said_with_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=GROUP):
        find("thing", tmp_path / "nothing")


def test_a_package_whose_description_is_damaged_hides_no_other(tmp_path: Path) -> None:
    install(tmp_path, "good")
    install(tmp_path, "bad")
    (tmp_path / "bad-1.2.dist-info" / "entry_points.txt").write_bytes(b"\xff\xfe[")
    install(tmp_path, "bare")
    (tmp_path / "bare-1.2.dist-info" / "METADATA").unlink()
    assert "good" in [each.name for each in listed(tmp_path)]


def test_a_folder_goes_last_on_the_path_of_modules_and_once(tmp_path: Path) -> None:
    install(tmp_path, "thing")
    with importable():
        for _ in range(2):
            make_importable(find("thing", tmp_path))
        assert sys.path[-1] == str(tmp_path)
        assert sys.path.count(str(tmp_path)) == 1
    before = list(sys.path)
    make_importable(replace(find("thing", tmp_path), folder=""))
    assert sys.path == before
