"""Calls of tools for the command line, the desktop and programs, handled like an AI client's call. The caller cannot be asked anything,
unless the user watches the call (a try), and works on a project only where the call names one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.consent.approvals.question_snapshots import QuestionSnapshots
from tooltray.foundation.confirm_widening import OVERWRITTEN, confirm_reading, current_asker, with_current_asker
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.events import EventBus, TryProgressed
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.tasks import Spawn
from tooltray.foundation.verbs import JsonMapping, JsonObject, verb
from tooltray.gateway.calls.elicitations import Elicitations
from tooltray.gateway.calls.stage import CANCELLED, ERROR
from tooltray.gateway.calls.tool_call import ToolCalls
from tooltray.protocol import envelope
from tooltray.protocol.envelope import METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import Head, Meta
from tooltray.protocol.sessions.caller import Caller, OwnCaller, Session
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.sources.projects.projects import Projects

UNREADABLE = "The tool's result is nested too deeply to be read."
OWN_CLIENT_NAME = "tooltray"  # calls of the command line and the desktop, in the records
Watched = tuple[str, Callable[[OwnCaller], Caller]]
"""The progress token of a call that the user watches, and a function that makes the caller which is asked and notified instead of the
hub.
"""


def error_message(reply: Envelope) -> str:
    """Returns the message of a reply that is an error."""
    return str(envelope.load(reply.error).get("message", ""))


def _failed(text: str) -> JsonObject:
    """Returns a result with `isError`, whose text explains the failure to the model."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def result_of(reply: Envelope) -> JsonObject:
    """Returns the result of a successful reply."""
    try:
        result: JsonObject = envelope.load(reply.result)
    except ValueError:
        return _failed(UNREADABLE)
    return result


class OwnCalls:
    """The calls of the command line, the desktop and programs. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        tools: ToolManager,
        calls: ToolCalls,
        projects: Projects,
        look_at_project: Callable[[Session], Awaitable[None]],
        caller: OwnCaller,
        held: HeldCalls,
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._tools, self._calls, self._projects, self._look_at_project = tools, calls, projects, look_at_project
        self._caller, self._held = caller, held

    async def call(self, name: str, arguments: JsonMapping, *, project: str | None = None) -> Envelope:
        """Calls a tool by the name that AI clients see; returns the reply as it came. See `run`."""
        return (await self._call(MCPToolCall("", name, arguments), project))[0]

    async def run(
        self,
        call: MCPToolCall,
        *,
        project: str | None = None,
        watched: Watched | None = None,
        is_models: bool = False,
        diff: tuple[str, ...] = (),
    ) -> MCPToolResponse:
        """Returns the record of a call with its result; the result of a call that failed is an error with the reason.

        Args:
            call: its `name` as AI clients see the tool.
            project: the folder of a project, for servers that wait for a project.
            watched: the caller that is asked and notified meanwhile; None without one.
            is_models: a model reads the result.
            diff: what the call would change, as the user has seen it.

        Raises:
            TooltrayError: the folder may not be a project.
        """
        started_at = time.perf_counter()
        reply, record = await self._call(call, project, watched, is_models=is_models, diff=diff)
        result = _failed(error_message(reply)) if reply.error else result_of(reply)
        if record is None:  # the call reached no server
            duration_s = time.perf_counter() - started_at
            sent, got = (len(bytes(dump(each))) for each in (dict(call.arguments), result))
            record = MCPToolResponse(call.name, call.server, OWN_CLIENT_NAME, ERROR, duration_s, sent, got, call.id)
        return replace(record, result=result)

    async def _call(
        self,
        call: MCPToolCall,
        project: str | None,
        watched: Watched | None = None,
        *,
        is_models: bool = False,
        diff: tuple[str, ...] = (),
    ) -> tuple[Envelope, MCPToolResponse | None]:
        own = self._caller if project is None else await self._in_project(project)
        own = own.for_model() if is_models else own
        params: JsonObject = {"name": call.name, "arguments": dict(call.arguments)}
        caller: Caller = own
        head = Head(name=call.name)
        if watched:
            token, stand_in = watched
            params["_meta"] = {"progressToken": token}
            head, caller = Head(name=call.name, meta=Meta(progress_token=dump(token))), stand_in(own)
        request = Envelope(method="tools/call", params=dump(params))
        await self._tools.listing(None)
        exchange = Exchange(request, head, caller, self._held, None, OWN_CLIENT_NAME)
        exchange.timings.id, exchange.timings.diff = call.id, diff
        return await self._calls.call(exchange), exchange.timings.record

    def server_of(self, name: str) -> str:
        """Returns the server that has the tool with this name; empty if it is unknown."""
        target = self._tools.target(name, None)
        return target[0] if target else ""

    async def _in_project(self, project: str) -> OwnCaller:
        caller = self._caller.in_project(await self._projects.named(project))
        await self._look_at_project(caller)
        await self._projects.before_listing(caller, None)
        return caller


TOLD_EVERY_S = 0.1  # seconds; users read no faster, and a server that counts to a million makes the window draw ten times a second
LONGEST_PROGRESS = 300  # characters, on one line below a bar
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
            message = plain(news.message, LONGEST_PROGRESS)
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
            return failure(METHOD_NOT_FOUND, f"no client can answer {method} here")
        return await self._ask(params)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        if method == PROGRESS:
            self._progress.take(params)


class TriesApi:
    """The API to try a tool by hand. Belongs to the engine's loop. An attempt has an id that its caller made up; questions and progress
    carry it.
    """

    def __init__(
        self, *, calls: OwnCalls, elicitations: Elicitations, question_snapshots: QuestionSnapshots, bus: EventBus, spawn: Spawn
    ) -> None:
        self._calls, self._elicitations, self._snapshots = calls, elicitations, question_snapshots
        self._bus, self._spawn = bus, spawn
        self._running: dict[str, asyncio.Task[MCPToolResponse | TooltrayError]] = {}

    @verb("call")
    async def try_tool(self, attempt: str, name: str, arguments: JsonMapping, project: str | None = None) -> MCPToolResponse:
        """Calls a tool by hand. A failure is a response, too; `TryProgressed` reports the progress of the call.

        A question of its server is an `ElicitationAsked` with the same attempt. The call is given up when its caller is gone.

        Args:
            attempt: an id that the caller has made up, which progress and questions carry, and which `cancel_try` takes.
            name: as AI clients see the tool.
            project: the allowed folder of a project, for servers that wait for a project.

        Raises:
            Conflict: an attempt of this id runs already.
            TooltrayError: the folder may not be a project.
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

    @verb("window")
    async def get_try_diff(self, name: str, arguments: JsonMapping) -> tuple[str, ...]:
        """Returns what a try would change in the file on disk that it overwrites, as `get_approval_diff` does of a waiting call.

        Args:
            name: as AI clients see the tool.

        Raises:
            Denied: the caller is not the user.
        """
        await confirm_reading(OVERWRITTEN)
        return await self._snapshots.file_diff(self._calls.server_of(name), arguments, "")

    @verb("call")
    async def cancel_try(self, attempt: str) -> None:
        """Cancels a call of `try_tool` and notifies its server. Does nothing if the call has ended."""
        if task := self._running.get(attempt):
            task.cancel()

    async def _carried_out(self, call: MCPToolCall, project: str | None) -> MCPToolResponse | TooltrayError:
        progress = ToldProgress(call.id, self._bus)
        server = self._calls.server_of(call.name) or call.name
        ask = partial(self._elicitations.ask, server, attempt=call.id) if self._elicitations.are_shown else None
        diff = await self._snapshots.file_diff(server, call.arguments, "") if current_asker().is_window else ()
        try:
            watched = (call.id, lambda own: TryCaller(own, ask, progress))
            return await self._calls.run(call, project=project, watched=watched, diff=diff)
        except TooltrayError as error:
            return error
        finally:
            progress.end()
