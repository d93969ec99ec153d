"""Events about AI clients' sessions for other rooms of the engine. They never leave the process."""

from typing import TYPE_CHECKING

from tooltray.events import Event

if TYPE_CHECKING:
    from tooltray.sessions.session_state import SessionState


class SessionConnected(Event, frozen=True):
    """A session has its first connection, or one again."""

    state: "SessionState"


class SessionDisconnected(Event, frozen=True):
    """The last connection of a session has ended; its client may come back."""

    state: "SessionState"


class SessionForgotten(Event, frozen=True):
    """The client has been away for so long that it is another session if it comes back."""

    state: "SessionState"


class SessionMoved(Event, frozen=True):
    """A session may work on another project than before, and so use other instances of servers."""

    state: "SessionState"
