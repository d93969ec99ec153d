"""Scenes of servers that want a sign-in."""

from tests.fakes.server_snapshots import server
from tests.ui.scenes.opened_desk import CALLS, SERVERS, desk, many
from tests.ui.scenes.question_scenes import PAGE
from tests.ui.scenes.shot import Shot

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.theme import Theme

S = ServerState
SIGN_IN = Problem("'linear' wants you to sign in", "", "Press 'Sign in' on its card in Tooltray, or run: tooltray servers sign-in linear")
ENDED = Problem("'asana' wants you to sign in", "the sign-in has expired", "Press 'Sign in' on its card in Tooltray")
SIGN_INS = (
    server("linear", S.NEEDS_SIGN_IN, transport="http", target="https://mcp.linear.app/mcp", problem=SIGN_IN),
    server("sentry", S.NEEDS_SIGN_IN, transport="http", target="https://mcp.sentry.dev/mcp", has_sign_in_page=True),
    server("asana", S.NEEDS_SIGN_IN, transport="http", target="https://mcp.asana.com/mcp", problem=ENDED),
    server("idle", S.ON_DEMAND, idle_stop_s=300, tool_count=4, calls=CALLS, calls_today=12, p95_ms=8.0),
    SERVERS[4],
)


async def sign_in(theme: Theme) -> Shot:
    return Shot(await desk(theme, SIGN_INS))


async def sign_in_details(theme: Theme) -> Shot:
    result = await desk(theme, (*SIGN_INS, *many(40)))
    table = result.page.server_list.table
    table.selectRow(1)
    table.row_chosen.emit(result.servers.find("sentry"))
    return Shot(result)


async def sign_in_details_small(theme: Theme) -> Shot:
    result = await desk(theme, (*SIGN_INS, *many(40)))
    result.page.server_list.table.row_chosen.emit(result.servers.find("linear"))
    return Shot(result, size=(900, 600))


async def sign_in_address(theme: Theme) -> Shot:
    result = await desk(theme, SIGN_INS)
    result.page.verbs.show_sign_in_address("sentry", PAGE.url)
    return Shot(result)


SCENES = (
    sign_in,
    sign_in_details,
    sign_in_details_small,
    sign_in_address,
)
