"""Rows for what Tooltray takes on the disk: its package, and the packages of sandboxed servers."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from scripts.figures import Row
from tests.bench.machine import ROOT, Home
from tests.bench.raw_client import wait_for

NPM = (
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-sequential-thinking",
    "@modelcontextprotocol/server-filesystem /usr/share",
    "@modelcontextprotocol/server-everything",
    "@playwright/mcp",
    "@upstash/context7-mcp",
    "mcp-server-code-runner",
    "mcp-server-commands",
)
PYPI = ("mcp-server-fetch", "mcp-server-git", "mcp-server-time", "excel-mcp-server stdio", "duckduckgo-mcp-server", "wikipedia-mcp")
INSTALLED_WITHIN_S = 240


def package_rows(rounds: int) -> Iterator[Row]:
    """Yields a row for the package in dist, if it was built after the last commit."""
    committed = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True).stdout
    built = [path for path in Path(ROOT, "dist").glob("*.deb") if committed and path.stat().st_mtime > int(committed)]
    size, note = (), "not built from this commit"
    if built:
        control = subprocess.run(["dpkg-deb", "--field", str(built[0]), "Installed-Size"], capture_output=True, text=True, check=True)
        size, note = (int(control.stdout) / 1024,), f"the file {built[0].stat().st_size / 2**20:.0f} MB"
    yield Row("deb", "`.deb`, installed size", "MB", size, (45,), note=note)


def disk_rows(rounds: int) -> Iterator[Row]:
    """Yields a row for the packages of servers that a hub has installed and started."""
    lines = [*(["npx", "-y", *words.split()] for words in NPM), *(["uvx", *words.split()] for words in PYPI)]
    shared = {"confinement": {"files": "own", "network": "none"}, "autoApprove": ["all"]}
    entries = {f"s{number}": {"command": line[0], "args": line[1:], **shared} for number, line in enumerate(lines)}
    home = Home(0, 0, mcpServers=entries, defaultServers=list(entries))
    home.environ["PATH"] = f"{ROOT / '.cache' / 'installers' / 'bin'}:{home.environ['PATH']}"  # uvx

    def are_listed() -> bool:
        servers = json.loads(home.run("servers", "list", "--json"))
        if problems := {each["target"]: each["problem"] for each in servers if each["problem"]}:
            raise RuntimeError(problems)
        return all(each["is_listed"] for each in servers)

    with home.hub():
        wait_for(are_listed, INSTALLED_WITHIN_S, every_s=1)
        usage = subprocess.run(["du", "--summarize", "--block-size=1K", str(home.folder)], capture_output=True, text=True, check=True)
    size = int(usage.stdout.split()[0]) / 1024
    yield Row("disk", f"{len(lines)} sandboxed servers from npm and PyPI, on the disk", "MB", (size,), (400,))
