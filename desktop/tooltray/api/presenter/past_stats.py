"""Adds calls from before this hub started, read from the journal, to the statistics on cards."""

import logging
import sqlite3
import time
from collections.abc import Callable

from tooltray.foundation.tasks import finish_in_thread
from tooltray.records.activity.call_stats import DURATIONS_KEPT, HOUR_S, HOURS_SHOWN, CallStats, day_start
from tooltray.records.journal.journal_reader import DAY_S, JournalReader
from tooltray.servers.upstream.server_manager import ServerManager

logger = logging.getLogger(__name__)
LOOKED_BACK_S = max(DAY_S + HOUR_S, HOURS_SHOWN * HOUR_S)  # a day may have 25 hours


class PastStats:
    """The reader of earlier calls. Belongs to the engine's loop."""

    def __init__(
        self, *, stats: CallStats, journal_reader: JournalReader, servers: ServerManager, clock: Callable[[], float] = time.time
    ) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._stats, self._reader, self._servers, self._clock = stats, journal_reader, servers, clock
        self._started_at = clock()

    async def count(self) -> None:
        """Adds the calls that the journal has from before this object was made; adds nothing if the journal cannot be read."""
        until = self._started_at
        try:
            found = await finish_in_thread(self._reader.past_calls, until - LOOKED_BACK_S, until, day_start(until), DURATIONS_KEPT)
        except sqlite3.Error as error:
            logger.info("calls of before cannot be counted: %s", error)
            return
        for each in found:
            self._stats.add_past(each.server, each.by_hour, each.today, each.durations, self._clock())
            self._servers.publish_changed(each.server)
