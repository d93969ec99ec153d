"""What the official conformance suite asks of a client that signs in: its own authorization servers, good and bad ones."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.conftest import NPM_SERVERS
from tests.end2end.processes import ROOT

CLIENT = shlex.join([sys.executable, str(ROOT / "tests" / "conformance" / "sign_in_client.py")])
SCENARIO_MS = 40_000  # the longest takes about two seconds
LEGACY, MODERN = "2025-11-25", "2026-07-28"
SCENARIOS = [
    *(("2025-03-26", name) for name in ("2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback")),
    *((LEGACY, f"metadata-{name}") for name in ("default", "var1", "var2", "var3")),
    *((LEGACY, f"token-endpoint-auth-{name}") for name in ("basic", "post", "none")),
    *((LEGACY, f"scope-{name}") for name in ("from-www-authenticate", "from-scopes-supported", "omitted-when-undefined")),
    *((wire, f"scope-{name}") for wire in (LEGACY, MODERN) for name in ("step-up", "retry-limit")),
    (LEGACY, "pre-registration"),
    *((MODERN, f"iss-{name}") for name in ("supported", "not-advertised", "supported-missing", "wrong-issuer", "unexpected", "normalized")),
    *((MODERN, f"offline-access-{name}") for name in ("scope", "not-supported")),
    *((MODERN, name) for name in ("metadata-default", "metadata-issuer-mismatch", "resource-mismatch", "authorization-server-migration")),
    (LEGACY, "client-credentials-basic"),
]


@pytest.mark.parametrize(("wire", "scenario"), SCENARIOS)
def test_the_suite_finds_nothing_wrong_with_a_sign_in(wire: str, scenario: str, node: str, tmp_path: Path) -> None:
    suite = [node, str((NPM_SERVERS / "conformance").resolve()), "client", "--command", CLIENT, "--scenario", f"auth/{scenario}"]
    bounds = ["--spec-version", wire, "--force", "--timeout", str(SCENARIO_MS), "--output-dir", str(tmp_path)]
    finished = subprocess.run([*suite, *bounds], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=os.environ)
    checks: list[dict[str, Any]] = [check for file in tmp_path.rglob("checks.json") for check in json.loads(file.read_bytes())]
    assert [check["id"] for check in checks if check["status"] == "SUCCESS"], finished.stdout + finished.stderr
    assert not [check for check in checks if check["status"] == "FAILURE"], finished.stdout
