"""The sheets of the Servers page: adding a server, its log, why it does not run, its options, how AI clients see one of its tools, and its
sign-in. An open sheet of any kind stays, unless a log is requested."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import HUB, SERVER
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts, ToolSnapshot
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.link.qt_mcp_client import QtMcpClient
from tooltray.ui.logs.log_sheet import LogSheet
from tooltray.ui.server_pane.tool_table import ToolWordsPanel
from tooltray.ui.servers.duplicate_panel import DuplicatePanel
from tooltray.ui.servers.secret_sheet import SecretSheet
from tooltray.ui.servers.server_commands import ServerCommands
from tooltray.ui.servers.server_options import ServerOptionsPanel
from tooltray.ui.servers.why_panel import WhyPanel
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 560


class SignInAddressPanel(SheetFrame):
    """A sheet with the address of a sign-in. `copy_requested` carries the address."""

    copy_requested = Signal(str)

    def __init__(self, theme: Theme, server: str, url: str) -> None:
        super().__init__(theme, tr("Sign in to {name}", name=server), WIDTH)
        self._server, self._url = server, url
        text = tr("Open this address in a browser on this computer. Tooltray waits for you to sign in there.")
        self.body.addWidget(Banner(theme, "warning", tr("No browser could be opened"), text))
        field = QLineEdit(url)
        field.setReadOnly(True)
        field.setFont(theme.font("mono"))
        field.setFixedHeight(theme.size("control"))
        field.setCursorPosition(0)
        field.setAccessibleName(tr("Address at which you sign in to {name}", name=server))
        self.body.addWidget(field)
        self.buttons.addStretch(1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.close_requested)
        self.buttons.addWidget(close)
        self._copy = Button(theme, tr("Copy address"), "primary", "copy")
        self._copy.clicked.connect(self._on_copy)
        self.buttons.addWidget(self._copy)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._copy.setFocus(Qt.FocusReason.OtherFocusReason)

    def on_sign_in_over(self, server: str) -> None:
        """Closes the sheet when the sign-in has ended, since its address no longer works."""
        if server == self._server:
            self.close_requested.emit()

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._url)


class ServerSheets(QObject):
    """The sheets of the page."""

    def __init__(self, context: PageContext, parent: QObject, *, commands: ServerCommands) -> None:
        super().__init__(parent)
        self._context, self._commands = context, commands
        self._theme, self._place = context.theme, context.sheets
        self._costs: ToolCosts | None = None
        self._projects: Sequence[str] = ()
        wishes = context.wishes
        wishes.options_requested.connect(self.open_options)
        wishes.secret_requested.connect(self.open_secret)
        wishes.tool_requested.connect(self._open_tool)
        wishes.log_requested.connect(self.open_log)
        wishes.diagnosis_requested.connect(self.open_why)
        commands.costs_changed.connect(self._on_costs)
        commands.page_wanted.connect(self._on_sign_in_page)
        context.links.projects_changed.connect(self._on_projects)

    def _on_costs(self, costs: ToolCosts) -> None:
        self._costs = costs

    def _on_projects(self, projects: Sequence[str]) -> None:
        self._projects = projects

    def open_add(self, text: str = "") -> bool:
        """Opens the sheet that adds a server, with an initial text; returns False if another sheet is open."""
        if self._place.sheet is not None:
            return False
        self._place.show(AddServerSheet(self._context, self._commands.open_secrets, text, self._projects))
        return True

    def open_duplicate(self, name: str) -> None:
        """Opens the sheet that names a server's copy."""
        if self._place.sheet is not None or (server := self._context.servers.find(name)) is None:
            return
        panel = DuplicatePanel(self._theme, server, [each.name for each in self._context.servers.servers])
        panel.duplicate_requested.connect(partial(self._commands.duplicate, name))
        self._commands.refused.connect(panel.show_problem)
        sheet = self._place.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        self._commands.duplicated.connect(sheet.dismiss)

    def open_log(self, name: str, at: float = 0.0) -> None:
        """Opens the log of a server, in place of an open sheet.

        Args:
            at: the time of the wanted lines, in unix seconds; 0: the newest lines.
        """
        panel = self._open_log(f"{SERVER}{name}")
        if at:
            panel.log.show_time(at)

    def _open_log_of_failure(self, name: str) -> None:
        server = self._context.servers.find(name)
        self.open_log(name, server.since if server is not None and server.state is ServerState.ERROR else 0.0)

    def open_hub_log(self) -> None:
        """Opens Tooltray's own log."""
        self._open_log(HUB)

    def _open_log(self, source: str) -> LogSheet:
        self._context.show_window()
        panel = LogSheet(self._context, source)
        panel.close_requested.connect(self._place.replace(panel).dismiss)
        return panel

    def open_why(self, name: str) -> None:
        """Opens the diagnosis of a server that does not run, and its remedies."""
        if self._place.sheet is not None:
            return
        panel = WhyPanel(self._theme, self._client(name), self._context.tasks)
        panel.copy_requested.connect(self._on_remedy_copied)
        panel.log_requested.connect(self._open_log_of_failure)
        panel.sign_in_requested.connect(self._commands.sign_in)
        panel.edit_requested.connect(self._on_edit)
        panel.secret_requested.connect(self._on_secret)
        panel.close_requested.connect(self._place.open(panel).dismiss)

    def open_secret(self, server: str, secret: str) -> None:
        """Opens a field for a secret that a server lacks; once it is stored the engine starts the server again."""
        if not secret or self._place.sheet is not None:
            return
        panel = SecretSheet(self._context, server, secret)
        panel.close_requested.connect(self._place.open(panel).dismiss)

    def _on_edit(self, name: str) -> None:
        self._context.wishes.open_requested.emit(name, "settings")

    def _on_secret(self, server: str, secret: str) -> None:
        self._context.wishes.secret_requested.emit(server, secret)

    def open_options(self, name: str) -> None:
        """Opens the options: when a server starts, and how its tools are listed."""
        server = self._context.servers.find(name)
        if server is None or self._place.sheet is not None:
            return
        panel, wishes = ServerOptionsPanel(self._theme, server, _cost_of(name, self._costs)), self._context.wishes
        panel.lazy_requested.connect(partial(wishes.lazy_requested.emit, name))
        panel.deferred_requested.connect(partial(wishes.deferred_requested.emit, name))
        panel.close_requested.connect(self._place.open(panel).dismiss)
        watch = _Watch(panel, name)
        self._context.servers.server_changed.connect(watch.on_server_changed)
        self._commands.costs_changed.connect(watch.on_costs)
        self._follow(watch, name)

    def _open_tool(self, tool: ToolSnapshot) -> None:
        server = self._context.servers.find(tool.server)
        if server is None or server.is_builtin or self._place.sheet is not None:
            return
        panel = ToolWordsPanel(self._theme, tool)
        panel.save_requested.connect(partial(self._commands.word_tool, tool.server, tool.original_name))
        panel.close_requested.connect(self._place.open(panel).dismiss)
        watch = _Watch(panel, tool.server)
        self._commands.tool_worded.connect(watch.on_done)
        self._follow(watch, tool.server)

    def _follow(self, watch: "_Watch", name: str) -> None:
        self._context.servers.server_removed.connect(watch.on_server_removed)
        self._commands.server_failed.connect(watch.on_failed)
        self._commands.entry_read.connect(watch.on_entry)
        self._commands.read_entry(name)

    def _on_sign_in_page(self, name: str, url: str) -> None:
        if not QDesktopServices.openUrl(QUrl(url)):
            self._commands.tell_no_browser(name)
            self._context.show_window()  # the wish may come from the tray
            self._open_sign_in_address(name, url)

    def _open_sign_in_address(self, name: str, url: str) -> None:
        """Shows the address of a sign-in; while another sheet is open, only the card's button offers it."""
        if self._place.sheet is not None:
            return
        panel = SignInAddressPanel(self._theme, name, url)
        panel.copy_requested.connect(self._on_address_copied)
        panel.close_requested.connect(self._place.open(panel).dismiss)
        self._commands.sign_in_over.connect(panel.on_sign_in_over)

    def _client(self, name: str) -> QtMcpClient:
        return QtMcpClient(self._context.hub, self._context.servers, name)

    def _on_remedy_copied(self, text: str) -> None:
        self._context.copy(text, tr("Copied"))

    def _on_address_copied(self, url: str) -> None:
        self._context.copy(url, tr("The address is copied"))


class _Watch(QObject):
    """A link from one server's events to its sheet, which owns it."""

    def __init__(self, panel: ServerOptionsPanel | ToolWordsPanel, server: str) -> None:
        super().__init__(panel)
        self._panel, self._name = panel, server

    def on_server_changed(self, server: ServerSnapshot) -> None:
        if server.name == self._name and isinstance(self._panel, ServerOptionsPanel):
            self._panel.set_server(server)

    def on_server_removed(self, name: str) -> None:
        if name == self._name:
            self._panel.close_requested.emit()

    on_done = on_server_removed

    def on_failed(self, name: str, problem: Problem | None) -> None:
        if name == self._name:
            self._panel.show_problem(problem)

    def on_entry(self, name: str, entry: dict[str, object]) -> None:
        if name == self._name:
            self._panel.set_entry(entry)

    def on_costs(self, costs: ToolCosts) -> None:
        if isinstance(self._panel, ServerOptionsPanel):
            self._panel.set_cost(_cost_of(self._name, costs))


def _cost_of(server: str, costs: ToolCosts | None) -> ServerCost | None:
    return next((each for each in costs.servers if each.server == server), None) if costs is not None else None
