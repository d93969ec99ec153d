"""A server as the REST interface shows it: its snapshot, a simple status with a reason, and its tools.

Above it: the operations on servers. Below it: snapshots. Pure: the status depends only on the snapshot.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from tooltray.snapshots.servers import ServerSnapshot, ServerState
from tooltray.snapshots.tools import ToolSnapshot

Status = Literal["connected", "disconnected", "error"]

_STATUS: dict[ServerState, Status] = {
    ServerState.RUNNING: "connected",
    ServerState.ERROR: "error",
    ServerState.NEEDS_SIGN_IN: "error",
}
"""Every other state is "disconnected"."""

_REASONS = {
    ServerState.STOPPED: "somebody stopped it",
    ServerState.ON_DEMAND: "its first use starts it",
    ServerState.WAITING: "it waits until a project is known",
    ServerState.NEEDS_SIGN_IN: "it needs somebody to sign in",
    ServerState.RESTARTING: "it is being restarted",
}


class ServerView(ServerSnapshot, frozen=True):
    """
    Attributes:
        status: the state, simplified.
        reason: why the server is not connected; empty if it is.
        tools: all known tools, also disabled ones.
    """

    status: Status = "disconnected"
    reason: str = ""
    tools: tuple[ToolSnapshot, ...] = ()


class Restarting(msgspec.Struct, frozen=True):
    """The response to a restart, whose progress shows in the server's state."""

    state: Literal["restarting"] = "restarting"


def status_of(state: ServerState) -> Status:
    return _STATUS.get(state, "disconnected")


def reason_of(server: ServerSnapshot) -> str:
    """Returns why a server is not connected; empty if it is."""
    if server.state is ServerState.RUNNING:
        return ""
    if server.problem:
        return str(server.problem)
    if server.is_disabled:
        return "it is switched off in its settings"
    return server.detail or _REASONS.get(server.state, "")


def view(server: ServerSnapshot, tools: Iterable[ToolSnapshot]) -> ServerView:
    """Makes the view of a server.

    Args:
        tools: the server's tools.
    """
    members = msgspec.structs.asdict(server)
    return ServerView(**members, status=status_of(server.state), reason=reason_of(server), tools=tuple(tools))
