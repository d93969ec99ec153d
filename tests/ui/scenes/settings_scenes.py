"""Scenes of the page of settings: general ones, backups and what they would change, Tooltray itself."""

import time

from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QScrollArea
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ReleaseNewsChanged
from tooltray.foundation.snapshots.activity import JournalStatus
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.ui.settings.about_tab import TextSheet
from tooltray.ui.theme import Theme

ABOUT = "This is what you copy. Secrets are masked; look whether you want to share the rest."
DIAGNOSTICS = """\
Tooltray 0.1.0 (deb), Python 3.11.7
Linux-6.1.0-amd64-x86_64-with-glibc2.36, x86_64
desktop: KDE, wayland
AI clients: 2; servers: 2

server git: running, stdio, tools: 12

server search: error, stdio, tools: 0
  problem: the server has ended: exit code 1
  exit code: 1
  stderr: KEY *** is not known
"""
CHANGES = [
    SetupChange("add", "server", "github"),
    SetupChange("replace", "server", "filesystem", "another command"),
    SetupChange("keep", "server", "memory", "yours stays"),
    SetupChange("add", "secret", "GITHUB_TOKEN", "its value is not in the backup"),
]


async def settings(theme: Theme, tab: str = "general", size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme)
    result.engine.settings = {"notifications": {"update": False}, "window": {"theme": theme.mode}}
    result.engine.journal_status = JournalStatus("/home/ann/.tooltray/activity.db", 12_300_000, 48_211, time.time() - 29 * 86_400)
    result.open_settings(tab)
    await until(lambda: not len(result.tasks))
    return Shot(result, size=size)


async def settings_small(theme: Theme) -> Shot:
    return await settings(theme, size=(900, 600))


async def settings_bottom(theme: Theme) -> Shot:
    shot = await settings(theme, size=(900, 600))
    area = shot.desk.settings.tab("general").findChild(QScrollArea)
    shot.desk.window.resize(900, 600)
    QTimer.singleShot(20, area, lambda: area.verticalScrollBar().setValue(10_000))
    return shot


async def settings_refused(theme: Theme) -> Shot:
    shot = await settings(theme, size=(900, 600))
    problem = Problem(
        "The settings cannot be written", "/home/ann/.tooltray/settings.json: read-only file system", "Make the disk writable"
    )
    shot.desk.settings.tab("general").show_problem(problem)
    return shot


async def settings_backup(theme: Theme) -> Shot:
    return await settings(theme, "backup")


async def settings_about(theme: Theme) -> Shot:
    return await settings(theme, "about")


NEWER = ReleaseNews(
    "https://releases.example/releases.json",
    True,
    time.time() - 3600,
    version="1.3.0",
    changes=(
        "The window: profiles are chosen from a client's row, and saved in one step",
        "Servers that are downloaded again show how much is left, <b>and</b> how long it takes; a broken download continues where it ended",
        "Fewer pauses while many clients call at once",
    ),
    update="Install the newer package: sudo apt install ./tooltray_1.3.0_amd64.deb",
    command="sudo apt install ./tooltray_1.3.0_amd64.deb",
    download="https://releases.example/tooltray_1.3.0_amd64.deb",
)
WITHDRAWN = "A restart can lose the rules of servers that were renamed"


async def settings_about_newer(theme: Theme) -> Shot:
    shot = await settings(theme, "about")
    shot.desk.engine.bus.publish(ReleaseNewsChanged(NEWER))
    return shot


async def settings_about_withdrawn(theme: Theme) -> Shot:
    shot = await settings(theme, "about", (900, 600))
    problem = Problem("The list of releases cannot be read", "no whole answer within 30 s")
    shot.desk.engine.bus.publish(ReleaseNewsChanged(replace(NEWER, withdrawn=WITHDRAWN, problem=problem)))
    return shot


async def updates_question(theme: Theme) -> Shot:
    shot = await settings(theme, "about", (900, 600))
    shot.desk.engine.bus.publish(ReleaseNewsChanged(ReleaseNews(NEWER.address)))
    return shot


async def settings_about_small(theme: Theme) -> Shot:
    return await settings(theme, "about", (900, 600))


async def settings_diagnostics(theme: Theme) -> Shot:
    shot = await settings(theme, "about")
    context = shot.desk.window.context
    context.sheets.show(TextSheet(context, "Diagnostics", ABOUT, DIAGNOSTICS))
    return shot


async def reset(theme: Theme) -> Shot:
    shot = await settings(theme, "backup")
    defaults = [
        SetupChange("add", "default", "memory", "starts with Tooltray"),
        SetupChange("remove", "default", "fetch", "starts when used"),
    ]
    shot.desk.backup.show_changes(None, (*CHANGES[:3], *defaults))
    return shot


async def import_setup(theme: Theme) -> Shot:
    shot = await settings(theme, "backup")
    shot.desk.backup.show_changes({"mcpServers": {}}, CHANGES)
    return shot


SCENES = (
    settings,
    settings_small,
    settings_bottom,
    settings_refused,
    settings_backup,
    settings_about,
    settings_about_small,
    settings_about_newer,
    settings_about_withdrawn,
    updates_question,
    settings_diagnostics,
    reset,
    import_setup,
)
