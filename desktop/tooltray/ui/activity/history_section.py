"""The history of decisions: who allowed, declined or revoked what, when and where, and whether that record is complete."""

from datetime import datetime

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.ui.activity.approval_sheets import DecisionSheet
from tooltray.ui.activity.decision_words import about_words, answer_words, way_words
from tooltray.ui.figures import moment
from tooltray.ui.i18n import shipped, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import TableSection
from tooltray.ui.problem_words import title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import clear, column
from tooltray.ui.widgets.table import Table

SHOWN = 200  # of the newest; `tooltray audit` lists more, and an export all
BY, ROOM_FOR_WAYS = 4, 820  # a column, and the px of the section below which it is in the details only


class HistorySection(TableSection):
    """The section with the decisions.

    Attributes:
        table: the decisions, the newest first.
    """

    def __init__(self, context: PageContext) -> None:
        theme = context.theme
        table = Table(theme, _columns(), tr("History"), lambda each: each.number, in_card=True, has_header=True)
        text = tr("Everything you allowed or declined, and where. Also: tooltray audit, and exports of the activity.")
        super().__init__(context, tr("History"), text, table, nothing=tr("No decisions yet."), narrow=(BY, ROOM_FOR_WAYS))
        self._check = column()
        self.body.insertLayout(self.body.count() - 1, self._check)
        table.row_chosen.connect(self.open_entry)

    async def read(self) -> None:
        """Reads the newest decisions, and whether the record is complete."""
        self.show_rows(await self.hub.audit.get_audit(limit=SHOWN))
        self.show_check(await self.hub.audit.verify_audit())

    def show_check(self, check: AuditCheck) -> None:
        """Shows what is wrong with the record, if anything is."""
        clear(self._check)
        if not check.is_whole:
            text = "\n".join(title(Problem(problem)) for problem in check.problems)
            self._check.addWidget(Banner(self._theme, "error", tr("This record was changed by something else than Tooltray"), text))

    def open_entry(self, entry: AuditEntry) -> None:
        """Opens the sheet of a decision; an open sheet of any kind stays."""
        self.context.sheets.show(DecisionSheet(self.context, entry))


def _columns() -> list[Column]:
    return [
        Column(tr("When"), lambda each: moment(each.at, datetime.now()), Kind.QUIET, 88),
        Column(tr("Answer"), answer_words, Kind.TEXT, 92),
        Column(tr("What"), lambda each: shipped(each.what), Kind.TEXT, 200, lambda each: shipped(each.what)),
        Column(tr("About"), about_words, Kind.QUIET, tip=about_words),
        Column(tr("By"), way_words, Kind.QUIET, 130, way_words),
    ]
