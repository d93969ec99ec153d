"""What all benchmarks start and look at: homes with stub servers, hubs in them, and what a process uses. Linux."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable
BRIDGE = [PYTHON, "-I", "-S", str(ROOT / "desktop" / "tooltray_bridge" / "__main__.py")]
STUB = [PYTHON, "-I", "-S", str(Path(__file__).with_name("stub_server.py"))]


class Home:
    """A HOME of its own with stub servers in its settings."""

    def __init__(self, servers: int, tools: int, *, url: str = "", is_modern: bool = False, **settings: object) -> None:
        """
        Args:
            url: the one server is reached there, instead of being a process.
            is_modern: the servers speak 2026-07-28 and nothing else.
            settings: more of the settings.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="ttb"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)  # also where a row fails
        root = self.folder / ".tooltray"
        root.mkdir(mode=0o700)
        self.environ = {**os.environ, "HOME": str(self.folder), "QT_QPA_PLATFORM": "offscreen"}
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

    @contextlib.contextmanager
    def hub(self, command: Sequence[str] = ("-m", "tooltray", "serve")) -> Iterator[int]:
        """A running hub; gives the pid of the hub itself."""
        started = subprocess.Popen([PYTHON, *command], env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(self.record.exists)
            yield json.loads(self.record.read_text())["pid"]
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(30)

    def stop_hub(self) -> None:
        subprocess.run([PYTHON, "-m", "tooltray", "stop"], env=self.environ, stdout=subprocess.DEVNULL, check=True)
        wait_for(lambda: not self.record.exists())

    def remove(self) -> None:
        shutil.rmtree(self.folder)


def wait_for(condition: Callable[[], object], within_s: float = 60.0) -> None:
    give_up_at = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError("waited too long")
        time.sleep(0.005)


def memory_mb(pid: int, kind: str = "VmRSS") -> float:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(kind))


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
