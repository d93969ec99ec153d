"""The tab Discover finds servers as one types, shows what each would run, and adds what a person wants."""

from datetime import datetime

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_servers import BUNDLE, HITS, NEW, SERVER, STARTERS, STATUS, UPDATES, many_hits
from tests.fakes.server_snapshots import server
from tests.ui.browser import Browser
from tests.ui.seen import control, field, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import SecretsChanged
from tooltray.foundation.snapshots.discovery import RegistryOption, RegistryStatus
from tooltray.ui.add.discover_tab import DiscoverTab, Offer, OfferList, status_line
from tooltray.ui.add.offer_sheets import BundleSheet, RegistrySheet, StarterSheet
from tooltray.ui.add.review_sheet import OfferSheet
from tooltray.ui.add.server_review import free_name
from tooltray.ui.kit.destinations import Servers
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import Option
from tooltray.ui.widgets.toast import Toast

FIRST = "hit:io.github.ada/files"


def engine() -> FakePresenter:
    fake = FakePresenter([server("a"), server("files")])
    fake.starters, fake.registry_hits, fake.registry_status = list(STARTERS), list(HITS), STATUS
    fake.registry_servers, fake.registry_updates, fake.new_server = {each.name: SERVER for each in HITS}, list(UPDATES), NEW
    return fake


async def opened(desk: Desk) -> DiscoverTab:
    desk.window.go(Servers("discover"))
    tab = desk.discover
    await until(lambda: tab.offers.offers and not len(desk.tasks))
    return tab


def titles(tab: DiscoverTab) -> list[str]:
    return [offer.title for offer in tab.offers.offers]


async def sheet(desk: Desk) -> OfferSheet:
    await until(lambda: isinstance(desk.window.context.sheets.panel, OfferSheet))
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, OfferSheet)
    return panel


async def test_while_nothing_is_searched_updates_and_well_known_servers_stand_below_their_headings(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        assert titles(tab)[:5] == ["Updates", "github: 1.2.0 → 1.4.0", "Files", "Filesystem", "Git"]
        assert [offer.is_heading for offer in tab.offers.offers][:3] == [True, False, True]
        assert tab.offers.offers[4].chips == (("Added as git", "success"),)
        assert "20,123 servers of the official registry" in words(tab)
        assert nameless(desk.window) == []


async def test_what_is_typed_is_searched_for_and_an_empty_field_brings_the_list_back(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        QTest.keyClicks(tab.field, "file")
        await desk.asked("search_registry", "file", 50)
        found = ["GitHub", "Files", "com.example/search"]
        await until(lambda: titles(tab) == ["Well-known", "Filesystem", "Official registry", *found])
        assert "4 found" in words(tab)
        searches = [call for call in desk.engine.calls if call[0] == "search_registry"]
        assert len(searches) == 2  # the one for its age, and one for all four letters
        QTest.keyClick(tab.field, Qt.Key.Key_Escape)
        assert titles(tab)[0] == "Updates"


async def test_an_answer_for_other_words_is_passed_over(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.field.setText("new words")
        tab.show_found("old words", desk.engine.registry_search(50))
        assert titles(tab)[0] == "Updates"


async def test_more_than_is_shown_is_counted(theme: Theme) -> None:
    fake = engine()
    fake.registry_hits = many_hits(2000)
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.field.setText("server")
        await until(lambda: "50 of 2,000 found. Another word narrows it down." in words(tab))


async def test_nothing_found_leads_to_pasting(theme: Theme) -> None:
    fake = engine()
    fake.registry_hits = []
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.field.setText("zzz")
        await until(lambda: "Nothing is found" in words(tab))
        control(tab, "Paste a command, a URL or a JSON block. From any README: npx, uvx, an address or a config").click()
        assert desk.window.sheet is not None
        assert desk.window.sheet.panel.accessibleName() == "Add server"


async def test_how_old_the_copy_is_and_why_is_said_and_it_can_be_fetched_anew(theme: Theme) -> None:
    fake = engine()
    fake.registry_status = replace(STATUS, problem=Problem("The registry cannot be reached", "no network", "Retrying in an hour"))
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        assert "The registry cannot be reached. No network." in words(tab)
        assert "Retrying" not in words(tab)
        fake.registry_hits = []
        tab.field.setText("zzz")
        await until(lambda: "Nothing is found" in words(tab))
        place = tab._stack.pos()
        retry = control(tab, "Retry")
        fake.registry_status = STATUS
        retry.click()
        assert (retry.text(), retry.isEnabled()) == ("Refreshing…", True)
        retry.click()  # does nothing more
        await until(lambda: "The registry cannot be reached" not in words(tab))
        await until(lambda: retry.text() == "Refresh" and not len(desk.tasks))
        assert [call[0] for call in desk.engine.calls].count("refresh_registry") == 1
        assert tab._stack.pos() == place


async def test_refreshing_that_fails_says_so_and_can_be_tried_again(theme: Theme) -> None:
    fake = engine()
    fake.failures["refresh_registry"] = TooltrayError("The disk is full")
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.field.setText("file")
        control(tab, "Refresh").click()
        await until(lambda: "The disk is full" in words(tab) and not len(desk.tasks))
        assert control(tab, "Refresh").isEnabled()


async def test_a_registry_that_was_never_fetched_is_not_said_to_have_nothing(theme: Theme) -> None:
    fake = engine()
    fake.registry_hits, fake.registry_status = [], RegistryStatus(is_updating=True)
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.field.setText("zzz")
        await until(lambda: "The registry cannot be searched yet" in words(tab))
        fake.registry_hits, fake.registry_status = list(HITS), STATUS
        tab._again.setInterval(0)
        tab.show_status(RegistryStatus(is_updating=True))
        await until(lambda: "GitHub" in titles(tab))  # by itself


async def test_well_known_servers_are_searched_while_the_registry_cannot_be_read(theme: Theme) -> None:
    fake = engine()
    fake.registry_hits = []
    fake.registry_status = RegistryStatus(problem=Problem("The registry cannot be reached", "no network", ""))
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.field.setText("Play browser")
        await until(lambda: titles(tab) == ["Well-known", "Playwright"])
        assert "1 found · The registry cannot be reached" in words(tab)
        assert "cannot be searched yet" not in words(tab)
        fake.starters = [replace(each, here="browser") if each.id == "playwright" else each for each in STARTERS]
        tab._read_all()
        await until(lambda: tab.offers.offers[1].chips[:1] == (("Added as browser", "success"),))
        fake.failures["search_registry"] = TooltrayError("The disk is full")
        tab.field.setText("fetch")
        await until(lambda: titles(tab) == ["Well-known", "Fetch"])
        assert "The disk is full" in words(tab)
        tab.field.setText("xyz")
        await until(lambda: "The registry cannot be searched yet" in words(tab))


async def test_down_leads_into_the_list_and_enter_opens_what_is_chosen(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.field.setText("files")
        await until(lambda: titles(tab)[3:4] == ["GitHub"])
        tab.field.setFocus()
        QTest.keyClick(tab.field, Qt.Key.Key_Down)
        assert QApplication.focusWidget() is tab.offers
        QTest.keyClick(tab.offers, Qt.Key.Key_Down)
        QTest.keyClick(tab.offers, Qt.Key.Key_Down)
        QTest.keyClick(tab.offers, Qt.Key.Key_Return)
        panel = await sheet(desk)
        assert isinstance(panel, RegistrySheet)
        assert panel.accessibleName() == "Files"


async def test_a_server_shows_what_would_run_once_it_has_what_it_needs_and_is_added_then(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        assert "Fill in what is required to see what would run." in words(panel)
        assert nameless(desk.window) == []
        control(panel, "Add server").click()
        assert "Required." in words(panel)
        field(panel, "GitHub token").setText("not-a-real-token")
        await until(lambda: "npx -y @ada/files@0.9.1 /home/ada/notes" in words(panel))
        shown = words(panel)
        assert "TOKEN, kept in the keyring" in shown
        assert "LEVEL" in shown
        assert "It can write files. Name only folders that it may change." in shown
        assert "not-a-real-token" not in shown
        assert not control(panel, "Add server").isEnabled()  # "files" is taken here
        name = field(panel, "Name of the server")
        name.clear()
        QTest.keyClicks(name, "notes")
        QTest.keyClick(name, Qt.Key.Key_Return)
        values = {"token": "not-a-real-token", "level": "info", "limit": 20.0, "read_only": True}
        await desk.asked("add_registry_server", "io.github.ada/files", "0.9.1", "npm", values, "notes", "careful")
        await until(lambda: desk.window.sheet is None)
        assert [toast.text for toast in desk.window.findChildren(Toast) if toast.isVisible()] == ["notes is added"]


async def test_the_preview_says_where_secrets_are_stored(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        fake.bus.publish(SecretsChanged("file"))
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        field(panel, "GitHub token").setText("not-a-real-token")
        await until(lambda: "TOKEN, kept in the encrypted file" in words(panel))
        fake.bus.publish(SecretsChanged("keyring"))
        await until(lambda: "TOKEN, kept in the keyring" in words(panel))


async def test_a_preview_for_older_values_is_passed_over(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        panel.show_preview(-1, NEW)
        assert "@ada/files@0.9.1" not in words(panel)


async def test_a_preview_that_fails_says_why_and_nothing_can_be_added(theme: Theme) -> None:
    fake = engine()
    fake.failures["preview_registry_server"] = TooltrayError("Limit is too high", "", "Give a smaller one")
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        field(panel, "GitHub token").setText("x")
        await until(lambda: "Limit is too high. Give a smaller one." in words(panel))
        assert not control(panel, "Add server").isEnabled()


async def test_a_way_that_cannot_be_had_here_says_why(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        next(each for each in panel.findChildren(Option) if each.text().startswith("Docker")).click()
        await until(lambda: "Docker is not here" in words(panel))
        assert not control(panel, "Add server").isEnabled()
        next(each for each in panel.findChildren(Option) if each.text().startswith("npm")).click()
        await until(lambda: "Docker is not here" not in words(panel))


async def test_a_bundle_of_the_registry_is_read_and_shown_before_it_is_installed(theme: Theme) -> None:
    fake = engine()
    url = "https://x.example/files.mcpb"
    fake.registry_servers = {each.name: replace(SERVER, options=(RegistryOption("b", "mcpb", url),)) for each in HITS}
    fake.bundle = BUNDLE
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        assert "What will run" not in words(panel)
        control(panel, "Look at the bundle…").click()
        await desk.asked("read_bundle", url)
        await until(lambda: isinstance(desk.window.context.sheets.panel, BundleSheet))
        assert not any(call[0] == "add_registry_server" for call in fake.calls)


async def test_what_is_refused_stays_with_what_was_typed(theme: Theme) -> None:
    fake = engine()
    fake.new_server = replace(NEW, name="free")
    fake.failures["add_registry_server"] = TooltrayError("The keyring is locked", "", "Unlock it")
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        field(panel, "GitHub token").setText("x")
        await until(
            lambda: control(panel, "Add server").isEnabled() and "name is free" in [c.accessibleName() for c in panel.findChildren(Chip)]
        )
        control(panel, "Add server").click()
        await until(lambda: "The keyring is locked" in words(panel))
        assert field(panel, "GitHub token").text() == "x"
        assert control(panel, "Add server").isEnabled()


async def test_links_lead_to_pages_of_the_web_alone(theme: Theme, browser: Browser) -> None:
    fake = engine()
    odd = replace(SERVER, repository="https://github.com/ada/files", website="file:///etc/passwd")
    fake.registry_servers = {each.name: odd for each in HITS}
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        control(panel, "Source code").click()
        assert browser.opened == ["https://github.com/ada/files"]
        assert "Website" not in [each.text() for each in panel.findChildren(type(control(panel, "Source code")))]


async def test_a_well_known_server_is_added_with_what_it_needs(theme: Theme) -> None:
    fake = engine()
    fake.new_server = replace(NEW, name="fetch")
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit("starter:fetch")
        panel = await sheet(desk)
        assert isinstance(panel, StarterSheet)
        await desk.asked("preview_starter_server", "fetch", {})
        await until(lambda: control(panel, "Add server").isEnabled() and not len(desk.tasks))
        control(panel, "Access: Careful").click()
        menu = control(panel, "Access: Careful").findChildren(QMenu)[-1]
        next(action for action in menu.actions() if action.text().startswith("Trusted\t")).trigger()
        menu.close()
        assert "Changes ask" in words(panel)
        control(panel, "Add server").click()
        await desk.asked("add_starter_server", "fetch", {}, "fetch", "trusted")


async def test_an_update_is_made_at_once_and_said(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit("update:github")
        await desk.asked("update_registry_server", "github")
        await until(lambda: any(toast.text == "github is updated" for toast in desk.window.findChildren(Toast)))


async def test_a_server_of_which_the_registry_names_nothing_cannot_be_added(theme: Theme) -> None:
    fake = engine()
    fake.registry_servers = {each.name: replace(SERVER, options=(), is_deprecated=True) for each in HITS}
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.offers.chosen.emit(FIRST)
        panel = await sheet(desk)
        assert "There is nothing to add" in words(panel)
        assert not control(panel, "Add server").isEnabled()


async def test_a_failure_stands_above_the_list(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        fake.failures["get_registry_server"] = TooltrayError("There is no such server", "", "")
        tab.offers.chosen.emit(FIRST)
        await until(lambda: "There is no such server" in words(tab))


def test_the_age_of_the_copy_is_said_in_words(theme: Theme) -> None:
    now = datetime.now()
    assert status_line(None, now) == ("", "secondary")
    assert status_line(RegistryStatus(), now) == ("Registry not downloaded yet", "secondary")
    assert status_line(RegistryStatus(is_updating=True), now) == ("Downloading the registry…", "secondary")
    old = RegistryStatus(5, now.timestamp() - 9 * 86_400)
    text, tone = status_line(old, now, "3 found")
    assert (text[:10], tone) == ("3 found · ", "warning")
    assert text.endswith("It is more than a week old; newer servers are missing.")
    assert status_line(replace(old, is_updating=True), now)[1] == "secondary"
    assert status_line(RegistryStatus(problem=Problem("No network", "", "Try later")), now) == ("No network.", "warning")


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert free_name("files", {"files", "files-2"}) == "files-3"
    assert free_name("git", {"files"}) == "git"


def test_a_description_that_looks_like_html_loads_nothing_in_its_tooltip(theme: Theme) -> None:
    offers = OfferList(theme, "Servers")
    offers.set_offers([Offer(FIRST, "Files", '<img src="https://x.example/seen.png"> & more'), Offer("hit:plain", "Plain", "a & b")])
    tips = [offers.model().index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(2)]
    assert tips == ["&lt;img src=&quot;https://x.example/seen.png&quot;&gt; &amp; more", "a & b"]
