"""The desktop's life: from the first picture, through an engine that starts, fails or ends, to the exit code. Knows the engine only as
something that can be started and stopped; lives in the GUI thread, on qasync."""

import asyncio
import contextlib
import gc
import logging
import platform
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec
from PySide6.QtCore import QObject, QTimer, qVersion
from PySide6.QtWidgets import QApplication

from tooltray import __version__
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ElicitationAsked
from tooltray.foundation.runtime import log_loop_exception, logging_uncaught
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.figures import zoom_words
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import timer, while_valid
from tooltray.ui.kit.destinations import Destination
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.link.link import EngineLink
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.problem_words import title
from tooltray.ui.shell.app_links import OpenedAddresses
from tooltray.ui.shell.appearance import Appearance, MotionSetting
from tooltray.ui.shell.news_teller import NewsTeller, Notifications, advice
from tooltray.ui.shell.screen_lock_watch import ScreenLockWatch
from tooltray.ui.shell.tray import Tray

if TYPE_CHECKING:  # imported once the tray's icon is there
    from tooltray.ui.approval.prompts import ApprovalPrompt, ConfirmationPrompt
    from tooltray.ui.feedback.feedback_windows import FeedbackWindows
    from tooltray.ui.shell.main_window import MainWindow

logger = logging.getLogger(__name__)
HEARS_ADDRESSES = sys.platform == "darwin"  # others hand them to a new process; looking at every event of Qt has its price

FIRST_PAINT_WAIT_S = 1.0  # a window that nobody can see, e.g. on another workspace, is never painted
ASK_WAIT_S = 2.0  # an engine says within milliseconds who is connected; one that hangs must not keep a person from ending it
END_WAIT_S = 25.0  # the engine bounds its own steps; this is for one that hangs in spite of that
EXIT_CODES = {"quit": 0, "stop": 0, "hand_over": 0, "raised": 0, "replaced": 75, "sigint": 130, "sigterm": 143, "sighup": 143}
"""By the reasons of an end; anything else is 1."""
SIGNALS = {"SIGINT": "sigint", "SIGTERM": "sigterm", "SIGHUP": "sighup"}


def bug_report(error: BaseException) -> str:
    """Returns versions and the trace, without anything from the settings."""
    where = f"Tooltray {__version__}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    return f"{where}\n\n{''.join(traceback.format_exception(error))}"


class BugWatch(logging.Handler):
    """A log handler that reports the first bug, from any thread; later ones are only in the log."""

    def __init__(self, show: Callable[[str], object]) -> None:
        super().__init__(logging.ERROR)
        self._show: Callable[[str], object] | None = show

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        show = self._show
        if show is not None and error is not None and not isinstance(error, TooltrayError):
            self._show = None
            with contextlib.suppress(RuntimeError):  # the window has just been closed
                show(bug_report(error))


LOOK_EVERY_MS = 1000
YOUNG_OBJECTS = 700  # as many as Python itself would wait for
FULL_EVERY = 120  # looks; two minutes


class GarbageCollector(QObject):
    """A collector of garbage on the window's thread only; it runs until it is destroyed.

    Python collects cycles in whatever thread happens to allocate, and a widget in a cycle that is destroyed in the engine's thread takes Qt
    down. So automatic collection is off, and a timer of this thread collects: young objects often, which takes microseconds, all objects
    seldom, because that holds Python's lock for the engine's thread too.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._looks = 0
        gc.disable()
        gc.freeze()  # what the start has made stays for good; no collection need look at it again
        timer(self, LOOK_EVERY_MS, self.look, repeats=True).start()

    def look(self) -> None:
        """Collects if there is enough to collect."""
        self._looks += 1
        if self._looks % FULL_EVERY == 0:
            gc.collect()
        elif gc.get_count()[0] >= YOUNG_OBJECTS:
            gc.collect(1)


class EngineHandle(Protocol):
    """An engine that was started in a thread of its own."""

    def request_stop(self, reason: str) -> None:
        """Ends the engine, also while it starts; from any thread."""


class Windows(msgspec.Struct, frozen=True):
    """The windows that the tray does not need: they are imported and built after the icon is shown."""

    main: "MainWindow"
    approvals: "ApprovalPrompt"
    confirmations: "ConfirmationPrompt"
    feedback: "FeedbackWindows"


class Start(msgspec.Struct, frozen=True):
    """The parameters of a desktop's start.

    Args:
        build_windows: imports and builds the windows; lets the event loop run now and then, for the tray.
        build_main: builds another main window, in the current language.
        start_engine: starts an engine, which then calls the `on_engine_...` methods from its own thread.
        read_entry: returns what an AI client's settings need to use this hub, as text.
        is_first: whether something of this name was never shown to the user.
        hidden: the window stays hidden until the user opens it from the tray; without a tray it is shown.
        link: the address that was opened; empty: none.
    """

    build_windows: Callable[[], Awaitable[Windows]]
    build_main: Callable[[], "MainWindow"]
    start_engine: Callable[["Desktop"], EngineHandle]
    read_entry: Callable[[], str]
    is_first: Callable[[str], bool]
    hidden: bool
    link: str = ""


class Desktop:
    """The tray and the windows over one engine at a time."""

    _windows: Windows
    _window: "MainWindow"  # in the current language

    def __init__(
        self,
        app: QApplication,
        *,
        appearance: Appearance,
        link: EngineLink,
        hub: QtMcpPresenter,
        tray: Tray,
        tasks: TaskKeeper,
        start: Start,
    ) -> None:
        self._theme, self._link, self._hub = appearance.theme, link, hub
        self._tray, self._tasks, self._start = tray, tasks, start
        self._hidden, self._asked_link = start.hidden, start.link
        if HEARS_ADDRESSES:
            self._addresses = OpenedAddresses(app)
            self._addresses.opened.connect(self._on_address_opened)
            self._addresses.reopened.connect(self._on_reopened)
        self._is_built = False  # the windows
        self._is_asking_to_quit = False
        self._engine: EngineHandle | None = None
        self._reason = ""  # why all this ends; empty until then
        self._notifications = Notifications(tray, chosen=lambda: appearance.preferences.notifications)
        self._teller = NewsTeller(self._notifications, self, hub=hub, tasks=tasks, is_first=start.is_first)
        self._screen_lock = ScreenLockWatch(hub=hub, tasks=tasks)
        appearance.language_changed.connect(self._on_language_changed)
        appearance.zoom_changed.connect(self._on_zoom_changed)
        appearance.zoom_failed.connect(lambda problem: self._window.context.notices.add_notice(problem))
        tray.menu.quit_requested.connect(self._on_quit)
        tray.open_requested.connect(self._on_open)

    def _connect(self, windows: Windows) -> None:
        self._windows, self._is_built, tray = windows, True, self._tray
        self._hub.on_any((ElicitationAsked,), self._on_elicitation_asked, tray)
        windows.feedback.asked.connect(self._teller.on_feedback_asked)
        windows.approvals.waiting_changed.connect(tray.set_approvals)
        windows.approvals.waiting_changed.connect(self._teller.on_approvals)
        windows.confirmations.waiting_changed.connect(tray.set_confirmations)
        windows.confirmations.waiting_changed.connect(self._teller.on_confirmations)
        tray.menu.answered.connect(windows.approvals.answer)
        tray.menu.approvals_requested.connect(windows.approvals.go_there)
        tray.menu.place_requested.connect(self.go)
        tray.menu.pause_requested.connect(lambda *pause: self._window.pause(*pause))
        self._connect_main(windows.main)
        tray.menu.entry_copy_requested.connect(self._on_copy_entry)

    def _connect_main(self, window: "MainWindow") -> None:
        """Connects a main window; when another one replaces it, Qt removes its connections."""
        self._window, tray = window, self._tray
        window.quit_requested.connect(self._on_quit)
        window.hidden_to_tray.connect(self._on_hidden)
        window.retry_requested.connect(self._start_engine)
        window.context.links.entry_copy_requested.connect(self._on_copy_entry)
        window.context.links.entries_waiting_changed.connect(lambda requests: tray.set_waiting_entries(len(requests)))
        window.context.links.entries_asked.connect(self._teller.on_trust_asked)

    def _on_open(self) -> None:
        """Shows the windows one behind the other, since the user has clicked the icon; the last ones wait for an answer."""
        if not self._is_built:
            self._hidden = False  # the start shows the window
            return
        self._window.show_up()
        for windows in (self._windows.feedback, self._windows.approvals, self._windows.confirmations):
            windows.go_there()

    def _on_address_opened(self, link: str) -> None:
        """Handles an address from macOS, which other systems pass to a second start."""
        if self._is_built:
            self._window.open_link(link)
        else:
            self._asked_link = link

    def _on_reopened(self) -> None:
        if self._is_built:  # until then it is this start that macOS makes active, which may be one without a window
            self._on_open()

    async def run(self) -> int:
        """Shows the tray's icon, then the window, then starts the engine; returns the exit code when everything has ended."""
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        with self._ending_on_signals():
            self._tray.show()
            await asyncio.sleep(0)
            self._connect(await self._start.build_windows())
            with self._telling_of_bugs():
                if not self._reason:
                    await self._show()
                    self._screen_lock.begin()
                    if self._asked_link:
                        self._window.open_link(self._asked_link)
                    await self._window.build_pages()
                    self._start_engine()
                code = await self._ended
        await self._tasks.close()
        self._is_built = False  # what is opened from here on has no window
        self._tray.hide()
        for windows in (self._windows.approvals, self._windows.confirmations, self._windows.feedback):
            windows.close()
        self._window.hide()
        self._window.deleteLater()
        return code

    async def _show(self) -> None:
        """Shows the window and waits until it is visible: the engine's imports come after that."""
        has_tray = Tray.is_available()
        if self._hidden and has_tray:
            return
        painted = asyncio.Event()
        self._window.painted.connect(painted.set)
        self._window.show()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_PAINT_WAIT_S):
                await painted.wait()
        self._motion = MotionSetting(self._theme)
        if not has_tray:
            self._window.context.say(tr("This desktop has no tray. Closing the window ends Tooltray."), "warning")

    # the engine; these five are called in its thread

    def on_taking_over(self) -> None:
        """Shows that the engine waits for a hub without a window to end."""
        self._loop.call_soon_threadsafe(self._set_phase, HubPhase.TAKING_OVER)

    def may_restart(self) -> bool:
        """Returns whether the window is hidden, so that a replaced program can start again in the background."""
        return self._is_built and not self._window.isVisible()

    def on_raise_window(self, link: str) -> None:
        """Shows the window, since the desktop was started a second time or an address was opened."""
        self._loop.call_soon_threadsafe(self._window.open_link, link)

    def on_engine_started(self, attach: Callable[[EngineLink], None]) -> None:
        """Connects the link to an engine that runs now, by `attach`."""
        self._loop.call_soon_threadsafe(self._on_started, attach)

    def on_engine_ended(self, reason: str, problem: Problem | None) -> None:
        """Shows that the engine has ended. `problem`: why, if that was not requested."""
        self._loop.call_soon_threadsafe(self._on_ended, reason, problem)

    def _start_engine(self) -> None:
        if self._engine is None and not self._reason:
            self._set_phase(HubPhase.STARTING)
            self._engine = self._start.start_engine(self)

    def _on_started(self, attach: Callable[[EngineLink], None]) -> None:
        if not self._reason:
            attach(self._link)
            self._set_phase(HubPhase.RUNNING)
            self._teller.begin()

    def _on_ended(self, reason: str, problem: Problem | None) -> None:
        self._engine = None
        self._link.detach()
        self._hub.forget()
        self._teller.forget()
        if self._reason or problem is None:
            self._finish(EXIT_CODES.get(self._reason or reason, 1))
            return
        self._set_phase(HubPhase.FAILED, problem)
        if not Tray.is_available():
            self._window.show_up()
        elif not self._window.isVisible():
            self._notifications.send("", title(problem), advice(problem))

    def _set_phase(self, phase: HubPhase, problem: Problem | None = None) -> None:
        self._tray.set_phase(phase)
        if self._is_built:
            self._window.set_phase(phase, problem)

    # the end

    def _on_quit(self) -> None:
        """Quits; asks first while AI clients are connected, but only once."""
        snapshot = self._hub.snapshot
        if self._is_asking_to_quit or snapshot is None or not snapshot.session_count:
            self._end("quit")
        else:
            self._is_asking_to_quit = True
            self._tasks.spawn(self._ask_to_quit(), name="ask before the end")

    async def _ask_to_quit(self) -> None:
        from tooltray.ui.clients.client_words import client_name

        try:
            async with asyncio.timeout(ASK_WAIT_S):
                clients = [client_name(session) for session in await self._hub.views.get_sessions() if session.is_connected]
        except (TooltrayError, TimeoutError):  # the engine has just left, and its clients with it; or it hangs
            clients = []
        if not clients:
            self._end("quit")
            return
        panel = self._window.ask_to_quit(clients)
        panel.close_requested.connect(self._on_stays)
        panel.destroyed.connect(self._on_stays)
        panel.confirmed.connect(partial(self._end, "quit"))

    def _on_stays(self) -> None:
        self._is_asking_to_quit = False

    def _on_hidden(self) -> None:
        if self._start.is_first("closed"):
            text = tr("Your servers keep running. To end it, choose Quit in the tray's menu.")
            self._tray.tell(tr("Tooltray stays in the tray"), text)

    def _end(self, reason: str) -> None:
        """Ends the engine in order, and then the app; the first reason decides the exit code."""
        if self._reason:
            return
        self._reason = reason
        self._link.detach()  # nothing more is asked of an engine that ends
        self._set_phase(HubPhase.ENDING)
        if self._engine is None:
            self._finish(EXIT_CODES[reason])
        else:
            self._engine.request_stop(reason)
            self._loop.call_later(END_WAIT_S, self._give_up)

    def _give_up(self) -> None:
        if not self._ended.done():
            logger.error("the engine did not end within %g s", END_WAIT_S)
            self._finish(1)

    def _finish(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)

    @contextlib.contextmanager
    def _ending_on_signals(self) -> Iterator[None]:
        numbers = [(getattr(signal, name), reason) for name, reason in SIGNALS.items() if hasattr(signal, name)]
        try:
            for number, reason in numbers:
                self._loop.add_signal_handler(number, self._end, reason)
        except NotImplementedError:  # pragma: no cover - Windows: Python's own handlers end the process
            numbers = []
        try:
            yield
        finally:
            for number, _ in numbers:
                self._loop.remove_signal_handler(number)

    # the rest

    def _on_copy_entry(self) -> None:
        self._window.context.copy(self._start.read_entry(), tr("Copied. Paste it into the settings of an AI client."))

    def _on_language_changed(self) -> None:
        """Replaces the main window by one in the new language, after an open sheet is closed."""
        self._tray.retranslate()
        if not self._is_built:
            return
        if self._window.sheet is not None:
            self._window.context.sheets.freed.connect(self._replace_window)
        else:
            QTimer.singleShot(0, self._window, self._replace_window)  # what asked for it stands in the window that goes

    def _on_zoom_changed(self, percent: int) -> None:
        if self._window.isVisible():
            self._window.context.say(tr("Zoom: {percent}", percent=zoom_words(percent)))

    def _replace_window(self) -> None:
        if self._reason or self._window.sheet is not None:
            return
        old = self._window
        new = self._start.build_main()
        self._connect_main(new)
        new.take_place_of(old)
        old.hide()
        old.deleteLater()
        self._tasks.spawn(while_valid(new, new.build_pages), name="build pages")

    def _on_elicitation_asked(self) -> None:
        if not self._window.isActiveWindow():
            self._window.show_quietly()

    # where notifications and the tray's menu lead: see Places

    def is_in_front(self) -> bool:
        return self._is_built and self._window.isActiveWindow()

    def go(self, destination: Destination) -> None:
        if self._is_built:
            self._window.show_up()
            self._window.go(destination)

    def show_approvals(self) -> None:
        self._windows.approvals.go_there()

    def show_confirmations(self) -> None:
        self._windows.confirmations.go_there()

    def show_feedback(self) -> None:
        self._windows.feedback.go_there()

    @contextlib.contextmanager
    def _telling_of_bugs(self) -> Iterator[None]:
        """Logs uncaught errors of the window and the engine with their traces, and shows each once; both keep running."""
        sign = BugWatch(lambda report: self._loop.call_soon_threadsafe(self._show_bug, report))
        loggers = [logging.getLogger(name) for name in ("tooltray", "asyncio")]
        self._loop.set_exception_handler(log_loop_exception)
        for each in loggers:
            each.addHandler(sign)
        try:
            with logging_uncaught():
                yield
        finally:
            for each in loggers:
                each.removeHandler(sign)

    def _show_bug(self, report: str) -> None:
        problem = Problem(tr("Tooltray hit a bug. Your servers keep running."), hint=tr("See the log for details."))
        self._window.context.notices.add_bug(problem, report)
