"""The causes of servers' starts and stops, and the record of these for the journal.

A server starts or stops because the user wants it, an AI client calls it, it was idle for too long, the settings changed, or Tooltray
starts or ends; an instance does so in the context of its cause. A start is published when the server runs, a stop when it has ended;
a failure is `ServerFailed`, published by `instance_factory`. Built-in servers are a part of Tooltray, and are not published.
"""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

import msgspec

from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.records.journal.journal_event import START, STOP, JournalEvent
from tooltray.servers.upstream.instance_status import STARTS

if TYPE_CHECKING:
    from tooltray.servers.upstream.instance import Instance

PERSON, CLIENT, HUB, IDLE, SETTINGS = "person", "client", "hub", "idle", "settings"
BY_PERSON = "tooltray"
"""Takes the place of a client's name when the user is the cause."""


class Cause(msgspec.Struct, frozen=True):
    """The reason for a start or a stop.

    Attributes:
        why: one of the words above.
        client: the AI client or the program that it is for; BY_PERSON for the user; empty: none.
    """

    why: str
    client: str = ""


_OF_HUB = Cause(HUB)
_cause: ContextVar[Cause] = ContextVar("cause", default=_OF_HUB)


@contextlib.contextmanager
def caused_by(why: str, client: str = "") -> Iterator[None]:
    """Gives starts and stops inside the block this reason."""
    token = _cause.set(Cause(why, client))
    try:
        yield
    finally:
        _cause.reset(token)


def cause() -> Cause:
    """Returns the reason for a start or stop at this moment."""
    return _cause.get()


class _Begun(msgspec.Struct, frozen=True):
    kind: str
    cause: Cause
    at: float
    clock: float


class LifecycleRecorder:
    """The starts and stops that are in progress. Belongs to the engine's loop."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._begun: dict[Instance, _Begun] = {}  # instances on their way up or down

    def changed(self, instance: "Instance", project: str) -> None:
        """Publishes the start or stop that an instance's new state completes. `project`: folder of its project; empty: none."""
        begun, state = self._begun.get(instance), instance.state
        if state in STARTS and begun is None:
            self._begin(instance, START, cause())
        elif state is ServerState.RESTARTING and begun is None:  # it has ended unexpectedly
            self._begin(instance, START, Cause(HUB))
        elif state is ServerState.STOPPING and (begun is None or begun.kind == START):
            self._begin(instance, STOP, cause())
        elif state is ServerState.RUNNING or (begun and begun.kind == STOP and state not in STARTS and state is not ServerState.STOPPING):
            self._end(instance, project)
        elif state in (ServerState.ERROR, ServerState.NEEDS_SIGN_IN):
            self._begun.pop(instance, None)

    def _begin(self, instance: "Instance", kind: str, why: Cause) -> None:
        self._begun[instance] = _Begun(kind, why, time.time(), time.perf_counter())

    def _end(self, instance: "Instance", project: str) -> None:
        if begun := self._begun.pop(instance, None):
            self._bus.publish(
                JournalEvent(
                    kind=begun.kind,
                    at=begun.at,
                    outcome="ok",
                    duration_s=time.perf_counter() - begun.clock,
                    client=begun.cause.client,
                    session=instance.owner.state.id if instance.owner else "",
                    project=project,
                    server=instance.name,
                    reason=begun.cause.why,
                )
            )
