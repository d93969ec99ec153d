"""One entry of the journal in full: who did what and when, where its time went, its arguments and its result, or why these were not
recorded. Draws one frozen snapshot, and names what is not known."""

import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.activity import OF_SERVERS, ActivityDetails, ActivityEntry
from tooltray.ui.activity import activity_words as said
from tooltray.ui.client_names import PERSON
from tooltray.ui.figures import number
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Destination, OpenServer, ServerLog, TryTool
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.origins import server_name
from tooltray.ui.problem_words import whole
from tooltray.ui.results.result_parts import as_json
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.server_text import broken, one_line, seen
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.charts import Stage, Waterfall
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.code_view import CodeView, DiffView
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label, breakable
from tooltray.ui.widgets.split_view import MARGIN, PANE, DetailsPane
from tooltray.ui.widgets.surface import Surface, add_gap, column, fill, row
from tooltray.ui.zoom import px

FACT_WIDTH = 84  # px of the names
MOST_LINES = 12  # of arguments in sight at once
RESULT_HEIGHT = 260  # px
LONGEST = 200_000  # characters of arguments that are laid out
LONGEST_TITLE = 80  # characters; the whole name stands below it
LONGEST_NAME, LONGEST_REASON, LONGEST_TARGET = 300, 2_000, 4_096  # characters
SEEN_S = 1.0  # between beginning and end: less is not seen in times without fractions
CHANGE_WIDTH = PANE - 2 * MARGIN  # px
RECORDED_S = 3600.0  # an hour: time to repeat a call and a few others
OF_USER = ("person", "edited")
"""Values of `allowed_by` of calls that the user was asked about."""


class EntryDetails(DetailsPane):
    """The details of an entry.

    Args:
        show_only: lists only the entries with this value of a field of ActivityFilter.
        recorded_until: until when whole arguments and results are recorded, see `recorded_until`.
    """

    def __init__(
        self, context: PageContext, details: ActivityDetails, show_only: Callable[[str, str], None], recorded_until: float
    ) -> None:
        entry = details.entry
        super().__init__(context.theme, one_line(said.subject(entry), LONGEST_TITLE))
        self._context, self.shown, self._entry, self._show_only = context, details, entry, show_only
        self._recorded_until = recorded_until
        self._add_head()
        self._add_facts()
        if why := said.reason(entry):
            self.add_section(tr("Why"), self._reason(why))
        if entry.kind == "call":
            self.add_section(tr("Where the time went"), self._waterfall())
            self._add_contents()
        self._add_actions()
        self.body.addStretch(1)

    def _add_head(self) -> None:
        look, theme = said.outcome_look(self._entry), self._theme
        badge = StateBadge(theme, look) if look.icon else Label(theme, look.word, "caption_strong", "secondary")
        self.body.addLayout(fill(row(spacing=10), badge, 1))
        add_gap(self.body, 6)

    def _add_facts(self) -> None:
        entry = self._entry
        if is_long := said.ended(entry) - entry.at >= SEEN_S:
            self._fact(tr("Began"), Label(self._theme, said.whole_time(entry.at), tabular=True))
        self._fact(tr("Ended") if is_long else tr("Time"), Label(self._theme, said.whole_time(said.ended(entry)), tabular=True))
        if entry.touched and entry.kind not in OF_SERVERS:
            self._fact(tr("Target"), CodeLabel(self._theme, one_line(entry.touched, LONGEST_TARGET)), "text", entry.touched)
        if entry.client:
            self._fact(tr("Client"), self._name(said.client_words(entry.client)), "clients", entry.client)
        if entry.server:
            self._fact(tr("Server"), self._name(server_name(entry.server)), "servers", entry.server)
        if entry.tool:
            self._fact(tr("Tool"), self._name(entry.tool), "tools", entry.tool)
        if entry.client and entry.client != PERSON:
            project = self._name(entry.project or tr("Not known"))
            self._fact(tr("Project"), project, "projects", entry.project)
        if entry.session and entry.client != PERSON:
            self._fact(tr("Session"), self._name(entry.session), "sessions", entry.session)
        if entry.kind == "call" and self.shown.allowed_by:
            self._fact(tr("Allowed by"), Label(self._theme, said.allowed_by(self.shown), wrap=True))
        if trace := self.shown.trace_id:  # finds the call in a tracing system
            copy = self._copy_button(tr("Copy the trace ID"), trace, tr("The trace ID is copied"))
            self._fact(tr("Trace"), self._name(trace), button=copy)
        if entry.duration_s:
            self._fact(tr("Duration"), Label(self._theme, said.took(entry.duration_s), tabular=True))
        if entry.kind == "call":
            self._fact(tr("Sizes"), Label(self._theme, sizes(entry), wrap=True, tabular=True))

    def _copy_button(self, name: str, text: str, toast: str) -> IconButton:
        return IconButton(self._theme, "copy", name, small=True, on_click=lambda: self._context.copy(text, toast))

    def _fact(self, name: str, value: QWidget, field: str = "", wanted: str = "", *, button: QWidget | None = None) -> None:
        """Adds a line to the facts; with a field, a button filters the list by this value.

        Args:
            button: a widget for the end of the line.
        """
        line = row(spacing=8)
        label = Label(self._theme, name, "caption", "muted")
        label.setFixedWidth(px(FACT_WIDTH))
        label.setMinimumHeight(self._theme.line("body"))
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter if field else Qt.AlignmentFlag.AlignTop)
        line.addWidget(value, 1)
        if field and wanted:
            only = tr("Only {name}", name=one_line(wanted, LONGEST_NAME))
            line.addWidget(IconButton(self._theme, "search", only, small=True, on_click=lambda: self._show_only(field, wanted)))
        if button is not None:
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(line)

    def _name(self, text: str) -> ElidedLabel:
        return ElidedLabel(self._theme, one_line(text, LONGEST_NAME), "body", mode=Qt.TextElideMode.ElideMiddle)

    def _reason(self, text: str) -> QWidget:
        look = said.outcome_look(self._entry)
        box = Surface(self._theme, f"{look.tone}.subtle", None, "m")
        words = Label(self._theme, breakable(text[:LONGEST_REASON]), "body", "primary", wrap=True)
        words.setAccessibleName(text)
        copy = self._copy_button(tr("Copy the reason"), text, tr("The reason is copied"))
        fill(row(box, margins=(12, 8, 6, 8), spacing=6), (words, 1)).addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        return box

    def _waterfall(self) -> QWidget:
        found = said.stages(self.shown)
        longest = max((seconds for _, seconds in found if seconds is not None), default=0.0)
        words = [said.took(seconds) if seconds is not None else tr("not measured") for _, seconds in found]
        shown = [Stage(name, seconds, text, seconds == longest > 0) for (name, seconds), text in zip(found, words, strict=True)]
        return Waterfall(self._theme, tr("Where the time went"), shown)

    def _add_contents(self) -> None:
        details = self.shown
        if details.diff:
            name = tr("What you were shown") if was_shown(details) else tr("The change to the file")
            self.add_section(name, DiffView(self._theme, details.diff, name, width=px(CHANGE_WIDTH)))
        if not (details.arguments or details.result):
            self.add_section(tr("Arguments and result"), KeepContents(self._context, details, self._recorded_until))
            return
        if details.is_cut:
            add_gap(self.body, 8)
            text = tr("It was longer than what is kept of a call; the rest is not there any more.")
            self.body.addWidget(Label(self._theme, text, "caption", "warning", wrap=True))
        if details.arguments:
            found = _read(details.arguments)
            text = as_json(found) if found is not None else details.arguments
            code = CodeView(self._theme, broken(seen(text)[:LONGEST]), tr("Arguments"), json=True)
            code.set_lines(min(MOST_LINES, code.document().blockCount()))
            self.add_section(tr("Arguments"), code)
        if details.result:
            self.add_section(tr("Result"), self._result(details.result))

    def _result(self, text: str) -> QWidget:
        result = _read(text)
        if result is None:
            return CodeView(self._theme, broken(seen(text)[:LONGEST]), tr("Result"), lines=MOST_LINES)
        view = ResultView(self._theme)
        view.setMinimumSize(1, px(RESULT_HEIGHT))  # its buttons may be wider than the pane
        view.show_result(result)
        return view

    def _add_actions(self) -> None:
        entry = self._entry
        add_gap(self.body, 14)
        arguments = self.shown.arguments if not self.shown.is_cut and _read(self.shown.arguments) is not None else ""
        first, second = row(spacing=8), row(spacing=8)
        if entry.kind == "call" and entry.published:
            words, icon = (tr("Repeat…"), "refresh") if arguments else (tr("Try this tool"), "tools")
            first.addWidget(self._link(words, icon, TryTool(entry.published, arguments)))
        if entry.server:
            first.addWidget(self._link(tr("Show log"), "log", ServerLog(entry.server)))
        if arguments and entry.published:
            command, toast = joined(["tooltray", "tools", "call", entry.published, arguments]), tr("The command is copied")
            copy = Button(self._theme, tr("Copy as a command"), icon="copy", on_click=lambda: self._context.copy(command, toast))
            copy.setToolTip(tr("The line that makes the same call from a terminal"))
            second.addWidget(copy)
        if entry.kind in OF_SERVERS:
            second.addWidget(self._link(tr("Open the server"), "server", OpenServer(entry.server)))
        fill(self.body, fill(first, 1), fill(second, 1))

    def _link(self, text: str, icon: str, to: Destination) -> Button:
        return Button(self._theme, text, icon=icon, on_click=lambda: self._context.go(to))


def sizes(entry: ActivityEntry) -> str:
    """Returns the sizes of a call's request and response."""
    sent, came = (_size(count) for count in (entry.argument_bytes, entry.result_bytes))
    return tr("{sent} sent, {came} back, about {tokens} tokens", sent=sent, came=came, tokens=number(entry.tokens))


def _size(count: int) -> str:
    if count < 1_000:
        return tr("{count} bytes", count=count)
    return QLocale().formattedDataSize(count, 1, QLocale.DataSizeFormat.DataSizeSIFormat)


def _read(text: str) -> Mapping[str, object] | None:
    """Returns the JSON object in a text; None if it is something else, or truncated."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class KeepContents(QWidget, View):
    """The reason why an entry has no arguments and no result, and the button that records these for later calls for a while.

    Args:
        recorded_until: see the function of this name; while calls are recorded, the button is hidden.
    """

    def __init__(self, context: PageContext, details: ActivityDetails, recorded_until: float) -> None:
        super().__init__()
        self.context = context
        self._words = Label(context.theme, _missing(details, is_on=bool(recorded_until)), "body", "secondary", wrap=True)
        self._keep = Button(context.theme, tr("Record for 1 hour"), small=True, on_click=self._on_keep)
        self._keep.setToolTip(tr("Known secrets are left out. Calls that were made before stay as they are."))
        fill(column(self, spacing=8), self._words, fill(row(), self._keep, 1))
        self._keep.setVisible(not recorded_until)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why contents cannot be recorded; None: they are recorded now."""
        if problem is None:
            self._words.setText(tr("The next hour is being recorded. Repeat the call to see them."))
            self._keep.hide()
            return
        self._words.setText(whole(problem))

    def _on_keep(self) -> None:
        until = time.time() + RECORDED_S
        toast = tr("Arguments and results are recorded until {time}", time=f"{datetime.fromtimestamp(until):%H:%M}")
        changes = {"activity": {"contents": True, "contentsUntil": round(until)}}
        self.run(self.hub.settings.change_settings(changes), toast=toast, button=self._keep)


def was_shown(details: ActivityDetails) -> bool:
    """Returns whether the user was asked about a call, and saw then what it would change."""
    return details.allowed_by in OF_USER or (details.entry.outcome == "refused" and details.times.person_s is not None)


def _missing(details: ActivityDetails, *, is_on: bool) -> str:
    """Returns why an entry has no arguments and no result."""
    if details.entry.has_contents:
        return tr("They were kept, and were removed after some days.")
    if is_on:
        return tr("Not recorded. This call was made before recording began.")
    if details.diff:
        if was_shown(details):
            return tr("Not recorded, but for what you were shown, which is kept until Tooltray ends.")
        return tr("Not recorded, but for the change to the file, which is kept until Tooltray ends.")
    if was_shown(details):
        return tr("Not recorded, nor is what you were shown any more. Tooltray saves only one line for each call.")
    return tr("Not recorded. Tooltray saves only one line for each call.")
