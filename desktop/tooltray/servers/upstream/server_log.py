"""The last lines of a server's output in memory, each passed on to what keeps all of them. Transports know only that it is a deque."""

from collections import deque
from collections.abc import Callable

from tooltray.servers.transports.server_output import LOG_LINES, SEPARATOR


class ServerLog(deque[str]):
    """The last lines of one server. Belongs to the engine's loop."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        """
        Args:
            keep: called with each line, except the line that separates one process from the next.
        """
        super().__init__(maxlen=LOG_LINES)
        self._keep = keep

    def append(self, line: str) -> None:
        super().append(line)
        if not line.startswith(SEPARATOR):
            self._keep(line)
