"""A server that starts when a project is known (`deferredStartup`), as one thing with one state: it has a copy for each project.

Each project's copy is a ManagedServer of its own, which serves the sessions of its project as any other server serves all sessions:
`isolation: session` and `idleStop` count for it, too. Unlike other servers it has no second instance for clients of the other era: each
project's copy is one process, since what a server holds of a project (an index, locks, language servers) must not be there twice. It is
opened in the era of the first client that wants it, if the server speaks that, and serves clients of both. No session ever gets the copy of
another's project. As a whole the server shows the state and the lists of one of its copies.

Above it: ServerManager, and Projects, which knows what sessions work on and ends copies that nobody needs. Below it: ManagedServer.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from tooltray.config.settings.expansion import needs_project
from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.idle_stop import IdleStop
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.managed_server import RESTARTED_THROUGH, ManagedServer, ServerEntry
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.project_folder import is_inside

MOST_COPIES = 16  # of one server at once: each is a process, and a model that may use a folder could name all that are in it
WITHOUT_PROJECT = ""  # the key of the copy that a person has started for sessions of which no project is known
MOST_TELLING = (
    *(ServerState.RUNNING, ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING),
    *(ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPING),
)
"""Of several copies the one in the state that comes first here stands for all; one that rests never does."""


MakeInstance = Callable[[ManagedServer, Era, Session | None], Instance]


class ProjectSource(Protocol):
    """Knows what sessions work on."""

    def is_settled(self, session: Session) -> bool:
        """Whether nothing is being found out about a session's project."""

    async def settle(self, session: Session) -> None:
        """Waits until it is; bounded."""

    async def check(self, project: SessionProject) -> None:
        """Looks at a project's folder once more, right before a server starts for it.

        Raises:
            TooltrayError: it is not what it was when it was found to be a project; says why.
        """

    def missing(self, server: str, session: Session) -> TooltrayError:
        """What to say to a session whose project is not known."""


class StandIn(Instance):
    """Is there while no copy is, and never starts."""

    def start(self) -> None:
        """There is nothing to start without a project."""


class ProjectCopy(ManagedServer):
    """A deferred server's copy for one project, or for none. A call tries again what has failed.

    Attributes:
        is_for_requests: it was wanted by requests that stand for themselves, whose clients are never seen to leave.
    """

    def __init__(self, whole: "DeferredServer", project: SessionProject | None, make_instance: MakeInstance) -> None:
        self._whole, self._project, self._reported = whole, project, Problem("")
        self.is_for_requests = self._prefers_legacy = False
        super().__init__(
            ServerEntry(whole.name, whole.config, whole.config_hash),
            log=whole.log,
            idle_state=ServerState.ON_DEMAND,
            make_instance=make_instance,
            make_idle_stop=lambda copy: whole.idle_stop,
        )
        self._is_for_both_eras = True

    @property
    def whole(self) -> ManagedServer:
        return self._whole

    @property
    def project(self) -> SessionProject | None:
        return self._project

    @property
    def shown_state(self) -> ServerState:
        """A restart is one of the whole server."""
        return ServerState.RESTARTING if self._whole.restarts and self.state in RESTARTED_THROUGH else self.state

    @property
    def prefers_legacy(self) -> bool:
        return self._prefers_legacy

    @property
    def eras(self) -> frozenset[str]:
        """That it was opened in the legacy era because a client speaks it does not say what else the server speaks."""
        telling = (instance for instance in self.instances if not (instance is self._first and self._prefers_legacy))
        return frozenset(instance.client.era.value for instance in telling if instance.client)

    def wanted_in(self, era: Era) -> None:
        """A client of an era wants it: that is how it is opened, unless it is already."""
        if self._first.is_at_rest:
            self._prefers_legacy = era is Era.LEGACY

    @property
    def idle_s(self) -> float:
        """How long nobody has used any part of it; 0 while it is on its way."""
        return min(0.0 if instance.is_busy else instance.usage.idle_s for instance in self.instances)

    @property
    def is_called(self) -> bool:
        """Whether a call of it runs, perhaps of a session that works on another project by now."""
        return any(instance.usage.is_needed for instance in self.instances)

    def is_news(self, instance: Instance) -> bool:
        """The same failure, again with each call, is told once."""
        if instance.state is ServerState.RUNNING:
            self._reported = Problem("")
        is_known = instance.problem == self._reported
        if instance.state is ServerState.ERROR and instance.problem and not is_known:
            self._reported = instance.problem
        return not is_known

    def _check_has_not_failed(self, instance: Instance) -> None:
        if self._first.state is ServerState.NEEDS_SIGN_IN:
            super()._check_has_not_failed(instance)


class DeferredServer(ManagedServer):
    """Methods may be called from any task of the loop.

    Attributes:
        chosen: the project that a person has chosen for sessions of which none is known.
        is_without_project: a person has started it as its `args` say, for such sessions.
    """

    def __init__(
        self,
        entry: ServerEntry,
        *,
        log: deque[str],
        idle_state: ServerState,
        make_instance: MakeInstance,
        make_idle_stop: Callable[[ManagedServer], IdleStop],
        source: Callable[[], ProjectSource],
    ) -> None:
        self._copies: dict[str, ProjectCopy] = {}  # by the path of the project
        self._resumed: tuple[SessionProject | None, ...] = ()  # for whom it is to run when it is started again
        self.chosen: SessionProject | None = None
        self.is_without_project = False
        self._source = source
        super().__init__(entry, log=log, idle_state=idle_state, make_instance=make_instance, make_idle_stop=make_idle_stop)

    @property
    def copies(self) -> Sequence[ProjectCopy]:
        return tuple(self._copies.values())

    @property
    def first(self) -> Instance:
        telling = [copy.first for copy in self._copies.values() if copy.state in MOST_TELLING]
        return min(telling, key=lambda instance: MOST_TELLING.index(instance.state), default=self._first)

    @property
    def groups(self) -> list[Sequence[Instance]]:
        return [group for copy in self._copies.values() for group in copy.groups]

    @property
    def eras(self) -> frozenset[str]:
        return frozenset(era for copy in self._copies.values() for era in copy.eras)

    def adopt(self, config: MCPServerConfig, file: FileServer | None = None) -> None:
        for copy in self._copies.values():
            copy.config = config
        super().adopt(config, file)

    @property
    def is_stopped(self) -> bool:
        """Whether a person stopped it, so that no AI client starts it."""
        return self._first.is_stopped

    # for whom

    def uses(self, state: SessionState, copy: ProjectCopy) -> bool:
        """Whether a session is served by a copy."""
        key = self._key(state)
        return key is not None and self._copies.get(key) is copy

    def _key(self, state: SessionState) -> str | None:
        """Of the copy that a session uses; None: it is to have none."""
        project = state.project or self.chosen
        return project.path if project else WITHOUT_PROJECT if self.is_without_project else None

    def serves(self, client: McpClient, session: Session) -> bool:
        key = self._key(session.state)
        copy = self._copies.get(key) if key is not None else None
        is_its_own = copy is not None and any(instance.client is client for instance in copy.instances)
        return is_its_own and super().serves(client, session)

    def client_for(self, era: Era, session: Session | None = None) -> McpClient | None:
        if session is None:
            return self.first.client
        if not self._source().is_settled(session) or (key := self._key(session.state)) is None:
            return None
        copy = self._copies.get(key)
        return copy.client_for(era, session) if copy else None

    async def running(self, era: Era, *, timeout_s: float, session: Session | None = None) -> McpClient:
        self._check_may_start()
        if session is None:
            return await self.first.running(timeout_s=timeout_s)
        await self._source().settle(session)
        self._check_may_start()
        key = self._key(session.state)
        if key is None:
            raise self._source().missing(self.name, session)
        self.is_used = True
        copy = self._copies.get(key) or self._new_copy(session.state.project or self.chosen)
        copy.is_for_requests |= not session.is_lasting
        copy.wanted_in(era)
        return await copy.running(era, timeout_s=timeout_s, session=session)

    async def run_for(self, project: SessionProject | None, *, timeout_s: float) -> None:
        """Starts its copy for a project, or for none, and waits for the outcome.

        Raises:
            TooltrayError: it is switched off, its settings cannot do without a project, or it does not run after `timeout_s`; says why.
        """
        self._check_may_start()
        await self.copy_for(project).run(timeout_s=timeout_s)

    def copy_for(self, project: SessionProject | None) -> ProjectCopy:
        """Its copy for a project, or for none, which is made if need be, and not started.

        Raises:
            TooltrayError: its settings cannot do without a project, or it has too many copies.
        """
        return self._copies.get(project.path if project else WITHOUT_PROJECT) or self._new_copy(project)

    def _new_copy(self, project: SessionProject | None) -> ProjectCopy:
        if project is None:
            self.check_needs_no_project()
        if len(self._copies) >= MOST_COPIES:
            reason = Phrase("it has a copy for each of {number} projects, and more are not started", number=len(self._copies))
            hint = Phrase("Close AI clients of other projects, and try again in a minute. This ends all copies: tooltray projects reset")
            raise TooltrayError(Phrase("server '{name}' is not started for another project", name=self.name), reason, hint)
        copy = ProjectCopy(self, project, self._make_instance)
        self._copies[project.path if project else WITHOUT_PROJECT] = copy
        return copy

    def check_needs_no_project(self) -> None:
        """
        Raises:
            TooltrayError: its settings cannot do without a project.
        """
        if needs_project(self.config):
            title = Phrase("'{name}' cannot be started without a project", name=self.name)
            hint = "Choose a folder for it, or take {project_path} and {project_name} out of what is started without one."
            raise TooltrayError(title, Phrase("its settings have a place for the project's folder or name"), hint)

    # life

    def wake(self) -> None:
        """A person wants it again after having stopped it."""
        self._first.rest(self.idle_state)

    def start(self) -> None:
        """Begins again what was begun before and has ended or failed; for what else, it waits to hear for which project."""
        self._begin()

    async def run(self, *, timeout_s: float) -> None:
        """
        Raises:
            TooltrayError: it waits for a project, or does not run after `timeout_s`; says which.
        """
        self._resumed = tuple(dict.fromkeys((*self._resumed, *([self.chosen] if self.chosen else []))))
        begun = self._begin()
        if not begun and not self._is_up:
            hint = Phrase("Choose a folder on its card in Tooltray, or run: tooltray projects start {name} DIR", name=quoted(self.name))
            raise TooltrayError(
                Phrase("'{name}' waits for a project", name=self.name), Phrase("it starts when an AI client works on one"), hint
            )
        for copy in begun:
            await copy.run(timeout_s=timeout_s)

    @property
    def _is_up(self) -> bool:
        return any(instance.client for instance in self.instances)

    def _begin(self) -> list[ProjectCopy]:
        self.wake()
        resumed, self._resumed = self._resumed, ()
        for project in resumed:
            with contextlib.suppress(TooltrayError):  # with the settings of now it cannot do without a project
                self.copy_for(project)
        keys = [project.path if project else WITHOUT_PROJECT for project in resumed]
        failed = (ServerState.ERROR, ServerState.NEEDS_SIGN_IN)
        begun = [copy for key, copy in self._copies.items() if key in keys or copy.state in failed]
        for copy in begun:
            copy.start()
        return begun

    def take_over(self, old: "DeferredServer") -> None:
        """What people chose for the one whose place this takes, and for which projects that runs."""
        self.chosen, self.is_without_project = old.chosen, old.is_without_project
        self._resumed = old._resumed or tuple(copy.project for copy in old.copies)

    def give_up(self, folder: str) -> None:
        """What is in a folder is not to be its project any more: what people chose, and for what it is to run again."""
        self._resumed = tuple(project for project in self._resumed if project is None or not is_inside(project.path, folder))
        if self.chosen and is_inside(self.chosen.path, folder):
            self.chosen = None

    def forget(self) -> None:
        """For which project it was started, and what people chose."""
        self.chosen, self.is_without_project, self._resumed = None, False, ()

    def require_sign_in(self, problem: Problem) -> None:
        for copy in self.copies:
            copy.require_sign_in(problem)

    async def end_session(self, session: Session) -> None:
        await asyncio.gather(*(copy.end_session(session) for copy in self.copies))

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        self.is_used = False
        self._resumed = tuple(copy.project for copy in self.copies) or self._resumed
        self._first.rest(then)
        await self.end(self.copies)

    async def end(self, copies: Iterable[ProjectCopy]) -> None:
        """Ends some copies together, from this moment on; bounded. One that is called for meanwhile begins again, and stays."""
        copies = list(copies)
        instances = [instance for copy in copies for instance in copy.instances]
        ending = {owner for instance in instances if (owner := instance.begin_stop(then=ServerState.ON_DEMAND))}
        if ending:
            await asyncio.wait(ending)
        for copy in copies:
            key = copy.project.path if copy.project else WITHOUT_PROJECT
            if self._copies.get(key) is copy and all(instance.is_at_rest for instance in copy.instances):
                del self._copies[key]
