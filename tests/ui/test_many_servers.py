"""A hundred servers: cards or a table by choice, sorted, under headings, found, and many of them at once with one Undo."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import cells, control, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.server_actions import can
from tooltray.ui.kit.window_memory import WindowMemory
from tooltray.ui.servers.many_servers import ManyBar
from tooltray.ui.servers.server_filter import TokenAdvice
from tooltray.ui.servers.server_table import ServerTable, by_file, by_service, by_state, grouped, grouping
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.row_model import Heading
from tooltray.ui.widgets.toast import Toast

S = ServerState


def many(count: int = 30) -> list[ServerSnapshot]:
    states = (S.RUNNING, S.STOPPED, S.ON_DEMAND)
    return [server(f"s{n:02}", states[n % 3], tool_count=n, is_default=n % 3 == 0) for n in range(count)]


def table(desk: Desk) -> ServerTable:
    return desk.page.findChild(ServerTable)


def names(desk: Desk) -> list[str]:
    return [row.title if isinstance(row, Heading) else row.name for row in table(desk).rows]


def press(desk: Desk, place: int, column: int, key: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    cell = table(desk).visualRect(table(desk).model().index(place, column)).center()
    QTest.mouseClick(table(desk).viewport(), Qt.MouseButton.LeftButton, key, cell)


def press_title(desk: Desk, column: int) -> None:
    header = table(desk).horizontalHeader()
    place = QPoint(header.sectionViewportPosition(column) + 20, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)


def choose(desk: Desk, words: str) -> None:
    """In the menu that says how servers are shown."""
    button = control(desk.page, "How servers are shown")
    button.click()
    menu = [each for each in button.findChildren(QMenu) if each.isVisible()][-1]
    next(action for action in menu.actions() if action.text() == words).trigger()
    menu.close()


async def undo(desk: Desk, said: str) -> None:
    """Waits until a toast says it, and takes it back."""
    await until(lambda: any(each.text == said for each in desk.window.findChildren(Toast)))
    control(next(each for each in desk.window.findChildren(Toast) if each.text == said), "Undo").click()


async def test_a_press_on_a_title_sorts_a_second_turns_it_round_and_a_third_brings_the_order_back(theme: Theme) -> None:
    async with Desk(FakePresenter(many()), theme) as desk:
        await until(lambda: table(desk).isVisible())
        given = names(desk)
        press_title(desk, 4)
        assert names(desk)[:2] == ["s29", "s28"]
        press_title(desk, 4)
        assert names(desk)[:2] == ["s00", "s01"]
        press_title(desk, 4)
        assert names(desk) == given
        press_title(desk, 2)
        assert [row.state for row in table(desk).rows][:2] == [S.RUNNING, S.RUNNING]
        assert table(desk).model().headerData(2, Qt.Orientation.Horizontal) == "State ↑"


async def test_cards_or_table_order_and_groups_are_remembered(theme: Theme) -> None:
    async with Desk(FakePresenter(many(6)), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        choose(desk, "Table")
        assert table(desk).isVisible()
        choose(desk, "State")
        assert names(desk) == ["Connected", "s00", "s03", "Sleeping", "s02", "s05", "Stopped", "s01", "s04"]
        press(desk, 0, 1)
        assert desk.page.details is None  # a heading is nothing to open
        choose(desk, "No groups")
        choose(desk, "Tools")
        memory = desk.window.context.local.memory
        assert [memory.text(f"servers.{name}") for name in ("view", "group", "sort")] == ["table", "", "tools falls"]
        choose(desk, "Cards")
        assert desk.card("s00").isVisible()


async def test_a_hundred_servers_are_cards_if_a_person_wants_that(theme: Theme) -> None:
    async with Desk(FakePresenter(many(30)), theme) as desk:
        await until(lambda: table(desk).isVisible())
        choose(desk, "Cards")
        assert sum(card.isVisible() for card in desk.page.server_list.cards.values()) == 30


async def test_boxes_and_shift_select_many_and_what_is_done_with_them_has_one_undo(theme: Theme) -> None:
    async with Desk(FakePresenter(many()), theme) as desk:
        await until(lambda: table(desk).isVisible())
        bar = desk.page.findChild(ManyBar)
        place = (table(desk).mapTo(desk.window, QPoint()), table(desk).size())
        press(desk, 0, 0)
        assert not bar.isVisible()
        press(desk, 3, 0)
        press(desk, 1, 1, Qt.KeyboardModifier.ControlModifier)
        assert desk.page.details is None  # to select is not to open
        assert (bar.isVisible(), words(bar)) == (True, "3 selected")
        await until(lambda: bar.width() == desk.page.width())  # it is laid out
        assert (table(desk).mapTo(desk.window, QPoint()), table(desk).size()) == place  # no row moves
        control(bar, "Stop: 2 servers").click()  # the third is stopped
        await until(lambda: {desk.servers.find(name).state for name in ("s00", "s03")} == {S.STOPPED})
        await undo(desk, "2 servers are stopped")
        await until(lambda: {desk.servers.find(name).state for name in ("s00", "s03")} == {S.RUNNING})
        assert desk.servers.find("s01").state is S.STOPPED
        assert [row.name for row in table(desk).picked] == ["s00", "s01", "s03"]


async def test_many_are_removed_and_brought_back_as_they_were(theme: Theme) -> None:
    async with Desk(FakePresenter(many()), theme) as desk:
        await until(lambda: table(desk).isVisible())
        before = dict(desk.engine.entries)
        desk.wishes.many_requested.emit("remove", ["s01", "s02", "hub"])
        await until(lambda: desk.servers.find("s01") is None and desk.servers.find("s02") is None)
        await undo(desk, "2 servers are removed")
        await until(lambda: desk.servers.find("s02"))
        await until(lambda: desk.engine.entries == before)


async def test_many_are_started_and_only_those_that_were_stopped_are_stopped_again(theme: Theme) -> None:
    async with Desk(FakePresenter(many()), theme) as desk:
        await until(lambda: table(desk).isVisible())
        desk.wishes.many_requested.emit("start", ["s02"])
        await desk.asked("start_server", "s02")
        toast = next(each for each in desk.window.findChildren(Toast) if each.text == "1 servers are starting")
        assert [each.text() for each in toast.findChildren(QAbstractButton)] == []
        desk.wishes.many_requested.emit("start", ["s01", "s02"])
        await undo(desk, "2 servers are starting")
        await desk.asked("stop_server", "s01")
        assert ("stop_server", "s02") not in desk.engine.calls


async def test_what_starts_with_the_hub_becomes_on_demand_and_back(theme: Theme) -> None:
    async with Desk(FakePresenter(many()), theme) as desk:
        await until(lambda: table(desk).isVisible())
        desk.wishes.many_requested.emit("on_demand", ["s00", "s01", "s03"])
        await until(lambda: not desk.servers.find("s03").is_default and not desk.servers.find("s00").is_default)
        await undo(desk, "2 servers start when a client needs them")
        await until(lambda: desk.servers.find("s03").is_default and desk.servers.find("s00").is_default)


async def test_one_that_fails_keeps_no_other_and_is_named(theme: Theme) -> None:
    async with Desk(FakePresenter(many()), theme) as desk:
        await until(lambda: table(desk).isVisible())
        desk.engine.failures["restart_server"] = TooltrayError("it does not want to")
        desk.wishes.many_requested.emit("restart", ["s00", "s03"])
        await until(lambda: "2 servers did not start" in words(desk.page.notices))
        assert "s00, s03" in words(desk.page.notices)


@pytest.mark.parametrize(
    ("what", "able"),
    [
        ("start", ["off", "bad"]),
        ("stop", ["up", "bad"]),
        ("restart", ["up", "bad"]),
        ("on_demand", ["up"]),
        ("remove", ["up", "off", "bad"]),
    ],
)
def test_of_many_something_is_done_only_with_those_for_which_it_makes_sense(what: str, able: list[str]) -> None:
    servers = [
        server("up", is_default=True),
        server("off", S.STOPPED),
        server("bad", S.ERROR),
        server("hub", is_builtin=True),
        server("wanted", origin="proposal"),
    ]
    assert [each.name for each in servers if can(what, each)] == able


async def test_filters_count_what_the_search_lets_through_and_the_table_names_the_tools(theme: Theme) -> None:
    tools = [tool("read_file", "s03"), tool("write_file", "s03"), tool("other", "s04")]
    async with Desk(FakePresenter(many(), tools), theme) as desk:
        await until(lambda: table(desk).isVisible())
        desk.page._search.setText("file")
        await until(lambda: names(desk) == ["s03"])
        assert cells(table(desk))[3] == "2 tools found: read_file, write_file"
        counts = {each.text(): each.count for each in desk.page.findChildren(FilterTab) if each.isVisible() and each.count}
        assert counts == {"All": 1, "Ready": 1}


async def test_what_showing_tools_on_demand_would_save_is_said_and_done(theme: Theme) -> None:
    fake = FakePresenter([server("big"), server("mid"), server("small")])
    of = [ServerCost(name, tokens, tokens, (), compact_tokens=110) for name, tokens in (("big", 90_000), ("mid", 900), ("small", 100))]
    fake.costs = ToolCosts("o200k", 91_000, 91_000, tuple(of), search_tokens=190)
    listing = ClientModeSnapshot("", "", "", "lazy", "")
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.findChild(TokenAdvice).isVisible())
        advice = desk.page.findChild(TokenAdvice)
        assert advice.text() == "Save 90,490 tokens…"
        advice.click()
        menu = advice.findChild(QMenu)
        head, everything, _, choice, mid = menu.actions()
        assert (head.text(), head.isEnabled()) == ("Compact tool listing: one small tool per server loads the rest", False)
        assert everything.text() == "Compact listing for all 2 servers: saves 90,490 tokens"
        assert choice.text() == "Compact listing for big: saves 89,700 tokens"
        assert mid.text() == "Compact listing for mid: saves 600 tokens"
        choice.trigger()
        menu.close()
        await desk.asked("set_lazy_load", True, "big")
        desk.engine.client_modes = [listing]
        desk.engine.costs = ToolCosts("o200k", 91_190, 1_300, (replace(of[0], shown_tokens=110), *of[1:]))
        desk.engine.tell(server("big", is_lazy=True))
        shown = "Default listing: compact for 1 of 3 servers · 1,300 of 91,190 tokens unless listed in full"
        await until(lambda: shown in words(desk.page))
        assert (advice.isVisible(), advice.text()) == (True, "Save 790 tokens…")
        await undo(desk, "The tool listing of big is compact")
        await desk.asked("set_lazy_load", None, "big")


class OneRefuses(FakePresenter):
    def set_lazy_load(self, **given: object) -> None:
        if "big" in given.values():
            raise TooltrayError("it does not want to")


async def test_of_several_listings_the_one_that_became_compact_is_named(theme: Theme) -> None:
    async with Desk(OneRefuses([server("big"), server("mid")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.lazy_many_requested.emit(["big", "mid"])
        await until(lambda: "The tool listing of mid is compact" in words(desk.window))
        assert "The tool listing of big is compact" not in words(desk.window)


def test_servers_stand_under_what_they_have_in_common() -> None:
    here = [
        server("a", target="npx -y @modelcontextprotocol/server-filesystem@1.2 /x"),
        server("b", S.ERROR, transport="http", target="https://mcp.linear.app/mcp"),
        server("c", S.STARTING, target="/opt/bin/tool --x", origin="project", file="/srv/shop/.mcp.json"),
        server("d", S.WAITING, target=""),
        server("hub", is_builtin=True, target=""),
    ]
    assert [by_service(each) for each in here] == ["filesystem", "linear.app", "tool", "d", "Comes with Tooltray"]
    assert [by_state(each) for each in here] == ["Connected", "Needs you", "Starting", "Waiting for project", "Connected"]
    assert [by_file(each) for each in here][1:4] == ["Settings", ".mcp.json of shop", "Settings"]
    titles = [row.title for row in grouped(here, grouping("service")) if isinstance(row, Heading)]
    assert titles == ["d", "filesystem", "linear.app", "tool", "Comes with Tooltray"]
    assert grouped(here, grouping("what nobody knows")) == here


async def test_what_the_window_remembers_outlives_it_and_a_damaged_file_costs_no_more_than_that(tmp_path: Path) -> None:
    path, tasks = tmp_path / "window.json", TaskKeeper()
    memory = WindowMemory(path, save=write_atomically, tasks=tasks)
    memory.remember("a", "x")
    memory.remember("b", ["y", "z"])
    await until(lambda: not len(tasks))
    again = WindowMemory(path, save=write_atomically, tasks=tasks)
    assert (again.text("a"), again.texts("b"), again.text("b"), again.texts("a"), again.text("c")) == ("x", ["y", "z"], "", [], "")
    path.write_bytes(b"[[[")
    assert WindowMemory(path, save=write_atomically, tasks=tasks).text("a") == ""


# servers that run everything without asking


async def test_servers_that_run_everything_are_offered_to_ask_first_once_and_with_undo(theme: Theme) -> None:
    shown = [
        server("a", auto_approve=("all", "ask:t")),
        server("b", auto_approve=("all",)),
        server("c", auto_approve=("read",)),
        server("hub", is_builtin=True, auto_approve=("all",)),
    ]
    async with Desk(FakePresenter(shown), theme) as desk:
        await until(lambda: "2 servers change things without asking" in words(desk.page.notices))
        control(desk.page.notices, "Ask first").click()
        await desk.asked("set_server_auto_approve", "a", ["read", "ask:t"])
        await desk.asked("set_server_auto_approve", "b", ["read"])
        await until(lambda: desk.window.findChild(Toast))
        assert "without asking" not in words(desk.page.notices)
        desk.window.findChild(Toast).action_requested.emit()
        await desk.asked("set_server_auto_approve", "a", ["all", "ask:t"])
        await desk.asked("set_server_auto_approve", "b", ["all"])
        desk.page.many.look_at_rules()
        assert "without asking" not in words(desk.page.notices)


async def test_an_offer_that_was_declined_does_not_come_again(theme: Theme) -> None:
    async with Desk(FakePresenter([server(f"s{n}", auto_approve=("all",)) for n in range(8)]), theme) as desk:
        await until(lambda: "8 servers change things without asking" in words(desk.page.notices))
        assert "and 2 more" in words(desk.page.notices)
        control(desk.page.notices, "Leave it as it is").click()
        desk.page.many.look_at_rules()
        assert "without asking" not in words(desk.page.notices)
        assert all(call[0] != "set_server_auto_approve" for call in desk.engine.calls)


async def test_where_rules_cannot_be_changed_nothing_is_said_to_be_done(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", auto_approve=("all",))]), theme) as desk:
        desk.engine.failures["set_server_auto_approve"] = TooltrayError("the disk is full")
        await until(lambda: "1 server changes things without asking" in words(desk.page.notices))
        control(desk.page.notices, "Ask first").click()
        await until(lambda: "The disk is full" in words(desk.page))
        assert desk.window.findChild(Toast) is None


async def test_a_person_whose_servers_all_ask_is_offered_nothing_for_one_that_is_opened_later(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.tell(server("a", auto_approve=("all",)))
        desk.page.many.look_at_rules()
        assert "without asking" not in words(desk.page.notices)


async def test_a_row_that_is_opened_is_marked_and_not_ticked(theme: Theme) -> None:
    async with Desk(FakePresenter(many()), theme) as desk:
        await until(lambda: table(desk).isVisible())
        press(desk, 3, 1)
        assert desk.page.details is not None
        assert table(desk).picked == []
        press(desk, 1, 0)
        press(desk, 5, 1)
        assert [row.name for row in table(desk).picked] == [names(desk)[1]]
        row = table(desk).visualRect(table(desk).model().index(5, 1))
        shown = table(desk).viewport().grab().toImage()
        assert shown.pixelColor(row.right() - 2, row.center().y()) == theme.color("surface.selected")
