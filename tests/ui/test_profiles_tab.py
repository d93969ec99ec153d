"""Profiles are listed, made, changed and removed; what a person ticked is what the engine is asked to keep."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, field, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.ui.clients.clients_page import PROFILES
from tooltray.ui.clients.profile_choice import CheckTable
from tooltray.ui.clients.profile_sheet import ProfileSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.toast import Toast

TOOLS = [tool("read", "files"), tool("write", "files"), tool("fetch", "web")]
CODING = ProfileSnapshot("coding", ("files",), {"files": ("read",)}, "Files only", 1)
ALL = ProfileSnapshot("all", None, {}, tool_count=3)


def engine(*profiles: ProfileSnapshot) -> FakePresenter:
    fake = FakePresenter([server("files", description="Reads and writes"), server("web")], TOOLS)
    fake.profiles = list(profiles)
    return fake


async def opened(desk: Desk) -> QWidget:
    desk.open_tab(PROFILES)
    page = desk.profiles
    await until(lambda: len(page.table.rows) == len(desk.engine.profiles))
    return page


async def editing(desk: Desk, profile: ProfileSnapshot | None) -> ProfileSheet:
    await opened(desk)
    if profile is None:
        control(desk.window, "New profile").click()
    else:
        desk.profiles.table.row_chosen.emit(profile)
    assert desk.window.sheet is not None
    panel = desk.window.sheet.panel
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


async def test_profiles_are_listed_by_name_with_what_is_in_them(theme: Theme) -> None:
    async with Desk(engine(CODING, ALL), theme) as desk:
        await opened(desk)
        model = desk.profiles.table.model()
        rows = [[model.index(row, column).data() for column in range(4)] for row in range(2)]
        assert rows == [["all", "", "All servers", "3"], ["coding", "Files only", "1 server", "1"]]


async def test_without_a_profile_the_page_says_what_one_is_for(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        assert "Every client gets everything" in words(page)
        control(page, "Make a profile. For example: coding, with files and git only").click()
        assert desk.window.sheet is not None


async def test_a_new_profile_is_named_ticked_and_saved(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await opened(desk)
        control(desk.window, "New profile").click()
        panel = desk.window.sheet.panel
        await until(lambda: count(panel, "files") == "0 of 2")
        assert not control(panel, "Save").isEnabled()
        field(panel, "Name").setText("  my tools ")
        assert "tooltray-bridge --profile 'my tools'" in words(panel)
        field(panel, "What it is for").setText("Trying")
        table(panel).row_chosen.emit(table(panel).rows[place(panel, "files")])
        tick(panel, "files", "write")
        assert count(panel, "files") == "1 of 2"
        desk.engine.profiles = [ProfileSnapshot("my tools", ("files",), {"files": ("write",)})]
        QTest.keyClick(panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("set_profile", "my tools", {"servers": ["files"], "tools": {"files": ["write"]}, "description": "Trying"})
        await until(lambda: desk.window.sheet is None and desk.profiles.table.rows)


async def test_a_profile_is_changed_under_its_own_name(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, CODING)
        assert [choice.key for choice in table(panel).rows][:3] == [("files", ""), ("files", "read"), ("files", "write")]
        tick(panel, "web")
        tick(panel, "files", "write")
        control(panel, "Save").click()
        await desk.asked("set_profile", "coding", {"servers": ["files", "web"], "tools": {}, "description": "Files only"})


async def test_all_servers_are_taken_until_one_is_not(theme: Theme) -> None:
    async with Desk(engine(ALL), theme) as desk:
        panel = await editing(desk, ALL)
        everything = control(panel, "All servers, also those that are added later")
        assert everything.isChecked()
        tick(panel, "web")
        assert not everything.isChecked()
        everything.click()
        assert all(choice.is_on for choice in table(panel).rows)
        control(panel, "Only what is ticked").click()
        tick(panel, "files")
        control(panel, "Save").click()
        await desk.asked("set_profile", "all", {"servers": ["web"], "tools": {}})  # the hub's own is in every profile


async def test_the_mouse_ticks_the_box_and_opens_a_server_beside_it(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, CODING)
        lines = table(panel)

        def click(column: int) -> None:
            cell = lines.visualRect(lines.model().index(place(panel, "web"), column)).center()
            QTest.mouseClick(lines.viewport(), Qt.MouseButton.LeftButton, pos=cell)

        click(1)
        assert ("web", "fetch") in [choice.key for choice in lines.rows]
        click(0)
        assert lines.rows[place(panel, "web", "fetch")].is_on
        assert count(panel, "web") == "1 of 1"


async def test_arrows_open_and_close_a_server_s_tools(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, CODING)
        table(panel).selectRow(place(panel, "web"))
        QTest.keyClick(table(panel), Qt.Key.Key_Right)
        assert ("web", "fetch") in [choice.key for choice in table(panel).rows]
        QTest.keyClick(table(panel), Qt.Key.Key_Left)
        assert ("web", "fetch") not in [choice.key for choice in table(panel).rows]


async def test_a_search_finds_tools_of_servers_that_are_closed(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, CODING)
        field(panel, "Search servers and tools").setText("FETCH")
        assert [choice.key for choice in table(panel).rows] == [("web", ""), ("web", "fetch")]


async def test_a_profile_that_is_refused_stays_as_it_was_typed_and_says_why(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await editing(desk, None)
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
        panel = await editing(desk, CODING)
        control(panel, "Remove").click()
        await desk.asked("remove_profile", "coding")
        await until(lambda: desk.window.sheet is None and desk.window.findChild(Toast))
        control(desk.window.findChild(Toast), "Undo").click()
        settings = {"servers": ["files"], "tools": {"files": ["read"]}, "description": "Files only"}
        await desk.asked("set_profile", "coding", settings)


async def test_a_profile_that_somebody_needs_is_not_removed_and_says_why(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, CODING)
        desk.engine.failures["remove_profile"] = TooltrayError("Cursor gets it", "", "give it another one first")
        control(panel, "Remove").click()
        await until(lambda: "Cursor gets it" in words(panel))
        assert control(panel, "Remove").isEnabled()


async def test_what_cannot_be_brought_back_is_said_on_the_page(theme: Theme) -> None:
    async with Desk(engine(ALL), theme) as desk:
        control(await editing(desk, ALL), "Remove").click()
        await until(lambda: desk.window.sheet is None and desk.window.findChild(Toast))
        desk.engine.failures["set_profile"] = TooltrayError("the disk is full")
        control(desk.window.findChild(Toast), "Undo").click()
        await desk.asked("set_profile", "all", {"tools": {}})
        await until(lambda: "The disk is full" in words(desk.profiles))


async def test_what_cannot_be_read_is_said_on_the_page_until_it_can(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        page = await opened(desk)
        desk.engine.failures["get_profiles"] = TooltrayError("profiles are gone")
        desk.profiles.look_again()
        await until(lambda: "Profiles are gone" in words(page))
        desk.engine.failures.clear()
        desk.profiles.look_again()
        await until(lambda: "Profiles are gone" not in words(page))


async def test_an_open_sheet_of_another_kind_stays(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        await opened(desk)
        desk.page.add()
        before = desk.window.sheet
        desk.profiles.table.row_chosen.emit(CODING)
        assert desk.window.sheet is before


async def test_a_tick_can_be_seen(theme: Theme) -> None:
    async with Desk(engine(CODING), theme) as desk:
        panel = await editing(desk, CODING)
        lines = table(panel)
        lines.clearSelection()

        def picture() -> QImage:
            return lines.viewport().grab(lines.visualRect(lines.model().index(place(panel, "web"), 0))).toImage()

        before = picture()
        lines.switched.emit(lines.rows[place(panel, "web")], True)
        assert picture() != before
