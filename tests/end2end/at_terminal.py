"""Commands as a person gives them: with a terminal at both ends."""

import contextlib
import os
import pty
import select
import subprocess
import sys
import time

from tests.end2end.processes import REPLY_S


def at_terminal(world, *words, typed="y\n", timeout_s=REPLY_S):
    """Runs a command with a terminal at both ends; returns its exit code and what a person saw."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tooltray", *words], env=world.environ, cwd=world.home, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    seen, deadline = b"", time.monotonic() + timeout_s
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while select.select([ours], [], [], max(0.0, deadline - time.monotonic()))[0] and (data := os.read(ours, 65536)):
            seen += data
    os.close(ours)
    return process.wait(REPLY_S), seen.decode().replace("\r\n", "\n")
