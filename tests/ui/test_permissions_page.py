"""The Permissions page: what waits is answered there; rules of AI clients, and what is trusted."""

import time

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import button, control, drawn, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ServerFilesChanged
from tooltray.foundation.snapshots.approvals import (
    ApprovalSnapshot,
    GrantSnapshot,
    JudgedCall,
    OfferedRule,
    RulePreview,
    TrustedEntry,
    TrustRequest,
)
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.call_sheet import CallSheet
from tooltray.ui.approval.permissions_page import CLIENTS, TRUSTED, PermissionsPage
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.toast import Toast

CALL = ApprovalSnapshot("c", "files", "write_it", "Claude Code", "write", '{"path": "x"}', "it writes", 0.0, ("once", "session", "always"))


def engine() -> FakePresenter:
    return FakePresenter([server("files"), server("git")])


async def opened(desk: Desk, tab: int = 0) -> PermissionsPage:
    desk.window.open_page("permissions")
    page = desk.permissions
    page.show_tab(tab)
    await until(lambda: not len(desk.tasks))
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
        choice(panel, "If you allow it").choose("session")
        QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("answer_approval", "c", "session")
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
    fake.failures["get_client_modes"] = TooltrayError("Tooltray is not running")
    async with Desk(fake, theme) as desk:
        desk.window.open_page("permissions")
        page = desk.permissions
        await until(lambda: "Tooltray is not running" in drawn(page))
        fake.failures.clear()
        page.look_again()
        await until(lambda: "Tooltray is not running" not in drawn(page))
        desk.link.detach()
        desk.hub.forget()
        assert page.waiting.count == 0


RULE = GrantSnapshot("r", "rule", "files", "write_it", created_at=time.time(), rule={"tool": "write_it"}, words="write_it, where a is 1")
JUDGED = tuple(JudgedCall(0.0, "write_it", "c", f'{{"a":{number}}}', is_covered=number == 1) for number in (1, 2))


async def test_a_rule_is_said_in_words_with_the_calls_it_covers_and_can_be_taken_back(theme: Theme) -> None:
    fake = engine()
    fake.grants, fake.rule_preview = [RULE], RulePreview("w", {}, problems=("folder /x not found",), calls=JUDGED)
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
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
        choice = panel.findChild(Choice)
        assert choice is not None
        choice.choose("rule")
        choice.chosen_changed.emit("rule")
        button(panel, "short 2").click()
        await until(lambda: "whole 2" in words(panel) and "of 2 recent calls" in words(panel))
        button(panel, "Allow").click()
        await until(lambda: ("answer_approval", "c", "rule-2") in fake.calls)
