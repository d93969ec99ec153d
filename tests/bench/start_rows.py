"""Rows for starts: of bridges, of a hub, of commands, of the desktop app, and of sandboxed servers."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
from scripts.figures import Row
from tests.bench.call_rows import FASTMCP
from tests.bench.machine import PYTHON, ROOT, STUB, Home, medians
from tests.bench.raw_client import INITIALIZE, RawClient, wait_for

from tooltray.servers.confinement.confinements import probe
from tooltray.servers.confinement.launch_line import Policy, carried, confined

TOOLS = 100
CONFINED_STARTS = 4  # in each round
OBSERVED_DESKTOP = str(Path(__file__).with_name("observed_desktop.py"))


def bridge_rows(rounds: int) -> Iterator[Row]:
    home = Home(1, TOOLS)
    environ = {**home.environ, "STUB_TOOLS": str(TOOLS)}
    fastmcp = [*FASTMCP, str(home.config)]
    with home.hub():
        list_ms(home.bridge, home.environ, TOOLS + 2)
        found = medians(
            rounds,
            python=python_ms,
            bridge=partial(first_reply_ms, home.bridge, home.environ),
            fastmcp=partial(first_reply_ms, fastmcp, home.environ),
        )
        note = f"Python without any program: {found['python'][0]:.1f} ms"
        yield Row("bridge_reply", "bridge, spawn to first reply", "ms", found["bridge"], (15,), peer=found["fastmcp"], note=note)
        found = medians(
            rounds,
            direct=partial(list_ms, STUB, environ, TOOLS),
            ours=partial(list_ms, home.bridge, home.environ, TOOLS + 2),
            fastmcp=partial(list_ms, fastmcp, home.environ, TOOLS),
        )
        what = f"bridge, spawn to complete list of {TOOLS} tools, hub running"
        yield Row("list_with_hub", what, "ms", found["ours"], (60,), found["direct"], found["fastmcp"])
    found = medians(rounds, list=partial(list_without_hub_ms, home), call=partial(call_without_hub_ms, home), hub=partial(hub_ms, home))
    yield Row("list_without_hub", "the same, no hub running", "ms", found["list"], (30,))
    yield Row("call_without_hub", "the same, to the answer of the first call (server in Python)", "ms", found["call"], (450,))
    yield Row("hub_start", "hub started by a bridge, until it serves", "ms", found["hub"], (300,))


def python_ms() -> float:
    started = time.perf_counter()
    subprocess.run([PYTHON, "-I", "-S", "-c", "pass"], check=True)
    return (time.perf_counter() - started) * 1000


def first_reply_ms(command: list[str], environ: dict[str, str]) -> float:
    with closing(RawClient(command, environ)) as client:
        client.request("ping")
        return client.age_ms


def list_ms(command: list[str], environ: dict[str, str], tools: int) -> float:
    """Returns the time from the start of the program until a list with all tools."""
    with closing(RawClient(command, environ)) as client:
        client.initialize()
        client.wait_for_tools(tools)
        return client.age_ms


def list_without_hub_ms(home: Home) -> float:
    with home.client_without_hub() as client:
        client.initialize()
        client.wait_for_tools(TOOLS + 2)
        return client.age_ms


def call_without_hub_ms(home: Home) -> float:
    with home.client_without_hub() as client:
        client.call(client.find_echo(), text="x")
        return client.age_ms


def hub_ms(home: Home) -> float:
    with home.client_without_hub() as client:
        client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
        wait_for(home.is_served, every_s=0.001)
        return client.age_ms


def command_rows(rounds: int) -> Iterator[Row]:
    home = Home(2, 20)
    with home.hub():
        found = medians(rounds, status=partial(processor_ms, home, "status"), servers=partial(processor_ms, home, "servers", "list"))
    yield Row("status", "`tooltray status`, processor time", "ms", found["status"], (90,))
    yield Row("servers_list", "`tooltray servers list`, processor time", "ms", found["servers"], (90,))


def processor_ms(home: Home, *words: str) -> float:
    command = subprocess.Popen([PYTHON, "-m", "tooltray", *words], env=home.environ, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(command.pid, 0)
    command.returncode = os.waitstatus_to_exitcode(status)
    if command.returncode:
        raise RuntimeError(f"tooltray {' '.join(words)} failed")
    return (usage.ru_utime + usage.ru_stime) * 1000


def desktop_rows(rounds: int) -> Iterator[Row]:
    found = medians(rounds, it=partial(desktop_start_ms, Home(1, 20)))["it"]
    yield Row("tray_icon", "desktop app, start to its tray icon (drawn offscreen)", "ms", found[:1], (400,))
    yield Row("window", "desktop app, start to the first complete frame of its window", "ms", found[1:], (600,))


def desktop_start_ms(home: Home) -> tuple[float, float]:
    began = time.perf_counter()
    app = subprocess.Popen([PYTHON, OBSERVED_DESKTOP], env={**home.environ, "DISPLAY": ":0"}, stdout=subprocess.PIPE, text=True)
    try:
        seen = dict(app.stdout.readline().split() for _ in range(2))
        wait_for(home.record.exists)  # an app that is stopped while it starts is another case
        return (float(seen["tray"]) - began) * 1000, (float(seen["window"]) - began) * 1000
    finally:
        app.send_signal(signal.SIGTERM)
        app.communicate(timeout=30)


def confined_rows(rounds: int) -> Iterator[Row]:
    """Yields a row for a server's first reply: as it is, in the launcher, and in the launcher inside bubblewrap."""
    support = probe()
    with tempfile.TemporaryDirectory() as folder:
        private_tmp = os.path.join(folder, "tmp")
        os.mkdir(private_tmp)
        policy = Policy(read=(str(ROOT), sys.base_prefix), write=(), network="none", private_tmp=private_tmp)
        kinds = [msgspec.structs.replace(support, bwrap=""), *([support] if support.bwrap else [])]
        lines = [list(confined(policy, kind, STUB[0], STUB[1:])) for kind in kinds]
        measures = {str(number): partial(first_reply_ms, line, carried(os.environ, support)) for number, line in enumerate(lines)}
        found = medians(CONFINED_STARTS * rounds, direct=partial(first_reply_ms, STUB, dict(os.environ)), **measures)
    direct = found.pop("direct")
    added = tuple(each[0] - direct[0] for each in found.values())
    yield Row("confined", "a sandboxed server, spawn to first reply, added (with bubblewrap)", "ms", added, (25, 25), direct)
