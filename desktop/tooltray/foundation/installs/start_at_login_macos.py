"""Start at login on macOS: a LaunchAgent of the person's. Driven by a double of launchctl in tests; not run on a Mac.

Above it: start_at_login. Below it: files and launchctl(1). launchd reads the folder `LaunchAgents` at each login, see launchd.plist(5), so
writing the file is enough: `launchctl bootstrap` would start a second Tooltray at once, and `bootout` would end the one that runs since it
was started at login. A person or an administrator may have disabled the agent; launchctl has the list of those.
"""

import os
import plistlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tooltray.foundation.files.atomic_file import write_atomically

LABEL = "dev.tooltray.Tooltray"
LAUNCHCTL = "/bin/launchctl"
MODE = 0o644  # launchd refuses files that others may write
ANSWER_TIMEOUT_S = 5.0  # it answers within milliseconds; a window waits for it


def is_on() -> bool:
    """Whether the agent is there and not disabled; what "Login Items" in System Settings allows, no documented call says."""
    return _path().is_file() and not _is_disabled()


def turn_on(command: Sequence[str]) -> None:
    """Writes the agent, and enables it where it was disabled."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "LimitLoadToSessionType": "Aqua",  # where there is a screen
        "ProcessType": "Interactive",
    }
    _path().parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    write_atomically(_path(), plistlib.dumps(agent), MODE)
    if _is_disabled():
        _launchctl("enable", f"{_domain()}/{LABEL}")


def turn_off() -> None:
    _path().unlink(missing_ok=True)


def _is_disabled() -> bool:
    """A line reads `"label" => disabled`; before macOS 13 `"label" => true`."""
    lines = _launchctl("print-disabled", _domain()).splitlines()
    states = [line.partition("=>")[2].strip() for line in lines if line.strip().startswith(f'"{LABEL}"')]
    return bool({"disabled", "true"} & set(states))


def _launchctl(*arguments: str) -> str:
    """What launchctl prints; nothing where it cannot be asked."""
    try:
        ran = subprocess.run([LAUNCHCTL, *arguments], capture_output=True, text=True, timeout=ANSWER_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _path() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
