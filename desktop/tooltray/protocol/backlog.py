"""The queue of a peer's requests and notifications that are not being handled yet, bounded in bytes.

Above it: dispatcher, which takes as many requests as the pace allows. Knows no method. The peer is read on while requests wait here,
because its replies and cancellations come on the same stream; so a message that does not fit is refused, not left in the pipe.
"""

from collections import deque

from tooltray.protocol.envelope import Envelope

MAX_BYTES = 64 * 2**20  # the same limit as in the other direction (unsent); a larger message fits into an empty queue
MESSAGE_BYTES = 500  # memory of a message besides its parameters


class Backlog:
    """The queue of one connection.

    Attributes:
        waiting: oldest first.
    """

    def __init__(self) -> None:
        self.waiting: deque[Envelope] = deque()
        self._bytes = 0

    def add(self, message: Envelope) -> bool:
        """Keeps a message for later; returns whether there is room for it."""
        size = _size_of(message)
        if self.waiting and self._bytes + size > MAX_BYTES:
            return False
        self.waiting.append(message)
        self._bytes += size
        return True

    def next(self) -> Envelope:
        """Removes and returns the oldest message."""
        message = self.waiting.popleft()
        self._bytes -= _size_of(message)
        return message

    def remove(self, key: bytes) -> bool:
        """Removes the request with this id; returns whether there was one."""
        found = next((each for each in self.waiting if each.id and bytes(each.id) == key), None)
        if found is None:
            return False
        self.waiting.remove(found)
        self._bytes -= _size_of(found)
        return True

    def clear(self) -> None:
        self.waiting.clear()
        self._bytes = 0


def _size_of(message: Envelope) -> int:
    return len(memoryview(message.params)) + MESSAGE_BYTES
