"""The matrix: each SDK as a client, through the hub, to each SDK as a server; every cell is to equal the direct connection.

Usage: run.py [CLIENT ...]     prints Markdown; `make conformance` runs the same as a test

Exit code 1: something differs that may not; says what.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.conformance.matrix.cells import Cell, cells, observe
from tests.conformance.matrix.comparison import Compared, compare_all, table
from tests.conformance.targets import REFERENCES

CLIENTS = tuple(REFERENCES)


def run(clients: Sequence[str]) -> dict[Cell, Compared]:
    """Each client has a hub and servers of its own, so that they run at once and do not hear of each other."""
    with ThreadPoolExecutor(len(clients)) as pool:
        return {cell: each for of_client in pool.map(run_client, clients) for cell, each in of_client.items()}


def run_client(client: str) -> dict[Cell, Compared]:
    """A cell that differs is tried once more with a new hub: on a busy machine something may have waited too long."""
    compared = compare_all(observe(client, cells(client)))
    again = {cell: None for lost, each in compared.items() if each.lines for cell in (lost.direct, lost)}
    return compared | compare_all(observe(client, list(again)))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=" or ".join(CLIENTS))
    compared = run(parser.parse_args().clients or CLIENTS)
    lines = [line for each in compared.values() for line in each.lines]
    print("\n".join([*table(compared), "", *lines]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
