"""Activity > Approvals: what waits is answered, what was allowed for longer is revoked, and what was decided is said in words."""

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QPlainTextEdit
from tests.fakes.desk import Desk, until
from tests.fakes.journal_in_memory import JournalInMemory, entry
from tests.fakes.server_snapshots import server
from tests.ui.seen import button, cells, control, drawn, table, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import GrantsChanged, ServerFilesChanged
from tooltray.foundation.snapshots.approvals import (
    ApprovalForm,
    ApprovalSnapshot,
    AuditCheck,
    AuditEntry,
    GrantSnapshot,
    JudgedCall,
    OfferedRule,
    RulePreview,
    ToolChange,
    TrustRequest,
)
from tooltray.ui.activity.approvals_tab import ApprovalsTab, about_words, answer_words, facts, way_words
from tooltray.ui.activity.waiting_section import ToolChangeSheet
from tooltray.ui.approval.call_view import CallSheet
from tooltray.ui.kit.destinations import Activity, Destination, OpenServer
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.toast import Toast

CALL = ApprovalSnapshot("c", "files", "write_it", "Claude Code", "write", '{"path": "x"}', "it writes", 0.0, ("once", "session", "always"))
WRITE = GrantSnapshot("1", "tool", "files", "write_file", created_at=time.time())
READS = GrantSnapshot("2", "reads", "github", client="Cursor", is_held=True, held_tools=("get_issue",))
RULE = GrantSnapshot("r", "rule", "files", "write_it", created_at=time.time(), rule={"tool": "write_it"}, words="write_it, where a is 1")
CHANGE = ToolChange("github", "get_issue", ("-before", "+after"), ("It gives orders to a model",), revision="seen")
JUDGED = tuple(JudgedCall(0.0, "write_it", "c", f'{{"a":{number}}}', is_covered=number == 1) for number in (1, 2))
YES = AuditEntry(2, 1000.0, "Allowing tool calls", "yes", "window", origin="bash (1)", about={"server": "files", "tool": "write"})
ENDED = AuditEntry(1, 900.0, "Something has ended", "", "")


def engine(grants: list[GrantSnapshot] | None = None, changes: list[ToolChange] | None = None) -> JournalInMemory:
    fake = JournalInMemory([server("files"), server("github")])
    fake.grants, fake.tool_changes = grants or [], changes or []
    return fake


async def opened(desk: Desk) -> ApprovalsTab:
    desk.window.context.go(Activity("approvals"))  # as another page does
    page = desk.activity.approvals
    page.waiting.guard_ms = 0
    await until(lambda: page.isVisible() and not len(desk.tasks))
    return page


def waiting(**fields: object) -> ApprovalSnapshot:
    return replace(CALL, **{"ends_at": time.time() + 60, **fields})


async def test_a_call_that_begins_to_wait_moves_no_row_under_the_pointer(theme: Theme) -> None:
    async with Desk(JournalInMemory([server("files")], journal=[entry(1)]), theme) as desk:
        await desk.window.build_pages()
        desk.window.open_page("activity")
        calls = desk.activity.calls
        await until(lambda: calls.list.table.activity.rowCount() == 1)
        before = calls.list.table.mapTo(calls, QPoint())
        desk.engine.ask_approval(waiting())
        await until(lambda: "1 approval waits for you" in drawn(calls))
        calls.grab()  # everything has its place
        assert calls.list.table.mapTo(calls, QPoint()) == before
        assert calls.waiting.visibleRegion().boundingRect() == calls.waiting.rect()


async def test_a_call_that_waits_is_counted_before_anybody_looks_and_answered_in_its_sheet(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await desk.window.build_pages()
        desk.engine.ask_approval(waiting())
        item = next(each for each in desk.window.findChildren(QAbstractButton) if each.text() == "Activity")
        await until(lambda: item.accessibleName() == "Activity, 1 need you")
        desk.window.open_page("activity")
        assert "1 approval waits for you" in drawn(desk.activity.calls)
        control(desk.activity.calls, "Review…").click()
        page = desk.activity.approvals
        await until(page.isVisible)
        assert control(desk.activity, "Approvals · 1").isChecked()
        assert "Claude Code wants to use write_it of files" in drawn(page)
        assert '{"path": "x"}' in drawn(page)
        control(page, "Look closely…").click()
        panel = desk.window.sheet.panel
        assert not control(panel, "Allow").isEnabled()  # a click meant for something else is no answer
        await until(control(panel, "Allow").isEnabled)
        QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Return)
        assert not any(call[0] == "answer_approval" for call in desk.engine.calls)
        assert nameless(desk.window) == []
        QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("answer_approval", "c", "once")
        await until(lambda: desk.window.sheet is None and page.waiting.isHidden())
        assert control(desk.activity, "Approvals").isChecked()


async def test_a_plain_call_is_allowed_in_its_row_and_an_unusual_one_is_looked_at_first(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        for id, warnings in (("c", ()), ("d", ("hidden characters",))):
            desk.engine.ask_approval(waiting(id=id, warnings=warnings, arguments="{cut" if warnings else "{}"))
        await until(lambda: len(page.waiting.call_rows) == 2 and all(row.allow.isEnabled() for row in page.waiting.call_rows))
        plain, odd = page.waiting.call_rows
        assert not odd.allow.isVisibleTo(odd)
        assert "{cut" in words(odd)
        assert "It writes." in words(plain)  # without arguments it says why
        desk.engine.failures["answer_approval"] = TooltrayError("It has ended")
        plain.allow.click()
        assert not plain.allow.isEnabled()
        await until(lambda: "It has ended" in words(page) and plain.allow.isEnabled())
        desk.engine.failures.clear()
        plain.allow.click()
        await desk.asked("answer_approval", "c", "once")
        await until(lambda: page.waiting.call_rows == [odd])  # the other row stays as it is
        odd.refuse.click()
        await desk.asked("answer_approval", "d", "refuse")
        await until(page.waiting.isHidden)


async def test_a_call_takes_no_answer_in_the_moment_in_which_it_appears(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.waiting.guard_ms = 3_600_000
        desk.engine.ask_approval(waiting())
        await until(lambda: len(page.waiting._rows) == 1)
        (row,) = page.waiting.call_rows
        assert not row.allow.isEnabled()
        assert not row.refuse.isEnabled()


async def test_a_late_answer_says_why_in_the_sheet_which_closes_with_its_call(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.ask_approval(waiting())
        await until(lambda: len(page.waiting._rows) == 1)
        desk.engine.failures["answer_approval"] = TooltrayError("What is allowed cannot be saved")
        control(page, "Look closely…").click()
        panel = desk.window.sheet.panel
        await until(control(panel, "Allow").isEnabled)
        control(panel, "Allow").click()
        await until(lambda: "What is allowed cannot be saved" in drawn(panel))
        desk.engine.failures.clear()
        desk.engine.end_approval("c")  # its time is over
        await until(lambda: desk.window.sheet is None)


async def test_a_call_that_ended_before_its_answer_closes_its_sheet_and_the_page_says_why(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.ask_approval(waiting())
        await until(lambda: len(page.waiting._rows) == 1)
        control(page, "Look closely…").click()
        panel = desk.window.sheet.panel
        await until(control(panel, "Allow").isEnabled)
        desk.engine.approvals, desk.engine.failures["answer_approval"] = [], TooltrayError("This call no longer waits")
        control(panel, "Allow").click()
        await until(lambda: desk.window.sheet is None and "This call no longer waits" in drawn(page))


async def test_a_call_is_answered_by_a_rule_in_its_sheet(theme: Theme) -> None:
    fake = engine()
    rules = tuple(OfferedRule(f"rule-{number}", f"short {number}", f"whole {number}", {"tool": str(number)}) for number in (1, 2))
    fake.approvals, fake.rule_preview = [waiting(rules=rules)], RulePreview("w", {}, calls=JUDGED)
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: page.waiting.calls)
        control(page, "Look closely…").click()
        panel = desk.window.sheet.panel if desk.window.sheet else None
        assert isinstance(panel, CallSheet)
        await until(lambda: button(panel, "Allow").isEnabled())
        button(panel, "Allow for…").click()
        menu = panel.findChild(QMenu)
        assert menu is not None
        menu.actions()[-1].trigger()
        menu.close()
        await until(lambda: "Make a rule of this call" in words(panel))
        button(panel, "short 2").click()
        await until(lambda: "whole 2" in words(panel) and "of 2 recent calls" in words(panel))
        await until(lambda: button(panel, "Allow, and make the rule").isEnabled())
        button(panel, "Allow, and make the rule").click()
        await until(lambda: ("answer_approval", "c", "rule-2") in fake.calls)


async def test_the_arguments_of_a_call_are_changed_in_its_sheet_and_escape_leads_back(theme: Theme) -> None:
    fake = engine()
    fake.approvals, fake.approval_form = [waiting(is_editable=True)], ApprovalForm({}, {"path": "x"})
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: page.waiting.calls)
        page.waiting.open_call(page.waiting.calls[0])
        panel = desk.window.sheet.panel
        await until(lambda: button(panel, "Allow").isEnabled())
        for is_second in (False, True):
            button(panel, "Edit arguments…").click()
            await until(lambda: "Edit arguments" in drawn(panel) and button(panel, "Allow").isEnabled())
            code = next(each for each in panel.findChildren(QPlainTextEdit) if each.isVisibleTo(panel))
            await until(code.hasFocus)
            code.setPlainText('{"path": "y"}')
            if not is_second:
                QTest.keyClick(code, Qt.Key.Key_Escape)
                await until(
                    lambda: "Edit arguments…" in [each.text() for each in panel.findChildren(Button)] and button(panel, "Allow").isEnabled()
                )
        QTest.keyClick(code, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("answer_approval", "c", "once", {"path": "y"})
        await until(lambda: desk.window.sheet is None)


async def test_a_call_that_waits_for_longer_keeps_its_row_and_its_sheet_and_they_show_the_time(theme: Theme) -> None:
    fake = engine()
    fake.approvals = [waiting(is_editable=True)]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: page.waiting.call_rows)
        [line] = page.waiting.call_rows
        line.look.click()
        panel = desk.window.sheet.panel
        assert "Declines in " in drawn(panel)
        fake.ask_approval(waiting(is_editable=True, ends_at=time.time() + 1000))
        await until(lambda: "Declines in 16:" in drawn(panel))
        assert page.waiting.call_rows == [line]
        assert "\n16:" in drawn(line)


async def test_what_a_project_brings_waits_there_and_is_looked_at(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        assert desk.projects  # it has the sheet
        request = TrustRequest("/p/proj2", "/p/proj2/.mcp.json", "tests", "d", False, "stdio", "npx tests")
        desk.engine.trust_requests = [request, replace(request, entry="deploy")]
        desk.engine.bus.publish(ServerFilesChanged())
        await until(lambda: "proj2 brings 2 servers. Allow them?" in drawn(page))
        await until(lambda: not len(desk.tasks))
        control(page, "Review…").click()
        await until(lambda: desk.window.sheet is not None)
        assert "tests" in words(desk.window.sheet.panel)


async def test_a_changed_tool_is_counted_shows_how_it_differs_and_is_accepted(theme: Theme) -> None:
    async with Desk(engine([READS], [CHANGE]), theme) as desk:
        page = await opened(desk)
        await until(lambda: "get_issue of github has changed" in drawn(page))
        assert "Unusual: review it closely." in drawn(page)
        control(page, "Review…").click()
        assert desk.window.sheet is not None
        panel = desk.window.sheet.panel
        assert isinstance(panel, ToolChangeSheet)
        assert "It gives orders to a model" in words(panel)
        await until(lambda: QApplication.focusWidget() is button(panel, "Not now"))
        assert nameless(desk.window) == []
        desk.engine.failures["accept_tool_change"] = TooltrayError("the disk is full")
        button(panel, "Accept the change").click()
        await until(lambda: "The disk is full" in words(panel))
        desk.engine.failures.clear()
        button(panel, "Accept the change").click()
        await desk.asked("accept_tool_change", "github", "get_issue", "tool", "seen")
        await until(lambda: desk.window.sheet is None)
        desk.engine.tool_changes = []
        desk.engine.bus.publish(GrantsChanged())
        await until(page.waiting.isHidden)


async def test_not_now_accepts_no_change_and_an_open_sheet_stays(theme: Theme) -> None:
    async with Desk(engine([], [CHANGE]), theme) as desk:
        page = await opened(desk)
        page.waiting.open_change(CHANGE)
        sheet = desk.window.sheet
        assert sheet is not None
        page.waiting.open_change(CHANGE)
        assert desk.window.sheet is sheet
        button(sheet.panel, "Not now").click()
        assert desk.window.sheet is None
        assert all(call[0] != "accept_tool_change" for call in desk.engine.calls)


async def test_a_hub_that_goes_takes_what_waits_with_it(theme: Theme) -> None:
    async with Desk(engine([], [CHANGE]), theme) as desk:
        page = await opened(desk)
        desk.engine.ask_approval(waiting())
        await until(lambda: len(page.waiting._rows) == 2)
        desk.link.detach()
        desk.hub.forget()
        assert len(page.waiting._rows) == 0
        assert page.waiting.isHidden()


async def test_what_is_allowed_is_listed_with_whom_and_until_when(theme: Theme) -> None:
    async with Desk(engine([WRITE, READS]), theme) as desk:
        page = await opened(desk)
        shown = page.temporary.table
        await until(lambda: len(shown.rows) == 2)
        assert [cells(shown)[place] for place in (0, 1, 3, 4)] == ["write_file of files", "All clients", "You revoke it", "Revoke"]
        assert [cells(shown, 1)[place] for place in (0, 1, 3)] == ["Everything of github that reads", "Cursor", "Blocked until reviewed"]
        assert "get_issue" in shown.model().index(1, 3).data(Qt.ItemDataRole.ToolTipRole)
        assert nameless(desk.window) == []


async def test_a_grant_opens_its_details_and_is_revoked_there_and_in_its_row(theme: Theme) -> None:
    async with Desk(engine([WRITE, READS]), theme) as desk:
        shown = (await opened(desk)).temporary.table
        await until(lambda: len(shown.rows) == 2)
        for place, said in ((0, "You revoke it"), (1, "Changed since you allowed it, so it asks again: get_issue")):
            QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=shown.visualRect(shown.model().index(place, 0)).center())
            sheet = desk.window.sheet
            assert sheet is not None
            assert said in words(sheet)
            assert nameless(desk.window) == []
            button(sheet, "Revoke" if place else "Close").click()
            assert desk.window.sheet is None
        await desk.asked("remove_grant", "2")
        QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=shown.visualRect(shown.model().index(0, 4)).center())
        await desk.asked("remove_grant", "1")
        await until(lambda: "Revoked" in [toast.text for toast in desk.window.findChildren(Toast)])
        assert desk.window.sheet is None


async def test_a_grant_leads_to_its_calls_and_to_what_its_server_may_do(theme: Theme) -> None:
    async with Desk(engine([WRITE]), theme) as desk:
        page = await opened(desk)
        await until(lambda: page.temporary.table.given)
        page.temporary.open_grant(WRITE)
        assert desk.window.sheet is not None
        button(desk.window.sheet, "Show its calls").click()
        assert desk.window.sheet is None
        assert desk.activity.calls.isVisible()
        assert desk.activity.calls.list.filter.tools == ("write_file",)
        links: list[Destination] = []
        desk.window.context.go = links.append
        page.temporary.open_grant(WRITE)
        assert desk.window.sheet is not None
        button(desk.window.sheet, "Change what files may do").click()
        assert links == [OpenServer("files", "access")]


async def test_a_grant_is_revoked_by_the_keyboard(theme: Theme) -> None:
    async with Desk(engine([WRITE]), theme) as desk:
        shown = (await opened(desk)).temporary.table
        await until(lambda: shown.rows)
        shown.setFocus()
        shown.setCurrentIndex(shown.model().index(0, 0))
        QTest.keyClick(shown, Qt.Key.Key_Space)
        await desk.asked("remove_grant", "1")


async def test_what_could_not_be_revoked_stays_and_the_page_says_why(theme: Theme) -> None:
    async with Desk(engine([WRITE]), theme) as desk:
        page = await opened(desk)
        await until(lambda: page.temporary.table.given)
        desk.engine.failures["remove_grant"] = TooltrayError("the disk is full", "grants.json")
        page.temporary.revoke("1")
        await until(lambda: "The disk is full" in words(page))
        assert len(page.temporary.table.rows) == 1
        desk.engine.failures.clear()
        page.temporary.revoke("1")
        await until(lambda: "The disk is full" not in words(page))


async def test_news_of_what_is_allowed_is_shown(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.grants = [replace(WRITE, expires_at=time.time() + 60)]
        desk.engine.bus.publish(GrantsChanged())
        await until(lambda: len(page.temporary.table.rows) == 1)
        assert page.temporary._clock.isActive()  # it counts down
        desk.engine.grants = []
        desk.engine.bus.publish(GrantsChanged())
        await until(lambda: "No standing permissions" in words(page))
        assert not page.temporary._clock.isActive()


async def test_a_hundred_grants_can_be_walked_through_by_arrows(theme: Theme) -> None:
    async with Desk(engine([replace(WRITE, id=str(number), tool=f"tool_{number}") for number in range(100)]), theme) as desk:
        page = await opened(desk)
        shown, bar = page.temporary.table, page._scroll.verticalScrollBar()
        await until(lambda: bar.maximum() > 1000)
        shown.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(shown, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: bar.value() > 1000)


async def test_a_rule_opens_with_the_calls_it_covers_and_is_revoked(theme: Theme) -> None:
    fake = engine([RULE])
    fake.rule_preview = RulePreview("w", {}, problems=("folder /x not found",), calls=JUDGED)
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: page.temporary.table.given)
        page.temporary.open_grant(RULE)
        await until(lambda: desk.window.sheet is not None and "Not covered" in words(desk.window.sheet))
        sheet = desk.window.sheet
        assert sheet is not None
        for said in ("write_it, where a is 1", "Folder /x not found.", "Matches 1 of 2 recent calls.", '{"a":1}', '{"a":2}'):
            assert said in words(sheet)
        page.temporary.open_grant(RULE)  # an open sheet stays
        assert desk.window.sheet is sheet
        button(sheet, "Revoke it").click()
        await until(lambda: ("remove_grant", "r") in fake.calls)


@pytest.mark.parametrize(
    ("rules", "ending"),
    [
        ([], "each server's own"),
        (["all"], "each server's own (1 server allows everything)"),
        (["*", "all", "read"], "each server's own (2 servers allow everything)"),
    ],
)
async def test_without_grants_it_says_which_permissions_there_are_all_the_same(theme: Theme, rules: list[str], ending: str) -> None:
    servers = [server(f"s{place}", auto_approve=(each,)) for place, each in enumerate(rules)]
    async with Desk(JournalInMemory(servers), theme) as desk:
        page = await opened(desk)
        await until(lambda: f"No standing permissions beyond {ending}" in words(page).splitlines())


async def test_decisions_are_listed_with_a_header_and_open_in_full(theme: Theme) -> None:
    fake = engine()
    fake.decisions = [YES, ENDED]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        shown = page.history.table
        await until(lambda: len(shown.rows) == 2)
        assert shown.horizontalHeader().isVisible()
        assert cells(shown)[1:] == ["Allowed", "Allowing tool calls", "write of files", "Window"]
        QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=shown.visualRect(shown.model().index(0, 2)).center())
        assert desk.window.sheet is not None
        assert "bash (1)" in words(desk.window.sheet)
        assert nameless(desk.window) == []


async def test_a_record_that_was_changed_from_outside_is_told(theme: Theme) -> None:
    said = "This record was changed by something else than Tooltray"
    fake = engine()
    fake.audit_check = AuditCheck(False, 1, 2, ("its last line is not the one that was written last",))
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: said in words(page))
        fake.audit_check = AuditCheck(True, 1, 2)
        page.look_again()
        await until(lambda: said not in words(page))


async def test_a_hidden_tab_reads_what_is_counted_and_no_more(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        assert not desk.activity.approvals.isVisible()
        await desk.asked("get_tool_changes")
        await until(lambda: not len(desk.tasks))
        desk.engine.calls.clear()
        desk.engine.bus.publish(GrantsChanged())
        await desk.asked("get_tool_changes")
        await until(lambda: not len(desk.tasks))
        assert not {"get_grants", "get_audit", "verify_audit"} & {call[0] for call in desk.engine.calls}
        assert table(desk.activity.approvals, "History").rows == []


@pytest.mark.parametrize(
    ("way", "who", "said"),
    [("window", "", "Window"), ("program", "panel", "Program panel"), ("client", "", "Form of An AI client"), ("", "", "–")],
)
def test_a_decision_says_by_which_way_it_came(way: str, who: str, said: str) -> None:
    assert way_words(AuditEntry(1, 1.0, "x", "yes", way, who)) == said


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"server": "files", "tool": "write", "client": "Cursor", "project": "/p/shop"}, "write of files · Cursor · shop"),
        ({"grant": "96ac409b", "server": "files", "kind": "rule", "rule": "write, where path is x"}, "write, where path is x · files"),
        ({"server": "github", "kind": "reads", "definitions": "ec464ba610a9560e, a49c62ac"}, "Everything of github that reads"),
        ({"edits": "connect:claude-code:/tmp/a, connect:cursor:/tmp/b"}, "claude-code, cursor"),
        ({"choices": "4f1a, 77bc"}, "2 servers"),
        ({"tool": "write", "answer": "hour"}, "write · for an hour"),
        ({"tool": "write", "answer": "rule-1"}, "write"),
        ({"server": "files", "answer": "once"}, "files"),
        ({"server": "files", "expires_in_s": "3600.0"}, "files · for 1 hour"),
        ({"project": "/p/shop", "entries": "db, browser", "digests": "db 1f0c2ab9"}, "db, browser · shop"),
        ({"folder": "/p/shop", "session": "s1"}, "shop"),
        ({}, ""),
    ],
)
def test_a_decision_is_said_in_names_and_without_ids(about: dict[str, str], said: str) -> None:
    assert about_words(replace(YES, about=about)) == said


def test_the_details_of_a_decision_have_names_and_leave_out_what_only_programs_compare() -> None:
    about = {"grant": "96ac409b", "server": "files", "tool": "write", "choices": "", "answer": "rule-1"}
    assert facts(replace(YES, about=about)) == [("Server", "files"), ("Tool", "write"), ("From", "bash (1)")]
    assert facts(replace(YES, about={"answer": "day"}, origin="")) == [("How long", "for a day")]
    assert (answer_words(YES), answer_words(ENDED)) == ("Allowed", "–")
