"""The history of decisions: who allowed, declined or revoked what, when and where, and whether that record is complete."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.ui.activity.activity_words import whole_time
from tooltray.ui.approval.approval_body import facts_box
from tooltray.ui.approval.asking_window import fact_name, fact_value
from tooltray.ui.client_names import shown_client
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, say, shipped, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import TableSection
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import folder_name
from tooltray.ui.problem_words import title
from tooltray.ui.server_text import one_line
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import clear, column
from tooltray.ui.widgets.table import Table

SHOWN = 200  # of the newest; `tooltray audit` lists more, and an export all
BY, ROOM_FOR_WAYS = 4, 820  # a column, and the px of the section below which it is in the details only
SHEET_WIDTH = 560
COMPARED = frozenset({"grant", "session", "change"})
"""Facts that say nothing to a user at all."""
LONGEST = 300  # characters of a name on a line


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
        Column(tr("What"), lambda each: shipped(each.what), Kind.TEXT, 0, lambda each: shipped(each.what)),
        Column(tr("About"), about_words, Kind.QUIET, tip=about_words),
        Column(tr("By"), way_words, Kind.QUIET, 110, way_words),
    ]


class DecisionSheet(SheetView):
    """A sheet with everything that is recorded of a decision."""

    def __init__(self, context: PageContext, entry: AuditEntry) -> None:
        super().__init__(context, shipped(entry.what), SHEET_WIDTH)
        about = [(tr("Answer"), answer_words(entry)), (tr("When"), whole_time(entry.at)), (tr("By"), way_words(entry)), *facts(entry)]
        self.body.addWidget(facts_box(context.theme, about, has_words=True))
        self.add_button(tr("Close"), self.leave)


def answer_words(entry: AuditEntry) -> str:
    """Returns the outcome of a decision."""
    words = {
        "yes": tr("Allowed"),
        "no": tr("Declined"),
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
        "client": tr("Form of {client}", client=shown_client(entry.who) or tr("An AI client")),
        "script": tr("Script"),
    }
    return words.get(entry.way, "–")


def about_words(entry: AuditEntry) -> str:
    """Returns what a decision is about in names that the user knows: of the tool, the server, the client, the folder; without ids."""
    return one_line(" · ".join(dict.fromkeys(filter(None, _parts(dict(entry.about))))), LONGEST)


def facts(entry: AuditEntry) -> list[tuple[str, str]]:
    """Returns all details of a decision: their names and values."""
    found = [(_name(name), _value(name, value)) for name, value in entry.about.items() if name not in COMPARED]
    found = [(name, value) for name, value in found if value]
    return [*found, *([(tr("From"), entry.origin)] if entry.origin else [])]


def _parts(about: Mapping[str, str]) -> Iterator[str]:
    server, tool, kind = (about.get(name, "") for name in ("server", "tool", "kind"))
    if rule := about.get("rule"):
        yield say(rule)
        yield server
    elif tool:
        yield tr("{tool} of {server}", tool=tool, server=server) if server else tool
    elif kind == "reads":
        yield tr("Everything of {server} that reads", server=server)
    else:
        yield server
    for name in ("entries", "entry", "name", "settings", "token", "secrets", "edits", "choices", "client"):
        yield _value(name, about.get(name, ""))
    for name in ("project", "folder", "path"):
        yield folder_name(about[name]) if about.get(name) else ""
    if (answer := about.get("answer")) not in (None, "once"):
        yield _value("answer", answer)
    for name in ("expires_in_s", "until"):
        yield _value(name, about.get(name, ""))


def _name(name: str) -> str:
    names = {"edits": tr("AI client"), "choices": tr("Servers"), "entry": tr("Server"), "answer": tr("How long")}
    return names.get(name) or fact_name(name)


def _value(name: str, value: str) -> str:
    """Returns a detail's value in words; empty for one that has none."""
    if name == "edits":  # "connect:claude-code:/home/me/.claude.json", and more of them
        return ", ".join(dict.fromkeys(parts[1] for each in value.split(", ") if len(parts := each.split(":", 2)) == 3))
    if name == "choices":
        return many(len(value.split(", ")), "1 server", "{count} servers") if value else ""
    if name == "answer":
        words = {
            "once": tr("once"),
            "session": tr("for the session"),
            "like": tr("for some seconds"),
            "hour": tr("for an hour"),
            "day": tr("for a day"),
            "lock": tr("until the screen locks"),
            "always": tr("until you revoke it"),
            "reads": tr("everything that reads"),
        }
        return words.get(value, "")  # of a rule, which is told in words beside it
    return fact_value(name, value) if value else ""
