"""Scenes of the page of servers: cards, the table of many, what a person is told there, logs and why a server does not start."""

import time
from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.scenes.opened_desk import CALLS, REFUSED, SERVERS, TOOLS, desk, many
from tests.ui.scenes.shot import Shot

from tooltray.foundation.errors import SECRETS_UNREACHABLE, Problem
from tooltray.foundation.snapshots.diagnosis import Diagnosis, Remedy
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts
from tooltray.ui.i18n import tr
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.servers.server_filter import TokenAdvice
from tooltray.ui.theme import Theme

S = ServerState
UNREACHABLE = Problem("'linear' did not answer", "connection refused by mcp.linear.app", "Look whether you are online")
REMOTES = (
    server("linear", S.ERROR, transport="http", target="https://mcp.linear.app/mcp", problem=UNREACHABLE, retry_at=time.time() + 290),
    server("sentry", S.STARTING, transport="http", target="https://mcp.sentry.dev/mcp", detail="Slow: no answer for 45 s"),
    server("legacy", transport="sse", target="https://mcp.example.org/sse", tool_count=4, calls=CALLS, calls_today=12, p50_ms=210),
)


async def servers(theme: Theme) -> Shot:
    return Shot(await desk(theme))


async def servers_small(theme: Theme) -> Shot:
    return Shot(await desk(theme), size=(900, 600))


async def servers_one(theme: Theme) -> Shot:
    return Shot(await desk(theme, SERVERS[:1]))


async def servers_empty(theme: Theme) -> Shot:
    return Shot(
        await desk(
            theme,
            (),
        )
    )


async def servers_100(theme: Theme) -> Shot:
    return Shot(await desk(theme, many(100)))


async def servers_100_details(theme: Theme) -> Shot:
    result = await desk(theme, many(100))
    table = result.page.server_list.table
    table.selectRow(0)
    table.row_chosen.emit(result.servers.find("postgres-1"))
    result.page.show_tools("postgres-1", TOOLS[:5])
    return Shot(result)


def costly(servers: Sequence[ServerSnapshot]) -> ToolCosts:
    """What the tools of these servers cost a client that gets them all at once."""
    costs = tuple(ServerCost(each.name, each.tool_count * 95, each.tool_count * 95, (), compact_tokens=120) for each in servers)
    total = sum(each.tokens for each in costs)
    return ToolCosts("o200k", total, total, costs)


async def count(result: Desk, servers: Sequence[ServerSnapshot]) -> None:
    """Has what tools cost counted anew."""
    result.engine.costs = costly(servers)
    result.wishes.costs_requested.emit()
    await until(lambda: result.page._costs)


async def servers_100_grouped(theme: Theme) -> Shot:
    """Under headings, the busiest first, with what their tools cost."""
    result = await desk(theme, many(100))
    result.window.context.local.memory.remember("servers.group", "state")
    await count(result, many(100))
    result.page.server_list.table.sort_by(6, True)
    result.page.server_list.table.set_grouping(result.page.server_list.views.grouping)
    return Shot(result)


async def servers_100_selected(theme: Theme) -> Shot:
    """Several are selected: what can be done with all of them."""
    result = await desk(theme, many(100))
    await count(result, many(100))
    for place in (1, 2, 4, 7):
        index = result.page.server_list.table.model().index(place, 0)
        flags = QItemSelectionModel.SelectionFlag
        result.page.server_list.table.selectionModel().select(index, flags.Select | flags.Rows)
    return Shot(result)


async def servers_100_selected_small(theme: Theme) -> Shot:
    shot = await servers_100_selected(theme)
    return Shot(shot.desk, size=(900, 600))


async def servers_found(theme: Theme) -> Shot:
    """A search names the tools that it has found, and the filters count what it lets through."""
    result = await desk(theme, many(40))
    result.page._search.setText("file")
    await until(lambda: result.page._filter.found)
    result.page._search_in([tool(name, "filesystem-1") for name in ("read_file", "write_file", "move_file")])
    return Shot(result)


async def servers_advice(theme: Theme) -> Shot:
    """Cards, and what showing tools on demand would save."""
    result = await desk(theme)
    await count(result, SERVERS)
    return Shot(result)


async def servers_advice_menu(theme: Theme) -> Shot:
    result = await desk(theme)
    await count(result, SERVERS)
    advice = result.page.findChild(TokenAdvice)
    advice.click()
    return Shot(result, widget=advice.findChild(QMenu))


async def servers_views_menu(theme: Theme) -> Shot:
    result = await desk(theme, many(100))
    result.page.server_list.views.click()
    return Shot(result, widget=result.page.server_list.views.findChild(QMenu))


async def servers_100_small(theme: Theme) -> Shot:
    return Shot(await desk(theme, many(100)), size=(900, 600))


async def opened_tools(theme: Theme) -> Shot:
    result = await desk(theme)
    result.open_tools("filesystem")
    result.page.show_tools("filesystem", [each for each in TOOLS if each.server == "filesystem"])
    return Shot(result)


async def refused(theme: Theme) -> Shot:
    result = await desk(theme)
    result.page.show_server_problem(
        "fetch",
        Problem(
            "the settings cannot be written", "/home/me/.tooltray/settings.json: No space left on device", "Free some space on that disk"
        ),
    )
    return Shot(result)


async def notices(theme: Theme) -> Shot:
    broken = Problem(
        "The settings could not be read",
        "settings.json was set aside as settings.json.broken-1; line 4 is not JSON",
        "Put it right and start Tooltray again",
    )
    result = await desk(theme, notices=(broken, REFUSED))
    result.wishes.removal_requested.emit("fetch")
    await until(lambda: "fetch" not in result.page.server_list.cards)
    return Shot(result)


async def secrets_locked(theme: Theme) -> Shot:
    result = await desk(theme)
    problem = Problem("The keyring is locked", "the prompt was dismissed", "Unlock it and try again")
    result.page.notices.set_secrets_problem(problem, result.hub.secret_backend)
    return Shot(result)


async def file_locked(theme: Theme) -> Shot:
    locked = Problem(
        "The secrets are locked", "secrets.enc needs its passphrase", "Unlock them: tooltray secrets unlock", SECRETS_UNREACHABLE
    )
    result = await desk(theme, [*SERVERS[1:], replace(SERVERS[0], state=S.ERROR, problem=locked)])
    result.window.context.notices.set_secrets_problem(locked, "file")
    return Shot(result)


async def hub_failed(theme: Theme) -> Shot:
    result = Desk(FakePresenter(), theme)
    result.window.show()
    result.window.set_phase(
        HubPhase.FAILED,
        Problem("another Tooltray with this home is running", "pid 4711 does not answer", "End it with `kill 4711`, then try again"),
    )
    return Shot(result)


async def starting(theme: Theme) -> Shot:
    result = Desk(FakePresenter(), theme)
    result.window.show()
    result.window.set_phase(HubPhase.STARTING)
    return Shot(result)


async def paused(theme: Theme) -> Shot:
    return Shot(await desk(theme, is_paused=True))


async def paused_100(theme: Theme) -> Shot:
    return Shot(await desk(theme, many(100), is_paused=True))


async def stopped(theme: Theme) -> Shot:
    result = await desk(theme)
    result.wishes.stop_requested.emit("filesystem")
    await result.asked("stop_server", "filesystem")
    await until(lambda: result.card("filesystem").server.state is S.STOPPED)
    return Shot(result)


async def bug(theme: Theme) -> Shot:
    result = await desk(theme)
    problem = Problem(tr("Tooltray hit a bug. Your servers keep running."), hint=tr("See the log for details."))
    result.page.notices.add_bug(problem, "x")
    return Shot(result)


async def quit_question(theme: Theme) -> Shot:
    result = await desk(theme)
    result.window.ask_to_quit(["claude-code 2.0.1", "Cursor 1.4"])
    return Shot(result)


async def searched(theme: Theme) -> Shot:
    result = await desk(theme)
    result.page._search.setText("file")
    await result.asked("get_tools", None)
    return Shot(result)


async def remotes(theme: Theme) -> Shot:
    return Shot(await desk(theme, REMOTES))


async def focus(theme: Theme) -> Shot:
    result = await desk(theme)
    result.window.show_up()
    await until(result.window.isActiveWindow)
    card = result.card("memory")
    card.controls()[0].setFocus(Qt.FocusReason.TabFocusReason)
    return Shot(result)


DIAGNOSIS = Diagnosis(
    "postgres",
    False,
    "stdio",
    "error",
    command=("uvx", "postgres-mcp", "--access-mode=restricted"),
    searched=("/usr/local/bin", "/usr/bin", "/bin"),
    path="/usr/local/bin:/usr/bin:/bin",
    exit_code=127,
    stderr=("sh: uvx: not found",),
    problem=REFUSED,
    remedies=(
        Remedy("use_absolute_path", "use the full path of uvx", "/home/me/.local/bin/uvx", True),
        Remedy("install_runtime", "install uv", "pipx install uv"),
        Remedy("advice", "look whether the package still exists"),
    ),
)


async def why(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme)
    result.engine.diagnoses = [DIAGNOSIS]
    result.wishes.diagnosis_requested.emit("postgres")
    await result.asked("diagnose", "postgres")
    return Shot(result, size=size)


async def why_small(theme: Theme) -> Shot:
    return await why(theme, (900, 600))


async def card_menu(theme: Theme) -> Shot:
    result = await desk(theme)
    return Shot(result, widget=ServerMenu(theme, SERVERS[0], result.wishes, result.window, is_short=True))


async def whole_menu(theme: Theme) -> Shot:
    """The menu of an opened server."""
    result = await desk(theme)
    return Shot(result, widget=ServerMenu(theme, SERVERS[0], result.wishes, result.window))


async def servers_eleven(theme: Theme) -> Shot:
    """As many as are shown as cards."""
    return Shot(await desk(theme, many(11)))


SCENES = (
    servers,
    servers_small,
    servers_one,
    servers_empty,
    servers_100,
    servers_100_details,
    servers_100_small,
    servers_100_grouped,
    servers_100_selected,
    servers_100_selected_small,
    servers_found,
    servers_advice,
    servers_advice_menu,
    servers_views_menu,
    opened_tools,
    refused,
    notices,
    secrets_locked,
    file_locked,
    hub_failed,
    starting,
    paused,
    paused_100,
    stopped,
    bug,
    quit_question,
    searched,
    remotes,
    focus,
    why,
    why_small,
    card_menu,
    whole_menu,
    servers_eleven,
)
