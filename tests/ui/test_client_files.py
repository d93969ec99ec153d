"""What a scan of this computer finds of AI clients is shown; connecting, disconnecting and undoing change files after a preview."""

import asyncio
from collections.abc import Mapping
from typing import NoReturn

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
from tests.ui.seen import control, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import KeyringAwaited
from tooltray.foundation.snapshots.ai_clients import ClientScan
from tooltray.ui.clients.client_files import EditsSheet, diff_lines
from tooltray.ui.clients.client_table import ClientRow
from tooltray.ui.clients.clients_page import ClientsPage
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.empty_state import Beginning
from tooltray.ui.widgets.toast import Toast


def engine(scan: ClientScan = SCAN) -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.client_scan, fake.client_edits, fake.client_changes = scan, list(EDITS), list(CHANGES)
    return fake


async def opened(desk: Desk) -> ClientsPage:
    desk.window.open_page("clients")
    await until(lambda: desk.window.context.scans.scan is not None and not len(desk.tasks))
    return desk.clients


def row(page: ClientsPage, client: str) -> ClientRow:
    return next(each for each in page.table.rows if each.key == client)


def press(page: ClientsPage, client: str) -> None:
    """Presses the button of a row."""
    page.table.selectRow(page.table.rows.index(row(page, client)))
    QTest.keyClick(page.table, Qt.Key.Key_Space)


async def edits(desk: Desk) -> EditsSheet:
    await until(lambda: isinstance(desk.window.context.sheets.panel, EditsSheet))
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, EditsSheet)
    return panel


async def test_what_was_found_is_offered_for_import_and_nothing_found_is_not(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        assert "Found Claude Code, Cursor, Codex, Gemini CLI and 2 more." in words(page)
        assert "5 keys in plain text." in words(page)
        fake.client_scan = replace(SCAN, servers=0)
        control(page, "Rescan").click()
        await until(lambda: "5 keys in plain text." not in words(page))


async def test_the_page_can_be_used_while_clients_are_looked_for_and_says_so(theme: Theme) -> None:
    fake, answer = engine(), asyncio.Event()

    async def scan(projects: tuple[str, ...]) -> ClientScan:
        await answer.wait()
        return SCAN

    fake.scan_ai_clients = scan
    async with Desk(fake, theme) as desk:
        desk.window.open_page("clients")
        page = desk.clients
        await until(lambda: desk.window.context.scans.is_scanning)
        assert "Looking for AI clients…" in words(page)
        assert control(page, "Looking…").isEnabled()
        assert not page.table.rows
        answer.set()
        await until(lambda: page.table.rows)
        assert "Looking for AI clients…" not in words(page)


async def test_a_scan_that_fails_is_said_above_what_is_known(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        fake.failures["scan_ai_clients"] = TooltrayError("The disk does not answer", "", "Try again")
        control(page, "Rescan").click()
        await until(lambda: "The disk does not answer" in words(page))
        assert len(page.table.rows) == 7
        fake.failures.clear()
        control(page, "Rescan").click()
        await until(lambda: "The disk does not answer" not in words(page))


async def test_nobody_here_leads_to_the_entry_for_other_clients(theme: Theme) -> None:
    async with Desk(engine(ClientScan()), theme) as desk:
        page = await opened(desk)
        asked: list[bool] = []
        desk.window.context.links.entry_copy_requested.connect(lambda: asked.append(True))
        assert "No supported client found" in words(page)
        next(each for each in page.findChildren(Beginning) if each.isVisible()).click()
        assert asked == [True]


async def test_while_connecting_waits_for_the_keyring_the_sheet_says_so(theme: Theme) -> None:
    go_on = asyncio.Event()

    async def hang(edits: Mapping[str, str]) -> NoReturn:
        await go_on.wait()
        raise TooltrayError("The keyring is locked")

    fake = engine()
    fake.apply_client_edits = hang  # type: ignore[assignment, method-assign]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        press(page, "claude-code")
        panel = await edits(desk)
        control(panel, "Connect").click()
        await until(lambda: control(panel, "Writing…"))
        assert "Unlock your keyring to continue" not in words(panel)
        fake.bus.publish(KeyringAwaited(is_awaited=True))
        await until(lambda: "Unlock your keyring to continue" in words(panel))
        assert "Unlock your keyring to continue" not in words(panel.scroll_area)  # it is in sight, wherever the user has scrolled
        go_on.set()
        await until(lambda: "The keyring is locked" in words(panel))
        assert "Unlock your keyring to continue" not in words(panel)


async def test_connecting_shows_what_changes_and_changes_only_what_is_ticked(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        press(page, "claude-code")
        panel = await edits(desk)
        assert panel.accessibleName() == "Connect Claude Code"
        assert [block.is_chosen for block in panel.blocks] == [True, False]  # the one under version control waits for a tick
        assert "Under version control" in [chip.accessibleName() for chip in panel.findChildren(Chip)]
        assert nameless(desk.window) == []
        control(panel, "Connect").click()
        await desk.asked("apply_client_edits", {"claude-code:user": "r1"})


async def test_several_clients_are_connected_at_once_and_broken_files_are_shown_with_their_line(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        control(page, "Connect all").click()
        await desk.asked("preview_connect", ["claude-code", "codex", "gemini-cli"])
        await until(lambda: desk.window.sheet is not None)
        assert desk.window.sheet is not None
        desk.window.sheet.dismiss()
        page.files.connect(["claude-code", "codex", "zed"])
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
        page = await opened(desk)
        press(page, "claude-code")
        panel = await edits(desk)
        first = len(panel.blocks)
        assert not control(panel, f"Change {first} files").isEnabled()
        await until(lambda: len(panel.blocks) == 12)
        assert first < 12
        assert control(panel, "Change 12 files").isEnabled()


async def test_changes_that_worked_are_a_toast_with_what_to_know_of_them_and_undo(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        press(page, "codex")
        control(await edits(desk), "Mend").click()
        await until(lambda: desk.window.sheet is None)
        toast = next(each for each in desk.window.findChildren(Toast) if each.isVisible())
        lines = ["Cursor is set up", "The entry in Codex is mended. Restart Codex.", "2 servers were taken out of Claude Code"]
        assert toast.text.split("\n") == lines
        control(toast, "Undo").click()
        await desk.asked("undo_client_change", "c1")
        assert [call[1] for call in desk.engine.calls if call[0] == "undo_client_change"] == ["c2", "c1"], "the last one first"


async def test_what_cannot_be_undone_offers_no_undo(theme: Theme) -> None:
    fake = engine()
    fake.client_changes = [CHANGES[2]]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        press(page, "codex")
        control(await edits(desk), "Mend").click()
        await until(lambda: desk.window.sheet is None)
        toast = next(each for each in desk.window.findChildren(Toast) if each.isVisible())
        assert [button.text() for button in toast.findChildren(Button)] == []


async def test_a_refusal_leaves_the_sheet_open_with_what_was_ticked(theme: Theme) -> None:
    fake = engine()
    fake.failures["apply_client_edits"] = TooltrayError("The file is another one by now", "", "Review it and decide again.")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        press(page, "codex")
        panel = await edits(desk)
        QTest.keyClick(panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: "The file is another one by now" in words(panel))
        assert panel.blocks[0].is_chosen
        assert control(panel, "Mend").isEnabled()


async def test_a_connected_client_is_disconnected(theme: Theme) -> None:
    fake = engine()
    fake.client_edits = [replace(EDITS[0], client="cursor", action="disconnect")]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        press(page, "cursor")
        await desk.asked("preview_disconnect", ["cursor"])
        panel = await edits(desk)
        assert panel.accessibleName() == "Disconnect Cursor"
        assert control(panel, "Disconnect").isEnabled()


async def test_changes_are_in_the_pane_of_their_client_and_only_what_can_be_undone_has_a_button(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.table.row_chosen.emit(row(page, "claude-code"))
        assert "2 servers were taken out of Claude Code" in words(page.pane)
        assert "Undo" not in [each.text() for each in page.pane.findChildren(Button)]
        page.table.row_chosen.emit(row(page, "cursor"))
        control(page.pane, "Undo: Cursor is set up").click()
        await desk.asked("undo_client_change", "c1")


async def test_a_change_that_has_to_be_read_is_undone_from_its_sheet_which_closes_then(theme: Theme) -> None:
    fake = engine()
    fake.client_changes = [replace(CHANGES[0], is_encrypted=False)]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        press(page, "claude-code")
        panel = await edits(desk)
        control(panel, "Connect").click()
        await until(lambda: "The copy for Undo is not encrypted: the place of your secrets could not be used." in words(panel))
        control(panel, "Undo: Cursor is set up").click()
        await desk.asked("undo_client_change", "c1")
        await until(lambda: desk.window.sheet is None)
        assert any(toast.text.startswith("Cursor is set up") for toast in desk.window.findChildren(Toast))


async def test_where_nothing_has_to_change_it_is_said_and_an_open_sheet_stays(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        control(page, "Import servers…").click()
        sheet = desk.window.sheet
        press(page, "claude-code")
        await desk.asked("preview_connect", ["claude-code"])
        await until(lambda: not len(desk.tasks))
        assert desk.window.sheet is sheet
        sheet.dismiss()
        fake.client_edits = []
        press(page, "claude-code")
        await until(lambda: [toast.tone for toast in desk.window.findChildren(Toast) if toast.text == "Nothing has to change."] == ["info"])
        assert desk.window.sheet is None


async def test_an_undo_that_fails_is_said_on_the_page(theme: Theme) -> None:
    fake = engine()
    fake.client_changes = [replace(CHANGES[0], problem=Problem("Somebody else writes the file now"))]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.files.undo(["c1"])
        await until(lambda: "Somebody else writes the file now" in words(page))


async def test_details_show_files_servers_and_why_and_move_one_client_s_servers(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.table.selectRow(page.table.rows.index(row(page, "claude-code")))
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        details = page.pane
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
        QTest.keyClick(page.table, Qt.Key.Key_Escape)
        assert page.pane is None


async def test_a_file_that_does_not_parse_is_shown_with_its_line(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.table.row_chosen.emit(row(page, "zed"))
        assert page.pane is not None
        assert "This is not JSON" in words(page.pane)
        assert "Line 14. A comma is missing. Mend it in Zed." in words(page.pane)


async def test_a_client_that_takes_links_alone_is_opened_by_its_link(theme: Theme) -> None:
    browser = Browser()
    QDesktopServices.setUrlHandler("lmstudio", browser, "visit")
    try:
        async with Desk(engine(), theme) as desk:
            page = await opened(desk)
            press(page, "lm-studio")
            assert page.pane is not None
            control(page.pane, "Open its link").click()
            assert browser.opened == ["lmstudio://add_mcp?name=tooltray"]
    finally:
        QDesktopServices.unsetUrlHandler("lmstudio")


async def test_details_follow_a_newer_scan_and_go_with_their_client(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.table.row_chosen.emit(row(page, "claude-code"))
        fake.client_scan = replace(SCAN, clients=(replace(SCAN.clients[0], connection="connected"), *SCAN.clients[1:]))
        desk.window.context.scans.look()
        await until(lambda: page.pane is not None and page.pane.client.found.connection == "connected")
        fake.client_scan = ClientScan()
        desk.window.context.scans.look()
        await until(lambda: page.pane is None)


@pytest.mark.parametrize("count", [1, 30])
async def test_one_client_and_many_are_rows_of_one_table(theme: Theme, count: int) -> None:
    async with Desk(engine(many_clients(count)), theme) as desk:
        page = await opened(desk)
        assert len(page.table.rows) == count


def test_a_diff_is_shown_without_its_headers_and_with_a_gap_between_hunks() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9 @@\n z\n"
    assert diff_lines(diff) == ["-x", "+y", " …", " z"]
    assert diff_lines("--- a\n+++ b\n@@ -1 +1 @@\n---flag\n") == ["---flag"]
