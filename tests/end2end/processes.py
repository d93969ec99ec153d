"""The real programs as a user starts them, and what they leave behind.

Tests have a world through the fixture `world`. Each world has a HOME of its own; a process belongs to it if its environment carries that
HOME or the world's mark, so that a hub which a bridge started with a fresh environment is found too.
"""

import contextlib
import hashlib
import json
import os
import queue
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from tooltray.carriers.control.control_client import ControlClient, HubLost
from tooltray.foundation.home.home import Home
from tooltray.foundation.regular_file import read_regular

ROOT = Path(__file__).parents[2]
BRIDGE = ROOT / "desktop" / "tooltray_bridge" / "__main__.py"
MARK = "TOOLTRAY_TEST_ID"
CONFINED_HOME = "TOOLTRAY_CONFINED_HOME"  # how HOME reaches a confined server, through what is put around it
REPLY_S = 30.0  # for one answer of a program on a busy machine with two cores, its start included
VERB_S = 60.0  # for a verb that waits for a server
END_S = 20.0  # for an orderly end; the hub gives open calls 10 s when it hands over
STDIN_CLOSED_S = 3.0  # what runs on after its stdin closed gets SIGTERM
POLL_S = 0.02


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = REPLY_S) -> Any:
    """Waits for something in another process that gives no event (a file, a process that goes); returns what `condition` returned.

    Raises:
        TimeoutError: `condition` gave nothing true within `timeout_s`; says what was waited for.
    """
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout_s:.0f} s for {what}")
        pause.wait(POLL_S)
    return found


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Program:
    """A started program; its lines are read as they come, so that no pipe ever fills."""

    def __init__(self, command: Sequence[str], *, environ: Mapping[str, str], cwd: Path) -> None:
        self.command = list(command)
        self.heeds_stdin = True  # whether the end of its stdin ends it
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(environ), cwd=cwd, bufsize=0
        )
        self.error_lines: list[str] = []
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read_output, name=f"stdout of {self.process.pid}", daemon=True),
            threading.Thread(target=self._read_errors, name=f"stderr of {self.process.pid}", daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def error_text(self) -> str:
        return "".join(self.error_lines)

    def write(self, data: bytes) -> None:
        """Writes all of it; blocks while the program does not read."""
        assert self.process.stdin
        self.process.stdin.write(data)

    def send(self, message: Any) -> None:
        """Writes a JSON value as one line."""
        self.write(json.dumps(message).encode() + b"\n")

    def read_line(self, timeout_s: float = REPLY_S) -> bytes:
        """The next line of stdout, without its end; empty at the end of stdout.

        Raises:
            TimeoutError: no line came; shows what stands on stderr.
        """
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError(f"{self.command} wrote no line in {timeout_s:.0f} s; stderr:\n{self.error_text}") from None
        if line is None:
            self._lines.put(None)
            return b""
        return line.rstrip(b"\r\n")

    def read(self, timeout_s: float = REPLY_S) -> Any:
        """The next line of stdout as JSON.

        Raises:
            EOFError: stdout ended.
        """
        line = self.read_line(timeout_s)
        if not line:
            raise EOFError(f"{self.command} closed its stdout; stderr:\n{self.error_text}")
        return json.loads(line)

    def request(self, method: str, params: Any = None, *, id: int | str = 1, timeout_s: float = REPLY_S) -> Any:
        """Sends a request and returns its whole reply; notifications and other replies before it are dropped."""
        self.send_request(method, params, id=id)
        return self.reply_to(id, timeout_s)

    def send_request(self, method: str, params: Any = None, *, id: int | str) -> None:
        """Sends a request whose reply is read later."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})

    def reply_to(self, id: int | str | None, timeout_s: float = REPLY_S) -> Any:
        """The whole reply to a request that was sent; notifications, requests and other replies before it are dropped."""
        return self.reply_and_before(id, timeout_s)[0]

    def reply_and_before(self, id: int | str | None, timeout_s: float = REPLY_S) -> tuple[Any, list[Any]]:
        """As `reply_to`, with the messages that came before the reply, in their order."""
        before: list[Any] = []
        while True:
            message = self.read(timeout_s)
            if "method" not in message and message.get("id") == id:  # the other side's own requests may have the same id
                return message, before
            before.append(message)

    def next_of(self, method: str) -> Any:
        """The next notification or request with this method; what comes before it is dropped, and named where nothing came.

        Raises:
            TimeoutError: no such message came.
        """
        before: list[Any] = []
        try:
            while (message := self.read()).get("method") != method:
                before.append(message)
        except TimeoutError as error:
            error.add_note(f"before: {before}")
            raise
        return message

    def initialize(self, version: str = "2025-11-25", capabilities: Any = None, name: str = "end2end") -> Any:
        """The handshake of the legacy era; returns its result."""
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": name, "version": "1"}}
        reply = self.request("initialize", params, id="hello")
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply["result"]

    def close_stdin(self) -> None:
        with contextlib.suppress(OSError):
            assert self.process.stdin
            self.process.stdin.close()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self, timeout_s: float = END_S) -> int:
        """The exit code; its streams are read to their ends.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        code = self.process.wait(timeout_s)
        for reader in self._readers:
            reader.join(timeout_s)
        return code

    def end(self) -> int:
        """Ends it as an AI client does: stdin closed, then SIGTERM, then SIGKILL. May be called again after the program ended."""
        self.close_stdin()
        for number, grace_s in ((signal.SIGTERM, STDIN_CLOSED_S if self.heeds_stdin else 0.0), (signal.SIGKILL, END_S)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(grace_s)
                break
            self.process.send_signal(number)
        code = self.process.wait(END_S)
        for reader in self._readers:
            reader.join(END_S)
        assert self.process.stdout
        assert self.process.stderr
        if not any(reader.is_alive() for reader in self._readers):  # something that outlived the program may hold its pipes
            self.process.stdout.close()
            self.process.stderr.close()
        return code

    def _read_output(self) -> None:
        assert self.process.stdout
        buffered: list[bytes] = []
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self.process.stdout.fileno(), 1 << 20):
                *ends, rest = data.split(b"\n")
                for end in ends:
                    self._lines.put(b"".join([*buffered, end]) + b"\n")
                    buffered = []
                if rest:
                    buffered.append(rest)
        if buffered:
            self._lines.put(b"".join(buffered))
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        with contextlib.suppress(OSError, ValueError):
            for line in iter(self.process.stderr.readline, b""):
                self.error_lines.append(line.decode(errors="replace"))


class World:
    """A person's machine for one test: a HOME, an environment, the programs started in it, and a look at what they left."""

    def __init__(self, end_s: float = END_S) -> None:
        self.end_s = end_s  # how long what was told to end may take
        self.mark = uuid.uuid4().hex
        self.home = Path(tempfile.mkdtemp(prefix="w", dir=tempfile.gettempdir()))
        self.root = self.home / ".tooltray"
        self.temporary = self.home / "tmp"
        self.temporary.mkdir()
        self.environ = {
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "SHELL": "/bin/sh",
            "TMPDIR": str(self.temporary),
            "QT_QPA_PLATFORM": "offscreen",
            MARK: self.mark,
        }
        self.folders_of_others: set[Path] = set()
        """Folders in which servers of other people write files of their own: what these leave half-written as they end is theirs."""
        self._programs: list[Program] = []
        self._killed: list[int] = []

    # starting

    def start(self, *command: str, environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Program:
        """Starts a program in this world; it is ended with the world at the latest."""
        program = Program(command, environ={**self.environ, **(environ or {})}, cwd=cwd or self.home)
        self._programs.append(program)
        return program

    def start_hub(self, *arguments: str, environ: Mapping[str, str] | None = None) -> Program:
        """Starts `tooltray serve` and waits until it listens."""
        hub = self.start(sys.executable, "-m", "tooltray", "serve", *arguments, environ=environ)
        hub.heeds_stdin = "--stdio" in arguments
        self.wait_for(hub)
        return hub

    def wait_for(self, hub: Program) -> None:
        """Waits until a started hub listens.

        Raises:
            RuntimeError: it ended instead; shows what stands on stderr.
        """

        def listens() -> bool:
            if hub.process.poll() is not None:
                raise RuntimeError(f"the hub ended with {hub.process.returncode} before it listened; stderr:\n{hub.error_text}")
            return self.hub_pid() is not None

        wait_until(listens, "the hub to listen")

    def start_bridge(self, *arguments: str, environ: Mapping[str, str] | None = None) -> Program:
        """Starts the bridge by the command that stands in an AI client's config."""
        return self.start(sys.executable, "-I", "-S", str(BRIDGE), *arguments, environ=environ)

    def tooltray(self, *arguments: str, timeout_s: float = 60.0, input: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs one command of the command line to its end; the exit code is the caller's to judge."""
        return subprocess.run(
            [sys.executable, "-m", "tooltray", *arguments],
            env=self.environ,
            cwd=self.home,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def add_server(self, name: str, *command: str, **fields: Any) -> None:
        """Adds a server as a user who trusts it has it: it starts with the hub, or at once, and all its calls run unasked.

        Args:
            fields: more of its entry, as `env`.
        """
        entry = {"command": command[0], "args": list(command[1:]), "autoApprove": ["all"], **fields}
        if self.hub_pid() is None:
            path = self.root / "settings.json"
            settings = json.loads(path.read_bytes()) if path.exists() else {"version": 1, "mcpServers": {}, "defaultServers": []}
            settings["mcpServers"][name] = entry
            settings["defaultServers"].append(name)
            self.write_settings(settings)
        else:
            self.ask("add_mcp_server", name=name, config=entry)
            self.ask("start_server", name=name)

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Writes settings.json by hand, in one step, so that a hub that runs never reads a half of it."""
        path = self.root / "settings.json"
        self.root.mkdir(mode=0o700, exist_ok=True)
        fresh = path.with_suffix(".by-hand")
        fresh.write_text(json.dumps(settings))
        fresh.chmod(0o600)
        fresh.replace(path)

    def trust(self, name: str, *rules: str) -> None:
        """Lets calls of a server run unasked, as a user at a terminal does.

        Args:
            rules: its `autoApprove`; all calls if there is none.
        """
        approved = list(rules or ("all",))
        if self.hub_pid() is None:
            settings = json.loads((self.root / "settings.json").read_bytes())
            settings["mcpServers"][name]["autoApprove"] = approved
            self.write_settings(settings)
        else:
            self.ask("set_server_auto_approve", server=name, rules=approved)

    # looking

    def ask(self, verb: str, /, **params: Any) -> Any:
        """Calls a verb of the hub that runs, as a user at a terminal; much quicker than the command of the command line."""
        channel = ControlClient.connect(Home(self.root), is_at_terminal=True)
        assert channel, "no hub runs"
        with channel:
            return channel.call(verb, timeout_s=VERB_S, **params)

    def servers(self) -> dict[str, dict[str, Any]]:
        """What the hub says of each server that a user added, by name."""
        return {server["name"]: server for server in self.ask("get_snapshot")["servers"] if server["name"] != "hub"}

    def hub_pid(self) -> int | None:
        """The pid of the hub that runs, by `run/hub.json`; None while there is none."""
        try:
            pid = json.loads(read_regular(self.root / "run" / "hub.json"))["pid"]
        except (OSError, ValueError, KeyError):
            return None
        return pid if psutil.pid_exists(pid) else None

    def records(self) -> list[dict[str, Any]]:
        """All records in the log files, oldest first."""
        files = sorted((self.root / "logs").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]

    def processes(self) -> list[psutil.Process]:
        """Every process that belongs to this world, whoever started it; without the test itself."""
        marks = (f"{MARK}={self.mark}".encode(), f"HOME={self.home}".encode(), f"{CONFINED_HOME}={self.home}".encode())
        found = []
        for pid in psutil.pids():
            if pid == os.getpid():
                continue
            with contextlib.suppress(OSError, psutil.Error):
                if not set(marks).isdisjoint(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")):
                    process = psutil.Process(pid)
                    if process.status() != psutil.STATUS_ZOMBIE:
                        found.append(process)
        return found

    def left_files(self) -> list[str]:
        """Sockets, the record of a running hub, and half-written or temporary files. Settings, catalogues, logs and locks may stay."""
        places = [self.home, self.socket_fallback()]
        found = []
        for path in (path for place in places if place.exists() for path in (place, *place.rglob("*"))):
            with contextlib.suppress(OSError):
                is_socket = stat.S_ISSOCK(path.lstat().st_mode)
                is_record = path == self.root / "run" / "hub.json"
                is_temporary = path.is_relative_to(self.temporary) and path != self.temporary
                is_half_written = path.suffix in (".tmp", ".part", ".new") and self.folders_of_others.isdisjoint(path.parents)
                is_half_written &= not any(f".{pid}-" in path.name for pid in self._killed)  # the next hub removes them
                if is_socket or is_record or is_temporary or is_half_written or path == places[1]:
                    found.append(str(path))
        return found

    def socket_fallback(self) -> Path:
        """The folder under /tmp that holds the socket of a home with a long path."""
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path("/tmp", f"tooltray-{os.getuid()}-{name}")

    def wait_until_empty(self, timeout_s: float | None = None) -> None:
        """Waits until no process of this world is left.

        Raises:
            TimeoutError: some still run; says which.
        """
        try:
            wait_until(lambda: not self.processes(), "every process to go", self.end_s if timeout_s is None else timeout_s)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; left: {_words(self.processes())}") from None

    def kill_hub(self, number: int = signal.SIGKILL) -> int:
        """Sends the running hub a signal, at whatever moment that is; returns its pid. SIGKILL may leave half of what it was writing."""
        pid = self.hub_pid()
        assert pid is not None
        if number == signal.SIGKILL:
            self._killed.append(pid)
        os.kill(pid, number)
        return pid

    def stop_hub(self) -> None:
        """Ends the hub that runs in order, and waits until it and what it started are gone."""
        if self.hub_pid() is not None:
            with contextlib.suppress(HubLost):
                self.ask("hub/stop")
        self.wait_until_empty()

    # ending

    @contextlib.contextmanager
    def visit(self) -> Iterator["World"]:
        """For one test in the world of several: the programs that it starts end with it."""
        before = len(self._programs)
        try:
            yield self
        finally:
            while len(self._programs) > before:
                self._programs.pop().end()

    def end(self) -> list[str]:
        """Ends the programs that were started here, then says what is left although nothing should be; that is removed."""
        for program in reversed(self._programs):
            program.end()
        hub = self.hub_pid()  # one that a bridge or a command started, meant to stay for a while
        if hub is not None:
            with contextlib.suppress(HubLost, AssertionError):
                self.ask("hub/stop")
        left = []
        with contextlib.suppress(TimeoutError):
            self.wait_until_empty()
        processes = self.processes()
        left += [f"process {words}" for words in _words(processes)]
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(processes, timeout=self.end_s)
        left += [f"file {path}" for path in self.left_files()]
        shutil.rmtree(self.socket_fallback(), ignore_errors=True)
        for folder in [path for path in self.home.rglob("*") if path.is_dir() and not path.is_symlink()]:
            folder.chmod(0o700)  # a test of a read-only home leaves folders that cannot be emptied
        shutil.rmtree(self.home)
        return left


@contextlib.contextmanager
def new_world() -> Iterator[World]:
    """A world that fails the test when something is left of it."""
    world = World()
    try:
        yield world
    finally:
        left = world.end()
    assert not left, "left behind: " + "; ".join(left)


def _words(processes: Sequence[psutil.Process]) -> list[str]:
    found = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            found.append(f"{process.pid} ({' '.join(process.cmdline())[:200]})")
    return found
