"""The states of an instance of a server, and which of them may follow which."""

from tooltray.foundation.snapshots.servers import ServerState

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
