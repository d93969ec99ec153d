"""Scenes of the page of settings: what an import or a reset would change, Tooltray itself."""

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QScrollArea
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.snapshots.setup import SetupChange
from tooltray.ui.settings.settings_commands import SetupPreview
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


async def settings(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme)
    result.window.open_page("settings")
    await until(lambda: not len(result.tasks))
    return Shot(result, size=size)


async def settings_bottom(theme: Theme) -> Shot:
    shot = await settings(theme, (900, 600))
    area = shot.desk.settings.findChild(QScrollArea)
    shot.desk.window.resize(900, 600)
    QTimer.singleShot(20, area, lambda: area.verticalScrollBar().setValue(10_000))
    return shot


async def settings_diagnostics(theme: Theme) -> Shot:
    shot = await settings(theme)
    shot.desk.settings.program_sheets.commands.text_known.emit("Diagnostics", ABOUT, DIAGNOSTICS)
    return shot


async def reset(theme: Theme) -> Shot:
    shot = await settings(theme)
    defaults = [
        SetupChange("add", "default", "memory", "starts with the hub"),
        SetupChange("remove", "default", "fetch", "starts when it is first used"),
    ]
    shot.desk.settings.commands.previewed.emit(SetupPreview(None, False, (*CHANGES[:3], *defaults)))
    return shot


async def import_setup(theme: Theme) -> Shot:
    shot = await settings(theme)
    shot.desk.settings.commands.previewed.emit(SetupPreview({"mcpServers": {}}, False, CHANGES))
    return shot


SCENES = (
    settings,
    settings_bottom,
    settings_diagnostics,
    reset,
    import_setup,
)
