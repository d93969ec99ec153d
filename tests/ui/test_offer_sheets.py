"""Bundles, servers inside Tooltray, links to AI clients, and the first start: what a person sees before a yes, and what the yes does."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_clients import PLAN, SCAN
from tests.fakes.found_servers import BUNDLE, NEW, STARTERS
from tests.fakes.server_snapshots import server
from tests.ui.browser import Browser
from tests.ui.seen import control, field, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.ai_clients import ClientScan
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.servers import InMemoryServer
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.add.offer_sheets import BundleSheet, ReadingBundleSheet, bundle_of_urls, kind_text, signature_text, size_text
from tooltray.ui.clients.import_sheet import ImportSheet
from tooltray.ui.servers.server_sheets import AddToSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.empty_state import Beginning

NOTES = InMemoryServer("notes", "tooltray-notes", "0.3.1", "Notes in your own folder")
OLD = InMemoryServer("old", "old-package", problem=Problem("It needs another version of mcp"))


def engine() -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.bundle, fake.new_server, fake.client_scan, fake.import_plan = BUNDLE, replace(NEW, name="weather"), SCAN, PLAN
    fake.inmemory_servers, fake.starters = [NOTES, OLD], list(STARTERS)
    fake.client_links = {"Cursor": "cursor://x", "VS Code": "vscode:mcp/install?x"}
    return fake


def drop(desk: Desk, *urls: str) -> bool:
    """Drops addresses on the window; returns whether it wanted them."""
    data = QMimeData()
    data.setUrls([QUrl(url) for url in urls])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(QPoint(9, 9), copy, data, left, none)
    entered.setAccepted(False)
    desk.window.dragEnterEvent(entered)
    if entered.isAccepted():
        desk.window.dropEvent(QDropEvent(QPoint(9, 9), copy, data, left, none))
    return entered.isAccepted()


async def bundle(desk: Desk) -> BundleSheet:
    await until(lambda: isinstance(desk.window.context.sheets.panel, BundleSheet))
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, BundleSheet)
    return panel


def adding(desk: Desk) -> AddServerSheet:
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, AddServerSheet)
    return panel


# bundles


async def test_a_bundle_that_is_dropped_is_read_and_shown_and_installed_after_a_yes(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        assert drop(desk, QUrl.fromLocalFile("/home/ada/weather.mcpb").toString())
        await desk.asked("read_bundle", "/home/ada/weather.mcpb")
        panel = await bundle(desk)
        shown = words(panel)
        assert "Ada Example" in shown
        assert BUNDLE.sha256 in shown
        assert "It is not signed: anyone could have written this name." in shown
        assert "runs with Node.js · 1.8 MB · MIT" in shown
        assert nameless(desk.window) == []
        field(panel, "API key").setText("not-a-real-key")
        await until(lambda: "npx -y @ada/files@0.9.1 /home/ada/notes" in words(panel))
        control(panel, "Install").click()
        values = {"api_key": "not-a-real-key", "limit": 20.0}
        await desk.asked("install_bundle", BUNDLE.source, BUNDLE.sha256, values, "weather", "careful")
        await until(lambda: desk.window.sheet is None)


@pytest.mark.parametrize("url", ["file:///home/ada/a.zip", "http://x.example/a.mcpb", "ftp://x.example/a.dxt"])
async def test_anything_else_is_not_taken(theme: Theme, url: str) -> None:
    async with Desk(engine(), theme) as desk:
        assert not drop(desk, url)
        assert desk.window.sheet is None


async def test_a_bundle_is_not_taken_while_another_sheet_is_open(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.page.add()
        assert not drop(desk, "file:///home/ada/a.mcpb")


async def test_a_bundle_that_cannot_be_read_says_why_where_it_would_have_been_shown(theme: Theme) -> None:
    fake = engine()
    fake.failures["read_bundle"] = TooltrayError("This is no bundle", "its manifest is missing", "")
    async with Desk(fake, theme) as desk:
        drop(desk, "file:///home/ada/a.dxt")
        panel = desk.window.context.sheets.panel
        assert isinstance(panel, ReadingBundleSheet)
        await until(lambda: "This is no bundle" in words(panel))


async def test_what_cannot_run_here_cannot_be_installed(theme: Theme) -> None:
    fake = engine()
    fake.bundle = replace(BUNDLE, problems=(Problem("It is for macOS alone"), Problem("Node.js is too old")))
    async with Desk(fake, theme) as desk:
        drop(desk, "file:///home/ada/a.mcpb")
        panel = await bundle(desk)
        assert "It is for macOS alone" in words(panel)
        assert "Node.js is too old" in words(panel)
        assert not control(panel, "Install").isEnabled()


async def test_what_a_person_should_know_of_a_bundle_is_said_once_and_before_the_form(theme: Theme) -> None:
    fake = engine()
    careful = Problem("It deletes files")
    fake.bundle, fake.new_server = replace(BUNDLE, warnings=(careful,), fields=()), replace(NEW, warnings=(careful,))
    async with Desk(fake, theme) as desk:
        drop(desk, "file:///home/ada/a.mcpb")
        panel = await bundle(desk)
        assert "It deletes files" in words(panel)
        await until(control(panel, "Install").isEnabled)
        assert words(panel).count("It deletes files") == 1


async def test_a_newer_bundle_updates_the_server_that_is_here(theme: Theme) -> None:
    fake = engine()
    fake.bundle = replace(BUNDLE, here="a", here_version="1.1.0", fields=())
    async with Desk(fake, theme) as desk:
        drop(desk, "https://x.example/weather.mcpb")
        panel = await bundle(desk)
        assert "1.1.0 → 1.2.0" in words(panel)
        await until(control(panel, "Update a").isEnabled)
        control(panel, "Update a").click()
        await desk.asked("install_bundle", BUNDLE.source, BUNDLE.sha256, {}, "a", "careful")


async def test_a_bundle_can_be_chosen_as_a_file(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.page.add()
        control(adding(desk), "From a file…").click()
        dialog = desk.window.findChild(QFileDialog)
        assert dialog is not None
        dialog.fileSelected.emit("/home/ada/weather.mcpb")
        dialog.reject()
        await desk.asked("read_bundle", "/home/ada/weather.mcpb")
        await bundle(desk)


def test_words_about_a_bundle(theme: Theme) -> None:
    assert [size_text(size) for size in (12, 12_000, 2_500_000)] == ["1 kB", "12 kB", "2.5 MB"]
    kinds = [kind_text(replace(BUNDLE, kind=kind)) for kind in ("node", "python", "uv", "binary")]  # type: ignore[arg-type]
    assert kinds == ["runs with Node.js", "runs with Python", "runs with uv", "brings a program of its own"]
    assert signature_text(replace(BUNDLE, signature="unverified")) == "It has a signature that was not verified."


def test_the_first_bundle_of_what_is_dropped_is_taken(tmp_path: Path) -> None:
    urls = [QUrl("file:///a.txt"), QUrl.fromLocalFile(str(tmp_path / "B.MCPB")), QUrl("https://x.example/c.dxt?y=1")]
    assert bundle_of_urls(urls) == str(tmp_path / "B.MCPB")
    assert bundle_of_urls(urls[2:]) == "https://x.example/c.dxt?y=1"
    assert bundle_of_urls([]) == ""


# servers inside Tooltray


async def test_servers_of_packages_are_offered_with_what_they_can_read(theme: Theme) -> None:
    fake = engine()
    fake.trust_requests = [TrustRequest("", "settings.json", "notes", "d1", False, "inmemory", "notes")]
    async with Desk(fake, theme) as desk:
        desk.page.add()
        panel = adding(desk)
        await until(lambda: "notes" in words(panel))
        assert "Each of them runs inside Tooltray and can read every secret." in words(panel)
        assert "tooltray-notes 0.3.1 · Notes in your own folder" in words(panel)
        assert not control(panel, "Add old").isEnabled()
        control(panel, "Add notes").click()
        inside = desk.window.context.sheets.panel
        await until(lambda: "It runs inside Tooltray and can read every secret." in " ".join(words(inside).splitlines()))
        control(inside, "Add and run inside Tooltray").click()
        await desk.asked("add_mcp_server", "notes", {"type": "inmemory", "command": "notes", "args": []}, True, "trusted")
        await desk.asked("trust_entries", "", {"notes": "d1"})
        await until(lambda: desk.window.sheet is None)


async def test_without_such_packages_nothing_is_said_of_them_and_pasting_hides_the_other_ways(theme: Theme) -> None:
    fake = engine()
    fake.inmemory_servers = []
    async with Desk(fake, theme) as desk:
        desk.page.add()
        panel = adding(desk)
        await until(lambda: not len(desk.tasks))
        assert "Of installed packages" not in words(panel)
        assert panel.other_ways.isVisible()
        panel._field.setPlainText("npx -y x")
        assert not panel.other_ways.isVisible()


async def test_the_other_ways_lead_to_finding_and_moving(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.page.add()
        control(adding(desk), "Find one").click()
        assert desk.discover.isVisible()
        assert desk.window.sheet is None
        desk.page.add()
        control(adding(desk), "Import servers…").click()
        assert isinstance(desk.window.context.sheets.panel, ImportSheet)
        assert desk.clients.isVisible()


# links


async def test_a_server_is_added_to_an_ai_client_by_a_link_that_is_opened_or_copied(theme: Theme) -> None:
    browser = Browser()
    QDesktopServices.setUrlHandler("cursor", browser, "visit")
    try:
        async with Desk(engine(), theme) as desk:
            await until(lambda: desk.page.server_list.cards)
            details = desk.open_server("a")
            control(details, "More for a").click()
            menu = next(each for each in details.findChildren(QMenu) if each.isVisible())
            next(action for action in menu.actions() if action.text() == "Add to an AI client…").trigger()
            menu.close()
            panel = desk.window.context.sheets.panel
            assert isinstance(panel, AddToSheet)
            await until(lambda: "VS Code" in words(panel))
            assert nameless(desk.window) == []
            control(panel, "Open the link for Cursor").click()
            control(panel, "Copy the link for VS Code").click()
            assert browser.opened == ["cursor://x"]
            assert QGuiApplication.clipboard().text() == "vscode:mcp/install?x"
    finally:
        QDesktopServices.unsetUrlHandler("cursor")


async def test_a_server_that_no_link_can_carry_says_so(theme: Theme) -> None:
    fake = engine()
    fake.client_links = {}
    async with Desk(fake, theme) as desk:
        desk.wishes.link_requested.emit("a")
        panel = desk.window.context.sheets.panel
        await until(lambda: "No AI client takes a link for it" in words(panel))


# the first start


async def test_the_first_start_says_what_ai_clients_have_and_leads_to_moving_pasting_and_finding(theme: Theme) -> None:
    fake = FakePresenter()
    fake.client_scan, fake.import_plan, fake.starters = SCAN, PLAN, list(STARTERS)
    async with Desk(fake, theme) as desk:
        await until(lambda: "5 keys in plain text." in words(desk.page))
        assert "Found Claude Code, Cursor, Codex, Gemini CLI and 2 more." in words(desk.page)
        ways = [each for each in desk.page.findChildren(Beginning) if each.isVisible()]
        ways[2].click()
        assert desk.discover.isVisible()
        desk.servers_page.show_tab("installed")
        ways[1].click()
        adding(desk)
        assert desk.window.sheet is not None
        desk.window.sheet.dismiss()
        ways[0].click()
        assert isinstance(desk.window.context.sheets.panel, ImportSheet)


async def test_a_first_start_without_ai_clients_says_nothing_of_them(theme: Theme) -> None:
    fake = FakePresenter()
    fake.client_scan = ClientScan()
    async with Desk(fake, theme) as desk:
        await desk.asked("scan_ai_clients", ())
        await until(lambda: not len(desk.tasks))
        assert "Every AI client that you connect can use it right away." in words(desk.page)
