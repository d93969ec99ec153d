"""A million calls: many AI clients, each with a bridge of its own, over many servers; does the hub stay as small as it was?

Usage: python -m tests.bench.soak [--calls N] [--bridges N] [--servers N]     prints a Markdown table; `make soak` runs it

Each client keeps a few calls open and goes from server to server; now and then a call has a large argument or a large result. Every reply
is checked: it answers a call that waits, once, and it is no error. Leaves nothing behind. Linux.
"""

import argparse
import os
import platform
import re
import selectors
import subprocess
import sys
import time

from tests.bench.machine import Home, cpu_s, memory_mb

IN_FLIGHT = 4  # of one client
CHUNK_BYTES = 1 << 16
LARGE_EVERY, LARGE_BYTES = 100, 10_000  # an argument and its echo
HUGE_EVERY, HUGE_BYTES = 20_000, 5_000_000  # a result
TOLD_TIMES = 5  # rows: at the start, three between, at the end
SILENT_S = 60.0  # without any reply: calls have been lost
REPLY = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d+),"(result|error)":')


class SoakClient:
    """One AI client behind a bridge; the program, not this one, is what is measured, so it looks at the beginnings of replies only."""

    def __init__(self, home: Home, number: int) -> None:
        raw = home.client()
        raw.initialize()
        self._names = [name.encode() for name in raw.tools()]
        self.process, self._number = raw.process, number
        self._open: set[int] = set()
        self._last_id = raw.last_id
        self._rest = b""
        os.set_blocking(raw.process.stdout.fileno(), False)

    def has_all_servers(self, count: int) -> bool:
        self._echoes = [name for name in self._names if name.endswith(b"echo")]
        return len(self._echoes) == count

    def send(self) -> None:
        self._last_id += 1
        self._open.add(self._last_id)
        turn = self._last_id + self._number
        name = self._echoes[turn % len(self._echoes)]
        arguments = b'"text":"%b"' % (b"x" * (LARGE_BYTES if turn % LARGE_EVERY == 0 else 64))
        if turn % HUGE_EVERY == 0:
            name, arguments = name.removesuffix(b"echo") + b"blob", b'"n":%d' % HUGE_BYTES
        message = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%b","arguments":{%b}}}\n'
        self.process.stdin.write(message % (self._last_id, name, arguments))
        self.process.stdin.flush()

    def read(self) -> int:
        """Takes what has come; returns how many calls that answers."""
        data = os.read(self.process.stdout.fileno(), CHUNK_BYTES)
        if not data:
            raise SystemExit("a bridge has ended")
        if b"\n" not in data:
            self._rest += data if len(self._rest) < CHUNK_BYTES else b""  # of a huge line the beginning is enough
            return 0
        first, *lines, rest = data.split(b"\n")
        lines.insert(0, self._rest + first)
        self._rest = rest
        return sum(self._take(line) for line in lines)

    def _take(self, line: bytes) -> bool:
        reply = REPLY.match(line)
        if not reply:  # a notification
            return False
        if reply[2] == b"error" or b'"isError":true' in line:
            raise SystemExit(f"a call failed: {line[:300]!r}")
        self._open.remove(int(reply[1]))  # a KeyError: answered twice
        return True

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Table:
    def __init__(self, pid: int) -> None:
        self._pid, self._began, self._before = pid, time.perf_counter(), (time.perf_counter(), 0, cpu_s(pid))
        self.rows: list[str] = []

    def add(self, answered: int) -> None:
        then, before, cpu_before = self._before
        self._before = now, _, cpu = time.perf_counter(), answered, cpu_s(self._pid)
        done = answered - before
        speed = f"{done / (now - then):,.0f} | {(cpu - cpu_before) / done * 1e6:.0f} us" if done else " | "
        rss, files = memory_mb(self._pid), len(os.listdir(f"/proc/{self._pid}/fd"))
        self.rows.append(f"| {answered:,} | {now - self._began:.0f} s | {rss:.1f} MB | {files} | {speed} |")
        print(self.rows[-1], file=sys.stderr)

    def print(self) -> None:
        print("| calls answered | after | memory of the hub | its open files | calls/s since | its processor time a call |")
        print("|---|---|---|---|---|---|")
        print("\n".join(self.rows))


def soak(clients: list[SoakClient], calls: int, table: Table) -> None:
    """Makes the calls, all clients at once."""
    ready = selectors.DefaultSelector()
    for client in clients:
        ready.register(client.process.stdout, selectors.EVENT_READ, client)
    sent = answered = 0
    for client in clients:
        for _ in range(min(IN_FLIGHT, calls // len(clients))):
            client.send()
            sent += 1
    tell_at = [calls * number // (TOLD_TIMES - 1) for number in range(1, TOLD_TIMES)]
    while answered < calls:
        events = ready.select(SILENT_S)
        if not events:
            raise SystemExit(f"{sent - answered} calls were not answered within {SILENT_S:.0f} s")
        for key, _ in events:
            client = key.data
            for _ in range(client.read()):
                answered += 1
                if sent < calls:
                    client.send()
                    sent += 1
        while tell_at and answered >= tell_at[0]:
            table.add(tell_at.pop(0))
    ready.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--bridges", type=int, default=50)
    parser.add_argument("--servers", type=int, default=20)
    options = parser.parse_args()
    home = Home(options.servers, 5)
    clients: list[SoakClient] = []
    try:
        with home.hub() as pid:
            clients.extend(SoakClient(home, number) for number in range(options.bridges))
            if not all(client.has_all_servers(options.servers) for client in clients):
                raise SystemExit("not every client was given the tools of all servers")
            table = Table(pid)
            table.add(0)
            soak(clients, max(options.calls, options.bridges), table)
            for client in clients:
                client.close()
    finally:
        for client in clients:
            if client.process.poll() is None:
                client.process.kill()
                client.process.wait()
    print(f"Python {platform.python_version()}, {options.bridges} bridges, {options.servers} servers:\n")
    table.print()


main()
