"""The overview of an opened server: its state, why it is so and what to do about it, what it costs and may do, and its last calls."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow
from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerSnapshot, ServerState
from tooltray.ui import server_words
from tooltray.ui.activity.activity_words import at, ended, outcome_look, subject, took, touched
from tooltray.ui.confinement_words import access_words
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.destinations import CallsWhere, OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.kit.view import View
from tooltray.ui.origins import origin
from tooltray.ui.problem_words import in_a_row, sentences, whole
from tooltray.ui.server_pane.server_menu import ServerButtons
from tooltray.ui.server_pane.server_tools import cost_words
from tooltray.ui.server_pane.server_view import PaneState, ServerView
from tooltray.ui.server_words import Action
from tooltray.ui.state_language import look, server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.setting_rows import Fold, add_lines
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import add_gap, clear, column, fill, row
from tooltray.ui.zoom import px

MOST = 5
LAST = 3  # the column of durations
EVERY_MS = 1000  # a busy server does not redraw them more often
TONES = {"error": "error", "warning": "warning"}  # of an outcome; others are not noteworthy


class LastCalls(QWidget, View):
    """The last calls of a server, and a link to all of them; it reads nothing while it is hidden."""

    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__()
        self.context, self._theme, self._server = context, context.theme, server
        self._rows: Sequence[ActivityRow] | None = None
        go_all = partial(context.go, CallsWhere(ActivityFilter(servers=(server,))))
        self._all = Button(self._theme, tr("All calls"), "link", small=True, on_click=go_all)
        self._all.setAccessibleName(tr("All calls of {name}", name=server))
        head = fill(row(), (Label(self._theme, tr("Last calls"), "caption_strong", "muted"), 1), self._all)
        self._note = Label(self._theme, "", "caption", "muted")
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(px(12))
        self._grid.setVerticalSpacing(px(4))
        self._grid.setColumnStretch(2, 1)
        fill(column(self, spacing=4), head, self._note, self._grid)
        self.refresh = self.reading(self._read)
        self._soon = QTimer(self, singleShot=True, interval=EVERY_MS)
        self._soon.timeout.connect(self._refresh_if_visible)
        context.hub.on_any((ActivityWritten,), self._on_written, self)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows that the calls cannot be read; the Activity page shows why."""
        if problem is not None:
            self._show(())
            self._rows = None
            self._note.setText(tr("Not known: the journal could not be read."))

    async def _read(self) -> None:
        of_server = ActivityFilter(kinds=("call",), servers=(self._server,))
        self._show(await self.hub.activity.get_activity(of_server, 0, MOST, True))

    def _show(self, rows: Sequence[ActivityRow]) -> None:
        if rows == self._rows:
            return
        self._rows = rows
        clear(self._grid)
        for place, each in enumerate(rows):
            self._add(place, each)
        self._note.setText(tr("No calls yet"))
        self._note.setVisible(not rows)
        self._all.setVisible(bool(rows))

    def _add(self, place: int, shown: ActivityRow) -> None:
        entry, look = shown.entry, outcome_look(shown.entry)
        name = subject(entry) if shown.count < 2 else tr("{name}, {count} times", name=subject(entry), count=f"{shown.count:,}")
        end = look.word if entry.outcome != "ok" else took(entry.duration_s) if entry.duration_s else ""
        labels = (
            Label(self._theme, at(ended(entry), datetime.now()), "caption", "muted", tabular=True),
            ElidedLabel(self._theme, name, "caption", hugs=True),
            ElidedLabel(self._theme, touched(entry), "caption", "muted", mode=Qt.TextElideMode.ElideLeft),
            Label(self._theme, end, "caption", TONES.get(look.tone, "muted"), tabular=True),
        )
        for column_, label in enumerate(labels):
            self._grid.addWidget(label, place, column_, Qt.AlignmentFlag.AlignRight if column_ == LAST else Qt.AlignmentFlag(0))

    def _on_written(self) -> None:
        if self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()


FACT_COLUMN, ORIGIN_HEIGHT = 140, 28  # px
BETWEEN_PARTS = 14
TICK_MS = 1000


class ServerOverview(ServerView):
    """The overview of a server; `calls` is shown below what it costs."""

    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes, calls: QWidget | None = None) -> None:
        super().__init__()
        self._theme, self._state = theme, PaneState(server)
        self._actions = ServerButtons(theme, self, server=server, wishes=wishes)
        self._clock = QTimer(self, interval=TICK_MS)  # while it is said when the server is tried again
        self._clock.timeout.connect(self._draw)
        area, content = PageScroll(tr("Overview of {name}", name=server.name), margin=MARGIN), QWidget()
        body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=6)
        self._badge = StateBadge(theme, server_look(server))
        self._lazy = Chip(theme, tr("Compact tool listing"), "accent")
        self._lazy.setToolTip(tr("Clients see one small tool; using it loads the rest."))
        self._label = Chip(theme)
        self._headline = Label(theme, "", "strong", wrap=True)
        self._detail = Label(theme, "", "body", "secondary", wrap=True)
        fill(body, fill(row(spacing=10), self._badge, self._lazy, self._label, 1), self._headline, self._detail, self._buttons())
        add_gap(body, BETWEEN_PARTS - 6)
        self._copies = ProjectCopies(theme, wishes)
        self._count = Label(theme, "", "caption_strong", "muted")
        fill(body, self._copies, self._count, self._access_line(wishes))
        add_gap(body, BETWEEN_PARTS)
        if calls is not None:
            body.addWidget(calls)
            add_gap(body, BETWEEN_PARTS)
        fold = Fold(theme, tr("Details"))
        self._reached = CodeLabel(theme, "", "secondary")
        self._saved = Label(theme, "", "caption", "muted", wrap=True)
        self._facts = column(spacing=8)
        fill(fold.body, self._reached, self._origin_line(wishes), self._saved, self._facts)
        self._told: list[tuple[str, str]] = []
        fill(body, fold, 1)
        area.setWidget(content)
        column(self).addWidget(area)
        self._draw()

    def show_state(self, state: PaneState) -> None:
        self._state, self._actions.server = state, state.server
        self._draw()

    def _access_line(self, wishes: ServerWishes) -> QWidget:
        """Returns what the server may do, with the way to where that is chosen."""
        name, self._access = self._state.server.name, QWidget()
        self._may = Label(self._theme, "", "body", wrap=True)
        change = Button(self._theme, tr("Change…"), "link", small=True)
        change.clicked.connect(lambda: wishes.place_requested.emit(OpenServer(name, "access")))
        change.setAccessibleName(tr("Change what {name} may do", name=name))
        fill(row(self._access, spacing=8), (self._may, 1), change)
        return self._access

    def _origin_line(self, wishes: ServerWishes) -> QWidget:
        """Returns the file of the server's entry, with buttons if it is another file than the settings."""
        theme, server, widget = self._theme, self._state.server, QWidget()
        widget.setFixedHeight(px(ORIGIN_HEIGHT))
        if server.is_builtin:  # what it says of itself says that already
            widget.hide()
        self._origin = ElidedLabel(theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        actions = self._actions  # not self: a slot that holds its own view keeps it
        file, folder = tr("Open the file of {name}", name=server.name), tr("Open the folder of the file of {name}", name=server.name)
        self._file_buttons = (
            IconButton(theme, "external", file, small=True, on_click=lambda: wishes.file_requested.emit(actions.server.file)),
            IconButton(theme, "folder", folder, small=True, on_click=lambda: wishes.file_place_requested.emit(actions.server.file)),
        )
        fill(row(widget, spacing=2), (self._origin, 1), *self._file_buttons)
        return widget

    def _buttons(self) -> QWidget:
        theme, name, ask = self._theme, self._state.server.name, self._actions.request
        again, copy = tr("Open the sign-in page of {name} again", name=name), tr("Copy the sign-in address of {name}", name=name)
        self._button = Button(theme, "", on_click=self._on_button)
        self._why = Button(theme, tr("Why?"), on_click=partial(ask, "diagnosis"))
        self._why.setAccessibleName(tr("Why does {name} not run?", name=name))
        self._anyway = IconButton(theme, "play", tr("Start {name} anyway", name=name), on_click=partial(ask, "start_anyway"))
        self._again = IconButton(theme, "external", again, on_click=partial(ask, "sign_in"))
        self._copy = IconButton(theme, "copy", copy, on_click=partial(ask, "sign_in_address"))
        self._button_row = QWidget()
        fill(row(self._button_row, margins=(0, 6, 0, 0)), self._button, self._why, self._anyway, self._again, self._copy, 1)
        return self._button_row

    def _draw(self) -> None:
        server, refusal = self._state.server, self._state.refusal
        shown = server_words.foot(server, refusal, datetime.now())
        self._badge.set_look(server_look(server), shown.explanation)
        self._reached.set_text(server_words.reached(server))
        self._origin.set_text(origin(server), server.file)
        for button in self._file_buttons:
            button.setVisible(bool(server.file))
        self._may.setText(access_words(server))
        self._access.setVisible(server.access is not None)
        self._headline.setText(shown.headline)
        self._headline.setVisible(bool(shown.headline))
        self._headline.set_tone(shown.tone)
        problem = server_words.without_command(found) if (found := refusal or server.problem) else None
        if bool(server.retry_at) is not self._clock.isActive():
            self._clock.start() if server.retry_at else self._clock.stop()
        said = in_a_row(sentences(problem), sentences(Problem("", server_words.next_try(server, datetime.now())))) if problem else ""
        text = said if problem and shown.tone == "error" else shown.detail
        self._detail.setText(text)
        self._detail.setVisible(bool(text))
        self._saved.setText(server_words.saved_processes(server))
        self._saved.setVisible(server.saved_processes > 0)
        self._why.setVisible(shown.has_why)
        for button in (self._again, self._copy):
            button.setVisible(shown.action is Action.CANCEL_SIGN_IN)
        self._lazy.setVisible(server.is_lazy)
        self._label.set_word(server_words.shown_label(server), server_words.label_tone(server))
        self._label.setVisible(bool(server_words.shown_label(server)))
        if server_words.facts(server) != self._told:
            self._told = server_words.facts(server)
            self._draw_facts()
        self._copies.set_copies(server.copies)
        self._count.setText(cost_words(server, self._state.cost))
        self._anyway.setVisible(server.state is ServerState.WAITING and server.is_deferred)
        action = server_words.own_action(server)  # what waits of it is looked at from its menu
        self._button.setVisible(action is not Action.NONE and not server.is_builtin)
        text, icon = server_words.button_face(action)
        self._button.set_face(text or tr("Stop"), icon if text else "stop")
        self._button_row.setVisible(any(not each.isHidden() for each in (self._button, self._why, self._anyway, self._again)))

    def _draw_facts(self) -> None:
        clear(self._facts)
        for title, value in self._told:
            fact, name = QWidget(), ElidedLabel(self._theme, title, "caption", "muted", hugs=True)
            name.setFixedWidth(px(FACT_COLUMN))
            fill(row(fact, spacing=12), name, (Label(self._theme, value, "caption", wrap=True), 1)).setAlignment(
                name, Qt.AlignmentFlag.AlignTop
            )
            self._facts.addWidget(fact)

    def _on_button(self) -> None:
        action = server_words.own_action(self._state.server)
        if action is Action.EXPAND:  # the details are open; what is left to do is to stop it
            self._actions.request("stop")
        else:
            self._actions.perform(action)


class ProjectCopies(QWidget):
    """The copies of a server, one for each project, and a button that stops every copy of all such servers."""

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__()
        self._theme = theme
        self._copies: Sequence[ProjectCopySnapshot] | None = None
        reset = Button(theme, tr("Reset projects"), "link", small=True, on_click=wishes.projects_reset_requested.emit)
        reset.setToolTip(tr("Stops every server that runs for a project; they wait again"))
        self._lines = column()
        fill(column(self, spacing=4), fill(row(), (Label(theme, tr("Runs for"), "caption_strong", "muted"), 1), reset), self._lines)

    def set_copies(self, copies: Sequence[ProjectCopySnapshot]) -> None:
        if copies == self._copies:
            return
        self._copies = copies
        clear(self._lines)
        add_lines(self._lines, map(self._line, copies))
        self.setVisible(bool(copies))

    def _line(self, copy: ProjectCopySnapshot) -> QWidget:
        widget = QWidget()
        widget.setAccessibleName(f"{copy.name}, {look(copy.state).word}")
        name = ElidedLabel(self._theme, copy.name, "label", mode=Qt.TextElideMode.ElideMiddle)
        path = ElidedLabel(self._theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        path.set_text(copy.path, copy.target)
        clients = many(copy.session_count, "1 AI client", "{count} AI clients") if copy.session_count else tr("No AI client")
        head = fill(row(), Icon(self._theme, "folder", 16, "text.secondary"), (name, 1), StateBadge(self._theme, look(copy.state)))
        below = fill(row(margins=(24, 0, 0, 0)), (path, 1), Label(self._theme, clients, "caption", "muted", tabular=True))
        lines = fill(column(widget, margins=(0, 6, 0, 6), spacing=2), head, below)
        if copy.problem is not None:
            fault = Label(self._theme, whole(copy.problem), "caption", "error", wrap=True)
            fault.setContentsMargins(px(24), 0, 0, 0)
            lines.addWidget(fault)
        return widget
