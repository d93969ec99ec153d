"""The Permissions page: what runs without asking and why, with a choice for servers, tools and clients; what waits is answered there."""

import json
import time
from datetime import datetime

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu, QPlainTextEdit
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import button, cells, control, drawn, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ClientListUpdated, ServerFilesChanged
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow
from tooltray.foundation.snapshots.approvals import (
    CHOICES,
    ApprovalForm,
    ApprovalSnapshot,
    GrantSnapshot,
    JudgedCall,
    OfferedRule,
    RulePreview,
    ServerPermissions,
    ToolPermission,
    TrustedEntry,
    TrustRequest,
)
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.call_sheet import CallSheet
from tooltray.ui.approval.permission_words import ToolRow, answer_word, comes_to
from tooltray.ui.approval.permissions_page import CLIENTS, GRANTED, TRUSTED, PermissionsPage
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.toast import Toast

READ = ToolPermission("read_it", "read", "default", True, "It only reads")
WRITE = ToolPermission("write_it", "write", "default", False, "It may change things")
ALLOWED = ToolPermission("<b>push</b>", "write", "default", False, "It may change things", ("g",))
FILES = ServerPermissions("files", ("read",), tools=(READ, WRITE))
GIT = ServerPermissions("git", ("all",), tools=(ALLOWED, replace(READ, tool="log")))
GRANT = GrantSnapshot("g", "tool", "git", "<b>push</b>", client="Cursor", created_at=time.time())
CALL = ApprovalSnapshot("c", "files", "write_it", "Claude Code", "write", '{"path": "x"}', "it writes", 0.0, ("once", "session", "always"))


def engine(*servers: ServerPermissions) -> FakePresenter:
    fake = FakePresenter([server("files"), server("git")])
    fake.permissions = list(servers or (FILES, GIT))
    return fake


async def opened(desk: Desk, tab: int = 0) -> PermissionsPage:
    desk.window.open_page("permissions")
    page = desk.permissions
    page.show_tab(tab)
    await until(lambda: len(page.rules.servers.rows) == len(desk.engine.permissions) + 1 and not len(desk.tasks))
    return page


async def undone(desk: Desk) -> str:
    """Presses Undo in the toast that is there; returns what it says."""
    await until(lambda: desk.window.findChildren(Toast))
    toast = desk.window.findChildren(Toast)[-1]
    text = toast.text
    button(toast, "Undo").click()
    await until(lambda: not isValid(toast) and not len(desk.tasks))
    return text


def choice(widget: object, name: str) -> Choice:
    return next(each for each in widget.findChildren(Choice) if each.accessibleName().startswith(name))  # type: ignore[attr-defined]


def pick(menu: QMenu, title: str) -> None:
    next(action for action in menu.actions() if action.text() == title).trigger()
    menu.close()


async def test_servers_say_how_much_of_them_runs_without_asking_and_tools_why(theme: Theme) -> None:
    fake = engine()
    fake.grants = [GRANT]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        assert [cells(page.rules.servers, at) for at in range(3)] == [["All servers", ""], ["files", "1 of 2"], ["git", "1 of 2"]]
        assert "1 of 2 servers runs everything without asking." in drawn(page)
        assert cells(page.rules.tools, 1) == ["write_it", "files", "Asks first", "It may change things", "Change…"]
        assert cells(page.rules.tools, 2)[2] == "Allowed for Cursor"
        assert nameless(desk.window) == []
        control(page, "Ask first, 2").click()
        assert [each.tool.tool for each in page.rules.tools.rows] == ["write_it", "<b>push</b>"]


async def test_the_rules_of_a_server_are_chosen_and_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.window.context.links.part_asked.emit("permissions", "server", "files")  # as another page does
        await until(lambda: page.rules.server == "files")
        chosen = choice(page, "What runs without asking")
        chosen.click()
        pick(chosen.findChildren(QMenu)[-1], "Everything")
        await desk.asked("set_server_auto_approve", "files", ["all"])
        await until(lambda: chosen.chosen == "all")
        assert await undone(desk) == "What runs without asking of files is changed"
        assert ("set_server_auto_approve", "files", ["read"]) in desk.engine.calls


async def test_one_tool_is_made_to_ask_by_the_keyboard_and_that_is_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        tools = page.rules.tools
        tools.setFocus()
        tools.setCurrentIndex(tools.model().index(0, 0))
        QTest.keyClick(tools, Qt.Key.Key_Space)
        pick(tools.findChildren(QMenu)[-1], "Asks first")
        await desk.asked("set_tool_approval", "files", "read_it", "ask")
        await until(lambda: cells(tools)[2] == "Asks first")
        assert await undone(desk) == "read_it asks first"
        assert ("set_tool_approval", "files", "read_it", "default") in desk.engine.calls


async def test_what_could_not_be_chosen_is_said_and_stands_as_before(theme: Theme) -> None:
    fake = engine()
    fake.failures["set_server_auto_approve"] = TooltrayError("Server 'files' not found")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.show_part("server", "files")
        chosen = choice(page, "What runs without asking")
        chosen.chosen_changed.emit("all")
        await until(lambda: "Server 'files' not found" in drawn(page))
        assert chosen.chosen == "reads"


async def test_a_server_that_goes_while_one_looks_is_shown_no_more(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.show_part("server", "git")
        desk.engine.permissions = [FILES]
        desk.engine.bus.publish(ClientListUpdated())
        await until(lambda: len(page.rules.servers.rows) == 2)
        assert page.rules.server == ""
        assert not choice(page, "What runs without asking").isVisible()


async def test_tools_that_are_not_known_are_not_said_to_be_none(theme: Theme) -> None:
    async with Desk(engine(ServerPermissions("files", (), is_listed=False)), theme) as desk:
        page = await opened(desk)
        page.show_part("server", "files")
        assert "Which tools it has is not known yet" in drawn(page)
        assert cells(page.rules.servers, 1) == ["files", "Nothing"]


async def test_five_thousand_tools_are_searched_by_name_and_server(theme: Theme) -> None:
    tools = tuple(replace(WRITE, tool=f"tool_{number}") for number in range(50))
    async with Desk(engine(*(ServerPermissions(f"s{number}", (), tools=tools) for number in range(100))), theme) as desk:
        page = await opened(desk)
        assert len(page.rules.tools.rows) == 5000
        QTest.keyClick(desk.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(desk.window.focusWidget(), "TOOL_7 s42")
        assert [each.key for each in page.rules.tools.rows] == [("s42", "tool_7")]
        assert [each.server for each in page.rules.servers.rows] == ["", "s42"]


async def test_a_tool_opened_shows_its_last_answers_and_leads_to_its_calls(theme: Theme) -> None:
    fake = engine()
    fake.grants = [GRANT]
    asked: list[tuple[str, str, str]] = []
    entry = ActivityEntry(1, "approval", time.time(), "refused", client="Cursor", touched="origin")
    fake.get_activity = lambda **_: [ActivityRow(entry, 1, 1, entry.at)]  # type: ignore[attr-defined]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        links = desk.window.context.links
        links.part_asked.disconnect()
        links.part_asked.connect(lambda *part: asked.append(part))
        page.rules.tools.row_chosen.emit(page.rules.tools.rows[2])
        panel = desk.window.sheet.panel
        await until(lambda: "Refused · Cursor · origin" in drawn(panel))
        assert nameless(desk.window) == []
        control(panel, "Revoke").click()
        await until(lambda: desk.engine.grants == [])
        control(panel, "Asks first").click()
        await desk.asked("set_tool_approval", "git", "<b>push</b>", "ask")
        control(panel, "Show its calls").click()
        (_, part, text) = asked[-1]
        assert (part, json.loads(text)["tools"]) == ("filter", ["<b>push</b>"])


async def test_answers_that_cannot_be_read_are_said_to_be_not_known(theme: Theme) -> None:
    fake = engine()
    fake.failures["get_activity"] = TooltrayError("The journal cannot be read")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.rules.open_tool(page.rules.tools.rows[0])
        await until(lambda: "Not known: The journal cannot be read" in words(desk.window.sheet.panel))
        desk.window.sheet.dismiss()
        page.granted.open_grant(GRANT)  # a row of a tool's grant leads to the same sheet
        await until(lambda: desk.window.sheet is not None and "<b>push</b> of git" in words(desk.window.sheet))


async def test_a_call_that_waits_is_pinned_on_top_counted_and_answered_in_place(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.engine.ask_approval(replace(CALL, ends_at=time.time() + 60))
        page = desk.permissions
        await until(lambda: page.waiting.count == 1)  # also while nobody looks
        await opened(desk)
        assert "Claude Code wants to use write_it of files" in drawn(page)
        control(page, "Answer…").click()
        panel = desk.window.sheet.panel
        assert not control(panel, "Allow").isEnabled()  # a click meant for something else is no answer
        await until(control(panel, "Allow").isEnabled)
        QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Return)
        assert not any(call[0] == "answer_approval" for call in desk.engine.calls)
        assert nameless(desk.window) == []
        QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("answer_approval", "c", "once")
        await until(lambda: desk.window.sheet is None and page.waiting.isHidden())


async def test_not_now_refuses_and_a_late_answer_says_why_in_the_sheet(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        for id in ("c", "d"):
            desk.engine.ask_approval(replace(CALL, id=id, ends_at=time.time() + 60))
        await until(lambda: page.waiting.count == 2)
        control(page, "Not now").click()
        await desk.asked("answer_approval", "c", "refuse")
        await until(lambda: page.waiting.count == 1)
        desk.engine.failures["answer_approval"] = TooltrayError("What is allowed cannot be saved")
        control(page, "Answer…").click()
        panel = desk.window.sheet.panel
        await until(control(panel, "Allow").isEnabled)
        control(panel, "Allow").click()
        await until(lambda: "What is allowed cannot be saved" in drawn(panel))
        desk.engine.failures.clear()
        desk.engine.end_approval("d")  # its time is over
        await until(lambda: desk.window.sheet is None)


async def test_a_call_that_ended_before_its_answer_closes_its_sheet_and_the_page_says_why(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.ask_approval(replace(CALL, ends_at=time.time() + 60))
        await until(lambda: page.waiting.count == 1)
        control(page, "Answer…").click()
        panel = desk.window.sheet.panel
        await until(control(panel, "Allow").isEnabled)
        desk.engine.approvals, desk.engine.failures["answer_approval"] = [], TooltrayError("This call no longer waits")
        control(panel, "Allow").click()
        await until(lambda: desk.window.sheet is None and "This call no longer waits" in drawn(page))


async def test_what_could_not_be_chosen_in_the_sheet_of_a_tool_is_said_there(theme: Theme) -> None:
    fake = engine()
    fake.failures["set_tool_approval"] = TooltrayError("The disk is full")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.rules.open_tool(page.rules.tools.rows[0])
        panel = desk.window.sheet.panel
        control(panel, "Asks first").click()
        await until(lambda: "The disk is full" in words(panel))
        assert control(panel, "As its server").isChecked()
        fake.failures.clear()
        control(panel, "Asks first").click()
        assert "The disk is full" not in words(panel)
        await until(lambda: cells(page.rules.tools)[2] == "Asks first")


async def test_what_a_project_brings_waits_there_and_is_looked_at(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        assert desk.files  # it has the sheet
        request = TrustRequest("/p/proj2", "/p/proj2/.mcp.json", "tests", "d", False, "stdio", "npx tests")
        desk.engine.trust_requests = [request, replace(request, entry="deploy")]
        desk.engine.bus.publish(ServerFilesChanged())
        await until(lambda: "proj2 brings 2 servers. Allow them?" in drawn(page))
        await until(lambda: not len(desk.tasks))
        control(page, "Look…").click()
        await until(lambda: desk.window.sheet is not None)
        assert "tests" in words(desk.window.sheet.panel)


async def test_folders_and_trusted_servers_are_taken_back_and_given_again(theme: Theme) -> None:
    fake = engine()
    fake.allowed_folders, fake.trusted = ["/p"], [TrustedEntry("/p/shop", "db", "db", time.time())]
    async with Desk(fake, theme) as desk:
        page = await opened(desk, TRUSTED)
        assert nameless(desk.window) == []
        page.trusted.folders.pressed.emit("/p")
        await until(lambda: fake.allowed_folders == [])
        assert await undone(desk) == "/p is not allowed any more"
        assert fake.allowed_folders == ["/p"]
        page.trusted.entries.pressed.emit(page.trusted.entries.rows[0])
        await until(lambda: "When a project brings servers" in drawn(page))
        assert await undone(desk) == "db is not trusted any more"
        assert ("restore_trust", "/p/shop", "db") in fake.calls
        control(page, "Allow a folder…").click()
        dialog = desk.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        dialog.fileSelected.emit("/q")
        dialog.reject()
        await until(lambda: fake.allowed_folders == ["/p", "/q"] and not len(desk.tasks))
        assert await undone(desk) == "/q is allowed"
        assert page.trusted.folders.rows == fake.allowed_folders == ["/p"]


async def test_an_ai_client_gets_rules_of_its_own_and_loses_them_again(theme: Theme) -> None:
    fake = engine()
    seen = ClientModeSnapshot("zed", "Zed", "", "everything", "", is_seen=True)
    fake.client_modes = [
        seen,
        replace(seen, client="odd", title="Odd", auto_approve=("names:*",)),
        replace(seen, client="x", is_seen=False),
    ]
    async with Desk(fake, theme) as desk:
        page = await opened(desk, CLIENTS)
        assert "names:*" in drawn(page)
        chosen = [each.chosen for each in page.clients.findChildren(Choice) if each.accessibleName().startswith("What runs")]
        assert chosen == ["", "own"]
        choice(page.clients, "What runs without asking for Zed").chosen_changed.emit("reads")
        await desk.asked("set_client_auto_approve", "zed", ["read"])
        assert await undone(desk) == "What runs without asking for Zed is changed"
        assert ("set_client_auto_approve", "zed", None) in fake.calls


async def test_an_ai_client_s_rules_on_arguments_are_told_and_its_flow_guard_is_chosen(theme: Theme) -> None:
    fake = engine()
    seen = ClientModeSnapshot("zed", "Zed", "", "everything", "", is_seen=True)
    fake.client_modes = [
        replace(seen, client="a", title="A", call_rules=("ls, where path is in /p; no other arguments",), is_seen=False),
        replace(seen, client="b", title="B", call_rules=()),
        replace(seen, flow_guard=False),
    ]
    async with Desk(fake, theme) as desk:
        page = await opened(desk, CLIENTS)
        assert "Runs without asking: ls, where path is in /p; no other arguments." in words(page)
        assert words(page).count("No rule on arguments counts for it.") == 1
        guard = choice(page.clients, "Flow guard for Zed")
        assert guard.chosen == "off"
        guard.chosen_changed.emit("")
        await desk.asked("change_settings", {"publish": {"clients": {"zed": {"flowGuard": None}}}}, "")
        assert await undone(desk) == "The flow guard for Zed is changed"
        assert ("change_settings", {"publish": {"clients": {"zed": {"flowGuard": False}}}}, "") in fake.calls
        assert nameless(desk.window) == []


async def test_when_calls_ask_is_chosen_for_all_clients_and_can_be_undone(theme: Theme) -> None:
    fake = engine()
    fake.settings = {"approvals": {"flowGuard": True, "sameForSeconds": 45}}
    async with Desk(fake, theme) as desk:
        page = await opened(desk, CLIENTS)
        asking = page.clients.asking
        switch, seconds = asking.findChild(Switch), asking.findChild(Choice)
        await until(lambda: switch.isChecked() and seconds.chosen == "45")
        switch.click()
        await desk.asked("change_settings", {"approvals": {"flowGuard": False}}, "")
        assert await undone(desk) == "When calls ask is changed"
        assert ("change_settings", {"approvals": {"flowGuard": True}}, "") in fake.calls
        seconds.chosen_changed.emit("10")
        await desk.asked("change_settings", {"approvals": {"sameForSeconds": 10}}, "")
        await until(lambda: seconds.chosen == "10")


async def test_a_hub_that_cannot_say_is_not_taken_for_one_that_allows_nothing(theme: Theme) -> None:
    fake = engine()
    fake.failures["get_permissions"] = TooltrayError("Tooltray is not running")
    async with Desk(fake, theme) as desk:
        desk.window.open_page("permissions")
        page = desk.permissions
        await until(lambda: "Tooltray is not running" in drawn(page))
        assert "No servers yet" not in drawn(page)
        assert "No tools listed yet." not in drawn(page)
        fake.failures.clear()
        page.look_again()
        await until(lambda: "1 of 2 servers runs everything" in drawn(page))
        desk.link.detach()
        desk.hub.forget()
        assert page.waiting.count == 0


RULE = GrantSnapshot("r", "rule", "files", "write_it", created_at=time.time(), rule={"tool": "write_it"}, words="write_it, where a is 1")
JUDGED = tuple(JudgedCall(0.0, "write_it", "c", f'{{"a":{number}}}', is_covered=number == 1) for number in (1, 2))


async def test_a_rule_is_said_in_words_with_the_calls_it_covers_and_can_be_taken_back(theme: Theme) -> None:
    fake = engine(replace(FILES, call_rules=("read_it, where path is x",)), GIT)
    fake.grants, fake.rule_preview = [RULE], RulePreview("w", {}, problems=("folder /x not found",), calls=JUDGED)
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.rules.choose("files")
        assert "Runs without asking: read_it, where path is x." in words(page)
        page.rules.choose("git")
        assert "read_it, where path is x" not in words(page)
        page.show_tab(GRANTED)
        await until(lambda: page.granted.grants)
        page.granted.open_grant(RULE)
        await until(lambda: desk.window.sheet is not None and "Not covered" in words(desk.window.sheet))
        sheet = desk.window.sheet
        assert sheet is not None
        for said in ("write_it, where a is 1", "Folder /x not found.", "Matches 1 of 2 recent calls.", '{"a":1}', '{"a":2}'):
            assert said in words(sheet)
        page.granted.open_grant(RULE)  # an open sheet stays
        assert desk.window.sheet is sheet
        button(sheet, "Revoke it").click()
        await until(lambda: ("remove_grant", "r") in fake.calls)


async def test_a_call_is_answered_by_a_rule_in_its_sheet(theme: Theme) -> None:
    fake = engine()
    rules = tuple(OfferedRule(f"rule-{number}", f"short {number}", f"whole {number}", {"tool": str(number)}) for number in (1, 2))
    fake.approvals, fake.rule_preview = [replace(CALL, rules=rules, ends_at=time.time() + 60)], RulePreview("w", {}, calls=JUDGED)
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: page.waiting.calls)
        page.waiting.open_call(page.waiting.calls[0])
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
    fake.approvals, fake.approval_form = [replace(CALL, is_editable=True, ends_at=time.time() + 60)], ApprovalForm({}, {"path": "x"})
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: page.waiting.calls)
        page.waiting.open_call(page.waiting.calls[0])
        panel = desk.window.sheet.panel
        await until(lambda: button(panel, "Allow").isEnabled())
        for _ in range(2):
            button(panel, "Edit arguments…").click()
            await until(lambda: "Edit arguments" in drawn(panel) and button(panel, "Allow").isEnabled())
            code = next(each for each in panel.findChildren(QPlainTextEdit) if each.isVisibleTo(panel))
            await until(code.hasFocus)
            code.setPlainText('{"path": "y"}')
            if _ == 0:
                QTest.keyClick(code, Qt.Key.Key_Escape)
                await until(
                    lambda: "Edit arguments…" in [each.text() for each in panel.findChildren(Button)] and button(panel, "Allow").isEnabled()
                )
        QTest.keyClick(code, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("answer_approval", "c", "once", {"path": "y"})
        await until(lambda: desk.window.sheet is None)


def test_each_answer_to_a_call_has_words() -> None:
    for outcome in (*CHOICES, "rule", "refused", "late", "cancelled"):
        word = answer_word(ActivityEntry(1, "approval", 1.0, outcome))
        assert word[:1].isupper(), outcome


def test_a_tool_that_is_allowed_until_the_screen_locks_says_so() -> None:
    tool, grant = ToolPermission("t", "write", "default", False, "", ("1",)), GrantSnapshot("1", "tool", "s", "t", until="lock")
    row = ToolRow("s", tool, True, (grant,))
    assert comes_to(row, datetime.now()) == ("Allowed until the screen locks", "accent")
    assert comes_to(replace(row, grants=(replace(grant, until=""),)), datetime.now()) == ("Allowed", "accent")
