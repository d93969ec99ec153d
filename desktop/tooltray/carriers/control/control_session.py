"""The control channel: the API's verbs by name, the events as notifications. Commands, the handover and a second start use it.

Every verb's arguments are checked against its signature, so that a wrong argument is an error and not a surprise.
"""

import asyncio
import inspect
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import get_type_hints

import msgspec

from tooltray import __version__
from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.control.control_client import PASSPHRASE, WAITS
from tooltray.consent.askers import Consent
from tooltray.foundation.confirm_widening import UNATTENDED, Asker, NeedsPassphrase, asked_by, set_call
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import as_json
from tooltray.foundation.tasks import TaskKeeper
from tooltray.foundation.verbs import JsonMapping, JsonObject, Verb
from tooltray.protocol import envelope
from tooltray.protocol.channels import MAX_CLIENT_LINE_BYTES
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, dump, failure, success

logger = logging.getLogger(__name__)


class HubControl:
    """The functions of the control channel on the hub itself; provided by the engine.

    Attributes:
        hand_over: finishes calls and frees the hub's place; returns when calls are finished.
        raise_window: called with the address that a second start was given, or ""; None without a window.
    """

    def __init__(
        self,
        *,
        kind: str,
        execution_id: str,
        stop: Callable[[], None],
        hand_over: Callable[[], Awaitable[None]],
        raise_window: Callable[[str], None] | None,
    ) -> None:
        self.kind, self.execution_id = kind, execution_id
        self.stop, self.hand_over, self.raise_window = stop, hand_over, raise_window


class ControlSession:
    """One command's session. It serves until its dispatcher is closed."""

    def __init__(
        self,
        *,
        presenter: McpPresenter,
        bus: EventBus,
        deadlines: DeadlineWheel,
        control: HubControl,
        wants_events: bool,
        asker: Asker = UNATTENDED,
    ) -> None:
        """
        Args:
            asker: the command at the other end.
        """
        self._presenter, self._bus, self._control, self._wants_events = presenter, bus, control, wants_events
        self._asker = asker
        self.dispatcher = RawDispatcher(
            name="control",
            deadlines=deadlines,
            answer=self._answer,
            take_notification=lambda notification: None,
            max_line_bytes=MAX_CLIENT_LINE_BYTES,
        )

    async def run(self) -> None:
        """Serves until the other side has disconnected."""
        unsubscribe = self._bus.subscribe_all(self._on_event) if self._wants_events else None
        try:
            await self.dispatcher.closed.wait()
        finally:
            if unsubscribe:
                unsubscribe()

    def tell_of_wait(self, seconds: float) -> None:
        """Notifies the command that the user is asked in the window, and of the seconds that the user has for an answer."""
        self.dispatcher.send_notification(WAITS, dump({"seconds": seconds}))

    async def _answer(self, request: Envelope) -> Envelope:
        try:
            params = envelope.load(request.params) or {}
        except ValueError:
            params = None
        if not isinstance(params, dict):
            return failure(INVALID_PARAMS, "params must be an object")
        try:
            if verb := self._presenter.verbs.get(request.method):
                return await self._call(verb, params)
            return await self._control_hub(request.method, params)
        except TooltrayError as error:
            problem = error.problem
            data = {"title": str(problem.title), "message": str(problem.message), "hint": str(problem.hint)}
            if isinstance(error, NeedsPassphrase):
                data["kind"] = PASSPHRASE
            return failure(CONNECTION_CLOSED, str(error), data)

    async def _call(self, verb: Verb, params: JsonMapping) -> Envelope:
        try:
            arguments = _arguments(verb, params)
        except (TypeError, msgspec.ValidationError, RecursionError) as error:
            return failure(INVALID_PARAMS, str(error))
        set_call(verb.__name__, params)
        with asked_by(self._asker):
            return success(as_json(await verb(**arguments)))

    async def _control_hub(self, method: str, params: Mapping[str, object]) -> Envelope:
        match method:
            case "hub/info":
                return success(
                    {"pid": os.getpid(), "version": __version__, "kind": self._control.kind, "execution_id": self._control.execution_id}
                )
            case "hub/stop":
                self._control.stop()
                return success({})
            case "hub/hand_over":
                await self._control.hand_over()
                return success({})
            case "hub/raise_window" if self._control.raise_window:
                self._control.raise_window(str(params.get("link", "")))
                return success({})
        return failure(METHOD_NOT_FOUND, "Method not found", method)

    def _on_event(self, event: object) -> None:
        if not self.dispatcher.is_congested:  # a client that does not read requests a snapshot later
            params = {"type": type(event).__name__, "data": as_json(event)}
            self.dispatcher.send_notification("event", dump(params))


def _arguments(verb: Verb, params: JsonMapping) -> JsonObject:
    """Returns the arguments of a verb, converted to the types in its signature.

    Raises:
        TypeError: one is missing or unknown.
        msgspec.ValidationError: one has another type.
    """
    bound = inspect.signature(verb).bind(**params)
    hints = get_type_hints(verb)
    return {name: msgspec.convert(value, hints[name]) for name, value in bound.arguments.items()}


class ControlSessions:
    """The open control sessions. Belongs to the engine's loop."""

    def __init__(self, *, presenter: McpPresenter, bus: EventBus, deadlines: DeadlineWheel, control: HubControl, consent: Consent) -> None:
        self._presenter, self._bus, self._deadlines, self._control, self._consent = presenter, bus, deadlines, control, consent
        self._tasks = TaskKeeper()
        self._open: set[ControlSession] = set()

    def open(self, *, peer_pid: int, is_at_terminal: bool, wants_events: bool) -> RawDispatcher:
        """Makes the session of a new connection; returns its dispatcher.

        Args:
            peer_pid, is_at_terminal, wants_events: as in the command's hello.
        """
        asker = self._consent.command(pid=peer_pid, is_at_terminal=is_at_terminal)
        session = ControlSession(
            presenter=self._presenter,
            bus=self._bus,
            deadlines=self._deadlines,
            control=self._control,
            wants_events=wants_events,
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
