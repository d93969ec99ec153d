"""What the settings say of Tooltray itself."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.browser import Browser
from tests.ui.seen import control, drawn

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ReleaseNewsChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.hub import ReleaseNews
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


FEED = "https://releases.example/releases.json"
NEWER = ReleaseNews(
    FEED,
    True,
    time.time(),
    version="1.3.0",
    changes=("<b>Tabs</b>", "Cards"),
    update=Phrase("Run: {command}", command="sudo apt install it"),
    command="sudo apt install it",
    download="https://releases.example/it.deb",
)


async def shown_news(desk: Desk, news: ReleaseNews, *texts: str) -> str:
    """Publishes news, and waits until these texts are shown of them."""
    desk.engine.snapshot = replace(desk.engine.snapshot, release=news)
    desk.engine.bus.publish(ReleaseNewsChanged(news))
    await until(lambda: desk.hub.snapshot.release == news and all(text in drawn(desk.settings) for text in texts))
    return drawn(desk.settings)


async def test_without_a_list_of_releases_nothing_is_offered(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        assert "New versions" not in drawn(await opened(desk))


async def test_a_newer_version_is_shown_as_plain_text_with_the_way_to_it(theme: Theme) -> None:
    browser = Browser()
    QDesktopServices.setUrlHandler("https", browser, "visit")
    try:
        async with Desk(FakePresenter([server("a")]), theme) as desk:
            page = await opened(desk)
            how = "• <b>Tabs</b>\n• Cards\nRun: sudo apt install it"
            await shown_news(desk, NEWER, "Tooltray 1.3.0 is available", how, "Checked ")
            control(page, "Copy command").click()
            assert QGuiApplication.clipboard().text() == "sudo apt install it"
            control(page, "Download").click()
            await until(lambda: browser.opened)
            assert browser.opened == ["https://releases.example/it.deb"]
    finally:
        QDesktopServices.unsetUrlHandler("https")


async def test_what_the_last_look_has_found_is_said(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        await shown_news(desk, ReleaseNews(FEED), "Not checked yet")
        await shown_news(desk, ReleaseNews(FEED, True, time.time()), "No newer version. Checked ")
        problem = Problem("The list of releases cannot be read", "it answered with HTTP 500")
        await shown_news(desk, ReleaseNews(FEED, True, time.time(), problem), "It answered with HTTP 500")
        withdrawn = ReleaseNews(FEED, True, time.time(), withdrawn="It loses settings")
        await shown_news(desk, withdrawn, "was withdrawn. You are using it.", "It loses settings")
        await shown_news(desk, replace(NEWER, command="", download=""), "Tooltray 1.3.0 is available")
        for name in ("Copy command", "Download"):
            with pytest.raises(AssertionError, match="no control"):
                control(page, name)


async def test_looking_is_switched_on_and_off_and_done_at_once(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        await shown_news(desk, ReleaseNews(FEED, False), "Check once a day")
        control(page, "Check now").click()
        await desk.asked("check_for_release")
        for is_on in (True, False):
            desk.engine.calls.clear()
            await until(lambda: not len(desk.tasks))
            control(page, "Check once a day").click()
            await until(lambda wanted=is_on: desk.engine.settings.get("updates") == {"check": wanted})
            await until(lambda: not len(desk.tasks))
            assert (("check_for_release",) in desk.engine.calls) is is_on


async def test_a_switch_that_could_not_be_set_is_as_before(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        await shown_news(desk, ReleaseNews(FEED, False), "Check once a day")
        desk.engine.failures["change_settings"] = TooltrayError("The settings cannot be written")
        control(page, "Check once a day").click()
        await until(lambda: "The settings cannot be written" in drawn(page))
        assert not control(page, "Check once a day").isChecked()
