"""One server of the table in full, at its right: state, what happened, what to do, and its tools."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from tooltray.errors import Problem
from tooltray.snapshots.servers import ServerSnapshot, ServerState
from tooltray.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import tr
from tooltray.ui.pages.server_wishes import ServerWishes
from tooltray.ui.problem_words import in_a_row, sentences
from tooltray.ui.servers.server_facts import OriginLine, ProjectCopies
from tooltray.ui.servers.server_menu import ServerActions
from tooltray.ui.servers.server_words import Action, button_face, foot, own_action, reached, saved_processes, tool_count
from tooltray.ui.servers.tool_table import ToolTable
from tooltray.ui.state_language import server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.surface import column, row


class ServerDetails(QFrame):
    """`close_requested`: a person is done with it."""

    close_requested = Signal()

    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__()
        self.setObjectName("DetailsPane")
        self._theme, self._server = theme, server
        self._actions = ServerActions(theme, self, server=server, wishes=wishes)
        self._refusal: Problem | None = None
        self._cost: ServerCost | None = None
        outer = column(self)
        outer.addLayout(self._title())
        area = PageScroll(tr("Details of {name}", name=server.name), margin=20)
        content = QWidget()
        body = column(content, margins=(20, 4, 20, 16), spacing=6)
        state = row(spacing=10)
        self._badge = StateBadge(theme, server_look(server))
        state.addWidget(self._badge)
        self._lazy = Chip(theme, tr("Lazy"), "accent")
        self._lazy.setToolTip(tr("Clients see one small tool; using it loads the rest."))
        state.addWidget(self._lazy)
        state.addStretch(1)
        body.addLayout(state)
        self._reached = CodeLabel(theme, "", "secondary")
        body.addWidget(self._reached)
        self._origin = OriginLine(theme, server, wishes)
        self._origin.setVisible(not server.is_builtin)  # what it says of itself says that already
        body.addWidget(self._origin)
        body.addSpacing(6)
        self._headline = Label(theme, "", "strong", wrap=True)
        self._detail = Label(theme, "", "body", "secondary", wrap=True)
        body.addWidget(self._headline)
        body.addWidget(self._detail)
        self._saved = Label(theme, "", "caption", "muted", wrap=True)
        body.addWidget(self._saved)
        body.addSpacing(8)
        self._copies = ProjectCopies(theme)
        self._copies.reset_requested.connect(wishes.projects_reset_requested)
        body.addWidget(self._copies)
        self._count = Label(theme, "", "caption_strong", "muted")
        body.addWidget(self._count)
        self._tools = ToolTable(theme, server.name, compact=True)
        self._tools.tool_switched.connect(self._actions.switch_tool)
        self._tools.tool_chosen.connect(wishes.tool_requested)
        body.addWidget(self._tools)
        body.addStretch(1)
        area.setWidget(content)
        outer.addWidget(area, 1)
        outer.addLayout(self._buttons())
        self._draw()

    @property
    def server(self) -> ServerSnapshot:
        return self._server

    def set_server(self, server: ServerSnapshot) -> None:
        if server.state is not self._server.state:
            self._refusal = None
        self._server = self._actions.server = server
        self._draw()

    def set_refusal(self, problem: Problem | None) -> None:
        self._refusal = problem
        self._draw()

    def set_cost(self, cost: ServerCost | None) -> None:
        """Shows what the definitions of its tools cost; None: that is not known."""
        self._cost = cost
        self._draw()

    def set_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        self._tools.set_tools(tools)

    @property
    def tools(self) -> ToolTable:
        return self._tools

    def _title(self) -> QHBoxLayout:
        line = row(margins=(20, 16, 12, 8))
        name = Label(self._theme, self._server.name, "heading", wrap=True)
        line.addWidget(name, 1)
        self._menu_button = IconButton(self._theme, "more", tr("More for {name}", name=self._server.name), small=True)
        self._menu_button.clicked.connect(self._on_menu)
        line.addWidget(self._menu_button, 0, Qt.AlignmentFlag.AlignTop)
        close = IconButton(self._theme, "x", tr("Close details"), small=True)
        close.clicked.connect(self.close_requested)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _buttons(self) -> QHBoxLayout:
        line = row(margins=(20, 12, 20, 16))
        log = Button(self._theme, tr("Show log"), icon="log")
        log.clicked.connect(self._actions.show_log)
        line.addWidget(log)
        self._why = Button(self._theme, tr("Why?"))
        self._why.setAccessibleName(tr("Why does {name} not run?", name=self._server.name))
        self._why.clicked.connect(self._actions.show_why)
        line.addWidget(self._why)
        line.addStretch(1)
        self._anyway = IconButton(self._theme, "play", tr("Start {name} anyway", name=self._server.name))
        self._anyway.clicked.connect(self._actions.start_anyway)
        line.addWidget(self._anyway)
        self._again = IconButton(self._theme, "external", tr("Open the sign-in page of {name} again", name=self._server.name))
        self._again.clicked.connect(self._actions.sign_in)
        line.addWidget(self._again)
        self._copy = IconButton(self._theme, "copy", tr("Copy the sign-in address of {name}", name=self._server.name))
        self._copy.clicked.connect(self._actions.copy_sign_in_address)
        line.addWidget(self._copy)
        self._button = Button(self._theme, "")
        self._button.clicked.connect(self._on_button)
        line.addWidget(self._button)
        return line

    def _draw(self) -> None:
        server = self._server
        shown = foot(server, self._refusal, datetime.now())
        self._badge.set_look(server_look(server))
        self._reached.set_text(reached(server))
        self._origin.set_server(server)
        self._headline.setText(shown.headline)
        self._headline.setVisible(bool(shown.headline))
        self._headline.set_tone(shown.tone)
        problem = self._refusal or server.problem
        facts = in_a_row(sentences(problem), sentences(Problem("", server.detail))) if problem else ""
        text = facts if problem and shown.tone == "error" else shown.detail
        self._detail.setText(text)
        self._detail.setVisible(bool(text))
        self._saved.setText(saved_processes(server))
        self._saved.setVisible(server.saved_processes > 0)
        self._why.setVisible(shown.has_why)
        for button in (self._again, self._copy):
            button.setVisible(shown.action is Action.CANCEL_SIGN_IN)
        self._lazy.setVisible(server.is_lazy)
        self._copies.set_copies(server.copies)
        cost = self._cost
        count = tool_count(server)
        self._count.setText(f"{count} · {tokens(cost.shown_tokens, cost.tokens)}" if cost is not None and cost.tokens else count)
        self._anyway.setVisible(server.state is ServerState.WAITING and server.is_deferred)
        action = own_action(server)  # what waits of it is looked at from its menu
        self._button.setVisible(action is not Action.NONE and not server.is_builtin)
        text, icon = button_face(action)
        self._button.set_face(text or tr("Stop"), icon if text else "stop")

    def _on_button(self) -> None:
        action = own_action(self._server)
        if action is Action.EXPAND:  # the details are open; what is left to do is to stop it
            self._actions.stop()
        else:
            self._actions.perform(action)

    def _on_menu(self) -> None:
        self._actions.open_menu(self._menu_button)
