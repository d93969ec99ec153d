"""Profiles are listed, made, changed and removed; what a person ticked is what the engine is asked to keep."""

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, field, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot
from tooltray.ui.clients.profile_choice import CheckTable
from tooltray.ui.clients.profile_sheet import ProfileSheet, ProfilesSheet
from tooltray.ui.kit.destinations import NewProfile, Profiles
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.toast import Toast

TOOLS = [tool("read", "files"), tool("write", "files"), tool("fetch", "web")]
CODING = ProfileSnapshot("coding", ("files",), {"files": ("read",)}, "Files only", 1)
CURSOR = ClientModeSnapshot("cursor", "Cursor", "", "everything", "", "coding", is_seen=True)
ALL = ProfileSnapshot("all", None, {}, tool_count=3)


def engine(*profiles: ProfileSnapshot) -> FakePresenter:
    fake = FakePresenter([server("files", description="Reads and writes"), server("web")], TOOLS)
    fake.profiles = list(profiles)
    return fake


async def opened(desk: Desk) -> ProfilesSheet:
    desk.window.open_page("clients")
    await until(lambda: not len(desk.tasks))
    control(desk.clients, "Profiles…").click()
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, ProfilesSheet)
    await until(lambda: not len(desk.tasks))
    return panel


async def editing(desk: Desk, name: str) -> ProfileSheet:
    """Opens the sheet of a profile by its button in the list."""
    control(await opened(desk), name).click()
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, ProfileSheet)
    await until(lambda: table(panel).rows and str(count(panel, "files")).endswith("of 2"))
    return panel


def table(panel: ProfileSheet) -> CheckTable:
    found = panel.findChild(CheckTable)
    assert isinstance(found, CheckTable)
    return found


def place(panel: ProfileSheet, server: str, tool: str = "") -> int:
    return next(index for index, choice in enumerate(table(panel).rows) if choice.key == (server, tool))


def count(panel: ProfileSheet, server: str) -> object:
    return table(panel).model().index(place(panel, server), 3).data()


def tick(panel: ProfileSheet, server: str, tool: str = "") -> None:
    table(panel).selectRow(place(panel, server, tool))
    QTest.keyClick(table(panel), Qt.Key.Key_Space)


async def test_profiles_are_listed_by_name_with_what_is_in_them_and_who_has_them(theme: Theme) -> None:
    fake = engine(CODING, ALL)
    fake.client_modes = [CURSOR]
    async with Desk(fake, theme) as desk:
        shown = words(await opened(desk)).splitlines()
        wanted = ["all", "All servers · 3 tools · No client has it", "coding", "Files only", "1 server · 1 tool · Cursor"]
        assert [line for line in shown if line in wanted] == wanted


async def test_without_a_profile_the_sheet_says_what_that_means(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        assert "No profiles: every client gets everything." in words(await opened(desk))


async def test_a_new_profile_is_named_ticked_and_saved(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await editing(desk, "New profile…")
        assert count(panel, "files") == "0 of 2"
        assert not control(panel, "Save").isEnabled()
        field(panel, "Name").setText("  my tools ")
        assert "tooltray-bridge --profile 'my tools'" in words(panel)
        field(panel, "Description").setText("Trying")
        table(panel).row_chosen.emit(table(panel).rows[place(panel, "files")])
        tick(panel, "files", "write")
        assert count(panel, "files") == "1 of 2"
        QTest.keyClick(panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("set_profile", "my tools", {"servers": ["files"], "tools": {"files": ["write"]}, "description": "Trying"})
        await until(lambda: desk.window.sheet is None)


async def test_a_profile_is_given_to_one_more_client_when_it_is_saved(theme: Theme) -> None:
    fake = engine(CODING)
    fake.client_modes = [CURSOR, replace(CURSOR, client="zed", title="Zed", profile="")]
    async with Desk(fake, theme) as desk:
        panel = await editing(desk, "Edit coding")
        assert "For Cursor" in words(panel)
        give = next(each for each in panel.findChildren(Choice) if each.accessibleName() == "Give these tools to: Give these tools to…")
        give.click()
        menu = give.findChild(QMenu)
        assert [action.text() for action in menu.actions()] == ["Give these tools to…", "Zed"]
        menu.actions()[1].trigger()
        menu.close()
        await until(lambda: {"For Cursor", "For Zed"} <= {*words(panel).splitlines()})
        assert not [call for call in fake.calls if call[0] == "set_client_profile"]
        control(panel, "Save").click()
        await desk.asked("set_client_profile", "zed", "coding")


async def test_a_new_profile_of_some_tools_is_given_to_a_client_and_undone_with_it(theme: Theme) -> None:
    fake = engine(CODING)
    fake.client_modes = [CURSOR]
    async with Desk(fake, theme) as desk:
        desk.window.go(NewProfile(ProfileSnapshot("used", ("files",), {"files": ("write",)})))
        await until(lambda: isinstance(desk.window.context.sheets.panel, ProfileSheet) and not len(desk.tasks))
        panel = desk.window.context.sheets.panel
        assert count(panel, "files") == "1 of 2"
        panel._on_give(CURSOR.client)
        await until(lambda: "For Cursor, instead of coding" in words(panel))
        control(panel, "Save").click()
        await desk.asked("set_profile", "used", {"servers": ["files"], "tools": {"files": ["write"]}})
        await desk.asked("set_client_profile", CURSOR.client, "used")
        await until(lambda: desk.window.sheet is None and not len(desk.tasks))
        control(desk.window, "Undo").click()
        await desk.asked("remove_profile", "used")
        assert fake.calls.index(("set_client_profile", CURSOR.client, "coding")) < fake.calls.index(("remove_profile", "used"))


async def test_a_client_that_was_chosen_says_which_profile_it_loses_and_can_be_taken_off_again(theme: Theme) -> None:
    fake = engine(CODING)
    fake.client_modes = [CURSOR, replace(CURSOR, client="zed", title="Zed", profile="")]
    async with Desk(fake, theme) as desk:
        panel = await editing(desk, "New profile…")
        field(panel, "Name").setText("mine")
        give = next(each for each in panel.findChildren(Choice) if each.accessibleName() == "Give these tools to: Give these tools to…")
        assert "No client has it" in words(panel)
        for client in ("cursor", "zed"):
            give.chosen_changed.emit(client)
        await until(lambda: "For Cursor, instead of coding\nFor Zed" in words(panel))
        assert "No client has it" not in words(panel)
        control(panel, "Do not give it to Cursor").click()
        await until(lambda: "For Cursor" not in words(panel) and "For Zed" in words(panel))
        give.click()
        menu = give.findChild(QMenu)
        assert [action.text() for action in menu.actions()] == ["Give these tools to…", "Cursor"]
        menu.close()
        control(panel, "Save").click()
        await desk.asked("set_client_profile", "zed", "mine")
        await until(lambda: desk.window.sheet is None)
        assert [call[1] for call in fake.calls if call[0] == "set_client_profile"] == ["zed"]


async def test_a_profile_is_renamed_for_the_clients_that_have_it(theme: Theme) -> None:
    fake = engine(CODING, ALL)
    fake.settings = {"publish": {"clients": {"cursor": {"profile": "coding"}, "zed": {"profile": "all"}}}}
    async with Desk(fake, theme) as desk:
        panel = await editing(desk, "Edit coding")
        field(panel, "Name").setText("all")
        control(panel, "Save").click()
        await until(lambda: "There is a profile all already" in words(panel))
        field(panel, "Name").setText("code")
        control(panel, "Save").click()
        await until(lambda: desk.window.sheet is None)
        changes = [call[1] for call in fake.calls if call[0] == "change_settings"]
        assert changes == [{"profiles": {"coding": None}, "publish": {"clients": {"cursor": {"profile": "code"}}}}]
        assert ("set_profile", "code", {"servers": ["files"], "tools": {"files": ["read"]}, "description": "Files only"}) in fake.calls


async def test_a_profile_without_clients_is_renamed_too(theme: Theme) -> None:
    fake = engine(CODING)
    async with Desk(fake, theme) as desk:
        panel = await editing(desk, "Edit coding")
        field(panel, "Name").setText("code")
        control(panel, "Save").click()
        await until(lambda: desk.window.sheet is None)
        assert [call[1] for call in fake.calls if call[0] == "change_settings"] == [{"profiles": {"coding": None}}]


async def test_a_profile_is_duplicated_under_a_free_name(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Duplicate coding")
        assert field(panel, "Name").text() == "coding 2"
        control(panel, "Save").click()
        await desk.asked("set_profile", "coding 2", {"servers": ["files"], "tools": {"files": ["read"]}, "description": "Files only"})


async def test_a_server_with_some_of_its_tools_has_a_tick_of_its_own_and_a_press_takes_all(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        tip = table(panel).model().index(place(panel, "files"), 0).data(Qt.ItemDataRole.ToolTipRole)
        assert tip == "Some of its tools"
        tick(panel, "files")
        assert count(panel, "files") == "2 of 2"


async def test_a_profile_is_changed_under_its_own_name(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        assert [choice.key for choice in table(panel).rows][:3] == [("files", ""), ("files", "read"), ("files", "write")]
        tick(panel, "web")
        tick(panel, "files", "write")
        control(panel, "Save").click()
        await desk.asked("set_profile", "coding", {"servers": ["files", "web"], "tools": {}, "description": "Files only"})


async def test_all_servers_are_taken_until_one_is_not(theme: Theme) -> None:
    async with Desk(engine(ALL), theme) as desk:
        panel = await editing(desk, "Edit all")
        scope = next(each for each in panel.findChildren(Choice) if each.accessibleName().startswith("Contents:"))
        assert scope.chosen == "all"
        tick(panel, "web")
        assert scope.chosen == "these"
        scope.chosen_changed.emit("all")
        assert all(choice.is_on for choice in table(panel).rows)
        scope.chosen_changed.emit("these")
        tick(panel, "files")
        control(panel, "Save").click()
        await desk.asked("set_profile", "all", {"servers": ["web"], "tools": {}})  # the hub's own is in every profile


async def test_the_mouse_ticks_the_box_and_opens_a_server_beside_it(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        lines = table(panel)

        def click(column: int, tool: str = "", x: int = 40) -> None:
            cell = lines.visualRect(lines.model().index(place(panel, "web", tool), column)).topLeft()
            QTest.mouseClick(lines.viewport(), Qt.MouseButton.LeftButton, pos=cell + QPoint(x, 10))

        def is_open() -> bool:
            return ("web", "fetch") in [choice.key for choice in lines.rows]

        for column, x in ((1, 40), (0, 17)):  # its name, its arrow
            click(column, x=x)
            assert is_open()
            click(column, x=x)
            assert not is_open()
        click(1)
        assert not lines.rows[place(panel, "web")].is_on
        click(0)
        assert lines.rows[place(panel, "web", "fetch")].is_on
        assert count(panel, "web") == "1 of 1"
        click(1, "fetch")
        assert count(panel, "web") == "0 of 1"
        name = lines.visualRect(lines.model().index(place(panel, "web", "fetch"), 1)).center()
        QTest.mouseDClick(lines.viewport(), Qt.MouseButton.LeftButton, pos=name)
        assert count(panel, "web") == "0 of 1"  # what follows the first click of a double click changes nothing more


async def test_arrows_open_and_close_a_server_s_tools(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        table(panel).selectRow(place(panel, "web"))
        QTest.keyClick(table(panel), Qt.Key.Key_Right)
        assert ("web", "fetch") in [choice.key for choice in table(panel).rows]
        table(panel).selectRow(place(panel, "web", "fetch"))
        QTest.keyClick(table(panel), Qt.Key.Key_Left)
        assert table(panel).currentIndex().row() == place(panel, "web")
        QTest.keyClick(table(panel), Qt.Key.Key_Left)
        assert ("web", "fetch") not in [choice.key for choice in table(panel).rows]


async def test_a_search_finds_tools_of_servers_that_are_closed(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        field(panel, "Search servers and tools").setText("FETCH")
        assert [choice.key for choice in table(panel).rows] == [("web", ""), ("web", "fetch")]


async def test_a_profile_that_is_refused_stays_as_it_was_typed_and_says_why(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await editing(desk, "New profile…")
        desk.engine.failures["set_profile"] = TooltrayError("this name cannot be used", "it has a slash in it")
        field(panel, "Name").setText("a/b")
        control(panel, "Save").click()
        await until(lambda: "This name cannot be used" in words(panel))
        assert field(panel, "Name").text() == "a/b"
        field(panel, "Name").setText("ab")
        assert "This name cannot be used" not in words(panel)
        assert control(panel, "Save").isEnabled()


async def test_a_removed_profile_can_be_brought_back(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        control(panel, "Remove").click()
        await desk.asked("remove_profile", "coding")
        await until(lambda: desk.window.sheet is None and desk.window.findChild(Toast))
        control(desk.window.findChild(Toast), "Undo").click()
        settings = {"servers": ["files"], "tools": {"files": ["read"]}, "description": "Files only"}
        await desk.asked("set_profile", "coding", settings)


async def test_a_profile_that_somebody_needs_is_not_removed_and_says_why(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        desk.engine.failures["remove_profile"] = TooltrayError("Cursor gets it", "", "give it another one first")
        control(panel, "Remove").click()
        await until(lambda: "Cursor gets it" in words(panel))
        assert control(panel, "Remove").isEnabled()


async def test_a_profile_is_removed_from_the_list(theme: Theme) -> None:
    async with Desk(engine(CODING, ALL), theme) as desk:
        panel = await opened(desk)
        control(panel, "Remove all").click()
        await desk.asked("remove_profile", "all")
        desk.engine.profiles = [CODING]
        await until(lambda: not len(desk.tasks) and "Files only" in words(panel))
        assert [each.text for each in desk.window.findChildren(Toast)] == ["The profile all is removed"]
        desk.engine.failures["remove_profile"] = TooltrayError("Cursor gets it", "", "give it another one first")
        control(panel, "Remove coding").click()
        await until(lambda: "Cursor gets it" in words(panel))


async def test_what_cannot_be_brought_back_is_said_on_the_page(theme: Theme) -> None:
    async with Desk(engine(ALL), theme) as desk:
        control(await editing(desk, "Edit all"), "Remove").click()
        await until(lambda: desk.window.sheet is None and desk.window.findChild(Toast))
        desk.engine.failures["set_profile"] = TooltrayError("the disk is full")
        control(desk.window.findChild(Toast), "Undo").click()
        await desk.asked("set_profile", "all", {"tools": {}})
        await until(lambda: "The disk is full" in words(desk.clients))


async def test_an_open_sheet_of_another_kind_stays(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        desk.window.open_page("clients")
        await until(lambda: not len(desk.tasks))
        desk.page.add()
        before = desk.window.sheet
        desk.clients.edit_profile("coding")
        desk.window.go(Profiles())
        assert desk.window.sheet is before


async def test_the_list_alone_scrolls_in_a_small_window(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        desk.window.resize(900, 600)
        panel = await editing(desk, "Edit coding")
        await until(lambda: panel.height() > 400)
        assert panel.scroll_area.verticalScrollBar().maximum() == 0


async def test_a_tick_can_be_seen(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, "Edit coding")
        lines = table(panel)
        lines.clearSelection()

        def picture() -> QImage:
            return lines.viewport().grab(lines.visualRect(lines.model().index(place(panel, "web"), 0))).toImage()

        before = picture()
        lines.switched.emit(lines.rows[place(panel, "web")], True)
        assert picture() != before
