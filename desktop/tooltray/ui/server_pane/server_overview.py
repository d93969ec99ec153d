"""The overview of an opened server: its state, what happened, what to do next, and what it costs."""

from datetime import datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.problem_words import in_a_row, sentences
from tooltray.ui.server_pane.access_line import AccessLine
from tooltray.ui.server_pane.server_facts import OriginLine, ProjectCopies
from tooltray.ui.server_pane.server_menu import ServerActions
from tooltray.ui.server_pane.server_tools import cost_words
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.server_words import Action, button_face, facts, foot, label_tone, own_action, reached, saved_processes, shown_label
from tooltray.ui.state_language import server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import clear, column, row

FACT_COLUMN = 140  # px


class ServerOverview(ServerView):
    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__()
        self._theme, self._server = theme, server
        self._actions = ServerActions(theme, self, server=server, wishes=wishes)
        self._refusal: Problem | None = None
        self._cost: ServerCost | None = None
        outer = column(self)
        area = PageScroll(tr("Overview of {name}", name=server.name), margin=MARGIN)
        content = QWidget()
        body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=6)
        state = row(spacing=10)
        self._badge = StateBadge(theme, server_look(server))
        state.addWidget(self._badge)
        self._lazy = Chip(theme, tr("Lazy"), "accent")
        self._lazy.setToolTip(tr("Clients see one small tool; using it loads the rest."))
        state.addWidget(self._lazy)
        self._label = Chip(theme)
        state.addWidget(self._label)
        state.addStretch(1)
        body.addLayout(state)
        self._reached = CodeLabel(theme, "", "secondary")
        body.addWidget(self._reached)
        self._origin = OriginLine(theme, server, wishes)
        if server.is_builtin:
            self._origin.hide()  # what it says of itself says that already
        body.addWidget(self._origin)
        self._access = AccessLine(theme, server, wishes)
        body.addWidget(self._access)
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
        body.addSpacing(10)
        self._facts = column(spacing=8)
        body.addLayout(self._facts)
        self._told: list[tuple[str, str]] = []
        body.addStretch(1)
        area.setWidget(content)
        outer.addWidget(area, 1)
        outer.addLayout(self._buttons())
        self._draw()

    def set_server(self, server: ServerSnapshot) -> None:
        if server.state is not self._server.state:
            self._refusal = None
        self._server = self._actions.server = server
        self._draw()

    def set_refusal(self, problem: Problem | None) -> None:
        self._refusal = problem
        self._draw()

    def set_cost(self, cost: ServerCost | None) -> None:
        self._cost = cost
        self._draw()

    def _buttons(self) -> QHBoxLayout:
        theme, name, actions = self._theme, self._server.name, self._actions
        self._log = Button(theme, tr("Show log"), icon="log")
        self._why = Button(theme, tr("Why?"))
        self._why.setAccessibleName(tr("Why does {name} not run?", name=name))
        self._edit = Button(theme, tr("Edit"), icon="edit")
        self._edit.setAccessibleName(tr("Edit {name}", name=name))
        self._anyway = IconButton(theme, "play", tr("Start {name} anyway", name=name))
        self._again = IconButton(theme, "external", tr("Open the sign-in page of {name} again", name=name))
        self._copy = IconButton(theme, "copy", tr("Copy the sign-in address of {name}", name=name))
        self._button = Button(theme, "")
        line = row(margins=(MARGIN, 12, MARGIN, 16))
        for button, slot in (
            (self._log, actions.show_log),
            (self._why, actions.show_why),
            (self._edit, actions.edit),
            (self._anyway, actions.start_anyway),
            (self._again, actions.sign_in),
            (self._copy, actions.copy_sign_in_address),
            (self._button, self._on_button),
        ):
            button.clicked.connect(slot)
            line.addWidget(button)
        line.insertStretch(3, 1)  # behind Edit
        return line

    def _draw(self) -> None:
        server = self._server
        shown = foot(server, self._refusal, datetime.now())
        self._badge.set_look(server_look(server))
        self._reached.set_text(reached(server))
        self._origin.set_server(server)
        self._access.set_server(server)
        self._headline.setText(shown.headline)
        self._headline.setVisible(bool(shown.headline))
        self._headline.set_tone(shown.tone)
        problem = self._refusal or server.problem
        said = in_a_row(sentences(problem), sentences(Problem("", server.detail))) if problem else ""
        text = said if problem and shown.tone == "error" else shown.detail
        self._detail.setText(text)
        self._detail.setVisible(bool(text))
        self._saved.setText(saved_processes(server))
        self._saved.setVisible(server.saved_processes > 0)
        self._why.setVisible(shown.has_why)
        self._log.setVisible(not shown.has_why)  # there is no room for four buttons; the log is in what Why? opens, and a tab
        self._edit.setVisible(shown.has_why and not server.is_builtin and server.origin != "served")
        for button in (self._again, self._copy):
            button.setVisible(shown.action is Action.CANCEL_SIGN_IN)
        self._lazy.setVisible(server.is_lazy)
        self._label.set_word(shown_label(server), label_tone(server))
        self._label.setVisible(bool(shown_label(server)))
        if facts(server) != self._told:
            self._told = facts(server)
            self._draw_facts()
        self._copies.set_copies(server.copies)
        self._count.setText(cost_words(server, self._cost))
        self._anyway.setVisible(server.state is ServerState.WAITING and server.is_deferred)
        action = own_action(server)  # what waits of it is looked at from its menu
        self._button.setVisible(action is not Action.NONE and not server.is_builtin)
        text, icon = button_face(action)
        self._button.set_face(text or tr("Stop"), icon if text else "stop")

    def _draw_facts(self) -> None:
        clear(self._facts)
        for title, value in self._told:
            fact = QWidget()
            line = row(fact, spacing=12)
            name = ElidedLabel(self._theme, title, "caption", "muted", hugs=True)
            name.setFixedWidth(FACT_COLUMN)
            line.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(Label(self._theme, value, "caption", wrap=True), 1)
            self._facts.addWidget(fact)

    def _on_button(self) -> None:
        action = own_action(self._server)
        if action is Action.EXPAND:  # the details are open; what is left to do is to stop it
            self._actions.stop()
        else:
            self._actions.perform(action)


def overview(context: PageContext, name: str) -> QWidget:
    """Returns the overview of a server; an empty widget if it was just removed."""
    server = context.servers.find(name)
    return ServerOverview(context.theme, server, context.wishes) if server is not None else QWidget()
