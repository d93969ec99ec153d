"""Calls that the user makes by hand and watches: with their progress and the questions of their servers, until they end or are given up.

An attempt has an id that its caller made up; questions and progress carry it, so that they are shown where the user waits.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw

from tooltray.foundation.confirmation import with_current_asker
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.events import EventBus, TryProgressed
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.foundation.tasks import Spawn
from tooltray.foundation.verbs import verb
from tooltray.gateway.calls.elicitations import Elicitations
from tooltray.gateway.calls.own_calls import OWN_CLIENT_NAME, OwnCalls
from tooltray.gateway.calls.stage import CANCELLED
from tooltray.protocol.envelope import METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure
from tooltray.protocol.sessions.caller import OwnCaller, Session
from tooltray.protocol.sessions.elicitation_form import plain

TOLD_EVERY_S = 0.1  # a user reads no faster; a server that counts to a million costs the window ten drawings a second
LONGEST_MESSAGE = 300  # characters, on one line below a bar
ELICITATION, PROGRESS = "elicitation/create", "notifications/progress"


class _Progress(msgspec.Struct):
    progress: float = 0.0
    total: float | None = None
    message: object = ""


class ToldProgress:
    """The progress of one attempt: publishes the latest, not too often, and nothing once the attempt has ended."""

    def __init__(self, attempt: str, bus: EventBus, *, every_s: float = TOLD_EVERY_S) -> None:
        self._attempt, self._bus, self._every_s = attempt, bus, every_s
        self._waiting: _Progress | None = None
        self._timer: asyncio.TimerHandle | None = None

    def take(self, params: Raw) -> None:
        """Takes a server's notification; ignores one that cannot be read."""
        try:
            self._waiting = msgspec.json.decode(params, type=_Progress)
        except (ValueError, RecursionError):
            return
        if self._timer is None:
            self._tell()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        self._timer = None
        if news := self._waiting:
            self._waiting = None
            message = plain(news.message, LONGEST_MESSAGE)
            self._bus.publish(TryProgressed(self._attempt, news.progress, news.total, message))
            self._timer = asyncio.get_running_loop().call_later(self._every_s, self._tell)


class TryCaller:
    """The caller of one attempt: the user, who can be asked while a window shows questions. Satisfies Caller."""

    def __init__(self, own: OwnCaller, ask: Callable[[Raw], Awaitable[Envelope]] | None, progress: ToldProgress) -> None:
        """
        Args:
            ask: shows a question of the called server to the user; None: no window shows questions.
        """
        self.session: Session = own
        self.capabilities = dump({"elicitation": {"form": {}, "url": {}}} if ask else {})
        self._ask, self._progress = ask, progress

    def can_answer(self, method: str) -> bool:
        return method == ELICITATION and self._ask is not None

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        if self._ask is None or method != ELICITATION:
            return failure(METHOD_NOT_FOUND, f"nobody can answer {method} here")
        return await self._ask(params)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        if method == PROGRESS:
            self._progress.take(params)


class TriesApi:
    """The API to try a tool by hand. Belongs to the engine's loop."""

    def __init__(self, *, calls: OwnCalls, elicitations: Elicitations, bus: EventBus, spawn: Spawn) -> None:
        self._calls, self._elicitations, self._bus, self._spawn = calls, elicitations, bus, spawn
        self._running: dict[str, asyncio.Task[MCPToolResponse | TooltrayError]] = {}

    @verb("call")
    async def try_tool(self, attempt: str, name: str, arguments: Mapping[str, Any], project: str | None = None) -> MCPToolResponse:
        """Calls a tool by hand. A failure is a response, too; `TryProgressed` reports the progress of the call.

        A question of its server is an `ElicitationAsked` with the same attempt. The call is given up when its caller is gone.

        Args:
            attempt: an id that the caller has made up, which progress and questions carry, and which `cancel_try` takes.
            name: as AI clients see the tool.
            project: the folder of the project for which a server that waits for one answers; one that is allowed.

        Raises:
            Conflict: an attempt of this id runs already.
            TooltrayError: the folder may be no project.
        """
        if attempt in self._running:
            raise Conflict(Phrase("This attempt runs already"), attempt)
        call = MCPToolCall(attempt, name, arguments)
        task = self._running[attempt] = self._spawn(with_current_asker(self._carried_out(call, project)), name=f"attempt of '{name}'")
        started_at = time.perf_counter()
        try:
            await asyncio.wait({task})
        finally:
            del self._running[attempt]
            task.cancel()
        if task.cancelled():
            server, size = self._calls.server_of(name), len(bytes(dump(dict(arguments))))
            return MCPToolResponse(name, server, OWN_CLIENT_NAME, CANCELLED, time.perf_counter() - started_at, size, 0, attempt)
        outcome: MCPToolResponse | TooltrayError = task.result()
        if isinstance(outcome, TooltrayError):
            raise outcome
        return outcome

    @verb("call")
    async def cancel_try(self, attempt: str) -> None:
        """Cancels a call of `try_tool` and notifies its server. Does nothing if the call has ended."""
        if task := self._running.get(attempt):
            task.cancel()

    async def _carried_out(self, call: MCPToolCall, project: str | None) -> MCPToolResponse | TooltrayError:
        progress = ToldProgress(call.id, self._bus)
        server = self._calls.server_of(call.name) or call.name
        ask = partial(self._elicitations.ask, server, attempt=call.id) if self._elicitations.are_shown else None
        try:
            return await self._calls.run(call, project=project, watched=(call.id, lambda own: TryCaller(own, ask, progress)))
        except TooltrayError as error:
            return error
        finally:
            progress.end()
