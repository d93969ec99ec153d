"""The pane of an opened server: its name, its menu and a tab for each side of it. Knows no tab: each is built when it is first shown."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.server_menu import ServerActions
from tooltray.ui.server_pane.server_tabs import ACCESS, OVERVIEW, SERVER_TABS, SETTINGS, ServerTab
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.state_language import server_look
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import column, row
from tooltray.ui.widgets.tab_row import TabRow


class ServerDetails(QFrame):
    """The pane of an opened server. `close_requested`: the user closes it. `wide_requested`: whether it should cover the whole page.

    Args:
        tabs: in their order; the first one is open.
    """

    close_requested = Signal()
    wide_requested = Signal(bool)

    def __init__(self, context: PageContext, server: ServerSnapshot, tabs: Sequence[ServerTab] = SERVER_TABS) -> None:
        super().__init__()
        self.setObjectName("DetailsPane")
        self.setAccessibleName(tr("Details of {name}", name=server.name))
        self._context, self._theme, self._server = context, context.theme, server
        absent = {SETTINGS if server.is_builtin else "", ACCESS if server.access is None else ""}
        self._tabs = tuple(tab for tab in tabs if tab.name not in absent)  # no file has an entry of it
        self._actions = ServerActions(context.theme, self, server=server, wishes=context.wishes)
        self._refusal: Problem | None = None
        self._cost: ServerCost | None = None
        self._tools: Sequence[ToolSnapshot] | None = None
        self._views: dict[str, QWidget] = {}
        self._is_wide = False
        outer = column(self)
        outer.addLayout(self._title())
        self._row = TabRow(context.theme, [tab.title() for tab in self._tabs], name=self.accessibleName())
        self._row.chosen.connect(self._on_chosen)
        below = row(margins=(MARGIN - TEXT_INSET, 0, MARGIN, 10))
        below.addWidget(self._row)
        outer.addLayout(below)
        self._stack = QStackedWidget()
        outer.addWidget(self._stack, 1)
        self._on_chosen(0)

    @property
    def server(self) -> ServerSnapshot:
        return self._server

    @property
    def tab(self) -> str:
        """The name of the open tab."""
        return self._tabs[self._row.current].name

    def view(self, tab: str) -> QWidget | None:
        """Returns the widget of a tab; None if it was not shown yet."""
        return self._views.get(tab)

    def has_tab(self, tab: str) -> bool:
        return any(each.name == tab for each in self._tabs)

    def show_tab(self, tab: str) -> None:
        """Opens a tab; ignores an unknown one."""
        for index, each in enumerate(self._tabs):
            if each.name == tab:
                self._row.choose(index)
                self._on_chosen(index)

    @property
    def unsaved(self) -> str:
        """The user's input that is not saved; may be empty."""
        return next((text for view in self._told() if (text := view.unsaved)), "")

    def restore(self, text: str) -> None:
        """Shows what was `unsaved`, in the open tab."""
        if isinstance(view := self._views.get(self.tab), ServerView):
            view.restore(text)

    def set_gone(self) -> None:
        """Shows that the server was removed; what the user has typed stays."""
        for view in self._told():
            view.set_gone()

    def take_keyboard(self) -> None:
        """Moves the focus to the open tab."""
        self._row.focus_current()

    def set_server(self, server: ServerSnapshot) -> None:
        if server.state is not self._server.state:
            self._refusal = None
        self._server = self._actions.server = server
        self._name.set_text(server.name)
        self._badge.set_look(server_look(server))
        for view in self._told():
            view.set_server(server)

    def set_refusal(self, problem: Problem | None) -> None:
        self._refusal = problem
        for view in self._told():
            view.set_refusal(problem)

    def set_cost(self, cost: ServerCost | None) -> None:
        """Shows what the definitions of the server's tools cost; None: not known."""
        self._cost = cost
        for view in self._told():
            view.set_cost(cost)

    def set_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        self._tools = tools
        for view in self._told():
            view.set_tools(tools)

    def set_wide(self, is_wide: bool, *, can_change: bool = True) -> None:
        """Shows whether it covers the page, and whether the user can change that: a narrow window has only one layout."""
        self._is_wide = is_wide
        self._widen.setVisible(can_change)
        self._widen.set_face("", "narrow" if is_wide else "widen")
        self._widen.set_name(tr("Show beside the list") if is_wide else tr("Use the whole page"))

    def _title(self) -> QHBoxLayout:
        line = row(margins=(MARGIN, 14, 12, 6), spacing=4)
        self._name = ElidedLabel(self._theme, self._server.name, "heading", mode=Qt.TextElideMode.ElideMiddle)
        line.addWidget(self._name, 1)
        self._badge = StateBadge(self._theme, server_look(self._server))  # on every tab: whoever saves wants to see that it runs
        line.addWidget(self._badge)
        line.addSpacing(8)
        self._menu_button = IconButton(self._theme, "more", tr("More for {name}", name=self._server.name), small=True)
        self._menu_button.clicked.connect(lambda: self._actions.open_menu(self._menu_button))
        line.addWidget(self._menu_button)
        self._widen = IconButton(self._theme, "widen", tr("Use the whole page"), small=True)
        self._widen.clicked.connect(lambda: self.wide_requested.emit(not self._is_wide))
        line.addWidget(self._widen)
        close = IconButton(self._theme, "x", tr("Close details"), small=True)
        close.clicked.connect(self.close_requested)
        line.addWidget(close)
        return line

    def _told(self) -> list[ServerView]:
        return [view for view in self._views.values() if isinstance(view, ServerView)]

    def _on_chosen(self, index: int) -> None:
        tab = self._tabs[index]
        if tab.name not in self._views:
            view = self._views[tab.name] = tab.make(self._context, self._server.name)
            self._stack.addWidget(view)
            if isinstance(view, ServerView):
                self._tell(view)
        self._stack.setCurrentWidget(self._views[tab.name])
        self._badge.setVisible(tab.name != OVERVIEW)  # which begins with it

    def _tell(self, view: ServerView) -> None:
        """Passes the current state to a new tab."""
        view.set_server(self._server)
        view.set_cost(self._cost)
        if self._refusal is not None:
            view.set_refusal(self._refusal)
        if self._tools is not None:
            view.set_tools(self._tools)


TEXT_INSET = 11  # of a tab: its word keeps to the pane's margin
