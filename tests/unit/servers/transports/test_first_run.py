"""stdio_transport.py: programs that run to their end before a server, with their words in the server's log."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.fakes.fake_channel import make_dispatcher
from tests.fakes.heard import PATIENCE_S
from tests.fakes.process_end import end_of

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.launch.program_launch import CannotStart, CommandLine, Launch, RunFirst
from tooltray.servers.transports.server_output import ServerOutput, new_log
from tooltray.servers.transports.stdio_transport import LIMIT_BYTES, StdioTransport, run_first


async def ran(tmp_path: Path, script: str, command: str = sys.executable) -> list[str]:
    output = ServerOutput(log=(log := new_log()), mask=str)
    async with asyncio.timeout(PATIENCE_S):
        await run_first("s", (command, "-I", "-S", "-c", script), {"PATH": "/usr/bin"}, str(tmp_path), output)
    return list(log)


async def test_all_that_it_writes_stands_in_the_log_however_long_its_lines_are(tmp_path: Path) -> None:
    script = f"import sys; print('one'); print('x' * {2 * LIMIT_BYTES}); sys.stderr.write('two'); sys.stdin.read()"
    log = await ran(tmp_path, script)
    assert (log[0], log[-1]) == ("one", "two")


@pytest.mark.parametrize(
    ("script", "kind", "why"),
    [
        ("raise SystemExit('npm error code E404')", CannotStart, "its package was not installed: npm has no such package"),
        ("raise SystemExit('npm error code ENOTFOUND')", TooltrayError, "registry cannot be reached"),
    ],
)
async def test_its_failure_is_told_like_that_of_a_server(tmp_path: Path, script: str, kind: type[TooltrayError], why: str) -> None:
    with pytest.raises(kind, match=why) as raised:
        await ran(tmp_path, script)
    assert type(raised.value) is kind


async def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="the package of 's' cannot be installed"):
        await ran(tmp_path, "", command="/not/there")


@pytest.mark.posix
async def test_it_knows_that_nothing_of_it_runs_any_more(tmp_path: Path) -> None:
    output = ServerOutput(log=new_log(), mask=str)
    assert await run_first("s", (sys.executable, "-I", "-S", "-c", "pass"), {}, str(tmp_path), output)


async def test_it_ends_with_all_that_it_started_when_nobody_waits_any_more(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n  print('up', flush=True)"
    script = f"import os, time\nif not os.fork():\n  {child}\ntime.sleep(600)"
    output = ServerOutput(log=new_log(), mask=str)
    seen = asyncio.Event()
    wrote, output.wrote = output.wrote, lambda line: (wrote(line), seen.set())[0]  # type: ignore[method-assign]
    run = asyncio.ensure_future(run_first("s", (sys.executable, "-I", "-S", "-c", script), {}, str(tmp_path), output))
    async with asyncio.timeout(PATIENCE_S):
        await seen.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await end_of(int(pid_file.read_text()))


class Around:
    """Runs something first, then another program than was asked for."""

    async def command(self, program: str, launch: Launch, run_first: RunFirst) -> CommandLine:
        await run_first((program, "-c", "print('installed')"), launch.env, launch.cwd)
        return CommandLine((program, "-c", "import os, sys; sys.stderr.write(os.environ['ADDED'])"), {"ADDED": "by what is around"})


async def test_what_is_around_a_program_says_what_is_run_and_with_which_environment(tmp_path: Path) -> None:
    log = new_log()
    launch = Launch(sys.executable, ("-c", "pass"), {"PATH": "/usr/bin"}, str(tmp_path), around=Around())
    transport, (dispatcher, _) = StdioTransport(name="s", launch=launch, log=log, mask=str), make_dispatcher()
    await transport.open(dispatcher)
    async with asyncio.timeout(PATIENCE_S):
        await dispatcher.closed.wait()
    await transport.close()
    assert list(log) == ["installed", "by what is around"]
