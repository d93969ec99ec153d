"""The figures of docs/figures.md, measured side by side: a direct connection, Tooltray (bridge and hub), and FastMCP's proxy.

Usage: run.py [--quick]     prints a Markdown table; `make bench` runs it

Everything is taken in rounds, one program after the other, so that a machine's drift hits all of them alike; medians are printed, and
ratios to the direct connection of the same run. Nothing is asserted: figures are for people. Wants a quiet machine and Linux.
"""

import argparse
import contextlib
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent))
from machine import BRIDGE, PYTHON, ROOT, STUB, Home, cpu_s, memory_mb, wait_for
from raw_client import RawClient, RawHttpClient

from tooltray.servers.confinement.confinements import probe
from tooltray.servers.confinement.launch_line import Policy, carried, confined

FASTMCP = [str(ROOT / ".cache" / "fastmcp" / "bin" / "python"), str(Path(__file__).with_name("fastmcp_proxy.py"))]
TOOLTRAY = [PYTHON, "-m", "tooltray"]
DESKTOP = ["-m", "tooltray"]
BUSY_DESKTOP = [str(Path(__file__).with_name("busy_desktop.py"))]
HTTP_STUB = [PYTHON, "-I", "-S", str(Path(__file__).with_name("http_stub.py"))]
CALLS = 1000
STARTS = 4  # of a confined server in each round
OPEN_LOOP_PER_S, OPEN_LOOP_S = 200, 8
UNREAD_REST_CALLS, GIVEN_BACK_S = 60, 10
UNREAD_CALLS, UNREAD_BYTES, UNREAD_S = 200, 20_000_000, 15


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


def find_echo(client: RawClient | RawHttpClient) -> str:
    """The published name of the first server's tool."""
    client.initialize()
    wait_for(lambda: any(name.endswith("echo") for name in client.tools()))
    return next(name for name in client.tools() if name.endswith("echo"))


def call_times(client: RawClient | RawHttpClient, echo: str, calls: int = CALLS) -> dict[str, float]:
    """One call after the other."""
    for _ in range(calls // 5):
        client.call(echo, text="warm")
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        reply = client.call(echo, text="x" * 64)
        times.append((time.perf_counter() - started) * 1000)
        if "result" not in reply:
            raise RuntimeError(reply)
    return quantiles(sorted(times))


def quantiles(times: list[float]) -> dict[str, float]:
    return {"p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}


def times_of(client: RawClient | RawHttpClient, calls: int = CALLS) -> dict[str, float]:
    """`call_times` of a client that is made for it."""
    try:
        return call_times(client, find_echo(client), calls)
    finally:
        client.close()


def call_figures(command: list[str], environ: dict[str, str], calls: int = CALLS) -> dict[str, float]:
    client = RawClient(command, environ)
    echo = find_echo(client)
    blob = echo.removesuffix("echo") + "blob"
    figures = {"rss": memory_mb(client.process.pid)} | call_times(client, echo, calls)
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
        first_reply_ms(BRIDGE, home.environ)  # waits for a hub: the list may be what the last one has left
        home.stop_hub()
        return spent

    table.add("the same, no hub running", "<= 2.5 s", "", f"{medians(rounds, it=without_hub)['it']:.0f} ms", "")
    home.remove()


def first_reply_ms_of_python() -> float:
    started = time.perf_counter()
    subprocess.run([PYTHON, "-I", "-S", "-c", "pass"], check=True)
    return (time.perf_counter() - started) * 1000


def confined_rows(table: Table, rounds: int) -> None:
    """A server's process until its first reply: as it is, in the launcher, and in the launcher inside bubblewrap."""
    support = probe()
    with tempfile.TemporaryDirectory() as folder:
        private_tmp = os.path.join(folder, "tmp")
        os.mkdir(private_tmp)
        policy = Policy(read=(str(ROOT), sys.base_prefix), write=(), network="none", private_tmp=private_tmp)
        kinds = {"launcher": msgspec.structs.replace(support, bwrap=""), **({"bubblewrap": support} if support.bwrap else {})}
        lines = {name: list(confined(policy, kind, STUB[0], STUB[1:])) for name, kind in kinds.items()}
        environ = dict(os.environ)
        measures = {name: partial(first_reply_ms, line, carried(environ, support)) for name, line in lines.items()}
        found = medians(STARTS * rounds, direct=partial(first_reply_ms, STUB, environ), **measures)
    added = [f"+{found[name] - found['direct']:.1f} ms" for name in measures]
    table.add(
        "a confined server, process to first reply, added (with bubblewrap)", "<= 25 ms", f"{found['direct']:.1f} ms", " / ".join(added), ""
    )


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


def add_added(table: Table, what: str, aim: str, direct: dict[str, float], ours: dict[str, float], theirs: dict[str, float] | None) -> None:
    """A row that says what a call takes directly, and what is added to that."""
    added = [f"+{each['p50'] - direct['p50']:.3f} / +{each['p99'] - direct['p99']:.3f} ms" if each else "" for each in (ours, theirs)]
    table.add(what, aim, f"{direct['p50']:.3f} / {direct['p99']:.3f} ms", *added)


def era_rows(table: Table, rounds: int) -> None:
    """Both eras on either side, over stdio; a direct connection has the server's era."""
    for client, server in (("2026-07-28", "2026-07-28"), ("2025-11-25", "2026-07-28"), ("2026-07-28", "2025-11-25")):
        is_modern = server == "2026-07-28"
        home = Home(1, 20, is_modern=is_modern)
        environ = {**home.environ, "STUB_ERA": "modern" if is_modern else ""}
        with home.hub():
            found = medians(
                rounds,
                direct=lambda e=environ, m=is_modern: times_of(RawClient(STUB, e, is_modern=m)),
                ours=lambda e=home.environ, m=client == "2026-07-28": times_of(RawClient(BRIDGE, e, is_modern=m)),
            )
        what = f"one call, added p50 / p99 (client of {client}, server of {server})"
        add_added(table, what, "<= 0.15 / 0.6 ms", found["direct"], found["ours"], None)
        home.remove()


@contextlib.contextmanager
def http_stub(tools: int) -> Iterator[str]:
    """A stub server over HTTP; gives its URL."""
    environ = {**os.environ, "STUB_TOOLS": str(tools)}
    stub = subprocess.Popen(HTTP_STUB, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield f"http://127.0.0.1:{int(stub.stdout.readline())}/mcp"
    finally:
        stub.communicate(timeout=10)


@contextlib.contextmanager
def fastmcp_over_http(home: Home) -> Iterator[str]:
    """FastMCP's proxy as an HTTP server; gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    proxy = subprocess.Popen(
        [*FASTMCP, str(home.config), str(port)], env=home.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: is_open(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        proxy.terminate()
        proxy.wait(10)


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def http_client_rows(table: Table, rounds: int) -> None:
    """Clients over HTTP, the server over stdio; directly: the same client and a server over HTTP."""
    publish = {"http": {"enabled": True, "port": 0, "requireToken": False}}
    home = Home(1, 20, publish=publish)
    with http_stub(20) as direct, home.hub(), fastmcp_over_http(home) as theirs:
        wait_for(lambda: json.loads(home.record.read_text())["http"])
        url = f"{json.loads(home.record.read_text())['http']}/mcp"
        found = medians(
            rounds,
            direct=lambda: times_of(RawHttpClient(direct)),
            ours=lambda: times_of(RawHttpClient(url)),
            modern=lambda: times_of(RawHttpClient(url, is_modern=True)),
            theirs=lambda: times_of(RawHttpClient(theirs), CALLS // 10),
        )
    what = "one call over HTTP to the hub, added p50 / p99 (client of {})"
    add_added(table, what.format("2025-11-25"), "", found["direct"], found["ours"], found["theirs"])
    add_added(table, what.format("2026-07-28"), "", found["direct"], found["modern"], None)
    home.remove()


def http_server_rows(table: Table, rounds: int) -> None:
    """The server over HTTP, clients over stdio; directly: a client over HTTP."""
    with http_stub(20) as url:
        home = Home(1, 20, url=url)
        with home.hub():
            found = medians(
                rounds,
                direct=lambda: times_of(RawHttpClient(url)),
                ours=lambda: times_of(RawClient(BRIDGE, home.environ)),
                theirs=lambda: times_of(RawClient([*FASTMCP, str(home.config)], home.environ), CALLS // 10),
            )
        add_added(table, "one call to a server over HTTP, added p50 / p99", "", found["direct"], found["ours"], found["theirs"])
        home.remove()


def busy_window_rows(table: Table, rounds: int) -> None:
    """Calls that come whether the last one was answered or not, beside a window that has to work."""
    home = Home(1, 20)
    found = {}
    for name, hub in (("serve", ["-m", "tooltray", "serve"]), ("busy", BUSY_DESKTOP)):
        with home.hub(hub):
            found |= medians(rounds, **{name: lambda: open_loop_times(BRIDGE, home.environ)})
    direct = open_loop_times(STUB, home.environ)
    what = f"p99 while the window works for 200 ms of each second, {OPEN_LOOP_PER_S} calls/s, open loop"
    ours = f"{found['busy']['p99']:.1f} ms (`serve`: {found['serve']['p99']:.1f} ms)"
    table.add(what, "<= 15 ms", f"{direct['p99']:.2f} ms", ours, "")
    home.remove()


def open_loop_times(command: list[str], environ: dict[str, str]) -> dict[str, float]:
    client = RawClient(command, environ)
    echo = find_echo(client)
    times = client.open_loop_ms(echo, {"text": "x" * 64}, OPEN_LOOP_PER_S * OPEN_LOOP_S, OPEN_LOOP_PER_S)
    client.close()
    return quantiles(times)


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
    with home.hub(DESKTOP) as pid:
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


def unread_rows(table: Table, rounds: int) -> None:
    """A client that asks for large results and reads none of them, beside clients that call the same server and another one."""
    found = medians(rounds, it=beside_a_client_that_does_not_read)["it"]
    what = f"{UNREAD_CALLS} results of {UNREAD_BYTES // 1_000_000} MB that nobody reads: memory of the hub / slowest other call"
    ours = f"{found['memory']:.0f} MB / {found['same']:.2f} s (another server: {found['other']:.2f} s)"
    table.add(what, "<= 400 MB / 1 s", "", ours, "")


def beside_a_client_that_does_not_read() -> dict[str, float]:
    home = Home(2, 20)
    with home.hub() as pid:
        beside = {"same": RawClient(BRIDGE, home.environ), "other": RawClient(BRIDGE, home.environ)}
        greedy = RawClient(BRIDGE, home.environ)
        for client in (*beside.values(), greedy):
            client.initialize()
        wait_for(lambda: len([each for each in beside["same"].tools() if each.endswith("echo")]) == 2)
        tools = sorted(each for each in beside["same"].tools() if each.endswith("echo"))
        slowest = dict.fromkeys(beside, 0.0)
        for number in range(UNREAD_CALLS):
            params = {"name": tools[0].removesuffix("echo") + "blob", "arguments": {"n": UNREAD_BYTES}}
            greedy.send({"jsonrpc": "2.0", "id": f"unread {number}", "method": "tools/call", "params": params})
        until = time.monotonic() + UNREAD_S
        while time.monotonic() < until:
            for tool, (name, client) in zip(tools, beside.items(), strict=True):
                started = time.perf_counter()
                if "result" not in (reply := client.call(tool, text="x")):
                    raise RuntimeError(reply)
                slowest[name] = max(slowest[name], time.perf_counter() - started)
        figures = {"memory": memory_mb(pid, "VmHWM"), **slowest}
        greedy.process.kill()
        for client in beside.values():
            client.close()
    home.remove()
    return figures


def unread_rest_rows(table: Table, rounds: int) -> None:
    """A program that asks for large results over REST and reads none of them, beside an AI client."""
    found = medians(rounds, it=beside_a_program_that_does_not_read)["it"]
    what = (
        f"{UNREAD_REST_CALLS} results of {UNREAD_BYTES // 1_000_000} MB over REST that nobody reads: memory of the hub / slowest other call"
    )
    ours = f"{found['memory']:.0f} MB / {found['slowest']:.2f} s"
    table.add(what, "<= 400 MB / 1 s", "", ours, "")
    table.add(f"memory that is kept {GIVEN_BACK_S} s afterwards", "<= 50 MB", "", f"{found['kept']:.0f} MB", "")


def beside_a_program_that_does_not_read() -> dict[str, float]:
    home = Home(1, 20, publish={"http": {"enabled": True, "port": 0, "api": {"enabled": True}}})
    with home.hub() as pid:
        wait_for(lambda: json.loads(home.record.read_text())["http"])
        token = subprocess.run(
            [*TOOLTRAY, "http", "api", "token"], env=home.environ, capture_output=True, text=True, check=True
        ).stdout.split()[-1]
        client = RawClient(BRIDGE, home.environ)
        echo = find_echo(client)
        client.call(echo, text="x")
        before, slowest = memory_mb(pid), 0.0
        body = json.dumps({"name": echo.removesuffix("echo") + "blob", "arguments": {"n": UNREAD_BYTES}}).encode()
        head = f"POST /api/mcp/tools/call HTTP/1.1\r\nHost: localhost:{port_of(home)}\r\nAuthorization: Bearer {token}\r\n"
        request = head.encode() + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        unread = [socket.create_connection(("127.0.0.1", port_of(home))) for _ in range(UNREAD_REST_CALLS)]
        for each in unread:
            each.sendall(request)
        until = time.monotonic() + UNREAD_S
        while time.monotonic() < until:
            started = time.perf_counter()
            if "result" not in (reply := client.call(echo, text="x")):
                raise RuntimeError(reply)
            slowest = max(slowest, time.perf_counter() - started)
        for each in unread:
            each.close()
        time.sleep(GIVEN_BACK_S)
        figures = {"memory": memory_mb(pid, "VmHWM"), "slowest": slowest, "kept": memory_mb(pid) - before}
        client.close()
    home.remove()
    return figures


def port_of(home: Home) -> int:
    return int(json.loads(home.record.read_text())["http"].rpartition(":")[2])


def registry_rows(table: Table) -> None:
    """A copy of the registry with 20,000 servers, searched as a person types."""
    program = str(Path(__file__).with_name("registry_search.py"))
    ran = subprocess.run([PYTHON, program], capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    ours = f"{found['p50']:.1f} / {found['p99']:.1f} ms"
    table.add("search in 20,000 servers of the registry, a key stroke, p50 / p99", "<= 30 ms", "", ours, "")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one round of each, to see that it runs")
    rounds = 1 if parser.parse_args().quick else 5
    table = Table()
    start_rows(table, rounds)
    confined_rows(table, rounds)
    call_rows(table, rounds, 1)
    call_rows(table, rounds, 2)
    era_rows(table, rounds)
    http_client_rows(table, rounds)
    http_server_rows(table, rounds)
    busy_window_rows(table, rounds)
    idle_rows(table)
    many_servers_rows(table, rounds)
    unread_rows(table, rounds)
    unread_rest_rows(table, rounds)
    registry_rows(table)
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, medians of {rounds}:\n")
    table.print()


if __name__ == "__main__":
    main()
