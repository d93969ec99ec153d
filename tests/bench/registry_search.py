"""Measures what a key stroke in the search of the registry costs: a copy with 20,000 servers, searched as a person types.

Usage: python -m tests.bench.registry_search     prints JSON: p50 and p99 in ms until the answer

The search runs in a thread, as in the hub. The words are made up, but as frequent as words are: few are in most servers. The queries
are typed letter by letter, among them those that match thousands.
"""

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.machine import p50_p99

from tooltray.sources.discovery.registry_index import Facts, IndexWriter, RegistryIndex

SERVERS, PAGE, HITS = 20_000, 100, 50
COMMON = ("mcp", "server", "for", "the", "and", "data", "api", "tools", "files", "search", "ai", "agent", "github", "database", "cloud")
QUERIES = (
    "github",
    "mcp server for the web",
    "database",
    "s",
    "weather map",
    "io.github.owner12/notes",
    "server api tools",
    "zzz",
    "calendar a",
)
ROUNDS = 3


def entries(chance: random.Random) -> Iterator[bytes]:
    rare = ["".join(chance.choice("abcdefghijklmnoprstuvwz") for _ in range(chance.randint(4, 9))) for _ in range(12_000)]

    def words(count: int) -> str:
        return " ".join(
            chance.choice(COMMON) if chance.random() < 0.6 else rare[int(len(rare) * chance.random() ** 2)] for _ in range(count)
        )

    for number in range(SERVERS):
        name = f"io.github.owner{number % 7000}/{words(2).replace(' ', '-')}-{number}"
        inputs = [{"name": f"KEY_{index}", "description": words(8), "isSecret": True} for index in range(3)]
        package = {"registryType": "npm", "identifier": name.rpartition("/")[2], "version": "1.0.0", "transport": {"type": "stdio"}}
        entry = {"name": name, "title": words(3).title(), "description": words(14), "version": "1.0.0"}
        yield json.dumps({"server": {**entry, "packages": [{**package, "environmentVariables": inputs}]}}).encode()


def write(path: Path) -> None:
    pages = list(entries(random.Random(15)))
    with IndexWriter(path, is_new=True) as writer:
        for begin in range(0, SERVERS, PAGE):
            writer.put(pages[begin : begin + PAGE])
        writer.write_facts(Facts("https://r.example"))


async def type_queries(index: RegistryIndex) -> list[float]:
    """Returns how long each key stroke waits for its answer, in ms."""
    spent = []
    for query in QUERIES * ROUNDS:
        for end in range(1, len(query) + 1):
            began = time.perf_counter()
            await asyncio.to_thread(index.search, query[:end], HITS)
            spent.append((time.perf_counter() - began) * 1000)
    return spent


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registry.db"
        write(path)
        print(json.dumps(p50_p99(asyncio.run(type_queries(RegistryIndex(path))))))


main()
