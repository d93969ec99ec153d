"""A person chooses under which name, and with which description, AI clients see a tool."""

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QPlainTextEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import words

from tooltray.foundation.errors import TooltrayError
from tooltray.ui.kit.destinations import Destination, OpenTool
from tooltray.ui.server_pane.tool_words_sheet import ToolHints, ToolWordsSheet
from tooltray.ui.theme import Theme
from tooltray.ui.tools.try_sheet import TrySheet
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.toast import Toast

READ = tool("read_file", "files", description="Reads a file.")


def control(panel: QWidget, name: str) -> QAbstractButton:
    return next(each for each in panel.findChildren(QAbstractButton) if name in (each.text(), each.accessibleName()))


def fields(panel: ToolWordsSheet) -> tuple[QLineEdit, QPlainTextEdit]:
    name, description = panel.findChild(QLineEdit), panel.findChild(QPlainTextEdit)
    assert name is not None
    assert description is not None
    return name, description


async def opened(desk: Desk, **overrides: Any) -> ToolWordsSheet:
    await until(lambda: desk.page.server_list.cards)
    desk.engine.entries["files"] = {"command": "npx", "toolOverrides": overrides}
    desk.wishes.tool_requested.emit(READ)
    assert desk.window.sheet is not None
    panel = desk.window.sheet.panel
    assert isinstance(panel, ToolWordsSheet)
    await until(control(panel, "Save").isEnabled)
    return panel


def fake() -> FakePresenter:
    return FakePresenter([server("files"), server("hub", is_builtin=True)], [READ])


async def test_a_tool_of_a_server_leads_to_the_one_place_with_its_details(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        gone: list[Destination] = []
        await until(lambda: desk.page.server_list.cards)
        table = desk.open_tools("files").table
        desk.page.show_tools("files", [READ])
        assert table.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole).startswith("Reads a file.\nAI clients see it as read_file.")
        desk.window.context.go = gone.append
        table.row_chosen.emit(READ)
        assert gone == [OpenTool("read_file")]


async def test_a_name_and_a_description_are_saved_and_the_list_is_had_again(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk)
        name, description = fields(panel)
        assert (name.text(), name.placeholderText(), description.toPlainText()) == ("", "read_file", "Reads a file.")
        name.setText(" look ")
        description.setPlainText("Looks into a file.\n")
        QTest.keyClick(panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("set_tool_override", "files", "read_file", "look", "Looks into a file.", None, None, None)
        await until(lambda: desk.window.sheet is None)
        await desk.asked("get_tools", "files")


async def test_a_long_description_is_read_without_scrolling_sideways(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        description = fields(await opened(desk))[1]
        height = description.height()
        description.setPlainText("Reads the complete contents of a file. " * 6)
        QApplication.processEvents()
        assert description.horizontalScrollBar().maximum() == 0
        assert description.document().firstBlock().layout().lineCount() > 2
        assert description.height() == height


@pytest.mark.parametrize("text", ["", "Reads a file."])
async def test_what_is_left_as_it_was_stays_the_server_s_own(text: str, theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk)
        fields(panel)[1].setPlainText(text)
        control(panel, "Save").click()
        await desk.asked("set_tool_override", "files", "read_file", None, None, None, None, None)


async def test_other_words_that_stand_in_the_settings_are_kept_or_taken_back(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk, read_file={"name": "look", "description": "Reads a file."})
        assert fields(panel)[0].text() == "look"
        control(panel, "Save").click()
        await desk.asked("set_tool_override", "files", "read_file", "look", "Reads a file.", None, None, None)
        await until(lambda: desk.window.sheet is None)
        panel = await opened(desk, read_file={"name": "look"})
        control(panel, "Back to the server's own").click()
        await desk.asked("set_tool_override", "files", "read_file", None, None, None, None, None)


async def test_without_other_words_there_is_nothing_to_take_back_and_odd_settings_do_no_harm(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk, read_file={"name": 7, "description": None})
        assert fields(panel)[0].text() == ""
        panel.close_requested.emit()
        panel = await opened(desk, other={"name": "x"})
        assert not control(panel, "Back to the server's own").isEnabled()


async def test_a_refusal_stands_in_the_sheet_and_what_was_written_stays(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk)
        desk.engine.failures["set_tool_override"] = TooltrayError("the name cannot be used", "", "Use letters")
        fields(panel)[0].setText("a b")
        control(panel, "Save").click()
        await until(lambda: "The name cannot be used" in words(panel))
        assert fields(panel)[0].text() == "a b"
        assert desk.window.sheet is not None


async def test_a_tool_is_tried_from_its_sheet_unless_something_would_be_lost(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk)
        assert "What you have allowed for this server covers it." in words(panel)
        fields(panel)[0].setText("look")
        control(panel, "Try it").click()
        await until(lambda: "Save your changes first." in words(desk.window))
        assert [toast.tone for toast in desk.window.findChildren(Toast)] == ["warning"]
        fields(panel)[0].clear()
        control(panel, "Try it").click()
        await until(lambda: isinstance(desk.window.context.sheets.panel, TrySheet))


async def test_a_tool_that_is_off_cannot_be_tried(theme: Theme) -> None:
    async with Desk(FakePresenter([server("files")], [replace(READ, is_enabled=False)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.tool_requested.emit(desk.engine.tools[0])
        panel = desk.window.context.sheets.panel
        assert panel is not None
        assert not control(panel, "Try it").isEnabled()
        assert "AI clients do not see it." in words(panel)


async def test_the_hub_s_own_tools_have_no_sheet_and_a_sheet_goes_with_its_server(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.tool_requested.emit(tool("collect_feedback", "hub"))
        desk.wishes.tool_requested.emit(tool("x", "gone"))
        assert desk.window.sheet is None
        await opened(desk)
        desk.wishes.removal_requested.emit("files")
        await until(lambda: desk.window.sheet is None)


async def test_a_title_hints_and_an_icon_are_saved_beside_what_has_no_field(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        icons = [{"src": "https://example.org/1.png", "sizes": ["48x48"]}, {"src": "https://example.org/2.png"}]
        panel = await opened(desk, read_file={"annotations": {"title": "A", "readOnlyHint": True, "openWorldHint": 5}, "icons": icons})
        hints = panel.findChild(ToolHints)
        assert hints is not None
        title, icon, _limit = hints.findChildren(QLineEdit)
        assert (title.text(), icon.text()) == ("", "https://example.org/1.png")
        title.setText(" Looks ")
        destroys = next(each for each in hints.findChildren(Choice) if each.accessibleName().startswith("May destroy"))
        destroys.choose("no")
        control(panel, "Save").click()
        annotations = {"title": "A", "readOnlyHint": True, "destructiveHint": False}
        await desk.asked("set_tool_override", "files", "read_file", None, None, "Looks", annotations, icons)
        await until(lambda: desk.window.sheet is None)
        panel = await opened(desk, read_file={"icons": icons, "annotations": 5})
        hints = panel.findChild(ToolHints)
        assert hints is not None
        hints.findChildren(QLineEdit)[1].setText("https://example.org/new.png")
        control(panel, "Save").click()
        await desk.asked("set_tool_override", "files", "read_file", None, None, None, None, [{"src": "https://example.org/new.png"}])


async def test_how_much_of_a_result_is_given_at_once_is_saved_where_it_changes(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk, read_file={"resultLimit": 2000})
        hints = panel.findChild(ToolHints)
        assert hints is not None
        limit = hints.findChildren(QLineEdit)[2]
        assert (limit.text(), limit.placeholderText()) == ("2000", "As set for its server")
        limit.setText("499")
        assert not control(panel, "Save").isEnabled()
        limit.setText("500")
        control(panel, "Save").click()
        await desk.asked("set_result_limit", 500, "files", "read_file", None)
        await until(lambda: desk.window.sheet is None)
        panel = await opened(desk, read_file={"resultLimit": 500})
        control(panel, "Save").click()
        await until(lambda: desk.window.sheet is None)
        panel = await opened(desk, read_file={"resultLimit": 500})
        control(panel, "Back to the server's own").click()
        await desk.asked("set_result_limit", None, "files", "read_file", None)
        assert [call for call in desk.engine.calls if call[0] == "set_result_limit"] == [
            ("set_result_limit", 500, "files", "read_file", None),
            ("set_result_limit", None, "files", "read_file", None),
        ]


@pytest.mark.parametrize(
    ("kept", "shown", "chosen", "enabled"), [(None, "", "true", True), (True, "true", "false", False), (False, "false", "", None)]
)
async def test_the_form_of_tables_is_saved_where_it_changes(
    kept: bool | None, shown: str, chosen: str, enabled: bool | None, theme: Theme
) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk, read_file={"csvTables": kept})
        tables = table_choice(panel)
        assert tables.chosen == shown
        control(panel, "Save").click()
        await until(lambda: desk.window.sheet is None)
        assert "set_csv_tables" not in [name for name, *_ in desk.engine.calls]
        panel = await opened(desk, read_file={"csvTables": kept})
        table_choice(panel).choose(chosen)
        control(panel, "Try it").click()
        await until(lambda: "Save your changes first." in words(desk.window))
        control(panel, "Save").click()
        await desk.asked("set_csv_tables", enabled, "files", "read_file", None)


async def test_the_server_s_own_is_also_the_form_of_tables_and_odd_settings_do_no_harm(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        panel = await opened(desk, read_file={"csvTables": True})
        control(panel, "Back to the server's own").click()
        await desk.asked("set_csv_tables", None, "files", "read_file", None)
        await until(lambda: desk.window.sheet is None)
        assert table_choice(await opened(desk, read_file={"csvTables": "yes"})).chosen == ""


def table_choice(panel: ToolWordsSheet) -> Choice:
    return next(each for each in panel.findChildren(Choice) if each.accessibleName().startswith("Tables in results"))
