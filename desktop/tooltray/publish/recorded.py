"""What the structured log says of requests and their answers.

Above it: sessions. Below it: StructuredLog. Names, types and sizes; never values.
"""

import time

import msgspec

from tooltray.activity.structured_log import StructuredLog
from tooltray.wire.envelope import Envelope


class _Error(msgspec.Struct):
    code: int = 0
    message: str = ""


class Recorder:
    """Of one session."""

    def __init__(self, log: StructuredLog, client: str) -> None:
        self._log = log
        self.client = client

    def received(self, request: Envelope) -> float:
        """Returns what `answered` needs."""
        self._log.request_received(self.client, bytes(request.id), request.method, request.params)
        return time.perf_counter()

    def answered(self, received_at: float, request: Envelope, reply: Envelope) -> None:
        duration_s = time.perf_counter() - received_at
        if not reply.error:
            self._log.response_sent(self.client, bytes(request.id), duration_s, len(memoryview(reply.result)))
            return
        try:
            error = msgspec.json.decode(reply.error, type=_Error)
        except (ValueError, RecursionError):
            error = _Error(message="an error that cannot be read")
        self._log.response_error(self.client, bytes(request.id), error.code, error.message)
