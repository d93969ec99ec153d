"""The history of decisions: who allowed, refused or revoked what, when and where, and whether that record is complete. Draws frozen
snapshots."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.ui.approval.confirmation_body import fact_name, fact_value
from tooltray.ui.approval.permissions_part import PermissionsPart
from tooltray.ui.figures import moment
from tooltray.ui.i18n import shipped, tr
from tooltray.ui.problem_words import title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, clear, column
from tooltray.ui.widgets.table import Table

if TYPE_CHECKING:
    from tooltray.ui.approval.permissions_page import PermissionsPage

SHOWN = 200  # of the newest; `tooltray audit` lists more, and an export all


def answer_words(entry: AuditEntry) -> str:
    """Returns the outcome of a decision."""
    words = {
        "yes": tr("Yes"),
        "no": tr("No"),
        "late": tr("No answer"),
        "gone": tr("No one waited"),
        "narrowed": tr("Revoked"),
    }
    return words.get(entry.answer, "–")


def way_words(entry: AuditEntry) -> str:
    """Returns where a decision was made, and by which program."""
    words = {
        "window": tr("Window"),
        "terminal": tr("Terminal"),
        "passphrase": tr("Passphrase"),
        "program": tr("Program {name}", name=entry.who),
        "client": tr("Form of {client}", client=entry.who or tr("An AI client")),
        "script": tr("Script"),
    }
    return words.get(entry.way, "–")


def about_words(entry: AuditEntry) -> str:
    """Returns the names of a decision's subjects."""
    return ", ".join(fact_value(name, value) for name, value in entry.about.items())


def details(entry: AuditEntry) -> str:
    """Returns all details of a decision, a line each."""
    lines = [shipped(entry.what), *(f"{fact_name(name)}: {fact_value(name, value)}" for name, value in entry.about.items())]
    return "\n".join([*lines, *([tr("From: {origin}", origin=entry.origin)] if entry.origin else [])])


class DecisionsTab(PageScroll, PermissionsPart):
    """A tab with the history of decisions.

    Attributes:
        table: the decisions, the newest first.
    """

    def __init__(self, page: "PermissionsPage") -> None:
        super().__init__(tr("Decisions"))
        self.page, self.context = page, page.context
        theme = self._theme = page.context.theme
        content = QWidget()
        body = column(content, margins=(24, 20, 24, 32), spacing=14)
        text = tr("Everything you allowed or declined, and where. Also: tooltray audit, and exports of the activity.")
        body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self._check = column()
        body.addLayout(self._check)
        box = Surface(theme)
        lines = column(box, margins=(16, 1, 16, 1))
        self.table = Table(theme, self._columns(), tr("Decisions"), lambda each: each.number, in_card=True)
        self._nothing = Label(theme, tr("No decisions yet."), "body", "muted", wrap=True)
        self._nothing.setContentsMargins(0, 14, 0, 14)
        lines.addWidget(self.table)
        lines.addWidget(self._nothing)
        body.addWidget(box)
        body.addStretch(1)
        self.setWidget(content)

    @property
    def total(self) -> int:
        """The number of decisions that are shown."""
        return len(self.table.rows)

    async def read(self) -> None:
        """Reads the newest decisions, and whether the record is complete."""
        self.show_entries(await self.hub.audit.get_audit(limit=SHOWN))
        self.page.draw()
        self.show_check(await self.hub.audit.verify_audit())

    def show_entries(self, entries: Sequence[AuditEntry]) -> None:
        self.table.set_rows(entries)
        self.table.fit_height()
        self.table.setVisible(bool(entries))
        self._nothing.setVisible(not entries)

    def show_check(self, check: AuditCheck) -> None:
        """Shows what is wrong with the record, if anything is."""
        clear(self._check)
        if not check.is_whole:
            text = "\n".join(title(Problem(problem)) for problem in check.problems)
            self._check.addWidget(Banner(self._theme, "error", tr("This record was changed by something else than Tooltray"), text))

    def _columns(self) -> list[Column]:
        return [
            Column(tr("When"), lambda each: moment(each.at, datetime.now()), Kind.QUIET, 96),
            Column(tr("Answer"), answer_words, Kind.TEXT, 110),
            Column(tr("What"), lambda each: shipped(each.what), Kind.TEXT, 220, details),
            Column(tr("About"), about_words, Kind.QUIET, tip=details),
            Column(tr("By"), way_words, Kind.QUIET, 130, details),
        ]
