"""Rows for calls: what Tooltray adds to one call, how many it passes on, and what that takes of the processor."""

import contextlib
import io
import json
import os
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from scripts.figures import Row
from tests.bench.machine import PYTHON, ROOT, STUB, Home, medians, memory_mb, p50_p99, thread_cpu_s
from tests.bench.raw_client import Calls, RawClient, RawHttpClient, wait_for

FASTMCP = [str(ROOT / ".cache" / "fastmcp" / "bin" / "python"), str(Path(__file__).with_name("fastmcp_proxy.py"))]
HTTP_STUB = [PYTHON, "-I", "-S", str(Path(__file__).with_name("http_stub.py"))]
CALLS, SLOW_CALLS = 1000, 50
IN_FLIGHT, RATE_CALLS = 16, 8000
RATE_ROUNDS = 2  # in each round, since this row is compared most
BASE = "a5d4206"
RESULT_BYTES = 20_000_000
TEXT = "x" * 64


def call_times(start: Callable[[], Calls], calls: int = CALLS) -> tuple[float, float]:
    """Makes one call after the other; returns p50 and p99 in ms."""
    times = []
    with closing(start()) as client:
        echo = client.find_echo()
        for number in range(-(calls // 5), calls):
            started = time.perf_counter()
            client.call(echo, text=TEXT)
            if number >= 0:
                times.append((time.perf_counter() - started) * 1000)
    return p50_p99(times)


def added_row(id: str, what: str, found: dict[str, tuple[float, ...]], aim: tuple[float, ...] = ()) -> Row:
    """Returns a row that has the time of a direct call, and what is added to it."""

    def added(name: str) -> tuple[float, ...]:
        return tuple(figure - direct for figure, direct in zip(found.get(name, ()), found["direct"], strict=False))

    return Row(id, f"one call, added p50 / p99: {what}", "ms", added("ours"), aim, found["direct"], added("fastmcp"))


def stdio_rows(rounds: int) -> Iterator[Row]:
    for id, what, servers, aim in (("call", "one server", 1, (0.15, 0.5)), ("call_of_two", "two servers", 2, (0.18,))):
        home = Home(servers, 20)
        with home.hub():
            found = medians(
                rounds,
                direct=partial(call_times, partial(RawClient, STUB, home.environ)),
                ours=partial(call_times, home.client),
                fastmcp=partial(call_times, partial(RawClient, [*FASTMCP, str(home.config)], home.environ), SLOW_CALLS),
            )
        yield added_row(id, what, found, aim)
    home = Home(1, 20, is_modern=True)
    with home.hub():
        found = medians(
            rounds,
            direct=partial(call_times, partial(RawClient, STUB, {**home.environ, "STUB_ERA": "modern"}, is_modern=True)),
            ours=partial(call_times, partial(home.client, is_modern=True)),
        )
    yield added_row("call_modern", "client and server of 2026-07-28", found, (0.2,))


@contextlib.contextmanager
def http_stub(tools: int) -> Iterator[str]:
    """Runs a stub server over HTTP; gives its URL."""
    stub = subprocess.Popen(HTTP_STUB, env={**os.environ, "STUB_TOOLS": str(tools)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield f"http://127.0.0.1:{int(stub.stdout.readline())}/mcp"
    finally:
        stub.communicate(timeout=10)


@contextlib.contextmanager
def fastmcp_over_http(home: Home) -> Iterator[str]:
    """Runs FastMCP's proxy as an HTTP server; gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    command = [*FASTMCP, str(home.config), str(port)]
    proxy = subprocess.Popen(command, env=home.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(partial(is_open, port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        proxy.terminate()
        proxy.wait(10)


def is_open(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def http_rows(rounds: int) -> Iterator[Row]:
    """Yields rows with HTTP on either side; a direct call is one over HTTP, too."""
    with http_stub(20) as direct:
        home = Home(1, 20, publish={"http": {"enabled": True, "port": 0, "requireToken": False}})
        with home.hub(), fastmcp_over_http(home) as fastmcp:
            wait_for(lambda: json.loads(home.record.read_text())["http"])
            url = f"{json.loads(home.record.read_text())['http']}/mcp"
            found = medians(
                rounds,
                direct=partial(call_times, partial(RawHttpClient, direct)),
                ours=partial(call_times, partial(RawHttpClient, url)),
                modern=partial(call_times, partial(RawHttpClient, url, is_modern=True)),
                fastmcp=partial(call_times, partial(RawHttpClient, fastmcp), SLOW_CALLS),
            )
        yield added_row("call_http", "client over HTTP", found, (0.25,))
        modern = {"direct": found["direct"], "ours": found["modern"]}
        yield added_row("call_http_modern", "client of 2026-07-28 over HTTP", modern)
        home = Home(1, 20, url=direct)
        with home.hub():
            found = medians(
                rounds,
                direct=partial(call_times, partial(RawHttpClient, direct)),
                ours=partial(call_times, home.client),
                fastmcp=partial(call_times, partial(RawClient, [*FASTMCP, str(home.config)], home.environ), SLOW_CALLS),
            )
        yield added_row("call_http_server", "server over HTTP", found)


def large_rows(rounds: int) -> Iterator[Row]:
    home = Home(1, 20)
    with home.hub():
        found = medians(
            rounds,
            direct=partial(client_figures, partial(RawClient, STUB, home.environ)),
            ours=partial(client_figures, home.client),
            fastmcp=partial(client_figures, partial(RawClient, [*FASTMCP, str(home.config)], home.environ), RATE_CALLS // 20),
        )
    rates, times, memories = zip(*(found[name] for name in ("ours", "direct", "fastmcp")), strict=True)
    ours, direct, fastmcp = ((spent / times[1],) for spent in times)
    yield Row("rate", f"calls/s, {IN_FLIGHT} in flight", "", rates[:1], (), rates[1:2], rates[2:])
    what = f"a result of {RESULT_BYTES // 1_000_000} MB, times a direct one"
    yield Row("large_result", what, "×", ours, (1.5,), direct, fastmcp, note=f"{times[0]:.0f} ms")
    yield Row("client_memory", "memory per AI client", "MB", memories[:1], (12,), memories[1:2], memories[2:])


def client_figures(start: Callable[[], RawClient], calls: int = RATE_CALLS) -> tuple[float, float, float]:
    """Returns calls/s, the time of a large result in ms, and the memory in MB of the program that the client starts."""
    with closing(start()) as client:
        echo = client.find_echo()
        memory = memory_mb(client.process.pid)
        rate = client.calls_per_second(echo, {"text": TEXT}, calls, IN_FLIGHT)
        started = time.perf_counter()
        result = client.call(echo.removesuffix("echo") + "blob", n=RESULT_BYTES)
        spent = (time.perf_counter() - started) * 1000
        if len(result["content"][0]["text"]) != RESULT_BYTES:
            raise RuntimeError("the large result is not whole")
        return rate, spent, memory


def rate_rows(rounds: int) -> Iterator[Row]:
    """Yields rows for many calls at a time, in turn with an earlier commit where the repository has it."""
    what = f"calls/s, {IN_FLIGHT} in flight, times those of {BASE} in the same run"
    with contextlib.ExitStack() as stack:
        trees = {"now": ROOT, "base": stack.enter_context(tree_of(BASE))}
        measures = {name: stack.enter_context(busy_hub(tree)) for name, tree in trees.items() if tree}
        found = medians(RATE_ROUNDS * rounds, **measures)
    rate, all_us, main_us = found["now"]
    if "base" in found:
        base = found["base"][0]
        yield Row("rate_of_base", what, "×", (rate / base,), (1.5,), note=f"{rate:,.0f} and {base:,.0f} calls/s", is_least=True)
    else:
        yield Row("rate_of_base", what, "×", (), (1.5,), note=f"not measured: this clone does not have {BASE}", is_least=True)
    note = f"main thread {main_us:.0f}, journal and log {all_us - main_us:.0f}"
    yield Row("hub_cpu", f"processor time of the hub for a call, {IN_FLIGHT} in flight, all threads", "us", (all_us,), (75,), note=note)


@contextlib.contextmanager
def tree_of(commit: str) -> Iterator[Path | None]:
    """Unpacks the program as of a commit; gives None without that commit."""
    archive = subprocess.run(
        ["git", "archive", commit, "desktop", "resources"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    if archive.returncode:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="ttb") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


@contextlib.contextmanager
def busy_hub(tree: Path) -> Iterator[Callable[[], tuple[float, float, float]]]:
    """Gives a measure of a hub of that source tree: calls/s, and the processor time of a call in us, of all threads and of the main one."""
    home = Home(1, 10, tree=tree)
    with home.hub() as pid, closing(home.client()) as client:
        echo = client.find_echo()

        def measure(calls: int = RATE_CALLS) -> tuple[float, float, float]:
            before = thread_cpu_s(pid)
            rate = client.calls_per_second(echo, {"text": TEXT}, calls, IN_FLIGHT)
            used = {thread: (spent - before.get(thread, 0)) / calls * 1e6 for thread, spent in thread_cpu_s(pid).items()}
            return rate, sum(used.values()), used[pid]

        measure(RATE_CALLS // 4)  # warm
        yield measure
