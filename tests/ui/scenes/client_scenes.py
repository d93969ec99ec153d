"""Scenes of what AI clients see: sessions, kinds of clients, profiles."""

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtWidgets import QScrollArea
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.project_scenes import COSTS, PROJECTS
from tests.ui.scenes.shot import Shot
from tests.ui.scenes.shown_files import SHOP

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.ui.clients.clients_page import PROFILES
from tooltray.ui.theme import Theme

COSTLY = Phrase("{count} tools cost about {cost} tokens, more than {most}", count=63, cost=36650, most=5000)
MODES = {
    "everything": Phrase("no tools are hidden by settings"),
    "lazy": Phrase("{why}; it lists again when tools change", why=COSTLY),
    "search": Phrase("{client} shows at most {most} tools, there are {count}", client="Cursor", most=40, count=63),
    "settings": Phrase("tools load when used, as set for: {names}", names="playwright, serena"),
}
SESSIONS = [
    SessionSnapshot("1", "claude-code", "2.4.1", "", "", "lazy", MODES["lazy"], SessionProject(SHOP, "shop", "folder"), ("serena",)),
    SessionSnapshot("2", "cursor-vscode", "2.9", "", "coding", "search", MODES["search"]),
    SessionSnapshot("3", "codex-mcp-client", "0.61", "filesystem", "", "everything", MODES["everything"], is_connected=False),
]
KINDS = [
    ClientModeSnapshot("", "", "", "lazy", MODES["settings"]),
    ClientModeSnapshot("claude-code", "Claude Code", "lazy", "lazy", MODES["lazy"], is_seen=True),
    ClientModeSnapshot("cursor-vscode", "Cursor", "automatic", "search", MODES["search"], "coding", True),
    ClientModeSnapshot("codex-mcp-client", "Codex", "", "everything", MODES["everything"], is_seen=True, auto_approve=("read_*",)),
    ClientModeSnapshot("gemini-cli-mcp-client", "Gemini CLI", "", "everything", MODES["everything"]),
]
PROFILE_ROWS = [
    ProfileSnapshot("coding", ("filesystem", "serena", "gone"), {"filesystem": ("read_text_file", "edit_file")}, "Files and symbols", 31),
    ProfileSnapshot("browsing", ("playwright",), {}, "Only the browser", 22),
    ProfileSnapshot("everything-but-writing", None, {"filesystem": ("read_text_file",)}, "", 91),
]


async def clients(theme: Theme, size: tuple[int, int] | None = None, sessions: Sequence[SessionSnapshot] = SESSIONS) -> Shot:
    result = await desk(theme, PROJECTS)
    result.engine.sessions, result.engine.client_modes, result.engine.profiles = list(sessions), KINDS, PROFILE_ROWS
    result.engine.costs = COSTS
    result.window.open_page("clients")
    page = result.clients
    await until(lambda: page.kinds.rows and len(page.sessions.rows) == len(sessions))
    return Shot(result, size=size)


async def clients_session(theme: Theme) -> Shot:
    shot = await clients(theme)
    shot.desk.clients.sessions.row_chosen.emit(SESSIONS[0])
    return shot


async def clients_small(theme: Theme) -> Shot:
    return await clients(theme, (900, 600), [replace(SESSIONS[index % 3], id=str(index)) for index in range(100)])


async def clients_nobody(theme: Theme) -> Shot:
    return await clients(theme, sessions=())


async def clients_kinds(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await clients(theme, size)
    page = shot.desk.clients
    page.show_tab(1)
    page.kinds.row_chosen.emit(KINDS[2])
    await shot.desk.asked("get_tool_costs", "cursor-vscode")
    return shot


async def clients_kinds_small(theme: Theme) -> Shot:
    return await clients_kinds(theme, (900, 600))


async def clients_rules(theme: Theme) -> Shot:
    shot = await clients(theme)
    page = shot.desk.clients
    page.show_tab(1)
    page.kinds.row_chosen.emit(replace(KINDS[3], auto_approve=("read", "names:get_*")))
    await shot.desk.asked("get_tool_costs", "codex-mcp-client")
    area = page.details.findChild(QScrollArea)
    await until(lambda: area.verticalScrollBar().maximum() > 0)
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    return shot


async def profiles(theme: Theme, rows: Sequence[ProfileSnapshot] = PROFILE_ROWS) -> Shot:
    result = await desk(theme, PROJECTS)
    result.engine.profiles = list(rows)
    result.open_tab(PROFILES)
    await result.asked("get_profiles")
    return Shot(result)


async def profiles_none(theme: Theme) -> Shot:
    return await profiles(theme, ())


async def profile(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await profiles(theme)
    shot.desk.profiles.table.row_chosen.emit(PROFILE_ROWS[0])
    await shot.desk.asked("get_tools", None)
    return Shot(shot.desk, size=size)


async def profile_small(theme: Theme) -> Shot:
    return await profile(theme, (900, 600))


SCENES = (
    clients,
    clients_session,
    clients_small,
    clients_nobody,
    clients_kinds,
    clients_kinds_small,
    clients_rules,
    profiles,
    profiles_none,
    profile,
    profile_small,
)
