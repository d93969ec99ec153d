"""View: what the user began is carried out to its end, what failed is shown where its view is, and Undo works after the view was closed."""

import asyncio
import inspect
from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, drawn

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView, confirm
from tooltray.ui.kit.view import View
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label

FULL = Problem("the disk is full")


class Panel(QWidget, View):
    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self.context = context
        self.shown: list[Problem | None] = []
        self.done: list[str] = []

    def show_problem(self, problem: Problem | None) -> None:
        self.shown.append(problem)

    async def work(self, name: str, failure: Problem | None = None) -> None:
        self.done.append(name)
        await asyncio.sleep(0)
        if failure is not None:
            raise TooltrayError(failure.title)


@pytest.fixture
def opened(theme: Theme) -> Callable[[], Desk]:
    return lambda: Desk(FakePresenter([server("a")]), theme)


async def idle(desk: Desk) -> None:
    await until(lambda: not len(desk.tasks))


async def test_a_failure_is_shown_after_controls_show_what_is_true_and_success_hides_it(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        panel = Panel(desk.window.context)
        panel.run(panel.work("change", FULL), then=lambda: panel.work("read"), toast="changed")
        await idle(desk)
        assert (panel.done, panel.shown) == (["change", "read"], [FULL])
        assert "changed" not in drawn(desk.window)
        panel.run(panel.work("change"), then=lambda: panel.work("read", FULL), toast="changed")
        await idle(desk)
        assert panel.shown == [FULL, FULL]
        assert "changed" in drawn(desk.window)
        panel.run(panel.work("change"))
        await idle(desk)
        assert panel.shown == [FULL, FULL, None]


async def test_a_button_is_busy_while_its_work_runs_also_if_that_fails(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        panel, save = Panel(desk.window.context), Button(desk.theme, "Save")
        for failure in (None, FULL):
            panel.run(panel.work("change", failure), button=save)
            assert not save.isEnabled()
            await idle(desk)
            assert save.isEnabled()


async def test_undo_is_followed_by_the_same_read(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        panel = Panel(desk.window.context)
        panel.run(panel.work("change"), then=lambda: panel.work("read"), toast="changed", undo=lambda: panel.work("undo"))
        await until(lambda: "changed" in drawn(desk.window))
        control(desk.window, "Undo").click()
        await idle(desk)
        assert panel.done == ["change", "read", "undo", "read"]


async def test_what_fails_after_its_view_was_deleted_is_a_notice(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        panel, may_end = Panel(desk.window.context), asyncio.Event()
        reads: list[str] = []

        async def fail(title: str) -> None:
            await may_end.wait()
            raise TooltrayError(title)

        async def draw() -> None:
            await may_end.wait()
            panel.setWindowTitle("drawn")

        async def read() -> None:
            reads.append("read")

        panel.run(fail(FULL.title), then=read)
        panel.run(draw(), then=read)
        panel.run(panel.work("change"), toast="changed", undo=lambda: fail("it is gone"))
        await until(lambda: "changed" in drawn(desk.window))
        panel.deleteLater()
        await until(lambda: not panel.is_there)
        may_end.set()
        await until(lambda: "The disk is full" in drawn(desk.window))
        control(desk.window, "Undo").click()
        await until(lambda: "1 more notice" in drawn(desk.window))
        await idle(desk)
        assert reads == []


async def test_work_that_could_not_begin_is_closed(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        panel = Panel(desk.window.context)
        work = panel.work("never")
        panel.run(work)
        await desk.tasks.close()
        assert panel.done == []
        assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
        panel.deleteLater()


async def test_a_view_without_a_place_of_its_own_shows_a_failure_above_the_pages(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        context = desk.window.context
        desk.engine.failures["set_mcp_enabled"] = TooltrayError(FULL.title)
        context.run(context.hub.hub.set_mcp_enabled(False))
        await until(lambda: "The disk is full" in drawn(desk.window))


async def test_a_failure_is_said_where_the_notices_are_out_of_sight(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        context = desk.window.context
        desk.window.open_page("activity")
        desk.engine.failures["set_mcp_enabled"] = TooltrayError(FULL.title)
        context.run(context.hub.hub.set_mcp_enabled(False))
        await until(lambda: "The disk is full" in drawn(desk.window))
        assert not context.notices.isVisible()


async def test_a_sheet_shows_a_failure_at_its_top_and_opens_only_where_none_is_open(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        context = desk.window.context
        sheet, other = SheetView(context, "One", 300), SheetView(context, "Another", 300)
        field = sheet.add_button("Go", lambda: None)
        sheet.set_first_focus(field)
        assert context.sheets.show(sheet) is not None
        assert context.sheets.show(other) is None
        await until(lambda: not other.is_there and field.hasFocus())
        desk.engine.failures["set_mcp_enabled"] = TooltrayError(FULL.title)
        sheet.run(context.hub.hub.set_mcp_enabled(False))
        await until(lambda: "The disk is full" in drawn(sheet))


@pytest.mark.parametrize(("pressed", "agreed"), [("Remove", True), ("Keep it", False), ("Close", False)])
async def test_a_question_has_one_answer_and_closing_it_is_a_no(opened: Callable[[], Desk], pressed: str, agreed: bool) -> None:
    async with opened() as desk:
        context = desk.window.context
        asked = asyncio.ensure_future(confirm(context, "Remove it?", "It goes.", yes="Remove", no="Keep it"))
        await until(lambda: desk.window.sheet is not None)
        assert control(context.sheets.panel, "Keep it").hasFocus() or not desk.window.isActiveWindow()
        control(context.sheets.panel, pressed).click()
        assert await asked is agreed
        assert desk.window.sheet is None


async def test_a_question_is_not_asked_over_an_open_sheet(opened: Callable[[], Desk]) -> None:
    async with opened() as desk:
        sheet = SheetView(desk.window.context, "One", 300)
        sheet.body.addWidget(Label(desk.theme, "words"))
        desk.window.context.sheets.show(sheet)
        assert not await confirm(desk.window.context, "Remove it?", "It goes.", yes="Remove", no="Keep it")
        assert desk.window.context.sheets.panel is sheet
