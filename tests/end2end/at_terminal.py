"""Commands as a person gives them: with a terminal at both ends."""

import contextlib
import os
import pty
import select
import subprocess
import sys
import time

from tests.end2end.processes import REPLY_S


def at_terminal(world, *words, typed="y\n", at=(), timeout_s=REPLY_S):
    """Runs a command with a terminal at both ends; returns its exit code and what a person saw.

    Args:
        typed: at once.
        at: what is typed without echo: pairs of a prompt and a text, each typed once its prompt is there.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tooltray", *words],
        env=world.environ,
        cwd=world.home,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,  # else a passphrase is asked for where the tests run
    )
    os.close(theirs)
    os.write(ours, b"" if at else typed.encode())
    seen, told, waiting, deadline = b"", 0, list(at), time.monotonic() + timeout_s
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while select.select([ours], [], [], max(0.0, deadline - time.monotonic()))[0] and (data := os.read(ours, 65536)):
            seen += data
            if waiting and waiting[0][0].encode() in seen[told:]:
                told = len(seen)
                os.write(ours, waiting.pop(0)[1].encode())
    os.close(ours)
    return process.wait(REPLY_S), seen.decode().replace("\r\n", "\n")
