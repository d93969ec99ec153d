"""The Settings page shows how registries, HTTP access and the set-up are, and asks before it changes much."""

import json
import stat
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, drawn

from tooltray.errors import Problem, TooltrayError
from tooltray.events import HttpAddressChanged, NpmRegistryChanged
from tooltray.snapshots.http import HttpStatus
from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.snapshots.setup import SetupChange
from tooltray.ui.settings.settings_commands import LONGEST_FILE, SetupPreview
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.table import Table
from tooltray.ui.widgets.toast import Toast

FAST = RegistryMeasurement("https://fast.example/", "Fast", "mirror", "Europe", 20.0)
SILENT = RegistryMeasurement("https://silent.example/", "Silent", "settings", "", None, "no answer within 10 s")
STATUS = NpmRegistryStatus(url=FAST.url, origin="mirror", measured_at=1.0, measurements=(FAST, SILENT))
ADDED = SetupChange("add", "server", "github")


async def opened(desk: Desk) -> QWidget:
    desk.engine.registry = STATUS
    desk.window.open_page("settings")
    await until(lambda: table(desk).rows)
    return desk.settings


def table(desk: Desk) -> Table:
    found = desk.settings.findChild(Table)
    assert isinstance(found, Table)
    return found


def cell(desk: Desk, row: int, column: int, role: int = 0) -> object:
    return table(desk).model().index(row, column).data(role)


async def test_registries_say_how_they_answered_and_why_not(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await opened(desk)
        assert [cell(desk, 0, column) for column in range(4)] == ["Fast", "Europe", "20 ms", "In use"]
        assert [cell(desk, 1, column) for column in range(4)] == ["Silent", "your settings", "–", "No answer"]
        assert cell(desk, 1, 3, 3) == "no answer within 10 s"


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


async def test_default_servers_come_back_only_after_a_look_and_a_yes(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        page = await opened(desk)
        control(page, "Restore starter servers…").click()
        await until(lambda: desk.window.sheet is not None)
        assert ("reset_to_default_servers",) not in desk.engine.calls
        control(desk.window.sheet.panel, "Restore").click()
        await desk.asked("reset_to_default_servers")
        await until(lambda: desk.window.sheet is None)


async def test_where_nothing_changes_there_is_nothing_to_confirm(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [SetupChange("keep", "server", "a")]
        control(await opened(desk), "Restore starter servers…").click()
        await until(lambda: desk.window.sheet is not None)
        assert not control(desk.window.sheet.panel, "Restore").isEnabled()


async def test_an_import_is_previewed_again_when_servers_are_to_be_replaced(theme: Theme, tmp_path: Path) -> None:
    setup = {"mcpServers": {"x": {"command": "y"}}}
    (tmp_path / "setup.json").write_text(json.dumps(setup))
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        desk.settings.commands.open_import(str(tmp_path / "setup.json"))
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        control(panel, "Replace servers of the same name").click()
        await desk.asked("preview_import", setup, True)
        await until(lambda: control(panel, "Import").isEnabled())
        control(panel, "Import").click()
        await desk.asked("import_setup", setup, True)
        await until(lambda: desk.window.sheet is None)


async def test_a_file_that_is_no_set_up_is_refused_in_words(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1")
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.settings.commands.open_import(str(tmp_path / "x.json"))
        await until(lambda: "This file is no backup" in drawn(page))
        desk.settings.commands.open_import(str(tmp_path / "missing.json"))
        await until(lambda: "The file could not be read" in drawn(page))


async def test_an_export_is_a_file_for_its_owner_alone(theme: Theme, tmp_path: Path) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        path = tmp_path / "out.json"
        desk.settings.commands.export(str(path))
        await until(path.exists)
        assert json.loads(path.read_text()) == {}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_http_that_is_on_and_not_open_says_why(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.http = HttpStatus(is_enabled=True, problem=Problem("port 7717 is taken"))
        page = await opened(desk)
        await until(lambda: "Port 7717 is taken" in drawn(page))
        desk.settings.commands.section_failed.emit("http", None)
        await until(lambda: "Port 7717 is taken" in drawn(page))  # still


async def test_pages_have_their_shortcuts(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        QTest.keyClick(desk.window, Qt.Key.Key_5, Qt.KeyboardModifier.ControlModifier)
        assert desk.settings.isVisible()
        await desk.asked("get_npm_registry_status")
        QTest.keyClick(desk.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
        assert desk.page.isVisible()
        assert not desk.settings.isVisible()


async def test_the_person_s_own_registry_is_shown_as_whole_as_there_is_room_and_can_be_left(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        assert "Your registry" not in drawn(page)
        desk.settings.commands.registry_changed.emit(replace(STATUS, custom_url="https://npm.example/"))
        await until(lambda: "https://npm.example/" in drawn(page))
        long = "https://npm.example/" + "repository/" * 30
        desk.settings.commands.registry_changed.emit(replace(STATUS, custom_url=long))
        await until(lambda: any("…" in line and line.startswith("https") and line.endswith("ry/") for line in drawn(page).split("\n")))
        control(page, "Use no longer").click()
        await desk.asked("set_custom_npm_registry", "")


async def test_the_address_follows_a_change_of_the_port(theme: Theme) -> None:
    fake = FakePresenter()
    fake.http = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
    async with Desk(fake, theme) as desk:
        desk.window.open_page("settings")
        await until(lambda: "http://127.0.0.1:7717/mcp" in drawn(desk.settings))
        fake.http = HttpStatus(True, True, "http://127.0.0.1:7718/mcp")
        fake.bus.publish(HttpAddressChanged())
        await until(lambda: "http://127.0.0.1:7718/mcp" in drawn(desk.settings))


async def test_the_address_of_http_access_is_copied_whole(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.http = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
        page = await opened(desk)
        await until(lambda: "http://127.0.0.1:7717/mcp" in drawn(page))
        control(page, "Copy address").click()
        assert QGuiApplication.clipboard().text() == "http://127.0.0.1:7717/mcp"


def chosen(desk: Desk, path: Path) -> None:
    """Chooses a file in the dialog that is open."""
    dialog = desk.window.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.setDirectory(str(path.parent))
    dialog.selectFile(path.name)
    dialog.accept()


async def test_the_export_goes_into_the_file_that_was_chosen(theme: Theme, tmp_path: Path) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        control(await opened(desk), "Export…").click()
        dialog = desk.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        assert (dialog.acceptMode(), dialog.defaultSuffix()) == (QFileDialog.AcceptMode.AcceptSave, "json")
        chosen(desk, tmp_path / "mine.json")
        await until((tmp_path / "mine.json").exists)
        await until(lambda: any(toast.text == "Exported to mine.json" for toast in desk.window.findChildren(Toast)))
        await until(lambda: not desk.window.findChildren(QFileDialog))


async def test_a_dialog_that_is_cancelled_changes_nothing(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        for name in ("Export…", "Import…"):
            control(page, name).click()
            dialog = desk.window.findChild(QFileDialog)
            assert isinstance(dialog, QFileDialog)
            dialog.reject()
            await until(lambda: not desk.window.findChildren(QFileDialog))
        assert not {"export_setup", "preview_import"} & {call[0] for call in desk.engine.calls}


async def test_the_file_that_was_chosen_is_previewed(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "setup.json").write_text('{"mcpServers": {}}')
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        control(await opened(desk), "Import…").click()
        chosen(desk, tmp_path / "setup.json")
        await until(lambda: desk.window.sheet is not None)
        assert "This is what changes. Nothing is done yet." in drawn(desk.window.sheet.panel)
        await desk.asked("preview_import", {"mcpServers": {}}, False)


async def test_an_export_that_fails_says_so_on_the_page(theme: Theme, tmp_path: Path) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.settings.commands.export(str(tmp_path / "missing" / "x.json"))
        await until(lambda: "The file could not be written" in drawn(page))


async def test_a_preview_waits_until_no_other_sheet_is_in_its_way(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        page = await opened(desk)
        desk.settings.sheets.open_add_registry()
        control(page, "Restore starter servers…").click()
        await desk.asked("preview_reset")
        desk.settings.commands.section_failed.emit("setup", None)
        await until(lambda: desk.settings.sheets.has_waiting)
        control(desk.window.sheet.panel, "Cancel").click()
        await until(lambda: desk.window.sheet is not None)
        control(desk.window.sheet.panel, "Restore").click()
        await desk.asked("reset_to_default_servers")
        await until(lambda: desk.window.sheet is None)


async def test_a_preview_of_something_else_does_not_change_what_is_confirmed(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await opened(desk)
        desk.settings.commands.previewed.emit(SetupPreview(None, False, (ADDED,)))
        panel = desk.window.sheet.panel
        desk.settings.commands.previewed.emit(SetupPreview({"mcpServers": {}}, False, (SetupChange("remove", "server", "mine"),)))
        assert [row.name for row in panel.findChild(Table).rows] == ["github"]
        control(panel, "Cancel").click()
        await until(lambda: desk.window.sheet is not None)
        assert [row.name for row in desk.window.sheet.panel.findChild(Table).rows] == ["mine"]


async def test_of_two_previews_the_one_counts_for_which_the_switch_stands(theme: Theme) -> None:
    setup = {"mcpServers": {"x": {"command": "y"}}}
    replaced = SetupChange("replace", "server", "x")
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [SetupChange("keep", "server", "x")]
        desk.settings.commands.previewed.emit(SetupPreview(setup, False, tuple(desk.engine.setup_changes)))
        panel = desk.window.sheet.panel
        desk.engine.setup_changes = [replaced]
        control(panel, "Replace servers of the same name").click()
        desk.settings.commands.previewed.emit(SetupPreview(setup, False, (ADDED,)))  # late, of before
        assert not control(panel, "Import").isEnabled()
        await until(lambda: control(panel, "Import").isEnabled())
        assert panel.findChild(Table).rows == [replaced]


async def test_what_cannot_be_imported_or_put_back_stays_in_the_sheet_with_the_reason(theme: Theme) -> None:
    setup = {"mcpServers": {"x": {"command": "y"}}}
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.settings.commands.previewed.emit(SetupPreview(setup, False, (ADDED,)))
        panel = desk.window.sheet.panel
        desk.engine.failures["import_setup"] = TooltrayError("the disk is full")
        control(panel, "Import").click()
        assert not control(panel, "Importing…").isEnabled()
        await until(lambda: "The disk is full" in drawn(panel))
        assert control(panel, "Import").isEnabled()
        desk.engine.failures["preview_import"] = TooltrayError("the file is gone")
        control(panel, "Replace servers of the same name").click()
        await until(lambda: "The file is gone" in drawn(panel))


async def test_a_file_that_is_far_too_large_is_no_set_up(theme: Theme, tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(LONGEST_FILE + 1)
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.settings.commands.open_import(str(tmp_path / "huge.json"))
        await until(lambda: "This file is no backup" in drawn(page))


async def test_a_measurement_that_is_asked_for_without_a_hub_says_so(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.link.detach()
        control(page, "Measure again").click()
        await until(lambda: "The hub is not running" in drawn(page))
