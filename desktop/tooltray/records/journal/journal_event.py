"""The event by which other packages add to the journal, and the failures that it gets from the bus.

Publishing an event must be cheap for a call. So it carries references, and their content is read once the call is answered. It never
leaves the process.
"""

import time
from collections.abc import Callable

from msgspec import Raw

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import Event, EventBus, ProblemReported, ServerFailed
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.sessions.exchange import CallTimings

CALL, QUESTION, APPROVAL, START, STOP, FAILURE = "call", "question", "approval", "start", "stop", "failure"


class JournalEvent(Event, frozen=True, kw_only=True):
    """An event for the journal; its fields are the fields of ActivityEntry, and these:

    Attributes:
        line: the target, if it is not read from the params.
        params: of a call, as received, or as the user has changed them; of an approval with changes, as received.
        reply: its result or error, as received; empty: the call has no reply.
        is_fault: the reply is an error of JSON-RPC, or the result of a failed call.
        way: where the user has answered an approval, see AuditEntry.
        timings: of a call; None for any other event.
    """

    kind: str
    at: float
    outcome: str
    duration_s: float = 0.0
    client: str = ""
    session: str = ""
    project: str = ""
    server: str = ""
    tool: str = ""
    published: str = ""
    argument_bytes: int = 0
    result_bytes: int = 0
    reason: str = ""
    line: str = ""
    params: Raw = NOTHING
    reply: Raw = NOTHING
    is_fault: bool = False
    way: str = ""
    timings: CallTimings | None = None


class Failures:
    """A recorder of failures: servers that do not start or exit unexpectedly, and problems that the user should see.

    A failure that is published twice, as the failure of a server and as a problem, is recorded once. Belongs to the engine's loop.
    """

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
