"""One entry of the journal in full: who did what and when, where its time went, its arguments and its result. Draws one frozen snapshot,
and names what is not known."""

import json
from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QWidget

from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.activity import OF_SERVERS, ActivityDetails, ActivityEntry
from tooltray.ui.activity.activity_words import (
    allowed_by,
    client_of,
    ended,
    outcome_look,
    reason,
    stages,
    subject,
    took,
    whole_time,
)
from tooltray.ui.activity.recording import KeepContents, was_shown
from tooltray.ui.client_names import PERSON
from tooltray.ui.figures import number
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenServer, ServerLog, TryTool
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.server_text import broken, one_line, seen
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.charts import Stage, Waterfall
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.code_view import CodeView, DiffView
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label, breakable
from tooltray.ui.widgets.split_view import MARGIN, PANE, DetailsPane
from tooltray.ui.widgets.surface import Surface, add_gap, row
from tooltray.ui.zoom import px

FACT_WIDTH = 84  # px of the names
MOST_LINES = 12  # of arguments in sight at once
RESULT_HEIGHT = 260  # px
LONGEST = 200_000  # characters of arguments that are laid out
LONGEST_TITLE = 80  # characters; the whole name stands below it
LONGEST_NAME, LONGEST_REASON, LONGEST_TARGET = 300, 2_000, 4_096  # characters
SEEN_S = 1.0  # between beginning and end: less is not seen in times without fractions
CHANGE_WIDTH = PANE - 2 * MARGIN  # px


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
        super().__init__(context.theme, one_line(subject(entry), LONGEST_TITLE))
        self._context, self.shown, self._entry, self._show_only = context, details, entry, show_only
        self._recorded_until = recorded_until
        self._add_head()
        self._add_facts()
        if said := reason(entry):
            self.add_section(tr("Why"), self._reason(said))
        if entry.kind == "call":
            self.add_section(tr("Where the time went"), self._waterfall())
            self._add_contents()
        self._add_actions()
        self.body.addStretch(1)

    def _add_head(self) -> None:
        look = outcome_look(self._entry)
        line = row(spacing=10)
        if look.icon:
            line.addWidget(StateBadge(self._theme, look))
        else:
            line.addWidget(Label(self._theme, look.word, "caption_strong", "secondary"))
        line.addStretch(1)
        self.body.addLayout(line)
        add_gap(self.body, 6)

    def _add_facts(self) -> None:
        entry = self._entry
        if is_long := ended(entry) - entry.at >= SEEN_S:
            self._fact(tr("Began"), Label(self._theme, whole_time(entry.at), tabular=True))
        self._fact(tr("Ended") if is_long else tr("Time"), Label(self._theme, whole_time(ended(entry)), tabular=True))
        if entry.touched and entry.kind not in OF_SERVERS:
            self._fact(tr("Target"), CodeLabel(self._theme, one_line(entry.touched, LONGEST_TARGET)), "text", entry.touched)
        if entry.client:
            self._fact(tr("Client"), self._name(client_of(entry)), "clients", entry.client)
        if entry.server:
            self._fact(tr("Server"), self._name(entry.server), "servers", entry.server)
        if entry.tool:
            self._fact(tr("Tool"), self._name(entry.tool), "tools", entry.tool)
        if entry.client and entry.client != PERSON:
            project = self._name(entry.project or tr("Not known"))
            self._fact(tr("Project"), project, "projects", entry.project)
        if entry.session and entry.client != PERSON:
            self._fact(tr("Session"), self._name(entry.session), "sessions", entry.session)
        if entry.kind == "call" and self.shown.allowed_by:
            self._fact(tr("Allowed by"), Label(self._theme, allowed_by(self.shown), wrap=True))
        if self.shown.trace_id:
            self._add_trace(self.shown.trace_id)
        if entry.duration_s:
            self._fact(tr("Duration"), Label(self._theme, took(entry.duration_s), tabular=True))
        if entry.kind == "call":
            self._fact(tr("Sizes"), Label(self._theme, sizes(entry), wrap=True, tabular=True))

    def _add_trace(self, id: str) -> None:
        """Adds the trace ID, which finds the call in a tracing system, with a button that copies it."""
        copy = IconButton(self._theme, "copy", tr("Copy the trace ID"), small=True)
        copy.clicked.connect(partial(self._on_copy, id, tr("The trace ID is copied")))
        self._fact(tr("Trace"), self._name(id), button=copy)

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
            only = IconButton(self._theme, "search", tr("Only {name}", name=one_line(wanted, LONGEST_NAME)), small=True)
            only.clicked.connect(lambda: self._show_only(field, wanted))
            line.addWidget(only)
        if button is not None:
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(line)

    def _name(self, text: str) -> ElidedLabel:
        label = ElidedLabel(self._theme, "", "body", mode=Qt.TextElideMode.ElideMiddle)
        label.set_text(one_line(text, LONGEST_NAME))
        return label

    def _reason(self, said: str) -> QWidget:
        look = outcome_look(self._entry)
        box = Surface(self._theme, f"{look.tone}.subtle", None, "m")
        line = row(box, margins=(12, 8, 6, 8), spacing=6)
        words = Label(self._theme, breakable(said[:LONGEST_REASON]), "body", "primary", wrap=True)
        words.setAccessibleName(said)
        line.addWidget(words, 1)
        copy = IconButton(self._theme, "copy", tr("Copy the reason"), small=True)
        copy.clicked.connect(partial(self._on_copy, said, tr("The reason is copied")))
        line.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        return box

    def _waterfall(self) -> QWidget:
        found = stages(self.shown)
        longest = max((seconds for _, seconds in found if seconds is not None), default=0.0)
        shown = [
            Stage(name, seconds, _spent(seconds), seconds == longest and seconds is not None and seconds > 0) for name, seconds in found
        ]
        return Waterfall(self._theme, tr("Where the time went"), shown)

    def _add_contents(self) -> None:
        details = self.shown
        if details.diff:
            name = tr("The change that you were shown") if was_shown(details) else tr("The change to the file")
            self.add_section(name, DiffView(self._theme, details.diff, name, width=px(CHANGE_WIDTH)))
        if not (details.arguments or details.result):
            self.add_section(tr("Arguments and result"), KeepContents(self._context, details, self._recorded_until))
            return
        if details.is_cut:
            add_gap(self.body, 8)
            text = tr("It was longer than what is kept of a call; the rest is not there any more.")
            self.body.addWidget(Label(self._theme, text, "caption", "warning", wrap=True))
        if details.arguments:
            code = CodeView(self._theme, broken(seen(_indented(details.arguments))[:LONGEST]), tr("Arguments"), json=True)
            code.set_lines(min(MOST_LINES, code.document().blockCount()))
            self.add_section(tr("Arguments"), code)
        if details.result:
            self.add_section(tr("Result"), self._result(details.result))

    def _result(self, text: str) -> QWidget:
        result = _read(text)
        if result is None:
            code = CodeView(self._theme, broken(seen(text)[:LONGEST]), tr("Result"))
            code.set_lines(MOST_LINES)
            return code
        view = ResultView(self._theme)
        view.setMinimumSize(1, px(RESULT_HEIGHT))  # its buttons may be wider than the pane
        view.show_result(result)
        return view

    def _add_actions(self) -> None:
        entry = self._entry
        add_gap(self.body, 14)
        lines = [row(spacing=8), row(spacing=8)]
        if entry.kind == "call" and entry.published:
            words, icon = (tr("Repeat…"), "refresh") if self._arguments() else (tr("Try this tool"), "tools")
            repeat = Button(self._theme, words, icon=icon)
            repeat.clicked.connect(self._on_repeat)
            lines[0].addWidget(repeat)
        if entry.server:
            log = Button(self._theme, tr("Show log"), icon="log")
            log.clicked.connect(self._on_log)
            lines[0].addWidget(log)
        if command := self._command():
            copy = Button(self._theme, tr("Copy as a command"), icon="copy")
            copy.setToolTip(tr("The line that makes the same call from a terminal"))
            copy.clicked.connect(partial(self._on_copy, command, tr("The command is copied")))
            lines[1].addWidget(copy)
        if entry.kind in OF_SERVERS:
            server = Button(self._theme, tr("Open the server"), icon="server")
            server.clicked.connect(self._on_server)
            lines[1].addWidget(server)
        for line in lines:
            line.addStretch(1)
            self.body.addLayout(line)

    def _arguments(self) -> str:
        """Returns the arguments of the call if they were recorded in full, else an empty text."""
        return self.shown.arguments if not self.shown.is_cut and _read(self.shown.arguments) is not None else ""

    def _command(self) -> str:
        arguments = self._arguments()
        if not arguments or not self._entry.published:
            return ""
        return joined(["tooltray", "tools", "call", self._entry.published, arguments])

    def _on_repeat(self) -> None:
        self._context.go(TryTool(self._entry.published, self._arguments()))

    def _on_log(self) -> None:
        self._context.go(ServerLog(self._entry.server))

    def _on_server(self) -> None:
        self._context.go(OpenServer(self._entry.server))

    def _on_copy(self, text: str, what: str, *_: object) -> None:
        self._context.copy(text, what)


def sizes(entry: ActivityEntry) -> str:
    """Returns the sizes of a call's request and response."""
    sent, came = (_size(count) for count in (entry.argument_bytes, entry.result_bytes))
    return tr("{sent} sent, {came} back, about {tokens} tokens", sent=sent, came=came, tokens=number(entry.tokens))


def _size(count: int) -> str:
    if count < 1_000:
        return tr("{count} bytes", count=count)
    return QLocale().formattedDataSize(count, 1, QLocale.DataSizeFormat.DataSizeSIFormat)


def _spent(seconds: float | None) -> str:
    return took(seconds) if seconds is not None else tr("not measured")


def _read(text: str) -> Mapping[str, object] | None:
    """Returns the JSON object in a text; None if it is something else, or truncated."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _indented(text: str) -> str:
    found = _read(text)
    return json.dumps(found, indent=2, ensure_ascii=False) if found is not None else text
