"""The Network tab shows how registries and HTTP access are, and changes them."""

import time

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import cells, control, drawn, field, table

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import HttpAddressChanged, NpmRegistryChanged
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.ui.settings.network_tab import NetworkTab
from tooltray.ui.theme import Theme

FAST = RegistryMeasurement("https://fast.example/", "Fast", "mirror", "Europe", 20.0)
SILENT = RegistryMeasurement("https://silent.example/", "Silent", "settings", "", None, "no answer within 10 s")
STATUS = NpmRegistryStatus(url=FAST.url, origin="mirror", measured_at=1.0, measurements=(FAST, SILENT))


async def opened(desk: Desk) -> NetworkTab:
    desk.engine.registry = STATUS
    tab = desk.open_network()
    await until(lambda: table(tab, "npm registries").rows and tab.http.status == desk.engine.http)
    return tab


async def test_registries_say_how_they_answered_and_why_not(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        shown = table(await opened(desk), "npm registries")
        assert cells(shown) == ["Fast", "Europe", "20 ms", "In use"]
        assert cells(shown, 1) == ["Silent", "your settings", "–", "No answer"]
        assert shown.model().index(1, 3).data(Qt.ItemDataRole.ToolTipRole) == "no answer within 10 s"


async def test_news_of_a_measurement_is_shown(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.engine.bus.publish(NpmRegistryChanged(NpmRegistryStatus(is_measuring=True)))
        await until(lambda: "Nothing is measured yet" in drawn(page))
        assert not control(page, "Measuring…").isEnabled()


async def test_switches_and_buttons_ask_the_engine(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        control(page, "Measure again").click()
        control(page, "Use the fastest automatically").click()
        control(page, "HTTP access").click()
        await desk.asked("refresh_npm_registry")
        await desk.asked("set_auto_detect_npm_registry", False)
        await desk.asked("set_http_enabled", True, None)
        await until(lambda: "http://127.0.0.1:7717/mcp" in drawn(page))
        assert control(page, "Copy address")


async def test_a_switch_goes_back_when_it_was_refused_and_the_page_says_why(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.failures["set_http_enabled"] = TooltrayError("port 7717 is taken")
        page = await opened(desk)
        control(page, "HTTP access").click()
        await until(lambda: "Port 7717 is taken" in drawn(page))
        assert not control(page, "HTTP access").isChecked()


async def test_a_registry_that_is_refused_stays_in_the_sheet_and_one_that_works_closes_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.engine.failures["set_custom_npm_registry"] = TooltrayError("this is no npm registry", "it answered with HTML")
        control(page, "Add registry").click()
        panel = desk.window.sheet.panel
        panel.findChild(QLineEdit).setText(" https://x.example ")
        control(panel, "Measure and use").click()
        await until(lambda: "This is no npm registry" in drawn(panel))
        assert panel.findChild(QLineEdit).text() == " https://x.example "
        desk.engine.failures.clear()
        control(panel, "Measure and use").click()
        await until(lambda: desk.window.sheet is None)
        assert desk.engine.calls.count(("set_custom_npm_registry", "https://x.example")) == 2


async def test_http_that_is_on_and_not_open_says_why(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.http = HttpStatus(is_enabled=True, problem=Problem("port 7717 is taken"))
        page = await opened(desk)
        await until(lambda: "Port 7717 is taken" in drawn(page))
        page.http.show_problem(None)
        await until(lambda: "Port 7717 is taken" in drawn(page))  # still


async def test_clients_that_need_no_token_are_told_of(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        tab = await opened(desk)
        for requires, is_said in ((True, False), (False, True)):
            tab.http.show_http(replace(desk.engine.http, requires_token=requires))
            assert ("No token is asked for." in drawn(tab)) == is_said


async def test_the_person_s_own_registry_is_shown_as_whole_as_there_is_room_and_can_be_left(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        assert "Your registry" not in drawn(page)
        page.registries.show_registries(replace(STATUS, custom_url="https://npm.example/"))
        await until(lambda: "https://npm.example/" in drawn(page))
        long = "https://npm.example/" + "repository/" * 30
        page.registries.show_registries(replace(STATUS, custom_url=long))
        await until(lambda: any("…" in line and line.startswith("https") and line.endswith("ry/") for line in drawn(page).split("\n")))
        control(page, "Use no longer").click()
        await desk.asked("set_custom_npm_registry", "")


async def test_the_address_follows_a_change_of_the_port(theme: Theme) -> None:
    fake = FakePresenter()
    fake.http = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: "http://127.0.0.1:7717/mcp" in drawn(page))
        fake.http = HttpStatus(True, True, "http://127.0.0.1:7718/mcp")
        fake.bus.publish(HttpAddressChanged())
        await until(lambda: "http://127.0.0.1:7718/mcp" in drawn(page))


async def test_the_address_of_http_access_is_copied_whole(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.http = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
        page = await opened(desk)
        await until(lambda: "http://127.0.0.1:7717/mcp" in drawn(page))
        control(page, "Copy address").click()
        assert QGuiApplication.clipboard().text() == "http://127.0.0.1:7717/mcp"


async def test_a_measurement_that_is_asked_for_without_a_hub_says_so(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.link.detach()
        control(page, "Measure again").click()
        await until(lambda: "Tooltray is not running" in drawn(page))


async def test_http_is_moved_to_another_port(theme: Theme) -> None:
    fake = FakePresenter()
    fake.http = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        port = field(page, "Port")
        assert (port.text(), control(page, "Move there").isEnabled()) == ("7717", False)
        port.setText("7720")
        control(page, "Move there").click()
        await desk.asked("set_http_enabled", True, 7720)
        await until(lambda: "http://127.0.0.1:7720/mcp" in drawn(page))


async def test_enter_in_a_field_presses_its_button_and_none_that_is_disabled(theme: Theme) -> None:
    fake = FakePresenter()
    fake.http = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        port, address = field(page, "Port"), field(page, "Address of the registry of MCP servers")
        QTest.keyClick(port, Qt.Key.Key_Return)
        QTest.keyClick(address, Qt.Key.Key_Return)
        port.setText("7720")
        QTest.keyClick(port, Qt.Key.Key_Return)
        await desk.asked("set_http_enabled", True, 7720)
        address.setText("https://registry.corp.example")
        QTest.keyClick(address, Qt.Key.Key_Return)
        await desk.asked("change_settings", {"discovery": {"registry": "https://registry.corp.example"}}, "")
        assert [call[0] for call in desk.engine.calls].count("set_http_enabled") == 1
        assert [call[0] for call in desk.engine.calls].count("change_settings") == 1


async def test_the_registry_of_servers_is_refreshed_changed_and_switched_off(theme: Theme) -> None:
    fake = FakePresenter()
    fake.registry_status = RegistryStatus(12_345, time.time())
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        await until(lambda: "12,345 servers" in drawn(page))
        control(page, "Update now").click()
        await desk.asked("refresh_registry")
        field(page, "Address of the registry of MCP servers").setText("https://registry.corp.example")
        control(page, "Use this registry of MCP servers").click()
        await desk.asked("change_settings", {"discovery": {"registry": "https://registry.corp.example"}}, "")
        fake.failures["change_settings"] = TooltrayError("The settings cannot be written")
        control(page, "Find servers in a registry").click()
        await desk.asked("change_settings", {"discovery": {"registry": False}}, "")
        await until(lambda: "The settings cannot be written" in drawn(page))
        assert control(page, "Find servers in a registry").isChecked()
