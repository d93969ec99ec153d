"""Records requests and their answers in the structured log: names, types and sizes; never values.

Writing a line costs a tenth of a call's own work. So only references are noted at first, and both lines of a call are written in the loop's
next turn after its reply, when no client waits for them; the lines of a longer call are written within WRITTEN_AFTER_S.
"""

import asyncio
import time
from typing import Any

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import Envelope
from tooltray.records.activity.structured_log import StructuredLog

WRITTEN_AFTER_S = 0.02  # at the latest; a killed hub loses the lines of this time


class _Error(msgspec.Struct):
    code: int = 0
    message: str = ""


class Recorder:
    """The records of one session; belongs to the event loop."""

    def __init__(self, log: StructuredLog, client: str) -> None:
        self._log = log
        self.client = client
        self._notes: list[tuple[Any, ...]] = []  # pairs of a method and its arguments, in order
        self._is_scheduled = self._is_timed = False

    def received(self, request: Envelope) -> float:
        """Records a request; returns the arguments for `answered`."""
        self._notes.append((self._log.request_received, self.client, bytes(request.id), request.method, request.params, time.time()))
        if not self._is_timed:  # for a call that takes long
            self._is_timed = True
            asyncio.get_running_loop().call_later(WRITTEN_AFTER_S, self._write_in_time)
        return time.perf_counter()

    def answered(self, received_at: float, request: Envelope, reply: Envelope) -> None:
        if reply.error:
            self.refused(request.id, reply)
            return
        duration_s, size = time.perf_counter() - received_at, len(memoryview(reply.result))
        self._notes.append((self._log.response_sent, self.client, bytes(request.id), duration_s, size, time.time()))
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._write)

    def refused(self, id: Raw, reply: Envelope) -> None:
        """Records an error that replaced an answer, also to an unreadable request."""
        self._notes.append((self._record_error, self.client, bytes(id), reply.error, time.time()))
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._write)

    def _write_in_time(self) -> None:
        self._is_timed = False
        self._write()

    def _write(self) -> None:
        self._is_scheduled = False
        notes, self._notes = self._notes, []
        for record, *facts in notes:
            record(*facts)

    def _record_error(self, client: str, id: bytes, error: Raw, at: float) -> None:
        try:
            found = msgspec.json.decode(error, type=_Error)
        except (ValueError, RecursionError):
            found = _Error(message="an error that cannot be read")
        self._log.response_error(client, id, found.code, found.message, at=at)
