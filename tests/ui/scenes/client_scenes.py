"""Scenes of AI clients: the list, the pane of one, and profiles."""

import time
from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QScrollArea
from tests.fakes.desk import until
from tests.fakes.found_clients import CHANGES, SCAN, many_clients
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.project_scenes import COSTS, PROJECTS
from tests.ui.scenes.shot import Shot
from tests.ui.scenes.shown_files import SHOP
from tests.ui.seen import control

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.ui.clients.client_table import NEW, OtherClients
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenClient, Profiles
from tooltray.ui.theme import Theme

COSTLY = Phrase("{count} tools cost about {cost} tokens, more than {most}", count=63, cost="36,650", most="5,000")
SMALL = (900, 600)
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


NOT_INSTALLED = tuple(AiClient(f"other-{number}", f"Other {number}", is_installed=False) for number in range(43))
NEW_LIST = [replace(SESSIONS[0], connected_at=time.time() - 3000), SESSIONS[1], SESSIONS[2]]


async def clients(theme: Theme, size: tuple[int, int] | None = None, scan: ClientScan = SCAN) -> Shot:
    result = await desk(theme, PROJECTS)
    result.engine.sessions, result.engine.client_modes, result.engine.profiles = list(NEW_LIST), KINDS, PROFILE_ROWS
    result.engine.costs, result.engine.client_scan, result.engine.client_changes = COSTS, scan, list(CHANGES)
    result.window.open_page("clients")
    await until(lambda: result.window.context.scans.scan is not None and not len(result.tasks))
    return Shot(result, size=size)


async def opened(theme: Theme, client: str, size: tuple[int, int] | None = None) -> Shot:
    shot = await clients(theme, size)
    shot.desk.window.go(OpenClient(client))
    return shot


async def clients_small(theme: Theme) -> Shot:
    return await clients(theme, SMALL)


async def clients_many(theme: Theme) -> Shot:
    return await clients(theme, SMALL, many_clients(100))


async def clients_none(theme: Theme, scan: ClientScan = ClientScan(NOT_INSTALLED)) -> Shot:  # noqa: B008 (frozen)
    result = await desk(theme, PROJECTS)
    result.engine.client_scan = scan
    result.window.open_page("clients")
    await until(lambda: result.window.context.scans.scan is not None and not len(result.tasks))
    return Shot(result)


async def clients_one(theme: Theme) -> Shot:
    first = AiClient("zed", "Zed", is_installed=True, can_connect=True)
    return await clients_none(theme, ClientScan((first, *NOT_INSTALLED)))


async def clients_unfolded(theme: Theme) -> Shot:
    shot = await clients(theme)
    table = shot.desk.clients.table
    table.row_chosen.emit(next(row for row in table.rows if isinstance(row, OtherClients)))
    return shot


async def clients_pane(theme: Theme) -> Shot:
    return await opened(theme, "claude-code")


async def clients_pane_small(theme: Theme) -> Shot:
    return await opened(theme, "claude-code", SMALL)


async def clients_rules(theme: Theme) -> Shot:
    """The lower part of a pane: rules of its own, and its files."""
    shot = await opened(theme, "codex-mcp-client")
    area = shot.desk.clients.pane.findChild(QScrollArea)
    await until(lambda: area.verticalScrollBar().maximum() > 0)
    area.verticalScrollBar().setValue(250)
    return shot


async def clients_no_entry(theme: Theme) -> Shot:
    return await opened(theme, "lm-studio")


async def clients_profiles(theme: Theme) -> Shot:
    """The menu of profiles of a row."""
    shot = await clients(theme)
    table = shot.desk.clients.table
    table.selectRow(1)
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    return Shot(shot.desk, widget=table.findChild(QMenu))


async def clients_defaults(theme: Theme) -> Shot:
    shot = await clients(theme)
    control(shot.desk.clients, tr("Defaults…")).click()
    await until(lambda: not len(shot.desk.tasks))
    return shot


async def profiles(theme: Theme, rows: Sequence[ProfileSnapshot] = PROFILE_ROWS) -> Shot:
    shot = await clients(theme)
    shot.desk.engine.profiles = list(rows)
    shot.desk.window.go(Profiles())
    await until(lambda: not len(shot.desk.tasks))
    return shot


async def profiles_none(theme: Theme) -> Shot:
    return await profiles(theme, ())


async def profile(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await clients(theme, size)
    shot.desk.clients.edit_profile("coding")
    await until(lambda: not len(shot.desk.tasks))
    return shot


async def profile_small(theme: Theme) -> Shot:
    return await profile(theme, SMALL)


async def profile_new(theme: Theme) -> Shot:
    """A new profile for one client."""
    shot = await clients(theme)
    page = shot.desk.clients
    page.choose_profile(next(row for row in page.table.rows if row.name == "Codex"), NEW)
    await until(lambda: not len(shot.desk.tasks))
    return shot


SCENES = (
    clients,
    clients_small,
    clients_many,
    clients_none,
    clients_one,
    clients_unfolded,
    clients_pane,
    clients_pane_small,
    clients_rules,
    clients_no_entry,
    clients_profiles,
    clients_defaults,
    profiles,
    profiles_none,
    profile,
    profile_small,
    profile_new,
)
