"""Tasks of servers on the disk: one file of the home, so that a client can come back for its task after the hub has ended.

Above it: TaskBook. Below it: atomic_file. Knows nothing of what the tasks are for. The file has no argument and no result of a call.
"""

import logging
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tooltray.foundation.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.protocol.task_messages import ENDED, WORKING

LARGEST_BYTES = 64 * 2**20  # as many tasks as are kept, each with the longest id, have 45 MB
logger = logging.getLogger(__name__)


class ServerTask(msgspec.Struct, kw_only=True):
    """
    Attributes:
        id: by which clients of all servers know it.
        own_id: by which its server does, and clients that have that server alone.
        owner: whose it is, see SessionState; empty: of whoever knows its id.
        client: as the client names itself; for people.
        tool: the server's own name for it.
        is_modern: it belongs to the connection for modern clients.
        status: the last that was seen.
        created_at: unix seconds.
        ttl_s: how long its server keeps it, in seconds; None: it does not say, or without end.
    """

    id: str
    own_id: str
    server: str
    owner: str
    client: str = ""
    tool: str = ""
    is_modern: bool = False
    status: str = WORKING
    created_at: float
    ttl_s: float | None = None

    @property
    def is_over(self) -> bool:
        return self.status in ENDED


class TaskStore:
    """That of one home. `save` blocks on the disk and may be called from any thread."""

    def __init__(self, path: Path) -> None:
        """Reads the file. One that cannot be used is set aside: then no earlier task is known."""
        self._path, self._writing = path, threading.Lock()
        self.found: list[ServerTask] = []
        try:
            self.found = msgspec.json.decode(read_own(path, LARGEST_BYTES), type=list[ServerTask])
        except FileNotFoundError:
            pass
        except (ValueError, RecursionError):
            logger.warning("which client each task of a server is of cannot be read; what was there is now in %s", set_aside(path))
        except OSError as error:
            logger.warning("which client each task of a server is of cannot be read: %s", error.strerror or error)

    def save(self, tasks: Sequence[ServerTask]) -> None:
        """If the disk is full, a task is known until the hub ends, which is logged."""
        try:
            with self._writing:
                write_atomically(self._path, msgspec.json.encode(tasks))
        except OSError as error:
            logger.warning("which client each task of a server is of cannot be kept: %s", error.strerror or error)
