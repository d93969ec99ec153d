"""The sheet of one rule on arguments that the user has made: what it covers, and which recent calls it covers or does not. Every text of a
server or a model is plain text."""

from collections.abc import Callable
from datetime import datetime

from PySide6.QtWidgets import QHBoxLayout

from tooltray.foundation.snapshots.approvals import GrantSnapshot, JudgedCall, RulePreview
from tooltray.ui.approval.approval_body import details, granted_to, lines_box
from tooltray.ui.approval.rule_sentences import calls, cautions, covered, of_late
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import clear, column, row

WIDTH = 600
TIME_WIDTH = 92  # px


class RuleSheet(SheetView):
    """A sheet with a rule on arguments.

    Args:
        revoke: revokes a grant, given by its id.
    """

    def __init__(self, context: PageContext, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, tr("A rule on calls of {server}", server=grant.server), WIDTH)
        theme, self._grant, self._revoke = context.theme, grant, revoke
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
        self.add_button(tr("Close"), self.close_requested.emit)

    async def read(self) -> None:
        """Reads which recent calls the rule would have covered, and shows them."""
        self._show_preview(await self.hub.approvals.preview_rule(self._grant.server, dict(self._grant.rule)))

    def _show_preview(self, preview: RulePreview) -> None:
        clear(self._lists)
        self._past.setText(of_late(preview))
        if text := cautions(preview):
            self._lists.addWidget(Banner(self._theme, "warning", tr("Careful"), text))
        for title, is_covered in ((tr("Covered"), True), (tr("Not covered"), False)):
            if some := calls(preview, is_covered=is_covered):
                self._lists.addWidget(Label(self._theme, title, "label"))
                self._lists.addWidget(lines_box(self._theme, map(self._line, some)))

    def _line(self, call: JudgedCall) -> QHBoxLayout:
        line = row(margins=(0, 7, 0, 7), spacing=10)
        when = Label(self._theme, moment(call.at, datetime.now()), "caption", "muted", tabular=True)
        when.setFixedWidth(TIME_WIDTH)
        line.addWidget(when)
        line.addWidget(CodeLabel(self._theme, call.line), 1)
        return line

    def _on_remove(self) -> None:
        self._revoke(self._grant.id)
        self.close_requested.emit()
