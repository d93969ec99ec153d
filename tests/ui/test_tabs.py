"""Pages with tabs: what is shown, what stands in the header beside it, and how the keyboard goes there."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_clients import SCAN
from tests.fakes.server_snapshots import server
from tests.ui.seen import control
from tests.ui.test_accessibility import nameless, tab

from tooltray.ui.kit.destinations import OpenServer, Servers, Settings
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.shell.main_window import PAGES
from tooltray.ui.shell.sidebar import NavItem
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.filter_tabs import FilterTab


async def test_arrows_go_from_tab_to_tab(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.open_page("settings")
        first, second = desk.settings.findChildren(FilterTab)[:2]
        first.setFocus()
        QTest.keyClick(first, Qt.Key.Key_Right)
        assert QApplication.focusWidget() is second
        assert nameless(desk.window) == []


async def test_tab_goes_through_the_clients(theme: Theme) -> None:
    fake = FakePresenter([server("a")])
    fake.client_scan = SCAN
    async with Desk(fake, theme) as desk:
        desk.window.open_page("clients")
        await until(lambda: desk.clients.table.rows and not len(desk.tasks))
        path = [await tab(desk.window) for _ in range(24)]
        wanted = ["Rescan", "Connect all", "Defaults…", "Profiles…", "Import servers…", "Clients"]
        first = path.index("Rescan")
        assert path[first : first + 6] == wanted


async def test_pages_have_their_shortcuts(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        number = [entry.name for entry in PAGES].index("settings")
        QTest.keyClick(desk.window, Qt.Key(Qt.Key.Key_1.value + number), Qt.KeyboardModifier.ControlModifier)
        assert desk.settings.isVisible()
        QTest.keyClick(desk.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
        assert desk.page.isVisible()
        assert not desk.settings.isVisible()


async def test_what_needs_a_person_on_a_tab_is_counted_for_its_page(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        counts: list[int] = []
        desk.servers_page.need_person.connect(counts.append)
        desk.projects.need_person.emit(2)
        desk.page.need_person.emit(1)
        desk.projects.need_person.emit(0)
        assert counts == [2, 3, 1]


async def test_a_link_shows_a_tab_and_what_is_to_stand_there(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.go(Settings("backup"))
        assert desk.backup.isVisible()
        desk.window.go(Settings())
        assert desk.settings.current == "backup"
        desk.window.go(Settings("about"))
        assert desk.settings.current == "about"


async def test_settings_open_where_the_user_was_and_a_link_does_not_change_that(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.go(Settings("about"))
        assert desk.settings.current == "about"
        desk.window.open_page("servers")
        desk.window.open_page("settings")
        assert desk.settings.current == "general"
        next(tab for tab in desk.settings.findChildren(FilterTab) if tab.text() == "Network").click()
        desk.window.go(Settings("about"))
        desk.window.open_page("servers")
        desk.window.open_page("settings")
        assert desk.settings.current == "network"


async def test_profiles_have_no_entry_of_their_own_in_the_navigation(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        assert [item.text() for item in desk.window.findChildren(NavItem)] == [entry.title() for entry in PAGES]


async def test_why_the_hub_does_not_run_is_shown_where_it_says_so(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.go(Servers("discover"))
        assert desk.discover.isVisible()
        desk.window.set_phase(HubPhase.FAILED)
        assert not desk.discover.isVisible()


async def test_an_address_of_a_server_leads_from_discover_to_its_card(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.window.go(Servers("discover"))
        desk.window.open_link("tooltray://servers/a")
        assert desk.card("a").isVisible()
        assert not desk.discover.isVisible()


async def test_a_server_that_is_asked_for_is_shown_from_any_tab(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        for tab in ("discover", "all_tools", "projects"):
            desk.window.go(Servers(tab))
            assert not desk.page.isVisible()
            desk.window.go(OpenServer("a"))
            assert desk.page.details is not None
            assert desk.page.details.isVisible()


async def test_arrows_lead_through_all_tabs_of_servers(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        control(desk.servers_page, "Installed").setFocus()
        for tab in ("discover", "all_tools", "projects", "installed"):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Right)
            assert desk.servers_page.current == tab


async def test_without_a_hub_nothing_of_the_new_tabs_can_be_pressed(theme: Theme) -> None:
    fake = FakePresenter([server("a")])
    fake.client_scan = SCAN
    async with Desk(fake, theme) as desk:
        desk.window.open_page("clients")
        desk.window.go(Servers("discover"))
        desk.window.set_phase(HubPhase.ENDING)
        assert not desk.discover.field.isEnabled()
        desk.window.open_page("clients")
        assert not control(desk.clients, "Rescan").isEnabled()
