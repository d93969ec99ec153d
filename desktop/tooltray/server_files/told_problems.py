"""What a person hears of what is wrong with files: each thing once, and of very many in one file the first.

Above it: ServerFiles. Below it: the bus. The page of the files has all of it.
"""

from collections.abc import Iterator, Sequence

from tooltray.errors import Problem
from tooltray.events import EventBus, ProblemReported
from tooltray.phrases import Phrase
from tooltray.snapshots.files import FileProblem
from tooltray.upstream.project_folder import shown

MOST_TOLD = 10  # of one file at once; a file of somebody else's may have a thousand


class ToldProblems:
    """Belongs to the engine's loop."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._told: dict[str, frozenset[FileProblem]] = {}  # by path

    def tell(self, path: str, problems: Sequence[FileProblem]) -> None:
        """These are the problems of a file now."""
        before, self._told[path] = self._told.get(path, frozenset()), frozenset(problems)
        for problem in few(path, [each for each in problems if each not in before]):
            self._bus.publish(ProblemReported(problem))


def few(path: str, problems: Sequence[FileProblem]) -> Iterator[Problem]:
    """As many as a person can read, and how many there are besides."""
    yield from (each.problem for each in problems[:MOST_TOLD])
    if (left := len(problems) - MOST_TOLD) > 0:
        message = Phrase("and {number} more problems", number=left)
        yield Problem(Phrase("{file} is not fully used", file=shown(path)), message, Phrase("Correct it in {file}", file=shown(path)))
