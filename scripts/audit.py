"""Looks up known vulnerabilities of what is shipped: `python scripts/audit.py PIP_AUDIT`, a part of `make check`.

Runs pip-audit, which asks the package index. Where the index cannot be reached, or knows no advisories (a
mirror), the check says so and passes: a machine without a network can still build.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parents[1] / "requirements" / "run.txt"
OPTIONS = ("--requirement", str(LOCK), "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "10")
WITHIN_S = 120


def outcome(report: str) -> tuple[list[str], str]:
    """What pip-audit's JSON says.

    Returns:
        A line for each vulnerability, and a summary.
    """
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return [], "Vulnerabilities: not looked up, the package index cannot be reached"
    known = [each for each in packages if "vulns" in each]
    found = [_line(each, vulnerability) for each in known for vulnerability in each["vulns"]]
    if not known:
        return [], "Vulnerabilities: not looked up, this package index has no advisories"
    return found, f"Vulnerabilities: {len(found)} in {len(known)} of {len(packages)} packages"


def _line(package: dict[str, str], vulnerability: dict[str, Any]) -> str:
    fixed = ", ".join(map(str, vulnerability.get("fix_versions") or [])) or "no version yet"
    return f"{package['name']} {package['version']}: {vulnerability['id']}, mended in {fixed}"


def main(arguments: Sequence[str]) -> int:
    (program,) = arguments
    try:
        report = subprocess.run([program, *OPTIONS], capture_output=True, text=True, timeout=WITHIN_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        report = ""
    found, summary = outcome(report)
    sys.stdout.writelines(f"{line}\n" for line in (*found, summary))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
