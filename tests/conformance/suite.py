"""The official conformance suite (npm `@modelcontextprotocol/conformance`), run against one URL or one client, and what it found."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.end2end.conftest import NPM_SERVERS, OWN_NODE

WIRES = ("2025-11-25", "2026-07-28")
"""The protocol version of each era's newest wire."""
CLIENT_SCENARIOS = {
    "2025-11-25": ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation"),
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ),
}
"""What the suite asks of clients, without its scenarios for servers that want a sign-in."""
SCENARIO_MS = 20_000  # for one scenario; the longest takes about one second
WIRE_S = 300.0  # for all scenarios of one wire; they take about five, and on a machine with other work a hundred
REMARK_CHARACTERS = 500
RESULT = re.compile(r"(?:server-)?(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
"""The name of the folder that the suite writes for one scenario."""


@dataclass(frozen=True)
class Score:
    """What one scenario found.

    Attributes:
        passed: the ids of checks that passed; an id comes as often as it was checked.
        failures: one line for each check that failed.
        remarks: one line for each check that did neither: a warning, something skipped.
    """

    passed: tuple[str, ...]
    failures: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def is_passed(self) -> bool:
        return not self.failures


def run_suite(url: str, wire: str, folder: Path, scenario: str | None = None) -> dict[str, Score]:
    """Runs all server scenarios of a wire, or one, and returns their scores by name.

    Args:
        folder: where the suite's own results go; made if missing.

    Raises:
        RuntimeError: it found nothing at all; shows what it printed.
        subprocess.TimeoutExpired: it did not come to an end.
    """
    chosen = ["--suite", "all"] if scenario is None else ["--scenario", scenario]
    finished = _run("server", "--url", url, *chosen, wire=wire, folder=folder)
    found = _read_scores(folder)
    if not found:
        raise RuntimeError(f"the conformance suite found nothing at {url}:\n{finished.stdout}")
    return found


def run_client(command: str, wire: str, folder: Path, scenarios: Sequence[str] = ()) -> dict[str, Score]:
    """Runs the client scenarios of a wire, or some of them, one after the other.

    Args:
        command: starts a client; the suite adds the URL of its server.
    """
    found = {}
    for scenario in scenarios or CLIENT_SCENARIOS[wire]:
        finished = _run("client", "--command", command, "--scenario", scenario, wire=wire, folder=folder)
        score = _read_scores(folder).get(scenario, Score(()))
        if finished.returncode and (score.is_passed or "Traceback" in finished.stdout):
            score = Score(score.passed, (*score.failures, f"the client failed: {finished.stdout[-REMARK_CHARACTERS:]}"))
        found[scenario] = score
    return found


def _run(*arguments: str, wire: str, folder: Path) -> subprocess.CompletedProcess[str]:
    bounds = ["--spec-version", wire, "--timeout", str(SCENARIO_MS), "--output-dir", str(folder)]
    return subprocess.run(
        [node(), str((NPM_SERVERS / "conformance").resolve()), *arguments, *bounds],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WIRE_S,
        check=False,
    )


def lost(direct: Mapping[str, Score], through: Mapping[str, Score]) -> list[str]:
    """The scenarios that pass direct and do not pass through something."""
    return [name for name, score in direct.items() if score.is_passed and not (name in through and through[name].is_passed)]


def checks_lost(direct: Score, through: Score) -> list[str]:
    """The ids of checks that pass direct, and through something neither pass nor fail the scenario."""
    return sorted((Counter(direct.passed) - Counter(through.passed)).elements())


def node() -> str:
    """The Node.js that scripts/npm_install.sh chose: its own one, or the machine's if that is new enough."""
    return str(OWN_NODE) if OWN_NODE.exists() else "node"


def _read_scores(folder: Path) -> dict[str, Score]:
    """Returns the newest score of each scenario."""
    scores = {}
    for file in sorted(folder.glob("*/checks.json")):
        match = RESULT.fullmatch(file.parent.name)
        checks = json.loads(file.read_bytes())
        if match and checks:  # no checks: the scenario is none of this wire
            scores[match["scenario"]] = _score(checks)
    return scores


def _score(checks: list[dict[str, Any]]) -> Score:
    return Score(
        passed=tuple(check["id"] for check in checks if check["status"] == "SUCCESS"),
        failures=tuple(_in_words(check) for check in checks if check["status"] == "FAILURE"),
        remarks=tuple(_in_words(check) for check in checks if check["status"] not in ("SUCCESS", "FAILURE")),
    )


def _in_words(check: Mapping[str, Any]) -> str:
    return " ".join(f"{check['id']}: {check.get('errorMessage') or check.get('description')}".split())
