"""The pane of an opened server: its name, its menu and a tab for each side of it, or the form of its entry in place of the tabs.

It knows no tab; each is built when it is first shown."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.server_actions import is_own
from tooltray.ui.server_pane.server_menu import ServerActions
from tooltray.ui.server_pane.server_tabs import ACCESS, FORM, OVERVIEW, SERVER_TABS, SETTINGS
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.state_language import server_look
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import column, row


class ServerDetails(QFrame):
    """The pane of an opened server. `close_requested`: the user closes it. `wide_requested`: whether it should cover the whole page."""

    close_requested = Signal()
    wide_requested = Signal(bool)

    def __init__(self, context: PageContext, server: ServerSnapshot) -> None:
        super().__init__()
        self.setObjectName("DetailsPane")
        self.setAccessibleName(tr("Details of {name}", name=server.name))
        self._context, self._theme, self._server = context, context.theme, server
        self._tabs = tuple(tab for tab in SERVER_TABS if tab.name != ACCESS or server.access is not None)  # no file has an entry of it
        self._actions = ServerActions(context.theme, self, server=server, wishes=context.wishes)
        self._refusal: Problem | None = None
        self._cost: ServerCost | None = None
        self._tools: Sequence[ToolSnapshot] | None = None
        self._views: dict[str, QWidget] = {}
        self._tab = ""
        self._is_wide = self._was_wide = False  # now, and before the form was opened
        outer = column(self)
        outer.addLayout(self._title())
        self._row = FilterTabs(context.theme, [tab.title() for tab in self._tabs], name=self.accessibleName(), have_counts=False)
        self._row.chosen.connect(lambda index: self._open(self._tabs[index].name))
        below = row(margins=(MARGIN - TEXT_INSET, 0, MARGIN, 8))
        below.addWidget(self._row)
        below.addStretch(1)
        outer.addLayout(below)
        self._stack = QStackedWidget()
        outer.addWidget(self._stack, 1)
        self._open(OVERVIEW)

    @property
    def server(self) -> ServerSnapshot:
        return self._server

    @property
    def tab(self) -> str:
        """The name of the open tab; SETTINGS while the form is open."""
        return self._tab

    def view(self, tab: str) -> QWidget | None:
        """Returns the widget of a tab; None if it was not shown yet."""
        return self._views.get(tab)

    def has_tab(self, tab: str) -> bool:
        return any(each.name == tab for each in self._tabs) or (tab == SETTINGS and self._can_edit)

    def show_tab(self, tab: str) -> None:
        """Opens a tab, or the form; ignores an unknown one."""
        if self.has_tab(tab):
            self._open(tab)

    def leave_form(self) -> None:
        """Shows the tabs again; what the user has typed stays in the form."""
        if self._tab == SETTINGS:
            self._open(self._tabs[self._row.current].name)

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
        """Moves the focus to the open tab, or to the way back from the form."""
        if self._tab == SETTINGS:
            self._back.setFocus()
        else:
            self._row.focus_current()

    def set_server(self, server: ServerSnapshot) -> None:
        if server.state is not self._server.state:
            self._refusal = None
        self._server = self._actions.server = server
        self._name.set_text(server.name)
        self._badge.set_look(server_look(server))
        self._draw()
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
        self._draw()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._tab == SETTINGS:
            self._on_back()
        else:
            super().keyPressEvent(event)

    @property
    def _can_edit(self) -> bool:
        return is_own(self._server)  # no file has an entry of the others

    def _title(self) -> QHBoxLayout:
        theme, name = self._theme, self._server.name
        line = row(margins=(MARGIN, 10, 12, 6), spacing=4)
        self._back = Button(theme, tr("Back"), icon="chevron-left", small=True)
        self._back.setToolTip(QKeySequence(Qt.Key.Key_Escape).toString(QKeySequence.SequenceFormat.NativeText))
        self._back.clicked.connect(self._on_back)
        line.addWidget(self._back)
        self._gap = QWidget()
        self._gap.setFixedWidth(8)
        line.addWidget(self._gap)
        self._name = ElidedLabel(theme, name, "heading", mode=Qt.TextElideMode.ElideMiddle)
        line.addWidget(self._name, 1)
        self._badge = StateBadge(theme, server_look(self._server))
        line.addWidget(self._badge)
        line.addSpacing(8)
        self._edit = Button(theme, tr("Edit"), icon="edit", small=True)
        self._edit.setAccessibleName(tr("Edit {name}", name=name))
        self._edit.clicked.connect(self._on_edit)
        line.addWidget(self._edit)
        self._menu_button = IconButton(theme, "more", tr("More for {name}", name=name), small=True)
        self._menu_button.clicked.connect(lambda: self._actions.open_menu(self._menu_button))
        line.addWidget(self._menu_button)
        self._widen = IconButton(theme, "widen", tr("Use the whole page"), small=True)
        self._widen.clicked.connect(lambda: self.wide_requested.emit(not self._is_wide))
        line.addWidget(self._widen)
        close = IconButton(theme, "x", tr("Close details"), small=True)
        close.clicked.connect(self.close_requested)
        line.addWidget(close)
        return line

    def _draw(self) -> None:
        is_form = self._tab == SETTINGS
        for widget in (self._back, self._gap):
            widget.setVisible(is_form)
        self._row.setVisible(not is_form)
        self._edit.setVisible(not is_form and self._can_edit)
        self._edit.setText(tr("Unsaved changes") if self.unsaved else tr("Edit"))
        self._badge.setVisible(self._tab != OVERVIEW and self._is_wide)  # the overview and the list have it, too

    def _told(self) -> list[ServerView]:
        return [view for view in self._views.values() if isinstance(view, ServerView)]

    def _open(self, name: str) -> None:
        was_form, self._tab = self._tab == SETTINGS, name
        if name not in self._views:
            tab = next(each for each in (*self._tabs, FORM) if each.name == name)
            view = self._views[name] = tab.make(self._context, self._server.name)
            self._stack.addWidget(view)
            if isinstance(view, ServerView):
                self._tell(view)
        self._stack.setCurrentWidget(self._views[name])
        if name != SETTINGS:
            self._row.choose(next(index for index, each in enumerate(self._tabs) if each.name == name))
        self._draw()
        if name == SETTINGS and not was_form:
            self._was_wide = self._is_wide
        if was_form != (name == SETTINGS) and not self._was_wide:
            self.wide_requested.emit(name == SETTINGS)

    def _on_edit(self) -> None:
        self._open(SETTINGS)
        self.take_keyboard()

    def _on_back(self) -> None:
        self.leave_form()
        self._edit.setFocus()

    def _tell(self, view: ServerView) -> None:
        """Passes the current state to a new tab."""
        view.set_server(self._server)
        view.set_cost(self._cost)
        if self._refusal is not None:
            view.set_refusal(self._refusal)
        if self._tools is not None:
            view.set_tools(self._tools)


TEXT_INSET = 11  # of a tab: its word keeps to the pane's margin
