"""The last lines of a server in memory, handed on as they come to what keeps all of them.

Above it: ManagedServer, whose log it is. Below it: nothing. Transports append to it, and know no more than that it is a deque.
"""

from collections import deque
from collections.abc import Callable

from tooltray.servers.transports.server_output import LOG_LINES, SEPARATOR


class ServerLog(deque[str]):
    """Belongs to the engine's loop."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        """
        Args:
            keep: called with each line, but for what separates one process from the next.
        """
        super().__init__(maxlen=LOG_LINES)
        self._keep = keep

    def append(self, line: str) -> None:
        super().append(line)
        if not line.startswith(SEPARATOR):
            self._keep(line)
