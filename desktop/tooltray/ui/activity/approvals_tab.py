"""The tab of approvals: what waits for the user; what was allowed for longer than one call, for a time or by a rule; and the history of
decisions: who allowed, declined or revoked what, when and where, and whether that record is complete."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ApprovalAsked, ApprovalEnded, ConfigChanged, GrantsChanged, ServerFilesChanged
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.snapshots.approvals import AuditEntry, GrantSnapshot, JudgedCall
from tooltray.ui.activity.activity_words import whole_time
from tooltray.ui.activity.waiting_section import TICK_MS, WaitingSection
from tooltray.ui.approval.approval_body import details, ends, facts_box, granted, granted_to, granted_until, own_permissions
from tooltray.ui.approval.asking_window import fact_name, fact_value
from tooltray.ui.approval.permission_words import cautions, covered, of_late
from tooltray.ui.client_names import shown_client
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, say, shipped, tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.destinations import CallsWhere, Destination, OpenServer
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import TableSection, keep_in_sight
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import folder_name
from tooltray.ui.problem_words import title
from tooltray.ui.server_text import one_line
from tooltray.ui.server_words import runs_everything
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

GRANT_WIDTH, RULE_WIDTH = 560, 600
TIME_WIDTH = 92  # px
MOST_CALLS = 6  # of each kind that are shown
SINCE, ROOM_FOR_SINCE = 2, 1040  # a column, and the px of the section below which it is in the details only
SHOWN = 200  # of the newest; `tooltray audit` lists more, and an export all
BY, ROOM_FOR_WAYS = 4, 820  # a column, and the px of the section below which it is in the details only
DECISION_WIDTH = 560
COMPARED = frozenset({"grant", "session", "change"})
"""Facts that say nothing to a user at all."""
LONGEST = 300  # characters of a name on a line


class ApprovalsTab(Page):
    """The tab of approvals, a section each.

    Attributes:
        waiting, temporary, history: the sections.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._is_known = False
        self._scroll, self._content = PageScroll(tr("Approvals")), QWidget()
        self.waiting, self.temporary, self.history = WaitingSection(context, self._draw), TemporarySection(context), HistorySection(context)
        fill(column(self._content, margins=(24, 20, 24, 32), spacing=28), self.waiting, self.temporary, self.history, 1)
        self._scroll.setWidget(self._content)
        column(self).addWidget(self._scroll)
        keep_in_sight(self._scroll, self.temporary.table, self.history.table)
        self.enable(False)
        self._follow_hub()

    def _follow_hub(self) -> None:
        """Reads everything when the tab is shown, and again on news; what waits also while it is hidden, since the navigation counts it."""
        hub, waiting, temporary, history = self.hub, self.waiting, self.temporary, self.history
        self._read_waiting, self._read_changes = waiting.reading(waiting.read), waiting.reading(waiting.read_changes)
        self._read_grants, self._read_history = temporary.reading(temporary.read), history.reading(history.read)
        for read in (self._read_waiting, self._read_changes, self._read_grants, self._read_history):
            self.look_requested.connect(read)
        hub.on_any((ApprovalAsked, ApprovalEnded, ServerFilesChanged), self._read_waiting, self)
        hub.on_any((ApprovalEnded, ConfigChanged, GrantsChanged, ServerFilesChanged), self.look_again, self)
        hub.on_any((GrantsChanged,), self._read_changes, self)
        hub.snapshot_changed.connect(self._on_hub_changed)
        self._on_hub_changed()

    def enable(self, is_usable: bool) -> None:
        self._content.setEnabled(is_usable)

    def _draw(self) -> None:
        """Counts what needs the user; a project's servers are counted where they are allowed."""
        self.need_person.emit(len(self.waiting.calls) + len(self.waiting.changes))

    def _on_hub_changed(self) -> None:
        """Reads once the hub is connected, and clears what waits when it disconnects."""
        snapshot = self.hub.snapshot
        is_known = snapshot is not None
        self.temporary.show_open_servers(sum(map(runs_everything, snapshot.servers)) if snapshot is not None else 0)
        if is_known and not self._is_known:
            self._read_waiting()
            self._read_changes()
        elif self._is_known and not is_known:
            self.waiting.clear()
        self._is_known = is_known


class TemporarySection(TableSection):
    """The section with the grants.

    Attributes:
        table: the grants, the newest first.
    """

    def __init__(self, context: PageContext) -> None:
        name, narrow = tr("Temporary approvals and rules"), (SINCE, ROOM_FOR_SINCE)
        columns = [
            Column(tr("What"), granted),
            Column(tr("For"), granted_to, Kind.QUIET, 132),
            Column(tr("Since"), lambda each: moment(each.created_at, datetime.now()), Kind.QUIET, 96),
            Column(tr("Until"), lambda each: ends(each, datetime.now()), Kind.CHIP, 176, lambda each: details(each, datetime.now())),
            Column("", lambda _: tr("Revoke"), Kind.BUTTON, 84),
        ]
        table = Table(context.theme, columns, name, lambda each: each.id, in_card=True, has_header=True)
        super().__init__(context, name, tr("Ends if the tool changes."), table, nothing=own_permissions(0), narrow=narrow)
        self._clock = timer(self, TICK_MS, table.viewport().update, repeats=True)
        table.pressed.connect(lambda grant: self.revoke(grant.id))
        table.row_chosen.connect(self.open_grant)

    async def read(self) -> None:
        """Reads the grants, and shows them."""
        self.show_rows(await self.hub.approvals.get_grants())
        self._follow_time()

    def show_open_servers(self, count: int) -> None:
        """Shows how many servers run everything without asking, by their own settings."""
        self._nothing.setText(own_permissions(count))

    def revoke(self, grant: str) -> None:
        approvals = self.hub.approvals
        self.run(approvals.remove_grant(grant), then=self.read, toast=tr("Revoked"), undo=partial(approvals.restore_grant, grant))

    def open_grant(self, grant: GrantSnapshot) -> None:
        """Opens the sheet of a grant; an open sheet of any kind stays."""
        if grant.kind != "rule":
            self.context.sheets.show(GrantSheet(self.context, grant, self.revoke))
        elif self.context.sheets.show(sheet := RuleSheet(self.context, grant, self.revoke)) is not None:
            sheet.run(sheet.read())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.table.viewport().update()
        self._follow_time()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    def _follow_time(self) -> None:
        """Runs one timer that counts down for all rows, while the section is visible and a grant in it ends."""
        if self.isVisible() and any(grant.expires_at for grant in self.table.given):
            self._clock.start()
        else:
            self._clock.stop()


class _GrantView(SheetView):
    """The base of the sheets of a grant.

    Args:
        revoke: revokes a grant, given by its id.
    """

    def __init__(self, context: PageContext, name: str, width: int, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, name, width)
        self._grant, self._revoke = grant, revoke

    def _add_buttons(self, revoke: str) -> None:
        fill(self.buttons, Button(self._theme, revoke, "danger", on_click=self._on_revoke), 1)
        self.add_button(tr("Close"), self.leave)

    def _on_revoke(self) -> None:
        self._revoke(self._grant.id)
        self.close_requested.emit()


class GrantSheet(_GrantView):
    """A sheet with what was allowed for a tool, or for all that reads of a server."""

    def __init__(self, context: PageContext, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, granted(grant), GRANT_WIDTH, grant, revoke)
        if grant.is_held:
            text = tr("Changed since you allowed it, so it asks again: {tools}", tools=", ".join(grant.held_tools))
            self.body.addWidget(Banner(context.theme, "warning", tr("Blocked until reviewed"), text))
        until = granted_until(grant, datetime.now())
        about = [(tr("For"), granted_to(grant)), (tr("Since"), whole_time(grant.created_at)), (tr("Until"), until)]
        calls = CallsWhere(ActivityFilter(servers=(grant.server,), tools=(grant.tool,)))
        links = [self._link(tr("Show its calls"), calls)] if grant.tool else []
        links.append(self._link(tr("Change what {name} may do", name=grant.server), OpenServer(grant.server, "access")))
        fill(self.body, facts_box(context.theme, about, has_words=True), fill(row(spacing=16), *links, 1))
        self._add_buttons(tr("Revoke"))

    def _link(self, text: str, to: Destination) -> Button:
        """Makes a button that closes the sheet and leads to another place."""

        def go() -> None:
            self.close_requested.emit()
            self.context.go(to)

        return Button(self._theme, text, "link", small=True, on_click=go)


class RuleSheet(_GrantView):
    """A sheet with a rule on arguments that the user has made: what it covers, and which recent calls it covers or does not."""

    def __init__(self, context: PageContext, grant: GrantSnapshot, revoke: Callable[[str], None]) -> None:
        super().__init__(context, tr("A rule on calls of {server}", server=grant.server), RULE_WIDTH, grant, revoke)
        theme, until = context.theme, details(grant, datetime.now())
        whose = Label(theme, tr("For: {client}", client=granted_to(grant)) + "\n" + until, "caption", "muted", wrap=True)
        self._past, self._lists = Label(theme, tr("Reading…"), "strong", wrap=True), column(spacing=10)
        fill(self.body, Label(theme, covered(grant.words), "body", wrap=True), whose, self._past, self._lists)
        self._add_buttons(tr("Revoke it"))

    async def read(self) -> None:
        """Reads which recent calls the rule would have covered, and shows them."""
        preview = await self.hub.approvals.preview_rule(self._grant.server, dict(self._grant.rule))
        self._past.setText(of_late(preview))
        if text := cautions(preview):
            self._lists.addWidget(Banner(self._theme, "warning", tr("Look closely at this rule"), text))
        for name, is_covered in ((tr("Covered"), True), (tr("Not covered"), False)):
            if some := [each for each in preview.calls if each.is_covered is is_covered][:MOST_CALLS]:
                self._lists.addWidget(Label(self._theme, name, "label"))
                self._lists.addWidget(lines_box(self._theme, map(self._line, some), margin=2))

    def _line(self, call: JudgedCall) -> QHBoxLayout:
        when = Label(self._theme, moment(call.at, datetime.now()), "caption", "muted", tabular=True)
        when.setFixedWidth(px(TIME_WIDTH))
        return fill(row(margins=(0, 7, 0, 7), spacing=10), when, (CodeLabel(self._theme, call.line), 1))


class HistorySection(TableSection):
    """The section with the decisions.

    Attributes:
        table: the decisions, the newest first.
    """

    def __init__(self, context: PageContext) -> None:
        columns = [
            Column(tr("When"), lambda each: moment(each.at, datetime.now()), Kind.QUIET, 88),
            Column(tr("Answer"), answer_words, Kind.TEXT, 92),
            Column(tr("What"), lambda each: shipped(each.what)),
            Column(tr("About"), about_words, Kind.QUIET),
            Column(tr("By"), way_words, Kind.QUIET, 110),
        ]
        table = Table(context.theme, columns, tr("History"), lambda each: each.number, in_card=True, has_header=True)
        text = tr("Everything you allowed or declined, and where. Also: tooltray audit, and exports of the activity.")
        super().__init__(context, tr("History"), text, table, nothing=tr("No decisions yet."), narrow=(BY, ROOM_FOR_WAYS))
        self._check = column()
        self.body.insertLayout(self.body.count() - 1, self._check)
        table.row_chosen.connect(self.open_entry)

    async def read(self) -> None:
        """Reads the newest decisions, and whether the record is complete; shows what is wrong with it."""
        self.show_rows(await self.hub.audit.get_audit(limit=SHOWN))
        check = await self.hub.audit.verify_audit()
        clear(self._check)
        if not check.is_whole:
            text = "\n".join(title(Problem(problem)) for problem in check.problems)
            self._check.addWidget(Banner(self._theme, "error", tr("This record was changed by something else than Tooltray"), text))

    def open_entry(self, entry: AuditEntry) -> None:
        """Opens a sheet with everything that is recorded of a decision; an open sheet of any kind stays."""
        sheet = SheetView(self.context, shipped(entry.what), DECISION_WIDTH)
        about = [(tr("Answer"), answer_words(entry)), (tr("When"), whole_time(entry.at)), (tr("By"), way_words(entry)), *facts(entry)]
        sheet.body.addWidget(facts_box(self._theme, about, has_words=True))
        sheet.add_button(tr("Close"), sheet.leave)
        self.context.sheets.show(sheet)


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
    return [(name, value) for name, value in (*found, (tr("From"), entry.origin)) if value]


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
