"""Demands that the parts where a missed case loses data or opens a door are covered to the last branch.

Runs after `coverage combine`, from the Makefile. Each pattern must match a file, so that a renamed module cannot slip out.
"""

import fnmatch
import json
import subprocess
import sys
import tempfile
from pathlib import Path

COMPLETE = (
    "desktop/tooltray/api/presenter/*.py",
    "desktop/tooltray/carriers/mcp/client_notices.py",
    "desktop/tooltray/carriers/mcp/client_session.py",
    "desktop/tooltray/carriers/mcp/first_answers*.py",
    "desktop/tooltray/carriers/mcp/greetings.py",
    "desktop/tooltray/carriers/mcp/http_session*.py",
    "desktop/tooltray/carriers/mcp/served_routes.py",
    "desktop/tooltray/carriers/mcp/served_app.py",
    "desktop/tooltray/carriers/mcp/session*.py",
    "desktop/tooltray/carriers/rest/operation.py",
    "desktop/tooltray/foundation/verbs.py",
    "desktop/tooltray/carriers/rest/rest_api.py",
    "desktop/tooltray/catalogue/*.py",
    "desktop/tooltray/config/*.py",
    "desktop/tooltray/consent/*.py",
    "desktop/tooltray/foundation/files/*.py",
    "desktop/tooltray/foundation/home/*.py",
    "desktop/tooltray/foundation/installs/*.py",
    "desktop/tooltray/gateway/*.py",
    "desktop/tooltray/protocol/*.py",
    "desktop/tooltray/records/audit_trail.py",
    "desktop/tooltray/records/journal/*.py",
    "desktop/tooltray/records/telemetry/*.py",
    "desktop/tooltray/servers/confinement/*.py",
    "desktop/tooltray/servers/logs/*.py",
    "desktop/tooltray/servers/npm_mirrors/*.py",
    "desktop/tooltray/servers/relay/*.py",
    "desktop/tooltray/servers/sign_ins/*.py",
    "desktop/tooltray/servers/upstream/*.py",
    "desktop/tooltray/sources/*.py",
    "desktop/tooltray_bridge/*.py",
    "desktop/tooltray_confine/*.py",
    "desktop/tooltray_watch/*.py",
)
ELSEWHERE = "*_windows.py"  # run by tests/windows, which are not measured
MOST_ARROWS = 12  # a file without tests has hundreds; `coverage report` shows all its lines


def incomplete(report: dict[str, dict[str, dict[str, object]]]) -> list[str]:
    """What is missing, one line per file or pattern; `report` is what `coverage json` writes."""
    files = {Path(name).as_posix(): data for name, data in report["files"].items()}
    found = []
    for pattern in COMPLETE:
        names = sorted(fnmatch.filter(files, pattern))
        if not names:
            found.append(f"{pattern}: no such file was measured")
        for name in (each for each in names if not fnmatch.fnmatch(each, ELSEWHERE)):
            lines, branches = files[name].get("missing_lines") or [], files[name].get("missing_branches") or []
            if lines or branches:
                arrows = [f"{start}->{'exit' if end < 0 else end}" for start, end in branches[:MOST_ARROWS]]
                found.append(f"{name}: {len(lines)} lines and {len(branches)} branches are missing {' '.join(arrows)}".rstrip())
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "coverage.json")
        subprocess.run([sys.executable, "-m", "coverage", "json", "--quiet", "--fail-under=0", "-o", str(file)], check=True)
        found = incomplete(json.loads(file.read_text()))
    if found:
        sys.stderr.write("Not covered to the last branch, although scripts/check_branches.py asks for it:\n" + "\n".join(found) + "\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
