"""Real programs with nothing but the variables of their proxy: they reach what is listed, and hear why they do not reach the rest."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.proxied import Proxied, listening, proxied

URLLIB = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())"
HTTPX = "import sys, httpx; print(httpx.get(sys.argv[1]).raise_for_status().text)"
FETCH = """
fetch(process.argv[1]).then(
  async r => { console.log(await r.text()); process.exitCode = r.ok ? 0 : 1 },
  error => { console.error(error.cause ?? error); process.exitCode = 1 })
"""
NODE_HTTP = """
require("http").get(process.argv[1], r => { r.on("data", d => process.stdout.write(d)); process.exitCode = r.statusCode == 200 ? 0 : 1 })
"""
KNOWS_PROXY = {22: 21, 24: 5}
"""The first releases of Node.js that read the variables of a proxy, by their major number; later ones all do."""

PROGRAMS = {
    "urllib": (sys.executable, "-c", URLLIB),
    "httpx": (sys.executable, "-c", HTTPX),
    "curl": ("curl", "-sS", "--fail"),
    "curl in a tunnel": ("curl", "-sS", "--fail", "--proxytunnel"),
    "fetch": ("node", "-e", FETCH),
    "node:http": ("node", "-e", NODE_HTTP),
}


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Proxied]:
    async with proxied(tmp_path) as made:
        yield made


async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


async def run(command: tuple[str, ...], url: str, variables: dict[str, str]) -> tuple[int | None, str]:
    env = {"PATH": os.environ["PATH"], **variables}
    process = await asyncio.create_subprocess_exec(*command, url, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = await process.communicate()
    return process.returncode, output.decode()


def reads_proxy_variables(program: str) -> bool:
    """Whether a program does; an older Node.js goes straight to the host, which Landlock then refuses."""
    if program != "node":
        return True
    major, minor = map(int, re.findall(r"\d+", subprocess.check_output(["node", "--version"], text=True))[:2])
    return major > max(KNOWS_PROXY) or minor >= KNOWS_PROXY.get(major, sys.maxsize)


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_program_reaches_a_listed_host_and_no_other(hub: Proxied, program: str) -> None:
    command = PROGRAMS[program]
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    async with listening(hello) as listed, listening(hello) as other:
        door = await hub.door(f"127.0.0.1:{listed}")
        code, output = await run(command, f"http://127.0.0.1:{listed}/", dict(door.variables))
        assert (code, output.strip()) == (0, "hello")
        code, _ = await run(command, f"http://127.0.0.1:{other}/", dict(door.variables))
    is_kept = reads_proxy_variables(command[0])
    assert (code != 0, hub.refused()) == (is_kept, [f"127.0.0.1:{other}"] if is_kept else [])
