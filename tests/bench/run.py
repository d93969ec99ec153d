"""The figures of the README, measured side by side: a direct connection, Tooltray (bridge and hub), and FastMCP's proxy.

Usage: run.py [--quick]     prints a Markdown table; `make bench` runs it

Everything is taken in rounds, one program after the other, so that a machine's drift hits all of them alike; medians are printed, and
ratios to the direct connection of the same run. Nothing is asserted: figures are for people. Wants a quiet machine and Linux.
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from raw_client import RawClient

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable
BRIDGE = [PYTHON, "-I", "-S", str(ROOT / "desktop" / "tooltray_bridge" / "__main__.py")]
STUB = [PYTHON, "-I", "-S", str(Path(__file__).with_name("stub_server.py"))]
FASTMCP = [str(ROOT / ".cache" / "fastmcp" / "bin" / "python"), str(Path(__file__).with_name("fastmcp_proxy.py"))]
CALLS = 1000


class Home:
    """A HOME of its own with stub servers in its settings."""

    def __init__(self, servers: int, tools: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ttb"))
        root = self.folder / ".tooltray"
        root.mkdir(mode=0o700)
        self.environ = {**os.environ, "HOME": str(self.folder), "QT_QPA_PLATFORM": "offscreen"}
        self.entries = {
            f"s{number}": {
                "command": STUB[0],
                "args": STUB[1:],
                "env": {"STUB_TOOLS": str(tools), "STUB_NAME": f"s{number}"},
                "autoApprove": ["all"],
            }
            for number in range(servers)
        }
        settings = {"version": 1, "mcpServers": self.entries, "defaultServers": list(self.entries)}
        (root / "settings.json").write_text(json.dumps(settings))
        self.config = self.folder / "fastmcp.json"
        plain = {name: {key: entry[key] for key in ("command", "args", "env")} for name, entry in self.entries.items()}
        self.config.write_text(json.dumps({"mcpServers": plain}))
        self.record = root / "run" / "hub.json"

    @contextlib.contextmanager
    def hub(self, *, is_desktop: bool = False) -> Iterator[int]:
        """A running hub; gives the pid of the hub itself."""
        command = [PYTHON, "-m", "tooltray", *([] if is_desktop else ["serve"])]
        started = subprocess.Popen(command, env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.record.exists)
        try:
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


def first_reply_ms(command: list[str], environ: dict[str, str]) -> float:
    client = RawClient(command, environ)
    client.request("ping")
    spent = (time.perf_counter() - client.spawned_at) * 1000
    client.close()
    return spent


def list_ms(command: list[str], environ: dict[str, str], tools: int) -> float:
    """From the start of the program until a list with all tools."""
    client = RawClient(command, environ)
    client.initialize()
    while len(client.tools()) < tools:
        pass
    spent = (time.perf_counter() - client.spawned_at) * 1000
    client.close()
    return spent


def call_figures(command: list[str], environ: dict[str, str], calls: int = CALLS) -> dict[str, float]:
    client = RawClient(command, environ)
    client.initialize()
    wait_for(lambda: any(name.endswith("echo") for name in client.tools()))
    names = client.tools()
    echo = next(name for name in names if name.endswith("echo"))
    blob = echo.removesuffix("echo") + "blob"
    figures = {"rss": memory_mb(client.process.pid)}
    for _ in range(calls // 5):
        client.call(echo, text="warm")
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        client.call(echo, text="x" * 64)
        times.append((time.perf_counter() - started) * 1000)
    times.sort()
    figures |= {"p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}
    figures["calls_s"] = client.calls_per_second(echo, {"text": "x" * 64}, 4 * calls, 16)
    for size in (20, 100):
        started = time.perf_counter()
        reply = client.call(blob, n=size * 1_000_000)
        figures[f"blob{size}"] = (time.perf_counter() - started) * 1000
        if len(reply.get("result", {}).get("content", [{}])[0].get("text", "")) != size * 1_000_000:
            figures[f"blob{size}"] = float("nan")
    client.close()
    return figures


def medians(rounds: int, **measures: Callable[[], object]) -> dict[str, object]:
    """Each measure in turn, round by round; medians of figures, or of each figure of a dict."""
    runs: dict[str, list] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            runs[name].append(measure())
    return {
        name: {key: statistics.median(run[key] for run in values) for key in values[0]}
        if isinstance(values[0], dict)
        else statistics.median(values)
        for name, values in runs.items()
    }


class Table:
    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, str, str]] = []

    def add(self, what: str, aim: str, direct: str, tooltray: str, fastmcp: str) -> None:
        self.rows.append((what, aim, direct, tooltray, fastmcp))
        print(f"  {what}: direct {direct}, Tooltray {tooltray}, FastMCP {fastmcp} (aim {aim})", file=sys.stderr)

    def print(self) -> None:
        print("| what | aim | direct | Tooltray | FastMCP proxy |")
        print("|---|---|---|---|---|")
        for row in self.rows:
            print("| " + " | ".join(row) + " |")


def start_rows(table: Table, rounds: int) -> None:
    home = Home(1, 100)
    tools = 100
    with home.hub():
        list_ms(BRIDGE, home.environ, tools + 2)
        found = medians(
            rounds,
            python=lambda: first_reply_ms_of_python(),
            bridge=lambda: first_reply_ms(BRIDGE, home.environ),
            fastmcp=lambda: first_reply_ms([*FASTMCP, str(home.config)], home.environ),
        )
        table.add(
            "bridge, spawn to first reply", "<= 15 ms", f"(python -I -S -c pass {found['python']:.1f} ms)", f"{found['bridge']:.1f} ms",
            f"{found['fastmcp']:.0f} ms",
        )  # fmt: skip
        environ = {**home.environ, "STUB_TOOLS": str(tools)}
        found = medians(
            rounds,
            direct=lambda: list_ms(STUB, environ, tools),
            tooltray=lambda: list_ms(BRIDGE, home.environ, tools + 2),
            fastmcp=lambda: list_ms([*FASTMCP, str(home.config)], home.environ, tools),
        )
        table.add(
            "spawn to complete list of 100 tools, hub running", "<= 60 ms", f"{found['direct']:.0f} ms", f"{found['tooltray']:.0f} ms",
            f"{found['fastmcp']:.0f} ms",
        )  # fmt: skip

    def without_hub() -> float:
        spent = list_ms(BRIDGE, home.environ, tools + 2)
        home.stop_hub()
        return spent

    table.add("the same, no hub running", "<= 2.5 s", "", f"{medians(rounds, it=without_hub)['it']:.0f} ms", "")
    home.remove()


def first_reply_ms_of_python() -> float:
    started = time.perf_counter()
    subprocess.run([PYTHON, "-I", "-S", "-c", "pass"], check=True)
    return (time.perf_counter() - started) * 1000


def call_rows(table: Table, rounds: int, servers: int) -> None:
    home = Home(servers, 20)
    with home.hub():
        found = medians(
            rounds,
            direct=lambda: call_figures(STUB, home.environ),
            tooltray=lambda: call_figures(BRIDGE, home.environ),
            fastmcp=lambda: call_figures([*FASTMCP, str(home.config)], home.environ, CALLS // 10),
        )
    direct, ours, theirs = found["direct"], found["tooltray"], found["fastmcp"]
    label = f"{servers} server{'s' * (servers > 1)}"
    table.add(
        f"one call, added p50 / p99 ({label})", "<= 0.15 / 0.6 ms", f"{direct['p50']:.3f} / {direct['p99']:.3f} ms",
        f"+{ours['p50'] - direct['p50']:.3f} / +{ours['p99'] - direct['p99']:.3f} ms",
        f"+{theirs['p50'] - direct['p50']:.2f} / +{theirs['p99'] - direct['p99']:.2f} ms",
    )  # fmt: skip
    table.add(
        f"calls/s, 16 in flight ({label})", ">= 10,000", f"{direct['calls_s']:,.0f}", f"{ours['calls_s']:,.0f}", f"{theirs['calls_s']:,.0f}"
    )
    if servers == 1:
        for size in (20, 100):
            base, blob = direct[f"blob{size}"], f"blob{size}"
            table.add(f"a result of {size} MB", "<= 1.5x", f"{base:.0f} ms", f"{ours[blob] / base:.2f}x", f"{theirs[blob] / base:.1f}x")
        table.add("memory per AI client", "<= 12 MB", f"{direct['rss']:.1f} MB", f"{ours['rss']:.1f} MB", f"{theirs['rss']:.0f} MB")
    home.remove()


def idle_rows(table: Table) -> None:
    home = Home(10, 30)
    with home.hub() as pid:
        list_ms(BRIDGE, home.environ, 302)
        before = cpu_s(pid)
        time.sleep(10)
        busy = (cpu_s(pid) - before) / 10 * 100
        what = "`serve` with 10 servers and 300 tools: memory / idle processor"
        table.add(what, "<= 100 MB / 0.5 %", "", f"{memory_mb(pid):.0f} MB / {busy:.1f} %", "")
    home.environ["DISPLAY"] = ":0"  # the desktop app; Qt's offscreen platform draws it
    with home.hub(is_desktop=True) as pid:
        list_ms(BRIDGE, home.environ, 302)
        table.add("the same as the desktop app: memory", "<= 170 MB", "", f"{memory_mb(pid):.0f} MB", "")
    home.remove()


def many_servers_rows(table: Table, rounds: int) -> None:
    home = Home(100, 30)
    tools = 3002
    with home.hub():
        started = time.perf_counter()
        list_ms(BRIDGE, home.environ, tools)
        table.add("100 servers of 30 tools: start all, listed", "<= 20 s", "", f"{time.perf_counter() - started:.1f} s", "")
        client = RawClient(BRIDGE, home.environ)
        client.initialize()

        def cached() -> float:
            begun = time.perf_counter()
            client.tools()
            return (time.perf_counter() - begun) * 1000

        table.add("the same: a list from the cache", "<= 30 ms", "", f"{medians(rounds, it=cached)['it']:.1f} ms", "")
        client.close()
    home.remove()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one round of each, to see that it runs")
    rounds = 1 if parser.parse_args().quick else 5
    table = Table()
    start_rows(table, rounds)
    call_rows(table, rounds, 1)
    call_rows(table, rounds, 2)
    idle_rows(table)
    many_servers_rows(table, rounds)
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, medians of {rounds}:\n")
    table.print()


main()
