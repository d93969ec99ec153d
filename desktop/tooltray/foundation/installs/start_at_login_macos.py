"""Start at login on macOS: a LaunchAgent of the user's. Tested with a double of launchctl; not run on a Mac.

launchd reads the folder `LaunchAgents` at each login, see launchd.plist(5), so writing the file is enough: `launchctl bootstrap` would
start a second Tooltray at once, and `bootout` would end the one that was started at login. The user or an administrator may have disabled
the agent; launchctl lists disabled agents.
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
    """Returns whether the agent exists and is not disabled. The setting "Login Items" in System Settings cannot be read by a documented
    call.
    """
    return _path().is_file() and not _is_disabled()


def turn_on(command: Sequence[str]) -> None:
    """Writes the agent, and enables it if it was disabled."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "LimitLoadToSessionType": "Aqua",  # only in a session with a screen
        "ProcessType": "Interactive",
    }
    _path().parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    write_atomically(_path(), plistlib.dumps(agent), MODE)
    if _is_disabled():
        _launchctl("enable", f"{_domain()}/{LABEL}")


def turn_off() -> None:
    _path().unlink(missing_ok=True)


def _is_disabled() -> bool:
    """Returns whether launchctl lists the agent as `"label" => disabled`; before macOS 13 as `"label" => true`."""
    lines = _launchctl("print-disabled", _domain()).splitlines()
    states = [line.partition("=>")[2].strip() for line in lines if line.strip().startswith(f'"{LABEL}"')]
    return bool({"disabled", "true"} & set(states))


def _launchctl(*arguments: str) -> str:
    """Returns the output of launchctl; empty if it cannot be run."""
    try:
        ran = subprocess.run([LAUNCHCTL, *arguments], capture_output=True, text=True, timeout=ANSWER_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _path() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
