"""Sessions of commands and of second starts of the program, over the control socket. The module knows nothing of AI clients."""

import asyncio

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.control.control_session import ControlSession, HubControl
from tooltray.carriers.mcp.connection import Hello
from tooltray.consent.askers import Consent
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher


class ControlSessions:
    """The open control sessions. Belongs to the engine's loop."""

    def __init__(self, *, presenter: McpPresenter, bus: EventBus, deadlines: DeadlineWheel, control: HubControl, consent: Consent) -> None:
        self._presenter, self._bus, self._deadlines, self._control, self._consent = presenter, bus, deadlines, control, consent
        self._tasks = TaskKeeper()
        self._open: set[ControlSession] = set()

    def open(self, hello: Hello) -> RawDispatcher:
        """Makes the session that a hello asks for; returns its dispatcher."""
        asker = self._consent.command(pid=hello.peer_pid, is_at_terminal=hello.is_at_terminal)
        session = ControlSession(
            presenter=self._presenter,
            bus=self._bus,
            deadlines=self._deadlines,
            control=self._control,
            wants_events=hello.wants_events,
            asker=asker,
        )
        asker.tell = session.tell_of_wait
        self._open.add(session)
        self._tasks.spawn(self._serve(session), name="control")
        return session.dispatcher

    async def close(self, reason: str, *, grace_s: float) -> None:
        """Ends all sessions: requests in flight may finish within `grace_s`, then they are answered with `reason`."""
        await asyncio.gather(*(session.dispatcher.close(reason, grace_s=grace_s) for session in list(self._open)))
        await self._tasks.close()

    async def _serve(self, session: ControlSession) -> None:
        try:
            await session.run()
        finally:
            self._open.discard(session)
