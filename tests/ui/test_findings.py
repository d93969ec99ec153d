"""Small things that confused people once: names beside versions, menus out of the window, what fails called in use."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, table, words

from tooltray.foundation.snapshots.clients import SessionSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.setup import FileEntrySnapshot, ServerFileSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolCost
from tooltray.ui.logs.log_model import duration
from tooltray.ui.projects.file_words import file_look
from tooltray.ui.server_words import tool_count
from tooltray.ui.shell.sidebar import NavItem
from tooltray.ui.theme import Theme


async def test_a_menu_at_the_right_edge_stays_in_the_window(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards and desk.card("b").isVisible())
        desk.window.resize(900, 600)
        for name in ("a", "b"):
            control(desk.card(name), f"More for {name}").click()
            menu = next(each for each in desk.card(name).findChildren(QMenu) if each.isVisible())
            window = desk.window.geometry()
            assert window.left() <= menu.geometry().left()
            assert menu.geometry().right() <= window.right()
            menu.close()


async def test_the_navigation_has_no_check_boxes_for_screen_readers(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        each = desk.window.findChild(NavItem)
        assert QAccessible.queryAccessibleInterface(each).role() == QAccessible.Role.RadioButton


async def test_a_client_s_name_is_its_name_and_the_version_a_fact(theme: Theme) -> None:
    engine = FakePresenter([server("a")])
    engine.sessions = [SessionSnapshot("1", "claude-code", "1")]
    async with Desk(engine, theme) as desk:
        desk.window.open_page("clients")
        await until(lambda: desk.clients.table.rows)
        assert desk.clients.table.model().index(0, 0).data() == "Claude Code"
        desk.clients.table.row_chosen.emit(desk.clients.table.rows[0])
        await until(lambda: "Version 1" in words(desk.clients))


@pytest.mark.parametrize(("ms", "text"), [(2.0, "2 ms"), (0.4, "< 1 ms"), (0.0, "0 ms"), (12.3, "12 ms"), (4321.0, "4,321 ms")])
def test_durations_below_each_other_have_the_same_digits(ms: float, text: str) -> None:
    assert duration(ms) == text


def test_tools_that_are_off_are_not_counted_as_tools() -> None:
    costs = ServerCost("a", 10, 10, (ToolCost("x", 5, True), ToolCost("y", 5, True)))
    assert tool_count(server("a", tool_count=16), costs) == "2 of 16 tools"
    assert tool_count(server("a", tool_count=2), costs) == "2 tools"
    assert tool_count(server("a", tool_count=16)) == "16 tools"


def test_a_file_whose_server_fails_is_not_said_to_be_in_use() -> None:
    entries = (FileEntrySnapshot("x", "x", "used"), FileEntrySnapshot("y", "y2", "used"))
    file = ServerFileSnapshot("/srv/.mcp.json", "project", "/srv", entries=entries)
    assert file_look(file).word == "In use"
    assert (file_look(file, {"y2"}).word, file_look(file, {"y2"}).tone) == ("1 fails", "error")
    assert file_look(file, {"x", "y2"}).word == "2 fail"


async def test_a_failing_server_changes_the_line_of_its_file_at_once(theme: Theme) -> None:
    engine = FakePresenter([server("x", file="/srv/.mcp.json", origin="project")], [tool("t", "x")])
    engine.files = [ServerFileSnapshot("/srv/.mcp.json", "project", "/srv", entries=(FileEntrySnapshot("x", "x", "used"),))]
    async with Desk(engine, theme) as desk:
        desk.open_projects()
        await until(lambda: table(desk.projects, "Files with servers").rows)
        listed = table(desk.projects, "Files with servers")
        assert listed.model().index(0, 3).data() == "In use"
        engine.set_state("x", ServerState.ERROR)
        await until(lambda: listed.model().index(0, 3).data() == "1 fails")
