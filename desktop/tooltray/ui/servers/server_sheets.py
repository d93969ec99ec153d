"""The sheets that belong to one server: its options, and how AI clients see a tool of it. An open sheet of any kind stays.

Above it: ViewPages. Below it: the sheets, and Commands. A sheet goes with its server.
"""

from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject

from tooltray.errors import Problem
from tooltray.snapshots.servers import ServerSnapshot
from tooltray.snapshots.tools import ServerCost, ToolCosts, ToolSnapshot
from tooltray.ui.clients.client_actions import ViewCommands
from tooltray.ui.pages.page_links import ServerWishes
from tooltray.ui.presenter.qt_server_manager import QtServerManager
from tooltray.ui.servers.server_actions import Commands
from tooltray.ui.servers.server_options import ServerOptionsPanel
from tooltray.ui.servers.tool_words import ToolWordsPanel
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import Sheet
from tooltray.ui.widgets.sheet_frame import SheetFrame


class SheetPlace(Protocol):
    """Where one sheet at a time lies."""

    @property
    def sheet(self) -> Sheet | None: ...

    def open_sheet(self, panel: SheetFrame) -> Sheet:
        """Opens a sheet; there is none yet."""


class ServerSheets(QObject):
    def __init__(
        self,
        theme: Theme,
        parent: QObject,
        *,
        place: SheetPlace,
        servers: QtServerManager,
        wishes: ServerWishes,
        commands: Commands,
        views: ViewCommands,
    ) -> None:
        super().__init__(parent)
        self._theme, self._place, self._servers, self._wishes = theme, place, servers, wishes
        self._commands, self._views = commands, views
        self._costs: ToolCosts | None = None
        wishes.options_requested.connect(self._open_options)
        wishes.tool_requested.connect(self._open_tool)
        views.costs_changed.connect(self._on_costs)

    def _on_costs(self, costs: ToolCosts) -> None:
        self._costs = costs

    def _open_options(self, name: str) -> None:
        server = self._servers.find(name)
        if server is None or self._place.sheet is not None:
            return
        panel, wishes = ServerOptionsPanel(self._theme, server, _cost_of(name, self._costs)), self._wishes
        panel.lazy_requested.connect(partial(wishes.lazy_requested.emit, name))
        panel.deferred_requested.connect(partial(wishes.deferred_requested.emit, name))
        panel.close_requested.connect(self._place.open_sheet(panel).dismiss)
        watch = _Watch(panel, name)
        self._servers.server_changed.connect(watch.on_server_changed)
        self._views.costs_changed.connect(watch.on_costs)
        self._follow(watch, name)

    def _open_tool(self, tool: ToolSnapshot) -> None:
        server = self._servers.find(tool.server)
        if server is None or server.is_builtin or self._place.sheet is not None:
            return
        panel = ToolWordsPanel(self._theme, tool)
        panel.save_requested.connect(partial(self._commands.word_tool, tool.server, tool.original_name))
        panel.close_requested.connect(self._place.open_sheet(panel).dismiss)
        watch = _Watch(panel, tool.server)
        self._commands.tool_worded.connect(watch.on_done)
        self._follow(watch, tool.server)

    def _follow(self, watch: "_Watch", name: str) -> None:
        self._servers.server_removed.connect(watch.on_server_removed)
        self._commands.server_failed.connect(watch.on_failed)
        self._commands.entry_read.connect(watch.on_entry)
        self._commands.read_entry(name)


class _Watch(QObject):
    """Hands news of one server to its sheet; goes with the sheet."""

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
