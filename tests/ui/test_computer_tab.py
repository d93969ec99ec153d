"""The tab of AI clients on this computer shows what a scan found, and connects, disconnects and undoes what a person asks for."""

import asyncio

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_clients import CHANGES, EDITS, SCAN, many_clients
from tests.fakes.server_snapshots import server
from tests.ui.browser import Browser
from tests.ui.seen import cells, control, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.ai_clients import ClientScan
from tooltray.ui.clients.clients_page import COMPUTER, CONNECTED
from tooltray.ui.clients.computer_tab import CHANGES as CHANGE_LIST
from tooltray.ui.clients.computer_tab import ELSEWHERE, ComputerTab
from tooltray.ui.clients.edits_sheet import EditsSheet, diff_lines
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.empty_state import Beginning
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.toast import Toast

CODEX = next(client for client in SCAN.clients if client.id == "codex")


def engine(scan: ClientScan = SCAN) -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.client_scan, fake.client_edits, fake.client_changes = scan, list(EDITS), list(CHANGES)
    return fake


async def opened(desk: Desk) -> ComputerTab:
    desk.open_tab(COMPUTER)
    await until(lambda: desk.window.context.scans.scan is not None and not len(desk.tasks))
    return desk.computer


def show_list(tab: ComputerTab, index: int) -> None:
    tab.tabs.findChildren(FilterTab)[index].click()


async def edits(desk: Desk) -> EditsSheet:
    await until(lambda: isinstance(desk.window.context.sheets.panel, EditsSheet))
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, EditsSheet)
    return panel


async def test_who_is_here_stands_with_its_connection_and_what_it_holds(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        assert "Found Claude Code, Cursor, Codex, Gemini CLI and 2 more." in words(tab)
        assert "5 keys in plain text." in words(tab)
        assert cells(tab.table, 0) == ["Claude Code", "Runs now", "Not connected", "4", "1", "Connect"]
        assert cells(tab.table, 1)[2:] == ["Connected", "1", "1", "Disconnect"]
        show_list(tab, ELSEWHERE)
        assert [cells(tab.table, row)[:2] for row in range(2)] == [["Warp", "Not installed"], ["Jan", "Not installed"]]


async def test_the_page_can_be_used_while_clients_are_looked_for_and_says_so(theme: Theme) -> None:
    fake, answer = engine(), asyncio.Event()

    async def scan(projects: tuple[str, ...]) -> ClientScan:
        await answer.wait()
        return SCAN

    fake.scan_ai_clients = scan
    async with Desk(fake, theme) as desk:
        desk.open_tab(COMPUTER)
        tab = desk.computer
        await until(lambda: desk.window.context.scans.is_scanning)
        assert "Looking for AI clients…" in words(tab)
        assert not tab.table.rows
        desk.clients_page.show_tab(CONNECTED)
        desk.clients_page.show_tab(COMPUTER)
        answer.set()
        await until(lambda: tab.table.rows)
        assert "Looking for AI clients…" not in words(tab)


async def test_a_scan_that_fails_is_said_above_what_is_known(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        fake.failures["scan_ai_clients"] = TooltrayError("The disk does not answer", "", "Try again")
        control(tab, "Rescan").click()
        await until(lambda: "The disk does not answer" in words(tab))
        assert len(tab.table.rows) == 6
        fake.failures.clear()
        control(tab, "Rescan").click()
        await until(lambda: "The disk does not answer" not in words(tab))


async def test_nobody_here_leads_to_the_entry_for_other_clients(theme: Theme) -> None:
    async with Desk(engine(ClientScan()), theme) as desk:
        tab = await opened(desk)
        asked: list[bool] = []
        desk.window.context.links.entry_copy_requested.connect(lambda: asked.append(True))
        assert "No supported client found" in words(tab)
        next(each for each in tab.findChildren(Beginning) if each.isVisible()).click()
        assert asked == [True]


async def test_connecting_shows_what_changes_and_changes_only_what_is_ticked(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.table.pressed.emit(SCAN.clients[0])
        panel = await edits(desk)
        assert panel.accessibleName() == "Connect Claude Code"
        assert [block.is_chosen for block in panel.blocks] == [True, False]  # the one under version control waits for a tick
        assert "Under version control" in [chip.accessibleName() for chip in panel.findChildren(Chip)]
        assert nameless(desk.window) == []
        control(panel, "Connect").click()
        await desk.asked("apply_client_edits", {"claude-code:user": "r1"})
        await until(lambda: "2 servers were taken out of Claude Code" in words(panel))


async def test_several_clients_are_connected_at_once_and_broken_files_are_shown_with_their_line(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        control(tab, "Connect all").click()
        await desk.asked("preview_connect", ["claude-code", "codex", "gemini-cli"])
        await until(lambda: desk.window.sheet is not None)
        assert desk.window.sheet is not None
        desk.window.sheet.dismiss()
        tab.connect_clients(["claude-code", "codex", "zed"])
        panel = await edits(desk)
        assert panel.accessibleName() == "Connect 3 AI clients"
        await until(lambda: len(panel.blocks) == 4)
        await until(lambda: "Line 14: a comma is missing. Mend it in Zed." in words(panel))
        broken = panel.blocks[-1]
        assert not broken.can_be_made
        assert not broken.control.isEnabled()
        panel.blocks[1].control.click()  # type: ignore[attr-defined]
        control(panel, "Change 3 files").click()
        await desk.asked("apply_client_edits", {"claude-code:user": "r1", "claude-code:shop": "r2", "codex:user": "r3"})


async def test_a_sheet_of_many_files_can_be_said_yes_to_only_when_all_are_shown(theme: Theme) -> None:
    fake = engine()
    fake.client_edits = [replace(EDITS[0], id=str(number)) for number in range(12)]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.table.pressed.emit(SCAN.clients[0])
        panel = await edits(desk)
        first = len(panel.blocks)
        assert not control(panel, f"Change {first} files").isEnabled()
        await until(lambda: len(panel.blocks) == 12)
        assert first < 12
        assert control(panel, "Change 12 files").isEnabled()


async def test_one_change_that_worked_is_a_toast_with_undo(theme: Theme) -> None:
    fake = engine()
    fake.client_changes = [CHANGES[0]]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.table.pressed.emit(CODEX)
        panel = await edits(desk)
        control(panel, "Mend").click()
        await until(lambda: desk.window.sheet is None)
        toast = next(each for each in desk.window.findChildren(Toast) if each.isVisible())
        assert toast.text == "Cursor is connected"
        control(toast, "Undo").click()
        await desk.asked("undo_client_change", "c1")


async def test_a_refusal_leaves_the_sheet_open_with_what_was_ticked(theme: Theme) -> None:
    fake = engine()
    fake.failures["apply_client_edits"] = TooltrayError("The file is another one by now", "", "Review it and decide again.")
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.table.pressed.emit(CODEX)
        panel = await edits(desk)
        QTest.keyClick(panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: "The file is another one by now" in words(panel))
        assert panel.blocks[0].is_chosen
        assert control(panel, "Mend").isEnabled()


async def test_a_connected_client_is_disconnected(theme: Theme) -> None:
    fake = engine()
    fake.client_edits = [replace(EDITS[0], client="cursor", action="disconnect")]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.table.pressed.emit(SCAN.clients[1])
        await desk.asked("preview_disconnect", ["cursor"])
        panel = await edits(desk)
        assert panel.accessibleName() == "Disconnect Cursor"
        assert control(panel, "Disconnect").isEnabled()


async def test_changes_stand_in_a_list_and_only_what_can_be_undone_has_a_button(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        show_list(tab, CHANGE_LIST)
        assert [cells(tab.changes, row)[0] for row in range(3)] == [
            "Cursor is connected",
            "The entry in Codex is mended",
            "2 servers were taken out of Claude Code",
        ]
        assert [cells(tab.changes, row)[3] for row in range(3)] == ["Undo", "Undo", ""]
        tab.changes.selectRow(0)
        QTest.keyClick(tab.changes, Qt.Key.Key_Space)
        await desk.asked("undo_client_change", "c1")
        tab.changes.selectRow(2)
        QTest.keyClick(tab.changes, Qt.Key.Key_Space)
        assert ("undo_client_change", "c3") not in desk.engine.calls


async def test_a_change_is_undone_from_its_sheet_which_closes_then(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.table.pressed.emit(SCAN.clients[0])
        panel = await edits(desk)
        control(panel, "Connect").click()
        await until(lambda: "2 servers were taken out of Claude Code" in words(panel))
        control(panel, "Undo: Cursor is connected").click()
        await desk.asked("undo_client_change", "c1")
        await until(lambda: desk.window.sheet is None)
        assert any(toast.text == "Cursor is connected" for toast in desk.window.findChildren(Toast))


async def test_where_nothing_has_to_change_it_is_said_and_an_open_sheet_stays(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        control(tab, "Import servers…").click()
        sheet = desk.window.sheet
        tab.table.pressed.emit(SCAN.clients[0])
        await desk.asked("preview_connect", ["claude-code"])
        await until(lambda: not len(desk.tasks))
        assert desk.window.sheet is sheet
        sheet.dismiss()
        fake.client_edits = []
        tab.table.pressed.emit(SCAN.clients[0])
        await until(lambda: any(toast.text == "Nothing has to change." for toast in desk.window.findChildren(Toast)))
        assert desk.window.sheet is None


async def test_an_undo_that_fails_is_said_on_the_page(theme: Theme) -> None:
    fake = engine()
    fake.client_changes = [replace(CHANGES[0], problem=Problem("Somebody else writes the file now"))]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.changes.pressed.emit(CHANGES[0])
        await until(lambda: "Somebody else writes the file now" in words(tab))


async def test_details_show_files_servers_and_why_and_move_one_client_s_servers(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.table.selectRow(0)
        QTest.keyClick(tab.table, Qt.Key.Key_Return)
        details = tab.details
        assert details is not None
        shown = words(details)
        assert "/home/ada/shop/.mcp.json" in shown
        assert "for the project shop" in shown
        assert "It writes its file at each run. Restart it after connecting." in shown
        assert nameless(desk.window) == []
        control(details, "Import its servers…").click()
        await desk.asked("preview_client_import", ["claude-code"], "", "")
        assert desk.window.sheet is not None
        desk.window.sheet.dismiss()
        QTest.keyClick(tab.table, Qt.Key.Key_Escape)
        assert tab.details is None


async def test_a_file_that_does_not_parse_is_shown_with_its_line(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.table.row_chosen.emit(SCAN.clients[4])
        assert tab.details is not None
        assert "This is not JSON" in words(tab.details)
        assert "Line 14. A comma is missing. Mend it in Zed." in words(tab.details)


async def test_a_client_that_takes_links_alone_is_opened_by_its_link(theme: Theme) -> None:
    browser = Browser()
    QDesktopServices.setUrlHandler("lmstudio", browser, "visit")
    try:
        async with Desk(engine(), theme) as desk:
            tab = await opened(desk)
            tab.table.pressed.emit(SCAN.clients[5])
            assert tab.details is not None
            control(tab.details, "Open its link").click()
            assert browser.opened == ["lmstudio://add_mcp?name=tooltray"]
    finally:
        QDesktopServices.unsetUrlHandler("lmstudio")


async def test_details_follow_a_newer_scan_and_go_with_their_client(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.table.row_chosen.emit(SCAN.clients[0])
        fake.client_scan = replace(SCAN, clients=(replace(SCAN.clients[0], connection="connected"), *SCAN.clients[1:]))
        desk.window.context.scans.look()
        await until(lambda: tab.details is not None and tab.details.client.connection == "connected")
        fake.client_scan = ClientScan()
        desk.window.context.scans.look()
        await until(lambda: tab.details is None)


@pytest.mark.parametrize("count", [1, 30])
async def test_one_client_and_many_are_rows_of_one_table(theme: Theme, count: int) -> None:
    async with Desk(engine(many_clients(count)), theme) as desk:
        tab = await opened(desk)
        assert len(tab.table.rows) == count


def test_a_diff_is_shown_without_its_headers_and_with_a_gap_between_hunks() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9 @@\n z\n"
    assert diff_lines(diff) == ["-x", "+y", " …", " z"]
    assert diff_lines("--- a\n+++ b\n@@ -1 +1 @@\n---flag\n") == ["---flag"]
