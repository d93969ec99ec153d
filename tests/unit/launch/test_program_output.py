"""program_output.py: what a program prints with nobody there to answer it."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from tooltray.launch.program_output import Printed, printed_by

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
    assert len((await run("exec yes", most_bytes=10)).output) == 11


@pytest.mark.posix
async def test_one_that_hangs_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        await run("sleep 1000 & echo $! > pid; wait", timeout_s=0.5, cwd=str(tmp_path))
    child = int((tmp_path / "pid").read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


async def test_one_that_is_not_there_cannot_be_run() -> None:
    with pytest.raises(OSError):
        await run(["no-such-program-here"])
