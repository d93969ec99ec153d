"""A structured log that only keeps what it is told."""

from typing import Any


class KeptLog:
    """Stands for StructuredLog towards sessions."""

    def __init__(self) -> None:
        self.received: list[tuple[str, bytes, str, bytes]] = []
        self.sent: list[tuple[str, bytes, int]] = []
        self.errors: list[tuple[str, bytes, int, str]] = []
        self.durations_s: list[float] = []
        self.order: list[str] = []  # of all of them
        self.times: list[float | None] = []

    def request_received(self, component: str, id: bytes, method: str, params: Any, at: float | None = None) -> None:
        self._note("received", at)
        self.received.append((component, id, method, bytes(params)))

    def response_sent(self, component: str, id: bytes, duration_s: float, size: int, at: float | None = None) -> None:
        self._note("sent", at)
        self.durations_s.append(duration_s)
        self.sent.append((component, id, size))

    def request_answered(
        self, component: str, id: bytes, method: str, params: Any, received_at: float, duration_s: float, size: int, at: float
    ) -> None:
        self.request_received(component, id, method, params, received_at)
        self.response_sent(component, id, duration_s, size, at)

    def response_error(self, component: str, id: bytes, code: int, message: str, stack: str = "", at: float | None = None) -> None:
        self._note("error", at)
        self.errors.append((component, id, code, message))

    def _note(self, what: str, at: float | None) -> None:
        self.order.append(what)
        self.times.append(at)
