"""What a hub puts on record while it runs: what its code logs, and whatever a person has to hear of.

Above it: the engine. Below it: StructuredLog, and Python's own logging, which it takes in from `start` to `close`.
"""

import logging

from tooltray.activity.structured_log import LogHandler, StructuredLog
from tooltray.events import EventBus, ProblemReported


class HubLog:
    """Belongs to the engine's loop."""

    def __init__(self, log: StructuredLog, *, bus: EventBus) -> None:
        self._log, self._bus = log, bus
        self._handler = LogHandler(log)
        self._logger = logging.getLogger("tooltray")

    def start(self) -> None:
        self._log.start()
        self._bus.subscribe(ProblemReported, self._on_problem)
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(self._handler)

    def close(self) -> None:
        """Nothing is taken in any more; the log itself stays open for the last records."""
        self._logger.removeHandler(self._handler)
        self._logger.setLevel(logging.NOTSET)

    def _on_problem(self, event: ProblemReported) -> None:
        if not event.server:
            self._log.record("log", str(event.problem), level="warning")
            return
        where = f" for {event.project}" if event.project else ""
        self._log.record("log", f"'{event.server}'{where}: {event.problem}", level="warning", server=event.server)
