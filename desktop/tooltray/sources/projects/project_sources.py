"""Finds the project of each session, from its bridge's folder and its client's roots; and the folders that are allowed as projects: by the
user, and for a session also the folder that its own client has sent.
"""

import asyncio
import base64
import logging
import os
import secrets
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from weakref import WeakKeyDictionary, WeakSet

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.config.settings.document import Document, texts
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict, Denied, NotFound, Problem, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.tasks import Spawn
from tooltray.protocol import envelope, eras
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, MalformedFrame, dump, failure
from tooltray.protocol.eras import ROUND_KEYS
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.caller import Session, can_be_asked
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionConnected, SessionForgotten, SessionMoved, SessionState, SessionStates
from tooltray.servers.upstream.project_folder import (
    folder_of_uri,
    is_hidden_at_home,
    is_inside,
    own_user,
    project_name,
    real_folder,
    shown,
    why_never_allowed,
)
from tooltray.servers.upstream.server_manager import ServerManager

ALLOWED = "allowedFolders"
OWN = "tooltray"  # the caller's name for calls without an AI client, see OwnCaller


class ProjectFolders:
    """The folders that may be projects; belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, home: str) -> None:
        """
        Args:
            home: the user's home folder.
        """
        self._config, self._home = config, home

    def allowed(self) -> list[str]:
        """Returns the folders that the settings name as allowed, usable or not."""
        return list(self._config.settings.allowed_folders)

    def listed(self) -> list[str]:
        """Returns the allowed folders without those that cannot be projects."""
        return [each for each in self.allowed() if not why_never_allowed(each, self._home)]

    def problems(self) -> Iterator[Problem]:
        """Yields a problem for each folder that the settings name as allowed and that cannot be a project."""
        for each in self.allowed():
            if reason := why_never_allowed(each, self._home):
                title, hint = f"'{shown(each)}' is not allowed as a project", "Correct `allowedFolders` in settings.json."
                yield Problem(title, reason, hint)

    async def real(self, text: str) -> str:
        """Returns the real path of a folder that may be a project, allowed or not.

        Raises:
            TooltrayError: it may never be one; the error has the reason.
        """
        return await asyncio.to_thread(self._real, text)

    async def check(self, folder: str) -> None:
        """Checks the real path of a project's folder again.

        Raises:
            TooltrayError: the folder does not exist any more, or leads elsewhere now.
        """
        if (real := await self.real(folder)) != folder:
            reason = Phrase("it has become a link, and leads to '{real}'", real=shown(real))
            raise Conflict(
                Phrase("'{folder}' is not the folder that it was", folder=shown(folder)), reason, Phrase("Name the project's own folder.")
            )

    async def allow(self, text: str) -> str:
        """Implements ProjectsApi.allow_folder."""
        folder = await self.real(text)
        if folder not in self.allowed():

            def edit(document: Document) -> None:
                texts(document, ALLOWED).append(folder)

            await self._config.edit(edit)
        return folder

    async def disallow(self, text: str) -> str:
        """Revokes a folder, also one that does not exist any more; returns its path.

        Raises:
            TooltrayError: it was not allowed, or the settings cannot be written.
        """
        real = await asyncio.to_thread(os.path.realpath, text) if os.path.isabs(text) and "\0" not in text else text
        folder = next((each for each in self.allowed() if each in (text, real)), None)
        if folder is None:
            raise NotFound(
                Phrase("'{text}' is not allowed as a project", text=shown(text)), hint=Phrase("See which are: tooltray projects list")
            )

        def edit(document: Document) -> None:
            document[ALLOWED] = [each for each in texts(document, ALLOWED) if each != folder]

        await self._config.edit(edit)
        return folder

    async def permitted(self, text: str, state: SessionState) -> str:
        """Returns the real path of a folder that a session may have as its project.

        Raises:
            TooltrayError: it may not; the error has the reason, and how the user allows it.
        """
        folder = await self.real(text)
        if not await self.is_permitted(folder, state):
            title = Phrase("'{folder}' is not allowed as a project", folder=shown(folder))
            hint = Phrase("A person allows it with: tooltray projects allow {folder}", folder=quoted(folder))
            reason = Phrase("it is not allowed, and this AI client was not started there") if state.folder else Phrase("it is not allowed")
            raise Denied(title, reason, hint)
        return folder

    async def is_permitted(self, folder: str, state: SessionState) -> bool:
        """Returns whether a real path is allowed by the user, or is exactly the folder that the session's client sent."""
        return await asyncio.to_thread(self._is_permitted, folder, state.folder, state.roots)

    async def own_folder(self, state: SessionState) -> str:
        """Returns the real path of the folder in which a session's bridge was started, if it can be the session's project.

        A bridge sends the real path, once: a link that is there now was put there since, perhaps by the model.

        Raises:
            TooltrayError: it may not be a project; the error has the reason.
        """
        await self.check(folder := state.folder)
        if await self.is_permitted(folder, state):
            return folder
        hint = Phrase("If it is a project, allow it with: tooltray projects allow {folder}", folder=quoted(folder))
        raise TooltrayError(
            Phrase("'{folder}' is not taken as a project", folder=shown(folder)), Phrase("programs keep their own files there"), hint
        )

    # in threads

    def _real(self, text: str) -> str:
        return real_folder(text, home=self._home, user=own_user())

    def _is_permitted(self, folder: str, own: str, roots: tuple[str, ...]) -> bool:
        if folder in roots or any(is_inside(folder, allowed) for allowed in map(self._real_or_none, self.allowed()) if allowed):
            return True
        return folder == own == self._real_or_none(own) and not is_hidden_at_home(folder, self._home)

    def _real_or_none(self, text: str) -> str | None:
        """Returns the real path of a folder; None if it cannot be a project, or does not exist any more."""
        try:
            return self._real(text)
        except TooltrayError:
            return None


logger = logging.getLogger(__name__)
ANSWER_WAIT_S = 5.0  # a client answers from memory; a call that waits for its project waits for this
MOST_ROOTS = 64  # roots that are examined; the first that may be a project is used
ROOTS = "roots/list"


class ProjectSources:
    """The search for each session's project; belongs to the engine's loop."""

    def __init__(
        self, *, folders: ProjectFolders, states: SessionStates, spawn: Spawn, is_wanted: Callable[[], bool], bus: EventBus
    ) -> None:
        """
        Args:
            is_wanted: returns whether any server starts for a project; if none does, no client is asked for its roots.
        """
        self._folders, self._states, self._spawn = folders, states, spawn
        self._is_wanted, self._bus = is_wanted, bus
        self._pending: dict[str, set[asyncio.Task[None]]] = {}  # by the state's id
        self._looks: dict[str, asyncio.Task[None]] = {}  # the last check of the folder of each session's bridge, by the state's id
        self._asked: WeakKeyDictionary[Session, int] = WeakKeyDictionary()  # how often each client was asked for its roots
        self._unasked: WeakSet[Session] = WeakSet()  # sessions that became ready when no server needed their roots
        self._refusals: dict[str, str] = {}  # by the state's id
        bus.subscribe(SessionConnected, lambda event: self._on_connected(event.state))

    def set(self, state: SessionState, source: str, project: SessionProject | None) -> None:
        """Records the project that a source names for a session; None removes it."""
        before = state.projects.get(source)
        if project:
            state.projects[source] = project
        else:
            state.projects.pop(source, None)
        if project != before:
            self._states.tell_changed(state)
            self._bus.publish(SessionMoved(state))

    def refusal(self, state: SessionState) -> str:
        """Returns why the folder or the roots of a session's client cannot be its project; empty if they can, or if the client sent
        neither.
        """
        return self._refusals.get(state.id, "")

    def is_settled(self, session: Session) -> bool:
        """Returns whether no search for the project of a session is running."""
        return not self._pending.get(session.state.id) and session not in self._unasked

    async def settle(self, session: Session) -> None:
        """Waits, for a bounded time, until the search for a session's project has ended."""
        if session in self._unasked and self._is_wanted():
            self.ask(session)
        if pending := self._pending.get(session.state.id):
            await asyncio.wait(pending, timeout=ANSWER_WAIT_S)

    async def looked(self, state: SessionState) -> None:
        """Waits, for a bounded time, until the folder of a session's bridge was checked."""
        if look := self._looks.get(state.id):
            await asyncio.wait({look}, timeout=ANSWER_WAIT_S)

    def ask(self, session: Session) -> None:
        """Begins to ask a legacy client, which is ready or has changed them, for its roots; does not wait."""
        if not session.can_answer(ROOTS):
            return
        self._unasked.discard(session)
        if self._is_wanted():
            self._begin(session.state, self._ask(session))
        else:
            self._begin(session.state, self._ask_without_folder(session))

    async def _ask_without_folder(self, session: Session) -> None:
        """Asks a client for its roots only if its folder is not a project: no server waits for the roots, but they select the session's
        servers.
        """
        await self.looked(session.state)
        if "folder" in session.state.projects:
            self._unasked.add(session)
        else:
            await self._ask(session)

    def look_at_folder(self, state: SessionState) -> None:
        """Begins to check whether the folder of a session's bridge can be its project; does not wait."""
        if not state.folder:
            return
        look = self._looks[state.id] = self._begin(state, self._look_at_folder(state))

        def on_done(task: "asyncio.Task[None]") -> None:
            if self._looks.get(state.id) is task:
                del self._looks[state.id]

        look.add_done_callback(on_done)

    def _on_connected(self, state: SessionState) -> None:
        for gone in [id for id in self._refusals if self._states.find(id) is None] if len(self._refusals) > MOST_ROOTS else []:
            del self._refusals[gone]
        self.look_at_folder(state)

    def _begin(self, state: SessionState, finding_out: Coroutine[object, None, None]) -> "asyncio.Task[None]":
        task = self._spawn(finding_out, name=f"project of {state.id}")
        pending = self._pending.setdefault(state.id, set())
        pending.add(task)

        def on_done(task: "asyncio.Task[None]") -> None:
            pending.discard(task)
            if not pending and self._pending.get(state.id) is pending:
                del self._pending[state.id]

        task.add_done_callback(on_done)
        return task

    async def _look_at_folder(self, state: SessionState) -> None:
        try:
            folder = await self._folders.own_folder(state)
        except TooltrayError as error:
            self._refuse(state, error)
            self.set(state, "folder", None)
        else:
            self.set(state, "folder", SessionProject(folder, project_name("", folder), "folder"))

    async def _ask(self, session: Session) -> None:
        """Asks a client for its roots. An answer is used only if no later question was sent, since the roots have then changed."""
        number = self._asked[session] = self._asked.get(session, 0) + 1
        try:
            async with asyncio.timeout(ANSWER_WAIT_S):
                reply = await session.ask(ROOTS, Raw(b"{}"))
        except TimeoutError:
            logger.info("%s did not list its roots", session.name)
            return
        if reply.error:
            logger.info("%s did not list its roots: %s", session.name, bytes(reply.error).decode(errors="replace"))
            return
        found = await self._found(session.state, _read_roots(reply.result))
        if number == self._asked[session]:
            self._note(session.state, found)

    async def take(self, session: Session, answer: Raw) -> None:
        """Records the roots that a modern client sent with a request; an empty answer means no roots. Over HTTP only this answer is used
        for that request: another window of the client may have the same token.
        """
        state = session.state
        self._note(state, await self._found(state, _read_roots(answer)))
        if not (session.is_lasting or state.is_passing):
            session.state = replace(state, projects=dict(state.projects))

    def _note(self, state: SessionState, found: list[SessionProject]) -> None:
        state.roots = tuple(project.path for project in found)
        self.set(state, "roots", found[0] if found else None)

    async def _found(self, state: SessionState, given: list["_Root"]) -> list[SessionProject]:
        """Returns the roots that can be projects."""
        found: list[SessionProject] = []
        for root in given[:MOST_ROOTS]:
            try:
                folder = await self._folders.real(folder_of_uri(root.uri) or root.uri)
            except TooltrayError as error:
                self._refuse(state, error)
            else:
                found.append(SessionProject(folder, project_name(root.name or "", folder), "roots"))
        return found

    def _refuse(self, state: SessionState, error: TooltrayError) -> None:
        self._refusals[state.id] = state.words(error)
        logger.info("%s: %s", state.client or state.id, error)


class _Root(msgspec.Struct):
    uri: str
    name: str | None = None


class _Roots(msgspec.Struct):
    roots: list[_Root] = []


def _read_roots(result: Raw) -> list[_Root]:
    try:
        return msgspec.json.decode(result, type=_Roots).roots
    except (ValueError, RecursionError):
        return []


KEY = "roots"  # of the question, in the result and among the answers
COUNTS_FOR_S = 30.0  # an answer is used so long on a lasting connection: its client is one window, and seldom opens another folder
MARK_BYTES = 12  # a server that is itself a hub asks in the same way; its state must not be mistaken for this hub's
UNREADABLE = "the state of this call is not from this Tooltray; call again"


class RootRounds:
    """The questions to modern AI clients for their folders: such a client gets an `input_required` result and calls again.

    The client is asked for its roots with each call that depends on them, since 2026-07-28 has no notification for their changes and
    requests over HTTP are independent of each other; and once if the session's folder is unknown, so that the servers of that folder are
    found. The call's own answers to its server's questions are sent to the client in the state, and come back with it: they are not stored
    here. Belongs to the engine's loop.
    """

    def __init__(
        self, *, sources: ProjectSources, servers: ServerManager, config: McpConfHelper, deadlines: DeadlineWheel, bus: EventBus
    ) -> None:
        self._sources, self._servers = sources, servers
        self._config, self._deadlines = config, deadlines
        self._mark = f"roots.{secrets.token_urlsafe(MARK_BYTES)}."
        self._asked: set[str] = set()  # ids of states
        self._are_known: WeakSet[Session] = WeakSet()  # sessions whose last answer is still valid
        bus.subscribe(SessionForgotten, lambda event: self._asked.discard(event.state.id))

    async def before(self, exchange: Exchange, server: str | None) -> Envelope | None:
        """Returns the question that is sent first in reply to a request; None if the request can be handled now.

        Args:
            exchange: if its request brings the answer, its request and head are replaced by the original request's. Over HTTP, the session
                then works on the folder in its client's answer.
            server: the server that the request is for; None if unknown.
        """
        if exchange.head.request_state.startswith(self._mark):
            return await self._go_on(exchange)
        if not await self._is_needed(exchange, server):
            return None
        self._asked.add(exchange.session.state.id)
        question, state = {KEY: {"method": ROOTS}}, self._state(exchange.request)
        return Envelope(result=dump({"resultType": "input_required", "inputRequests": question, "requestState": state}))

    async def _is_needed(self, exchange: Exchange, server: str | None) -> bool:
        session, state = exchange.session, exchange.session.state
        depends = self._depends_on_project(server)
        if not depends and (state.is_passing or state.id in self._asked):
            return False  # a session of a single request needs the roots only for such servers
        if session in self._are_known or "feedback" in state.projects or not can_be_asked(ROOTS, exchange.head.meta.capabilities):
            return False
        return depends or await self._is_lost(state)

    def _depends_on_project(self, server: str | None) -> bool:
        """Returns whether the project may matter for a request to a server; the hub's own tools call other servers."""
        managed = self._servers.find(server) if server else None
        if managed is None or managed.is_builtin:
            return any(map(self._is_of_projects, self._config.settings.mcp_servers))
        return self._is_of_projects(managed.name)

    def _is_of_projects(self, server: str) -> bool:
        found = self._servers.find(server)
        return (found is not None and found.by_project is not None) or not self._servers.is_for_all(server)

    async def _is_lost(self, state: SessionState) -> bool:
        """Returns whether the project of a session is unknown."""
        await self._sources.looked(state)
        return "folder" not in state.projects

    async def _go_on(self, exchange: Exchange) -> Envelope | None:
        request, head, session = exchange.request, exchange.head, exchange.session
        members = opened(request.params)
        try:
            asked = _unpacked(head.request_state.removeprefix(self._mark))
        except (ValueError, MalformedFrame):
            return failure(INVALID_PARAMS, UNREADABLE)
        params = closed({name: value for name, value in members.items() if name not in ROUND_KEYS} | asked)
        if (now := eras.read_head(params)) is None:
            return failure(INVALID_PARAMS, UNREADABLE)
        answer = head.input_responses.get(KEY, NOTHING)
        request.params, head.request_state, head.input_responses = params, now.request_state, now.input_responses
        await self._sources.take(session, answer)
        if session.is_lasting:
            self._are_known.add(session)
            self._deadlines.add(COUNTS_FOR_S, partial(self._are_known.discard, session))
        return None

    def _state(self, request: Envelope) -> str:
        members = opened(request.params)
        asked = {name: members[name] for name in ROUND_KEYS if name in members}
        return self._mark + (base64.urlsafe_b64encode(bytes(closed(asked))).decode() if asked else "")


def _unpacked(state: str) -> dict[str, Raw]:
    """Returns the members that `_state` has packed.

    Raises:
        ValueError, MalformedFrame: the text was not packed here.
    """
    if not state:
        return {}
    packed = base64.b64decode(state, altchars=b"-_", validate=True)
    members = opened(envelope.decode(b'{"method":"%b","params":%b}' % (ROOTS.encode(), packed)).params)  # a client could write anything
    return {name: value for name, value in members.items() if name in ROUND_KEYS}
