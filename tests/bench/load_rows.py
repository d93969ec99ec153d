"""Rows for a hub under load: its memory, many servers, a busy window, results that are not read, and what the window does beside it."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

from scripts.figures import Row
from tests.bench.machine import ROOT, SERVE, STUB, Home, cpu_s, medians, memory_mb, p50_p99
from tests.bench.raw_client import RawClient, wait_for
from tests.bench.start_rows import OBSERVED_DESKTOP, list_ms

PER_S, OPEN_LOOP_S = 200, 8
IDLE_S = 10  # how long a program that does nothing is watched
ALL_TOOLS = {"mode": "everything"}  # else such long lists are searched
UNREAD_CALLS, UNREAD_REST_CALLS, UNREAD_BYTES, UNREAD_S = 200, 60, 20_000_000, 15
GIVEN_BACK_S = 10  # the row says what memory is kept so long afterwards


def busy_window_rows(rounds: int) -> Iterator[Row]:
    """Yields a row for calls that do not wait for the last one's answer, beside a window that has to work."""
    home = Home(1, 20)
    home.environ["DISPLAY"] = ":0"  # the desktop app; Qt's offscreen platform draws it
    times = partial(open_loop_times, home.client)
    found = {"direct": open_loop_times(partial(RawClient, STUB, home.environ))}
    for name, hub in (("serve", SERVE), ("busy", (OBSERVED_DESKTOP, "--busy"))):
        with home.hub(hub):
            found |= medians(min(rounds, 3), **{name: times})
    what = f"p99 while the window works for 200 ms of each second, {PER_S} calls/s, open loop"
    note = f"without a window {found['serve'][1]:.1f} ms"
    yield Row("busy_window", what, "ms", found["busy"][1:], (15,), found["direct"][1:], note=note)


def open_loop_times(start: Callable[[], RawClient]) -> tuple[float, float]:
    with closing(start()) as client:
        return p50_p99(client.open_loop_ms(client.find_echo(), {"text": "x" * 64}, PER_S * OPEN_LOOP_S, PER_S))


def memory_rows(rounds: int) -> Iterator[Row]:
    what = "10 servers and 300 tools: "
    home = Home(10, 30, publish=ALL_TOOLS)
    with home.hub() as pid:
        list_ms(home.bridge, home.environ, 302)
        before = cpu_s(pid)
        time.sleep(IDLE_S)
        yield Row("hub_memory", f"{what}memory of the hub", "MB", (memory_mb(pid),), (42,))
        yield Row("hub_idle", f"{what}processor while idle", "%", ((cpu_s(pid) - before) / IDLE_S * 100,), (0.5,))
    home.environ["DISPLAY"] = ":0"
    with home.hub(("-m", "tooltray")) as pid:
        list_ms(home.bridge, home.environ, 302)
        time.sleep(IDLE_S)
        yield Row("desktop_memory", f"{what}memory of the desktop app", "MB", (memory_mb(pid),), (110,))


def many_servers_rows(rounds: int) -> Iterator[Row]:
    home, tools = Home(100, 30, publish=ALL_TOOLS), 3002
    with home.hub():
        started = time.perf_counter()
        list_ms(home.bridge, home.environ, tools)
        yield Row("many_start", "100 servers of 30 tools: start all, listed", "s", (time.perf_counter() - started,), (20,))
        with closing(home.client()) as client:
            client.initialize()
            client.tools()

            def cached() -> float:
                begun = time.perf_counter()
                client.tools()
                return (time.perf_counter() - begun) * 1000

            yield Row("many_list", "100 servers of 30 tools: a list from the cache", "ms", medians(5 * rounds, it=cached)["it"], (30,))


def unread_rows(rounds: int) -> Iterator[Row]:
    """Yields rows for a client that reads none of its large results, beside clients of the same server and of another one."""
    what = f"{UNREAD_CALLS} results of {UNREAD_BYTES // 1_000_000} MB that are not read: "
    home = Home(2, 20)
    with home.hub() as pid, ExitStack() as stack:
        same, other = (stack.enter_context(closing(home.client())) for _ in range(2))
        greedy = home.client()
        stack.callback(greedy.process.wait)
        stack.callback(greedy.process.kill)
        for client in (same, other, greedy):
            client.initialize()
        wait_for(lambda: len([name for name in same.tools() if name.endswith("echo")]) == 2)
        first, second = sorted(name for name in same.tools() if name.endswith("echo"))
        params = {"name": first.removesuffix("echo") + "blob", "arguments": {"n": UNREAD_BYTES}}
        for number in range(UNREAD_CALLS):
            greedy.send({"jsonrpc": "2.0", "id": f"unread {number}", "method": "tools/call", "params": params})
        slowest_same, slowest_other = slowest_s(partial(same.call, first, text="x"), partial(other.call, second, text="x"))
        yield Row("unread_memory", f"{what}memory of the hub", "MB", (memory_mb(pid, "VmHWM"),), (400,))
    note = f"of another server {slowest_other:.2f} s"
    yield Row("unread_slowest", f"{what}slowest other call", "s", (slowest_same,), (1,), note=note)


def slowest_s(*calls: Callable[[], object]) -> list[float]:
    """Makes the calls in turn for a while; returns the longest time of each."""
    slowest, until = [0.0] * len(calls), time.monotonic() + UNREAD_S
    while time.monotonic() < until:
        for place, call in enumerate(calls):
            started = time.perf_counter()
            call()
            slowest[place] = max(slowest[place], time.perf_counter() - started)
    return slowest


def unread_rest_rows(rounds: int) -> Iterator[Row]:
    """Yields rows for a program that reads none of its large results over REST, beside an AI client."""
    what = f"{UNREAD_REST_CALLS} results of {UNREAD_BYTES // 1_000_000} MB over REST that are not read: "
    home = Home(1, 20, publish={"http": {"enabled": True, "port": 0, "api": {"enabled": True}}})
    with home.hub() as pid, closing(home.client()) as client:
        wait_for(lambda: json.loads(home.record.read_text())["http"])
        port = int(json.loads(home.record.read_text())["http"].rpartition(":")[2])
        token = home.run("http", "api", "token").split()[-1]
        echo = client.find_echo()
        client.call(echo, text="x")
        before = memory_mb(pid)
        body = json.dumps({"name": echo.removesuffix("echo") + "blob", "arguments": {"n": UNREAD_BYTES}})
        head = f"POST /api/tools/call_tool HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {token}\r\n"
        request = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        with ExitStack() as stack:
            unread = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(UNREAD_REST_CALLS)]
            for each in unread:
                each.sendall(request)
            (slowest,) = slowest_s(partial(client.call, echo, text="x"))
            if not (begin := unread[0].recv(15)).endswith(b" 200 OK"):
                raise RuntimeError(begin)
        time.sleep(GIVEN_BACK_S)
        yield Row("unread_rest_memory", f"{what}memory of the hub", "MB", (memory_mb(pid, "VmHWM"),), (400,))
        yield Row("unread_rest_slowest", f"{what}slowest other call", "s", (slowest,), (1,))
        yield Row("unread_rest_kept", f"{what}memory that is kept {GIVEN_BACK_S} s later", "MB", (memory_mb(pid) - before,), (50,))


def registry_rows(rounds: int) -> Iterator[Row]:
    what = "search in 20,000 servers of the registry, a key stroke, p50 / p99"
    yield Row("registry_search", what, "ms", tuple(printed_by("registry_search")), (30, 30))


def window_rows(rounds: int) -> Iterator[Row]:
    for id, (what, *times) in printed_by("ui_frames").items():
        yield Row(id, f"window over 100,000 calls: {what}, p50 / p99", "ms", tuple(times))


def printed_by(module: str) -> Any:
    """Runs another benchmark and returns the JSON that it prints."""
    command = [sys.executable, "-m", f"tests.bench.{module}"]
    return json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
