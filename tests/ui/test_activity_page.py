"""The Activity page shows what happened, reads as much of it as one looks at, and says what it does not know."""

import asyncio
import json
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QGuiApplication, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.journal_in_memory import JournalInMemory, entry
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import cells, control, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityEntry, ActivityFilter, ActivityTimes, CallNow, JournalStatus
from tooltray.ui.activity.activity_page import FIGURES, CallsTab
from tooltray.ui.activity.activity_table import CLIENT, OUTCOME, TOOK, TOOL, TOUCHED
from tooltray.ui.activity.entry_details import EntryDetails
from tooltray.ui.kit.destinations import Activity, CallsWhere, Destination, OpenEntry, ServerLog, TryTool
from tooltray.ui.kit.setting_form import FOREVER
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import NoticeLine
from tooltray.ui.widgets.cell_delegate import PADDING, PAGE_INSET, CellDelegate
from tooltray.ui.widgets.charts import Waterfall
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.filter_tabs import FilterTab


def engine(journal: Sequence[ActivityEntry]) -> JournalInMemory:
    return JournalInMemory([server("fs")], [tool("read_file", "fs")], journal=journal)


def written(desk: Desk) -> JournalInMemory:
    assert isinstance(desk.engine, JournalInMemory)
    return desk.engine


async def opened(desk: Desk) -> CallsTab:
    desk.window.open_page("activity")
    calls = desk.activity.calls
    await until(lambda: calls.list.table.activity.is_known and calls.glance.chart.bars is not None)
    return calls


async def listed(desk: Desk, names: Sequence[str]) -> CallsTab:
    """Waits until these tools stand in the list."""
    calls = await opened(desk)
    await until(lambda: column(calls) == list(names))
    return calls


async def show_all(desk: Desk) -> None:
    """Lists everything that happened, and not calls alone."""
    control((await opened(desk)).list, "All").click()


def column(calls: CallsTab, of: int = TOOL) -> list[str]:
    model = calls.list.table.activity
    return [model.index(place, of).data() for place in range(model.rowCount())]


async def details_of(desk: Desk, id: int) -> EntryDetails:
    calls = await opened(desk)
    desk.window.go(OpenEntry(id))
    await until(lambda: calls._split.details is not None and calls._split.details.shown.entry.id == id)
    assert calls._split.details is not None
    return calls._split.details


async def test_repeats_are_one_row_and_only_what_went_wrong_is_marked(theme: Theme) -> None:
    journal = [
        entry(1, tool="edit"),
        *(entry(id, touched=f"a{id}") for id in range(2, 5)),
        entry(5, tool="rm", outcome="error", reason="no"),
    ]
    journal += [entry(6, kind="start", client="", tool="", server="fs"), entry(7, tool="w", outcome="refused", client="tooltray")]
    async with Desk(engine(journal), theme) as desk:
        await show_all(desk)
        calls = await listed(desk, ["w", "fs started", "rm", "read_file, 3 times", "edit"])
        assert column(calls, OUTCOME) == ["Not allowed", "Done", "Failed", "Done", "Done"]
        assert column(calls, CLIENT)[:2] == ["You", "–"]
        looks = [calls.list.table.activity.index(place, OUTCOME).data(Qt.ItemDataRole.UserRole).icon for place in range(5)]
        assert looks == ["state-waiting", "", "state-error", "", ""]
        assert calls.list.table.activity.index(3, TOUCHED).data() == "a4, …"
        await until(lambda: "Failed, 1" in {tab.accessibleName() for tab in calls.list.findChildren(type(calls.list._tabs._tabs[0]))})


async def test_an_outcome_without_a_mark_begins_below_its_header(theme: Theme) -> None:
    async with Desk(engine([entry(1)]), theme) as desk:
        table = (await listed(desk, ["read_file"])).list.table
        cell = table.visualRect(table.activity.index(0, OUTCOME))
        area = table.horizontalHeader().viewport().grab(QRect(cell.left(), 0, cell.width(), 33)).toImage()
        assert abs(_first_ink(area) - _first_ink(table.viewport().grab(cell.adjusted(0, 0, 0, -2)).toImage())) <= 1


def _first_ink(picture: QImage) -> int:
    """Returns the first px from the left where something is drawn."""
    ground = picture.pixel(1, 1)
    return next(x for x in range(1, picture.width()) if any(picture.pixel(x, y) != ground for y in range(picture.height())))


async def test_tabs_count_the_calls_that_the_head_counts(theme: Theme) -> None:
    now = time.time()
    journal = [entry(1, at=now, tool="a"), entry(2, at=now, tool="b", outcome="error"), entry(3, at=now, tool="c", outcome="refused")]
    journal += [entry(id, at=now, kind="failure", client="", tool="", outcome="error") for id in range(4, 9)]
    journal += [entry(9, at=now, kind="approval", tool="c", outcome="refused")]
    async with Desk(engine(journal), theme) as desk:
        calls = await listed(desk, ["c", "b", "a"])
        tabs, counted = calls.list.findChildren(FilterTab), ["Calls, 3", "Failed, 1", "Not allowed, 1", "All"]
        await until(lambda: [tab.accessibleName() for tab in tabs] == counted)
        await until(lambda: {"calls: 3", "failed: 1"} <= set(words(calls.glance).splitlines()))
        control(calls.list, "Failed, 1").click()
        await until(lambda: column(calls) == ["b"])
        control(calls.list, "Not allowed, 1").click()
        await until(lambda: column(calls) == ["c"])
        control(calls.list, "All").click()
        await until(lambda: column(calls) == ["c", "fs failed 5 times", "c", "b", "a"])


async def test_a_chosen_kind_is_listed_among_all_and_left_with_a_tab_of_calls(theme: Theme) -> None:
    async with Desk(engine([entry(1, at=time.time(), tool="a"), entry(2, kind="start", client="", tool="")]), theme) as desk:
        calls = await listed(desk, ["a"])
        calls.filters.filter_changed.emit(ActivityFilter(kinds=("start",)))
        await until(lambda: column(calls) == ["fs started"])
        await until(lambda: "calls: 1" in words(calls.glance))
        assert [tab.text() for tab in calls.list.findChildren(FilterTab) if tab.isVisible()] == ["Calls", "All"]  # others count nothing
        control(calls.list, "Calls, 1").click()
        await until(lambda: column(calls) == ["a"])
        assert calls.list.filter == ActivityFilter()
        assert not calls.filters.isVisible()


async def test_a_group_opens_with_the_keyboard_and_by_its_arrow_and_closes_again(theme: Theme) -> None:
    async with Desk(engine([entry(id) for id in range(1, 4)]), theme) as desk:
        calls = await listed(desk, ["read_file, 3 times"])
        table = calls.list.table
        table.selectRow(0)
        table.setFocus()
        QTest.keyClick(table, Qt.Key.Key_Right)
        await until(lambda: table.activity.rowCount() == 4)
        QTest.keyClick(table, Qt.Key.Key_Left)
        assert table.activity.rowCount() == 1
        arrow = table.visualRect(table.activity.index(0, TOOL)).topLeft() + QPoint(14, 12)
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
        await until(lambda: table.activity.rowCount() == 4)
        assert calls._split.details is None


async def test_the_last_figure_of_a_row_ends_where_its_header_does_also_with_hidden_columns_behind(theme: Theme) -> None:
    async with Desk(engine([entry(1)]), theme) as desk:
        desk.window.go(Activity("figures"))
        table = desk.activity.tab(FIGURES).table
        for width, last in ((900, 6), (1400, 7)):
            desk.window.resize(width, 600)
            await until(lambda: table.isVisible() and table.isColumnHidden(7) is (last == 6))  # noqa: B023
            delegate = table.itemDelegate()
            assert isinstance(delegate, CellDelegate)
            assert delegate._right(last) == PAGE_INSET
            assert delegate._right(last - 1) == PADDING


async def test_in_a_narrow_window_the_details_take_the_page_and_back_leads_to_the_list(theme: Theme) -> None:
    async with Desk(engine([entry(1)]), theme) as desk:
        details = await details_of(desk, 1)
        for width, is_narrow in ((1180, False), (900, True)):
            desk.window.resize(width, 600)
            await until(lambda: desk.activity.calls.list.isVisible() is not is_narrow)  # noqa: B023
            assert control(details, "Back" if is_narrow else "Close details").isVisible()
            assert details.x() == 0 or not is_narrow
        control(details, "Back").click()
        assert desk.activity.calls._split.details is None
        assert desk.activity.calls.list.isVisible()


async def test_the_arrow_of_a_group_leaves_the_row_selected_whose_details_are_shown(theme: Theme) -> None:
    async with Desk(engine([*(entry(id) for id in range(1, 4)), entry(4, tool="rm")]), theme) as desk:
        await details_of(desk, 4)
        calls = await listed(desk, ["rm", "read_file, 3 times"])
        table = calls.list.table
        arrow = table.visualRect(table.activity.index(1, TOOL)).topLeft() + QPoint(14, 12)
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
        await until(lambda: table.activity.rowCount() == 5)
        assert [index.row() for index in table.selectionModel().selectedRows()] == [0]
        assert calls._split.details is not None
        assert calls._split.details.shown.entry.id == 4


async def test_pages_are_read_as_one_scrolls_and_few_rows_are_kept(theme: Theme) -> None:
    journal = [entry(id, tool=f"t{id}") for id in range(1, 6001)]
    async with Desk(engine(journal), theme) as desk:
        calls = await opened(desk)
        table, model = calls.list.table, calls.list.table.activity
        while model.rowCount() < len(journal):
            table.verticalScrollBar().setValue(table.verticalScrollBar().maximum())
            await asyncio.sleep(0)
        assert sum(model.row(place).row is not None for place in range(model.rowCount())) < 4000
        table.show_top()
        table.verticalScrollBar().setValue(40 * 300)
        await until(lambda: model.index(300, TOOL).data() == "t5700")
        assert column(calls)[-1] == "t1"


async def test_new_rows_move_nothing_that_a_person_reads(theme: Theme) -> None:
    async with Desk(engine([entry(id, tool=f"t{id}") for id in range(1, 200)]), theme) as desk:
        calls = await opened(desk)
        table = calls.list.table
        await until(lambda: table.activity.rowCount() == 199)
        table.verticalScrollBar().setValue(400)
        top = table.rowAt(0)
        name = table.activity.index(top, TOOL).data()
        written(desk).write(entry(200, tool="new"), entry(201, tool="newer"))
        await until(lambda: table.activity.rowCount() == 201)
        assert table.activity.index(table.rowAt(0), TOOL).data() == name
        control(calls.list, "2 new").click()
        assert table.is_at_top
        assert table.activity.index(0, TOOL).data() == "newer"


async def test_a_short_list_stays_below_the_pointer_until_it_leaves(theme: Theme) -> None:
    """There is nothing to scroll, so that a new row would push the others down."""
    async with Desk(engine([entry(1, tool="old")]), theme) as desk:
        calls = await listed(desk, ["old"])
        viewport = calls.list.table.viewport()
        viewport.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
        written(desk).write(entry(2, tool="new"))
        await until(lambda: calls.list._new.isVisible())
        calls.list.table.verticalScrollBar().valueChanged.emit(0)
        assert column(calls) == ["old"]
        assert control(calls.list, "Show new").isVisible()
        viewport.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
        QApplication.sendEvent(calls.list, QEvent(QEvent.Type.Leave))
        await until(lambda: column(calls) == ["new", "old"])
        assert not calls.list._new.isVisible()


async def test_a_list_that_is_held_waits_and_goes_on(theme: Theme) -> None:
    async with Desk(engine([entry(1, tool="old")]), theme) as desk:
        calls = await listed(desk, ["old"])
        control(calls, "Pause list").click()
        written(desk).write(entry(2, tool="new"))
        await until(lambda: calls.list._new.isVisible())
        assert column(calls) == ["old"]
        control(calls, "Resume").click()
        await until(lambda: column(calls) == ["new", "old"])


async def test_each_key_of_a_search_shows_what_matches(theme: Theme) -> None:
    async with Desk(engine([entry(1, tool="alpha"), entry(2, tool="beta"), entry(3, tool="alps")]), theme) as desk:
        calls = await listed(desk, ["alps", "beta", "alpha"])
        QTest.keyClicks(calls.search, "alpha")
        await until(lambda: column(calls) == ["alpha"])
        QTest.keyClicks(calls.search, "x")
        await until(lambda: "Nothing matches. Arguments and results are not searched." in words(calls.list))
        QTest.keyClick(calls.search, Qt.Key.Key_Escape)
        await until(lambda: len(column(calls)) == 3)


async def test_filters_stand_there_as_chips_and_are_taken_away_one_by_one(theme: Theme) -> None:
    journal = [entry(1, tool="a"), entry(2, tool="b", client="cursor"), entry(3, tool="c", client="cursor", server="git")]
    async with Desk(engine(journal), theme) as desk:
        calls = await listed(desk, ["c", "b", "a"])
        wanted = ActivityFilter(clients=("cursor",), servers=("git",))
        desk.window.go(CallsWhere(wanted))
        await until(lambda: column(calls) == ["c"])
        assert nameless(desk.window) == []
        control(calls, "Remove the filter Server: git").click()
        await until(lambda: column(calls) == ["c", "b"])
        desk.window.go(CallsWhere(ActivityFilter(clients=("nobody",))))
        await until(lambda: "Nothing matches." in words(calls.list))


async def test_the_menu_of_filters_offers_what_there_is(theme: Theme) -> None:
    async with Desk(engine([entry(1, tool="a"), entry(2, tool="b", client="cursor")]), theme) as desk:
        calls = await listed(desk, ["b", "a"])
        await desk.asked("get_activity_choices")
        calls.filters.add.click()
        menu = next(each for each in calls.findChildren(QMenu) if each.isVisible())
        clients = next(each for each in menu.findChildren(QMenu) if each.title() == "Client")
        next(each for each in clients.actions() if each.text() == "cursor").trigger()
        menu.close()
        await until(lambda: column(calls) == ["b"])


async def test_a_stretch_of_the_day_is_chosen_with_the_pointer_and_with_keys(theme: Theme) -> None:
    now = datetime.now().timestamp()
    async with Desk(engine([entry(1, tool="old", at=now - 40_000), entry(2, tool="new", at=now, outcome="error")]), theme) as desk:
        calls = await listed(desk, ["new", "old"])
        chart = calls.glance.chart
        assert chart.bars is not None
        assert [bar.failed for bar in chart.bars if bar.value] == [0, 1]
        chart.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
        assert " – " in chart.accessibleDescription()
        assert "1 failed" in chart.accessibleDescription()
        QTest.keyClick(chart, Qt.Key.Key_Return)
        await until(lambda: column(calls) == ["new"])
        assert chart.chosen == (94, 95)
        QTest.keyClick(chart, Qt.Key.Key_Escape)
        await until(lambda: column(calls) == ["new", "old"])
        QTest.mousePress(chart, Qt.MouseButton.LeftButton, pos=QPoint(4, 40))
        half = QPointF(chart.width() / 2, 40)
        move = QMouseEvent(
            QMouseEvent.Type.MouseMove,
            half,
            chart.mapToGlobal(half),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(chart, move)
        QTest.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=half.toPoint())
        await until(lambda: calls.list.filter.since > 0 and column(calls) in ([], ["old"]))


async def test_who_is_working_is_said_and_what_is_not_known_is_not_said_to_be_nothing(theme: Theme) -> None:
    async with Desk(engine([entry(1)]), theme) as desk:
        written(desk).calls_now = [CallNow("cursor", "s", "", "git", "push", 0.0, "person")]
        calls = await opened(desk)
        await until(lambda: "cursor: push" in words(calls.glance) and "waiting for your approval" in words(calls.glance))
        problem = TooltrayError("The journal cannot be read", "disk I/O error", "Look whether the disk is well")
        for verb in ("get_activity", "get_activity_series", "get_calls_now", "get_activity_figures", "count_activity"):
            desk.engine.failures[verb] = problem
        desk.activity.look_again()
        calls.look_again()
        calls.set_filter(ActivityFilter(text="x"))
        await until(lambda: "Not known who is working now." in words(calls.glance) and calls.glance.chart.bars is None)
        assert "The journal cannot be read" in words(calls)
        assert "calls: not known" in words(calls.glance)
        desk.engine.calls.clear()
        calls.filters.menu_opened.emit()  # what works says nothing of what has failed
        await until(lambda: len(desk.tasks) == 0 and desk.engine.calls)
        assert "The journal cannot be read" in words(calls)
        await until(lambda: control(calls, "Calls").accessibleName() == "Calls")  # no number
        desk.engine.failures.clear()
        calls.set_filter(ActivityFilter())
        await until(lambda: "The journal cannot be read" not in words(calls))


async def test_a_call_opened_says_who_let_it_through_and_where_its_time_went(theme: Theme) -> None:
    made = entry(1, published="fs_read_file", project="/srv/shop", touched="/srv/a.py", outcome="error", reason="<b>no</b> \x1b[31mway")
    async with Desk(engine([made]), theme) as desk:
        times = ActivityTimes(queue_s=0.0001, person_s=4.2, server_s=0.5)
        result = {"content": [{"type": "text", "text": "gone"}], "isError": True}
        written(desk).details[1] = ActivityDetails(
            made, times, '{"path": "it\'s"}', json.dumps(result), allowed_by="person", trace_id="4bf9" * 8
        )
        details = await details_of(desk, 1)
        assert "Began" not in words(details)
        for text in ("You, when it asked", "/srv/a.py", "<b>no</b> way", "about 10 tokens"):
            assert text in words(details)
        result_view = details.findChild(ResultView)
        assert isinstance(result_view, ResultView)
        assert [part.text for part in result_view.parts] == ["gone"]
        found = details.findChild(Waterfall)
        assert isinstance(found, Waterfall)
        stages = "Client: not measured, Tooltray: 0.1 ms, Your approval: 4.2 s, Server: 500 ms, Reply: not measured"
        assert found.accessibleDescription() == stages  # its server ran
        links: list[Destination] = []
        desk.window.context.go = links.append
        control(details, "Repeat…").click()
        control(details, "Show log").click()
        assert links == [TryTool("fs_read_file", '{"path": "it\'s"}'), ServerLog("fs")]
        control(details, "Copy as a command").click()
        assert QGuiApplication.clipboard().text().startswith("tooltray tools call fs_read_file ")
        control(details, "Copy the trace ID").click()
        assert QGuiApplication.clipboard().text() == "4bf9" * 8
        assert nameless(desk.window) == []
        control(details, "Only /srv/a.py").click()
        assert (desk.activity.calls.list.filter.text, desk.activity.calls.search.text()) == ("/srv/a.py", "/srv/a.py")
        control(details, "Only claude-code").click()
        assert desk.activity.calls.list.filter.clients == ("claude-code",)


async def test_a_call_that_was_declined_says_nothing_of_who_let_it_through(theme: Theme) -> None:
    async with Desk(engine([entry(1, outcome="refused", reason="the user declined this call")]), theme) as desk:
        details = await details_of(desk, 1)
        assert "You declined this call." in words(details)
        assert "Allowed by" not in words(details)


async def test_what_is_not_kept_is_said_with_the_button_that_keeps_it(theme: Theme) -> None:
    async with Desk(engine([entry(1, published="x")]), theme) as desk:
        details = await details_of(desk, 1)
        assert "Not recorded. Tooltray saves only one line for each call." in words(details)
        assert control(details, "Try this tool")
        control(details, "Record for 1 hour").click()
        await until(lambda: "The next hour is being recorded. Repeat the call to see them." in words(details))
        (changes,) = [call[1] for call in desk.engine.calls if call[0] == "change_settings"]
        assert changes["activity"]["contents"] is True
        assert changes["activity"]["contentsUntil"] > datetime.now().timestamp() + 3500


async def test_a_call_opened_shows_the_change_that_the_user_was_shown_and_its_target_in_full(theme: Theme) -> None:
    path = "/srv/" + "folder/" * 80 + "a.md"
    made = entry(1, published="fs_write_file", touched=path, has_contents=True)
    bare = replace(made, id=2, has_contents=False)
    async with Desk(engine([made, bare, *(replace(bare, id=number) for number in (3, 4, 5))]), theme) as desk:
        shown = ActivityDetails(made, ActivityTimes(), arguments="{}", result="{}", allowed_by="person", diff=("-old", "+new"))
        written(desk).details[1] = shown
        details = await details_of(desk, 1)
        change = details.findChild(DiffView)
        assert isinstance(change, DiffView)
        assert (change.toPlainText(), change.accessibleName()) == ("- old\n+ new", "What you were shown")
        assert path in words(details)
        written(desk).details[2] = replace(shown, arguments="", result="", diff=(), entry=bare)
        details = await details_of(desk, 2)
        assert "Not recorded, nor is what you were shown any more." in words(details)
        assert control(details, "Record for 1 hour")
        written(desk).details[3] = replace(shown, arguments="", result="", entry=replace(bare, id=3))
        details = await details_of(desk, 3)
        assert "Not recorded, but for what you were shown" in words(details)
        for number, kept in ((4, "{}"), (5, "")):  # of a try, before which nothing was shown
            tried = replace(shown, arguments=kept, result=kept, allowed_by="try", entry=replace(bare, id=number))
            written(desk).details[number] = tried
            details = await details_of(desk, number)
            change = details.findChild(DiffView)
            assert isinstance(change, DiffView)
            assert change.accessibleName() == "The change to the file"
            assert "you were shown" not in words(details)
        assert details.findChild(DiffView)


async def test_a_call_that_the_user_made_in_try_says_so(theme: Theme) -> None:
    async with Desk(engine([entry(1, published="x")]), theme) as desk:
        written(desk).details[1] = ActivityDetails(entry(1, published="x"), allowed_by="try")
        assert "You, in Try" in words(await details_of(desk, 1))


async def test_while_calls_are_recorded_the_page_shows_it_and_offers_to_stop_it(theme: Theme) -> None:
    async with Desk(engine([entry(1, published="x")]), theme) as desk:
        calls = await opened(desk)
        assert not calls.recording.isVisible()
        desk.engine.settings = {"activity": {"contents": True, "contentsUntil": time.time() + 600}}
        desk.engine.bus.publish(ConfigChanged({}, (), mcp_enabled=True))
        await until(calls.recording.isVisible)
        assert "Recording until" in words(calls.recording)
        details = await details_of(desk, 1)
        assert "Not recorded. This call was made before recording began." in words(details)
        assert "Record for 1 hour" not in [each.text() for each in details.findChildren(QPushButton) if each.isVisible()]
        control(calls, "Stop recording").click()
        await desk.asked("change_settings", {"activity": {"contents": False, "contentsUntil": None}}, "")
        await until(lambda: not calls.recording.isVisible())
        calls.recording.show_until(FOREVER)
        assert calls.recording.isVisible()
        calls.recording.show_until(time.time() - 1)
        assert not calls.recording.isVisible()


async def test_an_entry_that_is_gone_is_said_and_the_list_stays(theme: Theme) -> None:
    async with Desk(engine([entry(1)]), theme) as desk:
        calls = await opened(desk)
        desk.engine.failures["get_activity_entry"] = TooltrayError("Entry 7 not found in the journal")
        desk.window.go(OpenEntry(7))
        await until(lambda: "Entry 7 not found in the journal" in words(calls))
        assert calls._split.details is None


async def test_an_empty_journal_leads_to_a_first_call_and_a_damaged_one_says_so(theme: Theme) -> None:
    async with Desk(engine([]), theme) as desk:
        desk.window.open_page("activity")
        calls = desk.activity.calls
        await until(lambda: "No calls yet" in words(calls))
        written(desk).journal_status = JournalStatus("/x", 1, 0, lost=3, problem="The disk is full")
        calls.look_again()
        await until(lambda: "3 entries are missing" in words(calls))
        assert "No calls yet" not in words(calls)
        assert [banner.accessibleName() for banner in desk.activity.findChildren(NoticeLine)] == [
            "3 entries are missing. The disk is full."
        ]


async def test_the_activity_is_cleared_and_brought_back(theme: Theme) -> None:
    async with Desk(engine([entry(1, tool="a")]), theme) as desk:
        calls = await listed(desk, ["a"])
        control(calls.search.window(), "More for activity").click()
        menu = next(each for each in calls.findChildren(QMenu) if each.isVisible())
        next(each for each in menu.actions() if each.text() == "Clear activity").trigger()
        menu.close()
        await until(lambda: "No calls yet" in words(calls))
        control(desk.window, "Undo").click()
        await until(lambda: column(calls) == ["a"] and "No calls yet" not in words(calls))


async def test_what_is_listed_is_exported(theme: Theme, tmp_path: Path) -> None:
    async with Desk(engine([entry(1, tool="a"), entry(2, tool="b")]), theme) as desk:
        calls = await listed(desk, ["b", "a"])
        calls._on_export()
        dialog = desk.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        dialog.fileSelected.emit(str(tmp_path / "x.jsonl"))
        await desk.asked("export_activity", str(tmp_path / "x.jsonl"), ActivityFilter(kinds=("call",)))
        await until(lambda: "2 entries are in" in words(desk.window))
        dialog.close()


async def test_the_hub_may_die_under_the_page_and_come_back(theme: Theme) -> None:
    async with Desk(engine([entry(1, tool="a")]), theme) as desk:
        calls = await listed(desk, ["a"])
        desk.link.detach()
        desk.hub.forget()
        calls.set_filter(ActivityFilter(text="b"))
        assert column(calls) == ["a"]
        written(desk).journal.append(entry(2, tool="b"))
        desk.attach()
        await until(lambda: column(calls) == ["b"])


async def test_figures_name_the_server_that_is_tooltray_itself(theme: Theme) -> None:
    journal = [entry(1, at=datetime.now().timestamp() - 60, server="hub")]
    async with Desk(engine(journal), theme) as desk:
        await opened(desk)
        page = desk.activity
        page.show_tab(FIGURES)
        await until(lambda: [each.name for each in page.tab(FIGURES).table.rows] == ["hub"])
        assert cells(page.tab(FIGURES).table, 0)[0] == "Tooltray's own"
        page.tab(FIGURES).table.selectRow(0)
        await until(lambda: "Tooltray's own: 1 call" in words(page.tab(FIGURES)))


async def test_figures_sort_and_the_chart_follows_the_row(theme: Theme) -> None:
    now = datetime.now().timestamp()
    journal = [entry(id, at=now - 60 * id, server=("fs", "git")[id % 3 == 0], outcome="error" if id == 3 else "ok") for id in range(1, 9)]
    async with Desk(engine(sorted(journal, key=lambda each: each.id)), theme) as desk:
        await opened(desk)
        page = desk.activity
        page.show_tab(FIGURES)
        figures = page.tab(FIGURES)
        await until(lambda: [each.name for each in figures.table.rows] == ["fs", "git"])
        assert cells(figures.table, 1)[:3] == ["git", "2", "1 · 50 %"]
        figures.table.selectRow(1)
        await until(lambda: "git: 2 calls, 1 failed" in words(figures))
        assert "typical 12 ms" in figures.chart.accessibleDescription()
        assert nameless(desk.window) == []
        control(figures, "Show these calls").click()
        await until(lambda: page.calls.list.filter.servers == ("git",))


@pytest.mark.parametrize("text", ["<i>x</i>", "\u202e" + "n" * 300 + "🧠", "a\x1b[31mb\nc"])
async def test_odd_names_are_drawn_as_they_are_on_one_line(theme: Theme, text: str) -> None:
    async with Desk(engine([entry(1, tool=text, client=text, server=text, touched=text)]), theme) as desk:
        calls = await opened(desk)
        await until(lambda: calls.list.table.activity.rowCount() == 1)
        for shown in (column(calls, place)[0] for place in (TOOL, TOUCHED, CLIENT)):
            assert not {"\n", "\x1b", "\u202e"} & set(shown)
        tip = calls.list.table.activity.index(0, TOUCHED).data(Qt.ItemDataRole.ToolTipRole)
        assert "<i>" not in tip
        await details_of(desk, 1)
        desk.window.grab()


async def test_in_the_smallest_window_the_target_is_in_sight(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.open_page("activity")
        table = desk.activity.calls.list.table
        desk.window.resize(900, 600)
        await until(lambda: table.isColumnHidden(TOOK))
        assert not table.isColumnHidden(TOUCHED)
        assert table.columnWidth(TOUCHED) > 120


async def test_in_a_wide_window_the_room_goes_to_what_was_touched(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.open_page("activity")
        table = desk.activity.calls.list.table
        for width, is_wide in ((1000, False), (2600, True), (1000, False)):
            desk.window.resize(width, 700)
            await until(lambda: (table.columnWidth(TOUCHED) > 2 * table.columnWidth(TOOL)) is is_wide)  # noqa: B023
            assert is_wide or table.columnWidth(TOUCHED) > 0.8 * table.columnWidth(TOOL)
