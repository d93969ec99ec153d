"""What the journal keeps is chosen in the settings, applies at once, and can be emptied with Undo."""

import time

from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, drawn
from tests.ui.test_general_tab import choice, choose, opened

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import JournalStatus
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.toast import Toast

KEPT = JournalStatus("/home/ann/.tooltray/activity.db", 12_300_000, 4321, time.time() - 3600)


def fake(status: JournalStatus = KEPT) -> FakePresenter:
    result = FakePresenter([server("a")])
    result.journal_status = status
    return result


async def test_how_much_is_kept_is_shown_and_how_long_is_chosen(theme: Theme) -> None:
    engine = fake()
    engine.settings = {"activity": {"days": 12}}
    async with Desk(engine, theme) as desk:
        page = await opened(desk)
        assert "4,321 entries since" in drawn(page)
        assert "12.3 MB" in drawn(page)
        assert choice(page, "Keep entries for").chosen == "12"
        choose(page, "Keep entries for", "90 days")
        await desk.asked("change_settings", {"activity": {"days": 90}}, "")
        choose(page, "Use at most", "1,000 MB")
        await desk.asked("change_settings", {"activity": {"megabytes": 1000}}, "")


async def test_contents_are_kept_for_a_while_or_until_that_is_switched_off(theme: Theme) -> None:
    engine = fake()
    async with Desk(engine, theme) as desk:
        page = await opened(desk)
        contents = "Whole arguments and results"
        choose(page, contents, "For an hour")
        await until(lambda: choice(page, contents).chosen == "until")
        assert 3500 < engine.settings["activity"]["contentsUntil"] - time.time() < 3700
        choose(page, contents, "Until I switch it off")
        await until(lambda: engine.settings["activity"] == {"contents": True})
        choose(page, contents, "Not kept")
        await until(lambda: engine.settings["activity"] == {"contents": False})


async def test_the_journal_is_emptied_and_brought_back(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        page = await opened(desk)
        control(page, "Clear the journal").click()
        await desk.asked("clear_activity")
        await until(lambda: desk.window.findChildren(Toast))
        control(desk.window, "Undo").click()
        await desk.asked("undo_clear_activity")
        desk.engine.failures["clear_activity"] = TooltrayError("the disk is full")
        control(page, "Clear the journal").click()
        await until(lambda: "The disk is full" in drawn(page))


async def test_what_could_not_be_kept_is_said(theme: Theme) -> None:
    async with Desk(fake(JournalStatus(lost=12, problem="the disk is full")), theme) as desk:
        page = await opened(desk)
        assert "12 entries could not be kept" in drawn(page)
        assert not control(page, "Clear the journal").isEnabled()
