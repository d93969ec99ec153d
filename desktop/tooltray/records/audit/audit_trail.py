"""The audit trail of a hub: records decisions one after the other, and reads them."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.foundation.tasks import finish_in_thread
from tooltray.records.audit.audit_file import AuditFile

logger = logging.getLogger(__name__)
LONGEST_VALUE = 300  # characters of a name or of a value
MOST_VALUES = 40
MOST_READ = 1000  # entries at once

T = TypeVar("T")


class Decision(msgspec.Struct, frozen=True):
    """A decision to be recorded; see AuditEntry."""

    what: str
    answer: str
    way: str
    who: str = ""
    origin: str = ""
    verb: str = ""
    about: Mapping[str, str] = {}


class AuditTrail:
    """The audit trail of a hub. Belongs to one event loop."""

    def __init__(self, path: Path) -> None:
        self._file, self._lock = AuditFile(path), asyncio.Lock()

    async def record(self, decision: Decision) -> None:
        """Writes a decision, which is on the disk when this returns.

        Raises:
            TooltrayError: it cannot be written, so the decision must not take effect.
        """
        entry = _entry(decision)
        async with self._lock:
            try:
                await finish_in_thread(self._file.append, entry)
            except OSError as error:
                title = Phrase("Nothing was allowed, since it cannot be recorded")
                hint = hint_for(error, Phrase("Make it writable"))
                raise TooltrayError(title, Phrase("the audit trail: {reason}", reason=error.strerror or str(error)), hint) from None

    async def note(self, decision: Decision) -> None:
        """Writes a decision that allows nothing, and so takes effect even if the disk is full."""
        try:
            await self.record(decision)
        except TooltrayError as error:
            logger.warning("a decision was not recorded: %s", error.problem.message)

    async def entries(self, before: int = 0, limit: int = 200) -> list[AuditEntry]:
        """Returns decisions, the newest first.

        Args:
            before: only entries with a number smaller than this; 0: from the newest.
        """
        return await self._reading(lambda: self._some(before, min(limit, MOST_READ)))

    async def check(self) -> AuditCheck:
        """Checks that the whole trail is as it was written."""
        return await self._reading(self._file.check)

    def since(self, since: float, until: float) -> list[AuditEntry]:
        """Returns the decisions of a period, the oldest first, for an export; blocks. Unix seconds; `until` 0: up to now."""
        return [each for each in self._file.entries() if each.at >= since and (not until or each.at < until)][::-1]

    def _some(self, before: int, limit: int) -> list[AuditEntry]:
        found: list[AuditEntry] = []
        for entry in self._file.entries():
            if len(found) >= limit:
                break
            if not before or entry.number < before:
                found.append(entry)
        return found

    async def _reading(self, work: Callable[[], T]) -> T:
        async with self._lock:
            try:
                return await asyncio.to_thread(work)
            except OSError as error:
                raise TooltrayError(Phrase("The audit trail cannot be read"), error.strerror or str(error)) from None


def _entry(decision: Decision) -> AuditEntry:
    about = {_cut(name): _cut(value) for name, value in list(decision.about.items())[:MOST_VALUES]}
    what, who, origin = _cut(decision.what), _cut(decision.who), _cut(decision.origin)
    return AuditEntry(0, time.time(), what, decision.answer, decision.way, who, origin, decision.verb, about)


def _cut(text: str) -> str:
    plain = str(text).encode("utf-8", "replace").decode()  # half a surrogate pair in a name must not prevent a decision
    return plain if len(plain) <= LONGEST_VALUE else f"{plain[: LONGEST_VALUE - 1]}…"
