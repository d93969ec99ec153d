"""What the benchmarks share: homes with stub servers, hubs in them, the resources that a process uses, and medians. Linux."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.bench.raw_client import INITIALIZE, RawClient, wait_for

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable
STUB = [PYTHON, "-I", "-S", str(Path(__file__).with_name("stub_server.py"))]
SERVE = ("-m", "tooltray", "serve")
HELLO = {"tooltray": 1, "role": "client", "session": "bench", "server": None, "cwd": "/", "environment": {}}


class Home:
    """A HOME of its own with stub servers in its settings; removed when the benchmark ends."""

    def __init__(self, servers: int, tools: int, *, tree: Path = ROOT, url: str = "", is_modern: bool = False, **settings: object) -> None:
        """
        Args:
            tree: the source tree whose hub and bridge run.
            url: the address of the one server, which then is no process.
            is_modern: the servers speak only 2026-07-28.
            settings: more of the settings.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="ttb"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        root = self.folder / ".tooltray"
        root.mkdir(mode=0o700)
        self.bridge = [PYTHON, "-I", "-S", str(tree / "desktop" / "tooltray_bridge" / "__main__.py")]
        self.environ = {**os.environ, "HOME": str(self.folder), "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(tree / "desktop")}
        self.entries = {
            f"s{number}": {
                "command": STUB[0],
                "args": STUB[1:],
                "env": {"STUB_TOOLS": str(tools), "STUB_NAME": f"s{number}", **({"STUB_ERA": "modern"} if is_modern else {})},
                "autoApprove": ["all"],
            }
            for number in range(servers)
        }
        if url:
            self.entries = {"s0": {"type": "http", "url": url, "autoApprove": ["all"]}}
        document = {"version": 1, "mcpServers": self.entries, "defaultServers": list(self.entries), **settings}
        (root / "settings.json").write_text(json.dumps(document))
        self.config = self.folder / "fastmcp.json"
        plain = {name: {key: entry[key] for key in entry if key not in ("autoApprove", "type")} for name, entry in self.entries.items()}
        self.config.write_text(json.dumps({"mcpServers": plain}))
        self.record = root / "run" / "hub.json"

    def client(self, *, is_modern: bool = False) -> RawClient:
        """Starts a bridge and returns its client."""
        return RawClient(self.bridge, self.environ, is_modern=is_modern)

    @contextlib.contextmanager
    def hub(self, command: Sequence[str] = SERVE) -> Iterator[int]:
        """Runs a hub; gives the pid of the hub itself."""
        started = subprocess.Popen([PYTHON, *command], env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(self.record.exists)
            yield json.loads(self.record.read_text())["pid"]
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(30)

    def run(self, *words: str) -> str:
        """Runs a command of Tooltray and returns its output."""
        line = [PYTHON, "-m", "tooltray", *words]
        return subprocess.run(line, env=self.environ, stdout=subprocess.PIPE, text=True, check=True).stdout

    @contextlib.contextmanager
    def client_without_hub(self) -> Iterator[RawClient]:
        """Gives the client of a bridge that finds no hub; stops the hub that the bridge has started."""
        client = self.client()
        try:
            yield client
        finally:
            wait_for(self.is_served)  # also where the bridge answered before the hub
            client.close()
            self.run("stop")
            wait_for(lambda: not self.record.exists())

    def is_served(self) -> bool:
        """Returns whether a hub accepts bridges and answers them."""
        with socket.socket(socket.AF_UNIX) as channel, contextlib.suppress(OSError):
            channel.connect(str(self.record.with_name("hub.sock")))
            request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
            channel.sendall(b"%b\n%b\n" % (json.dumps(HELLO).encode(), json.dumps(request).encode()))
            return bool(channel.recv(1))
        return False


def memory_mb(pid: int, kind: str = "VmRSS") -> float:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(kind))


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_cpu_s(pid: int) -> dict[int, float]:
    """Returns the processor time of each thread of a process; the main thread's id is the pid."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            found[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


def medians(rounds: int, **measures: Callable[[], float | Sequence[float]]) -> dict[str, tuple[float, ...]]:
    """Runs the measures in turn, round by round, so that a machine's drift hits all alike; returns the medians of each one's figures."""
    runs: dict[str, list[tuple[float, ...]]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found = measure()
            runs[name].append((found,) if isinstance(found, float) else tuple(found))
    return {name: tuple(map(statistics.median, zip(*values, strict=True))) for name, values in runs.items()}


def p50_p99(times: Sequence[float]) -> tuple[float, float]:
    in_order = sorted(times)
    return in_order[len(in_order) // 2], in_order[int(len(in_order) * 0.99)]
