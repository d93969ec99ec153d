"""The sheet of one rule on arguments that the user has made: what it covers, and which recent calls it covers or does not. Draws frozen
snapshots; every text of a server or a model is plain text."""

from datetime import datetime

from PySide6.QtCore import Signal

from tooltray.foundation.snapshots.approvals import GrantSnapshot, JudgedCall, RulePreview
from tooltray.ui.approval.approval_body import details, granted_to
from tooltray.ui.approval.rule_sentences import calls, cautions, covered, of_late
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

WIDTH = 600
TIME_WIDTH = 92  # px


class RulePanel(SheetFrame):
    """A sheet with a rule on arguments. `take_back_requested` carries the grant's id; the owner calls `show_preview` with the calls that
    the rule covers.
    """

    take_back_requested = Signal(str)

    def __init__(self, theme: Theme, grant: GrantSnapshot) -> None:
        super().__init__(theme, tr("A rule on calls of {server}", server=grant.server), WIDTH)
        self._theme, self.grant = theme, grant
        self.body.addWidget(Label(theme, covered(grant.words), "body", wrap=True))
        until = details(grant, datetime.now())
        self.body.addWidget(Label(theme, tr("For: {client}", client=granted_to(grant)) + "\n" + until, "caption", "muted", wrap=True))
        self._past = Label(theme, tr("Reading…"), "strong", wrap=True)
        self.body.addWidget(self._past)
        self._lists = column(spacing=10)
        self.body.addLayout(self._lists)
        remove = Button(theme, tr("Revoke it"), "danger")
        remove.clicked.connect(self._on_remove)
        self.buttons.addWidget(remove)
        self.buttons.addStretch(1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.close_requested)
        self.buttons.addWidget(close)

    def show_preview(self, id: str, preview: RulePreview) -> None:
        """Shows which recent calls the rule would have covered; `id`: of the grant of this request."""
        if id != self.grant.id:
            return
        clear(self._lists)
        self._past.setText(of_late(preview))
        if said := cautions(preview):
            self._lists.addWidget(Banner(self._theme, "warning", tr("Careful"), said))
        for title, is_covered in ((tr("Covered"), True), (tr("Not covered"), False)):
            if some := calls(preview, is_covered=is_covered):
                self._lists.addWidget(Label(self._theme, title, "label"))
                self._lists.addWidget(self._box(some))

    def _box(self, some: list[JudgedCall]) -> Surface:
        box = Surface(self._theme, "surface", "border", "m")
        layout = column(box, margins=(14, 2, 14, 2))
        for index, call in enumerate(some):
            if index:
                layout.addWidget(divider())
            line = row(margins=(0, 7, 0, 7), spacing=10)
            when = Label(self._theme, moment(call.at, datetime.now()), "caption", "muted", tabular=True)
            when.setFixedWidth(TIME_WIDTH)
            line.addWidget(when)
            line.addWidget(CodeLabel(self._theme, call.line), 1)
            layout.addLayout(line)
        return box

    def _on_remove(self) -> None:
        self.take_back_requested.emit(self.grant.id)
        self.close_requested.emit()
