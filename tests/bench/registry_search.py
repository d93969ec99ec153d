"""What a key stroke in the search of the registry costs: a copy with 20,000 servers, searched as a person types, in a thread as in the hub.

Usage: python -m tests.bench.registry_search     prints one line of JSON: milliseconds until the answer (p50, p99, worst) and of a
processor, megabytes on disk and in memory, seconds to write it

The words are made up, but as often as words are: few of them stand in most servers. The queries are typed letter by letter, among them
those that match thousands.
"""

import asyncio
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

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


def write(path: Path) -> float:
    pages = list(entries(random.Random(15)))
    began = time.perf_counter()
    with IndexWriter(path, is_new=True) as writer:
        for begin in range(0, SERVERS, PAGE):
            writer.put(pages[begin : begin + PAGE])
        writer.write_facts(Facts("https://r.example"))
    return time.perf_counter() - began


def processor_ms(index: RegistryIndex, text: str) -> float:
    """What a search takes of a processor; other programs disturb that little."""
    began = time.thread_time()
    index.search(text, HITS)
    return (time.thread_time() - began) * 1000


async def typed(index: RegistryIndex) -> list[tuple[float, float]]:
    """Milliseconds of each key stroke: until the answer, and of a processor."""
    spent = []
    for query in QUERIES:
        for end in range(1, len(query) + 1):
            began = time.perf_counter()
            of_processor = await asyncio.to_thread(processor_ms, index, query[:end])
            spent.append(((time.perf_counter() - began) * 1000, of_processor))
    return spent


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registry.db"
        written_s = write(path)
        before = memory_mb()
        strokes = [each for _ in range(ROUNDS) for each in asyncio.run(typed(RegistryIndex(path)))]
        spent, of_processor = (sorted(each) for each in zip(*strokes, strict=True))
        figures = {"p50": spent[len(spent) // 2], "p99": spent[int(len(spent) * 0.99)], "worst": spent[-1], "written_s": written_s}
        print(
            json.dumps(
                figures
                | {
                    "processor_p50": of_processor[len(spent) // 2],
                    "processor_worst": of_processor[-1],
                    "disk_mb": path.stat().st_size / 1e6,
                    "added_mb": memory_mb() - before,
                    "strokes": len(spent),
                }
            )
        )


main()
