"""The log that a launcher keeps of its own run, for one that prints nothing while it downloads: npx.

Above it: stdio_transport. Below it: npm's configuration, and its folder of logs. Nothing is read of a log but its beginning, which names
the package.
"""

import os
from collections.abc import Mapping, Sequence

from tooltray.launch.command_lookup import program_name
from tooltray.launch.npm_config import logs_folder

SILENT_LAUNCHERS = frozenset({"npx", "npm"})
HEAD_BYTES = 4096  # npm writes the package within its first lines
CLOCK_SLACK_S = 2.0  # some file systems keep whole seconds


def newest_log(command: str, args: Sequence[str], env: Mapping[str, str], *, since: float) -> str:
    """The newest log of a launcher's run that began not before `since` (unix seconds) and is about the same package; empty if none is."""
    package = next((arg for arg in args if not arg.startswith("-") and arg not in ("exec", "x", "run")), "")
    folder = logs_folder(env) if program_name(command) in SILENT_LAUNCHERS and package else ""
    if not folder:
        return ""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.stat().st_mtime, entry.path) for entry in entries if entry.name.endswith(".log")]
    except OSError:
        return ""
    return next((path for at, path in sorted(found, reverse=True) if at >= since - CLOCK_SLACK_S and _is_about(path, package)), "")


def _is_about(path: str, package: str) -> bool:
    try:
        with open(path, "rb") as log:
            return package.encode() in log.read(HEAD_BYTES)
    except OSError:
        return False
