"""An installation of Tooltray that a bridge can start, with a hub that answers everything and tells how it was started. Test code.

The bridge starts what belongs to its own interpreter, so this is a virtual environment whose package `tooltray` is the fake below.
"""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

BOUND_S = 20.0  # for every wait of a test

HUB = """
import contextlib, fcntl, json, os, pathlib, signal, socket, sys, threading

signal.alarm(120)  # whatever becomes of the test
place = pathlib.Path(__file__).parents[4]
modes = (place / "modes").read_text().split()
mode = modes[0]
if len(modes) > 1:
    (place / "modes").write_text(" ".join(modes[1:]))
start = {
    "pid": os.getpid(), "arguments": sys.argv[1:], "environ": dict(os.environ), "cwd": os.getcwd(), "session": os.getsid(0),
    "open": [os.readlink(f"/proc/self/fd/{fd}") if os.path.exists(f"/proc/self/fd/{fd}") else "" for fd in range(3)],
    "others": [os.readlink(f"/proc/self/fd/{fd}") for fd in range(3, 40) if os.path.exists(f"/proc/self/fd/{fd}")],
}
with open(place / "starts", "a") as file:
    file.write(json.dumps(start) + "\\n")
if mode == "fail":
    sys.exit("first line\\nModuleNotFoundError: No module named 'something'\\n")
if mode == "silent":
    os._exit(1)
if mode == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
if mode == "other":
    sys.exit(3)
if mode == "hang":
    threading.Event().wait()
if mode == "linger":

    def linger(*_):
        listening.close()
        os.unlink(run / "hub.sock")
        lock.close()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, linger)
if mode == "loud":
    sys.stderr.write("x" * 1000000)
    sys.stderr.flush()
run = pathlib.Path(os.environ.get("TOOLTRAY_HOME") or pathlib.Path(os.environ["HOME"], ".tooltray"), "run")
lock = open(run / "hub.lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(3)
(run / "hub.sock").unlink(missing_ok=True)
listening = socket.socket(socket.AF_UNIX)
listening.bind(str(run / "hub.sock"))
listening.listen()


def serve(connection):
    with connection, connection.makefile("rwb") as stream, contextlib.suppress(OSError):
        hello = json.loads(stream.readline())
        for line in stream:
            message = json.loads(line)
            if "id" in message:
                result = {"pid": os.getpid(), "method": message["method"], "session": hello["session"]}
                stream.write(('{"jsonrpc":"2.0","id":%s,"result":%s}\\n' % (json.dumps(message["id"]), json.dumps(result))).encode())
                stream.flush()


connections = []
try:
    while True:
        connections.append(listening.accept()[0])
        threading.Thread(target=serve, args=[connections[-1]], daemon=True).start()
except OSError:  # it lingers: its place is free, and so are its clients
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    threading.Event().wait()
"""


class StartableHub:
    """Use as a context manager: every hub that was started from it is killed at the end.

    Attributes:
        python: the interpreter to run the bridge with.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.python = folder / "bin" / "python"
        package = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages" / "tooltray"
        self.python.parent.mkdir(parents=True)
        package.mkdir(parents=True)
        base = Path(sys.executable).resolve()
        self.python.symlink_to(base)
        (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(HUB)
        if any(name.startswith("COVERAGE_") for name in os.environ):
            outer = next(path for path in sys.path if path.endswith("site-packages"))
            (package.parent / "measure.pth").write_text(f"{outer}\nimport coverage; coverage.process_startup(slug='pth')\n")
        self.do("run")

    def __enter__(self) -> "StartableHub":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for start in self.starts():
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(start["pid"], signal.SIGKILL)
                os.waitpid(start["pid"], 0)  # if the test itself has started it

    def do(self, *modes: str) -> None:
        """What the next hubs do; the last one goes for all that follow.

        `run`, `loud` (runs, and writes much to standard error), `fail`, `silent`, `crash`, `other` (exit code 3), `hang`, `linger` (runs;
        at the first SIGTERM its place is free, as when a guardian still ends what the hub left behind, and at the second it ends).
        """
        (self._folder / "modes").write_text(" ".join(modes))

    def starts(self) -> list[dict[str, Any]]:
        """How each hub was started, in order: pid, arguments, environ, cwd, session, open (files 0 to 2), others (files above)."""
        try:
            return [json.loads(line) for line in (self._folder / "starts").read_text().splitlines()]
        except FileNotFoundError:
            return []

    def started(self, count: int) -> list[dict[str, Any]]:
        """Waits until so many have been started."""
        until = time.monotonic() + BOUND_S
        while len(starts := self.starts()) < count:
            if time.monotonic() > until:
                raise TimeoutError(f"{len(starts)} of {count} hubs were started")
            time.sleep(0.01)
        return starts
