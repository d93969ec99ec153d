"""A structured log that only keeps what it is told."""

from typing import Any


class KeptLog:
    """Stands for StructuredLog towards sessions."""

    def __init__(self) -> None:
        self.received: list[tuple[str, bytes, str, bytes]] = []
        self.sent: list[tuple[str, bytes, int]] = []
        self.errors: list[tuple[str, bytes, int, str]] = []
        self.durations_s: list[float] = []

    def request_received(self, component: str, id: bytes, method: str, params: Any) -> None:
        self.received.append((component, id, method, bytes(params)))

    def response_sent(self, component: str, id: bytes, duration_s: float, size: int) -> None:
        self.durations_s.append(duration_s)
        self.sent.append((component, id, size))

    def response_error(self, component: str, id: bytes, code: int, message: str, stack: str = "") -> None:
        self.errors.append((component, id, code, message))
