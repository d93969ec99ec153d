"""Adds failures to the journal: servers that do not start or exit unexpectedly, and problems that the user should see.

A failure that is published twice, as the failure of a server and as a problem, is recorded once.
"""

import time
from collections.abc import Callable

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported, ServerFailed
from tooltray.records.journal.journal_event import FAILURE, JournalEvent


class Failures:
    """A recorder of failures. Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._bus, self._clock = bus, clock
        self._last: dict[str, str] = {}  # the title of each server's last failure

    def start(self) -> None:
        self._bus.subscribe(ServerFailed, self._on_server_failed)
        self._bus.subscribe(ProblemReported, self._on_problem)

    def _on_server_failed(self, event: ServerFailed) -> None:
        self._last[event.server] = str(event.problem.title)
        self._note(event.problem, event.server, event.project)

    def _on_problem(self, event: ProblemReported) -> None:
        if not event.server or self._last.pop(event.server, None) != str(event.problem.title):
            self._note(event.problem, event.server, event.project)

    def _note(self, problem: Problem, server: str, project: str) -> None:
        self._bus.publish(
            JournalEvent(kind=FAILURE, at=self._clock(), outcome="error", server=server, project=project, reason=str(problem))
        )
