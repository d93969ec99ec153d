"""The tray icon's menu: the hub's state in words, what waits for the user, who works now, servers that need the user first, then the app.
The menu is changed in place, since a desktop may be showing it over D-Bus."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import msgspec
from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow, CallNow
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.hub import HubSnapshot, ProgramLoad, ReleaseNews
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui import icons
from tooltray.ui.client_names import shown_client
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.destinations import Activity, Destination, OpenEntry, Servers, Settings
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.server_actions import ACTIONS, IN_TRAY, ServerAction
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.shell.hub_status import PAUSE, PAUSES, Duration, summary
from tooltray.ui.state_language import Look, needs_person, paused_look, server_look
from tooltray.ui.theme import Theme

LONGEST = 32  # characters of a name
LONGEST_LINE = 80  # characters of a line about a release
MINUTE_S = 60


def short(text: str, longest: int = LONGEST) -> str:
    """Returns a name for a menu: on one line, long ones without their middle, ampersands escaped so that they mark no key."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    half = longest // 2
    return (shown if len(shown) <= longest else f"{shown[:half]}…{shown[-half:]}").replace("&", "&&")


def call_line(call: CallNow, now: float | None = None) -> str:
    """Returns who calls what, and since when; `now`: unix seconds."""
    passed = max(0, int((time.time() if now is None else now) - call.since))
    lasts = tr("{seconds} s", seconds=passed) if passed < MINUTE_S else tr("{minutes} min", minutes=passed // MINUTE_S)
    words = {"person": tr("waits for you"), "start": tr("waits for its server"), "turn": tr("waits for its turn")}
    waits = words.get(call.waits_for, lasts)
    who = short(shown_client(call.client)) or tr("A client")
    return " · ".join((who, f"{short(call.tool)} ({short(call.server)})", waits))


def failure_line(entry: ActivityEntry, now: datetime) -> str:
    """Returns what failed, and when."""
    what = f"{short(entry.tool)} ({short(entry.server)})" if entry.tool else short(entry.server)
    return " · ".join((moment(entry.at, now), what))


def approval_line(request: ApprovalSnapshot) -> str:
    """Returns which call waits for approval, and its client."""
    tool, server, client = short(request.tool), short(request.server), short(shown_client(request.client))
    if not client:
        return tr("{tool} of {server}", tool=tool, server=server)
    return tr("{tool} of {server}, for {client}", tool=tool, server=server, client=client)


def can_answer(request: ApprovalSnapshot) -> bool:
    """Returns whether a call may be allowed without seeing its arguments: one that reads, of a tool without warnings or changes."""
    is_plain = not (request.warnings or request.definition_diff or request.diff)
    return request.category == "read" and is_plain and "once" in request.choices


def load_line(load: ProgramLoad) -> str:
    """Returns the memory and processor time that Tooltray and its servers use now."""
    own, servers = (f"{size / 1e6:,.0f}" for size in (load.memory_bytes, load.server_memory_bytes))
    words = tr("Tooltray: {memory} MB, {share} % of a processor", memory=own, share=f"{load.cpu_share * 100:.0f}")
    return " · ".join((words, tr("servers: {memory} MB", memory=servers))) if load.running_servers else words


class TrayReadings(msgspec.Struct, frozen=True):
    """The values of the last read; None: not read yet, or the read failed."""

    calls: Sequence[CallNow] | None = None
    failures: Sequence[ActivityRow] | None = None
    load: ProgramLoad | None = None


SHOWN_SERVERS = 8  # more are in the window, so that the menu fits a small screen
SHOWN_WAITING = SHOWN_CALLS = 3
NOTHING = Phrase("")


class ServerEntry(QMenu):
    """A server in the tray menu: its state in words, and its actions."""

    def __init__(self, theme: Theme, wishes: ServerWishes, parent: QMenu) -> None:
        super().__init__(parent)
        self._theme, self._wishes = theme, wishes
        self._server: ServerSnapshot | None = None
        self._look: Look | None = None
        theme.changed.connect(self._tint)
        self._actions = {action: self.addAction(say(action.title)) for action in ACTIONS if action.name in IN_TRAY}
        for action, shown in self._actions.items():
            shown.triggered.connect(partial(self._on_chosen, action))

    def set_server(self, server: ServerSnapshot, *, is_paused: bool = False) -> None:
        self._server = server
        for action, entry in self._actions.items():
            entry.setEnabled(action.fits(server))
            entry.setVisible(action.name != "sign in" or action.fits(server))
        shown = paused_look(server) if is_paused else server_look(server)
        if shown != self._look:
            self._look = shown
            self.setTitle(f"{short(server.name)} · {shown.word}")
            self._tint()

    def _tint(self) -> None:
        if self._look is not None:
            self.setIcon(icons.icon(self._look.icon, self._theme.color(self._look.tone), 14))

    def _on_chosen(self, action: ServerAction) -> None:
        if self._server is not None:
            action.wish(self._wishes, self._server)


class TrayMenu(QMenu):
    """The menu of the tray icon. `pause_requested`: whether to pause everything, and for how many seconds (None: until the user resumes).
    `answered`: a waiting call, by its id, and "once" or "refuse". `place_requested`: a Destination in the window.
    """

    pause_requested = Signal(bool, object)
    entry_copy_requested = Signal()
    open_requested = Signal()
    quit_requested = Signal()
    answered = Signal(str, str)
    approvals_requested = Signal()
    place_requested = Signal(object)

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__()
        self._theme, self._wishes = theme, wishes
        self._entries: dict[str, ServerEntry] = {}
        self._fixed: dict[QAction, tuple[str, Phrase]] = {}  # with their icons and texts
        self._is_paused = False
        self._shown: dict[str, object] = {}  # by the parts that change
        self.setFont(theme.font())
        self._head = self.addAction("")
        self._head.setEnabled(False)
        self.addSeparator()
        self._after_waiting = self.addSeparator()
        self._after_now = self.addSeparator()
        self._more = self._add("more", NOTHING, self._way_to(Servers()))
        self._after_servers = self.addSeparator()
        self._pause = self.addMenu("")
        self._pause.setFont(theme.font())
        self._fixed[self._pause.menuAction()] = ("pause", PAUSE)
        for text, duration in PAUSES:
            self._add("", text, partial(self._pause_for, duration), self._pause)
        self._resume = self._add("play", Phrase("Resume all servers"), lambda: self.pause_requested.emit(False, None))
        self._add("copy", Phrase("Copy entry for a client"), self.entry_copy_requested.emit)
        self.addSeparator()
        self._load = self.addAction("")
        self._load.setEnabled(False)
        self._add("external", Phrase("Open Tooltray"), self.open_requested.emit)
        self._add("settings", Phrase("Settings"), self._way_to(Settings()))
        self._about = self._add("info", Phrase("About Tooltray"), self._way_to(Settings("about")))
        self._quit = self._add("power", Phrase("Quit"), self.quit_requested.emit)
        self._lines: dict[str, list[QAction]] = {"waiting": [], "now": [], "release": []}
        self._ends = {"waiting": self._after_waiting, "now": self._after_now, "release": self._about}
        self._after_waiting.setVisible(False)  # a desktop that draws the menu itself would show two in a row
        self._after_now.setVisible(False)
        self.retranslate()
        theme.changed.connect(self._tint)
        self._tint()

    def retranslate(self) -> None:
        """Updates the fixed texts to the current language; `show_hub` updates the others."""
        for action, (_, text) in self._fixed.items():
            action.setText(say(text))
        self._begin("release", None)
        self._load.setText(tr("One moment…"))  # until it is read: the menu does not grow by this line while it is open
        self._show_servers([])

    def show_hub(self, phase: HubPhase, snapshot: HubSnapshot | None) -> None:
        """Shows the hub and its servers in their current state."""
        self._head.setText(summary(phase, snapshot))
        self._is_paused = snapshot is not None and snapshot.is_paused
        is_usable = phase is HubPhase.RUNNING and snapshot is not None
        self._pause.menuAction().setVisible(not self._is_paused)
        self._pause.setEnabled(is_usable)
        self._resume.setVisible(self._is_paused)
        self._resume.setEnabled(is_usable)
        self._quit.setEnabled(phase is not HubPhase.ENDING)
        servers = [server for server in snapshot.servers if not server.is_builtin] if snapshot is not None else []
        self._load.setVisible(is_usable)
        if snapshot is not None:
            self._show_release(snapshot.release, snapshot.version)
        self._show_servers(sorted(servers, key=lambda server: not needs_person(server)) if phase is HubPhase.RUNNING else [])
        self._stay_on_screen()

    def show_waiting(self, approvals: Sequence[ApprovalSnapshot], questions: Sequence[str]) -> None:
        """Shows what waits for the user: calls, which can be answered here, and the servers with questions."""
        shown = (*approvals[:SHOWN_WAITING], *questions[:SHOWN_WAITING])
        if not self._begin("waiting", shown):
            return
        self._after_waiting.setVisible(bool(shown))
        for request in approvals[:SHOWN_WAITING]:
            self._add_approval(request)
        for server in questions[:SHOWN_WAITING]:
            action = self._line("waiting", "message", tr("{name} asks you something", name=short(server)))
            action.triggered.connect(self.open_requested)
        self._stay_on_screen()

    def _add_approval(self, request: ApprovalSnapshot) -> None:
        """Adds a call. Only one that can be judged without its arguments can be allowed here; the others open the window."""
        menu = self._submenu("waiting", approval_line(request))
        menu.setIcon(icons.icon("shield", self._theme.color("warning"), 14))
        menu.addAction(tr("Look at it…")).triggered.connect(self.approvals_requested)
        if can_answer(request):
            menu.addAction(tr("Allow once")).triggered.connect(partial(self.answered.emit, request.id, "once"))
        menu.addAction(tr("Decline")).triggered.connect(partial(self.answered.emit, request.id, "refuse"))

    def show_readings(self, readings: TrayReadings) -> None:
        """Shows who works now, what failed last, and what Tooltray and its servers use."""
        calls, failures = readings.calls or (), tuple(row.entry for row in readings.failures or ())
        self._load.setVisible(readings.load is not None)
        if readings.load is not None:
            self._load.setText(load_line(readings.load))
        words = tuple(call_line(call) for call in calls[:SHOWN_CALLS])
        if not self._begin("now", (words, failures, len(calls))):
            return
        self._after_now.setVisible(bool(words or failures))
        for text in words:
            self._line("now", "state-connected", text).triggered.connect(self._way_to(Activity()))
        if len(calls) > SHOWN_CALLS:
            more = tr("{count} more calls are under way", count=len(calls) - SHOWN_CALLS)
            self._line("now", "more", more).triggered.connect(self._way_to(Activity()))
        if failures:
            menu = self._submenu("now", tr("Last failures"), "alert")
            for entry in failures:
                menu.addAction(failure_line(entry, datetime.now())).triggered.connect(self._way_to(OpenEntry(entry.id)))
        self._stay_on_screen()

    def _show_release(self, news: ReleaseNews, running: str) -> None:
        """Shows a newer version with its changes and how it is installed, and that the running one was withdrawn."""
        if not self._begin("release", (news, running)):
            return
        if news.withdrawn:
            title = tr("Tooltray {version} was withdrawn", version=running)
            self._add_release("alert", title, [news.withdrawn], tr("About Tooltray"))
        if news.version:
            title = tr("Tooltray {version} is available", version=news.version)
            self._add_release("download", title, news.changes, say(news.update))

    def _add_release(self, icon: str, title: str, lines: Sequence[str], last: str) -> None:
        menu = self._submenu("release", title, icon)
        for line in lines:
            menu.addAction(short(line, LONGEST_LINE)).setEnabled(False)
        menu.addSeparator()
        menu.addAction(short(last, LONGEST_LINE)).triggered.connect(self._way_to(Settings("about")))

    def _submenu(self, part: str, title: str, icon: str = "") -> QMenu:
        menu = QMenu(title, self)
        if icon:
            menu.setIcon(icons.icon(icon, self._theme.color("text.secondary")))
        self._lines[part].append(self.insertMenu(self._ends[part], menu))
        return menu

    def _stay_on_screen(self) -> None:
        """Moves an open menu up if it has grown beyond its screen's lower edge, so that its last lines stay in sight; Qt opens it again,
        with arrows to scroll, if it is taller than the screen."""
        screen, place = self.screen().availableGeometry(), self.geometry()
        if not self.isVisible() or place.bottom() <= screen.bottom():
            return
        if place.height() <= screen.height():
            self.move(place.x(), screen.bottom() - place.height() + 1)
        else:
            self.popup(QPoint(place.x(), screen.top()))

    def _line(self, part: str, icon: str, text: str) -> QAction:
        action = QAction(icons.icon(icon, self._theme.color("text.secondary"), 14), text, self)
        self.insertAction(self._ends[part], action)
        self._lines[part].append(action)
        return action

    def _begin(self, part: str, shown: object) -> bool:
        """Empties a part of the menu that is to show something else than before; returns whether it is."""
        if self._shown.get(part) == shown:
            return False
        self._shown[part] = shown
        for action in self._lines[part]:
            self.removeAction(action)
            (action.menu() or action).deleteLater()
        self._lines[part] = []
        return True

    def _show_servers(self, all_servers: list[ServerSnapshot]) -> None:
        servers, more = all_servers[:SHOWN_SERVERS], len(all_servers) - SHOWN_SERVERS
        self._more.setText(many(more, "1 more server…", "{count} more servers…"))
        self._more.setVisible(more > 0)
        self._after_servers.setVisible(bool(servers))
        if [server.name for server in servers] != list(self._entries):
            for entry in self._entries.values():
                self.removeAction(entry.menuAction())
                entry.deleteLater()
            self._entries = {}
            for server in servers:
                entry = self._entries[server.name] = ServerEntry(self._theme, self._wishes, self)
                self.insertMenu(self._more, entry)
        for server in servers:
            self._entries[server.name].set_server(server, is_paused=self._is_paused)

    def _way_to(self, place: Destination) -> Callable[[], None]:
        return lambda: self.place_requested.emit(place)

    def _pause_for(self, duration: Duration) -> None:
        self.pause_requested.emit(True, duration())

    def _add(self, icon: str, text: Phrase, slot: Callable[[], object], menu: QMenu | None = None) -> QAction:
        """Adds an entry to this menu, or to one in it; its text and its icon follow the language and the theme."""
        action = (self if menu is None else menu).addAction("")
        action.triggered.connect(lambda: slot())
        self._fixed[action] = (icon, text)
        return action

    def _tint(self) -> None:
        for action, (icon, _) in self._fixed.items():
            if icon:
                action.setIcon(icons.icon(icon, self._theme.color("text.secondary")))
