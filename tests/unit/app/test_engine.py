"""engine.py: a whole hub in this process, reached by its socket."""

import asyncio
import contextlib
import json
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import fake_server
from tests.fakes.heard import PATIENCE_S
from tests.fakes.modes import has_mode

from tooltray.app import engine as engine_module
from tooltray.app.engine import ENDED, Engine, HubFailed, HubOptions, settle_installation
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ProblemReported, ServerChanged
from tooltray.foundation.home.home import Home
from tooltray.foundation.home.hub_place import HubLock, HubRunning
from tooltray.foundation.installs import old_versions
from tooltray.foundation.installs.installation import WINDOWS_SETUP, Installation, OwnProgram
from tooltray.foundation.installs.installations import Installations
from tooltray.foundation.installs.old_versions import SUPERSEDED, remove_old_versions
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.foundation.snapshots.servers import ServerState

FAKE = {"command": sys.executable, "args": ["-I", fake_server.__file__], "autoApprove": ["all"]}


class Peer:
    """A program at the other end of the hub's socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def connect(cls, socket: Path, **hello: Any) -> "Peer":
        peer = cls(*await asyncio.open_unix_connection(str(socket), limit=1 << 20))
        peer.send(tooltray=1, session="0" * 32, server=None, profile=None, cwd="/", **{"role": "client", **hello})
        return peer

    def send(self, **message: Any) -> None:
        self.writer.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE_S):
            line = await self.reader.readline()
        assert line, "Tooltray closed the connection"
        message: dict[str, Any] = json.loads(line)
        return message

    async def request(self, method: str, params: Any = None, *, id: Any = 1) -> dict[str, Any]:
        self.send(jsonrpc="2.0", id=id, method=method, params=params or {})
        return await self.receive()

    async def initialize(self, **capabilities: Any) -> dict[str, Any]:
        info = {"name": "t", "version": "1"}
        reply = await self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info})
        self.send(jsonrpc="2.0", method="notifications/initialized")
        return reply

    async def ended(self) -> bytes:
        """What still comes until the hub closes the connection."""
        with contextlib.suppress(ConnectionResetError):  # it has not read all that was sent
            async with asyncio.timeout(PATIENCE_S):
                return await self.reader.read()
        return b""

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


class Hubs:
    """Engines and peers of one test; ends what the test leaves open."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._stack = contextlib.AsyncExitStack()

    def engine(self, home: Home | None = None, **options: Any) -> Engine:
        engine = Engine(home or self.home, HubOptions(**options))
        self._stack.push_async_callback(engine.close)
        return engine

    async def start(self, home: Home | None = None, **options: Any) -> Engine:
        engine = self.engine(home, **options)
        await engine.start()
        return engine

    async def peer(self, home: Home | None = None, **hello: Any) -> Peer:
        return await self._peer((home or self.home).socket, **hello)

    async def control(self, **hello: Any) -> Peer:
        """A command, at the socket for commands."""
        return await self._peer(self.home.control_socket, **{"role": "control", **hello})

    async def _peer(self, socket: Path, **hello: Any) -> Peer:
        peer = await Peer.connect(socket, **hello)
        self._stack.push_async_callback(peer.close)
        return peer

    async def client(self, home: Home | None = None, **capabilities: Any) -> Peer:
        peer = await self.peer(home)
        assert (await peer.initialize(**capabilities))["result"]["protocolVersion"] == "2025-06-18"
        return peer

    def settings(self, **settings: Any) -> None:
        self.home.root.mkdir(mode=0o700, exist_ok=True)
        self.home.settings.write_text(json.dumps({"version": 1, "secrets": {"backend": "memory"}, **settings}))

    def records(self, event: str | None = None) -> list[dict[str, Any]]:
        """What the structured log says."""
        lines = [line for file in sorted(self.home.logs.glob("*.jsonl")) for line in file.read_text().splitlines()]
        return [record for record in map(json.loads, lines) if event in (None, record["event"])]

    async def close(self) -> None:
        await self._stack.aclose()


@pytest.fixture
async def hubs(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hubs]:
    monkeypatch.setenv("SHELL", "/bin/sh")
    before = sys.getswitchinterval()
    hubs = Hubs(Home(home / ".tooltray"))
    yield hubs
    await hubs.close()
    sys.setswitchinterval(before)


@pytest.fixture
def is_free(hubs: Hubs) -> Callable[[], bool]:
    """Whether another hub could begin in this home, and nothing of the last one is left."""

    def _is_free() -> bool:
        lock = HubLock(hubs.home.lock)
        is_taken = lock.try_take()
        lock.release()
        return is_taken and os.listdir(hubs.home.run) == ["hub.lock"]

    return _is_free


# from start to end


async def test_a_hub_starts_serves_and_ends_in_order(hubs: Hubs, is_free: Callable[[], bool]) -> None:
    engine = await hubs.start()
    told = json.loads(hubs.home.hub_json.read_bytes())
    assert (told["pid"], told["socket"], told["http"], told["kind"]) == (os.getpid(), str(hubs.home.socket), None, "serve")
    assert [path.stat().st_mode & 0o777 for path in (hubs.home.socket, hubs.home.control_socket)] == [0o600, 0o600]
    client = await hubs.client()
    assert [each["name"] for each in (await client.request("tools/list"))["result"]["tools"]] == [
        "collect_feedback",
        "list_servers",
        "server_status",
    ]
    result = (await client.request("tools/call", {"name": "list_servers", "arguments": {}}))["result"]
    assert result["structuredContent"]["servers"][0]["name"] == "hub"
    engine.request_stop("sigterm")
    engine.request_stop("stop")
    assert await engine.serve() == "sigterm"
    await engine.close()
    assert await client.ended() == b""
    assert is_free()
    await engine.close()


async def test_what_a_killed_process_was_just_writing_is_gone_when_the_next_hub_starts(hubs: Hubs) -> None:
    await asyncio.to_thread(hubs.home.prepare)
    left = hubs.home.run / f".http-token.{2**22 + 1}-abcd1234.tmp"  # no process of Linux has such a number
    left.write_bytes(b"a token")
    await hubs.start()
    assert not left.exists()


async def test_a_start_takes_away_the_mark_that_an_uninstall_has_left(hubs: Hubs) -> None:
    hubs.home.prepare()
    hubs.home.mark_removed()
    await hubs.start()
    assert not hubs.home.removed.exists()


async def test_start_and_end_are_recorded(hubs: Hubs) -> None:
    engine = await hubs.start(execution_id="run-7", kind="desktop")
    client = await hubs.client()
    await client.request("tools/list")
    engine.request_stop("stop")
    await engine.close()
    [started], [stopped] = hubs.records("service_started"), hubs.records("service_stopped")
    assert (started["executionId"], started["pid"], started["kind"]) == ("run-7", os.getpid(), "desktop")
    assert (stopped["executionId"], stopped["reason"], stopped["requests"]) == ("run-7", "stop", 2)
    assert hubs.records()[-1] == stopped
    assert len(hubs.records("request_received")) == len(hubs.records("response_sent")) == 2


async def test_every_run_has_an_id_of_its_own(hubs: Hubs) -> None:
    assert hubs.engine().hub.control.execution_id != hubs.engine().hub.control.execution_id


async def test_what_the_hub_logs_is_recorded_while_it_runs_and_no_longer(hubs: Hubs) -> None:
    before = list(logging.getLogger("tooltray").handlers)
    engine = await hubs.start()
    logging.getLogger("tooltray.x").debug("not at this level")
    logging.getLogger("tooltray.x").info("said")
    await engine.close()
    logging.getLogger("tooltray.x").info("too late")
    assert logging.getLogger("tooltray").handlers == before
    assert [record["summary"] for record in hubs.records("log") if record["component"] == "tooltray.x"] == ["said"]


async def test_an_engine_that_was_not_started_can_be_told_to_stop_and_closed(hubs: Hubs) -> None:
    engine = hubs.engine()
    engine.request_stop("stop")
    await engine.close()
    assert not hubs.home.root.exists()


async def test_who_waits_for_the_end_may_give_up(hubs: Hubs, is_free: Callable[[], bool]) -> None:
    engine = await hubs.start()
    serving = asyncio.create_task(engine.serve())
    await asyncio.sleep(0)
    serving.cancel()
    await asyncio.wait({serving})
    engine.request_stop("stop")
    assert await engine.serve() == "stop"
    await engine.close()
    assert hubs.records("service_stopped")[0]["reason"] == "stop"
    assert is_free()


async def test_a_hub_that_ends_without_having_been_told_to_says_that_it_failed(hubs: Hubs) -> None:
    engine = await hubs.start()
    await engine.close()
    assert hubs.records("service_stopped")[0]["reason"] == "failure"


async def test_a_call_in_flight_at_the_end_is_answered_with_the_reason(hubs: Hubs) -> None:
    hubs.settings(mcpServers={"s": FAKE}, defaultServers=["s"])
    engine = await hubs.start()
    client = await hubs.client()
    names = [each["name"] for each in (await client.request("tools/list"))["result"]["tools"]]
    assert "hang" in names
    client.send(jsonrpc="2.0", id="h", method="tools/call", params={"name": "hang", "arguments": {}})
    await client.request("tools/call", {"name": "seen", "arguments": {}}, id=2)
    await engine.close()
    last = json.loads((await client.ended()).splitlines()[-1])
    assert (last["id"], last["error"]["message"]) == ("h", ENDED)


async def test_a_client_that_has_not_said_hello_is_let_go_too(hubs: Hubs) -> None:
    engine = await hubs.start()
    reader, writer = await asyncio.open_unix_connection(str(hubs.home.socket))
    client = await hubs.client()  # the hub has accepted the one before
    await engine.close()
    await client.ended()
    stranger = Peer(reader, writer)
    assert await stranger.ended() == b""
    await stranger.close()


# one hub at a time


async def test_a_second_hub_says_who_runs_and_touches_nothing(hubs: Hubs) -> None:
    first = await hubs.start()
    second = hubs.engine()
    with pytest.raises(HubRunning, match=f"another Tooltray with this home is running: pid {os.getpid()}") as raised:
        await second.start()
    assert raised.value.pid == os.getpid()
    await second.close()
    assert hubs.home.hub_json.exists()
    client = await hubs.client()
    assert (await client.request("ping"))["result"] == {}
    await first.close()


async def test_of_two_hubs_at_once_one_wins(hubs: Hubs) -> None:
    outcomes = await asyncio.gather(hubs.start(), hubs.start(), hubs.start(), return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["Engine", "HubRunning", "HubRunning"]
    assert (await (await hubs.client()).request("ping"))["result"] == {}


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"pid":"x"}', b"{}"])
async def test_a_hub_whose_pid_nobody_knows_runs_all_the_same(hubs: Hubs, content: bytes | None) -> None:
    await hubs.start()
    if content is None:
        hubs.home.hub_json.unlink()
    else:
        hubs.home.hub_json.write_bytes(content)
    with pytest.raises(HubRunning) as raised:
        await hubs.engine().start()
    assert (raised.value.pid, raised.value.problem.message) == (0, "")


async def test_what_a_killed_hub_left_behind_is_in_nobodys_way(hubs: Hubs) -> None:
    hubs.home.prepare()
    hubs.home.lock.touch()
    hubs.home.hub_json.write_text('{"pid": 1, "socket": "elsewhere"}')
    for path in (hubs.home.socket, hubs.home.control_socket):
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
    await hubs.start()
    assert json.loads(hubs.home.hub_json.read_bytes())["pid"] == os.getpid()
    assert (await (await hubs.client()).request("ping"))["result"] == {}
    assert (await (await hubs.control()).request("hub/info"))["result"]["pid"] == os.getpid()


@pytest.mark.expected_warnings("a connection was refused")
async def test_ai_clients_and_commands_have_a_socket_each(hubs: Hubs) -> None:
    await hubs.start()
    assert "error" in await (await hubs.control(role="client")).receive()
    assert (await (await hubs.control()).request("hub/info"))["result"]["pid"] == os.getpid()


async def test_a_command_of_a_version_without_a_control_socket_is_served_at_the_socket_of_bridges(hubs: Hubs) -> None:
    engine = await hubs.start()
    command = await hubs.peer(role="control")
    assert (await command.request("hub/info"))["result"]["pid"] == os.getpid()
    assert (await command.request("hub/hand_over"))["result"] == {}
    assert await engine.serve() == "hand_over"


async def test_after_one_hub_the_next_can_start_in_the_same_home(hubs: Hubs, is_free: Callable[[], bool]) -> None:
    for _ in range(3):
        engine = await hubs.start()
        await hubs.client()
        await engine.close()
        assert is_free()


# homes of all kinds


async def test_a_home_with_a_path_of_200_characters_works(hubs: Hubs) -> None:
    long = Home(hubs.home.root / ("long-" * 40))
    assert len(str(long.run / "hub.sock")) > 200
    engine = await hubs.start(long)
    assert has_mode(long.socket.parent, 0o700)
    client = await hubs.client(long)
    assert (await client.request("ping"))["result"] == {}
    await engine.close()
    assert not long.socket.parent.exists()
    engine = await hubs.start(long)
    await hubs.client(long)


@pytest.fixture
def unusable(hubs: Hubs) -> Home:
    file = hubs.home.root.with_name("file")
    file.write_text("no folder")
    return Home(file / "home")


async def test_a_home_that_cannot_be_made_is_told(hubs: Hubs, unusable: Home) -> None:
    for home in (unusable, Home(Path("/proc/tooltray"))):
        engine = hubs.engine(home)
        with pytest.raises(TooltrayError, match="Tooltray's folder cannot be used"):
            await engine.start()
        await engine.close()


async def test_a_lock_that_cannot_be_opened_is_told(hubs: Hubs) -> None:
    hubs.home.prepare()
    hubs.home.lock.symlink_to("/proc/self/not there")
    with pytest.raises(TooltrayError, match=f"Tooltray's lock cannot be taken. {hubs.home.lock}: No such file"):
        await hubs.engine().start()


async def test_a_start_that_fails_half_way_leaves_nothing(hubs: Hubs, is_free: Callable[[], bool]) -> None:
    hubs.home.prepare()
    hubs.home.window.mkdir()  # is set aside before the socket is made
    hubs.settings(mcpServers={"s": FAKE}, defaultServers=["s"])
    engine = hubs.engine()
    engine.hub.bus.subscribe(ProblemReported, lambda _: hubs.home.socket.mkdir())
    with pytest.raises(TooltrayError, match="Tooltray's socket cannot be opened"):
        await engine.start()
    await engine.close()
    hubs.home.socket.rmdir()
    assert is_free()
    assert hubs.records("service_stopped")[0]["reason"] == "failure"
    await hubs.start()
    await hubs.client()


async def test_a_start_that_is_cancelled_at_any_moment_leaves_nothing(hubs: Hubs) -> None:
    is_started = False
    turns = 0
    while not is_started:
        turns += 3 + turns // 10  # how far a turn comes depends on threads too: not each of them has to be tried
        engine = hubs.engine()
        starting = asyncio.create_task(engine.start())
        for _ in range(turns):
            await asyncio.sleep(0)
        is_started = starting.done()
        starting.cancel()
        await asyncio.wait({starting})
        await engine.close()
        lock = HubLock(hubs.home.lock)
        assert not hubs.home.run.exists() or lock.try_take()
        lock.release()


@pytest.mark.expected_warnings("could not be written")
async def test_a_hub_that_cannot_say_where_it_is_serves_all_the_same(hubs: Hubs) -> None:
    hubs.home.prepare()
    hubs.home.hub_json.symlink_to("/proc/self/not there")
    engine = await hubs.start()
    assert (await (await hubs.client()).request("ping"))["result"] == {}
    await engine.close()
    hubs.home.hub_json.unlink(missing_ok=True)


# ending by itself, and handing over


async def test_a_hub_that_nobody_uses_ends(hubs: Hubs) -> None:
    engine = await hubs.start(idle_exit_s=0.0)
    assert await engine.serve() == "idle"


async def test_a_hub_ends_some_time_after_its_last_client_has_left_and_not_before(hubs: Hubs) -> None:
    engine = await hubs.start(idle_exit_s=0.3)
    first, second = await hubs.client(), await hubs.client()
    serving = asyncio.create_task(engine.serve())
    await first.close()
    done, _ = await asyncio.wait({serving}, timeout=0.6)
    assert not done
    await second.close()
    assert await asyncio.wait_for(serving, PATIENCE_S) == "idle"


async def test_a_hub_that_ends_with_a_client_connected_starts_no_other_clock(hubs: Hubs) -> None:
    engine = await hubs.start(idle_exit_s=0.3)
    await hubs.client()
    await engine.close()
    serving = asyncio.create_task(engine.serve())
    done, _ = await asyncio.wait({serving}, timeout=0.6)
    assert not done
    serving.cancel()
    await asyncio.wait({serving})


async def test_a_hub_whose_program_was_replaced_makes_room_for_the_new_one(hubs: Hubs, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(engine_module, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(OwnProgram, "is_replaced", lambda _: True)
    engine = await hubs.start(may_restart=lambda: asked.append(True) or len(asked) > 1)
    async with asyncio.timeout(PATIENCE_S):
        assert await engine.serve() == "replaced"
    assert len(asked) == 2


async def test_a_hub_that_is_to_hand_over_takes_nobody_new_and_waits_for_calls(hubs: Hubs) -> None:
    hubs.settings(mcpServers={"s": FAKE}, defaultServers=["s"])
    engine = await hubs.start()
    client, control = await hubs.client(elicitation={}), await hubs.control()
    await client.request("tools/list")
    client.send(jsonrpc="2.0", id="a", method="tools/call", params={"name": "ask", "arguments": {"text": "?"}})
    question = await client.receive()
    assert question["method"] == "elicitation/create"
    control.send(jsonrpc="2.0", id="h", method="hub/hand_over")
    assert (await control.request("hub/info", id="i"))["id"] == "i"
    serving = asyncio.create_task(engine.serve())
    with pytest.raises(OSError, match="refused"):
        await hubs.peer()
    assert not serving.done()
    client.send(jsonrpc="2.0", id=question["id"], result={"action": "accept"})
    assert (await client.receive())["id"] == "a"
    assert await asyncio.wait_for(serving, PATIENCE_S) == "hand_over"
    assert (await control.receive())["id"] == "h"


async def test_the_control_channel_ends_the_hub_and_raises_the_window_where_there_is_one(hubs: Hubs) -> None:
    raised: list[str] = []
    engine = await hubs.start(kind="desktop", on_raise_window=raised.append)
    control = await hubs.control()
    info = (await control.request("hub/info"))["result"]
    assert (info["kind"], info["pid"], info["execution_id"]) == ("desktop", os.getpid(), engine.hub.control.execution_id)
    assert (await control.request("hub/raise_window"))["result"] == {}
    assert raised == [""]
    assert (await control.request("hub/stop"))["result"] == {}
    assert await engine.serve() == "stop"


async def test_one_client_on_stdin_of_a_server_that_is_not_there_is_refused(hubs: Hubs) -> None:
    engine = await hubs.start()
    with pytest.raises(TooltrayError, match=r"server 'gone' not found. See `tooltray servers list`"):
        await engine.serve_stdio("gone")


# what servers get


async def failed_log(engine: Engine, name: str) -> list[str]:
    """What a server wrote before it was given up for the first time: without what the hub itself writes between two starts."""
    has_died = asyncio.Event()

    def on_changed(event: ServerChanged) -> None:
        if event.server.name == name and event.server.state is ServerState.RESTARTING:
            has_died.set()

    engine.hub.bus.subscribe(ServerChanged, on_changed)
    async with asyncio.timeout(PATIENCE_S):
        await has_died.wait()
    return [line for line in await engine.hub.presenter.get_server_log(name) if not line.startswith("---")]


async def test_secrets_that_a_server_prints_are_masked_in_its_log_and_its_last_words(hubs: Hubs) -> None:
    hubs.settings()
    engine = await hubs.start()
    await engine.hub.presenter.set_secret("s/KEY", "s3cret-value")
    entry = {"command": "/bin/sh", "args": ["-c", "echo bad key $KEY >&2; exit 3"], "env": {"KEY": "${secret:s/KEY}"}}
    await engine.hub.presenter.add_mcp_server("s", entry)
    assert await failed_log(engine, "s") == ["bad key ***"] * 2  # it ended at the first greeting, and once more at the legacy one
    [found] = await engine.hub.presenter.diagnose("s")
    assert "s3cret-value" not in repr(found)
    assert "bad key ***" in str(engine.hub.presenter.snapshot().servers[1].problem)


@pytest.mark.parametrize("started_by", ["client", "bridge"])
async def test_a_hub_that_an_ai_client_started_gives_servers_nothing_of_the_clients_variables(
    hubs: Hubs, monkeypatch: pytest.MonkeyPatch, started_by: str
) -> None:
    monkeypatch.setenv("SHELL", "/bin/false")  # so that no login shell can be read
    monkeypatch.setenv("CLIENT_API_KEY", "of the client")
    hubs.settings()
    engine = await hubs.start(started_by=started_by)
    await engine.hub.presenter.add_mcp_server("s", {"command": "/bin/sh", "args": ["-c", "env >&2; exit 3"]})
    names = {line.partition("=")[0] for line in await failed_log(engine, "s")}
    assert {"PATH", "HOME"} <= names
    assert ("CLIENT_API_KEY" in names) is (started_by == "bridge")


@pytest.mark.parametrize(
    ("started_by", "gets"), [("terminal", True), ("service", True), ("session", True), ("bridge", False), ("client", False)]
)
async def test_a_hub_that_a_person_started_gives_servers_its_variables(
    hubs: Hubs, monkeypatch: pytest.MonkeyPatch, started_by: str, gets: bool
) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("PERSONS_KEY", "typed before the command")
    hubs.settings()
    engine = await hubs.start(started_by=started_by)
    await engine.hub.presenter.add_mcp_server("s", {"command": "/bin/sh", "args": ["-c", "env >&2; exit 3"]})
    names = {line.partition("=")[0] for line in await failed_log(engine, "s")}
    assert {"PATH", "HOME"} <= names
    assert ("PERSONS_KEY" in names) is gets


async def test_settings_and_tool_names_of_the_home_are_used(hubs: Hubs) -> None:
    hubs.settings(mcpServers={"s": FAKE}, defaultServers=["s"], publish={"naming": "always"})
    await hubs.start()
    client = await hubs.client()
    names = [each["name"] for each in (await client.request("tools/list"))["result"]["tools"]]
    assert "s_echo" in names
    assert "hub_list_servers" in names
    reply = await client.request("tools/call", {"name": "s_echo", "arguments": {"text": "hi"}})
    assert reply["result"]["unknown"] == {"kept": 1}


# HTTP


async def test_the_http_endpoints_open_with_the_hub_and_their_address_stands_in_its_file(hubs: Hubs) -> None:
    hubs.settings(publish={"http": {"enabled": True, "port": 0, "requireToken": False}})
    engine = await hubs.start()
    address = json.loads(hubs.home.hub_json.read_bytes())["http"]
    assert (await engine.hub.presenter.get_http_status()).url == f"{address}/mcp"
    reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost:%b\r\nConnection: close\r\n\r\n" % address.rpartition(":")[2].encode())
    assert b'{"status": "ok"}' in await reader.read()
    writer.close()
    await engine.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))


async def test_a_hub_whose_http_port_is_taken_serves_all_the_same_and_says_so(hubs: Hubs) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        hubs.settings(publish={"http": {"enabled": True, "port": taken.getsockname()[1]}})
        engine = await hubs.start()
        await hubs.client()
        assert any("HTTP" in notice.title for notice in engine.hub.presenter.snapshot().notices)
        assert json.loads(hubs.home.hub_json.read_bytes())["http"] is None


async def test_what_is_switched_while_the_hub_runs_is_told_in_its_file(hubs: Hubs) -> None:
    hubs.settings()
    engine = await hubs.start()
    status = await engine.hub.presenter.set_http_enabled(True, 0)
    async with asyncio.timeout(PATIENCE_S):
        while (address := json.loads(await asyncio.to_thread(hubs.home.hub_json.read_bytes))["http"]) is None:
            pass
    assert status.url == f"{address}/mcp"


# questions of servers to the person


async def test_a_desktop_is_asked_where_no_ai_client_can_be_and_its_answer_reaches_the_server(hubs: Hubs) -> None:
    hubs.settings(mcpServers={"fake": FAKE})
    engine = await hubs.start(kind="desktop")
    asked: asyncio.Queue[ElicitationSnapshot] = asyncio.Queue()
    engine.hub.bus.subscribe(ElicitationAsked, lambda event: asked.put_nowait(event.question))
    client = await hubs.client()
    client.send(jsonrpc="2.0", id=2, method="tools/call", params={"name": "ask", "arguments": {"text": "Who?"}})
    async with asyncio.timeout(PATIENCE_S):
        question = await asked.get()
    assert (question.server, question.message) == ("fake", "Who?")
    await engine.hub.presenter.answer_elicitation(question.id, "accept", {})
    assert json.loads((await client.receive())["result"]["content"][0]["text"]) == {"action": "accept", "content": {}}


async def test_a_hub_without_a_window_asks_nobody(hubs: Hubs) -> None:
    hubs.settings(mcpServers={"fake": FAKE})
    engine = await hubs.start()
    engine.hub.bus.subscribe(ElicitationAsked, lambda event: pytest.fail("nobody can see it"))
    client = await hubs.client()
    reply = await client.request("tools/call", {"name": "ask", "arguments": {"text": "Who?"}}, id=2)
    assert "the user cannot be asked" in reply["result"]["content"][0]["text"]


# served configs


def config_of(hubs: Hubs, *, addr: str = "127.0.0.1:0", options: Any = None, **servers: Any) -> str:
    """A config of TBXark's proxy; returns its path."""
    path = hubs.home.root.parent / "config.json"
    path.write_text(json.dumps({"mcpProxy": {"addr": addr, "options": options or {}}, "mcpServers": servers}))
    return str(path)


async def test_a_config_is_served_at_its_own_endpoint_beside_everything_else(hubs: Hubs, caplog: pytest.LogCaptureFixture) -> None:
    hubs.settings()
    engine = await hubs.start(configs=(config_of(hubs, fake={**FAKE, "options": {"logEnabled": True}}),))
    url = engine.said[1].strip()
    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("/fake/")
    client = await hubs.client()
    assert (await client.request("tools/call", {"name": "echo", "arguments": {"text": "hi"}}, id=2))["id"] == 2
    assert any("of 'fake'" in record.getMessage() for record in caplog.records)


async def test_what_a_person_has_to_hear_of_stands_in_the_log_once(hubs: Hubs) -> None:
    hubs.settings()
    engine = await hubs.start()
    for about in ((), ("files",), ("files", "/shop")):
        engine.hub.bus.publish(ProblemReported(Problem("it failed"), *about))
    await engine.close()
    told = [record["summary"] for record in hubs.records("log") if record["level"] == "warning"]
    assert told == ["it failed", "'files': it failed", "'files' for /shop: it failed"]


async def test_a_config_that_is_not_understood_keeps_the_hub_from_starting(hubs: Hubs, is_free: Callable[[], bool]) -> None:
    hubs.settings()
    path = hubs.home.root.parent / "config.json"
    path.write_text("{")
    with pytest.raises(TooltrayError, match="is not served"):
        await hubs.start(configs=(str(path),))
    await hubs.close()
    assert is_free()
    assert len([each for each in hubs.records("log") if str(path) in each["summary"]]) == 1  # and the log says it once


@pytest.mark.expected_warnings("requires it", "absent")
async def test_a_server_that_the_config_calls_indispensable_ends_the_hub_if_it_does_not_start(hubs: Hubs) -> None:
    hubs.settings()
    absent = {"command": str(hubs.home.root / "no-such-program")}
    engine = await hubs.start(configs=(config_of(hubs, options={"panicIfInvalid": True}, absent=absent),))
    with pytest.raises(HubFailed, match="'absent' does not start"):
        async with asyncio.timeout(PATIENCE_S):
            await engine.serve()
    engine.fail(TooltrayError("the first reason counts"))
    await engine.close()
    assert hubs.records("service_stopped")[0]["reason"] == "failure"


async def test_the_folder_of_an_earlier_version_goes_once_ai_clients_get_this_one(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Home(home / ".tooltray").prepare()
    monkeypatch.setattr(engine_module, "OLD_VERSIONS_EVERY_S", 0.0)
    old, own = tmp_path / "0.1.0", tmp_path / "0.2.0"
    for folder in (old, own):
        folder.mkdir()
        (folder / "tooltray-bridge.exe").touch(mode=0o755)
    (old / SUPERSEDED).write_text(own.name)
    (old / "tooltray.exe").mkdir()  # cannot be opened as a file: as if it ran
    installation = Installation(WINDOWS_SETUP, "0.2.0", (str(own / "tooltray-bridge.exe"),))
    looks = []

    def look(folder: Path) -> bool:
        is_left = remove_old_versions(folder)
        looks.append((is_left, Installations(Home(home / ".tooltray")).owner, old.exists()))
        if is_left:
            (old / "tooltray.exe").rmdir()
        return is_left

    monkeypatch.setattr(old_versions, "remove_old_versions", look)

    await settle_installation(Home(home / ".tooltray"), installation)

    assert looks == [(True, installation, True), (False, installation, False)]
    assert own.exists()


async def test_another_kind_of_installation_leaves_the_folders_beside_it(home: Path, tmp_path: Path) -> None:
    Home(home / ".tooltray").prepare()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / SUPERSEDED).touch()

    await settle_installation(Home(home / ".tooltray"), Installation("deb", "0.2.0", (str(tmp_path / "own" / "tooltray-bridge"),)))

    assert (tmp_path / "old").exists()
