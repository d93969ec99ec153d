"""program_output.py: what a program prints with nobody there to answer it."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest
from tests.fakes.heard import PATIENCE_S
from tests.fakes.process_end import end_of

from tooltray.servers.launch.process_family import START_OPTIONS
from tooltray.servers.launch.program_output import Printed, printed_by, started

ENVIRON = {"PATH": os.environ["PATH"]}
TERMINAL = "import os, sys\ntry: os.open('/dev/tty', os.O_RDWR)\nexcept OSError: print('none', len(sys.stdin.read()))"


async def run(command: str | Sequence[str], *, timeout_s: float = 20.0, most_bytes: int = 1000, cwd: str = "/") -> Printed:
    return await printed_by(command, environ=ENVIRON, cwd=cwd, timeout_s=timeout_s, most_bytes=most_bytes)


@pytest.mark.posix
async def test_it_has_no_terminal_and_no_input() -> None:
    assert await run([sys.executable, "-c", TERMINAL]) == Printed(0, b"none 0\n")


@pytest.mark.posix
async def test_what_it_says_on_stderr_goes_nowhere_and_its_code_is_known() -> None:
    printed = await run("echo secret >&2; echo value; exit 3")
    assert printed == Printed(3, b"value\n")
    assert "value" not in repr(printed)


@pytest.mark.posix
async def test_of_too_much_one_byte_more_is_read_and_it_is_ended() -> None:
    assert await run("exec yes", most_bytes=9) == Printed(0, b"y\n" * 5)
    assert await run("printf 123456789; exit 3", most_bytes=9) == Printed(3, b"123456789")


@pytest.mark.posix
async def test_what_it_leaves_behind_runs_on_where_it_has_ended_itself() -> None:
    child = int((await run("sleep 1000 > /dev/null & echo $!")).output)
    assert psutil.Process(child).status() != psutil.STATUS_ZOMBIE
    os.kill(child, signal.SIGKILL)
    await end_of(child)


@pytest.mark.posix
async def test_one_that_hangs_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        await run("sleep 1000 & echo $! > pid; wait", timeout_s=0.5, cwd=str(tmp_path))
    child = int((tmp_path / "pid").read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


@pytest.mark.posix
async def test_one_that_hangs_is_not_waited_for_where_what_has_left_its_session_holds_its_output_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooltray.servers.launch.program_output.KILLED_WITHIN_S", 0.05)
    open_files = psutil.Process().num_fds()
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(TimeoutError):
            await run("setsid sh -c 'echo $$ > pid; exec sleep 1000' & wait", timeout_s=0.5, cwd=str(tmp_path))
    await asyncio.sleep(0)  # closes the pipe
    assert psutil.Process().num_fds() == open_files
    child = int((tmp_path / "pid").read_text())
    os.kill(child, signal.SIGKILL)
    await end_of(child)


@pytest.mark.posix
async def test_one_whose_start_is_cancelled_halfway_ends_with_what_it_has_started(tmp_path: Path) -> None:
    child = 0

    async def start() -> Process:
        nonlocal child
        os.mkfifo(fifo := tmp_path / "fifo")
        command = f"sleep 1000 & echo $! > {fifo}; wait"
        process = await asyncio.create_subprocess_exec("/bin/sh", "-c", command, stdout=PIPE, **START_OPTIONS)
        starting.cancel()
        child = int(fifo.read_text())
        return process

    starting = asyncio.ensure_future(started(start()))
    with pytest.raises(asyncio.CancelledError):
        await starting
    await end_of(child)


async def test_one_that_is_not_there_cannot_be_run() -> None:
    with pytest.raises(OSError):
        await run(["no-such-program-here"])
