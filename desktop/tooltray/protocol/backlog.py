"""What a peer has sent and what was not begun yet, in its order, bounded in bytes.

Above it: dispatcher, which begins as many requests as it may. Knows no method. Its peer goes on being read while requests wait here,
because its answers and cancellations come by the same way; so what does not fit is refused, and not left in the pipe.
"""

from collections import deque

from tooltray.protocol.envelope import Envelope

MAX_BYTES = 64 * 2**20  # as much as waits for one peer in the other direction; a larger message passes where nothing else waits
MESSAGE_BYTES = 500  # what keeping one costs besides its parameters


class Backlog:
    """Of one connection.

    Attributes:
        waiting: the oldest first.
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
        """Takes out the oldest."""
        message = self.waiting.popleft()
        self._bytes -= _size_of(message)
        return message

    def remove(self, key: bytes) -> bool:
        """Takes out the request of this id; returns whether there is one."""
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
