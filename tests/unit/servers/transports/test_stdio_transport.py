"""Servers as child processes: how they are started, what is kept of their words, and that all of them end."""

import asyncio
import json
import os
import resource
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.fakes import odd_server
from tests.fakes.fake_channel import make_dispatcher
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_transport import FakeTransport
from tests.fakes.heard import PATIENCE_S, Record
from tests.fakes.process_end import end_of

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, NotDelivered, dump, success
from tooltray.protocol.unsent import HUB_BYTES, SLICE_BYTES
from tooltray.servers.launch.process_family import INSTANCE_VARIABLE
from tooltray.servers.launch.program_launch import CannotStart, CommandLine, Launch, RunFirst, raise_file_limit, restore_limit_for
from tooltray.servers.transports.server_output import LINES_PER_S, ServerOutput, new_log
from tooltray.servers.transports.stdio_transport import OTHER_HALF_OF_END_S, ChildPipes, StdioTransport
from tooltray.servers.transports.transport import ConnectionFailure

NO_PROCESS = 2**22 + 1  # beyond the largest pid that Linux gives
GRACE_S = 0.05  # servers that ignore what they are told are not waited for here


class Server:
    """One odd server behind its transport."""

    def __init__(self, launch: Launch, **options: Any) -> None:
        self.log = options.pop("log", new_log())
        self.heard: Record[Envelope] = Record()
        self.transport = StdioTransport(name="odd", launch=launch, log=self.log, mask=options.pop("mask", str), **options)
        self.dispatcher = RawDispatcher(
            name="odd",
            deadlines=DeadlineWheel(),
            answer=self._answer,
            take_notification=self.heard.add,
            is_server=True,
            max_line_bytes=2**26,
        )

    async def _answer(self, request: Envelope) -> Envelope:
        return success({})

    async def open(self) -> None:
        await self.transport.open(self.dispatcher)

    async def said(self, method: str) -> dict[str, Any]:
        """The parameters of its notification; waits for it."""
        found = await self.heard.wait(lambda message: message.method == method)
        return json.loads(bytes(found.params))

    async def lost(self) -> str:
        async with asyncio.timeout(PATIENCE_S):
            await self.dispatcher.closed.wait()
        return self.dispatcher.closed_because

    async def close(self) -> None:
        await self.dispatcher.close("Tooltray stopped it")
        await self.transport.close()


Start = Callable[..., Any]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts an odd server and ends it behind the test."""
    servers: list[Server] = []

    async def start(habit: str, *args: str, command: str = sys.executable, **options: Any) -> Server:
        script = ["-I", "-S", odd_server.__file__, habit] if command == sys.executable else [habit]
        env = options.pop("env", {"PATH": os.defpath})
        direct = {name: options.pop(name) for name in ("saved_processes", "on_silent_end") if name in options}
        server = Server(Launch(command, [*script, *args], env, options.pop("cwd", str(tmp_path)), **direct), **options)
        servers.append(server)
        await server.open()
        return server

    yield start
    for server in servers:
        await server.close()


async def test_a_server_is_called_through_its_pipes(start: Start) -> None:
    server = await start("echo")
    reply = await server.dispatcher.call("m", dump({"a": 1}))
    assert json.loads(bytes(reply.result)) == {"a": 1}


async def test_megabytes_pass_both_ways_and_keep_their_order(start: Start) -> None:
    server = await start("echo")
    payloads = [dump({"n": n, "text": "x" * size}) for n, size in enumerate((3_000_000, 10, 300_000, 70_000))]
    replies = await asyncio.gather(*(server.dispatcher.call("m", payload) for payload in payloads))
    assert [json.loads(bytes(reply.result)) for reply in replies] == [json.loads(bytes(payload)) for payload in payloads]


async def test_a_server_gets_the_limit_of_open_files_that_the_hub_was_started_with(start: Start) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard - 7, hard))
    try:
        raise_file_limit()
        raise_file_limit()  # as another hub in the same process would
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
        server = await start("echo")
        (pid,) = server.transport.pids
        assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (hard - 7, hard)
        restore_limit_for(NO_PROCESS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_server_is_not_read_while_too_much_waits_for_clients(start: Start) -> None:
    server = await start("echo")
    client = server.dispatcher.unsent.all.of(is_server=False)
    client.add(HUB_BYTES + 1)
    pending = server.dispatcher.start_call("m", dump({"a": 1}))
    other = await start("echo")  # another hub's, as far as this knows: it is read
    await other.dispatcher.call("m", dump({}))
    assert not pending.reply.done()
    client.hold(0)
    async with asyncio.timeout(PATIENCE_S):
        assert json.loads(bytes((await server.dispatcher.calls.outcome(pending)).result)) == {"a": 1}


async def test_what_a_server_does_not_read_is_counted(start: Start) -> None:
    server = await start("polite")
    pending = server.dispatcher.start_call("m", dump("x" * 2_000_000))
    assert server.dispatcher.unsent.bytes > 1_000_000
    await server.close()
    assert server.dispatcher.unsent.bytes == 0
    assert (await server.dispatcher.calls.outcome(pending)).error


async def test_a_server_gets_exactly_its_own_environment_and_folder_and_leads_a_session(start: Start, tmp_path: Path) -> None:
    os.environ["OF_THE_HUB"] = "1"
    try:
        server = await start("echo", "an argument; with $signs", env={"PATH": "/usr/bin", "MINE": "ä"})
    finally:
        del os.environ["OF_THE_HUB"]
    ready = await server.said("ready")
    (pid,) = server.transport.pids
    ready["env"].pop("LC_CTYPE", None)  # Python sets it by itself
    assert ready["env"].pop(INSTANCE_VARIABLE)
    assert ready["env"] == {"PATH": "/usr/bin", "MINE": "ä"}
    assert (ready["cwd"], ready["session"], ready["group"]) == (str(tmp_path), pid, pid)
    assert ready["argv"] == ["an argument; with $signs"]


# how servers end


@pytest.mark.parametrize(
    ("habit", "words", "code"),
    [
        ("dies", "server 'odd' ended with exit code 3: out of cheese", 3),
        ("dies_in_silence", "server 'odd' ended with exit code 0", 0),
        ("dies_in_mid_word", "server 'odd' ended with exit code 1: no newline behind this", 1),
        ("kills_itself", "server 'odd' was killed by signal 9: about to crash", -9),
    ],
)
async def test_the_end_of_a_server_is_told_with_its_exit_code_and_last_words(start: Start, habit: str, words: str, code: int) -> None:
    server = await start(habit)
    call = server.dispatcher.start_call("m")
    assert await server.lost() == words
    assert json.loads(bytes((await server.dispatcher.calls.outcome(call)).error)) == {"code": -32000, "message": words}
    assert (server.transport.exit_code, server.transport.pids) == (code, ())


async def test_a_server_that_dies_in_a_call_fails_it_at_once(start: Start) -> None:
    server = await start("dies_in_a_call")
    await server.said("ready")
    reply = await server.dispatcher.call("m")
    assert json.loads(bytes(reply.error))["message"] == "server 'odd' ended with exit code 3: out of cheese"
    assert "exit code 3" in json.loads(bytes((await server.dispatcher.call("m")).error))["message"]


async def test_a_server_that_closes_its_stdout_is_lost_though_it_still_runs(start: Start) -> None:
    server = await start("mute")
    assert await server.lost() == "server 'odd' closed its output"
    assert len(server.transport.pids) == 1
    await server.close()
    assert (server.transport.exit_code, server.transport.pids) == (0, ())


async def test_a_server_is_lost_though_its_child_holds_stdout_open_and_the_child_ends_too(start: Start) -> None:
    server = await start("leaves_a_child")
    pid = (await server.said("child"))["pid"]
    server.dispatcher.send_notification("leave")
    assert await server.lost() == "server 'odd' ended with exit code 4"
    await server.close()
    await end_of(pid)


async def test_garbage_on_stdout_is_counted_and_the_server_stays_usable(start: Start) -> None:
    server = await start("noisy")
    await server.said("ready")
    assert server.dispatcher.noise_lines == 15
    assert bytes((await server.dispatcher.call("m", dump({}))).result) == b"{}"


@pytest.mark.skipif(os.name == "nt", reason="there is no program that floods its output")
async def test_a_flood_of_text_on_stdout_is_not_read_until_its_second_is_over(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.servers.transports.stdio_transport.FLOOD_PAUSE_S", 1000.0)
    server = await start("y", command="yes")
    for _ in range(200):
        await asyncio.sleep(0.05)
        if server.dispatcher.noise_lines > LINES_PER_S:
            break
    read = server.dispatcher.noise_lines
    await asyncio.sleep(0.2)
    assert server.dispatcher.noise_lines == read > LINES_PER_S
    await server.close()
    assert server.transport.exit_code is not None


# how servers are ended


async def test_a_server_that_leaves_when_stdin_closes_gets_no_signal(start: Start) -> None:
    server = await start("echo")
    await server.said("ready")
    await server.close()
    assert server.transport.exit_code == 0


async def test_a_server_that_ignores_the_end_of_stdin_gets_sigterm(start: Start) -> None:
    server = await start("polite", grace_after_stdin_closed_s=GRACE_S)
    await server.said("ready")
    await server.close()
    assert server.transport.exit_code == 7


async def test_a_server_that_ignores_everything_is_killed(start: Start) -> None:
    server = await start("stubborn", grace_after_stdin_closed_s=GRACE_S, grace_after_term_s=GRACE_S)
    await server.said("ready")
    await server.close()
    assert server.transport.exit_code == -signal.SIGKILL


async def test_a_server_that_never_reads_neither_blocks_the_hub_nor_its_own_end(start: Start) -> None:
    server = await start("deaf", grace_after_stdin_closed_s=GRACE_S)
    await server.said("ready")
    for _ in range(5):
        server.dispatcher.start_call("m", dump("x" * 2_000_000))
    await server.close()
    assert server.transport.exit_code == -signal.SIGTERM


async def test_a_process_that_left_the_group_and_ignores_sigterm_ends_too(start: Start) -> None:
    server = await start("has_a_daemon")
    pid = (await server.said("child"))["pid"]
    assert os.getsid(pid) == pid
    await server.close()
    await end_of(pid)


async def test_closing_twice_or_behind_the_servers_own_end_is_fine(start: Start) -> None:
    server = await start("dies")
    await server.lost()
    await server.close()
    await server.close()
    server.dispatcher.send_notification("n")
    assert server.transport.exit_code == 3


class CancelsTheStart:
    """Cancels the start of a server as soon as its process has a child, when its pipes are not connected yet."""

    def __init__(self, fifo: Path) -> None:
        os.mkfifo(fifo)
        self._fifo, self._before = fifo, set(psutil.Process().children())
        self.child = 0

    async def command(self, program: str, launch: Launch, run_first: RunFirst) -> CommandLine:
        self._starting = asyncio.current_task()
        asyncio.get_running_loop().call_soon(self._look)
        return CommandLine((program, *launch.args), launch.env)

    def _look(self) -> None:
        if set(psutil.Process().children()) <= self._before:
            asyncio.get_running_loop().call_soon(self._look)
            return
        self.child = int(self._fifo.read_text())  # blocks the loop, so that nothing is connected meanwhile
        assert self._starting
        self._starting.cancel()


async def test_a_start_that_is_cancelled_halfway_ends_also_if_a_child_of_the_process_holds_its_output_open(tmp_path: Path) -> None:
    around = CancelsTheStart(fifo := tmp_path / "fifo")
    server = Server(Launch("/bin/sh", ("-c", f"sleep 600 & echo $! > {fifo}; wait"), {"PATH": os.defpath}, str(tmp_path), around=around))
    opening = asyncio.ensure_future(server.open())
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(PATIENCE_S):
            await opening
    await server.close()
    await end_of(around.child)


class FakeProcess(asyncio.SubprocessTransport):
    """A process that has ended, with a pipe to its stdin."""

    def __init__(self) -> None:
        super().__init__()
        self.stdin = FakeTransport()

    def get_pipe_transport(self, fd: int) -> asyncio.BaseTransport | None:
        return self.stdin

    def get_pid(self) -> int:
        return NO_PROCESS

    def get_returncode(self) -> int | None:
        return 0

    def close(self) -> None:
        pass


def child_pipes(dispatcher: RawDispatcher, output: ServerOutput | None = None) -> ChildPipes:
    output = output or ServerOutput(log=new_log(), mask=str)
    return ChildPipes(name="odd", mark="", dispatcher=dispatcher, output=output, on_silent_end=None)


async def test_a_large_request_leaves_at_the_pace_of_the_server_and_what_is_left_at_its_end_is_dropped() -> None:
    process, dispatcher = FakeProcess(), make_dispatcher(is_server=True)[0]
    pipes = child_pipes(dispatcher)
    pipes.connection_made(process)
    process.stdin.after_write = pipes.pause_writing
    pipes.write(b"x" * 3 * SLICE_BYTES)
    assert len(process.stdin.written) == SLICE_BYTES
    pipes.resume_writing()
    assert len(process.stdin.written) == 2 * SLICE_BYTES
    pipes.process_exited()
    await pipes.end(GRACE_S, GRACE_S)
    assert (len(process.stdin.written), process.stdin.is_closing()) == (2 * SLICE_BYTES, True)


@pytest.mark.parametrize("is_told", [False, True])
async def test_a_call_that_a_dying_process_cannot_have_read_was_not_delivered(is_told: bool) -> None:
    process, dispatcher = FakeProcess(), make_dispatcher(is_server=True)[0]
    pipes = child_pipes(dispatcher)
    pipes.connection_made(process)
    dispatcher.attach(pipes)
    before = dispatcher.start_call("tools/call")
    if is_told:
        pipes.pipe_connection_lost(0, None)
    else:
        process.stdin.after_write = process.stdin.close  # as asyncio does where a write finds that nobody reads
    behind = dispatcher.start_call("tools/call")
    for fd in (1, 2):
        pipes.pipe_connection_lost(fd, None)
    pipes.process_exited()
    replies = [await dispatcher.calls.outcome(pending) for pending in (before, behind)]
    assert [isinstance(reply, NotDelivered) for reply in replies] == [False, True]
    await pipes.end(GRACE_S, GRACE_S)


@in_fake_time
async def test_after_each_part_of_its_end_the_next_is_waited_for_a_moment() -> None:
    dispatcher, output = make_dispatcher(is_server=True)[0], ServerOutput(log=new_log(), mask=str)
    pipes = child_pipes(dispatcher, output)
    pipes.connection_made(FakeProcess())
    for part_ends in (partial(pipes.pipe_connection_lost, 1, None), pipes.process_exited):
        part_ends()
        await asyncio.sleep(0.9 * OTHER_HALF_OF_END_S)
    pipes.pipe_data_received(2, b"boom")
    assert (output.last_at, dispatcher.is_closed) == (asyncio.get_running_loop().time(), False)
    pipes.pipe_connection_lost(2, None)
    assert dispatcher.closed_because == "server 'odd' ended with exit code 0: boom"


# stderr


async def test_lines_on_stdout_that_are_no_messages_stand_in_the_log_masked_and_marked(start: Start) -> None:
    server = await start("noisy", mask=lambda text: text.replace("stdio", "***"))
    await server.said("ready")
    assert server.dispatcher.noise_lines == 15
    assert list(server.log) == ["stdout: Server listening on ***", "stdout: \ufffd\ufffd", "stdout: [1, 2]"] * 5
    assert server.transport.output.text == "[1, 2]"


async def test_what_a_server_writes_while_its_start_is_still_awaited_is_not_lost(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    start_process = loop.subprocess_exec
    has_written, has_answer = asyncio.Event(), asyncio.Event()

    async def slow_start(make_pipes: Callable[[], ChildPipes], *command: str, **options: Any) -> Any:
        pipes = make_pipes()
        take, write = pipes.pipe_data_received, pipes.write

        def taken(fd: int, data: bytes) -> None:
            take(fd, data)
            has_written.set()

        def answered(data: bytes | memoryview) -> None:
            write(data)
            has_answer.set()

        monkeypatch.setattr(pipes, "pipe_data_received", taken)
        monkeypatch.setattr(pipes, "write", answered)
        started = await start_process(lambda: pipes, *command, **options)
        async with asyncio.timeout(PATIENCE_S):
            await has_written.wait()
            await has_answer.wait()
        return started

    monkeypatch.setattr(loop, "subprocess_exec", slow_start)
    server = await start("hasty")
    await server.said("answered")
    assert list(server.log) == ["stdout: hasty"]


async def test_the_reason_of_an_end_is_told_once_it_has_ended_by_itself(start: Start) -> None:
    server = await start("dies")
    assert server.transport.failure is None
    await server.lost()
    assert server.transport.failure == ConnectionFailure(
        Problem("'odd' did not start: out of cheese", "It ended with exit code 3"), how="It ended with exit code 3", words="out of cheese"
    )
    stopped = await start("holds")
    await stopped.close()
    assert stopped.transport.failure is None
    assert StdioTransport(name="odd", launch=Launch("x", [], {}, "/"), log=new_log(), mask=str).failure is None


async def test_what_ends_without_its_launcher_is_no_lasting_failure(start: Start) -> None:
    direct, alone = await start("dies_in_silence", saved_processes=2), await start("dies_in_silence")
    await direct.lost()
    await alone.lost()
    assert (direct.transport.failure.is_lasting, alone.transport.failure.is_lasting) == (False, True)


async def test_the_log_of_a_launcher_is_looked_for_by_what_is_run(tmp_path: Path) -> None:
    logs = tmp_path / ".npm" / "_logs"
    logs.mkdir(parents=True)
    (logs / "x.log").write_text("pkg")
    launch = Launch("npx", ["-y", "pkg"], {"HOME": str(tmp_path)}, "/")
    transport = StdioTransport(name="odd", launch=launch, log=new_log(), mask=str)
    assert await transport.output.launcher_log() == str(logs / "x.log")


async def test_an_installation_that_failed_is_told_where_npx_says_nothing(tmp_path: Path) -> None:
    log = tmp_path / ".npm" / "_logs" / "x.log"
    log.parent.mkdir(parents=True)
    executable(tmp_path / "npx", b"#!/bin/sh\nexit 1\n")
    server = Server(Launch(str(tmp_path / "npx"), ["-y", "pkg"], {"HOME": str(tmp_path)}, str(tmp_path)))
    log.write_text("0 verbose argv pkg\n7 info run dep@1.0.0 postinstall { code: 1, signal: null }\n")
    await server.open()
    await server.lost()
    assert str(server.transport.failure.problem.title).endswith("failed at the package's own script: postinstall of dep@1.0.0")
    await server.close()


# what cannot be started


def executable(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("command", ["no-such-command", "/no/such/command"])
async def test_a_command_that_is_not_there_is_told_with_where_it_was_looked_for(start: Start, command: str) -> None:
    with pytest.raises(CannotStart) as caught:
        await start("echo", command=command)
    assert command in caught.value.problem.title
    assert "looked in" in caught.value.problem.message
    assert caught.value.problem.hint


async def test_a_folder_that_is_not_there_is_told(start: Start, tmp_path: Path) -> None:
    with pytest.raises(CannotStart) as caught:
        await start("echo", cwd=str(tmp_path / "gone"))
    assert caught.value.problem.title == "the folder of 'odd' does not exist"
    assert caught.value.problem.message == str(tmp_path / "gone")


async def test_a_file_that_is_no_program_is_told(start: Start, tmp_path: Path) -> None:
    program = executable(tmp_path / "server", b"\x00\x01\x02")
    with pytest.raises(CannotStart, match="Exec format error"):
        await start("echo", command=str(program))


@pytest.mark.parametrize("options", [{"env": {"PATH": os.defpath, "A": "a\0b"}}, {"env": {"A=B": "c", "PATH": os.defpath}}])
async def test_an_environment_that_cannot_be_given_is_told(start: Start, options: dict[str, Any]) -> None:
    with pytest.raises(CannotStart, match="cannot be run"):
        await start("echo", **options)


async def test_a_nul_in_an_argument_is_told(start: Start) -> None:
    with pytest.raises(CannotStart, match="null byte"):
        await start("echo", "a\0b")


# a server that was started without its launcher


@pytest.mark.parametrize("habit", ["dies", "dies_in_silence"])
async def test_who_wants_to_know_is_told_once_that_a_server_ended_without_a_word(start: Start, habit: str) -> None:
    told: list[str] = []
    server = await start(habit, on_silent_end=lambda: told.append(habit))
    await server.lost()
    await server.close()
    assert told == [habit]


async def test_a_server_that_has_said_something_or_was_told_to_end_did_not_end_without_a_word(start: Start) -> None:
    told: list[str] = []
    spoken = await start("dies_in_a_call", on_silent_end=lambda: told.append("spoken"))
    await spoken.said("ready")
    await spoken.dispatcher.call("m")
    stopped = await start("holds", on_silent_end=lambda: told.append("stopped"))
    await stopped.close()
    await spoken.close()
    assert told == []


@pytest.mark.parametrize("program", [b"\x00\x01\x02", None])
async def test_a_program_that_cannot_be_run_without_its_launcher_may_be_tried_again(
    start: Start, tmp_path: Path, program: bytes | None
) -> None:
    told: list[str] = []
    if program:
        executable(tmp_path / "server", program)
    with pytest.raises(TooltrayError) as caught:
        await start("echo", command=str(tmp_path / "server"), saved_processes=2, on_silent_end=lambda: told.append("told"))
    assert not isinstance(caught.value, CannotStart)
    assert (caught.value.problem.title.startswith(f"'{tmp_path}/server'"), told) == (True, ["told"])


async def test_a_transport_that_was_never_opened_has_no_process_and_can_be_closed(tmp_path: Path) -> None:
    server = Server(Launch("no-such-command", [], {}, str(tmp_path)))
    assert (server.transport.pids, server.transport.exit_code) == ((), None)
    with pytest.raises(CannotStart):
        await server.open()
    await server.transport.close()
    assert (server.transport.pids, server.transport.exit_code) == ((), None)


def test_neither_arguments_nor_environment_are_shown() -> None:
    assert "hunter2" not in repr(Launch("server", ["--key", "hunter2"], {"KEY": "hunter2"}, "/"))
