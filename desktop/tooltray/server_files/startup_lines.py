"""What a person who starts a hub by hand, or reads its log, is told of files with servers in them.

Above it: ServerFiles. Below it: snapshots of files. Pure.
"""

import shlex
from collections.abc import Iterable, Iterator

from tooltray.approvals.suspicion import visible
from tooltray.snapshots.files import ServerFileSnapshot

MOST_NAMES = 8  # in one line


def served_lines(files: Iterable[ServerFileSnapshot]) -> Iterator[str]:
    """Which servers all AI clients have of which file; an endpoint of its own is told by the one who opens it."""
    for file in files:
        used = [entry.server for entry in file.entries if entry.server]
        if used and file.is_for_all and file.kind in ("mcp.json", "mcp-hub"):
            yield visible(f"Serves {file.path}: {_names(used)}")


def waiting_lines(files: Iterable[ServerFileSnapshot]) -> Iterator[str]:
    """Which servers wait for a yes, and how one gives it."""
    for file in files:
        if waiting := [entry.name for entry in file.entries if entry.state in ("waits", "changed")]:
            look = f"tooltray trust {shlex.quote(file.project)}"
            yield visible(f"{file.path} brings {_names(waiting)}. Look at what they start, and allow them: {look}")


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
