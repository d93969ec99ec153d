"""Scenes of servers of projects: waiting ones, copies for folders, options of a server, words of a tool."""

import time

from msgspec.structs import replace
from tests.fakes.desk import until
from tests.fakes.server_snapshots import server
from tests.ui.scenes.opened_desk import CALLS, CRASHED, SERVERS, TOOLS, desk, many
from tests.ui.scenes.shot import Shot
from tests.ui.scenes.shown_files import SHOP, SITE

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.page_frame import FittedScroll

S = ServerState
COSTS = ToolCosts(
    "o200k_base",
    36_650,
    3_190,
    tuple(
        ServerCost(name, tokens, shown, ())
        for name, tokens, shown in (("filesystem", 2310, 2310), ("playwright", 4120, 96), ("serena", 6480, 88), ("memory", 1480, 1480))
    ),
)
WAITS = Phrase("{count} AI clients are connected, none names a folder", count=2)
SERENA = "uvx serena start-mcp-server --project {project_path}"
PROJECTS = (
    server("serena", S.WAITING, target=SERENA, tool_count=29, is_deferred=True, is_lazy=True, detail=WAITS, since=time.time() - 3000),
    server("playwright", target="npx @playwright/mcp@latest", tool_count=22, is_lazy=True, calls=CALLS, calls_today=3, p95_ms=812),
    server(
        "pyright",
        target="uvx mcp-pyright {project_path}",
        tool_count=4,
        is_deferred=True,
        calls=CALLS,
        calls_today=12,
        copies=(
            ProjectCopySnapshot(SHOP, "shop", S.RUNNING, 2, f"uvx mcp-pyright {SHOP}"),
            ProjectCopySnapshot(SITE, "frontend", S.ERROR, 1, f"uvx mcp-pyright {SITE}", CRASHED),
        ),
    ),
    *SERVERS[:1],
    *SERVERS[4:6],
)


async def projects(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme, PROJECTS)
    result.engine.costs = COSTS
    result.wishes.costs_requested.emit()
    result.open_server("pyright")
    await until(lambda: result.page._costs)
    return Shot(result, size=size)


async def projects_small(theme: Theme) -> Shot:
    return await projects(theme, (900, 600))


async def projects_details(theme: Theme) -> Shot:
    result = await desk(theme, (*PROJECTS, *many(40)))
    result.engine.costs = COSTS
    result.wishes.costs_requested.emit()
    await until(lambda: result.page._costs)
    result.page.server_list.table.row_chosen.emit(result.servers.find("pyright"))
    return Shot(result)


async def options(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme, PROJECTS)
    result.engine.costs = COSTS
    result.engine.entries["serena"] = {"command": "uvx", "args": SERENA.split()[1:]}
    result.wishes.costs_requested.emit()
    await until(lambda: result.page._costs)
    result.wishes.options_requested.emit("serena")
    await result.asked("get_server_entry", "serena")
    return Shot(result, size=size)


async def options_small(theme: Theme) -> Shot:
    return await options(theme, (900, 600))


async def tool_words(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme)
    words = {"name": "look", "title": "Look into a file", "annotations": {"readOnlyHint": True, "openWorldHint": False}}
    words["icons"] = [{"src": "https://files.example.org/icons/a-folder-that-somebody-drew-and-named-at-length/look-into-a-file.svg"}]
    result.engine.entries["filesystem"] = {"command": "npx", "toolOverrides": {"read_text_file": words}}
    result.wishes.tool_requested.emit(replace(TOOLS[0], name="look"))
    await result.asked("get_server_entry", "filesystem")
    return Shot(result, size=size)


async def tool_words_hints(theme: Theme) -> Shot:
    """Their end, below the fields of name and description."""
    shot = await tool_words(theme)
    assert shot.desk is not None
    assert shot.desk.window.sheet is not None
    bar = shot.desk.window.sheet.panel.findChild(FittedScroll).verticalScrollBar()
    await until(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    return shot


async def tool_words_small(theme: Theme) -> Shot:
    return await tool_words(theme, (900, 600))


async def waiting_menu(theme: Theme) -> Shot:
    result = await desk(theme, PROJECTS)
    return Shot(result, widget=ServerMenu(theme, PROJECTS[0], result.wishes, result.window))


SCENES = (
    projects,
    projects_small,
    projects_details,
    options,
    options_small,
    tool_words,
    tool_words_hints,
    tool_words_small,
    waiting_menu,
)
