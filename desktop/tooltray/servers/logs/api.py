"""The verbs for logs: the hub's, each server's, and the protocol messages that the user wants to see."""

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tooltray.foundation.confirm_widening import confirm_reading, confirm_widening
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ALL_LINES, MESSAGES, SERVER, LogFilter, LogLine, LogPage
from tooltray.records.log.masking import Mask
from tooltray.servers.logs.log_keeper import LogKeeper
from tooltray.servers.logs.log_lines import level_of, plain_line
from tooltray.servers.logs.log_reader import LogPages, capped, check_levels, is_wanted
from tooltray.servers.logs.protocol_log import MAX_FOR_S, ProtocolLog

if TYPE_CHECKING:
    from tooltray.servers.upstream.server_manager import ServerManager


class LogsApi:
    def __init__(
        self,
        *,
        servers: "ServerManager",
        keeper: LogKeeper,
        pages: LogPages,
        messages: ProtocolLog,
        mask: Mask,
    ) -> None:
        """
        Args:
            mask: masks secrets in a page, also secrets that were not known when it was written.
        """
        self._servers, self._keeper, self._pages, self._messages, self._mask = servers, keeper, pages, messages, mask

    async def get_log(self, source: str, wanted: LogFilter = ALL_LINES, before: str = "", after: str = "", limit: int = 200) -> LogPage:
        """Returns lines of a log: the newest ones, or those before or after a place that an earlier page gave.

        A search looks only at so many megabytes for one answer; `is_partial` reports that it can be continued.

        Args:
            source: "hub", "server:NAME", or "messages:NAME".
            wanted: which lines.
            before, after: a page's; one of them or neither. Later lines follow `after` of the newest page.
            limit: how many lines at most.

        Raises:
            NotFound: the log does not exist.
            Denied: messages, which have whole arguments and results in them, are only for a person.
            TooltrayError: the place is invalid, or the log cannot be read.
        """
        if source.startswith(MESSAGES):
            page = await self._recorded(source.removeprefix(MESSAGES), wanted, before, after, capped(limit))
        elif source.startswith(SERVER):
            page = await self._written(source, wanted, before, after, limit)
        else:
            page = await self._pages.page(source, wanted, before, after, limit)
        self._mask.refresh()
        return replace(page, lines=tuple(map(self._masked, page.lines))) if self._mask.is_needed else page

    async def set_protocol_log(self, server: str, for_s: float) -> None:
        """Records the messages between Tooltray and a server, whole and with their contents, in memory; or ends that.

        Recorded messages can be read for ten minutes after the recording has ended.

        Args:
            for_s: so many seconds from now on, an hour at most; 0 ends the recording, and drops what was recorded.

        Raises:
            NotFound: the server does not exist.
            Denied: only a person may begin it.
        """
        name = self._servers.get(server).name
        if not for_s > 0:
            self._messages.forget(name)
            return
        await confirm_widening(Phrase("Recording messages"), server=name)
        self._messages.record(name, min(for_s, MAX_FOR_S))

    def _masked(self, line: LogLine) -> LogLine:
        text, detail = (self._mask.text(each, len(each)) for each in (line.text, line.detail))
        return replace(line, text=text, detail=detail)

    async def _recorded(self, server: str, wanted: LogFilter, before: str, after: str, limit: int) -> LogPage:
        check_levels(wanted)
        name = self._servers.get(server).name
        await confirm_reading(Phrase("Reading recorded messages"))
        return await asyncio.to_thread(self._messages.page, name, wanted, before, after, limit)

    async def _written(self, source: str, wanted: LogFilter, before: str, after: str, limit: int) -> LogPage:
        name = source.removeprefix(SERVER)
        await self._keeper.flush()
        if (problem := self._keeper.problem(name)) and not (before or after):
            return replace(self._in_memory(name, wanted, capped(limit)), problem=problem)
        page = await self._pages.page(source, wanted, before, after, limit)
        if not page.total_bytes:
            self._servers.get(name)  # no log exists for this server, but the server itself must exist
        return page

    def _in_memory(self, server: str, wanted: LogFilter, limit: int) -> LogPage:
        """Returns the last lines of a server whose log cannot be kept on disk; their times are not known."""
        needle = wanted.text.casefold()
        texts = map(plain_line, self._servers.get(server).log)
        lines = (LogLine(str(number), 0.0, text, level_of(text)) for number, text in enumerate(texts))
        return LogPage(lines=tuple(line for line in lines if is_wanted(line, wanted, needle))[-limit:])
