"""The tray icon and its menu: the hub's state in words, servers that need a person first, then the rest, then the app.

Above it: app.py, which connects its wishes. Below it: the Qt presenter layer's snapshots. Knows neither the window nor the engine. The menu
is changed in place, since a desktop may be showing it over D-Bus.
"""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from tooltray.snapshots.hub import HubSnapshot
from tooltray.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui import icons
from tooltray.ui.files.file_words import waiting_entries
from tooltray.ui.i18n import tr
from tooltray.ui.pages.page import HubPhase
from tooltray.ui.pages.server_wishes import ServerWishes
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.shell.hub_words import TrayState, summary, tray_state, waiting_calls
from tooltray.ui.state_language import Look, needs_person, server_look
from tooltray.ui.theme import Theme

SIZES = (16, 22, 32)
INKS = {Qt.ColorScheme.Light: ("#2A2A31", "#C47A00"), Qt.ColorScheme.Dark: ("#F2F2F5", "#F2B84B")}
ON_ANY_PANEL = ("#7C7C88", "#B97A0A")  # at least 3:1 on light and dark panels alike, where the desktop does not say which it has


def tray_icon(state: TrayState, scheme: Qt.ColorScheme) -> QIcon:
    """Returns the icon of a state for the desktop's colour scheme, in all sizes that panels use."""
    ink, mark = (QColor(name) for name in INKS.get(scheme, ON_ANY_PANEL))
    result = QIcon()
    for size in SIZES:
        for scale in (1, 2):
            result.addPixmap(icons.pixmap(f"tray/{state.value}-{size}", size, ink, second=mark, scale=scale))
    return result


SHOWN_SERVERS = 8  # more are in the window, so that the menu fits a small screen
LONGEST_NAME = 32  # characters; longer names lose their middle


class ServerEntry(QMenu):
    """One server in the tray menu: its state in words, and what can be done about it."""

    def __init__(self, theme: Theme, name: str, wishes: ServerWishes, parent: QMenu) -> None:
        super().__init__(parent)
        self._theme, self._name, self._wishes = theme, name, wishes
        self._look: Look | None = None
        theme.changed.connect(self._tint)
        self._sign_in = self.addAction(tr("Sign in"))
        self._start = self.addAction(tr("Start"))
        self._stop = self.addAction(tr("Stop"))
        self._restart = self.addAction(tr("Restart"))
        self._log = self.addAction(tr("Show log"))
        self._sign_in.triggered.connect(self._on_sign_in)
        self._start.triggered.connect(self._on_start)
        self._stop.triggered.connect(self._on_stop)
        self._restart.triggered.connect(self._on_restart)
        self._log.triggered.connect(self._on_log)

    def set_server(self, server: ServerSnapshot) -> None:
        shown = server_look(server)
        if shown == self._look:
            return
        self._look = shown
        self.setTitle(f"{_short(server.name)} · {shown.word}".replace("&", "&&"))
        self._tint()
        self._sign_in.setVisible(server.state is ServerState.NEEDS_SIGN_IN)
        is_stopped = server.state in (ServerState.STOPPED, ServerState.STOPPING)
        self._start.setEnabled(server.state in (ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.ERROR))
        self._stop.setEnabled(not is_stopped)
        self._restart.setEnabled(not is_stopped and server.state is not ServerState.ON_DEMAND)

    def _tint(self) -> None:
        if self._look is not None:
            self.setIcon(icons.icon(self._look.icon, self._theme.color(self._look.tone), 14))

    def _on_sign_in(self) -> None:
        self._wishes.sign_in_requested.emit(self._name)

    def _on_start(self) -> None:
        self._wishes.start_requested.emit(self._name)

    def _on_stop(self) -> None:
        self._wishes.stop_requested.emit(self._name)

    def _on_restart(self) -> None:
        self._wishes.restart_requested.emit(self._name)

    def _on_log(self) -> None:
        self._wishes.log_requested.emit(self._name)


def _short(name: str) -> str:
    """A menu has no tooltip and no middle to elide by itself."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


class TrayMenu(QMenu):
    pause_requested = Signal(bool)
    entry_copy_requested = Signal()
    open_requested = Signal()
    about_requested = Signal()
    quit_requested = Signal()

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__()
        self._theme, self._wishes = theme, wishes
        self._entries: dict[str, ServerEntry] = {}
        self._icons: dict[QAction, str] = {}
        self._is_paused = False
        self.setFont(theme.font())
        self._head = self.addAction("")
        self._head.setEnabled(False)
        self.addSeparator()
        self._after_servers = self.addSeparator()
        self._pause = self._add("pause")
        self._copy = self._add("copy")
        self.addSeparator()
        self._open = self._add("external")
        self._about = self._add("info")
        self._quit = self._add("power")
        self.retranslate()
        theme.changed.connect(self._tint)
        self._tint()
        self._pause.triggered.connect(self._on_pause)
        self._copy.triggered.connect(self.entry_copy_requested)
        self._open.triggered.connect(self.open_requested)
        self._about.triggered.connect(self.about_requested)
        self._quit.triggered.connect(self.quit_requested)

    def retranslate(self) -> None:
        """Says what never changes, in the language that is spoken now; what the hub has is said anew by `show_hub`."""
        self._copy.setText(tr("Copy entry for a client"))
        self._open.setText(tr("Open Tooltray"))
        self._about.setText(tr("About Tooltray"))
        self._quit.setText(tr("Quit"))
        self._show_servers([])

    def show_hub(self, phase: HubPhase, snapshot: HubSnapshot | None) -> None:
        """Shows how the hub and its servers are now."""
        self._head.setText(summary(phase, snapshot))
        self._is_paused = snapshot is not None and snapshot.is_paused
        if self._icons[self._pause] != (icon := "play" if self._is_paused else "pause"):
            self._icons[self._pause] = icon
            self._tint()
        self._pause.setText(tr("Resume all servers") if self._is_paused else tr("Pause all servers"))
        self._pause.setEnabled(phase is HubPhase.RUNNING and snapshot is not None)
        self._quit.setEnabled(phase is not HubPhase.ENDING)
        servers = [server for server in snapshot.servers if not server.is_builtin] if snapshot is not None else []
        shown = sorted(servers, key=lambda server: not needs_person(server))[:SHOWN_SERVERS]
        self._show_servers(shown if phase is HubPhase.RUNNING else [])

    def _show_servers(self, servers: list[ServerSnapshot]) -> None:
        if [server.name for server in servers] != list(self._entries):
            for entry in self._entries.values():
                self.removeAction(entry.menuAction())
                entry.deleteLater()
            self._entries = {}
            for server in servers:
                entry = ServerEntry(self._theme, server.name, self._wishes, self)
                entry.set_server(server)
                self._entries[server.name] = entry
                self.insertMenu(self._after_servers, entry)
        for server in servers:
            self._entries[server.name].set_server(server)

    def _add(self, icon: str) -> QAction:
        action = self.addAction("")
        self._icons[action] = icon
        return action

    def _tint(self) -> None:
        for action, icon in self._icons.items():
            action.setIcon(icons.icon(icon, self._theme.color("text.secondary")))

    def _on_pause(self) -> None:
        self.pause_requested.emit(not self._is_paused)


class Tray(QObject):
    """The icon in the desktop's panel. `open_requested`: a person clicked it, or what it told."""

    open_requested = Signal()

    def __init__(self, theme: Theme, hub: QtMcpPresenter, wishes: ServerWishes) -> None:
        super().__init__()
        self._hub = hub
        self._phase = HubPhase.STARTING
        self.menu = TrayMenu(theme, wishes)
        self.menu.open_requested.connect(self.open_requested)
        self._icon = QSystemTrayIcon(self)
        self._icon.setContextMenu(self.menu)
        self._icon.activated.connect(self._on_activated)
        self._icon.messageClicked.connect(self.open_requested)
        self._shown: object = None
        self._waiting_calls = self._waiting_entries = 0
        hub.snapshot_changed.connect(self._draw)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._draw)
        self._draw()

    @staticmethod
    def is_available() -> bool:
        """Whether the desktop has a place for tray icons, now."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    def show(self) -> None:
        self._icon.show()

    def hide(self) -> None:
        self._icon.hide()

    def set_phase(self, phase: HubPhase) -> None:
        self._phase = phase
        self._draw()

    def retranslate(self) -> None:
        """Says everything anew, in the language that is spoken now."""
        self.menu.retranslate()
        self._draw()

    def set_waiting_calls(self, count: int) -> None:
        """So many tool calls wait for a person's yes."""
        self._waiting_calls = count
        self._draw()

    def set_waiting_entries(self, count: int) -> None:
        """So many servers of projects wait for a person's yes."""
        self._waiting_entries = count
        self._draw()

    def tell(self, title: str, text: str) -> None:
        """Tells a person what is no trouble."""
        self._icon.showMessage(title, text, QSystemTrayIcon.MessageIcon.Information)

    def notify(self, title: str, text: str) -> None:
        """Tells a person who does not look at the window."""
        self._icon.showMessage(title, text, QSystemTrayIcon.MessageIcon.Warning)

    def _draw(self) -> None:
        snapshot = self._hub.snapshot
        scheme = QGuiApplication.styleHints().colorScheme()
        state = TrayState.ATTENTION if self._waiting_calls or self._waiting_entries else tray_state(self._phase, snapshot)
        if (state, scheme) != self._shown:
            self._shown = (state, scheme)
            self._icon.setIcon(tray_icon(state, scheme))
        waiting = (*waiting_calls(self._waiting_calls), *waiting_entries(self._waiting_entries))
        tooltip = " · ".join(("Tooltray", summary(self._phase, snapshot), *waiting))
        if tooltip != self._icon.toolTip():
            self._icon.setToolTip(tooltip)
        self.menu.show_hub(self._phase, snapshot)

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self.open_requested.emit()
