"""Starts the parts of a hub, and ends them in reverse; IdleExit ends a hub without users. Qt-free: the desktop runs it in a worker thread,
`tooltray serve` in the main thread.
"""

import asyncio
import logging
import os
import sys
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tooltray import __version__
from tooltray.app.hub import Hub, HubOptions
from tooltray.app.served_configs import RequiredServers, ServedCallLog, check_served
from tooltray.carriers.control.control_session import HubControl
from tooltray.carriers.mcp import stdio_connection
from tooltray.carriers.mcp.local_socket import CONTROL, Listener, listen
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, HttpAddressChanged, ProblemReported, SessionsChanged
from tooltray.foundation.files.atomic_file import remove_leftovers
from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.home.hub_place import HubPlace
from tooltray.foundation.installs.installation import WINDOWS_SETUP, Installation, OwnProgram, this_installation
from tooltray.foundation.installs.installations import Installations
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.runtime import return_large_blocks, use_pidfd_watcher
from tooltray.foundation.tasks import end_in_turn, finish_in_thread
from tooltray.gateway.kept_results.result_store import sweep_hourly
from tooltray.servers.launch.program_launch import raise_file_limit

logger = logging.getLogger(__name__)
HAND_OVER_WAIT_S = 10.0  # for calls in flight, when another hub takes over
END_WAIT_S = 0.5  # for calls in flight when the hub has to end; calls that take longer are answered with an error
SWITCH_INTERVAL_S = 0.0001  # how long another thread (the log's, the window's) may keep the loop waiting; Python's own 5 ms are noticeable
LOOK_EVERY_S = 5.0  # whether the program was replaced by another version
OLD_VERSIONS_EVERY_S = 600.0  # between attempts to remove what a bridge of an earlier version runs from; it ends with its AI client
ENDED = "Tooltray has ended while this call was running; call again"


class IdleExit:
    """The timer for an unused hub. Belongs to the engine's loop."""

    def __init__(self, *, after_s: float | None, end: Callable[[], None], bus: EventBus) -> None:
        """
        Args:
            after_s: how long no AI client must be connected; None: the hub stays.
        """
        self._after_s, self._end = after_s, end
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        bus.subscribe(SessionsChanged, lambda event: self._count(event.session_count))

    def start(self) -> None:
        """Starts the timer; no client is connected yet."""
        self._count(0)

    def _count(self, sessions: int) -> None:
        self._cancel()
        if sessions == 0 and self._after_s is not None and not self._is_closed:
            self._timer = asyncio.get_running_loop().call_later(self._after_s, self._end)

    def close(self) -> None:
        """Cancels the timer, since the hub ends anyway."""
        self._is_closed = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


async def until_replaced(
    *, is_replaced: Callable[[], bool], may_end: Callable[[], bool], is_busy: Callable[[], bool], count: Callable[[], int]
) -> None:
    """Waits until the hub's program was replaced by another version, and for a moment in which no AI client notices the hub's end.

    Args:
        is_replaced: whether the program was replaced; blocks on the disk.
        may_end: whether this process may be restarted now: no window is open.
        is_busy: whether an AI client waits for something.
        count: returns the number of requests answered so far; an unchanged number means that no client sent a request.
    """
    answered = count()
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        is_quiet = count() == answered and not is_busy()
        answered = count()
        if is_quiet and may_end() and await asyncio.to_thread(is_replaced):
            return


async def settle_installation(home: Home, own: Installation) -> None:
    """Points AI clients' path at this program; then removes the folders of earlier versions, each as soon as nothing runs from it.

    Args:
        home: the user's default home.
        own: the running installation.
    """
    await finish_in_thread(Installations(home).record, own)
    if own.kind != WINDOWS_SETUP:
        return
    from tooltray.foundation.installs import old_versions

    while await finish_in_thread(old_versions.remove_old_versions, Path(own.bridge[0]).parent):  # noqa: ASYNC110 - other processes end
        await asyncio.sleep(OLD_VERSIONS_EVERY_S)


class HubFailed(TooltrayError):
    """The failure of a hub that ran and cannot continue."""


class Engine:
    """The life of one hub. `start` may be called once, `close` any number of times; all in one event loop.

    Attributes:
        hub: the started hub; `start` makes everything in it but the bus.
    """

    def __init__(self, home: Home, options: HubOptions | None = None) -> None:
        self._home, self._options = home, options or HubOptions()
        self._place = HubPlace(home)
        self._stopped: asyncio.Future[str] | None = None
        self._is_started = self._is_built = self._is_closed = False
        self._listeners: list[Listener] = []
        self._program = OwnProgram.of(this_installation())
        self.hub = Hub(home, self._options, control=self._make_control())
        self._idle_exit = IdleExit(after_s=self._options.idle_exit_s, end=lambda: self.request_stop("idle"), bus=self.hub.bus)
        self.hub.bus.subscribe(HttpAddressChanged, self._on_http_changed)

    async def start(self) -> None:
        """Takes the hub's place, listens, and starts servers in the background.

        Raises:
            HubRunning: another hub has it.
            TooltrayError: the home cannot be used, the socket cannot be opened, or a given config cannot be served.
        """
        self._stopped = asyncio.get_running_loop().create_future()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        use_pidfd_watcher()
        raise_file_limit()
        return_large_blocks()
        misplaced = await asyncio.to_thread(self._home.prepare)
        self._place.take()
        self._is_started = True  # from here on there is something to close
        await asyncio.to_thread(self._home.prepare)  # another hub that ended in this moment has removed the socket's folder
        await asyncio.to_thread(self._home.unmark_removed)
        await asyncio.to_thread(remove_leftovers, self._home.root, self._home.bundles)
        hub = self.hub
        await hub.build()
        hub.misplaced.extend(misplaced)
        self._is_built = True
        hub.hub_log.start()
        hub.journal.start()
        hub.traces.start()
        hub.failures.start()
        hub.seen_decisions.start()
        for problem in misplaced:
            hub.bus.publish(ProblemReported(problem))
        await hub.load()
        await hub.feedbacks.start()
        await hub.files.start()
        check_served(hub.files.served())
        RequiredServers(config=hub.config, bus=hub.bus, on_failed=self.fail)
        if self._options.configs:
            ServedCallLog(config=hub.config, bus=hub.bus)
        if not (self._options.configs or self._options.project):  # the next hub may be started without them
            hub.first_answers.start()
        await hub.starts.start_all()  # before the first request: a first list waits for servers that are starting
        hub.live_settings.start()
        hub.pauses.start()
        hub.release_watch.start()
        hub.client_edits.start()
        hub.spawn(sweep_hourly(hub.result_store), name="sweep kept results")
        hub.spawn(hub.past_stats.count(), name="count earlier calls")
        hub.spawn(hub.bundle_folders.tidy(), name="tidy bundles")
        await self._open_sockets()
        await hub.http.follow()
        await hub.served.start()
        hub.file_watch.start()
        await finish_in_thread(self._tell_place)
        self._idle_exit.start()
        if self._options.may_restart:
            hub.spawn(self._end_when_replaced(self._options.may_restart), name="end when replaced")
        if self._home == default_home():  # a hub of another home changes nothing of the user's installations
            hub.spawn(settle_installation(self._home, this_installation()), name="settle installation")
        hub.log.record(
            "service_started",
            f"Tooltray started, home {self._home.root}",
            pid=os.getpid(),
            version=__version__,
            kind=self._options.kind,
        )

    async def serve(self) -> str:
        """Waits until the hub is to end; returns why: "stop", "hand_over", "idle", "replaced", or the reason passed to `request_stop`.

        Raises:
            HubFailed: the hub cannot continue; the error gives the reason.
        """
        assert self._stopped is not None, "start first"
        return await asyncio.shield(self._stopped)  # the waiting task may be cancelled, and `close` still needs the reason

    async def serve_stdio(self, server: str | None) -> None:
        """Serves one AI client on this process's stdin and stdout; returns when the client has disconnected.

        Raises:
            TooltrayError: no server has this name.
        """
        if server and not self.hub.presenter.session_servers.has_server(server):
            raise TooltrayError(Phrase("server '{server}' not found", server=server), hint=Phrase("See `tooltray servers list`."))
        await stdio_connection.serve(self.hub.sessions.open_client(server).dispatcher)

    def request_stop(self, reason: str) -> None:
        """Ends `serve`; only the first reason counts. Call it from the loop's thread."""
        if self._stopped and not self._stopped.done():
            self._stopped.set_result(reason)

    def fail(self, error: TooltrayError) -> None:
        """Ends `serve` with an error. Call it from the loop's thread."""
        if self._stopped and not self._stopped.done():
            logger.error("%s", error)
            self._stopped.set_exception(HubFailed(error.problem.title, error.problem.message, error.problem.hint))

    @property
    def said(self) -> tuple[str, ...]:
        """Lines for a user who started the hub by hand, about the served configs."""
        return (*self.hub.served.startup_lines, *self.hub.files.startup_lines)

    async def close(self) -> None:
        """Ends everything in order, each step bounded: answers calls, notifies AI clients, stops servers, writes the last record."""
        if not self._is_started or self._is_closed:
            return
        self._is_closed = True
        is_told = self._stopped is not None and self._stopped.done() and not self._stopped.exception()
        reason = self._stopped.result() if self._stopped and is_told else "failure"
        try:
            if self._is_built:
                await self._close_parts()
                requests = self.hub.sessions.request_count
                self.hub.log.record("service_stopped", f"Tooltray stopped: {reason}", reason=reason, requests=requests)
                self.hub.hub_log.close()
                await asyncio.to_thread(self.hub.log.close)
        finally:  # the next hub must not suffer from a bug in the end of this one
            await asyncio.to_thread(self._place.release)

    async def _open_sockets(self) -> None:
        """Opens the control socket first: a command that finds the other socket then finds this one, too.

        The other socket serves commands, too, since versions without a control socket know no other; see `control_endpoints`.
        """
        self._listeners.append(await listen(self._home.control_socket, self.hub.sessions.open, only=CONTROL))
        self._listeners.append(await listen(self._home.socket, self.hub.sessions.open))

    async def _stop_taking(self) -> None:
        """Accepts no new clients; sessions continue. May be called twice, and before the ways in are open."""
        for listener in self._listeners:
            listener.close()
        await self.hub.http.stop_taking()
        await self.hub.served.stop_taking()

    async def _close_parts(self) -> None:
        self._idle_exit.close()
        self.hub.file_watch.close()
        await end_in_turn(
            self._stop_taking,
            self.hub.first_answers.close,
            partial(self.hub.sessions.close, ENDED, grace_s=END_WAIT_S),
            self.hub.feedbacks.close,
            self.hub.http.close,
            self.hub.served.close,
            self.hub.sign_ins.close,
            self.hub.servers.close,
            self.hub.host_proxies.close,
            self.hub.log_keeper.close,
            self.hub.traces.close,
            self.hub.tasks.close,
            self.hub.journal.close,
            self.hub.bundle_sources.close,
            self.hub.secrets.close,
        )

    async def _end_when_replaced(self, may_restart: Callable[[], bool]) -> None:
        sessions = self.hub.sessions
        await until_replaced(
            is_replaced=self._program.is_replaced,
            may_end=may_restart,
            is_busy=lambda: sessions.is_busy,
            count=lambda: sessions.request_count,
        )
        await self._hand_over("replaced")

    async def _hand_over(self, reason: str = "hand_over") -> None:
        """Takes no new clients, lets calls finish, and then ends the hub."""
        await self._stop_taking()
        await self.hub.feedbacks.close()  # the user may need hours
        await self.hub.sessions.finish_calls(within_s=HAND_OVER_WAIT_S)
        self.request_stop(reason)

    def _make_control(self) -> HubControl:
        """Returns the functions on the hub for control sessions."""
        return HubControl(
            kind=self._options.kind,
            execution_id=self._options.execution_id or uuid.uuid4().hex,
            stop=lambda: self.request_stop("stop"),
            hand_over=self._hand_over,
            raise_window=self._options.on_raise_window,
        )

    def _on_http_changed(self, event: HttpAddressChanged) -> None:
        if not self._is_closed:
            self.hub.spawn(finish_in_thread(self._tell_place), name="hub.json")

    def _tell_place(self) -> None:
        self._place.publish(version=__version__, http=self.hub.http.address, kind=self._options.kind)
