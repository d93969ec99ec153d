"""What a client observed through the hub, beside what it observes directly: what differs, and what may differ by design.

Above it: run.py. Below it: the names of cells. Knows nothing of processes.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.conformance.matrix.cells import Cell, Observed

SCENARIOS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("scenarios.json").read_bytes())
SHOWN = 700  # characters of each side of a difference
Json = Any
Ease = Callable[[Cell, Json], Json]
"""Takes from an outcome what may differ."""


@dataclass(frozen=True)
class ByDesign:
    """Something that may differ, why, and where; `ease` takes it from both sides before they are compared."""

    reason: str
    ease: Ease
    where: Callable[[Cell], bool] = lambda cell: True
    scenario: str = ""


def eased(cell: Cell, scenario: str, observed: Json) -> Json:
    for each in BY_DESIGN:
        if each.scenario in ("", scenario) and each.where(cell):
            observed = each.ease(cell, observed)
    return observed


def differences(cell: Cell, direct: Observed, through: Observed) -> dict[str, str]:
    """By scenario: both sides in words. What failed as a whole is the scenario "all"."""
    if "failed" in direct or "failed" in through:
        return {"all": f"direct: {direct.get('failed')}\nthrough the hub: {through.get('failed')}"}
    found = {}
    for scenario in SCENARIOS:
        name = scenario["name"]
        sides = [in_order(eased(cell, name, side.get(name)), scenario) for side in (direct, through)]
        if sides[0] != sides[1]:
            found[name] = "direct:          {}\nthrough the hub: {}".format(*first_difference(*sides))
    return found


def in_order(observed: Json, scenario: Mapping[str, Any]) -> Json:
    """Questions that are asked at once come in any order."""
    if scenario.get("unordered") and observed:
        return {**observed, "heard": sorted(observed["heard"], key=json.dumps)}
    return observed


def first_difference(left: Json, right: Json, place: str = "") -> tuple[str, str]:
    """The innermost place where two values differ first, in words for each side."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in {**left, **right}:
            if left.get(key) != right.get(key) or (key in left) != (key in right):
                if key in left and key in right:
                    return first_difference(left[key], right[key], f"{place}.{key}")
                return tuple(f"{place}.{key}: {json.dumps(side[key])[:SHOWN] if key in side else 'not there'}" for side in (left, right))  # type: ignore[return-value]
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            if one != other:
                return first_difference(one, other, f"{place}[{index}]")
    return f"{place}: {json.dumps(left)[:SHOWN]}", f"{place}: {json.dumps(right)[:SHOWN]}"


# what may differ


def own_names(cell: Cell, value: Json) -> Json:
    """Among all servers: without the server's prefix, with its own URIs, and without what other servers list."""
    prefix = f"{cell.name}_"
    if isinstance(value, str):
        return re.sub(rf"tooltray://{cell.name}/([^\s\"]+)", lambda match: unquote(match[1]), value)
    if isinstance(value, list):
        return [own_names(cell, each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: own_names(cell, each) for key, each in value.items()}
    if isinstance(found.get("items"), list):
        found["items"] = [each for each in found["items"] if is_own(cell, each)]
    if isinstance(found.get("name"), str):
        found["name"] = found["name"].removeprefix(prefix)
    return found


def is_own(cell: Cell, entry: Json) -> bool:
    return True


BY_DESIGN: tuple[ByDesign, ...] = ()
