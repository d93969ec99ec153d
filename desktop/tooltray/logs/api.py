"""The API about logs: of the hub, of each server, and the protocol messages that a person wants to see.

Below it: LogKeeper and ProtocolLog, and the readers of their files.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tooltray.activity.log_files import log_files
from tooltray.confirmation import confirm_widening
from tooltray.errors import NotFound, TooltrayError
from tooltray.logs import levels
from tooltray.logs.line_formats import HUB_FORMAT, SERVER_FORMAT
from tooltray.logs.log_keeper import LogKeeper
from tooltray.logs.log_reader import LineFormat, LogReader, cannot_read, checked_place, is_wanted
from tooltray.logs.log_segments import Segment
from tooltray.logs.plain_line import plain_line
from tooltray.logs.protocol_log import MAX_FOR_S, ProtocolLog
from tooltray.phrases import Phrase
from tooltray.snapshots.logs import ALL_LINES, HUB, LEVELS, MESSAGES, SERVER, LogFilter, LogLine, LogPage
from tooltray.tasks import finish_in_thread

if TYPE_CHECKING:
    from tooltray.upstream.server_manager import ServerManager

MOST_LINES = 1000  # of one page


class LogsApi:
    def __init__(
        self,
        *,
        servers: "ServerManager",
        keeper: LogKeeper,
        messages: ProtocolLog,
        hub_logs: Path,
        mask: Callable[[str], str] = str,
    ) -> None:
        """
        Args:
            hub_logs: the folder of the hub's own log.
            mask: takes secrets out of a text, also those that were not known when it was written.
        """
        self._servers, self._keeper, self._messages, self._hub_logs, self._mask = servers, keeper, messages, hub_logs, mask

    async def get_log(self, source: str, wanted: LogFilter = ALL_LINES, before: str = "", after: str = "", limit: int = 200) -> LogPage:
        """Lines of a log: the newest ones, or those before or after a place that an earlier page gave.

        A search looks at so many megabytes and no more for one answer; `is_partial` says that it can go on.

        Args:
            source: "hub", "server:NAME", or "messages:NAME".
            wanted: which lines.
            before, after: one of them, or neither; `after` its own page's waits for lines to come.
            limit: how many lines at most.

        Raises:
            NotFound: there is no such log.
            Denied: messages, which have whole arguments and results in them, are for a person.
            TooltrayError: the place is none, or the log cannot be read.
        """
        limit = min(max(limit, 1), MOST_LINES)
        _check_levels(wanted.levels)
        if source.startswith(MESSAGES):
            await confirm_widening("Reading recorded messages")
            name = self._servers.get(source.removeprefix(MESSAGES)).name
            page = await asyncio.to_thread(self._messages.page, name, wanted, before, after, limit)
            return self._masked(page)
        if source == HUB:
            return self._masked(await self._read(self._hub_segments, HUB_FORMAT, wanted, before, after, limit))
        if source.startswith(SERVER):
            return self._masked(await self._server_page(source.removeprefix(SERVER), wanted, before, after, limit))
        raise NotFound(Phrase("There is no log '{source}'", source=source[:80]), Phrase("there are hub, server:NAME and messages:NAME"))

    async def set_protocol_log(self, server: str, for_s: float) -> None:
        """Records the messages between the hub and a server, whole and with what is in them, in memory; or ends that.

        What was recorded can be read ten minutes longer than it is recorded.

        Args:
            for_s: so many seconds from now on, an hour at most; 0 ends it, and forgets what was recorded.

        Raises:
            NotFound: there is no such server.
            Denied: only a person may begin it.
        """
        name = self._servers.get(server).name
        if not for_s > 0:
            self._messages.forget(name)
            return
        await confirm_widening("Recording messages")
        self._messages.record(name, min(for_s, MAX_FOR_S))

    async def _server_page(self, name: str, wanted: LogFilter, before: str, after: str, limit: int) -> LogPage:
        await self._keeper.flush()
        problem = self._keeper.problem(name)
        if problem is not None and not before and not after:
            return replace(self._in_memory(name, wanted, limit), problem=problem)
        page = await self._read(lambda: self._keeper.files.segments(name), SERVER_FORMAT, wanted, before, after, limit)
        if not page.total_bytes:
            self._servers.get(name)  # nothing is kept of it: it must be there at least
        return page

    def _in_memory(self, name: str, wanted: LogFilter, limit: int) -> LogPage:
        """The last lines of a server whose log cannot be kept on disk; nobody knows when they came."""
        needle = wanted.text.casefold()
        texts = map(plain_line, self._servers.get(name).log)
        lines = (LogLine(str(number), 0.0, text, levels.level_of(text)) for number, text in enumerate(texts))
        return LogPage(lines=tuple(line for line in lines if is_wanted(line, wanted, needle))[-limit:])

    async def _read(
        self, segments: Callable[[], list[Segment]], format: LineFormat, wanted: LogFilter, before: str, after: str, limit: int
    ) -> LogPage:
        places = [checked_place(place) if place else None for place in (before, after)]

        def read() -> LogPage:
            reader = LogReader(segments(), format, wanted)
            return reader.newer(places[1], limit) if places[1] else reader.older(places[0], limit)

        try:
            return await finish_in_thread(read)
        except OSError as error:
            problem = cannot_read(error)
            raise TooltrayError(problem.title, problem.message) from error

    def _hub_segments(self) -> list[Segment]:
        return [Segment(key, path) for key, path in log_files(self._hub_logs)]

    def _masked(self, page: LogPage) -> LogPage:
        mask = self._mask
        return replace(page, lines=tuple(replace(line, text=mask(line.text), detail=mask(line.detail)) for line in page.lines))


def _check_levels(wanted: Sequence[str]) -> None:
    if unknown := [level for level in wanted if level not in LEVELS]:
        title = Phrase("There is no level '{level}'", level=unknown[0][:40])
        raise TooltrayError(title, Phrase("there are {levels}", levels=", ".join(LEVELS)))
