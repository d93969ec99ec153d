"""The copies of a server that starts when a project is known (`deferredStartup`). Each serves the sessions of its project, as the one copy
of any other server serves all sessions, with `isolation: session` and `idleStop`. No session ever gets the copy of another project.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from tooltray.config.settings.expansion import needs_project
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.moments import Moment
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.instance_status import Status
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.project_folder import is_inside
from tooltray.servers.upstream.server_copy import MakeInstance, ServerCopy

if TYPE_CHECKING:
    from tooltray.servers.upstream.managed_server import ManagedServer

MOST_COPIES = 16  # of one server at once: each is a process, and a model that may use a folder could name all folders inside
WITHOUT_PROJECT = ""  # the key of the copy that the user has started for sessions without a known project
MOST_TELLING = (
    *(ServerState.RUNNING, ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING),
    *(ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPING),
)
"""The copy whose state comes first here represents all copies; an idle copy never does."""


class ProjectSource(Protocol):
    """The source of the projects on which sessions work."""

    def is_settled(self, session: Session) -> bool:
        """Reports whether no lookup of a session's project is in progress."""

    async def settle(self, session: Session) -> None:
        """Waits until the session's project is settled; the wait is bounded."""

    async def check(self, project: SessionProject) -> None:
        """Checks a project's folder once more, right before a server starts for it.

        Raises:
            TooltrayError: the folder changed since it was found to be a project; the error gives the reason.
        """

    def missing(self, server: str, session: Session) -> TooltrayError:
        """Returns the error for a session whose project is not known."""


class CopiesByProject:
    """The copies of one server, one for each project. Methods may be called from any task of the loop.

    Attributes:
        chosen: the project that the user has chosen for sessions without a known project.
        is_without_project: the user has started the server with its plain `args`, for such sessions.
    """

    def __init__(
        self,
        server: "ManagedServer",
        make_instance: MakeInstance,
        *,
        source: Callable[[], ProjectSource],
        on_idle_changed: Callable[["ManagedServer"], None],
    ) -> None:
        self.server, self._make_instance, self._source, self._on_idle_changed = server, make_instance, source, on_idle_changed
        self._idle = Status(ServerState.STOPPED)  # of the server while no copy represents it
        self._copies: dict[str, ServerCopy] = {}  # by the path of the project
        self._resumed: tuple[SessionProject | None, ...] = ()  # the projects for which it runs when it is started again
        self.chosen: SessionProject | None = None
        self.is_without_project = False

    @property
    def copies(self) -> Sequence[ServerCopy]:
        return tuple(self._copies.values())

    @property
    def first(self) -> Instance | None:
        """The instance whose lists and state represent the server; None while all copies are idle."""
        telling = [copy.first for copy in self._copies.values() if copy.state in MOST_TELLING]
        return min(telling, key=lambda instance: MOST_TELLING.index(instance.state), default=None)

    @property
    def status(self) -> Status:
        return first.status if (first := self.first) else self._idle

    @property
    def is_stopped(self) -> bool:
        """Reports whether the user stopped the server."""
        return self._idle.is_stopped

    def set_idle_state(self, state: ServerState, *, since: float | None = None) -> None:
        """Sets the state while no copy represents the server. `since`: unix seconds, 0: unknown; None: from now on."""
        if state is not self._idle.state:
            self._idle = Status(state)
            self._on_idle_changed(self.server)
        if since is not None:
            self._idle = Status(state, since=Moment(since) if since else None)

    # sessions

    def uses(self, state: SessionState, copy: ServerCopy) -> bool:
        """Reports whether a session is served by a copy."""
        key = self._key(state)
        return key is not None and self._copies.get(key) is copy

    def _key(self, state: SessionState) -> str | None:
        """Returns the key of the copy that a session uses; None if the session gets no copy."""
        project = state.project or self.chosen
        return project.path if project else WITHOUT_PROJECT if self.is_without_project else None

    def serves(self, client: McpClient, session: Session) -> bool:
        """Reports whether a connection is one of the session's copy."""
        key = self._key(session.state)
        copy = self._copies.get(key) if key is not None else None
        return copy is not None and any(instance.client is client for instance in copy.instances)

    def client_for(self, era: Era, session: Session | None = None) -> McpClient | None:
        """Returns the connection of the session's copy; without a session, that of the copy that represents the server."""
        if session is None:
            return first.client if (first := self.first) else None
        if not self._source().is_settled(session) or (key := self._key(session.state)) is None:
            return None
        copy = self._copies.get(key)
        return copy.client_for(era, session) if copy else None

    async def running(self, era: Era, *, timeout_s: float, session: Session | None = None) -> McpClient:
        """Returns the same connection as `client_for`, started if needed.

        Raises:
            TooltrayError: the session has no project, or the copy does not run after `timeout_s`; the error gives the reason.
        """
        self.server.check_may_start()
        if session is None:
            if (first := self.first) is None:
                raise self._waiting()
            return await first.running(timeout_s=timeout_s)
        await self._source().settle(session)
        self.server.check_may_start()
        key = self._key(session.state)
        if key is None:
            raise self._source().missing(self.server.name, session)
        copy = self._copies.get(key) or self._new_copy(session.state.project or self.chosen)
        copy.is_for_requests |= not session.is_lasting
        copy.prefer(era)
        return await copy.running(era, timeout_s=timeout_s, session=session)

    async def run_for(self, project: SessionProject | None, *, timeout_s: float) -> None:
        """Starts the copy for a project, or for none, and waits for the outcome.

        Raises:
            TooltrayError: the server is disabled, needs a project, or does not run after `timeout_s`; the error gives the reason.
        """
        self.server.check_may_start()
        await self.copy_for(project).first.running(timeout_s=timeout_s)

    def copy_for(self, project: SessionProject | None) -> ServerCopy:
        """Returns the copy for a project, or for none. A missing copy is made, and not started.

        Raises:
            TooltrayError: the server's settings need a project, or the server has too many copies.
        """
        return self._copies.get(project.path if project else WITHOUT_PROJECT) or self._new_copy(project)

    def _new_copy(self, project: SessionProject | None) -> ServerCopy:
        if project is None:
            self.check_needs_no_project()
        if len(self._copies) >= MOST_COPIES:
            reason = Phrase("it has a copy for each of {number} projects, and more are not started", number=len(self._copies))
            hint = Phrase("Close AI clients of other projects, and try again in a minute. This ends all copies: tooltray projects reset")
            raise TooltrayError(Phrase("server '{name}' is not started for another project", name=self.server.name), reason, hint)
        copy = ServerCopy(self.server, project, self._make_instance)
        self._copies[project.path if project else WITHOUT_PROJECT] = copy
        return copy

    def check_needs_no_project(self) -> None:
        """
        Raises:
            TooltrayError: the server's settings need a project.
        """
        if needs_project(self.server.config):
            title = Phrase("'{name}' cannot be started without a project", name=self.server.name)
            hint = "Choose a folder for it, or remove {project_path} and {project_name} from its entry."
            raise TooltrayError(title, Phrase("its settings have a place for the project's folder or name"), hint)

    # life

    def wake(self) -> None:
        """Sets the server idle again after the user had stopped it."""
        self.set_idle_state(self.server.idle_state)

    def start(self) -> None:
        """Starts the copies that ran before and have ended or failed. Other copies start when their project is known."""
        self._begin()

    async def run(self, *, timeout_s: float) -> None:
        """Starts the copies as `start` does, also for the project that the user has chosen, and waits for the outcome.

        Raises:
            TooltrayError: the server waits for a project, or does not run after `timeout_s`; the error names which.
        """
        self._resumed = tuple(dict.fromkeys((*self._resumed, *([self.chosen] if self.chosen else []))))
        begun = self._begin()
        if not begun and not any(instance.client for instance in self.server.instances):
            raise self._waiting()
        for copy in begun:
            await copy.first.running(timeout_s=timeout_s)

    def _waiting(self) -> TooltrayError:
        name = self.server.name
        hint = Phrase("Choose a folder on its card in Tooltray, or run: tooltray projects start {name} DIR", name=quoted(name))
        return TooltrayError(Phrase("'{name}' waits for a project", name=name), Phrase("it starts when an AI client works on one"), hint)

    def _begin(self) -> list[ServerCopy]:
        self.wake()
        resumed, self._resumed = self._resumed, ()
        for project in resumed:
            with contextlib.suppress(TooltrayError):  # its present settings need a project
                self.copy_for(project)
        keys = [project.path if project else WITHOUT_PROJECT for project in resumed]
        failed = (ServerState.ERROR, ServerState.NEEDS_SIGN_IN)
        begun = [copy for key, copy in self._copies.items() if key in keys or copy.state in failed]
        for copy in begun:
            copy.first.start()
        return begun

    def take_over(self, old: "CopiesByProject") -> None:
        """Takes the user's choices and the projects with a copy from the server that this one replaces."""
        self.chosen, self.is_without_project = old.chosen, old.is_without_project
        self._resumed = old._resumed or tuple(copy.project for copy in old.copies)

    def give_up(self, folder: str) -> None:
        """Drops a folder as a project: the user's choice of it, and the project from those to resume."""
        self._resumed = tuple(project for project in self._resumed if project is None or not is_inside(project.path, folder))
        if self.chosen and is_inside(self.chosen.path, folder):
            self.chosen = None

    def forget(self) -> None:
        """Drops the projects for which the server was started, and the user's choices."""
        self.chosen, self.is_without_project, self.server.is_used, self._resumed = None, False, False, ()

    async def stop(self, *, then: ServerState) -> None:
        """Ends all copies together; bounded. `then` is the server's state afterwards."""
        self._resumed = tuple(copy.project for copy in self.copies) or self._resumed
        self.set_idle_state(then)
        await self.end(self.copies, then=ServerState.STOPPED if then is ServerState.STOPPED else ServerState.ON_DEMAND)

    async def end(self, copies: Iterable[ServerCopy], *, then: ServerState = ServerState.ON_DEMAND) -> None:
        """Ends some copies together; bounded. A copy that is called meanwhile starts again, and stays.

        Args:
            then: ON_DEMAND: a call that waits for a copy is such a call, too; STOPPED: it fails.
        """
        copies = list(copies)
        if ending := {owner for copy in copies for owner in copy.start_stopping(then=then)}:
            await asyncio.wait(ending)
        for copy in copies:
            key = copy.project.path if copy.project else WITHOUT_PROJECT
            if self._copies.get(key) is copy and copy.is_idle:
                del self._copies[key]
