"""What the Settings page says of Tooltray itself."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QScrollArea, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, drawn

from tooltray.errors import TooltrayError
from tooltray.ui.theme import Theme


async def opened(desk: Desk) -> QWidget:
    desk.window.open_page("settings")
    await until(lambda: "Debian package" in drawn(desk.settings))
    return desk.settings


async def test_version_kind_and_how_it_is_updated_are_shown(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        text = drawn(await opened(desk))
        assert "0.1.0, Debian package" in text
        assert "sudo apt install" in text


async def test_the_switch_shows_what_the_system_says(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        control(page, "Start when you log in").click()
        await until(lambda: desk.engine.program.starts_at_login)
        desk.engine.set_start_at_login(False)  # somebody has switched it off elsewhere
        desk.window.open_page("servers")
        desk.window.open_page("settings")
        await until(lambda: not control(page, "Start when you log in").isChecked())


async def test_a_switch_that_the_system_refuses_goes_back_and_the_reason_is_shown(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.failures["set_start_at_login"] = TooltrayError("the folder is read-only")
        page = await opened(desk)
        control(page, "Start when you log in").click()
        await until(lambda: "The folder is read-only" in drawn(page))
        assert not control(page, "Start when you log in").isChecked()


async def test_diagnostics_are_seen_before_they_are_copied(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        QGuiApplication.clipboard().setText("before")
        control(await opened(desk), "Copy diagnostics…").click()
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        shown = panel.findChild(QPlainTextEdit).toPlainText()
        assert shown == "Tooltray 0.1.0\n\nserver git: running\n"
        assert QGuiApplication.clipboard().text() == "before"
        control(panel, "Copy").click()
        assert QGuiApplication.clipboard().text() == shown


async def test_licences_are_shown_and_no_second_sheet_covers_the_first(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        control(page, "Show licences").click()
        await until(lambda: desk.window.sheet is not None)
        sheet = desk.window.sheet
        assert "MIT License" in sheet.panel.findChild(QPlainTextEdit).toPlainText()
        page.program_sheets.commands.show_diagnostics()
        await desk.asked("get_diagnostics")
        assert desk.window.sheet is sheet


async def test_about_in_the_tray_s_menu_leads_there(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.window.resize(900, 600)
        desk.window.open_page("servers")
        desk.window.show_about()
        assert page.isVisible()
        area = page.findChild(QScrollArea)
        bottom = page.program.mapTo(area.viewport(), page.program.rect().bottomLeft()).y()
        await until(lambda: bottom <= area.viewport().height())
