"""The sheet of one tool: whether it runs without asking and why, a choice, its grants, and the last answers to its calls. Draws frozen
snapshots."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import ActivityRow
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.ui.approval.approval_body import granted, granted_to, granted_until
from tooltray.ui.approval.permission_words import ToolRow, answer_word, choices, comes_to, why
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

WIDTH = 600
TIME_WIDTH = 92  # px


class ToolPanel(SheetFrame):
    """A sheet about one tool. `chosen` carries the user's choice; `activity_requested`: show all its calls."""

    chosen = Signal(str)
    take_back_requested = Signal(str)  # a grant's id
    activity_requested = Signal()

    def __init__(self, theme: Theme, of: ToolRow) -> None:
        super().__init__(theme, tr("{tool} of {server}", tool=of.tool.tool, server=of.server), WIDTH)
        self.of = of
        head = row(spacing=10)
        self._state = Chip(theme)
        head.addWidget(self._state)
        self._why = Label(theme, "", "body", "secondary", wrap=True)
        head.addWidget(self._why, 1)
        self.body.addLayout(head)
        self._options = OptionList(theme, choices(), name=tr("What it does"), chosen=[of.tool.choice], may_be_empty=False)
        self._options.changed.connect(self._on_changed)
        self._options.setVisible(of.is_changeable)
        self.body.addWidget(self._options)
        self._grants = column(spacing=8)
        self.body.addLayout(self._grants)
        self.body.addWidget(Label(theme, tr("Last answers"), "strong"))
        self._answers = column()
        box = Surface(theme, "surface", "border", "m")
        column(box, margins=(14, 2, 14, 2)).addLayout(self._answers)
        self.body.addWidget(box)
        self._answers.addWidget(self._line("", tr("Reading…")))
        activity = Button(theme, tr("Show its calls"), "link", small=True)
        activity.clicked.connect(self.activity_requested)
        self.buttons.addWidget(activity)
        self.buttons.addStretch(1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.close_requested)
        self.buttons.addWidget(close)
        self.show_tool(of)

    def show_tool(self, of: ToolRow) -> None:
        """Shows a newer snapshot."""
        self.of = of
        word, tone = comes_to(of, datetime.now())
        self._state.set_word(word, tone or "success")
        self._why.setText(why(of))
        self._options.set_chosen([of.tool.choice])
        clear(self._grants)
        if of.grants:
            self._grants.addWidget(self._grant_box(of.grants))

    def show_answers(self, answers: Sequence[ActivityRow]) -> None:
        """Shows the last answers to calls of the tool."""
        clear(self._answers)
        for index, each in enumerate(answers):
            if index:
                self._answers.addWidget(divider())
            entry = each.entry
            text = " · ".join(filter(None, (answer_word(entry), entry.client, entry.touched)))
            self._answers.addWidget(self._line(moment(entry.at, datetime.now()), text))
        if not answers:
            self._answers.addWidget(self._line("", tr("No recorded approvals or refusals.")))

    def show_no_answers(self, problem: Problem) -> None:
        """Shows that the answers could not be read, so that the list does not look empty."""
        clear(self._answers)
        self._answers.addWidget(self._line("", tr("Not known: {reason}", reason=problem.title)))

    def _grant_box(self, grants: Sequence[GrantSnapshot]) -> QWidget:
        box = Surface(self._theme, "surface", "border", "m")
        lines = column(box, margins=(14, 2, 14, 2))
        for index, grant in enumerate(grants):
            if index:
                lines.addWidget(divider())
            line = row(margins=(0, 6, 0, 6))
            until = tr("Until: {when}", when=granted_until(grant, datetime.now()))
            words = f"{granted(grant)} · {granted_to(grant)} · {until}"
            line.addWidget(ElidedLabel(self._theme, words), 1)
            back = Button(self._theme, tr("Revoke"), small=True)
            back.setAccessibleName(f"{tr('Revoke')}, {words}")
            back.clicked.connect(partial(self.take_back_requested.emit, grant.id))
            line.addWidget(back)
            lines.addLayout(line)
        return box

    def _line(self, when: str, text: str) -> QWidget:
        widget = QWidget()
        line = row(widget, margins=(0, 6, 0, 6))
        if when:
            label = Label(self._theme, when, "caption", "muted", tabular=True)
            label.setFixedWidth(TIME_WIDTH)
            line.addWidget(label)
        line.addWidget(ElidedLabel(self._theme, text, "caption", "secondary" if when else "muted"), 1)
        return widget

    def _on_changed(self) -> None:
        if (chosen := self._options.chosen[0]) != self.of.tool.choice:
            self.chosen.emit(chosen)
