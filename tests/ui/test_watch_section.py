"""Watch in the tab Confinement: begun and ended, what was seen, and the proposal with one click."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.scenes.access_scenes import PROPOSAL, SEEN, shown_by
from tests.ui.seen import control

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, SeenThing, WatchSnapshot
from tooltray.ui.server_pane.sandbox_section import WatchSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner


@asynccontextmanager
async def opened(theme: Theme, watch: WatchSnapshot | None = None) -> AsyncIterator[tuple[Desk, WatchSection]]:
    engine = FakePresenter((server("a", confinement=ConfinementSnapshot()),))
    engine.watch = watch
    async with Desk(engine, theme) as desk:
        await until(lambda: desk.servers.servers)
        control(desk.open_server("a", "access"), "Show the sandbox").click()
        [section] = desk.page.findChildren(WatchSection)
        yield desk, section


async def test_a_person_begins_it_sees_the_time_left_and_ends_it(theme: Theme) -> None:
    async with opened(theme) as (desk, section):
        control(section, "Watch for 5 minutes").click()
        await until(lambda: "5:00 left" in shown_by(section))
        assert ("watch_server", "a", 300.0) in desk.engine.calls
        control(section, "Stop watching").click()
        await until(lambda: ("stop_watching", "a") in desk.engine.calls and "left" not in shown_by(section))


async def test_the_proposal_is_said_with_what_it_would_have_refused_and_used_with_one_click(theme: Theme) -> None:
    many = tuple(SeenThing("read", f"~/{i}") for i in range(20))
    async with opened(theme, WatchSnapshot("a", "done", facts=31, seen=(*SEEN, *many), proposal=PROPOSAL)) as (desk, section):
        await until(lambda: "31 things seen" in shown_by(section))
        shown = shown_by(section)
        for words in ("Network: only api.github.com.", "It may change ~/notes.", "read ~/.ssh/id_ed25519: private", "and 11 more"):
            assert words in shown
        control(section, "Use the profile proposed for a").click()
        await until(lambda: ("apply_proposal", "a") in desk.engine.calls)


async def test_why_it_cannot_be_watched_stands_there(theme: Theme) -> None:
    async with opened(theme, WatchSnapshot("a", "done", problem="it died")) as (desk, section):
        await until(lambda: "it died" in shown_by(section))
        desk.engine.failures["watch_server"] = TooltrayError("Servers cannot be watched on this computer")
        control(section, "Watch for 5 minutes").click()
        await until(lambda: section.findChildren(Banner))
