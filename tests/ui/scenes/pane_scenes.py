"""Scenes of the pane of an opened server: its overview with the last calls, folded and unfolded, and with what is wrong."""

from tests.fakes.desk import Desk, until
from tests.fakes.journal_in_memory import JournalInMemory
from tests.ui.scenes.activity_scenes import day, latest
from tests.ui.scenes.opened_desk import SERVERS, TOOLS
from tests.ui.scenes.shot import Shot
from tests.ui.seen import control

from tooltray.ui.i18n import tr
from tooltray.ui.server_pane.server_overview import LastCalls
from tooltray.ui.theme import Theme


async def pane(theme: Theme, name: str = "filesystem", size: tuple[int, int] | None = None) -> Shot:
    result = Desk(JournalInMemory(SERVERS, TOOLS, session_count=3, journal=day() + latest()), theme)
    await result.open()
    await until(lambda: result.servers.servers)
    if size:
        result.window.resize(*size)
    calls = result.open_server(name).findChild(LastCalls)
    assert calls is not None
    await until(lambda: calls._rows is not None)
    return Shot(result, size=size)


async def pane_small(theme: Theme) -> Shot:
    return await pane(theme, size=(900, 600))


async def pane_details(theme: Theme) -> Shot:
    shot = await pane(theme)
    assert shot.desk is not None
    control(shot.desk.page.details, tr("Details")).click()
    return shot


async def pane_failed(theme: Theme) -> Shot:
    return await pane(theme, next(each.name for each in SERVERS if each.problem))


async def pane_failed_small(theme: Theme) -> Shot:
    return await pane(theme, next(each.name for each in SERVERS if each.problem), (900, 600))


SCENES = (pane, pane_small, pane_details, pane_failed, pane_failed_small)
