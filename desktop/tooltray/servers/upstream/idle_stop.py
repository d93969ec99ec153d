"""Whether instances of a server are in use, and the end of instances that were not used for as long as the settings allow (`idleStop`).

Whether the limit counts for a server is decided by `ServerManager._idle_limit_s`. There is one deadline per server, which runs only while
something could be stopped; no call touches it. Instances that serve the same clients (the shared ones of both eras, or the instances of one
session) stop together.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.servers.upstream.lifecycle_recorder import IDLE, caused_by

if TYPE_CHECKING:
    from tooltray.servers.upstream.instance import Instance
    from tooltray.servers.upstream.mcp_client import McpClient


class Usage:
    """The use of one instance. Belongs to one event loop.

    Every call of an AI client passes here twice, so it holds only a number and a time.
    """

    __slots__ = ("_clock", "_count", "_ended_at")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: seconds that never go back.
        """
        self._clock = clock
        self._count = 0
        self._ended_at = clock()

    def begin(self) -> None:
        """Marks the instance as needed until `end`."""
        self._count += 1

    def end(self) -> None:
        self._count -= 1
        self._ended_at = self._clock()

    def note(self) -> None:
        """Notes a use at this moment; the idle time counts from here."""
        self._ended_at = self._clock()

    @property
    def is_needed(self) -> bool:
        """Reports whether something needs the instance at this moment."""
        return self._count > 0

    @property
    def idle_s(self) -> float:
        """Returns for how many seconds nothing has needed the instance; 0 while something does."""
        return 0.0 if self._count else self._clock() - self._ended_at


class IdleStop:
    """The deadline of one server's idle instances. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        groups: Callable[[], Iterable[Sequence["Instance"]]],
        limit_s: Callable[[], float | None],
        is_wanted: Callable[["McpClient"], bool],
        deadlines: DeadlineWheel,
    ) -> None:
        """
        Args:
            groups: the present instances; instances that stop together are in one group.
            limit_s: how many seconds an instance may be idle; None: without limit.
            is_wanted: whether a session waits for notifications of an instance, which is a use without a call.
        """
        self._groups, self._limit_s, self._is_wanted, self._deadlines = groups, limit_s, is_wanted, deadlines
        self._deadline: Deadline | None = None

    def follow(self) -> None:
        """Renews the deadline after copies have started or ended, or the settings have changed."""
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None
        limit_s = self._limit_s()
        running = [group for group in self._groups() if _is_running(group)]
        if limit_s is not None and running:
            wait_s = min(limit_s - self._idle_s(group) for group in running)
            self._deadline = self._deadlines.add(max(wait_s, 0.0), self._stop_idle)

    def _stop_idle(self) -> None:
        """Decides and starts to stop without a pause between: a call that comes now finds a running instance, or one to start again."""
        self._deadline = None
        limit_s = self._limit_s()
        for group in list(self._groups()):
            if limit_s is not None and _is_running(group) and self._idle_s(group) >= limit_s:
                with caused_by(IDLE):
                    for instance in [instance for instance in group if instance.client]:
                        instance.start_stopping(then=ServerState.ON_DEMAND)
        self.follow()

    def _idle_s(self, group: Sequence["Instance"]) -> float:
        """Returns for how many seconds none of these instances was used."""
        for instance in group:
            if instance.client and self._is_wanted(instance.client):
                instance.usage.note()
        is_busy = any(instance.status.is_busy for instance in group)
        return 0.0 if is_busy else min(instance.usage.idle_s for instance in group if instance.client)


def _is_running(group: Sequence["Instance"]) -> bool:
    return any(instance.client for instance in group)
