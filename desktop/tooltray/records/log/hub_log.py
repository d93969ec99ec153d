"""Records Python's own logging, and the problems and failures on the bus, in a hub's structured log.

Python's logging is captured from `start` to `close`.
"""

import logging

from tooltray.foundation.events import EventBus, ProblemReported, ServerFailed
from tooltray.foundation.verbs import JsonObject
from tooltray.records.log.structured_log import INTERNAL_ERROR, MAX_MESSAGE_LENGTH, StructuredLog, short_stack


class LogHandler(logging.Handler):
    """A handler that passes records of Python's logging to the structured log: as `error` from ERROR upwards, as `log` otherwise."""

    def __init__(self, log: StructuredLog, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        try:
            summary = record.getMessage()
        except Exception as error:  # wrong arguments for its text: the bare text is better than no text
            summary = f"{record.msg} ({type(error).__name__}: {error})"
        summary, level = summary[:MAX_MESSAGE_LENGTH], record.levelname.lower()
        raised = record.exc_info[1] if record.exc_info else None
        if record.levelno >= logging.ERROR:
            self._log.error(summary, raised, component=record.name, level=level)
        else:
            stack = {"stack": short_stack(raised)} if raised else {}
            self._log.record("log", summary, component=record.name, level=level, **stack)


class HubLog:
    """The connection of a hub's structured log to Python's logging and to the bus. Belongs to the engine's loop."""

    def __init__(self, log: StructuredLog, *, bus: EventBus) -> None:
        self._log, self._bus = log, bus
        self._handler = LogHandler(log)
        self._logger = logging.getLogger("tooltray")
        self._others = [logging.getLogger(name) for name in ("asyncio", "concurrent.futures")]  # their warnings concern our code, too

    def start(self) -> None:
        self._log.start()
        self._bus.subscribe(ProblemReported, self._on_problem)
        self._bus.subscribe(ServerFailed, self._on_server_failed)
        self._logger.setLevel(logging.INFO)
        for each in (self._logger, *self._others):
            each.addHandler(self._handler)

    def close(self) -> None:
        """Stops capturing Python's logging; the structured log stays open for the last records."""
        for each in (self._logger, *self._others):
            each.removeHandler(self._handler)
        self._logger.setLevel(logging.NOTSET)

    def _on_problem(self, event: ProblemReported) -> None:
        if not event.server:
            self._log.record("log", str(event.problem), level="warning")
            return
        where = f" for {event.project}" if event.project else ""
        self._log.record("log", f"'{event.server}'{where}: {event.problem}", level="warning", server=event.server)

    def _on_server_failed(self, event: ServerFailed) -> None:
        """Records a failed start as an error, and the end of a server as a warning, because the server is restarted."""
        what = "did not start" if event.is_start else "has ended"
        more: JsonObject = {"code": INTERNAL_ERROR, "message": str(event.problem)} if event.is_start else {}
        if event.project:
            more["project"] = event.project
        self._log.record(
            "server_start_failed" if event.is_start else "server_ended",
            f"'{event.server}' {what} (attempt {event.attempt}): {event.problem}",
            level="error" if event.is_start else "warning",
            server=event.server,
            reason=str(event.problem),
            exitCode=event.exit_code,
            attempt=event.attempt,
            **more,
        )
