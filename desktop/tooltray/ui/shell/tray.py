"""The tray icon: the hub's state as a shape, how many things wait for the user as a number, and the menu. Who works now, what failed last
and what Tooltray needs is read only while the menu is open. Knows neither the window nor the engine.
"""

from collections.abc import Coroutine, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QSystemTrayIcon

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, ConfirmationSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui import icons
from tooltray.ui.kit.background import CoalescedRead, timer
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.projects.file_words import waiting_entries
from tooltray.ui.shell.hub_status import TrayState, summary, tray_state, waiting_words
from tooltray.ui.shell.tray_menu import TrayMenu, TrayReadings
from tooltray.ui.theme import Theme

SIZES = (16, 22, 32)
INKS = {Qt.ColorScheme.Light: ("#2A2A31", "#C47A00"), Qt.ColorScheme.Dark: ("#F2F2F5", "#F2B84B")}
ON_ANY_PANEL = ("#7C7C88", "#B97A0A")  # at least 3:1 on light and dark panels alike, where the desktop does not say which it has


def tray_icon(state: TrayState, scheme: Qt.ColorScheme, count: int = 0) -> QIcon:
    """Returns the icon of a state for the desktop's colour scheme, in all sizes that panels use.

    Args:
        count: how many things wait for the user; shown in a dot.
    """
    ink, mark = (QColor(name) for name in INKS.get(scheme, ON_ANY_PANEL))
    result = QIcon()
    for size in SIZES:
        for scale in (1, 2):
            pixmap = icons.pixmap(f"tray/{state.value}-{size}", size, ink, second=mark, scale=scale)
            if count:
                _paint_count(pixmap, size, mark, count)
            result.addPixmap(pixmap)
    return result


DOT, DIGIT = 0.62, 0.52  # of the icon's side: the dot in its lower right corner, and the digit in it
MOST_COUNTED = 9  # two digits cannot be read in a panel


def _paint_count(pixmap: QPixmap, size: int, mark: QColor, count: int) -> None:
    dot = QRectF(size * (1 - DOT), size * (1 - DOT), size * DOT, size * DOT)
    font = QFont()
    font.setPixelSize(max(8, round(size * DIGIT)))
    font.setBold(True)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mark)
        painter.drawEllipse(dot)
        painter.setFont(font)
        painter.setPen(QColor("#1D1D22" if mark.lightnessF() > LIGHT else "#FFFFFF"))
        painter.drawText(dot, Qt.AlignmentFlag.AlignCenter, str(count) if count <= MOST_COUNTED else "+")


LIGHT = 0.5  # dark digits on a lighter mark
READ_EVERY_MS = 2000  # a person reads a menu for some seconds
MOST_READS = 30  # a minute
SHOWN_FAILURES = 3
FAILURES = ActivityFilter(kinds=("call", "failure"), outcomes=("error",))
T = TypeVar("T")


class Tray(QObject):
    """The icon in the desktop's panel. `open_requested`: the user clicked it; `message_clicked`: the user clicked its message."""

    open_requested = Signal()
    message_clicked = Signal()

    def __init__(self, theme: Theme, hub: QtMcpPresenter, wishes: ServerWishes, tasks: TaskKeeper) -> None:
        super().__init__()
        self._hub = hub
        self._phase = HubPhase.STARTING
        self.menu = TrayMenu(theme, wishes)
        self.menu.open_requested.connect(self.open_requested)
        self._reads_left = 0
        self._read = CoalescedRead(self._look, tasks=tasks, name="tray")
        self._timer = timer(self, READ_EVERY_MS, self._on_timeout, repeats=True)
        self.menu.aboutToShow.connect(self._on_menu_opens)
        self.menu.aboutToHide.connect(self._timer.stop)
        self._icon = QSystemTrayIcon(self)
        self._icon.setContextMenu(self.menu)
        self._icon.activated.connect(self._on_activated)
        self._icon.messageClicked.connect(self.message_clicked)
        self._shown: object = None
        self._approvals: tuple[ApprovalSnapshot, ...] = ()
        self._confirmations = 0
        self._questions: dict[str, str] = {}  # the servers that ask, by the ids of their questions
        self._waiting_entries = 0
        hub.on(ElicitationAsked, self._on_asked, self)
        hub.on(ElicitationEnded, self._on_question_ended, self)
        hub.snapshot_changed.connect(self._on_snapshot_changed)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._draw)
        self._draw()

    @staticmethod
    def is_available() -> bool:
        """Returns whether the desktop has a place for tray icons now."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    def show(self) -> None:
        self._icon.show()

    def hide(self) -> None:
        self._icon.hide()

    def set_phase(self, phase: HubPhase) -> None:
        self._phase = phase
        self._draw()

    def retranslate(self) -> None:
        """Updates all texts to the current language."""
        self.menu.retranslate()
        self._draw()

    def set_approvals(self, waiting: Sequence[ApprovalSnapshot]) -> None:
        """Shows the tool calls that wait for the user's approval."""
        self._approvals = tuple(waiting)
        self._draw()

    def set_confirmations(self, waiting: Sequence[ConfirmationSnapshot]) -> None:
        """Shows the commands that wait for the user's approval."""
        self._confirmations = len(waiting)
        self._draw()

    def set_waiting_entries(self, count: int) -> None:
        """Shows how many servers of projects wait for the user's approval."""
        self._waiting_entries = count
        self._draw()

    def tell(self, title: str, text: str) -> None:
        """Shows an ordinary message, not a problem."""
        self._icon.showMessage(title, text, QSystemTrayIcon.MessageIcon.Information)

    def notify(self, title: str, text: str) -> None:
        """Shows a warning to the user who does not look at the window."""
        self._icon.showMessage(title, text, QSystemTrayIcon.MessageIcon.Warning)

    @property
    def waiting(self) -> int:
        """How many things wait for the user: calls, commands, questions, servers of projects."""
        return len(self._approvals) + self._confirmations + len(self._questions) + self._waiting_entries

    def _on_menu_opens(self) -> None:
        if self._phase is HubPhase.RUNNING:
            self._reads_left = MOST_READS
            self._timer.start()
            self._read.ask()

    def _on_timeout(self) -> None:
        self._reads_left -= 1
        if self._reads_left <= 0:
            self._timer.stop()
        else:
            self._read.ask()

    async def _look(self) -> None:
        """Reads each value separately: a failure hides none of the others."""
        calls = await _known(self._hub.activity.get_calls_now())
        failures = await _known(self._hub.activity.get_activity(FAILURES, limit=SHOWN_FAILURES))
        self.menu.show_readings(TrayReadings(calls, failures, await _known(self._hub.program.get_load())))

    def _on_asked(self, news: ElicitationAsked) -> None:
        self._questions[news.question.id] = news.question.server
        self._draw()

    def _on_question_ended(self, news: ElicitationEnded) -> None:
        self._questions.pop(news.id, None)
        self._draw()

    def _on_snapshot_changed(self) -> None:
        if self._hub.snapshot is None:  # the engine is gone, and what waited with it
            self._questions.clear()
        self._draw()

    def _draw(self) -> None:
        snapshot = self._hub.snapshot
        scheme = QGuiApplication.styleHints().colorScheme()
        state = TrayState.ATTENTION if self.waiting else tray_state(self._phase, snapshot)
        if (state, scheme, self.waiting) != self._shown:
            self._shown = (state, scheme, self.waiting)
            self._icon.setIcon(tray_icon(state, scheme, self.waiting))
        waiting = waiting_words(len(self._approvals), self._confirmations, len(self._questions))
        tooltip = " · ".join(("Tooltray", summary(self._phase, snapshot), *waiting, *waiting_entries(self._waiting_entries)))
        if tooltip != self._icon.toolTip():
            self._icon.setToolTip(tooltip)
        self.menu.show_hub(self._phase, snapshot)
        self.menu.show_waiting(self._approvals, tuple(self._questions.values()))

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self.open_requested.emit()


async def _known(read: Coroutine[object, object, T]) -> T | None:
    try:
        return await read
    except TooltrayError:
        return None
