"""Scenes of the Permissions page: servers and tools, and the sheets."""

import time

from msgspec.structs import replace
from tests.fakes.desk import until
from tests.ui.scenes.approvals_scenes import GRANTED, grant
from tests.ui.scenes.opened_desk import SERVERS, desk, many
from tests.ui.scenes.shot import Shot

from tooltray.config.settings.call_rule import read_rule
from tooltray.consent.approvals.permissions import ASKS_WRITING, CHOSEN_ASK, CHOSEN_FREE, REASONS
from tooltray.consent.approvals.rule_words import words as rule_words
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow
from tooltray.foundation.snapshots.approvals import ServerPermissions, ToolPermission
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.permission_words import tool_rows
from tooltray.ui.approval.permissions_page import PermissionsPage
from tooltray.ui.theme import Theme

READ, WRITE, ALL = REASONS["read"], ASKS_WRITING, REASONS["all"]
P = ToolPermission
FILES = (
    P("read_text_file", "read", "default", True, READ),
    P("list_directory", "read", "default", True, READ),
    P("search_files", "read", "default", True, READ),
    P("directory_tree", "read", "default", True, READ),
    P("write_file", "write", "default", False, WRITE, ("1",)),
    P("edit_file", "write", "always", True, CHOSEN_FREE),
    P("move_file", "write", "ask", False, CHOSEN_ASK),
    P("delete_everything_that_matches_this_pattern_<b>🗑</b>", "write", "default", False, WRITE),
    P("create_directory", "write", "default", False, WRITE, (), False),
    P("get_file_info", "read", "default", False, READ, (), True, True),
)


def server(name: str, *rules: str, count: int = 0, single: tuple[str, ...] = (), is_listed: bool = True) -> ServerPermissions:
    tools = tuple(P(f"tool_{number}", "write", "default", "all" in rules, ALL if "all" in rules else WRITE) for number in range(count))
    return ServerPermissions(name, (*rules, *single), single, is_listed=is_listed, tools=tools)


RULE_WORDS = rule_words(read_rule({"tool": "write_file", "arguments": {"path": {"inside": ["~/notes"]}}, "others": ["content"]}))
PERMISSIONS = [
    ServerPermissions(
        "filesystem", ("read", "edit_file", "ask:move_file"), ("edit_file", "ask:move_file"), tools=FILES, call_rules=(RULE_WORDS,)
    ),
    server("github", "all", count=38),
    server("playwright", "all", count=22),
    server("serena", "read", count=29),
    server("postgres", is_listed=False),
    server("memory", count=9, single=("tool_1",)),
    server("my-very-long-server-name-that-somebody-pasted-from-a-readme", "names:get_*", count=3),
    ServerPermissions("hub", ("all",), is_changeable=False, tools=(P("collect_feedback", "write", "default", True, ALL),)),
]
MODES = [
    ClientModeSnapshot("claude-code", "Claude Code", "", "everything", "", is_seen=True),
    ClientModeSnapshot("cursor-vscode", "Cursor", "", "everything", "", is_seen=True, auto_approve=("read",)),
    ClientModeSnapshot("windsurf", "Windsurf", "", "everything", "", is_seen=True, call_rules=(RULE_WORDS,), flow_guard=True),
    ClientModeSnapshot("zed", "Zed", "", "everything", "", is_seen=True, auto_approve=("names:get_*", "hint:idempotent")),
]


async def opened(theme: Theme, size: tuple[int, int] | None = None) -> tuple[Shot, PermissionsPage]:
    result = await desk(theme)
    engine = result.engine
    engine.permissions, engine.grants, engine.client_modes = PERMISSIONS, list(GRANTED), MODES
    result.window.open_page("permissions")
    page = result.permissions
    await until(lambda: page.rules.servers.rows[1:] and not len(result.tasks))
    return Shot(result, size=size), page


async def permissions(theme: Theme) -> Shot:
    return (await opened(theme))[0]


async def permissions_server(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot, page = await opened(theme, size=size)
    page.show_part("server", "filesystem")
    return shot


async def permissions_small(theme: Theme) -> Shot:
    return await permissions_server(theme, (900, 600))


async def permissions_unlisted(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    page.show_part("server", "postgres")
    return shot


async def permissions_100(theme: Theme) -> Shot:
    result = await desk(theme, many(100))
    result.engine.permissions = [server(each.name, *(("all",) if at % 3 else ("read",)), count=50) for at, each in enumerate(many(100))]
    result.window.open_page("permissions")
    await until(lambda: len(result.permissions.rules.tools.rows) == 5000 and not len(result.tasks))
    return Shot(result)


async def permissions_none(theme: Theme) -> Shot:
    result = await desk(theme, SERVERS[:0])
    result.window.open_page("permissions")
    await until(lambda: not len(result.tasks))
    return Shot(result)


async def permission_of_tool(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    grants = {each.id: each for each in [*GRANTED, grant(1, client="Cursor", expires_at=time.time() + 7200)]}
    page.rules.open_tool(tool_rows([replace(PERMISSIONS[0], tools=(FILES[4],))], grants)[0])
    said = [("once", "Claude Code", "src/main.py"), ("refused", "Cursor", "/etc/passwd"), ("late", "Zed", "notes.txt")]
    rows = [
        ActivityRow(ActivityEntry(at, "approval", time.time() - at * 5000, word, client=client, touched=touched), 1, at, 0.0)
        for at, (word, client, touched) in enumerate(said)
    ]
    await until(lambda: not len(shot.desk.tasks))
    shot.desk.window.sheet.panel.show_answers(rows)
    return shot


SCENES = (
    permissions,
    permissions_server,
    permissions_small,
    permissions_unlisted,
    permissions_100,
    permissions_none,
    permission_of_tool,
)
