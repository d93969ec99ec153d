"""ui/logs: the log of a server and of the hub, with real keys and mouse events."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import button, control, drawn

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import LogWritten
from tooltray.foundation.snapshots.activity import LogLine, LogPage
from tooltray.ui.kit.destinations import ServerLog, TooltrayLog
from tooltray.ui.logs import log_model
from tooltray.ui.logs.log_list import MOST_WRAPPED, columns_of, laid_out, wrapped
from tooltray.ui.logs.log_model import copied_text, shown_text
from tooltray.ui.logs.log_view import LogSheet, LogView
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice

BEGAN = 1_795_600_000.0
Key = Qt.Key


@pytest.fixture
async def desk(theme: Theme) -> AsyncIterator[Desk]:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        yield desk


def lines(count: int, first: int = 0) -> list[LogLine]:
    return [
        LogLine("", BEGAN + n, f"ERROR line {n}" if n % 10 == 7 else f"line {n}", "error" if n % 10 == 7 else "")
        for n in range(first, count)
    ]


async def opened(desk: Desk, log: list[LogLine] | LogPage, name: str = "a") -> LogView:
    desk.engine.logs[name] = log
    if name == "hub":
        desk.window.go(TooltrayLog())
    else:
        desk.wishes.log_requested.emit(name)
    panel = desk.window.findChild(LogSheet)
    assert panel is not None
    await until(lambda: panel.log.reader.page is not None)
    await until(lambda: not log or panel.log.lines)
    return panel.log


def texts(view: LogView) -> list[str]:
    return [line.text for line in view.lines]


def type_in(view: LogView, text: str) -> None:
    view.bar.field.setFocus()
    QTest.keyClicks(view.bar.field, text)


def show_levels(view: LogView, level: str) -> None:
    """Chooses as a person does, in the menu of levels."""
    choice = next(each for each in view.findChildren(Choice) if each.accessibleName().startswith("Levels:"))
    choice.click()
    menu = next(each for each in choice.findChildren(QMenu) if each.isVisible())
    next(action for action in menu.actions() if action.data() == level).trigger()
    menu.close()


def written(desk: Desk, *more: LogLine) -> None:
    desk.engine.logs["a"] += more
    desk.engine.bus.publish(LogWritten("server:a"))


async def test_a_log_opens_at_its_end_follows_what_comes_and_stops_when_one_scrolls_up(desk: Desk) -> None:
    view = await opened(desk, lines(1000))
    assert (texts(view)[0], texts(view)[-1]) == ("line 800", "line 999")
    assert view.list.is_at_end
    written(desk, *lines(1002, 1000))
    await until(lambda: texts(view)[-1] == "line 1001")
    assert view.list.is_at_end
    QTest.keyClick(view.list, Key.Key_Home)
    await until(lambda: texts(view)[0] != "line 800")
    assert not view.list.is_at_end
    top = view.lines[view.list.top_row].text
    written(desk, *lines(1003, 1002))
    await until(lambda: texts(view)[-1] == "line 1002")
    assert view.lines[view.list.top_row].text == top
    control(view, "Jump to the newest").click()
    await until(lambda: view.list.is_at_end)


async def test_older_lines_are_read_as_one_scrolls_and_the_newest_go_when_there_are_too_many(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_model, "MOST_LINES", 450)
    view = await opened(desk, lines(1000))
    while texts(view)[0] != "line 0":
        first = texts(view)[0]
        view.list.verticalScrollBar().setValue(0)
        view.read_older()
        await until(lambda first=first: texts(view)[0] != first)
        assert len(view.lines) <= 450
    assert texts(view) == [line.text for line in lines(450)]
    view.list.verticalScrollBar().setValue(view.list.verticalScrollBar().maximum())
    await until(lambda: "line 500" in texts(view))
    control(view, "Jump to the newest").click()
    await until(lambda: texts(view)[-1] == "line 999")


async def test_a_text_is_found_in_the_whole_log_and_one_steps_through_its_places(desk: Desk) -> None:
    view = await opened(desk, lines(1000))
    type_in(view, "ERROR line")
    await until(lambda: view.search.found and not view.search.is_running)
    assert "1 of 100" in drawn(view.bar)
    assert view.list.selected[0].text == "ERROR line 997"
    QTest.keyClick(view.bar.field, Key.Key_Return)
    assert view.list.selected[0].text == "ERROR line 987"
    QTest.keyClick(view.bar.field, Key.Key_Down)
    QTest.keyClick(view.bar.field, Key.Key_Down)
    await until(lambda: view.list.selected and view.list.selected[0].text == "ERROR line 7")
    assert "100 of 100" in drawn(view.bar)
    written(desk, *lines(1008, 1000))
    control(view, "Jump to the newest").click()
    await until(lambda: texts(view)[-1] == "ERROR line 1007")
    QTest.keyClick(view.bar.field, Key.Key_Escape)
    await until(lambda: not view.search.text)
    assert "of 10" not in drawn(view.bar)
    type_in(view, "nowhere at all")
    await until(lambda: "Not in the log" in drawn(view.bar))


async def test_a_search_says_how_far_it_is_and_can_be_stopped(desk: Desk) -> None:
    view = await opened(desk, lines(3))
    desk.engine.logs["a"] = LogPage(before="1:5", is_partial=True, searched_bytes=10, total_bytes=10**9)
    type_in(view, "needle")
    await until(lambda: "Searching" in drawn(view.bar))
    control(view, "Stop searching").click()
    await until(lambda: "were searched" in drawn(view.bar))
    assert not view.search.is_running


async def test_a_search_that_fails_ends_where_it_is(desk: Desk) -> None:
    view = await opened(desk, lines(3))
    desk.engine.failures["get_log"] = TooltrayError("The log cannot be read")
    type_in(view, "needle")
    await until(lambda: "Not in the 0 % that were searched" in drawn(view.bar))
    assert not view.search.is_running


async def test_levels_are_chosen_and_what_has_none_is_said(desk: Desk) -> None:
    view = await opened(desk, lines(40))
    show_levels(view, "error")
    await until(lambda: texts(view) == ["ERROR line 7", "ERROR line 17", "ERROR line 27", "ERROR line 37"])
    desk.engine.logs["a"] = lines(5)
    show_levels(view, "warning")
    await until(lambda: "No line of this level" in drawn(view))


async def test_lines_that_are_rare_are_looked_for_until_the_view_is_full_or_the_log_at_its_end(desk: Desk) -> None:
    view = await opened(desk, lines(3))
    asked: list[str] = []

    def get_log(before: str, **_: object) -> LogPage:
        asked.append(before)
        if len(asked) < 9:
            return LogPage(before=f"1:{len(asked)}", is_partial=True, total_bytes=10**9)
        return LogPage(lines=(LogLine("1:0", BEGAN, "ERROR far back", "error"),), total_bytes=10**9)

    desk.engine.get_log = get_log  # type: ignore[attr-defined]
    show_levels(view, "error")
    await until(lambda: "Looks through older lines" in drawn(view))
    await until(lambda: texts(view) == ["ERROR far back"])
    assert asked == ["", *(f"1:{number}" for number in range(1, 9))]


async def test_lines_are_copied_as_they_are_selected_and_opened_by_enter(desk: Desk) -> None:
    view = await opened(desk, [*lines(3), LogLine("", BEGAN, '{"level":50,"msg":"boom"}', "error")])
    QTest.keyClick(view.list, Key.Key_End)
    QTest.keyClick(view.list, Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view.list, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().splitlines()[0].endswith("line 2")
    assert len(QGuiApplication.clipboard().text().splitlines()) == 2
    QTest.keyClick(view.list, Key.Key_End)
    QTest.keyClick(view.list, Key.Key_Return)
    assert '"msg": "boom"' in view.details.text
    control(view, "Copy").click()
    assert '"msg": "boom"' in QGuiApplication.clipboard().text()
    QTest.keyClick(view, Key.Key_Escape)
    assert not view.details.isVisible()
    desk.window.context.show_window()
    view.copy_all()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 4


async def test_a_failures_time_leads_to_its_lines(desk: Desk) -> None:
    desk.engine.logs["a"] = lines(1000)
    desk.window.go(ServerLog("a", BEGAN + 500))
    view = desk.window.findChild(LogView)
    assert view is not None
    await until(lambda: view.list.selected)
    assert view.list.selected[0].at in (BEGAN + 500, BEGAN + 501)
    assert texts(view)[-1] != "line 999"


async def test_ctrl_f_searches_the_log_that_has_the_keyboard_and_not_the_page(desk: Desk) -> None:
    desk.engine.logs["a"] = lines(3)
    desk.window.go(ServerLog("a"))
    view = desk.window.findChild(LogView)
    assert view is not None
    await until(lambda: view.lines)
    view.list.setFocus()
    QTest.keyClick(view.list, Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert view.bar.field.hasFocus()


async def test_the_menu_switches_wrapping_and_times_and_saves(desk: Desk, tmp_path: Path) -> None:
    view = await opened(desk, [*lines(2), LogLine("", BEGAN, "long " * 200)])

    def chosen(text: str) -> None:
        control(view, "More about the log").click()
        menu = view.findChildren(QMenu)[-1]
        next(action for action in menu.actions() if action.text() == text).trigger()
        menu.close()

    high = view.list.sizeHintForRow(2)
    chosen("Wrap long lines")
    assert view.list.sizeHintForRow(2) < high
    left = view.list.lines.text_left
    chosen("Show times")
    assert view.list.lines.text_left < left
    view.save(str(tmp_path / "saved.log"))
    await until(lambda: (tmp_path / "saved.log").exists() and (tmp_path / "saved.log").read_text().count("\n") == 3)
    view.save(str(tmp_path / "none" / "saved.log"))
    await until(lambda: "The log could not be saved" in drawn(view))


async def test_messages_are_recorded_on_request_and_shown_with_their_direction(desk: Desk) -> None:
    view = await opened(desk, lines(3))
    button(view, "Messages").click()
    await until(lambda: "Messages are not recorded" in drawn(view))
    button(view, "Record for 10 minutes").click()
    await desk.asked("set_protocol_log", "a", 600.0)
    sent = LogLine("0", BEGAN, "tools/call query #7", kind="message", direction="out", detail='{"id":7}')
    desk.engine.logs["messages:a"] = LogPage(lines=(sent,), after="1", recorded_until=BEGAN, total_bytes=1)
    view.read_newest()
    await until(lambda: "Recording until" in drawn(view))
    assert shown_text(view.lines[0]) == "→ tools/call query #7"
    button(view, "Stop and forget").click()
    await desk.asked("set_protocol_log", "a", 0.0)
    desk.engine.failures["set_protocol_log"] = TooltrayError("That is not allowed")
    button(view, "Stop and forget").click()
    await until(lambda: "That is not allowed" in drawn(view))
    button(view, "Output").click()
    await until(lambda: texts(view) == ["line 0", "line 1", "line 2"])


async def test_the_hubs_log_is_looked_at_again_and_again_while_it_is_shown(desk: Desk) -> None:
    view = await opened(desk, lines(1), "hub")
    desk.engine.logs["hub"] += lines(2, 1)
    next(timer for timer in view.findChildren(QTimer) if not timer.isSingleShot()).setInterval(0)
    await until(lambda: texts(view) == ["line 0", "line 1"])


async def test_what_is_wrong_with_a_log_is_said_and_an_empty_one_too(desk: Desk) -> None:
    full = Problem("The log is not kept on disk", "No space left on device")
    view = await opened(desk, LogPage(lines=tuple(lines(2)), problem=full))
    await until(lambda: "The log is not kept on disk" in drawn(view))
    desk.engine.logs["a"] = []
    desk.engine.failures["get_log"] = TooltrayError("The log cannot be read", "Input/output error")
    view.read_newest()
    await until(lambda: "The log cannot be read" in drawn(view))
    desk.engine.failures.clear()
    view.read_newest()
    await until(lambda: "Nothing yet" in drawn(view))


async def test_lines_fit_a_zoom_that_changes_while_they_are_shown(desk: Desk, app: QApplication, theme: Theme) -> None:
    view = await opened(desk, lines(50))
    high = view.list.sizeHintForRow(0)
    try:
        theme.set_zoom(app, 150)
        await until(lambda: view.list.sizeHintForRow(0) > high)
        text_width = view.list.lines.columns * QFontMetricsF(theme.font("mono")).horizontalAdvance("0")
        assert text_width <= view.list.viewport().width() - view.list.lines.text_left
    finally:
        theme.set_zoom(app, 100)


async def test_a_click_and_a_drag_select_lines(desk: Desk) -> None:
    view = await opened(desk, lines(5))
    port = view.list.viewport()
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=QPoint(200, 10))
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, QPoint(200, 50))
    assert [line.text for line in view.list.selected] == ["line 0", "line 1", "line 2"]


@pytest.mark.parametrize(
    ("text", "columns", "pieces"),
    [
        ("short", 10, ["short"]),
        ("", 10, [""]),
        ("a" * 20, 8, ["a" * 8, "a" * 8, "a" * 4]),
        ("one two three four", 10, ["one two ", "three four"]),
        ("資料庫連線已建立", 8, ["資料庫連", "線已建立"]),
    ],
)
def test_long_lines_wrap_at_words_and_by_columns(text: str, columns: int, pieces: list[str]) -> None:
    assert wrapped(text, columns) == pieces


def test_a_line_of_megabytes_takes_so_many_lines_and_no_more() -> None:
    pieces = wrapped("x" * 10**6, 80)
    assert len(pieces) == MOST_WRAPPED
    assert pieces[-1].endswith("…")
    assert columns_of("資x") == 3


def test_lines_read_out_and_copied_say_state_level_and_time() -> None:
    mark = LogLine("0", BEGAN, "error", "error", "mark", "it ended")
    newer = LogLine("1", 0.0, "levitating", kind="mark")
    assert copied_text([mark, newer], with_times=False) == "Error: it ended\nlevitating"
    assert "2026-11-2" in copied_text([mark], with_times=True)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (LogLine("0", 0.0, '{"a":1}'), '{\n  "a": 1\n}'),
        (LogLine("0", 0.0, '{"a":'), '{"a":'),
        (LogLine("0", 0.0, "running", kind="mark"), "Connected"),
        (LogLine("0", 0.0, "c: s", kind="record", detail="[1]"), "[\n  1\n]"),
    ],
)
def test_a_line_is_laid_out_in_full(line: LogLine, shown: str) -> None:
    assert laid_out(line) == shown
