"""The pane of an opened server: its name, its menu and a tab for each side of it, or the form of its entry in place of the tabs. A tab is
built when it is first shown."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import SERVER
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.server_actions import is_own
from tooltray.ui.logs.log_view import LogView
from tooltray.ui.server_pane.server_access import ServerAccess
from tooltray.ui.server_pane.server_menu import ServerButtons
from tooltray.ui.server_pane.server_overview import LastCalls, ServerOverview
from tooltray.ui.server_pane.server_settings import ServerSettings
from tooltray.ui.server_pane.server_tools import ServerTools
from tooltray.ui.server_pane.server_view import TAB_INSET, PaneState, ServerView
from tooltray.ui.server_words import foot
from tooltray.ui.state_language import server_look
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import add_gap, column, fill, row
from tooltray.ui.zoom import px

OVERVIEW, TOOLS, ACCESS, LOG, SETTINGS = "overview", "tools", "access", "log", "settings"
TITLES = {OVERVIEW: Phrase("Overview"), TOOLS: Phrase("Tools"), ACCESS: Phrase("Access"), LOG: Phrase("Log")}
"""The tabs. SETTINGS is the form of the server's entry, which is shown in their place."""
LOG_MARGINS = (20, 0, 20, 16)  # as the other tabs have them


class ServerDetails(QFrame):
    """The pane of an opened server. `close_requested`: the user closes it. `wide_requested`: whether it should cover the whole page."""

    close_requested = Signal()
    wide_requested = Signal(bool)

    def __init__(self, context: PageContext, server: ServerSnapshot) -> None:
        super().__init__()
        self.setObjectName("DetailsPane")
        self.setAccessibleName(tr("Details of {name}", name=server.name))
        self._context, self._theme, self._state = context, context.theme, PaneState(server)
        self._tabs = [tab for tab in TITLES if tab != ACCESS or server.access is not None]  # no file has an entry of it
        self._actions = ServerButtons(context.theme, self, server=server, wishes=context.wishes)
        self._views: dict[str, QWidget] = {}
        self.tab = ""
        self._is_wide = self._was_wide = False  # now, and before the form was opened
        self._row = FilterTabs(context.theme, [say(TITLES[tab]) for tab in self._tabs], name=self.accessibleName(), have_counts=False)
        self._row.chosen.connect(lambda index: self._open(self._tabs[index]))
        self._stack = QStackedWidget()
        fill(column(self), self._title(), fill(row(margins=(MARGIN - TAB_INSET, 0, MARGIN, 8)), self._row, 1), (self._stack, 1))
        self._open(OVERVIEW)

    @property
    def server(self) -> ServerSnapshot:
        return self._state.server

    def view(self, tab: str) -> QWidget | None:
        """Returns the widget of a tab; None if it was not shown yet."""
        return self._views.get(tab)

    def has_tab(self, tab: str) -> bool:
        return tab in self._tabs or (tab == SETTINGS and self._can_edit)

    def show_tab(self, tab: str) -> None:
        """Opens a tab, or the form; ignores an unknown one."""
        if self.has_tab(tab):
            self._open(tab)

    def leave_form(self) -> None:
        """Shows the tabs again; what the user has typed stays in the form."""
        if self.tab == SETTINGS:
            self._open(self._tabs[self._row.current])

    @property
    def _form(self) -> ServerSettings | None:
        form = self._views.get(SETTINGS)
        return form if isinstance(form, ServerSettings) else None

    @property
    def unsaved(self) -> str:
        """The user's input that is not saved; may be empty."""
        return self._form.unsaved if self._form is not None else ""

    def restore(self, text: str) -> None:
        """Shows what was `unsaved`, in the form if it is open."""
        if self._form is not None and self.tab == SETTINGS:
            self._form.restore(text)

    def set_gone(self) -> None:
        """Shows that the server was removed; what the user has typed stays."""
        if self._form is not None:
            self._form.set_gone()

    def take_keyboard(self) -> None:
        """Moves the focus to the open tab, or to the way back from the form."""
        if self.tab == SETTINGS:
            self._back.setFocus()
        else:
            self._row.focus_current()

    def set_server(self, server: ServerSnapshot) -> None:
        refusal = self._state.refusal if server.state is self.server.state else None
        self._actions.server = server
        self._name.set_text(server.name)
        self._badge.set_look(server_look(server), foot(server, refusal, datetime.now()).explanation)
        self._show(replace(self._state, server=server, refusal=refusal))
        self._draw()

    def set_refusal(self, problem: Problem | None) -> None:
        self._show(replace(self._state, refusal=problem))

    def set_cost(self, cost: ServerCost | None) -> None:
        """Shows what the definitions of the server's tools cost; None: not known."""
        self._show(replace(self._state, cost=cost))

    def set_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        self._show(replace(self._state, tools=tools))

    def _show(self, state: PaneState) -> None:
        self._state = state
        for view in self._views.values():
            if isinstance(view, ServerView):
                view.show_state(state)

    def set_wide(self, is_wide: bool, *, can_change: bool = True) -> None:
        """Shows whether it covers the page, and whether the user can change that: a narrow window has only one layout."""
        self._is_wide = is_wide
        self._widen.setVisible(can_change)
        self._widen.set_face("", "narrow" if is_wide else "widen")
        self._widen.set_name(tr("Show beside the list") if is_wide else tr("Use the whole page"))
        self._draw()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.tab == SETTINGS:
            self._on_back()
        else:
            super().keyPressEvent(event)

    @property
    def _can_edit(self) -> bool:
        return is_own(self.server)  # no file has an entry of the others

    def _title(self) -> QHBoxLayout:
        theme, name = self._theme, self.server.name
        line = row(margins=(MARGIN, 10, 12, 6), spacing=4)
        self._back = Button(theme, tr("Back"), icon="chevron-left", small=True, on_click=self._on_back)
        self._back.setToolTip(QKeySequence(Qt.Key.Key_Escape).toString(QKeySequence.SequenceFormat.NativeText))
        self._gap = QWidget()
        self._gap.setFixedWidth(px(8))
        self._name = ElidedLabel(theme, name, "heading", mode=Qt.TextElideMode.ElideMiddle)
        self._badge = StateBadge(theme, server_look(self.server))
        fill(line, self._back, self._gap, (self._name, 1), self._badge)
        add_gap(line, 8)
        self._edit = Button(theme, tr("Edit"), icon="edit", small=True, on_click=self._on_edit)
        self._edit.setAccessibleName(tr("Edit {name}", name=name))
        self._menu_button = IconButton(theme, "more", tr("More for {name}", name=name), small=True)
        self._menu_button.clicked.connect(lambda: self._actions.open_menu(self._menu_button))
        self._widen = IconButton(theme, "widen", tr("Use the whole page"), small=True)
        self._widen.clicked.connect(lambda: self.wide_requested.emit(not self._is_wide))
        close = IconButton(theme, "x", tr("Close details"), small=True, on_click=self.close_requested.emit)
        fill(line, self._edit, self._menu_button, self._widen, close)
        return line

    def _draw(self) -> None:
        is_form = self.tab == SETTINGS
        for widget in (self._back, self._gap):
            widget.setVisible(is_form)
        self._row.setVisible(not is_form)
        self._edit.setVisible(not is_form and self._can_edit)
        self._edit.setText(tr("Unsaved changes") if self.unsaved else tr("Edit"))
        self._badge.setVisible(self.tab != OVERVIEW and self._is_wide)  # the overview and the list have it, too

    def _open(self, name: str) -> None:
        was_form, self.tab = self.tab == SETTINGS, name
        if name not in self._views:
            view = self._views[name] = self._made(name)
            self._stack.addWidget(view)
            if isinstance(view, ServerView):
                view.show_state(self._state)
        self._stack.setCurrentWidget(self._views[name])
        if name != SETTINGS:
            self._row.choose(self._tabs.index(name))
        self._draw()
        if name == SETTINGS and not was_form:
            self._was_wide = self._is_wide
        if was_form != (name == SETTINGS) and not self._was_wide:
            self.wide_requested.emit(name == SETTINGS)

    def _made(self, tab: str) -> QWidget:
        context, name = self._context, self.server.name
        match tab:
            case "overview":
                return ServerOverview(context.theme, self.server, context.wishes, LastCalls(context, name))
            case "tools":
                return ServerTools(context, name)
            case "access":
                return ServerAccess(context, name)
            case "settings":
                return ServerSettings(context, name)
        log = LogView(context, f"{SERVER}{name}")
        log.setContentsMargins(*(px(each) for each in LOG_MARGINS))
        return log

    def _on_edit(self) -> None:
        self._open(SETTINGS)
        self.take_keyboard()

    def _on_back(self) -> None:
        self.leave_form()
        self._edit.setFocus()
