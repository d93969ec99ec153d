"""The main window: navigation, pages, and what lies over them for a while (sheets, toasts).

Above it: app.py, which says how the hub is and what closing the window means. Below it: pages, dialogs, and the Qt presenter layer.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QGuiApplication, QKeySequence, QPaintEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QWidget

from tooltray.errors import Problem
from tooltray.events import ProblemReported
from tooltray.snapshots.trust import TrustRequest
from tooltray.tasks import TaskKeeper
from tooltray.ui import icons
from tooltray.ui.approvals.grant_actions import GrantCommands
from tooltray.ui.approvals.grant_sheets import GrantPages
from tooltray.ui.clients.client_actions import ViewCommands
from tooltray.ui.clients.view_pages import ViewPages
from tooltray.ui.files.file_actions import FileCommands
from tooltray.ui.files.file_sheets import FilePages
from tooltray.ui.files.file_words import waiting_text, waiting_title
from tooltray.ui.i18n import tr
from tooltray.ui.pages.hub_phase import HubPhase, hub_words
from tooltray.ui.pages.page_links import ServerWishes
from tooltray.ui.presenter.qt_mcp_client import QtMcpClient
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.presenter.qt_server_manager import QtServerManager
from tooltray.ui.presenter.qt_tool_manager import QtToolManager
from tooltray.ui.questions.question import QuestionPanel
from tooltray.ui.questions.question_line import QuestionLine
from tooltray.ui.servers.add_server import AddServerPanel, ReadPasted
from tooltray.ui.servers.log_panel import LogPanel
from tooltray.ui.servers.removed_words import removed_words
from tooltray.ui.servers.server_actions import Commands, NewServer
from tooltray.ui.servers.servers_page import ServersPage
from tooltray.ui.servers.why_panel import WhyPanel
from tooltray.ui.settings.settings_actions import SettingsCommands
from tooltray.ui.settings.settings_page import SettingsPage
from tooltray.ui.settings.setup_sheets import SetupSheets
from tooltray.ui.settings.token_actions import ApiCommands
from tooltray.ui.settings.token_sheets import TokenPages
from tooltray.ui.shell.quit_question import QuitPanel
from tooltray.ui.shell.sidebar import Sidebar
from tooltray.ui.sign_ins.sign_in_address import SignInAddressPanel
from tooltray.ui.state_language import needs_person
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.covered_code import FindSpans
from tooltray.ui.widgets.sheet import Sheet
from tooltray.ui.widgets.sheet_frame import SheetFrame
from tooltray.ui.widgets.surface import row
from tooltray.ui.widgets.toast import show_toast

SIZE, SMALLEST = (1180, 760), (900, 600)
SERVERS, CLIENTS, PROFILES, GRANTS, FILES, SETTINGS = range(6)  # the indexes of the pages


class MainWindow(QMainWindow):
    """The window.

    Args:
        read_pasted: reads what a person pastes to add a server.
        find_secrets: where secrets stand in it.
        hides_on_close: whether closing only hides it, since the tray stays; otherwise closing is `quit_requested`.
    """

    quit_requested = Signal()
    hidden_to_tray = Signal()  # a person has closed it
    retry_requested = Signal()  # to start the hub again
    entry_copy_requested = Signal()
    painted = Signal()  # once, when a person can see the window

    def __init__(
        self,
        theme: Theme,
        *,
        hub: QtMcpPresenter,
        servers: QtServerManager,
        tools: QtToolManager,
        wishes: ServerWishes,
        commands: Commands,
        settings: SettingsCommands,
        grants: GrantCommands,
        views: ViewCommands,
        files: FileCommands,
        api: ApiCommands,
        tasks: TaskKeeper,
        read_pasted: ReadPasted,
        find_secrets: FindSpans,
        hides_on_close: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._theme, self._hub, self._servers, self._commands, self._tasks = theme, hub, servers, commands, tasks
        self._settings = settings
        self._read_pasted, self._find_secrets, self._hides_on_close = read_pasted, find_secrets, hides_on_close
        self._phase = HubPhase.STARTING
        self._is_painted = False
        self._sheet: Sheet | None = None
        self._questions = QuestionLine(hub, self)
        self.setWindowTitle("Tooltray")
        self.setWindowIcon(icons.app_icon())
        self.resize(*SIZE)
        self.setMinimumSize(*SMALLEST)
        self._sidebar = Sidebar(
            theme,
            [
                ("server", tr("Servers")),
                ("plug", tr("AI clients")),
                ("layers", tr("Profiles")),
                ("shield", tr("Approvals")),
                ("folder", tr("Files")),
                ("settings", tr("Settings")),
            ],
        )
        self._page = ServersPage(theme, servers=servers, tools=tools, wishes=wishes)
        self._views = ViewPages(
            theme, self, place=self, hub=hub, servers=servers, servers_page=self._page, wishes=wishes, commands=commands, views=views
        )
        self._grants = GrantPages(theme, self, place=self, grants=grants)
        self._files = FilePages(theme, self, place=self, files=files, wishes=wishes)
        self._settings_page = SettingsPage(theme)
        self._setup = SetupSheets(theme, self, place=self, settings=settings)
        self._pages = QStackedWidget()
        for page in (self._page, self._views.clients, self._views.profiles, self._grants.page, self._files.page, self._settings_page):
            self._pages.addWidget(page)
        body = self._body = QWidget()
        body.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # nothing shows a focus ring until Tab is pressed
        line = row(body, spacing=0)
        line.addWidget(self._sidebar)
        line.addWidget(self._pages, 1)
        self.setCentralWidget(body)
        self._connect(wishes)
        self._connect_settings()
        TokenPages(theme, self, place=self, page=self._settings_page, commands=api)
        api.done.connect(self.say)
        self._connect_files(files)
        self._grants.need_person.connect(partial(self._sidebar.set_badge, GRANTS))
        grants.done.connect(self.say)
        views.done.connect(self.say)
        self._views.clients.entry_copy_requested.connect(self.entry_copy_requested)
        self._draw_hub()

    @property
    def page(self) -> ServersPage:
        return self._page

    @property
    def settings_page(self) -> SettingsPage:
        return self._settings_page

    @property
    def setup_sheets(self) -> SetupSheets:
        return self._setup

    @property
    def grant_pages(self) -> GrantPages:
        return self._grants

    @property
    def file_pages(self) -> FilePages:
        return self._files

    @property
    def view_pages(self) -> ViewPages:
        return self._views

    def open_page(self, index: int) -> None:
        """Shows a page: SERVERS, CLIENTS, PROFILES, GRANTS, FILES or SETTINGS."""
        self._pages.setCurrentIndex(index)
        self._sidebar.set_page(index)

    def _on_page_key(self, index: int) -> None:
        if self._sheet is None:
            self.open_page(index)

    @property
    def sheet(self) -> Sheet | None:
        """What lies over the window now."""
        return self._sheet

    def set_phase(self, phase: HubPhase, problem: Problem | None = None) -> None:
        """Says how far the hub is; `problem` is why it does not run."""
        self._phase = phase
        self._page.set_loading(phase in (HubPhase.STARTING, HubPhase.TAKING_OVER))
        self._page.set_can_add(phase is HubPhase.RUNNING)
        self._page.notices.set_failure(problem)
        self._settings_page.set_usable(phase is HubPhase.RUNNING)
        self._grants.page.set_usable(phase is HubPhase.RUNNING)
        self._files.page.set_usable(phase is HubPhase.RUNNING)
        self._views.set_usable(phase is HubPhase.RUNNING)
        if problem is not None:
            self.open_page(SERVERS)  # where it says why
        self._draw_hub()

    def show_up(self) -> None:
        """Brings the window to a person's eyes, from wherever it is."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def show_quietly(self) -> None:
        """Shows the window if it is hidden, without taking the keyboard from what a person is doing elsewhere."""
        if not self.isVisible():
            self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, True)
            self.show()
            self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, False)
        QApplication.alert(self)

    def say(self, text: str) -> None:
        """Says in passing what was done."""
        show_toast(self._theme, self, text)

    def put_on_clipboard(self, text: str, what: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.say(what)

    def open_add_server(self, text: str = "") -> None:
        """Opens the sheet that adds a server; an open one of any kind stays."""
        if self._sheet is not None or self._phase is not HubPhase.RUNNING:
            return
        names = frozenset(server.name for server in self._servers.servers)
        panel = AddServerPanel(self._theme, self._read_pasted, names, text, self._files.projects, find_secrets=self._find_secrets)
        panel.add_requested.connect(self._commands.add)
        panel.secrets_choice_requested.connect(self._commands.keep_secrets)
        self._commands.adding_failed.connect(panel.show_failure)
        self._commands.storing_changed.connect(panel.on_storing)
        self._commands.secrets_closed.connect(panel.on_secrets_closed)
        sheet = self._open_sheet(panel)
        panel.cancel_requested.connect(sheet.dismiss)
        self._commands.servers_added.connect(sheet.dismiss)

    def open_log(self, name: str) -> None:
        """Opens the log of a server, in place of what lies over the window."""
        self.show_up()
        if (question := self._question_panel) is not None:
            question.settle()  # it is shown again after the log
        if self._sheet is not None:
            self._sheet.dismiss()
        panel = LogPanel(self._theme, QtMcpClient(self._hub, self._servers, name), self._tasks)
        panel.copy_requested.connect(self._on_log_copied)
        sheet = self._open_sheet(panel)
        panel.close_requested.connect(sheet.dismiss)

    def ask_to_quit(self, clients: Sequence[str]) -> QuitPanel:
        """Asks whether Tooltray ends although these AI clients are connected, in place of what lies over the window."""
        self.show_up()
        if (question := self._question_panel) is not None:
            question.settle()  # it is shown again if Tooltray stays
        if self._sheet is not None:
            self._sheet.dismiss()
        panel = QuitPanel(self._theme, clients)
        sheet = self._open_sheet(panel)
        panel.close_requested.connect(sheet.dismiss)
        panel.confirmed.connect(sheet.dismiss)
        return panel

    def open_why(self, name: str) -> None:
        """Opens what is known of a server that does not run, and what can be done; an open sheet of any kind stays."""
        if self._sheet is not None:
            return
        panel = WhyPanel(self._theme, QtMcpClient(self._hub, self._servers, name), self._tasks)
        panel.copy_requested.connect(self._on_remedy_copied)
        panel.log_requested.connect(self.open_log)
        panel.sign_in_requested.connect(self._commands.sign_in)
        panel.close_requested.connect(self._open_sheet(panel).dismiss)

    def _on_sign_in_page(self, name: str, url: str) -> None:
        if not QDesktopServices.openUrl(QUrl(url)):
            self._commands.tell_no_browser(name)
            self.show_up()  # the wish may come from the tray
            self._open_sign_in_address(name, url)

    def _open_sign_in_address(self, name: str, url: str) -> None:
        """Shows where to sign in; where another sheet is open, the card's button has it."""
        if self._sheet is not None:
            return
        panel = SignInAddressPanel(self._theme, name, url)
        panel.copy_requested.connect(self._on_address_copied)
        panel.close_requested.connect(self._open_sheet(panel).dismiss)
        self._commands.sign_in_over.connect(panel.on_sign_in_over)

    def _on_remedy_copied(self, text: str) -> None:
        self.put_on_clipboard(text, tr("Copied"))

    @property
    def _question_panel(self) -> QuestionPanel | None:
        panel = self._sheet.panel if self._sheet is not None else None
        return panel if isinstance(panel, QuestionPanel) else None

    def _show_questions(self) -> None:
        """Shows the question that waits longest, unless something else lies over the window, and takes one away that has ended."""
        first, panel = self._questions.first, self._question_panel
        if panel is not None and self._sheet is not None and (first is None or panel.question.id != first.id):
            panel.settle()
            self._sheet.dismiss()
        elif panel is not None:
            panel.set_waiting(self._questions.count_behind)
        elif first is not None and self._sheet is None:
            self._open_question(QuestionPanel(self._theme, first))

    def _open_question(self, panel: QuestionPanel) -> None:
        panel.set_waiting(self._questions.count_behind)
        panel.answered.connect(self._on_answered)
        panel.open_requested.connect(self._on_page_wanted)
        panel.copy_requested.connect(self._on_address_copied)
        sheet = self._open_sheet(panel, closes_outside=False)  # a stray click is no answer
        sheet.closed.connect(panel.on_closed)

    def _on_answered(self, id: str, action: str, content: dict[str, object] | None) -> None:
        self._commands.answer_question(id, action, content)
        self._questions.drop(id)

    def _on_page_wanted(self, url: str) -> None:
        panel = self._question_panel
        if panel is not None:
            if QDesktopServices.openUrl(QUrl(url)):
                panel.accept_url()
            else:
                panel.show_no_browser()

    def _on_address_copied(self, url: str) -> None:
        self.put_on_clipboard(url, tr("The address is copied"))

    def open_sheet(self, panel: SheetFrame) -> Sheet:
        """Opens a sheet over the window; there is none yet."""
        return self._open_sheet(panel)

    def _open_sheet(self, panel: QWidget, *, closes_outside: bool = True) -> Sheet:
        sheet = self._sheet = Sheet(self._theme, self, panel, closes_outside=closes_outside)
        sheet.closed.connect(self._on_sheet_closed)
        sheet.show()
        return sheet

    def _connect(self, wishes: ServerWishes) -> None:
        page, commands = self._page, self._commands
        self._hub.snapshot_changed.connect(self._draw_hub)
        self._hub.problem_reported.connect(self._on_problem_reported)
        self._sidebar.pause_requested.connect(commands.pause)
        self._sidebar.entry_copy_requested.connect(self.entry_copy_requested)
        page.add_requested.connect(self.open_add_server)
        page.entry_copy_requested.connect(self.entry_copy_requested)
        page.notices.resume_requested.connect(partial(commands.pause, False))
        page.notices.report_requested.connect(self._on_report_copied)
        page.notices.retry_requested.connect(self.retry_requested)
        page.notices.secrets_choice_requested.connect(commands.keep_secrets)
        wishes.log_requested.connect(self.open_log)
        wishes.diagnosis_requested.connect(self.open_why)
        commands.page_wanted.connect(self._on_sign_in_page)
        commands.server_failed.connect(page.show_refusal)
        commands.tools_listed.connect(page.show_tools)
        commands.failed.connect(page.notices.add_notice)
        commands.secrets_closed.connect(self._on_secrets_closed)
        commands.copied.connect(self.put_on_clipboard)
        commands.done.connect(self.say)
        commands.server_stopped.connect(self._on_server_stopped)
        commands.server_removed.connect(self._on_server_removed)
        self._questions.changed.connect(self._show_questions)
        QShortcut(QKeySequence(QKeySequence.StandardKey.New), self, self.open_add_server)
        QShortcut(QKeySequence("Ctrl+W"), self, self.close)
        QShortcut(QKeySequence("Ctrl+Q"), self, self.quit_requested.emit)

    def _connect_settings(self) -> None:
        page, settings = self._settings_page, self._settings
        self._sidebar.page_requested.connect(self.open_page)
        for index in (SERVERS, CLIENTS, PROFILES, GRANTS, FILES, SETTINGS):
            QShortcut(QKeySequence(f"Ctrl+{index + 1}"), self, partial(self._on_page_key, index))
        page.look_requested.connect(settings.look)
        page.measure_requested.connect(settings.measure)
        page.auto_detect_requested.connect(settings.set_auto_detect)
        page.registry_add_requested.connect(self._setup.open_add_registry)
        page.registry_clear_requested.connect(settings.clear_registry)
        page.http_requested.connect(settings.set_http)
        page.copy_requested.connect(self.put_on_clipboard)
        page.reset_requested.connect(settings.preview_reset)
        page.export_requested.connect(self._setup.export)
        page.import_requested.connect(self._setup.open_import)
        settings.registry_changed.connect(page.show_registries)
        settings.http_changed.connect(page.show_http)
        settings.failed.connect(page.show_fault)
        settings.done.connect(self.say)

    def _connect_files(self, files: FileCommands) -> None:
        self._files.need_person.connect(partial(self._sidebar.set_badge, FILES))
        self._files.waiting_changed.connect(self._on_entries_waiting)
        self._page.notices.look_requested.connect(self._on_look_requested)
        self._page.notices.put_off_requested.connect(self._files.put_off)
        files.done.connect(self.say)

    def _on_entries_waiting(self, requests: Sequence[TrustRequest]) -> None:
        self._page.notices.set_waiting((waiting_title(requests), waiting_text(requests)) if requests else None)

    def _on_look_requested(self) -> None:
        self._files.open_trust()

    def _draw_hub(self) -> None:
        snapshot = self._hub.snapshot
        is_paused = snapshot is not None and snapshot.is_paused
        can_pause = self._phase is HubPhase.RUNNING and snapshot is not None
        self._sidebar.show_hub(hub_words(self._phase, snapshot), can_pause=can_pause, is_paused=is_paused)
        self._sidebar.set_badge(SERVERS, sum(needs_person(server) for server in snapshot.servers) if snapshot is not None else 0)
        self._page.set_paused(is_paused and can_pause)
        self._page.notices.set_notices(snapshot.notices if snapshot is not None else ())

    def _on_problem_reported(self, report: ProblemReported) -> None:
        if not report.server:  # a server's problem stands on its card
            self._page.notices.add_notice(report.problem)

    def _on_secrets_closed(self, problem: Problem | None) -> None:
        if self._sheet is None or problem is None:
            self._page.notices.set_secrets_problem(problem)

    def _on_server_removed(self, removed: NewServer) -> None:
        toast = show_toast(self._theme, self, removed_words(removed), tr("Undo"))
        self._removed = removed
        toast.action_requested.connect(self._on_undo)
        toast.passed.connect(self._on_undo_passed)

    def _on_undo(self) -> None:
        self._page.await_card(self._removed.name)
        self._commands.bring_back(self._removed)

    def _on_undo_passed(self) -> None:
        if self._removed.removal is not None:
            self._commands.forget_secrets(self._removed.removal)

    def _on_server_stopped(self, name: str) -> None:
        toast = show_toast(self._theme, self, tr("{name} is stopped", name=name), tr("Undo"))
        toast.action_requested.connect(partial(self._commands.start, name))

    def _on_report_copied(self, report: str) -> None:
        self.put_on_clipboard(report, tr("The report is copied"))

    def _on_log_copied(self, text: str) -> None:
        self.put_on_clipboard(text, tr("The log is copied"))

    def _on_sheet_closed(self) -> None:
        self._sheet = None
        QTimer.singleShot(0, self, self._show_waiting)  # unless another sheet takes its place at once

    def _show_waiting(self) -> None:
        """Shows what waited for the place over the window: first what the person has asked for, then what servers ask."""
        self._setup.show_waiting()
        self._show_questions()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._sheet is None:
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
