"""The main window: a shell over its pages, with the navigation and the places for sheets, toasts and notices. A new page is a module of its
own and a line in PAGES."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence, QPaintEvent, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ProblemReported
from tooltray.ui import icons
from tooltray.ui.approval.question import Questions
from tooltray.ui.i18n import tr
from tooltray.ui.kit import destinations as to
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.local_work import LocalWork
from tooltray.ui.kit.page import Page, PageEntry, TabbedPage
from tooltray.ui.kit.page_context import PageContext, Presenters
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.shell.app_links import install_link, server_of_link
from tooltray.ui.shell.hub_status import hub_words
from tooltray.ui.shell.palette import Palette
from tooltray.ui.shell.sidebar import PALETTE_KEY, Sidebar
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import leave_focus
from tooltray.ui.widgets.keyboard import add_zoom_keys, last_input, move_focus
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import Header, PageRoom
from tooltray.ui.widgets.sheet import Sheet, SheetFrame
from tooltray.ui.widgets.surface import row
from tooltray.ui.zoom import px


def _servers(context: PageContext) -> Page:
    from tooltray.ui.servers.servers_page import ServersPage

    return ServersPage(context)


def _activity(context: PageContext) -> Page:
    from tooltray.ui.activity.activity_page import ActivityPage

    return ActivityPage(context)


def _clients(context: PageContext) -> Page:
    from tooltray.ui.clients.clients_page import ClientsPage

    return ClientsPage(context)


def _settings(context: PageContext) -> Page:
    from tooltray.ui.settings.settings_page import SettingsPage

    return SettingsPage(context)


PAGES = (  # in the order of the navigation; each is imported when it is built, so that unused pages do not delay the window
    PageEntry(to.Servers(), "server", lambda: tr("Servers"), _servers),  # the first one shows the notices of the hub
    PageEntry(to.Activity(), "activity", lambda: tr("Activity"), _activity),
    PageEntry(to.Clients(), "plug", lambda: tr("Clients"), _clients),
    PageEntry(to.Settings(), "settings", lambda: tr("Settings"), _settings),
)


WIDTH = 460
MOST_NAMES = 6  # more would fill the window, and say no more


class QuitPanel(SheetFrame):
    """A question before quitting. `confirmed`: quit although clients are connected."""

    confirmed = Signal()

    def __init__(self, theme: Theme, clients: Sequence[str]) -> None:
        super().__init__(theme, tr("Quit Tooltray?"), WIDTH)
        self.body.addWidget(Label(theme, who(clients), "strong", wrap=True))
        text = tr("Their calls end now. Their next call starts Tooltray again.")
        if len(set(clients)) == 1:
            text = tr("Its calls end now. Its next call starts Tooltray again.")
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        self.set_first_focus(self.add_button(tr("Keep running"), self.close_requested.emit))
        self.add_button(tr("Quit"), self.confirmed.emit, "danger")


def who(clients: Sequence[str]) -> str:
    """Returns the connected clients, as a sentence; the same client twice is named once."""
    names = list(dict.fromkeys(clients))
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    if more > 0:
        return tr("{names} and {count} more are connected.", names=shown, count=more)
    return tr("{name} is connected.", name=shown) if len(names) == 1 else tr("{names} are connected.", names=shown)


SIZE, SMALLEST = (1180, 760), (900, 600)
FRAME = QSize(8, 40)  # px that a window's frame and title take at most; they are not known before it is shown


class MainWindow(QMainWindow):
    """The main window.

    Args:
        hides_on_close: whether closing only hides it, since the tray stays; otherwise closing is `quit_requested`.
    """

    quit_requested = Signal()
    hidden_to_tray = Signal()  # a person has closed it
    retry_requested = Signal()  # to start the hub again
    painted = Signal()  # once, when a person can see the window

    def __init__(
        self, theme: Theme, *, presenters: Presenters, local: LocalWork, wishes: ServerWishes, hides_on_close: Callable[[], bool]
    ) -> None:
        super().__init__()
        self._hides_on_close = hides_on_close
        self._phase = HubPhase.STARTING
        self._problem: Problem | None = None
        self._is_painted = False
        self.setWindowTitle("Tooltray")
        self.setWindowIcon(icons.app_icon())
        self.resize(*SIZE)
        self.setMinimumSize(*SMALLEST)
        self.setAcceptDrops(True)
        context = self.context = PageContext(theme, self, go=self.go, presenters=presenters, local=local, wishes=wishes)
        self._sidebar = Sidebar(theme, PAGES)
        self._stack = QStackedWidget()
        self._pages: dict[to.PageName, Page] = {}
        self._questions = Questions(context, self)
        self.command_palette = Palette(context, PAGES, self)
        body = self._body = QWidget()
        body.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # nothing shows a focus ring until Tab is pressed
        line = row(body, spacing=0)
        line.addWidget(self._sidebar)
        line.addWidget(PageRoom(self._stack), 1)
        self.setCentralWidget(body)
        self._connect()
        self._draw_hub()
        self.open_page(PAGES[0].name)

    def page(self, name: to.PageName) -> Page:
        """Returns a page of the table; builds it at the first call."""
        if name not in self._pages:
            page = self._pages[name] = next(entry for entry in PAGES if entry.name == name).make(self.context)
            self._stack.addWidget(page)
            page.need_person.connect(self._sidebar.items[name].set_badge)
            page.set_phase(self._phase)
        return self._pages[name]

    def open_page(self, name: to.PageName) -> None:
        """Shows a page of the table."""
        page = self.page(name)
        if (header := page.findChild(Header)) is not None and not header.isAncestorOf(self.context.notices):
            leave_focus(self.context.notices)
            header.hold(self.context.notices)
        self._stack.setCurrentWidget(page)
        self._sidebar.items[name].setChecked(True)

    def go(self, destination: to.Destination) -> None:
        """Shows a place in the window."""
        self.open_page(destination.page)
        self.page(destination.page).open_destination(destination)

    async def build_pages(self) -> None:
        """Builds the pages and tabs that were not shown yet, since some count what needs the user; lets the event loop run between them."""
        for entry in PAGES:
            if isinstance(page := self.page(entry.name), TabbedPage):
                page.build_early()
            await asyncio.sleep(0)

    @property
    def sheet(self) -> Sheet | None:
        """The open sheet."""
        return self.context.sheets.sheet

    def fit(self, room: QSize) -> None:
        """Limits the size to the screen, including the window's frame."""
        self.resize(self.size().boundedTo(room - FRAME))

    def take_place_of(self, other: "MainWindow") -> None:
        """Copies the geometry, page, tab and phase of another main window, which the caller then removes."""
        self.setGeometry(other.geometry())
        self.setWindowState(other.windowState())
        name = next(name for name, page in other._pages.items() if page is other._stack.currentWidget())
        self.open_page(name)
        page, before = self.page(name), other.page(name)
        if isinstance(page, TabbedPage) and isinstance(before, TabbedPage):
            page.show_tab(before.current)
        if other.isVisible():
            is_at_work = other.isActiveWindow()
            self.show()
            if is_at_work:
                self.activateWindow()  # a person goes on with the keyboard
        self.set_phase(other._phase, other._problem)

    def set_phase(self, phase: HubPhase, problem: Problem | None = None) -> None:
        """Shows the phase of the hub; `problem` is why it does not run."""
        self._phase, self._problem = phase, problem
        for page in self._pages.values():
            page.set_phase(phase)
        self.context.notices.set_failure(problem)
        self._draw_hub()

    def show_up(self) -> None:
        """Shows the window in front, even if it was minimized."""
        self.context.show_window()

    def open_link(self, link: str) -> None:
        """Shows the window with the subject of an address: `tooltray://servers/NAME`, or `tooltray://install?...`, which fills the sheet
        that adds a server. No address changes anything without the user.
        """
        self.show_up()
        if name := server_of_link(link):
            self.go(to.OpenServer(name))
        elif install := install_link(link):
            self.go(to.InstallLink(install))

    def show_quietly(self) -> None:
        """Shows the window if it is hidden, without taking the keyboard from what the user is doing elsewhere."""
        if not self.isVisible():
            self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, True)
            self.show()
            self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, False)
        QApplication.alert(self)

    def ask_to_quit(self, clients: Sequence[str]) -> QuitPanel:
        """Opens the question whether to quit although these AI clients are connected, in place of an open sheet."""
        self.show_up()
        panel = QuitPanel(self.context.theme, clients)
        panel.confirmed.connect(self.context.sheets.replace(panel).dismiss)
        return panel

    def pause(self, is_paused: bool, for_s: float | None = None) -> None:
        """Refuses the calls of AI clients, or ends the pause; `for_s`: seconds after which the pause ends automatically."""
        self.context.run(self.context.hub.hub.set_mcp_enabled(not is_paused, for_s))

    def _connect(self) -> None:
        context = self.context
        context.hub.snapshot_changed.connect(self._draw_hub)
        context.hub.on(ProblemReported, self._on_problem_reported, self)
        context.wishes.place_requested.connect(self.go)
        self._sidebar.page_requested.connect(self.open_page)
        self._sidebar.pause_requested.connect(self.pause)
        self._sidebar.entry_copy_requested.connect(context.links.entry_copy_requested)
        context.links.quit_requested.connect(self.quit_requested)
        context.notices.resume_requested.connect(partial(self.pause, False))
        context.notices.updates_chosen.connect(self._on_updates_chosen)
        context.notices.report_requested.connect(lambda report: context.copy(report, tr("The report is copied")))
        context.notices.retry_requested.connect(self.retry_requested)
        for number, entry in enumerate(PAGES, 1):
            QShortcut(QKeySequence(f"Ctrl+{number}"), self, partial(self._on_page_key, entry.name))
        QShortcut(QKeySequence(PALETTE_KEY), self, self.command_palette.open)
        self._sidebar.palette_requested.connect(self.command_palette.open)
        add_zoom_keys(self, context.theme)
        QShortcut(QKeySequence("Ctrl+W"), self, self.close)
        QShortcut(QKeySequence("Ctrl+Q"), self, self.quit_requested.emit)

    def _on_page_key(self, name: to.PageName) -> None:
        if self.sheet is None:
            self.open_page(name)
            self.page(name).setFocus(Qt.FocusReason.OtherFocusReason)  # not on the sidebar's entry of the page before

    def _draw_hub(self) -> None:
        snapshot = self.context.hub.snapshot
        is_paused = snapshot is not None and snapshot.is_paused
        can_pause = self._phase is HubPhase.RUNNING and snapshot is not None
        self._sidebar.show_hub(*hub_words(self._phase, snapshot), can_pause=can_pause, is_paused=is_paused)
        self.context.notices.set_paused(is_paused and can_pause, snapshot.paused_until if snapshot is not None else 0.0)
        self.context.notices.set_notices(snapshot.notices if snapshot is not None else ())
        self.context.notices.set_updates_question(snapshot is not None and snapshot.release.is_unasked)

    def _on_updates_chosen(self, is_wanted: bool) -> None:
        from tooltray.ui.settings.about_tab import choose_updates

        self.context.run(choose_updates(self.context, is_wanted))

    def _on_problem_reported(self, report: ProblemReported) -> None:
        if not report.server:  # a server's problem stands on its card
            self.context.notices.add_notice(report.problem)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._dropped_bundle(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if source := self._dropped_bundle(event):
            event.acceptProposedAction()
            self.go(to.OpenBundle(source))

    def _dropped_bundle(self, event: QDropEvent) -> str:
        """Returns the dropped bundle as a path or an address; empty without one, or if it cannot be opened now."""
        from tooltray.ui.add.offer_sheets import bundle_of_urls

        is_free = self._phase is HubPhase.RUNNING and self.sheet is None
        return bundle_of_urls(event.mimeData().urls()) if is_free and event.mimeData().hasUrls() else ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._sidebar.set_compact(self.width() < px(SMALLEST[0]))

    def focusNextPrevChild(self, forwards: bool) -> bool:
        return move_focus(self, forwards=forwards)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.windowHandle().installEventFilter(last_input)
        if self.sheet is None:
            self._body.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            self.painted.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        if self._hides_on_close():
            self.hide()
            self.hidden_to_tray.emit()
        else:
            self.quit_requested.emit()
