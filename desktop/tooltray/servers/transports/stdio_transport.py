"""The stdio transport: starts a server as a child process, connects its pipes, explains its end, and ends it with all its children. It uses
asyncio's subprocess transport, without StreamReader; the child leads a process family of its own, which is ended with it.
"""

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish
from tooltray.protocol.channels import read_in_pieces
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.unsent import Outbox
from tooltray.servers.launch.command_lookup import look_up, not_found, why_not_run
from tooltray.servers.launch.npm_config import failed_script, newest_log
from tooltray.servers.launch.process_family import INSTANCE_VARIABLE, START_OPTIONS, ProcessFamily, command_line, new_mark
from tooltray.servers.launch.program_launch import CannotStart, CommandLine, Launch, ScriptLine, restore_limit_for
from tooltray.servers.launch.program_output import killed, started
from tooltray.servers.transports.process_failure import explain
from tooltray.servers.transports.server_output import LINE_BYTES, ServerOutput, StderrLines, begin_attempt
from tooltray.servers.transports.transport import ConnectionFailure

LIMIT_BYTES = 64 * 1024  # of one line; of a longer line the end is enough
GRACE_AFTER_STDIN_CLOSED_S = 2.0  # the spec asks servers to leave when stdin closes; most need < 0.3 s
GRACE_AFTER_TERM_S = 2.0
FLOOD_PAUSE_S = 1.0
END_AFTER_KILL_S = 2.0  # of all processes of an installation
OTHER_HALF_OF_END_S = 0.3  # between the exit and the end of stdout and stderr; a grandchild may hold these open forever


async def run_first(name: str, line: Sequence[str], env: Mapping[str, str], cwd: str, output: ServerOutput) -> bool:
    """See RunFirst.

    Args:
        name: the server's name.
        output: takes the lines that the installation writes.

    Raises:
        TooltrayError: the installation cannot be run, or fails; the error gives the reason.
    """
    mark = new_mark()
    try:
        process = await started(
            asyncio.create_subprocess_exec(
                *line,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env={**env, INSTANCE_VARIABLE: mark},
                cwd=cwd,
                limit=LIMIT_BYTES,
                **START_OPTIONS,
            )
        )
    except OSError as error:
        title = Phrase("the package of '{name}' cannot be installed", name=name)
        raise CannotStart(title, Phrase("{command}: {reason}", command=line[0], reason=error.strerror or "")) from None
    family = ProcessFamily(process.pid, mark)
    try:
        assert process.stdout
        await _read(process.stdout, output)
        code = await process.wait()
    finally:
        family.kill()
        await asyncio.to_thread(family.end_stragglers)
        await killed(process)
    if code:
        found = explain(name, output.lines, output.words, code, env)
        kind = CannotStart if found.is_lasting else TooltrayError
        title = Phrase("its package was not installed: {why}", why=found.problem.title)
        raise kind(title, found.problem.message, found.problem.hint)
    return await asyncio.to_thread(family.wait_for_end, END_AFTER_KILL_S)


async def _read(stream: asyncio.StreamReader, output: ServerOutput) -> None:
    while True:
        try:
            line = await stream.readuntil()
        except asyncio.IncompleteReadError as end:
            output.wrote(end.partial)
            return
        except asyncio.LimitOverrunError:  # a line without end
            line = await stream.read(LIMIT_BYTES)
        output.wrote(line[-LINE_BYTES:])


class StdioTransport:
    """The transport of a child process, which it starts and ends. Satisfies Transport."""

    has_expired = False

    def __init__(
        self,
        *,
        name: str,
        launch: Launch,
        log: deque[str],
        mask: Callable[[str], str],
        grace_after_stdin_closed_s: float = GRACE_AFTER_STDIN_CLOSED_S,
        grace_after_term_s: float = GRACE_AFTER_TERM_S,
    ) -> None:
        """
        Args:
            log: receives the lines of stderr, and the lines of stdout that are no messages.
            mask: masks secrets in these lines before they are stored.
            grace_after_stdin_closed_s: seconds from closing stdin to SIGTERM (Windows: Ctrl+Break).
            grace_after_term_s: seconds from there to SIGKILL (Windows: the end of the job).
        """
        self._name, self._launch, self._log = name, launch, log
        self.output = ServerOutput(log=log, mask=mask, launcher_log=self._launcher_log)
        self._began = 0.0
        self._graces_s = (grace_after_stdin_closed_s, grace_after_term_s)
        self._mark = new_mark()
        self._pipes: ChildPipes | None = None

    async def open(self, dispatcher: RawDispatcher) -> None:
        launch = self._launch
        program = self._find_program()
        begin_attempt(self._log)
        dispatcher.take_noise = self.output.printed  # before the start: the first lines may arrive before `_spawn` returns
        self._began = time.time()
        line = await self._line(program)
        try:
            await finish(self._start(dispatcher, line))  # if cancelled halfway, `close` ends the process, see there
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            what, hint = why_not_run(program, reason)
            title = Phrase("'{command}' cannot be run: {what}", command=launch.command, what=what)
            where = "" if program == launch.command else program
            raise self._not_run(CannotStart(title, where, hint)) from None
        for pid in self.pids:
            restore_limit_for(pid)

    async def _start(self, dispatcher: RawDispatcher, line: CommandLine) -> None:
        pipes = partial(
            ChildPipes,
            name=self._name,
            mark=self._mark,
            dispatcher=dispatcher,
            output=self.output,
            on_silent_end=self._launch.on_silent_end,
        )
        self._pipes = await _spawn(pipes, line.words, env={**line.env, INSTANCE_VARIABLE: self._mark}, cwd=self._launch.cwd)

    async def _line(self, program: str) -> CommandLine:
        """Returns the command line, with the confinement around the program."""
        launch = self._launch
        if launch.around is None:
            return CommandLine(command_line(program, launch.args), launch.env)
        first = partial(run_first, self._name, output=self.output)
        return await launch.around.command(program, launch, first)

    def _find_program(self) -> str:
        launch = self._launch
        if not os.path.isdir(launch.cwd):
            hint = Phrase("Create it, or correct `cwd` in the server's settings.")
            raise CannotStart(Phrase("the folder of '{name}' does not exist", name=self._name), launch.cwd, hint)
        lookup = look_up(launch.command, env=launch.env, cwd=launch.cwd)
        if not lookup.resolved:
            raise self._not_run(not_found(lookup))
        return lookup.resolved

    def _not_run(self, error: CannotStart) -> TooltrayError:
        """Returns the error to raise: CannotStart ends the retries, a TooltrayError allows one with the launcher that was bypassed."""
        if self._launch.on_silent_end:
            self._launch.on_silent_end()
        problem = error.problem
        return TooltrayError(problem.title, problem.message, problem.hint) if self._launch.saved_processes else error

    @property
    def pids(self) -> tuple[int, ...]:
        return self._pipes.pids if self._pipes else ()

    @property
    def exit_code(self) -> int | None:
        return self._pipes.exit_code if self._pipes else None

    @property
    def failure(self) -> ConnectionFailure | None:
        """The reason why the process ended on its own; None while it runs, and if we ended it."""
        if self._pipes is None or not self._pipes.has_ended:
            return None
        launch, output = self._launch, self.output
        spared = launch.saved_processes > 0  # the launcher was bypassed; the next attempt uses it
        lines = output.lines or self._failed_script()
        return explain(self._name, lines, output.words, self.exit_code, launch.env, may_be_tried_again=spared)

    def _failed_script(self) -> list[str]:
        """Returns npm's lines on a failed installation, which npx does not print."""
        script = failed_script(log) if self.exit_code and (log := self._launcher_log()) else ""
        return [f"npm error command sh -c {script}"] if script else []

    def _launcher_log(self) -> str:
        return newest_log(self._launch.command, self._launch.args, self._launch.env, since=self._began)

    async def close(self) -> None:
        """Closes stdin, then asks the whole family to end, then kills the family, and the processes that have left it.

        asyncio would end a process whose start is cancelled by a SIGKILL to that process only, and then wait for the end of its output,
        which a child may hold open for ever.
        """
        if self._pipes is None:
            return
        await self._pipes.end(*self._graces_s)
        await asyncio.to_thread(self._pipes.family.end_stragglers)


async def _spawn(make_pipes: "Callable[[], ChildPipes]", command: Sequence[str], *, env: Mapping[str, str], cwd: str) -> "ChildPipes":
    """Starts a program, or the line of a script for Windows' shell.

    Raises:
        OSError, ValueError: the program cannot be started.
    """
    loop = asyncio.get_running_loop()
    if isinstance(command[0], ScriptLine):
        return (await loop.subprocess_shell(make_pipes, command[0], env=env, cwd=cwd, **START_OPTIONS))[1]
    return (await loop.subprocess_exec(make_pipes, *command, env=env, cwd=cwd, **START_OPTIONS))[1]


class ChildPipes(asyncio.SubprocessProtocol):
    """The child's three pipes. Serves as the dispatcher's channel."""

    def __init__(
        self,
        *,
        name: str,
        dispatcher: RawDispatcher,
        output: ServerOutput,
        mark: str,
        on_silent_end: Callable[[], None] | None,
    ) -> None:
        """
        Args:
            mark: the child's value of INSTANCE_VARIABLE.
        """
        self._name, self._dispatcher, self._output, self._mark = name, dispatcher, output, mark
        self._on_silent_end = on_silent_end  # None once it was called, or once stdout had data
        self.has_ended = False  # the process ended on its own, or closed its output
        self._is_ending = False  # we end the process
        self._has_stdout_ended = self._has_stderr_ended = False
        self._exited = asyncio.Event()
        self._giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.family = ProcessFamily(transport.get_pid(), self._mark)
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._stdin = Outbox(stdin)
        self._stdin.count_for(self._dispatcher.unsent)
        stdout = transport.get_pipe_transport(1)
        read_in_pieces(stdout)
        assert isinstance(stdout, asyncio.ReadTransport)
        stderr = transport.get_pipe_transport(2)
        assert isinstance(stderr, asyncio.ReadTransport)
        self._stderr = StderrLines(self._output.wrote, pause=stderr.pause_reading, resume=stderr.resume_reading)
        self._unfollow = self._dispatcher.unsent.all.follow(stdout.pause_reading, stdout.resume_reading)
        self._dispatcher.attach(self)  # before the first byte is read, which may be a request to answer

    # the dispatcher's channel

    def write(self, data: bytes | memoryview) -> None:
        self._stdin.write(data)
        if self._stdin.is_broken:
            self._dispatcher.peer_reads_no_more()

    def close(self) -> None:
        self._stdin.close()

    def pause_writing(self) -> None:
        self._stdin.pause()

    def resume_writing(self) -> None:
        self._stdin.resume()

    # events of the process

    @property
    def pids(self) -> tuple[int, ...]:
        return () if self._exited.is_set() else (self._transport.get_pid(),)

    @property
    def exit_code(self) -> int | None:
        return self._transport.get_returncode()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._on_silent_end = None
            left_out = self._output.left_out
            self._dispatcher.feed(data)
            if self._output.left_out > left_out:
                self._pause_flood()
            return
        self._output.touch()
        self._stderr.feed(data)

    def _pause_flood(self) -> None:
        """Reads no more of a stdout that is full of other text until the second is over: other servers need the time."""
        stdout = self._transport.get_pipe_transport(1)
        assert isinstance(stdout, asyncio.ReadTransport)
        stdout.pause_reading()
        asyncio.get_running_loop().call_later(FLOOD_PAUSE_S, stdout.resume_reading)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._stdin.discard()
            self._dispatcher.peer_reads_no_more()
        elif fd == 1:
            self._unfollow()
            self._has_stdout_ended = True
            self._on_half_ended()
        else:
            self._stderr.finish()
            self._has_stderr_ended = True
            if self._has_stdout_ended or self._exited.is_set():  # the end of stderr explains the failure to callers
                self._on_half_ended()

    def process_exited(self) -> None:
        self._exited.set()
        self._stderr.read_on()
        self._on_half_ended()

    def _on_half_ended(self) -> None:
        if self._giving_up:
            self._giving_up.cancel()
        if self._has_stdout_ended and self._has_stderr_ended and self._exited.is_set():
            self._lose()
        else:
            self._giving_up = asyncio.get_running_loop().call_later(OTHER_HALF_OF_END_S, self._lose)

    def _lose(self) -> None:
        self.has_ended = not self._is_ending
        self._stderr.finish()
        if self._on_silent_end:
            self._on_silent_end()
            self._on_silent_end = None
        self._dispatcher.connection_lost(Phrase("server '{name}' {how}", name=self._name, how=self._how_it_ended()))

    def _how_it_ended(self) -> str:
        code = self.exit_code
        if code is None:
            how = Phrase("closed its output")
        else:
            how = Phrase("ended with exit code {code}", code=code) if code >= 0 else Phrase("was killed by signal {number}", number=-code)
        words = self._output.words
        return Phrase("{how}: {words}", how=how, words=words) if words else how

    async def end(self, grace_after_stdin_closed_s: float, grace_after_term_s: float) -> None:
        """Ends the process and its group; each step is bounded by its grace period in seconds."""
        self._is_ending = not self.has_ended
        self._on_silent_end = None
        self._unfollow()
        self._stderr.read_on()
        self._stdin.discard()
        self._stdin.close()
        for grace_s, next_step in ((grace_after_stdin_closed_s, self.family.ask_to_end), (grace_after_term_s, self.family.kill)):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._exited.wait()
                break
            next_step()
        await self._exited.wait()
        self.family.kill()  # children that outlived the server
        self._stderr.finish()
        self._transport.close()
