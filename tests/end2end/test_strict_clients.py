"""Lists that leave the hub, checked by the real schemas of the TypeScript SDK 1.x, the output schemas compiled, as its clients do."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.contract.odd_definitions import LEGACY, ODD_SCHEMAS, odd, published
from tests.end2end.processes import BRIDGE, new_world
from tests.end2end.steered import START_S, start_and_wait

from tooltray.catalogue.offer import PROMPTS, RESOURCES, TEMPLATES, TOOLS, OfferKind

NPM = Path(__file__).parents[1] / "npm"
HABITS = Path(__file__).parent / "servers" / "habits.py"
KINDS = (TOOLS, PROMPTS, RESOURCES, TEMPLATES)
EXAMPLES = 150  # of each kind
CHECK_TIMEOUT_S = 120.0


def generated(kind: OfferKind) -> list[Any]:
    """Returns definitions, the same in each run."""
    found: list[Any] = [{"name": "i", "inputSchema": each} for each in ODD_SCHEMAS] if kind is TOOLS else []
    found += [{"name": "o", "inputSchema": {"type": "object"}, "outputSchema": each} for each in ODD_SCHEMAS] if kind is TOOLS else []

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(odd(kind))
    def generate(definition: Any) -> None:
        found.append(definition)

    generate()
    return found


def refused(node: str, lists: Sequence[tuple[OfferKind, Any]]) -> list[Any]:
    """Returns what a strict client refuses of these lists."""
    lines = "".join(json.dumps({"method": kind.method, "result": {kind.member: listed}}) + "\n" for kind, listed in lists)
    checked = subprocess.run(
        [node, "check_lists.mjs"], cwd=NPM, input=lines, capture_output=True, text=True, timeout=CHECK_TIMEOUT_S, check=True
    )
    *found, summary = (json.loads(line) for line in checked.stdout.strip().split("\n"))
    assert summary == {"checked": len(lists)}
    return found


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_whatever_a_server_lists_is_read_by_the_typescript_sdk(node: str, kind: OfferKind) -> None:
    definitions = generated(kind)
    assert refused(node, [(kind, [each]) for each in definitions]), "a check that refuses nothing proves nothing"
    for is_modern_server in (False, True):
        left = published(kind, definitions, is_modern_server=is_modern_server, version=LEGACY)
        assert refused(node, [(kind, [json.loads(bytes(each))]) for each in left]) == []


def test_a_strict_client_has_all_tools_of_a_healthy_server_beside_a_sick_one(node: str) -> None:
    with new_world() as world:
        for name, habits in (("healthy", []), ("sick", ["sick"])):
            world.add_server(name, sys.executable, str(HABITS), *habits)
        start_and_wait(world)
        client = world.start(node, str(NPM / "strict_client.mjs"), sys.executable, "-I", "-S", str(BRIDGE))
        line = client.read_line(START_S)
        assert line, client.error_text
        assert client.wait() == 0, client.error_text
        listed = tuple(json.loads(line))
        doctor = world.tooltray("doctor", "sick")
    assert {"echo", "hang", "pids", "die", "slow", "big", "untyped", "unresolved", "array"} <= set(listed)
    assert "tool 'untyped': annotations.title is null, not a string (left out)" in doctor.stdout
    assert "tool 2 of the list is left out: its definition has no name" in doctor.stdout
