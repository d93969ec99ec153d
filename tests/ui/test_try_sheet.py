"""A tool is tried by hand: filled in, called, watched, asked back, given up; and what came of it stays to be looked at."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from tests.fakes.desk import Desk, until
from tests.fakes.server_snapshots import server, tool
from tests.fakes.tools_in_memory import ToolsInMemory, response, text
from tests.ui.browser import Browser
from tests.ui.seen import button, control, text_field, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ElicitationAsked
from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationSnapshot
from tooltray.ui.approval.question import QuestionPanel
from tooltray.ui.kit.destinations import OpenTool, Servers, TryTool
from tooltray.ui.theme import Theme
from tooltray.ui.tools.try_sheet import KEPT, LARGEST_KEPT, Attempt, Attempts, TrySheet, command_of, outcome_words
from tooltray.ui.widgets.code_view import DiffView

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "count": {"type": "integer", "default": 2}}, "required": ["path"]}
GIVEN = '{"path": "/a"}'
FORM = ElicitationSnapshot("q1", "files", "form", "Sure?", 9e9, fields=(ElicitationField("why", "Why", AnswerKind.TEXT),))
PAGE = ElicitationSnapshot("q2", "files", "url", "Sign in", 9e9, url="https://example.org/")


def engine() -> ToolsInMemory:
    fake = ToolsInMemory([server("files")], [tool("read", "files"), tool("off", "files", is_enabled=False)])
    fake.schemas = {"read": SCHEMA}
    return fake


async def opened(desk: Desk, arguments: str = GIVEN) -> tuple[TrySheet, ToolsInMemory]:
    desk.window.go(TryTool("read", arguments))
    sheets = desk.window.context.sheets
    await until(lambda: isinstance(sheets.panel, TrySheet) and sheets.panel.isVisible())
    assert isinstance(sheets.panel, TrySheet)
    assert isinstance(desk.engine, ToolsInMemory)
    return sheets.panel, desk.engine


async def running(desk: Desk) -> tuple[TrySheet, ToolsInMemory]:
    panel, fake = await opened(desk)
    desk.window.activateWindow()  # keys of a window that is not active do nothing
    await until(lambda: (focused := QApplication.focusWidget()) is not None and panel.isAncestorOf(focused))
    QTest.keyClick(panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: fake.trying)
    return panel, fake


async def test_a_tool_is_called_with_what_is_filled_in_and_its_result_is_shown(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, fake = await opened(desk, "")
        assert panel.form.value == {"count": 2}
        button(panel, "Call").click()
        await until(lambda: "Required." in words(panel))
        assert not panel.attempt
        panel.form.set_value({"path": "/a"})
        fake.answer = response("ok", text("hello"))
        button(panel, "Call").click()
        await until(lambda: "Done in 12 ms" in words(panel))
        [call] = [call for call in fake.calls if call[0] == "try_tool"]
        assert call[2:] == ("read", {"path": "/a"}, None)
        assert [part.text for part in panel.result.parts] == ["hello"]
        assert nameless(desk.window) == []


async def test_progress_is_shown_while_it_runs_and_it_can_be_given_up(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, fake = await running(desk)
        fake.progress(3, 8, "reading")
        await until(lambda: "3 / 8 · reading" in words(panel))
        fake.progress(4)
        await until(lambda: "\n4" in words(panel))
        assert nameless(desk.window) == []
        QTest.keyClick(panel, Qt.Key.Key_Escape)
        await until(lambda: "The call was cancelled." in words(panel))
        assert desk.window.sheet is not None
        button(panel, "Call").click()
        await until(lambda: fake.trying)
        button(panel, "Cancel the call").click()
        await until(lambda: not panel.attempt)


async def test_the_keyboard_stays_where_the_call_was_begun(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, fake = await opened(desk)
        await until(lambda: (focused := desk.window.focusWidget()) is not None and panel.isAncestorOf(focused))
        button(panel, "Call").setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button(panel, "Call"), Qt.Key.Key_Return)
        await until(lambda: fake.trying)
        QTest.keyClick(button(panel, "Call"), Qt.Key.Key_Return)  # a second press neither calls again nor cancels
        assert panel.attempt
        assert desk.window.focusWidget() is button(panel, "Call")
        fake.finish(response("ok", text("done")))
        await until(lambda: not panel.attempt)
        assert desk.window.focusWidget() is button(panel, "Call")


async def test_a_question_is_asked_in_place_and_not_over_the_window(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, fake = await running(desk)
        fake.ask(FORM)
        await until(lambda: "files asks you something" in words(panel))
        assert desk.window.sheet is not None
        assert desk.window.sheet.panel is panel
        field = text_field(panel, "Why")
        QTest.keyClicks(field, "because")
        button(panel, "Send").click()
        await desk.asked("answer_elicitation", "q1", "accept", {"why": "because"})
        await until(lambda: "Calling…" in words(panel))
        fake.finish(response("ok", text("x")))
        await until(lambda: panel.result.parts)


async def test_a_page_is_opened_in_the_browser_and_a_question_that_ends_by_itself_goes(theme: Theme, browser: Browser) -> None:
    async with Desk(engine(), theme) as desk:
        panel, fake = await running(desk)
        fake.ask(PAGE)
        await until(lambda: "Opens in your browser" in words(panel))
        button(panel, "Open page").click()
        await desk.asked("answer_elicitation", "q2", "accept", None)
        fake.ask(FORM)
        await until(lambda: panel.findChild(QuestionPanel) is not None and "Sure?" in words(panel))
        fake.end_question("q1")
        await until(lambda: "Calling…" in words(panel))
        fake.finish(response("ok", text("x")))
        await until(lambda: not panel.attempt)


async def test_a_question_of_a_call_that_is_given_up_goes_with_it_and_another_one_comes_over_the_window(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, fake = await running(desk)
        fake.ask(FORM)
        await until(lambda: "Sure?" in words(panel))
        attempt = panel.attempt
        panel.close_requested.emit()
        await until(lambda: desk.window.sheet is None and attempt not in desk.window.context.attempts)
        assert desk.window.sheet is None
        fake.bus.publish(ElicitationAsked(replace(FORM, id="q9", attempt="of a program")))
        await until(lambda: isinstance(desk.window.context.sheets.panel, QuestionPanel))


async def test_the_button_that_closes_the_sheet_asks_before_arguments_are_lost(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, _ = await opened(desk)
        sheet = desk.window.sheet
        QTest.keyClicks(text_field(panel, "path"), "/b")
        control(panel, "Close").click()
        await until(lambda: "Discard what you have typed?" in words(sheet))
        assert panel.isVisible()
        button(sheet, "Discard").click()
        await until(lambda: desk.window.sheet is None)


async def test_what_a_call_would_overwrite_is_shown_before_it_is_made(theme: Theme) -> None:
    fake = engine()
    fake.disk_diffs["/a.md"] = ("-old", "+new")
    async with Desk(fake, theme) as desk:
        panel, _ = await opened(desk, '{"path": "/a.md"}')
        field = text_field(panel, "path")
        await until(lambda: "This call overwrites a file. What would change in it:" in words(panel))
        assert [view.toPlainText() for view in panel.findChildren(DiffView)] == ["- old\n+ new"]
        QTest.keyClicks(field, "x")
        await until(lambda: "This call overwrites a file" not in words(panel))
        assert "What the tool answers appears here." in words(panel)
        QTest.keyClick(field, Qt.Key.Key_Backspace)
        await until(lambda: "This call overwrites a file" in words(panel))
        panel.call()
        await until(lambda: fake.trying)
        assert "This call overwrites a file" not in words(panel)
        fake.finish(response("ok", text("x")))
        await until(lambda: panel.result.parts and "This call overwrites a file" not in words(panel))


async def test_closing_the_sheet_gives_the_call_up(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, _ = await running(desk)
        attempt = panel.attempt
        panel.close_requested.emit()
        await desk.asked("cancel_try", attempt)
        assert desk.window.context.sheets.panel is None


async def test_a_call_that_cannot_be_cancelled_is_said_on_the_page_and_its_result_still_comes(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.window.go(Servers("all_tools"))
        panel, fake = await running(desk)
        desk.engine.failures["cancel_try"] = TooltrayError("it cannot be cancelled")
        button(panel, "Cancel the call").click()
        await until(lambda: "It cannot be cancelled" in words(desk.all_tools))
        fake.finish(response("ok", text("late")))
        await until(lambda: [part.text for part in panel.result.parts] == ["late"])


async def test_a_hub_that_dies_under_a_call_is_said(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, _ = await running(desk)
        desk.link.detach()
        await until(lambda: "Tooltray is not running" in words(panel))
        assert "Failed after" in words(panel)


async def test_earlier_attempts_can_be_looked_at_again_also_in_a_new_sheet(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel, fake = await opened(desk)
        for path, said in (("/first", "1"), ("/second", "2")):
            panel.form.set_value({"path": path})
            fake.answer = response("ok", text(said))
            panel.call()
            await until(lambda: not panel.attempt)
        panel.close_requested.emit()
        again, _ = await opened(desk, "")
        again._on_earlier("1")
        assert again.form.value == {"path": "/first"}
        assert [part.text for part in again.result.parts] == ["1"]
        button(again, "Copy as a command").click()
        assert QGuiApplication.clipboard().text() == """tooltray tools call read '{"path": "/first"}'"""


async def test_what_was_open_below_the_sheet_is_there_when_it_closes(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.open_tools("files")
        await opened(desk)
        desk.window.context.sheets.sheet.dismiss()
        assert desk.page.isVisible()
        assert desk.page.details is not None


async def test_what_cannot_be_tried_says_why(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.window.go(Servers("all_tools"))
        for asked, why in (
            (TryTool("off"), "Switch it on to try it."),
            (TryTool("gone"), "Its server may have to run first."),
            (TryTool("read", "[1]"), "These arguments"),
        ):
            desk.window.go(asked)
            await until(lambda why=why: why in words(desk.all_tools))
        desk.engine.failures["get_tools"] = TooltrayError("no hub")
        desk.window.go(TryTool("read"))
        await until(lambda: "No hub" in words(desk.all_tools))
        desk.window.go(Servers("installed"))
        desk.window.go(TryTool("read"))
        await until(lambda: "No hub" in words(desk.page.notices))


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_tool_without_arguments_has_no_editor_unless_one_asks_for_it(theme: Theme, is_open: bool) -> None:
    fake = engine()
    fake.schemas = {"read": {"type": "object", "properties": {}, **({} if is_open else {"additionalProperties": False})}}
    async with Desk(fake, theme) as desk:
        panel, _ = await opened(desk, "")
        assert "It takes no arguments." in words(panel)
        assert not panel.form.isVisible()
        panel.call()
        await until(lambda: fake.trying)
        fake.finish(response("ok", text("done")))
        await until(lambda: not panel.attempt)
        if is_open:
            button(panel, "Give some as JSON…").click()
            assert panel.form.isVisible()
        else:
            assert "Give some as JSON…" not in [each.text() for each in panel.findChildren(QAbstractButton)]


async def test_arguments_of_an_earlier_call_are_seen_though_the_tool_names_none(theme: Theme) -> None:
    fake = engine()
    fake.schemas = {"read": {"type": "object"}}
    async with Desk(fake, theme) as desk:
        panel, _ = await opened(desk)
        assert panel.form.isVisible()
        assert panel.form.value == json.loads(GIVEN)


async def test_try_it_opens_the_sheet_from_the_pane(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.window.go(Servers("all_tools"))
        desk.window.go(OpenTool("read"))
        tab = desk.all_tools.tools
        await until(lambda: tab.details is not None)
        assert tab.details is not None
        button(tab.details, "Try it").click()
        await until(lambda: isinstance(desk.window.context.sheets.panel, TrySheet))


def test_attempts_are_kept_for_a_while_and_large_results_are_not() -> None:
    attempts = Attempts()
    for number in range(KEPT + 5):
        attempts.add(Attempt("t", {"n": number}, 0.0, "ok", 0.1, {"content": []}), LARGEST_KEPT + number - 23)
    kept = attempts.of("t")
    assert len(kept) == KEPT
    assert kept[0].arguments == {"n": KEPT + 4}
    assert kept[0].result is None
    assert kept[-1].result is not None
    assert attempts.of("other") == []


def test_outcomes_are_words() -> None:
    ends = [outcome_words(each, 1.0) for each in ("ok", "error", "refused", "cancelled")]
    assert ends == ["Done in 1.0 s", "Failed after 1.0 s", "Not allowed after 1.0 s", "Cancelled after 1.0 s"]
    arguments: dict[str, Any] = {}
    assert command_of("a b", arguments) == "tooltray tools call 'a b'"
