"""What follows when a session uses a server by anything but a call of a tool: it counts as activated, and the flow guard takes note.

Above it: the handlers of such requests. Below it: Views and FlowGuard.
"""

from tooltray.catalogue.views.views import Views
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.protocol.sessions.session_state import SessionState


class ServerUses:
    """Has no state of its own."""

    def __init__(self, *, views: Views, flow_guard: FlowGuard) -> None:
        self._views, self._guard = views, flow_guard

    def used(self, state: SessionState, server: str) -> None:
        """A session gets a prompt or a resource of a server, or asks it for something of an extension."""
        self._views.used(state, server)
        self.passed(state, server)

    def passed(self, state: SessionState, server: str) -> None:
        """What a server sends may be written by strangers; that alone, since asking for it activates nothing."""
        if self._guard.is_on:
            self._guard.note_other(server, state)
