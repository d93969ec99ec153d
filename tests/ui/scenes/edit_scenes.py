"""Scenes of a server's settings: the form and its JSON, what a test gave, an entry changed meanwhile, several accounts."""

import json
from typing import Any, cast

from msgspec.structs import replace
from tests.fakes.desk import Desk, until
from tests.fakes.server_snapshots import server
from tests.ui.scenes.opened_desk import SERVERS, desk, many
from tests.ui.scenes.shot import Shot
from tests.ui.seen import control

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.entries import NextStep, ServerTest, ToolSize
from tooltray.ui.i18n import tr
from tooltray.ui.server_pane.server_settings import ServerSettings
from tooltray.ui.theme import Theme

GITHUB: dict[str, Any] = {
    "command": "docker",
    "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server"],
    "env": {"GITHUB_TOKEN": "${secret:github/GITHUB_TOKEN}", "GITHUB_API_KEY": "ghp_0123456789abcdefABCDEF", "GITHUB_HOST": "github.com"},
    "label": "work",
    "color": "blue",
    "projects": ["/home/me/work"],
    "autoApprove": ["read"],
    "x-note": "kept as it is",
}
REMOTE: dict[str, Any] = {
    "type": "http",
    "url": "https://mcp.linear.app/mcp",
    "headers": {"Authorization": "Bearer ${secret:linear/TOKEN}"},
}
TOOLS = tuple(ToolSize(name, 60 + 40 * index) for index, name in enumerate(("get_me", "list_issues", "search_code", "create_pull_request")))
WORKED = ServerTest("github", True, 1.8, TOOLS, sum(tool.tokens for tool in TOOLS))
FAILED = ServerTest(
    "github",
    False,
    0.4,
    problem=Problem(
        "command 'docker' not found", "looked in /usr/local/bin, /usr/bin and /bin", "Install Docker, or set the command's full path"
    ),
    remedies=(NextStep("use_absolute_path", "Use /opt/docker/bin/docker", "/opt/docker/bin/docker"),),
    output=("npm error code E404", "npm error 404 Not Found - GET https://registry.example/@x%2fmissing - Not found"),
)


async def edited(theme: Theme, entry: dict[str, Any] = GITHUB, name: str = "github") -> tuple[Desk, ServerSettings]:
    """Opens the settings of a server."""
    result = await desk(theme, SERVERS)
    result.engine.entries[name] = dict(entry)
    result.engine.secrets["github/GITHUB_TOKEN"] = "x"
    view = cast(ServerSettings, result.open_server(name, "settings").view("settings"))
    await until(lambda: view.form.entry == entry)
    return result, view


async def edit(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result, _ = await edited(theme)
    return Shot(result, size=size)


async def edit_advanced(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result, view = await edited(theme)
    view.form._advanced.set_open(True)
    await until(lambda: view._area.verticalScrollBar().maximum() > 1000)
    view._area.ensureWidgetVisible(view.form.field("label"), 0, 300)
    return Shot(result, size=size)


async def edit_advanced_small(theme: Theme) -> Shot:
    return await edit_advanced(theme, (900, 600))


async def edit_small(theme: Theme) -> Shot:
    return await edit(theme, (900, 600))


async def edit_beside(theme: Theme) -> Shot:
    result, _ = await edited(theme)
    result.page._on_wide(False)
    return Shot(result)


async def edit_typed_keys(theme: Theme) -> Shot:
    result, view = await edited(theme)
    typed = {"command": "npx", "args": ["x", "--api-key", "sk-0123456789abcdef"], "env": {"GITHUB_API_KEY": "ghp_0123456789"}}
    view.restore(json.dumps(typed))
    return Shot(result)


async def edit_remote(theme: Theme) -> Shot:
    result, _ = await edited(theme, REMOTE, "github")
    return Shot(result)


async def edit_faults(theme: Theme) -> Shot:
    result, view = await edited(theme)
    view.json.set_text(json.dumps({**GITHUB, "args": "run", "idleStop": -3, "projects": ["work"]}, indent=2))
    view._read_text()
    return Shot(result)


async def edit_broken(theme: Theme) -> Shot:
    result, view = await edited(theme)
    view.json.set_text(json.dumps(GITHUB, indent=2).replace('"docker",', '"docker"'))
    view._read_text()
    return Shot(result)


async def edit_tested(theme: Theme) -> Shot:
    result, view = await edited(theme)
    view.test_panel.begin()
    view.test_panel.show_result(WORKED)
    return Shot(result)


async def edit_failed(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result, view = await edited(theme)
    view.test_panel.begin()
    view.test_panel.show_result(FAILED)
    return Shot(result, size=size)


async def edit_failed_small(theme: Theme) -> Shot:
    return await edit_failed(theme, (900, 600))


async def edit_changed_meanwhile(theme: Theme) -> Shot:
    result, view = await edited(theme)
    view.json.set_text(json.dumps({**GITHUB, "label": "mine"}, indent=2))
    view._read_text()
    view._say_changed()
    return Shot(result)


async def edit_save_sheet(theme: Theme) -> Shot:
    result, view = await edited(theme)
    view.json.set_text(
        json.dumps({**GITHUB, "label": "private", "env": {**GITHUB["env"], "GITHUB_API_KEY": "ghp_another0123456789abcdef"}}, indent=2)
    )
    view._read_text()
    control(view, tr("What changes")).click()
    await until(lambda: result.window.sheet)
    return Shot(result)


async def edit_long_name(theme: Theme) -> Shot:
    odd = server("\u202e" + "名前🧠" * 16, target="npx x")
    result = await desk(theme, (odd, *SERVERS[:3]))
    result.open_server(odd.name, "settings")
    return Shot(result)


async def accounts(theme: Theme) -> Shot:
    work = replace(SERVERS[1], name="github-work", label="work", color="blue", projects=("/home/me/work",))
    private = replace(SERVERS[1], name="github-private", label="private", color="green", projects=("/home/me/src", "/home/me/notes"))
    return Shot(await desk(theme, (work, private, *SERVERS[2:6])))


async def duplicate(theme: Theme) -> Shot:
    result = await desk(theme)
    result.wishes.duplicate_requested.emit("github")
    return Shot(result)


async def edit_of_many(theme: Theme) -> Shot:
    result = await desk(theme, many(100))
    result.open_server("postgres-1")
    return Shot(result)


SCENES = (
    edit,
    edit_small,
    edit_advanced,
    edit_advanced_small,
    edit_beside,
    edit_typed_keys,
    edit_remote,
    edit_faults,
    edit_broken,
    edit_tested,
    edit_failed,
    edit_failed_small,
    edit_changed_meanwhile,
    edit_save_sheet,
    edit_long_name,
    accounts,
    duplicate,
    edit_of_many,
)
