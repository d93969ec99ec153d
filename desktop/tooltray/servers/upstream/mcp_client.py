"""One connection to one server and the calls in flight on it; owned by one task from open to close. It knows nothing of settings, of names
shown to AI clients, or of other servers.
"""

import asyncio
import contextlib
import itertools
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

import msgspec
from msgspec import Raw

from tooltray import __version__
from tooltray.foundation.phrases import Phrase
from tooltray.protocol import declarations, eras
from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, NO_REPLY, NOTHING, Envelope, dump, failure, readable, success
from tooltray.protocol.eras import CAPABILITY_FOR, CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, PROTOCOL_VERSION_KEY, Era, Head
from tooltray.protocol.in_flight import PendingCall
from tooltray.protocol.sessions.caller import Caller, Question, Session, lacking
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.task_messages import read_begun
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.servers.transports.server_output import ServerOutput
from tooltray.servers.transports.transport import Transport
from tooltray.servers.upstream.elicitation_record import ClientTasks, UrlQuestions, at_person, recorded
from tooltray.servers.upstream.handshake import Greeting, GreetingPlan, Introduction, greet
from tooltray.servers.upstream.idle_stop import Usage
from tooltray.servers.upstream.open_questions import OpenQuestions

logger = logging.getLogger(__name__)
NO_CLIENT_TO_ASK = -32603
ELICITATION, ROOTS = "elicitation/create", "roots/list"
MOST_TASK_TOKENS = 1000  # of calls that have become tasks; beyond that the oldest pass on no progress
OURS_ALONE = frozenset({"server/discover", "initialize"})  # a program that sends us these requests echoes (`cat`, a terminal)
CLIENT_INFO = {"name": "tooltray", "version": __version__}
DECLARED: dict[str, object] = {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}}
"""Our capabilities for a server that all AI clients share."""
DECLARED_TO_ISOLATED = DECLARED | {"sampling": {}}  # if each AI client has an instance of its own; the shared one declares the same

AskPerson = Callable[[str, Raw], Awaitable[Envelope]]
"""Shows a server's question to the user of this machine; arguments: the server's name, and its params."""


class TaskQuestion(msgspec.Struct, frozen=True, eq=False):
    """A server's question that belongs to a task.

    Attributes:
        asked: the sessions of the task's owner that are connected, each with the params as it knows the task.
    """

    asked: Sequence[tuple[Session, Raw]]


OfTask = Callable[["McpClient", Raw], TaskQuestion | None]
"""Returns the owner's sessions of the task that a question's params name; None: they name no known task."""


class Audience(msgspec.Struct, frozen=True, eq=False):
    """The clients, and the user, that answer a server's questions.

    Attributes:
        owner: the session of the one AI client that this instance is for; None: all share it.
        is_isolated: every AI client has an instance of its own, so that a server's question cannot reach the wrong client.
        ask_person: shows the question to the user if no AI client can be asked; None: the user cannot be asked.
        of_task: returns the task that a question belongs to.
        declared: returns the extensions that the server's AI clients know.
        is_person_there: whether `ask_person` can show questions at this moment.
        on_question: called when a question to an AI client's user has ended, with the event for the journal.
    """

    owner: Session | None = None
    is_isolated: bool = False
    ask_person: AskPerson | None = None
    of_task: OfTask = lambda client, params: None
    declared: Callable[[], Declarations] = dict
    is_person_there: Callable[[], bool] = lambda: False
    on_question: Callable[[JournalEvent], None] = lambda question: None


class _RelayedCall(msgspec.Struct, eq=False):
    exchange: Exchange
    pending: PendingCall
    progress_token: Raw
    wire_token: Raw


class McpClient:
    """One connection to one server. Methods may be called from any task of the loop; `open` and `close` belong to the owner.

    Attributes:
        greeting: the server's answer when it was opened: version, capabilities, instructions.
        era: the era in which the connection was opened.
        client_tasks: the tasks that AI clients have begun for the server's questions.
        dispatcher: serves requests that stay open, and the transport.
        declared_extensions: the names of the extensions that were declared to the server when it was opened.
        url_questions: the sessions whose users were sent to a page.
    """

    def __init__(
        self,
        *,
        name: str,
        transport: Transport,
        deadlines: DeadlineWheel,
        plan: GreetingPlan,
        audience: Audience,
        usage: Usage,
        on_notification: Callable[["McpClient", str, Raw], None],
    ) -> None:
        """
        Args:
            plan: how the server is greeted, and in which era.
            usage: counts calls, requests and questions.
            on_notification: called with notifications that concern no call: list changes, updates, log messages.
        """
        self._on_question = audience.on_question
        self.name, self.transport = name, transport
        self._plan, self.owner, self._ask_person = plan, audience.owner, audience.ask_person
        self._of_task = audience.of_task
        self._own = DECLARED_TO_ISOLATED if audience.is_isolated else DECLARED
        self._extensions, self.declared_extensions = audience.declared, frozenset[str]()
        self._is_person_there = audience.is_person_there
        self._on_notification = on_notification
        self.usage = usage
        self._calls: dict[_RelayedCall, None] = {}  # in the order in which they began
        self.client_tasks = ClientTasks()
        self.url_questions = UrlQuestions()
        self._asking: list[Session] = []  # the sessions with an open question of the server
        self._questions = OpenQuestions()
        self._by_token: dict[bytes, _RelayedCall] = {}
        self._of_tasks: deque[bytes] = deque()  # tokens of calls that have become tasks, the oldest first
        self._spare_tokens = itertools.count()
        self.greeting, self.era = Greeting(Era.LEGACY, "", {}, None), Era.LEGACY
        self.has_answered = False  # a request that was relayed
        self.has_spoken = False  # the server has sent a message: it speaks the protocol
        self.dispatcher = RawDispatcher(
            name=f"server '{name}'",
            deadlines=deadlines,
            answer=self._answer_used,
            take_notification=self._take_notification,
            is_server=True,
            max_line_bytes=MAX_SERVER_LINE_BYTES,
        )

    async def open(self, *, timeout_s: float) -> None:
        """Starts the server and greets it.

        Raises:
            TooltrayError: the server cannot be started, or its greeting failed; `close` is still to be called.
            TimeoutError: no greeting within `timeout_s`.
        """
        await self.transport.open(self.dispatcher)
        self.declared_extensions = declarations.names(self._extensions())
        async with asyncio.timeout(timeout_s):
            self.greeting = await greet(
                self.dispatcher,
                server=self.name,
                plan=self._plan,
                introduction=Introduction(CLIENT_INFO, self._declared(), self.owner.introduction if self.owner else NOTHING),
                on_answered=self._note_message,
            )
        self.era = self.greeting.era
        self._envelope = {PROTOCOL_VERSION_KEY: dump(self.greeting.version), CLIENT_INFO_KEY: dump(CLIENT_INFO)}

    @property
    def output(self) -> ServerOutput | None:
        """The output of the server's process other than messages."""
        return self.transport.output

    @property
    def noise_lines(self) -> int:
        """The number of lines on stdout that were no messages."""
        return self.dispatcher.noise_lines

    def orderly_end(self, *, is_old: bool) -> str:
        """Returns the text for an end that is not a failure: the server starts again at once. Empty: it is a failure.

        Args:
            is_old: the connection has lasted longer than a connection that is refused at once.
        """
        if self.transport.has_expired and is_old:
            return Phrase("Its session has expired; opens a new one")
        if self.has_answered and self.transport.exit_code == 0:  # some servers end after each piece of work
            return Phrase("It exited after its work")
        return ""

    async def lost(self) -> str:
        """Waits until the connection is gone and returns the reason."""
        await self.dispatcher.closed.wait()
        return self.dispatcher.closed_because

    async def close(self, reason: str) -> None:
        """Ends the connection and the server. `reason` is the text for callers in flight."""
        await self.dispatcher.close(reason)
        await self.transport.close()
        self.dispatcher.calls.settle_rest(self.dispatcher.closed_because)

    async def request(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        timeout_s: float,
        max_reply_bytes: int | None = None,
        extension: str = "",
    ) -> Envelope:
        """Sends a request of Tooltray's own (lists), in the server's era, and returns the reply.

        Args:
            extension: the extension that the request belongs to, which is declared with it; empty: none.
        """
        self.usage.begin()
        try:
            own = self._own_params(params, extension)
            return await self.dispatcher.call(method, own, timeout_s=timeout_s, max_reply_bytes=max_reply_bytes)
        finally:
            self.usage.end()

    def start_request(self, method: str, params: Mapping[str, object] | None = None, *, extension: str = "") -> PendingCall:
        """Starts a request of Tooltray's own that stays open; `dispatcher.outcome` waits for its end."""
        pending = self.dispatcher.start_call(method, self._own_params(params, extension))
        self.dispatcher.calls.keep_open(pending)
        return pending

    def _own_params(self, params: Mapping[str, object] | None, extension: str) -> Raw:
        raw = dump(params or {})
        if self.era is Era.MODERN:
            declared = self._declared()
            if extension:
                declared["extensions"] = {extension: {}, **dict(self._extensions().get("extensions", {}))}
            raw = eras.with_meta(raw, {**self._envelope, CLIENT_CAPABILITIES_KEY: dump(declared)})
        return raw

    def _declared(self) -> dict[str, object]:
        """Returns what we declare in our own name: Tooltray's capabilities, and the extensions of the clients that it acts for."""
        return self._own | dict(self._extensions())

    def notify(self, method: str, params: Raw = NOTHING) -> None:
        """Passes on a notification of an AI client that belongs to no request."""
        self.dispatcher.send_notification(method, params)

    def exchanges(self) -> list[Exchange]:
        """Returns the exchanges in flight, oldest first; only one if the server is speaking in the response to that one."""
        return self._exchanges_of(self.dispatcher.receiving_with)

    def _exchanges_of(self, ours: Raw) -> list[Exchange]:
        """Returns the exchanges in flight. `ours`: the id of the request to whose response stream the message belongs; empty if unknown."""
        return [call.exchange for call in self._calls if not ours or call.pending.id == ours]

    def is_asking(self, session: Session) -> bool:
        """Reports whether a question of the server is open at this AI client."""
        return any(each is session for each in self._asking)

    async def call(self, exchange: Exchange, *, timeout_s: float) -> Envelope:
        """Sends an AI client's request to the server and returns the reply, unchanged except for what the other era requires.

        Args:
            timeout_s: the longest time without progress; afterwards the server gets a cancellation.
        """
        call = self._start(exchange, timeout_s)
        reply = None
        try:
            reply = await self.dispatcher.calls.outcome(call.pending)
        finally:
            self._forget(call)
            if call.progress_token and exchange.head.task and reply and read_begun(reply.result):
                self._keep_token(call)
        reply = readable(reply, self.dispatcher.name)
        if reply.result:
            self.has_answered = True
        if reply.error:
            self.url_questions.required(reply.error, exchange.session)
        if exchange.era is Era.MODERN and self.era is Era.LEGACY and reply.result:
            reply.result = eras.as_modern_result(exchange.request.method, reply.result)
        return reply

    def _start(self, exchange: Exchange, timeout_s: float) -> _RelayedCall:
        params, token = exchange.request.params, exchange.head.meta.progress_token
        is_token_taken = bool(token) and bytes(token) in self._by_token
        wire_token = self._spare_token() if is_token_taken else token
        if is_token_taken:
            params = eras.with_meta(params, {"progressToken": wire_token})
        if exchange.era is not self.era:
            params = self._in_own_era(eras.without_task(params) if exchange.head.task else params, exchange.caller)
        pending = self.dispatcher.start_call(exchange.request.method, params, timeout_s=timeout_s)
        call = _RelayedCall(exchange, pending, token, wire_token)
        self._calls[call] = None
        self.usage.begin()
        if token:
            self._by_token[bytes(wire_token)] = call
        return call

    def _in_own_era(self, params: Raw, caller: Caller) -> Raw:
        if self.era is Era.LEGACY:
            return eras.without_envelope(params)
        return eras.with_meta(params, {**self._envelope, CLIENT_CAPABILITIES_KEY: caller.capabilities})

    def _spare_token(self) -> Raw:
        tokens = (dump(f"shared-{number}") for number in self._spare_tokens)
        return next(token for token in tokens if bytes(token) not in self._by_token)  # an AI client may use such a token itself

    def _forget(self, call: _RelayedCall) -> None:
        self._calls.pop(call, None)
        self._questions.end_call(call)
        self.usage.end()
        if call.progress_token and self._by_token.get(bytes(call.wire_token)) is call:
            del self._by_token[bytes(call.wire_token)]

    def _keep_token(self, call: _RelayedCall) -> None:
        """Keeps only the token of a call that has become a task, whose progress continues under that token (2025-11-25)."""
        token, exchange = bytes(call.wire_token), call.exchange
        slim = exchange.child(request=Envelope(), head=Head())
        self._by_token[token] = _RelayedCall(slim, PendingCall(NOTHING, False), call.progress_token, call.wire_token)
        self._of_tasks.append(token)
        if len(self._of_tasks) > MOST_TASK_TOKENS:
            self._by_token.pop(self._of_tasks.popleft(), None)

    def _note_message(self) -> None:
        self.has_spoken = True

    def _take_notification(self, message: Envelope) -> None:
        self.has_spoken = True
        if message.method == "notifications/progress":
            self._pass_progress(message.params)
        else:
            self._on_notification(self, message.method, message.params)

    def _pass_progress(self, params: Raw) -> None:
        with contextlib.suppress(ValueError):
            token = eras.read_progress_token(params)
            if call := self._by_token.get(bytes(token)):
                call.pending.progressed()
                if call.wire_token != call.progress_token:
                    params = eras.with_members(params, progressToken=call.progress_token)
                call.exchange.tell("notifications/progress", params)

    async def _answer_used(self, request: Envelope) -> Envelope:
        """Answers a server's request; while the server waits, it is in use. A modern server may not ask, and gets no reply."""
        self.has_spoken = True
        if self.era is Era.MODERN:
            logger.info("'%s' sends %s, which its protocol version does not allow", self.name, request.method)
            return NO_REPLY
        self.usage.begin()
        try:
            return await self._answer(request)
        finally:
            self.usage.end()

    async def _answer(self, request: Envelope) -> Envelope:
        """Passes a server's request to the AI client that owns this instance, else to the one with a call in flight that can answer."""
        method = request.method
        if method == "ping":
            return success({})
        if method in OURS_ALONE:
            self.dispatcher.connection_lost(Phrase("server '{name}' sends back what it is sent, as no MCP server does", name=self.name))
            return failure(METHOD_NOT_FOUND, "Method not found")
        if theirs := self.client_tasks.find(request):
            session, asked = theirs
            return self.client_tasks.answered(request, await self._ask(session, asked, self._about(session)))
        if method not in CAPABILITY_FOR:
            return await self._pass_on(request)
        if question := self._of_task(self, request.params):
            return await self._ask_about_task(request, question)
        concerned = self._exchanges_of(self.dispatcher.came_with(request.id))
        able = {each.session.identity: each for each in concerned if self._can_answer(each.caller, request)}
        if len(able) == 1:
            (exchange,) = able.values()  # of several calls of one client the latest
            asking = self._ask(exchange.caller, request, exchange.request.id)
            calls = [call for call in self._calls if call.exchange in concerned and call.exchange.session is exchange.session]
            return await self._questions.ask(asking, calls if method != ROOTS else ())
        if self.owner and self._can_answer(self.owner, request):
            return await self._ask(self.owner, request, NOTHING)
        if method == ROOTS and not self._waits_for_a_call():
            return success({"roots": self._roots()})
        if method == ELICITATION and self._ask_person:
            calls = [call for call in self._calls if call.exchange in concerned]
            return await self._questions.ask(self._ask_person_for(list(self._calls), request, self._ask_person), calls)
        if not able and any(each.caller.can_answer(method) for each in concerned):
            return failure(INVALID_PARAMS, f"this AI client did not declare support for this kind of {method}")
        who = "no AI client" if not able else "more than one AI client"
        return failure(NO_CLIENT_TO_ASK, f"{who} with a call in flight can answer {method}")

    def _can_answer(self, caller: Caller, request: Envelope) -> bool:
        """Reports whether a client can answer a question. A server that got the client's introduction knows its capabilities."""
        if not caller.can_answer(request.method):
            return False
        is_known = self.owner is not None and bool(self.owner.introduction)
        return is_known or not lacking(Question(request.method, request.params), caller.capabilities)

    @property
    def has_person(self) -> bool:
        """Reports whether the user of this machine can be asked at this moment."""
        return self._ask_person is not None and self._is_person_there()

    async def ask_person(self, exchange: Exchange, params: Raw) -> Envelope:
        """Asks the user a server's question about a call whose AI client cannot be asked."""
        if not self._ask_person:
            return failure(NO_CLIENT_TO_ASK, f"no AI client with a call in flight can answer {ELICITATION}")
        with at_person([exchange]):
            return await self._ask_person(self.name, params)

    async def _ask_person_for(self, calls: "list[_RelayedCall]", request: Envelope, ask: AskPerson) -> Envelope:
        with _clock_stopped(calls), at_person(call.exchange for call in calls):
            return await ask(self.name, request.params)

    async def _ask_about_task(self, request: Envelope, question: TaskQuestion) -> Envelope:
        """Asks only the task's own client, first the connection that waits for the result; else the user of this machine."""
        waiting = {id(call.exchange.session): call for call in self._calls}
        able = [(session, params) for session, params in question.asked if self._can_answer(session, request)]
        if able:
            session, params = max(able, key=lambda each: id(each[0]) in waiting)
            about = waiting[id(session)].exchange.request.id if id(session) in waiting else NOTHING
            return await self._ask(session, Envelope(id=request.id, method=request.method, params=params), about)
        if request.method == ELICITATION and self._ask_person:
            owners = [session for session, _ in question.asked]
            calls = [call for call in self._calls if any(call.exchange.session is session for session in owners)]
            return await self._ask_person_for(calls, request, self._ask_person)
        return failure(NO_CLIENT_TO_ASK, f"the client of this task cannot answer {request.method} now")

    def _waits_for_a_call(self) -> bool:
        """Reports whether the owner is a modern client without a call in flight: only its next call shows which roots it has.

        After an error servers ask again then; an empty list they keep (server-everything asks once, 350 ms after its start).
        """
        return self.owner is not None and not self.owner.introduction and not self.exchanges()

    async def _pass_on(self, request: Envelope) -> Envelope:
        """Forwards a request of an extension to an AI client: the owner of this connection, or the only client with a call in flight.

        Modern clients get no requests; their era has `input_required` results instead.
        """
        if self.owner and self.owner.introduction:
            return await self._ask(self.owner, request, self._about(self.owner))
        legacy = [each for each in self._exchanges_of(self.dispatcher.came_with(request.id)) if each.era is Era.LEGACY]
        able = {each.session.identity: each for each in legacy if declarations.names(each.session.state.declared)}
        if len(able) != 1:
            return failure(METHOD_NOT_FOUND, "Method not found")
        (exchange,) = able.values()
        return await self._ask(exchange.caller, request, exchange.request.id)

    def _about(self, session: Session) -> Raw:
        """Returns the id of a client's latest request in flight; empty if it has none."""
        return next((each.request.id for each in reversed(self.exchanges()) if each.session is session), NOTHING)

    async def _ask(self, caller: Caller, request: Envelope, about: Raw) -> Envelope:
        session = caller.session  # a held call has another session by the time of the answer
        self._asking.append(session)
        calls = [call for call in self._calls if call.exchange.session is session]
        try:
            with _clock_stopped(calls):
                asking = caller.ask(request.method, request.params, about=about)
                if request.method != ELICITATION:
                    return self.client_tasks.noted(session, await asking)
                self.url_questions.asked(request.params, session)
                with at_person(call.exchange for call in calls):
                    return self.client_tasks.noted(session, await recorded(asking, self.name, session, self._on_question))
        finally:
            self._asking.remove(session)

    def _roots(self) -> list[dict[str, str]]:
        """Returns the folder in which the one AI client that calls was started, if the client names no roots of its own."""
        folders = {each.session.folder for each in self.exchanges()}
        folder = folders.pop() if len(folders) == 1 else ""
        if not os.path.isabs(folder) or folder in (os.path.sep, os.path.expanduser("~")):
            return []
        return [{"uri": PurePath(folder).as_uri(), "name": os.path.basename(folder)}]


@contextlib.contextmanager
def _clock_stopped(calls: list[_RelayedCall]) -> Iterator[None]:
    """Stops the clocks of these calls: the user's time is not the server's, which may need the answer for any of the calls."""
    for call in calls:
        call.pending.questions += 1
    try:
        yield
    finally:
        for call in calls:
            call.pending.questions -= 1
            call.pending.progressed()
