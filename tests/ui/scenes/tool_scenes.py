"""Scenes of the page of tools: the table, a tool in full, many at once, trying one, prompts and resources."""

import json
import time
from collections.abc import Sequence
from typing import Any

from tests.fakes.desk import Desk, until
from tests.fakes.server_snapshots import server, tool
from tests.fakes.tools_in_memory import ToolsInMemory, response, text
from tests.ui.scenes.shot import Shot

from tooltray.foundation.snapshots.activity import ActivityFigures, ToolUse
from tooltray.foundation.snapshots.approvals import GrantSnapshot, ServerPermissions, ToolPermission
from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.tools import ServerCost, ToolCost, ToolCosts, ToolSnapshot
from tooltray.ui.kit.destinations import OpenTool, Servers, ToolsOf, TryTool
from tooltray.ui.theme import Theme
from tooltray.ui.tools.all_tools_tab import PROMPTS, RESOURCES
from tooltray.ui.tools.try_sheet import TrySheet
from tooltray.ui.widgets.code_view import DiffView

NOW = time.time()
SERVERS = [
    server("filesystem", tool_count=14),
    server("github", ServerState.ON_DEMAND, tool_count=3),
    server("playwright", tool_count=2),
    server("postgres", tool_count=1),
    server("linear", ServerState.STOPPED, is_listed=False),
]
TOOLS = [
    tool("read_text_file", "filesystem", description="Read a file as text, whole or only its first or last lines."),
    tool("write_file", "filesystem", description="Create a file or replace one.", category="write", is_approved=False),
    tool("edit_file", "filesystem", description="Change single lines and get a diff back.", category="write", is_approved=False),
    tool("list_directory", "filesystem", description="List the files and folders in a folder."),
    tool("search_files", "filesystem", description="Find files by name."),
    tool("move_file", "filesystem", description="Move a file.", category="write", is_enabled=False, is_approved=False),
    tool("create_issue", "github", description="Create an issue.", category="write", is_approved=False),
    tool("search_code", "github", description="Search code."),
    tool("get_issue", "github", description="An issue with its comments.", is_approved=False, is_held=True),
    tool("browser_navigate", "playwright", description="Open an address.", category="write", is_approved=False),
    tool("browser_snapshot", "playwright", description="What is on the page.", has_view=True),
    tool("browser_refresh", "playwright", description="Draws the page anew in its view.", is_for_views=True),
    tool("execute_sql", "postgres", description="Run a query.", category="write", is_approved=False),
    *(tool(f"tool_{number}", "filesystem", description="One of many.") for number in range(14)),
]
USES = [
    ToolUse("filesystem", "read_text_file", 214, 0, NOW - 120, ("claude-code", "cursor-vscode")),
    ToolUse("filesystem", "edit_file", 81, 3, NOW - 540, ("claude-code",)),
    ToolUse("filesystem", "list_directory", 40, 0, NOW - 3_600, ("claude-code", "tooltray")),
    ToolUse("github", "search_code", 12, 1, NOW - 86_400, ("cursor-vscode",)),
    ToolUse("playwright", "browser_snapshot", 3, 0, NOW - 5 * 86_400, ("claude-code",)),
]
EDIT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file, as an absolute path."},
        "edits": {
            "type": "array",
            "minItems": 1,
            "description": "In their order.",
            "items": {
                "type": "object",
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                "required": ["oldText", "newText"],
            },
        },
        "dryRun": {"type": "boolean", "default": False, "description": "Only show what would change."},
        "encoding": {"enum": ["utf-8", "latin-1"], "default": "utf-8"},
    },
    "required": ["path", "edits"],
}
DONE = {
    "content": [text("```diff\n--- todo.md\n+++ todo.md\n@@ -1 +1 @@\n-- buy milk\n+- buy oat milk\n```")["content"][0]],
    "structuredContent": {"changed": True, "lines": {"added": 1, "removed": 1}, "files": ["todo.md"]},
}
QUESTION = ElicitationSnapshot(
    "q1",
    "filesystem",
    "form",
    "The file is read-only. Change it all the same?",
    NOW + 500,
    fields=(
        ElicitationField("sure", "Change it", AnswerKind.BOOLEAN),
        ElicitationField("why", "Why", AnswerKind.TEXT, description="Stands in the log of the server.", is_required=True),
    ),
)


def costs(tools: Sequence[ToolSnapshot]) -> ToolCosts:
    priced = tuple(ToolCost(each.name, 90 + 37 * place % 300, True) for place, each in enumerate(tools) if each.is_enabled)
    return ToolCosts("", 9_000, 9_000, (ServerCost("all", 9_000, 9_000, priced),))


def engine(tools: Sequence[ToolSnapshot] = TOOLS) -> ToolsInMemory:
    fake = ToolsInMemory(SERVERS, tools, session_count=3)
    fake.costs, fake.uses = costs(tools), USES
    fake.schemas = {"edit_file": EDIT}
    fake.figures = [ActivityFigures("filesystem/edit_file", 81, 3, 900, 11.0, 40.0, NOW)]
    fake.prompts = {
        "github": [
            {"name": "review", "title": "Review a change", "description": "Asks for a careful review.", "arguments": PROMPT_ARGUMENTS},
            {"name": "release-notes", "description": "Release notes from commits."},
        ]
    }
    fake.resources = {
        "filesystem": [
            {"uri": "file:///home/ada/notes/todo.md", "name": "todo.md", "mimeType": "text/markdown", "size": 812},
            {"uri": "file:///home/ada/notes/logo.png", "name": "logo.png", "mimeType": "image/png"},
        ],
        "github": [{"uri": "github://me", "name": "Who I am", "mimeType": "application/json"}],
    }
    fake.templates = {"github": [{"uriTemplate": "github://repo/{owner}/{name}{?ref}", "name": "A repository"}]}
    fake.contents = {
        "file:///home/ada/notes/todo.md": {
            "contents": [{"uri": "file:///home/ada/notes/todo.md", "mimeType": "text/markdown", "text": TODO}]
        },
        "review": {"messages": [{"role": "user", "content": {"type": "text", "text": "Look at PR 12 with care."}}]},
        "github://repo/ada/notes": {"contents": [{"uri": "github://repo/ada/notes", "text": '{"stars": 12, "topics": ["notes"]}'}]},
    }
    return fake


TODO = "# To do\n\n- buy oat milk\n- call Grace\n"
PROMPT_ARGUMENTS = [
    {"name": "pr", "description": "Its number.", "required": True},
    {"name": "focus", "description": "What to look at above all."},
]


async def opened(theme: Theme, fake: ToolsInMemory | None = None) -> Desk:
    result = Desk(fake or engine(), theme)
    await result.open()
    await until(lambda: result.servers.servers)
    result.window.go(Servers("all_tools"))
    await until(lambda: result.all_tools.tools._rows or not result.engine.tools)
    return result


async def tools(theme: Theme, size: tuple[int, int] | None = None, chosen: str = "") -> Shot:
    desk = await opened(theme)
    if chosen:
        desk.window.go(OpenTool(chosen))
        details = desk.all_tools.tools.details
        assert details is not None
        await until(lambda: details._is_read)
    return Shot(desk, size=size)


async def tools_small(theme: Theme) -> Shot:
    return await tools(theme, (900, 600))


async def tools_allowed(theme: Theme) -> Shot:
    """Two tools that are allowed for a time: one for a client, one for all."""
    fake = engine()
    fake.grants = [
        GrantSnapshot("1", "tool", "filesystem", "edit_file", "claude-code", expires_at=NOW + 2_400),
        GrantSnapshot("2", "tool", "filesystem", "write_file", expires_at=NOW + 2_400),
    ]
    allowed = [ToolPermission(each.tool, "write", "default", False, "", (each.id,)) for each in fake.grants]
    fake.permissions = [ServerPermissions("filesystem", (), tools=tuple(allowed))]
    desk = await opened(theme, fake)
    desk.window.context.go(OpenTool("edit_file"))
    tab = desk.all_tools.tools
    await until(lambda: tab.details is not None and tab.details._is_read and tab.details.row.approval)
    return Shot(desk)


async def tools_to_try(theme: Theme) -> Shot:
    """Where "Try a tool…" of a server leads to."""
    desk = await opened(theme)
    desk.window.context.go(ToolsOf("github"))
    tab = desk.all_tools.tools
    await until(lambda: tab.details is not None and tab.details._is_read)
    return Shot(desk)


async def tool_details(theme: Theme) -> Shot:
    return await tools(theme, chosen="edit_file")


async def tool_details_small(theme: Theme) -> Shot:
    return await tools(theme, (900, 600), "edit_file")


async def tool_details_for_views(theme: Theme) -> Shot:
    """A tool that no model sees: the views of its server call it."""
    return await tools(theme, chosen="browser_refresh")


async def tools_wide(theme: Theme) -> Shot:
    return await tools(theme, (1800, 900), "get_issue")


async def tools_picked(theme: Theme) -> Shot:
    desk = await opened(theme)
    tab = desk.all_tools.tools
    tab._on_group()
    tab.table.selectAll()
    return Shot(desk)


async def tools_none(theme: Theme) -> Shot:
    fake = ToolsInMemory([])
    return Shot(await opened(theme, fake))


async def tools_unread(theme: Theme) -> Shot:
    fake = engine()
    fake.uses = None
    return Shot(await opened(theme, fake))


async def tools_5000(theme: Theme) -> Shot:
    odd = "\u202etxt.exe <b>名前</b> 🧰 " + "x" * 280
    many = [tool(f"tool_{number}", f"server-{number % 100}", description="What it does.") for number in range(4_999)]
    return Shot(await opened(theme, engine([tool(odd, "filesystem", description=odd), *many])))


async def profile_of_used(theme: Theme) -> Shot:
    desk = await opened(theme)
    desk.all_tools.tools._profile_of_used()
    await until(lambda: desk.window.sheet is not None)
    return Shot(desk)


async def trying(theme: Theme, size: tuple[int, int] | None = None, filled: str = "") -> Shot:
    desk = await opened(theme)
    desk.window.go(TryTool("edit_file", filled))
    await until(lambda: isinstance(desk.window.context.sheets.panel, TrySheet))
    return Shot(desk, size=size)


async def try_form(theme: Theme) -> Shot:
    return await trying(theme)


async def try_faults(theme: Theme) -> Shot:
    shot = await trying(theme)
    panel_of(shot).call()
    return shot


async def try_json(theme: Theme) -> Shot:
    shot = await trying(theme, filled=FILLED_TEXT)
    panel_of(shot).form.show_view(1)
    return shot


async def try_overwrite(theme: Theme) -> Shot:
    """A file would be overwritten by the call, as the approval of a client's call shows it."""
    desk = await opened(theme)
    lines = (" # Plan", "-Ship in May", "+Ship in June, once the invoices of the last quarter are through", " ")
    desk.engine.disk_diffs["/home/ana/plan.md"] = lines
    desk.window.go(TryTool("edit_file", json.dumps({"path": "/home/ana/plan.md"})))
    await until(lambda: isinstance(desk.window.context.sheets.panel, TrySheet))
    await until(lambda: desk.window.findChild(DiffView))
    return Shot(desk)


async def try_running(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await trying(theme, size, FILLED_TEXT)
    panel, fake = panel_of(shot), fake_of(shot)
    panel.call()
    await until(lambda: fake.trying)
    fake.progress(3, 8, "todo.md")
    await until(lambda: panel._progress is not None)
    return shot


async def try_question(theme: Theme) -> Shot:
    shot = await try_running(theme)
    fake_of(shot).ask(QUESTION)
    panel = panel_of(shot)
    await until(lambda: panel._questions)
    return shot


async def try_result(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await trying(theme, size, FILLED_TEXT)
    fake_of(shot).answer = response("ok", DONE)
    panel = panel_of(shot)
    panel.call()
    await until(lambda: not panel.attempt)
    return shot


async def try_result_small(theme: Theme) -> Shot:
    return await try_result(theme, (900, 600))


async def try_failed(theme: Theme) -> Shot:
    shot = await trying(theme, filled=FILLED_TEXT)
    fake_of(shot).answer = response("error", {**text("ENOENT: no such file or directory, open '/home/ada/notes/todo.md'"), "isError": True})
    panel = panel_of(shot)
    panel.call()
    await until(lambda: not panel.attempt)
    return shot


async def prompts(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    desk = await opened(theme)
    desk.all_tools.show_list(PROMPTS)
    offers = desk.all_tools.prompts
    await until(lambda: offers.table.rows)
    offers._on_row(offers.table.rows[1])
    return Shot(desk, size=size)


async def prompt_filled(theme: Theme) -> Shot:
    shot = await prompts(theme)
    assert shot.desk is not None
    preview = shot.desk.all_tools.prompts.preview
    assert preview is not None
    preview._lines._lines["pr"].setText("12")
    preview._get()
    await until(lambda: preview.result.parts)
    return shot


async def resources(theme: Theme, size: tuple[int, int] | None = None, place: int = 1) -> Shot:
    desk = await opened(theme)
    desk.all_tools.show_list(RESOURCES)
    offers = desk.all_tools.resources
    await until(lambda: offers.table.rows)
    if size:
        desk.window.resize(*size)
    if place >= 0:
        offers._on_row(offers.table.rows[place])
        preview = offers.preview
        await until(lambda: preview is None or preview.result.parts or preview.offer.arguments)
    return Shot(desk, size=size)


async def resources_small(theme: Theme) -> Shot:
    return await resources(theme, (900, 600))


async def resource_template(theme: Theme) -> Shot:
    shot = await resources(theme, place=5)
    assert shot.desk is not None
    preview = shot.desk.all_tools.resources.preview
    assert preview is not None
    for name, value in (("owner", "ada"), ("name", "notes")):
        preview._lines._lines[name].setText(value)
    preview._get()
    await until(lambda: preview.result.parts)
    return shot


async def prompts_none(theme: Theme) -> Shot:
    desk = await opened(theme, ToolsInMemory(SERVERS, TOOLS))
    desk.all_tools.show_list(PROMPTS)
    offers = desk.all_tools.prompts
    await until(lambda: offers._offers is not None)
    return Shot(desk)


FILLED_TEXT = '{"path": "/home/ada/notes/todo.md", "edits": [{"oldText": "- buy milk", "newText": "- buy oat milk"}], "dryRun": true}'


def panel_of(shot: Shot) -> Any:
    assert shot.desk is not None
    return shot.desk.window.context.sheets.panel


def fake_of(shot: Shot) -> ToolsInMemory:
    assert shot.desk is not None
    assert isinstance(shot.desk.engine, ToolsInMemory)
    return shot.desk.engine


SCENES = (
    tools,
    tools_small,
    tools_allowed,
    tools_to_try,
    tool_details,
    tool_details_small,
    tool_details_for_views,
    tools_wide,
    tools_picked,
    tools_none,
    tools_unread,
    tools_5000,
    profile_of_used,
    try_form,
    try_faults,
    try_json,
    try_overwrite,
    try_running,
    try_question,
    try_result,
    try_result_small,
    try_failed,
    prompts,
    prompt_filled,
    prompts_none,
    resources,
    resources_small,
    resource_template,
)
