"""Reports about files with servers: lines for the terminal and the log of a starting hub, and problems for notifications.

Above it: ServerFiles. Below it: the event bus, snapshots of files. The page of files in the window shows all problems.
"""

from collections.abc import Iterable, Iterator, Sequence

from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.files import FileProblem, ServerFileSnapshot
from tooltray.servers.upstream.project_folder import shown

MOST_NAMES = 8  # in one line
MOST_REPORTED = 10  # problems of one file at once; a foreign file may have a thousand


class ProblemReports:
    """Publishes each problem of a file once. Belongs to the engine's loop."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._reported: dict[str, frozenset[FileProblem]] = {}  # by path

    def report(self, path: str, problems: Sequence[FileProblem]) -> None:
        """Publishes those of a file's current problems that are new."""
        before, self._reported[path] = self._reported.get(path, frozenset()), frozenset(problems)
        for problem in first_problems(path, [each for each in problems if each not in before]):
            self._bus.publish(ProblemReported(problem))


def first_problems(path: str, problems: Sequence[FileProblem]) -> Iterator[Problem]:
    """Returns the first `MOST_REPORTED` problems of a file, and one that gives the number of the others."""
    yield from (each.problem for each in problems[:MOST_REPORTED])
    if (left := len(problems) - MOST_REPORTED) > 0:
        message = Phrase("and {number} more problems", number=left)
        yield Problem(Phrase("{file} is not fully used", file=shown(path)), message, Phrase("Correct it in {file}", file=shown(path)))


def served_lines(files: Iterable[ServerFileSnapshot]) -> Iterator[str]:
    """One line for each file whose servers all AI clients have. A file with its own endpoint is reported where that is opened."""
    for file in files:
        used = [entry.server for entry in file.entries if entry.server]
        if used and file.is_for_all and file.kind in ("mcp.json", "mcp-hub"):
            yield visible(f"Serves {file.path}: {_names(used)}")


def waiting_lines(files: Iterable[ServerFileSnapshot]) -> Iterator[str]:
    """One line for each file with servers that wait for consent, with the command that shows and allows them."""
    for file in files:
        if waiting := [entry.name for entry in file.entries if entry.state in ("waits", "changed")]:
            look = f"tooltray trust {quoted(file.project)}"
            yield visible(f"{file.path} brings {_names(waiting)}. Look at what they start, and allow them: {look}")


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
