"""A server as the REST interface shows it: its snapshot, in few words how it is, and its tools.

Above it: the operations of servers. Below it: snapshots. Pure: what a status is follows from the snapshot alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from tooltray.snapshots.servers import ServerSnapshot, ServerState
from tooltray.snapshots.tools import ToolSnapshot

Status = Literal["connected", "disconnected", "error"]

_STATUS: dict[ServerState, Status] = {
    ServerState.RUNNING: "connected",
    ServerState.ERROR: "error",
    ServerState.NEEDS_SIGN_IN: "error",
}
"""Of every other state: disconnected."""

_REASONS = {
    ServerState.STOPPED: "somebody stopped it",
    ServerState.ON_DEMAND: "its first use starts it",
    ServerState.WAITING: "it waits until a project is known",
    ServerState.NEEDS_SIGN_IN: "it needs somebody to sign in",
    ServerState.RESTARTING: "it is being restarted",
}


@dataclass(frozen=True)
class ServerView(ServerSnapshot):
    """
    Attributes:
        status: of its state, for who wants to know no more.
        reason: why it is not connected, in words; empty if it is.
        tools: all that are known, also those switched off.
    """

    status: Status = "disconnected"
    reason: str = ""
    tools: tuple[ToolSnapshot, ...] = ()


@dataclass(frozen=True)
class Restarting:
    """The answer to a restart; how it goes on, the server's state tells."""

    state: Literal["restarting"] = "restarting"


def status_of(state: ServerState) -> Status:
    return _STATUS.get(state, "disconnected")


def reason_of(server: ServerSnapshot) -> str:
    """Why it is not connected, in words."""
    if server.state is ServerState.RUNNING:
        return ""
    if server.problem:
        return str(server.problem)
    if server.is_disabled:
        return "it is switched off in its settings"
    return server.detail or _REASONS.get(server.state, "")


def view(server: ServerSnapshot, tools: Iterable[ToolSnapshot]) -> ServerView:
    """
    Args:
        tools: its own.
    """
    members = {field.name: getattr(server, field.name) for field in fields(server)}
    return ServerView(**members, status=status_of(server.state), reason=reason_of(server), tools=tuple(tools))
