"""What the settings say of Tooltray itself."""

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.browser import Browser
from tests.ui.seen import control, drawn

from tooltray.foundation.errors import TooltrayError
from tooltray.ui.theme import Theme


async def opened(desk: Desk) -> QWidget:
    page = desk.open_settings("about")
    await until(lambda: "Debian package" in drawn(page))
    return page


async def test_version_kind_places_and_how_it_is_updated_are_shown(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        text = drawn(await opened(desk))
        assert "0.1.0, Debian package" in text
        assert "sudo apt install" in text
        assert desk.engine.program.settings in text
        await until(lambda: "212 MB of memory, 1 % of a processor" in drawn(desk.settings))
        assert "1,480 MB, 6 servers" in drawn(desk.settings)


async def test_where_files_are_is_copied_and_opened(theme: Theme) -> None:
    opened_files = Browser()
    QDesktopServices.setUrlHandler("file", opened_files, "visit")
    try:
        async with Desk(FakePresenter([server("a")]), theme) as desk:
            page = await opened(desk)
            control(page, "Copy the path of Logs").click()
            assert QGuiApplication.clipboard().text() == desk.engine.program.logs
            control(page, "Open Settings").click()
            await until(lambda: opened_files.opened)
            assert Path(QUrl(opened_files.opened[0]).toLocalFile()) == Path(desk.engine.program.settings)
    finally:
        QDesktopServices.unsetUrlHandler("file")


async def test_what_cannot_be_read_says_so(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.failures["get_diagnostics"] = TooltrayError("a server hangs")
        page = await opened(desk)
        control(page, "Copy diagnostics…").click()
        await until(lambda: "A server hangs" in drawn(page))


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
        control(page, "Copy diagnostics…").click()
        await desk.asked("get_diagnostics")
        assert desk.window.sheet is sheet
