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
    "desktop/tooltray/access/*.py",
    "desktop/tooltray/ai_clients/*.py",
    "desktop/tooltray/approvals/*.py",
    "desktop/tooltray/audit/*.py",
    "desktop/tooltray/bundles/*.py",
    "desktop/tooltray/calls/*.py",
    "desktop/tooltray/catalogue/*.py",
    "desktop/tooltray/confinement/*.py",
    "desktop/tooltray/consent/*.py",
    "desktop/tooltray/discovery/*.py",
    "desktop/tooltray/doctor/*.py",
    "desktop/tooltray/entries/*.py",
    "desktop/tooltray/feedback/*.py",
    "desktop/tooltray/files/*.py",
    "desktop/tooltray/foreign_configs/*.py",
    "desktop/tooltray/foreign_entries/*.py",
    "desktop/tooltray/home/*.py",
    "desktop/tooltray/installs/*.py",
    "desktop/tooltray/journal/*.py",
    "desktop/tooltray/kept_results/*.py",
    "desktop/tooltray/logs/*.py",
    "desktop/tooltray/naming/*.py",
    "desktop/tooltray/presenter/*.py",
    "desktop/tooltray/projects/*.py",
    "desktop/tooltray/protocol/*.py",
    "desktop/tooltray/registries/*.py",
    "desktop/tooltray/relay/*.py",
    "desktop/tooltray/secrets/*.py",
    "desktop/tooltray/server_files/*.py",
    "desktop/tooltray/server_tasks/*.py",
    "desktop/tooltray/sessions/*.py",
    "desktop/tooltray/settings/*.py",
    "desktop/tooltray/sign_ins/*.py",
    "desktop/tooltray/telemetry/*.py",
    "desktop/tooltray/skills/*.py",
    "desktop/tooltray/upstream/*.py",
    "desktop/tooltray/views/*.py",
    "desktop/tooltray/downstream/client_session.py",
    "desktop/tooltray/downstream/greetings.py",
    "desktop/tooltray/downstream/http_session*.py",
    "desktop/tooltray/downstream/change_notices.py",
    "desktop/tooltray/downstream/session*.py",
    "desktop/tooltray/downstream/served/routes.py",
    "desktop/tooltray/downstream/served/served_app.py",
    "desktop/tooltray/rest/rest_api.py",
    "desktop/tooltray/rest/confirmation_rules.py",
    "desktop/tooltray_bridge/*.py",
    "desktop/tooltray_watch/*.py",
    "desktop/tooltray_confine/*.py",
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
