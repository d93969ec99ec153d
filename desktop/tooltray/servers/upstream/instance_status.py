"""The program and the state of a server's instance, and the table of state transitions."""

from collections.abc import Awaitable, Callable

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.moments import Moment
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.servers.transports.transport import Transport

IDLE = (ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.WAITING)
STARTS = (ServerState.STARTING, ServerState.INSTALLING)
TRANSITIONS: dict[ServerState, frozenset[ServerState]] = {
    ServerState.ON_DEMAND: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPED, ServerState.WAITING}),
    ServerState.WAITING: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPED, ServerState.ON_DEMAND}),
    ServerState.STOPPED: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.ON_DEMAND, ServerState.WAITING}),
    ServerState.STARTING: frozenset(
        {ServerState.RUNNING, ServerState.RESTARTING, ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPING}
    ),
    ServerState.INSTALLING: frozenset({ServerState.RUNNING, ServerState.RESTARTING, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.RUNNING: frozenset({ServerState.RESTARTING, ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.RESTARTING: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.STOPPING: frozenset({ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.WAITING}),
    ServerState.NEEDS_SIGN_IN: frozenset({ServerState.STARTING, ServerState.STOPPING, ServerState.STOPPED, ServerState.ON_DEMAND}),
    ServerState.ERROR: frozenset(
        {ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPING, ServerState.STOPPED, ServerState.ON_DEMAND}
    ),
}


class Program(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The program or connection that an instance runs, by the present settings.

    Attributes:
        make_transport: resolves the settings into a transport; may raise TooltrayError.
        needs_secrets: the settings name secrets, which the keyring may have.
        is_launcher: the command may have to download what it starts.
        start_timeout_s: how many seconds the server may be silent before its first answer; None: the limit of all servers.
        is_remote: the server is reached by a URL, and is tried again in the background however often it fails.
        is_isolated: every AI client has an instance of its own.
        is_known_legacy: the server spoke only the legacy era when it last ran.
        only_era: the only era that the server's settings allow; None: any era that the server speaks.
        is_first_start: the server was never seen running: then a launcher is shown as installing it.
        is_retried_by_calls: after a failure each call starts it again, so the same failure in a row is reported once.
    """

    name: str
    make_transport: Callable[[], Awaitable[Transport]]
    needs_secrets: bool = False
    is_launcher: bool = False
    start_timeout_s: float | None = None
    is_remote: bool = False
    is_isolated: bool = False
    is_known_legacy: bool = False
    only_era: Era | None = None
    is_first_start: bool = False
    is_retried_by_calls: bool = False


class Status(msgspec.Struct, frozen=True):
    """The state of an instance, with everything that holds only in this state.

    Attributes:
        since: when the state was entered; None: unknown.
        problem: why the server does not run.
        detail: a text for the user about the state; empty: none.
        retry_after_s: RESTARTING, ERROR: the pause before the next attempt; None: no attempt is made until a caller starts the instance.
        then: STOPPING: the idle state that follows.
        starts_again: a caller wants the next process as soon as this one has ended.
        is_era_refused: ERROR: the server does not speak the era that it was to be opened in.
        is_repeated: ERROR: the problem is the one that it had before, with no success between.
    """

    state: ServerState
    since: Moment | None = msgspec.field(default_factory=Moment)
    problem: Problem | None = None
    detail: str = ""
    retry_after_s: float | None = None
    then: ServerState = ServerState.STOPPED
    starts_again: bool = False
    is_era_refused: bool = False
    is_repeated: bool = False

    @property
    def is_busy(self) -> bool:
        """Reports whether the instance is on its way to running."""
        return self.state in (ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING)

    @property
    def is_stopped(self) -> bool:
        """Reports whether a caller stopped the instance, or is just doing so."""
        is_being_stopped = self.state is ServerState.STOPPING and self.then is ServerState.STOPPED and not self.starts_again
        return self.state is ServerState.STOPPED or is_being_stopped


class Tries(msgspec.Struct):
    """The attempts since a caller started the instance.

    Attributes:
        failures: in a row.
        has_run: one of them succeeded.
        has_ended_at_probe: the server ended at the modern greeting, so it is greeted in the legacy way from then on.
    """

    failures: int = 0
    has_run: bool = False
    has_ended_at_probe: bool = False
    last_error: Problem | None = None


class Failure(msgspec.Struct, frozen=True):
    """A start that failed, or an end that was not requested.

    Attributes:
        is_start: the instance did not start; else it ran and has ended.
        attempt: which failure in a row this is, from 1.
        exit_code: the exit code of the process; None if the process had not exited on its own, or there was no process.
    """

    problem: Problem
    is_start: bool
    attempt: int
    exit_code: int | None
