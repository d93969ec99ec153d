"""Scenes of the Permissions page: servers and tools, what waits, AI clients, what is trusted, and the sheets."""

import time

from msgspec.structs import replace
from tests.fakes.desk import until
from tests.ui.scenes.approval_scenes import EDIT
from tests.ui.scenes.grant_scenes import GRANTED
from tests.ui.scenes.opened_desk import SERVERS, desk
from tests.ui.scenes.shot import Shot

from tooltray.config.settings.call_rule import read_rule
from tooltray.consent.approvals.permissions import ASKS_WRITING, CHOSEN_ASK, CHOSEN_FREE, REASONS
from tooltray.consent.approvals.rule_words import words as rule_words
from tooltray.foundation.snapshots.approvals import AuditEntry, ServerPermissions, ToolPermission, TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.permissions_page import CLIENTS, DECISIONS, TRUSTED, PermissionsPage
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
DECIDED = (
    AuditEntry(3, time.time() - 60, "Allowing tool calls", "no", "window", origin="bash (4242), claude (3071)", about={"server": "git"}),
    AuditEntry(2, time.time() - 900, "Allowing a project's servers", "yes", "window", about={"project": "/home/me/projects/shop"}),
    AuditEntry(1, time.time() - 90_000, "Allowing a folder", "yes", "passphrase", about={"folder": "/home/me/projects"}),
)
FOLDERS = ["/home/me/projects", "/srv/data/的/專案"]
TRUSTS = [
    TrustedEntry("/home/me/projects/shop", "database", "database", time.time() - 90_000),
    TrustedEntry("/home/me/projects/shop", "browser", "browser-shop", time.time() - 900, is_own=True),
]
REQUESTS = [
    TrustRequest("/home/me/projects/proj2", "/home/me/projects/proj2/.mcp.json", name, "d", False, "stdio", f"npx {name}")
    for name in ("tests", "deploy")
]


async def opened(theme: Theme, waits: bool = False, size: tuple[int, int] | None = None) -> tuple[Shot, PermissionsPage]:
    result = await desk(theme)
    engine = result.engine
    engine.permissions, engine.grants, engine.client_modes = PERMISSIONS, list(GRANTED), MODES
    engine.allowed_folders, engine.trusted = list(FOLDERS), list(TRUSTS)
    if waits:
        engine.approvals, engine.trust_requests = [replace(EDIT, ends_at=time.time() + 93)], list(REQUESTS)
    result.window.open_page("permissions")
    page = result.permissions
    await until(lambda: not len(result.tasks))
    return Shot(result, size=size), page


async def permissions(theme: Theme) -> Shot:
    return (await opened(theme))[0]


async def permissions_waiting(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot, page = await opened(theme, waits=True, size=size)
    await until(lambda: page.waiting.count == 3)
    return shot


async def permissions_waiting_small(theme: Theme) -> Shot:
    return await permissions_waiting(theme, (900, 600))


async def permissions_none(theme: Theme) -> Shot:
    result = await desk(theme, SERVERS[:0])
    result.window.open_page("permissions")
    await until(lambda: not len(result.tasks))
    return Shot(result)


async def permissions_clients(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    page.show_tab(CLIENTS)
    return shot


async def permissions_trusted(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    page.show_tab(TRUSTED)
    return shot


async def permissions_decisions(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    shot.desk.engine.decisions = list(DECIDED)  # type: ignore[union-attr]
    page.look_again()
    await until(lambda: bool(page.decisions.table.rows))
    page.show_tab(DECISIONS)
    return shot


async def permission_call(theme: Theme) -> Shot:
    shot, page = await opened(theme, waits=True)
    await until(lambda: page.waiting.count == 3)
    page.waiting.open_call(page.waiting.calls[0])
    return shot


SCENES = (
    permissions,
    permissions_waiting,
    permissions_waiting_small,
    permissions_none,
    permissions_clients,
    permissions_trusted,
    permissions_decisions,
    permission_call,
)
