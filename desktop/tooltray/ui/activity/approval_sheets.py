"""The sheets of one grant and of one decision. Every text of a server or a client is plain text."""

from collections.abc import Callable
from datetime import datetime

from tooltray.foundation.snapshots.approvals import AuditEntry, GrantSnapshot
from tooltray.ui.activity.activity_words import whole_time
from tooltray.ui.activity.decision_words import answer_words, facts, way_words
from tooltray.ui.approval.approval_body import facts_box, granted, granted_to, granted_until
from tooltray.ui.i18n import shipped, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button

WIDTH = 560


class GrantSheet(SheetView):
    """A sheet with what was allowed for a tool, or for all that reads of a server.

    Args:
        revoke: revokes a grant, given by its id.
    """

    def __init__(self, context: PageContext, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, granted(grant), WIDTH)
        self._grant, self._revoke = grant, revoke
        if grant.is_held:
            text = tr("Changed since you allowed it, so it asks again: {tools}", tools=", ".join(grant.held_tools))
            self.body.addWidget(Banner(context.theme, "warning", tr("Blocked until reviewed"), text))
        until = granted_until(grant, datetime.now())
        about = [(tr("For"), granted_to(grant)), (tr("Since"), whole_time(grant.created_at)), (tr("Until"), until)]
        self.body.addWidget(facts_box(context.theme, about))
        remove = Button(context.theme, tr("Revoke"), "danger")
        remove.clicked.connect(self._on_revoke)
        self.buttons.addWidget(remove)
        self.buttons.addStretch(1)
        self.add_button(tr("Close"), self.close_requested.emit)

    def _on_revoke(self) -> None:
        self._revoke(self._grant.id)
        self.close_requested.emit()


class DecisionSheet(SheetView):
    """A sheet with everything that is recorded of a decision."""

    def __init__(self, context: PageContext, entry: AuditEntry) -> None:
        super().__init__(context, shipped(entry.what), WIDTH)
        about = [(tr("Answer"), answer_words(entry)), (tr("When"), whole_time(entry.at)), (tr("By"), way_words(entry)), *facts(entry)]
        self.body.addWidget(facts_box(context.theme, about))
        self.add_button(tr("Close"), self.close_requested.emit)
