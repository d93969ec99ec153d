"""Events about AI clients' sessions for other rooms of the engine. They never leave the process."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tooltray.events import Event

if TYPE_CHECKING:
    from tooltray.sessions.session_state import SessionState


@dataclass(frozen=True)
class SessionConnected(Event):
    """A session has its first connection, or one again."""

    state: "SessionState"


@dataclass(frozen=True)
class SessionDisconnected(Event):
    """The last connection of a session has ended; its client may come back."""

    state: "SessionState"


@dataclass(frozen=True)
class SessionForgotten(Event):
    """The client has been away for so long that it is another session if it comes back."""

    state: "SessionState"


@dataclass(frozen=True)
class SessionMoved(Event):
    """A session may work on another project than before, and so use other instances of servers."""

    state: "SessionState"
