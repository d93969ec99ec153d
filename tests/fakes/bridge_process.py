"""A bridge as an AI client has it: a child process with two pipes, every wait bounded. Test code."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import tooltray_bridge

BOUND_S = 20.0  # for every wait of a test
ATTEMPTS = 4
CHUNK_BYTES = 1 << 20
MAIN = Path(tooltray_bridge.__file__).with_name("__main__.py")
MEASURED = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
"""What a program needs in its environment to be measured when the tests are."""
FLAGS = () if MEASURED else ("-I", "-S")
"""What AI clients start a bridge with; these would keep it from being measured."""


class BridgeProcess:
    """Use as a context manager: at the end the bridge is ended if it has not left.

    Args:
        arguments: of the bridge.
        environ: all of its environment.
        python: the interpreter.
    """

    def __init__(
        self,
        *arguments: str,
        environ: Mapping[str, str],
        python: str | Path = sys.executable,
        cwd: Path | None = None,
        stdin: int | IO[bytes] = subprocess.PIPE,
        stdout: int | IO[bytes] = subprocess.PIPE,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self.process = subprocess.Popen(
            [str(python), *FLAGS, str(MAIN), *arguments],
            env={**environ, **MEASURED},
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
            bufsize=0,
        )
        self._received = b""

    def __enter__(self) -> "BridgeProcess":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._terminate()
        finally:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    def send(self, data: bytes) -> None:
        """Writes all of it; blocks while the bridge does not read."""
        assert self.process.stdin
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def line(self) -> bytes:
        """The next line, its newline included; what there is if the bridge ends before the newline."""
        while b"\n" not in self._received and (data := self._read()):
            self._received += data
        line, newline, self._received = self._received.partition(b"\n")
        return line + newline

    def message(self) -> dict[str, Any]:
        return json.loads(self.line())

    def at_least(self, size: int) -> bytes:
        """What has come so far, once it is so many bytes."""
        while len(self._received) < size and (data := self._read()):
            self._received += data
        return self._received

    def take(self, size: int) -> int:
        """Reads so many bytes and forgets them; returns how many came before the end."""
        taken, self._received = len(self._received[:size]), self._received[size:]
        while taken < size and (data := self._read(min(CHUNK_BYTES, size - taken))):
            taken += len(data)
        return taken

    def rest(self) -> bytes:
        """All up to the end of the bridge's output."""
        while data := self._read():
            self._received += data
        rest, self._received = self._received, b""
        return rest

    def close_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def close_output(self) -> None:
        assert self.process.stdout
        self.process.stdout.close()

    def end(self) -> int:
        """Waits for the end; returns the exit code."""
        return self.process.wait(BOUND_S)

    def errors(self) -> bytes:
        """What it wrote to standard error; after its end."""
        assert self.process.stderr
        return self.process.stderr.read()

    def _terminate(self) -> None:
        """Until it has ended: a bridge that is measured handles the signal in Python, which sees none that comes just before it waits."""
        for _ in range(ATTEMPTS):
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(BOUND_S / ATTEMPTS)
                return
        raise TimeoutError(f"the bridge has not ended in {BOUND_S:.0f} s")

    def _read(self, most: int = CHUNK_BYTES) -> bytes:
        assert self.process.stdout
        poll = select.poll()
        poll.register(self.process.stdout, select.POLLIN)
        if not poll.poll(BOUND_S * 1000):
            raise TimeoutError(f"the bridge has written nothing for {BOUND_S:.0f} s")
        return os.read(self.process.stdout.fileno(), most)
