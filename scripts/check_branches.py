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
    "desktop/tooltray/wire/*.py",
    "desktop/tooltray/presenter/*.py",
    "desktop/tooltray/servers/oauth/*.py",
    "desktop/tooltray/tools/approval.py",
    "desktop/tooltray/config/*.py",
    "desktop/tooltray/publish/client_session.py",
    "desktop/tooltray/publish/greetings.py",
    "desktop/tooltray/publish/http_session*.py",
    "desktop/tooltray/publish/listening.py",
    "desktop/tooltray/publish/rest/app.py",
    "desktop/tooltray/publish/rest/trust.py",
    "desktop/tooltray/publish/served/routes.py",
    "desktop/tooltray/publish/served/served_app.py",
    "desktop/tooltray/publish/session*.py",
    "desktop/tooltray_bridge/*.py",
)
MOST_ARROWS = 12  # a file without tests has hundreds; `coverage report` shows all its lines


def incomplete(report: dict[str, dict[str, dict[str, object]]]) -> list[str]:
    """What is missing, one line per file or pattern; `report` is what `coverage json` writes."""
    files = {Path(name).as_posix(): data for name, data in report["files"].items()}
    found = []
    for pattern in COMPLETE:
        names = sorted(fnmatch.filter(files, pattern))
        if not names:
            found.append(f"{pattern}: no such file was measured")
        for name in names:
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
