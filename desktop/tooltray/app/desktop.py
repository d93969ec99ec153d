"""The desktop's composition root: a tray, a window, and an engine in a thread of its own; `tooltray` without a command runs it.

Nothing heavy is imported at the top: a second start ends before Qt is loaded, and the guardian stays small.
"""

import asyncio
import contextlib
import functools
import gc
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tooltray import __version__
from tooltray.carriers.control.control_client import ControlClient
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import tooltray_command
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.runtime import log_loop_exception, new_event_loop

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from tooltray.app.engine import Engine
    from tooltray.app.hub import HubOptions
    from tooltray.foundation.home.hub_place import HubRunning
    from tooltray.foundation.tasks import TaskKeeper
    from tooltray.ui.kit.server_wishes import ServerWishes
    from tooltray.ui.kit.window_memory import WindowMemory
    from tooltray.ui.link.link import EngineLink
    from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
    from tooltray.ui.shell.appearance import Appearance
    from tooltray.ui.shell.desktop import Desktop, Windows
    from tooltray.ui.shell.main_window import MainWindow
    from tooltray.ui.theme import Theme

logger = logging.getLogger(__name__)

ANSWER_TIMEOUT_S = 2.0  # a desktop that runs answers within milliseconds, also while its window is busy
SWITCH_INTERVAL_S = 0.0001  # a busy window then costs AI clients 1 ms a call
LOCK_WAIT_S = 5.0  # for a hub that holds the lock but does not listen: a starting or ending one
RETRY_EVERY_S = 0.1  # meanwhile
EXECUTION_ID_VARIABLE = "TOOLTRAY_EXECUTION_ID"
X_SOCKETS = "/tmp/.X11-unix/X"  # where X servers of this computer listen; Linux has the same name without a file too
DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY")


class Opening(msgspec.Struct, frozen=True):
    """The request of a start of the desktop: what to show.

    Attributes:
        hidden: the window stays closed until the user opens it from the tray; without a tray it is shown anyway.
        link: the address that was opened in a browser or elsewhere, `tooltray://...`; empty for no address.
    """

    hidden: bool = False
    link: str = ""

    def hand_to(self, client: ControlClient) -> None:
        """Asks the running desktop to show this.

        Raises:
            TooltrayError: it has no window, or does not answer.
        """
        if not self.hidden:
            client.call("hub/raise_window", timeout_s=ANSWER_TIMEOUT_S, link=self.link)


def run(home: Home, opening: Opening, *, execution_id: str = "") -> int:
    """Runs the desktop, or raises the window of the one that runs already.

    Args:
        execution_id: is in every log record; generated if empty.

    Returns:
        The exit code. In a hub that is a child of its guardian, it ends with SystemExit.

    Raises:
        TooltrayError: the session has no display.
    """
    if is_running(home, opening):
        return 0
    check_display(os.environ)
    from tooltray.foundation.platform import guardian

    execution_id = execution_id or os.environ.get(EXECUTION_ID_VARIABLE, "")
    work = functools.partial(run_here, home, opening, execution_id=execution_id)
    successor = tooltray_command("--home", str(home.root), "--background")
    return guardian.run(work, lock=home.lock, files=(home.socket, home.control_socket, home.hub_json), successor=successor, is_app=True)


def run_here(home: Home, opening: Opening, *, execution_id: str = "") -> int:
    """Runs the desktop in this process, without a guardian; returns the exit code."""
    gc.disable()  # until GarbageCollector is made: what is imported and built here stays, and passes meanwhile would find nothing
    import qasync  # type: ignore[import-untyped]
    from PySide6.QtCore import QLoggingCategory
    from PySide6.QtWidgets import QApplication

    skip_sources()
    from tooltray.foundation.preferences import read_preferences
    from tooltray.foundation.tasks import TaskKeeper
    from tooltray.ui.kit.server_wishes import ServerWishes
    from tooltray.ui.kit.window_memory import WindowMemory
    from tooltray.ui.link.link import EngineLink
    from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
    from tooltray.ui.shell.appearance import Appearance
    from tooltray.ui.shell.desktop import Desktop, Start
    from tooltray.ui.shell.tray import Tray
    from tooltray.ui.theme import Theme

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    QLoggingCategory.setFilterRules("qt.qpa.services.warning=false")  # has addresses of sign-ins; the window reports a missing browser
    app = QApplication(["tooltray"])
    app.setApplicationDisplayName("Tooltray")
    app.setDesktopFileName("tooltray")
    app.setQuitOnLastWindowClosed(False)
    if sys.platform == "win32":
        from tooltray.ui.opening_windows import open_outside_of_job

        open_outside_of_job(app)
    theme = Theme()
    chosen = read_preferences(home.settings)
    appearance = Appearance(app, theme, chosen=chosen)
    link, tasks, wishes = EngineLink(), TaskKeeper(), ServerWishes()
    hub = QtMcpPresenter(link)
    appearance.follow(hub, tasks)
    tray = Tray(theme, hub, wishes, tasks)
    memory = WindowMemory(home.window, save=write_atomically, tasks=tasks)
    parts = Parts(theme, link, hub, wishes, tasks, appearance, memory)
    start = Start(
        build_windows=functools.partial(_build_windows, app, parts),
        build_main=functools.partial(_build_main, parts),
        start_engine=functools.partial(EngineThread.started, home, opening, execution_id),
        read_entry=functools.partial(_entry, home),
        is_first=OneTimeNotices(home.told).is_first,
        hidden=opening.hidden or (chosen.starts_hidden and not opening.link),
        link=opening.link,
    )
    desktop = Desktop(app, appearance=appearance, link=link, hub=hub, tray=tray, tasks=tasks, start=start)
    with qasync.QEventLoop(app) as loop:
        code: int = loop.run_until_complete(desktop.run())
    return code


def skip_sources() -> None:
    """Stops PySide from reading the source of every module that is imported after it, which costs 14 MB outside a frozen app.

    It looks for modules that use Qt, to switch their names to snake_case where they ask for it; no module does.
    """
    with contextlib.suppress(ImportError):
        from shibokensupport import feature  # type: ignore[import-not-found]

        feature._mod_uses_pyside = lambda _module: False


class Parts(msgspec.Struct, frozen=True):
    """The collaborators that the windows are built from."""

    theme: "Theme"
    link: "EngineLink"
    hub: "QtMcpPresenter"
    wishes: "ServerWishes"
    tasks: "TaskKeeper"
    appearance: "Appearance"
    memory: "WindowMemory"


async def _build_windows(app: "QApplication", parts: Parts) -> "Windows":
    """Imports and builds the windows, which the tray does not need; between the steps the desktop's panel gets the tray's icon and menu."""
    from tooltray.ui.approval.prompts import ApprovalPrompt, ConfirmationPrompt
    from tooltray.ui.feedback.feedback_windows import FeedbackWindows

    await asyncio.sleep(0)
    from tooltray.ui.kit import page_context  # noqa: F401

    await asyncio.sleep(0)
    from tooltray.ui.link import qt_server_manager, qt_tool_manager  # noqa: F401
    from tooltray.ui.servers import servers_page  # noqa: F401 - the largest part of the window

    await asyncio.sleep(0)
    from tooltray.ui.shell import main_window  # noqa: F401
    from tooltray.ui.shell.desktop import GarbageCollector, Windows

    await asyncio.sleep(0)
    theme, hub, tasks = parts.theme, parts.hub, parts.tasks
    windows = Windows(
        main=_build_main(parts),
        approvals=ApprovalPrompt(theme, hub=hub, tasks=tasks),
        confirmations=ConfirmationPrompt(theme, hub=hub, tasks=tasks),
        feedback=FeedbackWindows(theme, hub=hub, tasks=tasks),
    )
    GarbageCollector(app)
    return windows


def _build_main(parts: Parts) -> "MainWindow":
    """Builds the main window, in the current language."""
    from tooltray.app.local_work import local_work
    from tooltray.ui.kit.page_context import Presenters
    from tooltray.ui.link.qt_server_manager import QtServerManager
    from tooltray.ui.link.qt_tool_manager import QtToolManager
    from tooltray.ui.shell.main_window import MainWindow
    from tooltray.ui.shell.tray import Tray

    hub = parts.hub
    window = MainWindow(
        parts.theme,
        presenters=Presenters(hub, QtServerManager(hub), QtToolManager(parts.link), parts.tasks),
        local=local_work(parts.memory),
        wishes=parts.wishes,
        hides_on_close=lambda: Tray.is_available() and parts.appearance.preferences.keeps_running,
    )
    window.fit(window.screen().availableSize())
    return window


def _entry(home: Home) -> str:
    from tooltray.foundation.installs.installations import bridge_entry_text

    return bridge_entry_text(home)


def check_display(environ: Mapping[str, str]) -> None:
    """Checks that the X server of this computer answers; otherwise Qt would end the process without a helpful message.

    Raises:
        TooltrayError: it does not.
    """
    display = environ.get("DISPLAY", "")
    number = display.removeprefix(":").partition(".")[0]
    if sys.platform != "linux" or environ.get("WAYLAND_DISPLAY") or environ.get("QT_QPA_PLATFORM", "xcb") != "xcb" or not number.isdigit():
        return
    for place in (f"\0{X_SOCKETS}{number}", f"{X_SOCKETS}{number}"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as channel:
            channel.connect(place)
            return
    hint = Phrase("Start Tooltray in a desktop session, or run it without a window: tooltray serve")
    raise TooltrayError(Phrase("The display does not answer"), Phrase("DISPLAY is {display}", display=display), hint)


def is_running(home: Home, opening: Opening) -> bool:
    """Reports whether a desktop runs in this home and answers; its window then shows the requested content."""
    try:
        client = ControlClient.connect(home)
        if client is None:
            return False
        with client:
            if not _is_desktop_to_keep(client.call("hub/info", timeout_s=ANSWER_TIMEOUT_S)):
                return False
            opening.hand_to(client)
    except TooltrayError:  # a hub without a window, or one that hangs: the window explains what to do
        return False
    return True


class OneTimeNotices:
    """The one-time notices that the user has seen, e.g. that Tooltray keeps running when its window is closed.

    If the file cannot be read or written, a notice is shown again.

    Args:
        path: the file with the keys of shown notices, a JSON list.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shown: set[str] | None = None  # read at the first use

    def is_first(self, key: str) -> bool:
        """Returns whether a notice was not shown before, and counts it as shown from now on. Blocks for as long as writing a small file
        takes.
        """
        shown = self._shown = self._read() if self._shown is None else self._shown
        if key in shown:
            return False
        shown.add(key)
        try:
            write_atomically(self._path, json.dumps(sorted(shown)).encode())
        except OSError as error:
            logger.info("%s could not be written: %s", self._path, error.strerror or error)
        return True

    def _read(self) -> set[str]:
        try:
            found = json.loads(read_regular(self._path))
        except (OSError, ValueError, RecursionError):
            return set()
        return {key for key in found if isinstance(key, str)} if isinstance(found, list) else set()


class EngineThread:
    """A thread that runs one engine on a plain asyncio loop, and reports the engine's state to the desktop."""

    def __init__(self, home: Home, opening: Opening, execution_id: str, desktop: "Desktop") -> None:
        self._home, self._opening, self._execution_id, self._desktop = home, opening, execution_id, desktop
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[str] | None = None
        self._engine: Engine | None = None
        self._wanted_end = ""

    @classmethod
    def started(cls, home: Home, opening: Opening, execution_id: str, desktop: "Desktop") -> "EngineThread":
        """Starts the thread; returns at once."""
        self = cls(home, opening, execution_id, desktop)
        threading.Thread(target=self._run, name="engine", daemon=True).start()  # daemon: a hanging thread must not keep the process alive
        return self

    def request_stop(self, reason: str) -> None:
        """Ends the engine, also while it starts; from any thread."""
        with self._lock:
            self._wanted_end = reason
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._engine is not None:
            self._engine.request_stop(self._wanted_end)
        elif self._task is not None:
            self._task.cancel()

    def _run(self) -> None:
        reason, problem = "failure", None
        try:
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                reason = runner.run(self._live())
        except asyncio.CancelledError:
            reason = self._wanted_end
        except TooltrayError as error:
            problem = error.problem
        except Exception as error:  # a bug; the window stays and reports it
            logger.exception("the engine failed")
            problem = Problem(
                Phrase("Tooltray has failed"), f"{type(error).__name__}: {error}", Phrase("Try again. The log has the details.")
            )
        self._desktop.on_engine_ended(reason, problem)

    async def _live(self) -> str:
        from tooltray.app.hub import HubOptions
        from tooltray.servers.launch.remembered_variables import is_started_in_terminal

        asyncio.get_running_loop().set_exception_handler(log_loop_exception)
        with self._lock:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._wanted_end:
                return self._wanted_end
        options = HubOptions(
            kind="desktop",
            execution_id=self._execution_id,
            started_by="terminal" if is_started_in_terminal() else "session",
            may_restart=self._desktop.may_restart,
            on_raise_window=self._desktop.on_raise_window,
        )
        engine = await self._started(options)
        if engine is None:
            return "raised"
        try:
            self._engine = engine
            self._desktop.on_engine_started(self._attach)
            await asyncio.to_thread(_note_display, self._home)
            return await engine.serve()
        finally:
            await engine.close()

    def _attach(self, link: "EngineLink") -> None:
        """Attaches the engine's link to the desktop. Runs in the GUI thread."""
        assert self._engine is not None
        assert self._loop is not None
        hub = self._engine.hub
        link.attach(hub.presenter.verbs, hub.bus, self._loop, hub.consent.window())

    async def _started(self, options: "HubOptions") -> "Engine | None":
        """Starts an engine; takes over from a hub without a window or of an older version, and otherwise raises the running hub's window.

        Returns:
            The engine; None if another desktop was faster.

        Raises:
            TooltrayError: another hub does not end, or the engine cannot start.
        """
        from tooltray.app.engine import Engine
        from tooltray.foundation.home.hub_place import HubRunning

        deadline = asyncio.get_running_loop().time() + LOCK_WAIT_S
        while True:
            engine = Engine(self._home, options)
            try:
                await engine.start()
            except HubRunning as error:
                await engine.close()
                running = await asyncio.to_thread(self._meet, error)
                if running == "desktop":
                    return None
                if running == "" and asyncio.get_running_loop().time() > deadline:
                    raise _does_not_leave(error) from None
                await asyncio.sleep(RETRY_EVERY_S)
            except BaseException:
                await engine.close()
                raise
            else:
                return engine

    def _meet(self, met: "HubRunning") -> str:
        """Asks the running hub to leave, or to show its window. Blocks.

        Returns:
            "desktop": its window is shown; "leaving"; empty if no hub answers yet, or any more.
        """
        client = ControlClient.connect(self._home)
        if client is None:
            return ""
        with client:
            try:
                running = client.call("hub/info", timeout_s=ANSWER_TIMEOUT_S)
                if _is_desktop_to_keep(running):
                    self._opening.hand_to(client)
                    return "desktop"
                self._desktop.on_taking_over()
                client.hand_over()
            except TooltrayError as error:
                raise _does_not_leave(met, error.problem) from None
        return "leaving"


def _is_desktop_to_keep(running: Mapping[str, object]) -> bool:
    """Reports whether the running hub is a desktop whose window is shown instead of ours; an older version leaves for a newer one."""
    from tooltray.foundation.installs.installation import age_of_version

    return running["kind"] == "desktop" and age_of_version(str(running["version"])) >= age_of_version(__version__)


def _does_not_leave(met: "HubRunning", problem: Problem | None = None) -> TooltrayError:
    if met.machine:
        return TooltrayError(
            Phrase("Another Tooltray uses this home folder"), Phrase("It runs on {machine}", machine=met.machine), met.problem.hint
        )
    who = f"Process {met.pid}" if met.pid else "A process"
    reason = f" ({problem.title})" if problem is not None else ""
    how = Phrase("End it with `kill {pid}`, then try again", pid=met.pid) if met.pid else Phrase("End it, then try again")
    return TooltrayError(
        Phrase("Another Tooltray uses this home folder and does not quit"),
        Phrase("{who} does not answer{reason}", who=who, reason=reason),
        how,
    )


def _note_display(home: Home) -> None:
    """Records the desktop's display, so that a bridge can start the desktop there again."""

    noted = {name: os.environ[name] for name in DISPLAY_VARIABLES if name in os.environ}
    try:
        write_atomically(home.desktop_json, json.dumps(noted).encode())
    except OSError as error:
        logger.warning("%s could not be written: %s", home.desktop_json, error.strerror or error)
