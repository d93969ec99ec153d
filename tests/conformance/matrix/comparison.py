"""What a client observed through the hub, beside what it observes directly: how much is equal, and what is not."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.matrix.by_design import BY_DESIGN
from tests.conformance.matrix.cells import DIRECT, WAYS, Cell, Observed

SCENARIOS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("scenarios.json").read_bytes())
SHOWN = 700  # characters of each side of a difference
MISSING = object()


@dataclass(frozen=True)
class Compared:
    """
    Attributes:
        equal: how many scenarios are equal to direct, of `count`.
        lines: both sides of each one that is not.
    """

    equal: int
    count: int
    lines: tuple[str, ...]


def compare(cell: Cell, direct: Observed, through: Observed) -> Compared:
    if "failed" in direct or "failed" in through:
        return Compared(0, 1, (f"{cell}: direct {direct.get('failed', 'came')}, through the hub {through.get('failed', 'came')}",))
    scenarios = [scenario for scenario in SCENARIOS if scenario.get("era", cell.era) == cell.era]
    lines = []
    for scenario in scenarios:
        left, right = (eased(cell, scenario, side.get(scenario["name"], {})) for side in (direct, through))
        if place := first_difference(left, right):
            lines.append(f"{cell}, {scenario['name']}: {place}")
    return Compared(len(scenarios) - len(lines), len(scenarios), tuple(lines))


def eased(cell: Cell, scenario: Mapping[str, Any], observed: Observed) -> Observed:
    """Without what may differ by design, and with questions that are asked at once in one order."""
    for each in BY_DESIGN:
        if each.cells(cell) and scenario["name"] in (each.scenarios or (scenario["name"],)):
            observed = each.ease(cell, observed)
    if scenario.get("unordered"):
        observed = {**observed, "heard": sorted(observed["heard"], key=json.dumps)}
    return observed


def first_difference(left: Any, right: Any, place: str = "") -> str:
    """The innermost place where two values differ first, with both; empty if they are equal."""
    for key in shared_keys(left, right):
        one, other = (side.get(key, MISSING) if isinstance(side, dict) else side[key] for side in (left, right))
        if found := first_difference(one, other, f"{place}.{key}"):
            return found
    return "" if left == right else f"{place}\n  direct:          {words(left)}\n  through the hub: {words(right)}"


def shared_keys(left: Any, right: Any) -> Iterable[Any]:
    """Of two objects, or of two lists of one length; empty for anything else."""
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    is_list = isinstance(left, list) and isinstance(right, list) and len(left) == len(right)
    return range(len(left)) if is_list else ()


def words(value: Any) -> str:
    return "not there" if value is MISSING else json.dumps(value, ensure_ascii=False)[:SHOWN]


def compare_all(found: Mapping[Cell, Observed]) -> dict[Cell, Compared]:
    return {cell: compare(cell, found[cell.direct], observed) for cell, observed in found.items() if cell.way != DIRECT}


def table(compared: Mapping[Cell, Compared]) -> list[str]:
    """Markdown: how many scenarios are equal to direct, over both kinds of upstream."""
    head = ["client", "server", "era", *WAYS]
    rows = [head, ["---"] * len(head)]
    for client, server, era in sorted({cell[:3] for cell in compared}):
        of_row = {cell: each for cell, each in compared.items() if cell[:3] == (client, server, era)}
        rows.append([client, server, era, *(in_one([each for cell, each in of_row.items() if cell.way == way]) for way in WAYS)])
    return [f"| {' | '.join(row)} |" for row in rows]


def in_one(compared: Sequence[Compared]) -> str:
    return f"{sum(each.equal for each in compared)}/{sum(each.count for each in compared)}"
