"""Scenes of files with servers in them: their servers, the page of files, trust, what a reload would change."""

from collections.abc import Sequence

from msgspec.structs import replace
from tests.fakes.desk import until
from tests.fakes.server_snapshots import server
from tests.ui.scenes.opened_desk import CALLS, SERVERS, desk, many
from tests.ui.scenes.shot import Shot
from tests.ui.scenes.shown_files import DEPLOY, FILES, PLAN, PROXY_FILE, REQUESTS, SHOP, SHOP_FILE, SITE, TRUSTED, many_files, many_requests
from tests.ui.seen import control

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ServerFilesChanged
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.setup import ReloadChange, ServerFileSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts
from tooltray.ui.i18n import tr
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.theme import Theme

S = ServerState
OF_FILES = (
    server(
        "db", target="npx -y @example/postgres-mcp", origin="project", file=f"{SHOP}/.mcp.json", project=SHOP, tool_count=9, is_lazy=True
    ),
    server("lint", S.STARTING, target="npx lint", origin="project", file=f"{SITE}/.mcp.json", project=SITE),
    server("fetch", target="uvx mcp-server-fetch", origin="served", file="/srv/etc/config.json", tool_count=1, calls=CALLS, calls_today=3),
)


async def file_servers(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme, (*OF_FILES, *SERVERS[:3]))
    result.engine.costs = ToolCosts("o200k_base", 3000, 2310, (ServerCost("db", 3000, 2310, ()),))
    result.engine.trust_requests = list(REQUESTS)
    result.engine.bus.publish(ServerFilesChanged())
    result.wishes.costs_requested.emit()
    await until(lambda: result.projects.waiting)
    result.open_server("db")
    await until(lambda: result.page._costs)
    return Shot(result, size=size)


async def file_servers_small(theme: Theme) -> Shot:
    return await file_servers(theme, (900, 600))


async def file_server_details(theme: Theme) -> Shot:
    result = await desk(theme, (*OF_FILES, *many(40)))
    result.page.server_list.table.row_chosen.emit(result.servers.find("db"))
    return Shot(result)


async def file_server_menu(theme: Theme) -> Shot:
    result = await desk(theme, OF_FILES)
    return Shot(result, widget=ServerMenu(theme, OF_FILES[0], result.wishes, result.window))


async def file_server_options(theme: Theme) -> Shot:
    result = await desk(theme, OF_FILES)
    result.wishes.options_requested.emit("fetch")
    return Shot(result)


async def files(
    theme: Theme,
    size: tuple[int, int] | None = None,
    found: Sequence[ServerFileSnapshot] = FILES,
    requests: Sequence[TrustRequest] = REQUESTS,
) -> Shot:
    result = await desk(theme)
    result.engine.files, result.engine.trust_requests, result.engine.trusted = list(found), list(requests), list(TRUSTED)
    result.engine.allowed_folders = ["/home/me/projects", "/srv/data/的/專案"]
    result.open_projects()
    page = result.projects
    await until(lambda: len(page._trusted) == len(TRUSTED) and len(page._files.rows) == len(found))
    return Shot(result, size=size)


async def files_small(theme: Theme) -> Shot:
    return await files(theme, (900, 600))


async def files_quiet(theme: Theme) -> Shot:
    return await files(theme, found=FILES[:1], requests=())


async def files_100(theme: Theme) -> Shot:
    return await files(theme, found=many_files(100), requests=many_requests(100))


async def file_sheet(theme: Theme) -> Shot:
    shot = await files(theme)
    shot.desk.projects._files.row_chosen.emit(SHOP_FILE)
    return shot


async def file_sheet_served(theme: Theme) -> Shot:
    shot = await files(theme)
    shot.desk.projects._files.row_chosen.emit(PROXY_FILE)
    return shot


async def trust(
    theme: Theme, project: str = SHOP, size: tuple[int, int] | None = None, requests: Sequence[TrustRequest] = REQUESTS
) -> Shot:
    shot = await files(theme, requests=requests)
    window = shot.desk.window
    window.resize(*(size or (1180, 760)))
    shot.desk.projects.open_trust(project)
    window.sheet.panel._guard.setInterval(0)
    await until(lambda: not window.sheet.panel._guard.isActive())
    return Shot(shot.desk, size=size)


async def trust_small(theme: Theme) -> Shot:
    return await trust(theme, size=(900, 600))


async def trust_thief(theme: Theme) -> Shot:
    return await trust(theme, SITE)


async def trust_changed(theme: Theme) -> Shot:
    shot = await trust(theme, requests=[DEPLOY])
    shot.desk.engine.trust_requests = [replace(DEPLOY, digest="9" * 64, target="./tools/deploy-server --all")]
    shot.desk.engine.bus.publish(ServerFilesChanged())
    panel = shot.desk.window.sheet.panel
    await until(lambda: panel.shown[0].digest != DEPLOY.digest)
    panel.show_problem(Problem("'deploy' has changed meanwhile", "", "Review it and decide again."))
    return shot


async def trust_100(theme: Theme) -> Shot:
    return await trust(theme, requests=many_requests(100))


async def reload_plan(theme: Theme, changes: Sequence[ReloadChange] = PLAN) -> Shot:
    shot = await files(theme)
    shot.desk.engine.reload_changes = list(changes)
    control(shot.desk.projects, tr("Read again…")).click()
    await until(lambda: shot.desk.window.sheet is not None)
    return shot


async def reload_nothing(theme: Theme) -> Shot:
    return await reload_plan(theme, ())


async def add_to_project(theme: Theme) -> Shot:
    shot = await files(theme)
    shot.desk.window.open_page("servers")
    shot.desk.page.add("npx -y @modelcontextprotocol/server-memory")
    return shot


SCENES = (
    file_servers,
    file_servers_small,
    file_server_details,
    file_server_menu,
    file_server_options,
    files,
    files_small,
    files_quiet,
    files_100,
    file_sheet,
    file_sheet_served,
    trust,
    trust_small,
    trust_thief,
    trust_changed,
    trust_100,
    reload_plan,
    reload_nothing,
    add_to_project,
)
