"""Reads pages of the logs that are kept in files: the hub's, and each server's."""

from pathlib import Path

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.logs import HUB, LEVELS, SERVER, LogFilter, LogPage
from tooltray.foundation.tasks import finish_in_thread
from tooltray.records.activity.log_files import log_files
from tooltray.servers.logs.line_formats import HUB_FORMAT, SERVER_FORMAT
from tooltray.servers.logs.log_reader import LineFormat, LogReader, cannot_read, checked_place
from tooltray.servers.logs.log_segments import Segment
from tooltray.servers.logs.server_log_files import ServerLogFiles

MOST_LINES = 1000  # of one page


class LogPages:
    """The logs in files.

    Attributes:
        files: of servers.
    """

    def __init__(self, files: ServerLogFiles, *, hub_logs: Path) -> None:
        """
        Args:
            hub_logs: the folder of the hub's own log.
        """
        self.files, self._hub_logs = files, hub_logs

    async def page(self, source: str, wanted: LogFilter, before: str, after: str, limit: int) -> LogPage:
        """Returns a page, as `LogsApi.get_log` gives it; empty where nothing is kept.

        Raises:
            NotFound: the log does not exist.
            TooltrayError: the place or a level is invalid, or the log cannot be read.
        """
        check_levels(wanted)
        places = [checked_place(place) if place else None for place in (before, after)]

        def read() -> LogPage:
            segments, format = self._log(source)
            reader = LogReader(segments, format, wanted)
            return reader.newer(places[1], capped(limit)) if places[1] else reader.older(places[0], capped(limit))

        try:
            return await finish_in_thread(read)
        except OSError as error:
            problem = cannot_read(error)
            raise TooltrayError(problem.title, problem.message) from error

    def _log(self, source: str) -> tuple[list[Segment], LineFormat]:
        if source == HUB:
            return [Segment(key, path) for key, path in log_files(self._hub_logs)], HUB_FORMAT
        if source.startswith(SERVER):
            return self.files.segments(source.removeprefix(SERVER)), SERVER_FORMAT
        raise NotFound(Phrase("There is no log '{source}'", source=source[:80]), Phrase("there are hub, server:NAME and messages:NAME"))


def capped(limit: int) -> int:
    """Returns how many lines a page has at most."""
    return min(max(limit, 1), MOST_LINES)


def check_levels(wanted: LogFilter) -> None:
    """Checks the levels of a filter.

    Raises:
        TooltrayError: a level does not exist.
    """
    if unknown := [level for level in wanted.levels if level not in LEVELS]:
        title = Phrase("There is no level '{level}'", level=unknown[0][:40])
        raise TooltrayError(title, Phrase("there are {levels}", levels=", ".join(LEVELS)))
