"""Folders with servers of their own are listed and revoked; files with servers are opened, and read again after a look at the plan."""

import asyncio

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QWidget
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.scenes.shown_files import (
    DEPLOY,
    FILES,
    NO_COMMAND,
    PLAN,
    PROXY_FILE,
    REQUESTS,
    SETTINGS_FILE,
    SHOP,
    SHOP_FILE,
    TRUSTED,
    many_files,
)
from tests.ui.seen import cells, control, table, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ServerFilesChanged
from tooltray.foundation.snapshots.setup import ReloadChange, ServerFileSnapshot
from tooltray.ui.projects.file_words import FolderRow
from tooltray.ui.projects.projects_tab import MOST_FILES, FileSheet, ProjectsTab, ReloadSheet
from tooltray.ui.projects.trust_sheet import FolderSheet, TrustSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.toast import Toast


def engine(files: list[ServerFileSnapshot] = FILES) -> FakePresenter:
    fake = FakePresenter([server("db", origin="project", file=SHOP_FILE.path, project=SHOP)])
    fake.files, fake.trust_requests, fake.trusted, fake.reload_changes = list(files), list(REQUESTS), list(TRUSTED), list(PLAN)
    return fake


async def undone(desk: Desk) -> str:
    """Presses Undo in the toast that is there; returns what it says."""
    await until(lambda: desk.window.findChildren(Toast))
    toast = desk.window.findChildren(Toast)[-1]
    text = toast.text
    control(toast, "Undo").click()
    await until(lambda: not isValid(toast) and not len(desk.tasks))
    return text


def trusted(page: ProjectsTab) -> list[FolderRow]:
    return [row for row in table(page, "Folders").rows if row.trusted is not None]


async def opened(desk: Desk) -> ProjectsTab:
    desk.open_projects()
    page = desk.projects
    await until(lambda: len(table(page, "Files with servers").rows) == len(desk.engine.files))
    await until(lambda: len(trusted(page)) == len(desk.engine.trusted))
    return page


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a program of the person was asked to open; every one is there."""
    found: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: found.append(url.toLocalFile()) or True)
    return found


async def test_each_file_says_what_it_is_for_how_many_servers_it_has_and_how_it_is(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        files = table(await opened(desk), "Files with servers")
        assert cells(files, 0) == ["Settings", "for all clients", "2 servers", "In use"]
        assert cells(files, 1) == [".mcp.json of shop", "for clients in this folder", "4 servers", "1 problem"]
        assert cells(files, 2)[3] == "1 waits"
        assert cells(files, 3)[1] == "TBXark proxy, as started"
        assert files.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole) == SHOP_FILE.path


async def test_a_problem_says_its_line_and_its_file_opens_at_a_press(theme: Theme, looked_at: list[str]) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        assert "'search' cannot be used" in words(page)
        assert ".mcp.json of shop, line 7" in words(page)
        control(page, "Open .mcp.json of shop, line 7").click()
        assert looked_at == [SHOP_FILE.path]


async def test_a_problem_that_is_put_right_goes_by_itself(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.files = [replace(file, problems=()) for file in FILES]
        desk.engine.bus.publish(ServerFilesChanged())
        await until(lambda: "'search' cannot be used" not in words(page))
        assert "Faulty entries are ignored; the rest is used, and running servers keep running." not in words(page)


async def test_a_file_that_no_program_opens_has_its_path_copied(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    async with Desk(engine(), theme) as desk:
        control(await opened(desk), "Open .mcp.json of shop, line 7").click()
        assert QGuiApplication.clipboard().text() == SHOP_FILE.path


async def test_a_file_shows_its_servers_with_their_lines_and_follows_it(theme: Theme, looked_at: list[str]) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        table(page, "Files with servers").row_chosen.emit(SHOP_FILE)
        assert desk.window.sheet is not None
        panel = desk.window.sheet.panel
        assert isinstance(panel, FileSheet)
        servers = table(panel, "Servers of the file")
        assert cells(servers, 1) == ["filesystem", "filesystem-shop", "In use", "8"]
        assert [cells(servers, row)[2] for row in range(4)] == ["In use", "In use", "Not allowed yet", "Not used"]
        assert nameless(desk.window) == []
        desk.engine.files = [replace(SHOP_FILE, entries=(replace(SHOP_FILE.entries[0], state="changed"),), problems=())]
        desk.engine.bus.publish(ServerFilesChanged())
        await until(lambda: len(servers.rows) == 1)
        assert cells(servers)[2] == "Its change waits"
        assert "cannot be used" not in words(panel)
        control(panel, "Open folder").click()
        control(panel, "Open the file").click()
        assert looked_at == [SHOP, SHOP_FILE.path]
        control(panel, "Close").click()
        assert desk.window.sheet is None


async def test_a_file_that_is_not_there_cannot_be_opened(theme: Theme) -> None:
    missing = ServerFileSnapshot(f"{SHOP}/.mcp.json", "mcp.json", exists=False, project=SHOP)
    async with Desk(engine([SETTINGS_FILE, missing]), theme) as desk:
        page = await opened(desk)
        assert cells(table(page, "Files with servers"), 1)[3] == "Not there"
        table(page, "Files with servers").row_chosen.emit(missing)
        assert not control(desk.window.sheet.panel, "Open the file").isEnabled()


async def test_the_endpoint_of_a_served_file_is_said(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        table(await opened(desk), "Files with servers").row_chosen.emit(PROXY_FILE)
        assert "TBXark proxy, as started · its endpoint: http://127.0.0.1:9090" in words(desk.window.sheet.panel)


async def test_reading_again_shows_the_plan_first_and_then_does_it(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        control(page, "Read again…").click()
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        assert isinstance(panel, ReloadSheet)
        plan = table(panel, "What changes")
        assert cells(plan, 1) == ["db", "Restarts", "another command", "shop/.mcp.json"]
        assert [cells(plan, row)[1] for row in range(6)] == ["Is added", "Restarts", "Is removed", "Asks you", "Is changed", "Stays"]
        assert nameless(desk.window) == []
        assert ("reload",) not in desk.engine.calls
        control(panel, "Reload now").click()
        await desk.asked("reload")
        await until(lambda: desk.window.sheet is None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [([], "All servers run as in their files. Nothing to do."), ([PLAN[3], PLAN[5]], "No changes. These need your review first.")],
)
async def test_where_there_is_nothing_to_do_the_plan_says_so_and_has_no_button_for_it(
    theme: Theme, changes: list[ReloadChange], said: str
) -> None:
    fake = engine()
    fake.reload_changes = changes
    async with Desk(fake, theme) as desk:
        control(await opened(desk), "Read again…").click()
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        assert said in words(panel)
        with pytest.raises(AssertionError):
            control(panel, "Reload now")


async def test_a_reload_that_fails_says_so_in_its_sheet_and_can_be_tried_again(theme: Theme) -> None:
    fake = engine()
    fake.failures["reload"] = TooltrayError("the files cannot be read", "the disk is gone")
    async with Desk(fake, theme) as desk:
        control(await opened(desk), "Read again…").click()
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        control(panel, "Reload now").click()
        await until(lambda: "The files cannot be read" in words(panel))
        assert control(panel, "Reload now").isEnabled()


async def test_a_plan_that_cannot_be_made_is_said_on_the_page(theme: Theme) -> None:
    fake = engine()
    fake.failures["preview_reload"] = TooltrayError("the hub is busy")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        control(page, "Read again…").click()
        await until(lambda: "The hub is busy" in words(page))
        assert desk.window.sheet is None


async def test_folders_say_what_waits_what_is_trusted_and_what_is_allowed(theme: Theme) -> None:
    fake = engine()
    fake.allowed_folders = ["/home/me"]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        folders = table(page, "Folders")
        await until(lambda: any(not row.requests and row.trusted is None for row in folders.rows))
        waiting = sum(bool(row.requests) for row in folders.rows)
        rest = [cells(folders, row) for row in range(waiting, len(folders.rows))]
        assert [cells(folders, row)[-1] for row in range(waiting)] == ["Review…"] * waiting
        assert [[*each[:3], each[4]] for each in rest] == [
            ["/home/me", "Your servers", "Allowed", "Revoke"],
            [SHOP, "db", "Allowed", "Revoke"],
            [SHOP, "filesystem (filesystem-shop)", "Allowed", "Revoke"],
        ]
        tips = [folders.model().index(row, 2).data(Qt.ItemDataRole.ToolTipRole) for row in range(waiting, waiting + 3)]
        assert "for all below it" in tips[0]
        assert tips[1:] == ["by you", "written by Tooltray"]


async def test_what_waits_opens_at_a_press_and_what_is_trusted_shows_its_file(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        folders = table(page, "Folders")
        folders.setCurrentIndex(folders.model().index(0, 0))
        QTest.keyClick(folders, Qt.Key.Key_Space)
        assert isinstance(desk.window.sheet.panel, TrustSheet)
        desk.window.sheet.dismiss()
        folders.row_chosen.emit(folders.rows[0])
        assert isinstance(desk.window.sheet.panel, TrustSheet)
        desk.window.sheet.dismiss()
        folders.row_chosen.emit(trusted(page)[0])
        assert isinstance(desk.window.sheet.panel, FileSheet)
        desk.window.sheet.dismiss()
        folders.row_chosen.emit(FolderRow("/home/me"))  # has no file
        assert desk.window.sheet is None


async def test_folders_and_trusted_servers_are_revoked_and_given_again(theme: Theme) -> None:
    fake = FakePresenter([server("a")])
    fake.allowed_folders, fake.trusted = ["/p"], [TRUSTED[0]]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        folders = table(page, "Folders")
        await until(lambda: len(folders.rows) == 2)
        folders.setCurrentIndex(folders.model().index(1, 0))
        QTest.keyClick(folders, Qt.Key.Key_Space)
        await desk.asked("distrust_entries", SHOP, "db")
        await until(lambda: len(folders.rows) == 1)
        assert await undone(desk) == "db is not allowed any more"
        assert ("restore_trust", SHOP, "db") in fake.calls
        folders.pressed.emit(FolderRow("/p"))
        await until(lambda: not fake.allowed_folders and "When a project brings servers" in words(page))
        assert await undone(desk) == "/p is not allowed any more"
        assert fake.allowed_folders == ["/p"]


def choose(desk: Desk, folder: str) -> None:
    """Chooses a folder to allow."""
    control(desk.projects, "Allow a folder…").click()
    dialog = desk.window.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(folder)
    dialog.reject()


async def folder_sheet(desk: Desk, folder: str) -> FolderSheet:
    """Opens the sheet about a folder, when it takes answers."""
    choose(desk, folder)
    await until(lambda: desk.window.sheet is not None)
    panel = desk.window.sheet.panel
    assert isinstance(panel, FolderSheet)
    panel._guard.setInterval(0)
    await until(lambda: not panel._guard.isActive())
    return panel


async def test_a_folder_is_allowed_only_after_what_that_allows_was_shown(theme: Theme) -> None:
    fake = FakePresenter([server("a"), server("serena", is_deferred=True)])
    fake.allowed_folders = ["/p"]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        panel = await folder_sheet(desk, "/q")
        shown = words(panel)
        assert "/q" in shown
        assert "wait for one: serena." in shown
        assert "no servers of its own" in shown
        assert fake.allowed_folders == ["/p"], "nothing is allowed by choosing a folder"
        control(panel, "Allow folder").click()
        await until(lambda: fake.allowed_folders == ["/p", "/q"] and not len(desk.tasks))
        assert desk.window.sheet is None
        assert await undone(desk) == "/q is allowed"
        assert [row.path for row in table(page, "Folders").rows] == fake.allowed_folders == ["/p"]


async def test_the_servers_of_a_folder_that_is_allowed_are_shown_and_switched_on_one_by_one(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await opened(desk)
        panel = await folder_sheet(desk, SHOP)
        assert "2 servers that wait" in words(panel)
        assert "./tools/deploy-server" in words(panel)
        assert "Allowed there already: db, filesystem." in words(panel)
        desk.engine.bus.publish(ServerFilesChanged())
        await until(lambda: not len(desk.tasks))
        assert desk.window.sheet is not None
        control(panel, "Allow deploy").click()
        control(panel, "Allow folder and 1 server").click()
        await until(lambda: desk.engine.allowed_folders == [SHOP] and not len(desk.tasks))
        assert ("trust_entries", SHOP, {"deploy": "1" * 64}) in desk.engine.calls
        await undone(desk)
        assert ("distrust_entries", SHOP, "deploy") in desk.engine.calls
        assert not desk.engine.allowed_folders


async def test_only_one_server_in_a_folder_is_not_allowed_with_it(theme: Theme) -> None:
    fake = engine()
    fake.trust_requests = [DEPLOY]
    async with Desk(fake, theme) as desk:
        await opened(desk)
        control(await folder_sheet(desk, SHOP), "Allow folder").click()
        await until(lambda: fake.allowed_folders == [SHOP] and not len(desk.tasks))
        assert fake.trust_requests == [DEPLOY]


async def test_a_folder_whose_file_cannot_be_read_says_so_and_can_be_allowed(theme: Theme) -> None:
    fake = FakePresenter([server("a")])
    async with Desk(fake, theme) as desk:
        await opened(desk)
        fake.failures["get_trust_requests"] = TooltrayError("this is not JSON")
        panel = await folder_sheet(desk, "/q")
        assert "This is not JSON" in words(panel)
        assert "no servers of its own" not in words(panel)
        control(panel, "Allow folder").click()
        await until(lambda: fake.allowed_folders == ["/q"])


async def test_reading_by_itself_can_be_switched_off(theme: Theme) -> None:
    fake = FakePresenter()
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        switch = control(page, "Reload automatically")
        assert switch.isChecked()
        switch.click()
        await desk.asked("change_settings", {"hotReload": False}, "")
        fake.failures["change_settings"] = TooltrayError("the settings cannot be written")
        switch.click()
        await until(lambda: "The settings cannot be written" in words(page))
        assert not switch.isChecked()  # it stands as it truly is


async def test_the_navigation_counts_what_a_person_should_see_to(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await desk.window.build_pages()
        await until(lambda: any("5" in each.accessibleName() for each in desk.window.findChildren(QAbstractButton) if each.isVisible()))


async def test_a_hundred_files_are_lines_of_a_table_and_the_first_problems_buttons(theme: Theme) -> None:
    async with Desk(engine(many_files(200)), theme) as desk:
        page = await opened(desk)
        buttons = [each for each in page.findChildren(QAbstractButton) if each.text() == "Open"]
        assert len(buttons) == MOST_FILES
        assert len(page.findChildren(QWidget)) < 400


async def test_a_file_with_many_problems_shows_the_first_ones_and_leads_to_the_rest(theme: Theme) -> None:
    broken = replace(SHOP_FILE, problems=tuple(replace(NO_COMMAND, problem=Problem(f"problem {number}")) for number in range(20)))
    async with Desk(engine([broken]), theme) as desk:
        page = await opened(desk)
        control(page, "17 more problems").click()
        assert isinstance(desk.window.sheet.panel, FileSheet)
        assert "10 more problems" in words(desk.window.sheet.panel)


async def test_a_sheet_that_is_open_stays(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        table(page, "Files with servers").row_chosen.emit(SHOP_FILE)
        sheet = desk.window.sheet
        table(page, "Files with servers").row_chosen.emit(PROXY_FILE)
        desk.window.context.links.trust_asked.emit(SHOP)
        control(page, "Read again…").click()
        await desk.asked("preview_reload")
        await until(lambda: not len(desk.tasks))
        assert desk.window.sheet is sheet


async def test_without_a_hub_the_page_asks_for_nothing(theme: Theme) -> None:
    desk = Desk(engine(), theme)
    desk.window.show()
    desk.open_projects()
    await asyncio.sleep(0)
    assert not control(desk.projects, "Read again…").isEnabled()
    assert desk.engine.calls == []
    await desk.close()


async def test_everything_on_the_page_has_a_name_and_tab_reaches_the_lists(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        assert nameless(desk.window) == []
        desk.window.resize(900, 600)
        await asyncio.sleep(0)
        reached = set()
        for _ in range(30):
            QTest.keyClick(QApplication.focusWidget() or desk.window, Qt.Key.Key_Tab)
            reached.add((QApplication.focusWidget() or page).accessibleName())
        assert {"Folders", "Files with servers", "Reload automatically"} <= reached
