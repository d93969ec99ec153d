"""Records one session's requests and replies in the structured log, when no client waits for it."""

import asyncio
import time
from typing import Any

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import Envelope
from tooltray.records.log.structured_log import StructuredLog

WRITTEN_AFTER_S = 0.02  # at the latest; a killed hub loses the lines of this time


class _Error(msgspec.Struct):
    code: int = 0
    message: str = ""


class _Note:
    """A request that is still to be recorded."""

    __slots__ = ("at", "began_at", "is_written", "method", "params", "request_id")

    def __init__(self, request: Envelope) -> None:
        self.request_id, self.method, self.params = bytes(request.id), request.method, request.params
        self.at, self.began_at, self.is_written = time.time(), time.perf_counter(), False


class Recorder:
    """The records of one session's requests in the structured log: names, types and sizes; never values.

    Writing a line costs a tenth of a call's own work. So a request is only noted at first, and both lines of a call are written together in
    the loop's next turn after its reply, when no client waits for them; the first line of a longer call is written within WRITTEN_AFTER_S.
    """

    def __init__(self, log: StructuredLog, client: str) -> None:
        self._log = log
        self.client = client
        self._begun: dict[_Note, None] = {}  # requests without an answer and without a line
        self._ended: list[tuple[Any, ...]] = []  # pairs of a method of the log and its arguments, in order
        self._is_scheduled = self._is_timed = False

    def received(self, request: Envelope) -> _Note:
        """Records a request; returns the argument for `answered`."""
        note = _Note(request)
        self._begun[note] = None
        if not self._is_timed:  # for a call that takes long
            self._is_timed = True
            asyncio.get_running_loop().call_later(WRITTEN_AFTER_S, self._write_in_time)
        return note

    def answered(self, note: _Note, reply: Envelope) -> None:
        if reply.error:
            self._write_begun(note)
            self.refused(Raw(note.request_id), reply)
            return
        duration_s, size, id = time.perf_counter() - note.began_at, len(memoryview(reply.result)), note.request_id
        if note.is_written:
            self._later(self._log.response_sent, self.client, id, duration_s, size, time.time())
        else:
            del self._begun[note]
            facts = self.client, id, note.method, note.params, note.at, duration_s, size, time.time()
            self._later(self._log.request_answered, *facts)

    def refused(self, id: Raw, reply: Envelope) -> None:
        """Records an error that replaced an answer, also to an unreadable request."""
        self._later(self._record_error, self.client, bytes(id), reply.error, time.time())

    def _later(self, *record: Any) -> None:
        self._ended.append(record)
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._write)

    def _write_in_time(self) -> None:
        self._is_timed = False
        for note in list(self._begun):
            self._write_begun(note)

    def _write_begun(self, note: _Note) -> None:
        if not note.is_written:
            note.is_written = True
            del self._begun[note]
            self._log.request_received(self.client, note.request_id, note.method, note.params, note.at)

    def _write(self) -> None:
        self._is_scheduled = False
        ended, self._ended = self._ended, []
        for record, *facts in ended:
            record(*facts)

    def _record_error(self, client: str, id: bytes, error: Raw, at: float) -> None:
        try:
            found = msgspec.json.decode(error, type=_Error)
        except (ValueError, RecursionError):
            found = _Error(message="an error that cannot be read")
        self._log.response_error(client, id, found.code, found.message, at=at)
