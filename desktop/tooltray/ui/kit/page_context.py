"""What the window lends to its pages: the Qt presenter layer, the theme, and the places for sheets, toasts and notices."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QFileDialog, QWidget
from shiboken6 import isValid

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import ClientScan
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import CoalescedRead, Work
from tooltray.ui.kit.destinations import Destination
from tooltray.ui.kit.local_work import LocalWork
from tooltray.ui.kit.notice_area import NoticeArea
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.kit.view import View
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.link.qt_server_manager import QtServerManager
from tooltray.ui.link.qt_tool_manager import QtToolManager
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import Sheet, SheetFrame
from tooltray.ui.widgets.toast import DONE, Toast, show_toast


class ClientScans(QObject):
    """Scans for AI clients. `scan` is None until the first scan is complete."""

    scan_changed = Signal(object)  # ClientScan
    scanning_changed = Signal(bool)
    failed = Signal(object)  # Problem, or None: it works again

    def __init__(self, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject) -> None:
        super().__init__(parent)
        self._hub = hub
        self.scan: ClientScan | None = None
        self.is_scanning = False
        self._projects: Sequence[str] = ()
        self._reading = CoalescedRead(self._look, tasks=tasks, name="AI clients on this computer", show=self.failed.emit)

    def set_projects(self, projects: Sequence[str]) -> None:
        """Sets the projects whose own files are scanned, too."""
        self._projects = tuple(projects)

    def look(self) -> None:
        """Requests a scan; does not wait."""
        self._reading.ask()

    async def _look(self) -> None:
        self._set_scanning(True)
        try:
            self.scan = await self._hub.ai_clients.scan_ai_clients(self._projects)
        finally:
            self._set_scanning(False)
        self.scan_changed.emit(self.scan)

    def _set_scanning(self, is_scanning: bool) -> None:
        self.is_scanning = is_scanning
        self.scanning_changed.emit(is_scanning)


class PageLinks(QObject):
    quit_requested = Signal()  # of the whole program
    entry_copy_requested = Signal()  # of what an AI client's settings need to use this hub
    projects_changed = Signal(object)  # list[str]: folders whose own files are in use
    entries_waiting_changed = Signal(object)  # list[TrustRequest] that nobody has looked at
    trust_asked = Signal(str)  # the folder of a project whose entries a person wants to look at; empty: what programs have proposed
    attempt_left = Signal(str)  # a call that is visible in no sheet any more
    entries_asked = Signal(object)  # list[TrustRequest] that nobody was told of before


class Sheets(QObject):
    """The place for a sheet over the window. `freed`: the last sheet was closed. `replacing`: the open sheet is replaced by another one
    that the user has requested.
    """

    freed = Signal()
    replacing = Signal()

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._window = theme, window
        self.sheet: Sheet | None = None  # the open one

    @property
    def panel(self) -> QWidget | None:
        """The panel of the open sheet."""
        return self.sheet.panel if self.sheet is not None else None

    def open(self, panel: QWidget, *, closes_outside: bool = True) -> Sheet:
        """Opens a sheet; requires that no sheet is open."""
        sheet = self.sheet = Sheet(self._theme, self._window, panel, closes_outside=closes_outside)
        sheet.closed.connect(self._on_closed)
        sheet.show()
        return sheet

    def show(self, panel: SheetFrame) -> Sheet | None:
        """Opens a sheet that its `close_requested` closes, unless another one is open; returns None then."""
        if self.sheet is not None:
            panel.deleteLater()
            return None
        sheet = self.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        return sheet

    def replace(self, panel: QWidget) -> Sheet:
        """Opens a sheet in place of the open one; its `close_requested`, if it has one, closes it."""
        if self.sheet is not None:
            self.replacing.emit()
            self.sheet.dismiss()
        sheet = self.open(panel)
        if isinstance(panel, SheetFrame):
            panel.close_requested.connect(sheet.dismiss)
        return sheet

    def _on_closed(self) -> None:
        self.sheet = None
        QTimer.singleShot(0, self, self._tell_freed)  # unless another sheet takes its place at once

    def _tell_freed(self) -> None:
        if self.sheet is None:
            self.freed.emit()


class Presenters(msgspec.Struct, frozen=True):
    """The Qt presenter layer, and the tasks that wait for it."""

    hub: QtMcpPresenter
    servers: QtServerManager
    tools: QtToolManager
    tasks: TaskKeeper


class PageContext(View):
    """The shared context of all pages of a window. What belongs to no page runs here, and fails with a notice.

    Args:
        window: lies below sheets, toasts and file dialogs.
        go: shows a place in the window.
        wishes: the user's requests to servers, here or in the tray.

    Attributes:
        attempts: the calls that are visible in a sheet.
    """

    def __init__(
        self,
        theme: Theme,
        window: QWidget,
        *,
        go: Callable[[Destination], None],
        presenters: Presenters,
        local: LocalWork,
        wishes: ServerWishes,
    ) -> None:
        self.theme, self.window, self.go, self.local, self.wishes = theme, window, go, local, wishes
        self._hub, self.servers, self.tools, self.tasks = presenters.hub, presenters.servers, presenters.tools, presenters.tasks
        self.sheets, self.notices, self.links = Sheets(theme, window), NoticeArea(theme), PageLinks(window)
        self.context = self
        self.attempts: set[str] = set()
        self.scans = ClientScans(presenters.hub, presenters.tasks, window)
        self.links.projects_changed.connect(self.scans.set_projects)

    @property
    def hub(self) -> QtMcpPresenter:
        return self._hub

    @property
    def is_there(self) -> bool:
        return isValid(self.window)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure that has no other place: above the pages, and in a toast where that is out of sight."""
        if problem is None:
            return
        self.notices.add_notice(problem)
        if not self.notices.isVisible():
            self.say(whole(problem), "warning")

    def say(self, text: str, tone: str = DONE) -> None:
        """Shows in a toast what was done, or with the tone `info` or `warning` that nothing was, or why."""
        show_toast(self.theme, self.window, text, tone=tone)

    def offer_undo(self, text: str, undo: Work | None = None) -> Toast:
        """Shows what was done, with a button that undoes it; so does Ctrl+Z, but in a field that has something to undo itself.

        Args:
            undo: undoes it, also when the view of the action is closed by then. None: the toast's `action_requested` is used.
        """
        toast = show_toast(self.theme, self.window, text, tr("Undo"), QKeySequence(QKeySequence.StandardKey.Undo))
        if undo is not None:
            toast.action_requested.connect(lambda: self.run(undo()))
        return toast

    def copy(self, text: str, what: str) -> None:
        """Copies a text to the clipboard, and shows what it is."""
        QGuiApplication.clipboard().setText(text)
        self.say(what)

    def show_window(self) -> None:
        """Shows the window in front, even if it was minimized."""
        window = self.window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()

    def choose_folder(self, title: str, use: Callable[[str], None]) -> None:
        """Prompts for a folder, and passes it to `use`."""
        dialog = QFileDialog(self.window, title)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        _open(dialog, use)

    def choose_file(self, title: str, use: Callable[[str], object], *, kind: str = "") -> None:
        """Prompts for a file, at first in the user's home folder, and passes it to `use`; `kind`: see `choose_new_file`."""
        dialog = QFileDialog(self.window, title, str(Path.home()), kind)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        _open(dialog, use)

    def choose_new_file(self, title: str, name: str, use: Callable[[str], None], *, kind: str = "") -> None:
        """Prompts for where to save a file, and passes it to `use`.

        Args:
            name: of the file at first; what the user types gets its ending, unless it has one.
            kind: the filter of the files that are shown, as Qt writes it.
        """
        dialog = QFileDialog(self.window, title, "", kind)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.selectFile(name)
        _open(dialog, use)


def _open(dialog: QFileDialog, use: Callable[[str], object]) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(use)
    dialog.open()
