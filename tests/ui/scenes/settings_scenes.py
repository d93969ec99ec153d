"""Scenes of the page of settings: npm registries, what an import or a reset would change, access for programs."""

import time

from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QScrollArea
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.errors import Problem
from tooltray.snapshots.http import HttpStatus
from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.snapshots.setup import SetupChange
from tooltray.ui.settings.settings_commands import SetupPreview
from tooltray.ui.theme import Theme

REGISTRIES = NpmRegistryStatus(
    url="https://mirror-1.example/",
    origin="mirror",
    custom_url="",
    measured_at=time.time() - 7300,
    measurements=(
        RegistryMeasurement("https://mirror-1.example/", "Mirror 1", "mirror", "China", 38),
        RegistryMeasurement("https://mirror-2.example/", "Mirror 2", "mirror", "Europe", 187),
        RegistryMeasurement("https://npm.example/", "npm", "npm", "", 212),
        RegistryMeasurement("https://old.example/", "Mirror 3", "mirror", "Europe", 60, "its packages are older than npm's own"),
        RegistryMeasurement("https://packages.corp.example/npm/", "Company", "settings", "", None, "no answer within 10 s"),
    ),
)
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


async def settings(theme: Theme, status: NpmRegistryStatus | None = None, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme)
    result.engine.registry = REGISTRIES if status is None else status
    result.engine.http = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
    result.window.open_page("settings")
    await until(lambda: result.settings._status is result.engine.registry and result.settings._address)
    return Shot(result, size=size)


async def settings_small(theme: Theme) -> Shot:
    address = "https://packages.corp.example/artifactory/api/npm/the-virtual-repository-of-all-teams/"
    return await settings(theme, replace(REGISTRIES, custom_url=address), (900, 600))


async def settings_bottom(theme: Theme) -> Shot:
    shot = await settings_small(theme)
    area = shot.desk.settings.findChild(QScrollArea)
    shot.desk.window.resize(900, 600)
    QTimer.singleShot(20, area, lambda: area.verticalScrollBar().setValue(10_000))
    return shot


async def settings_diagnostics(theme: Theme) -> Shot:
    shot = await settings(theme)
    shot.desk.settings.program_sheets.commands.text_known.emit("Diagnostics", ABOUT, DIAGNOSTICS)
    return shot


async def settings_empty(theme: Theme) -> Shot:
    return await settings(theme, NpmRegistryStatus(is_measuring=True))


async def add_registry(theme: Theme) -> Shot:
    shot = await settings(theme)
    shot.desk.settings.sheets.open_add_registry()
    shot.desk.settings.commands.registry_refused.emit(
        Problem("This is no npm registry", "it answered with an HTML page", "Correct the address")
    )
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


async def settings_programs(theme: Theme, trusted: bool = True, size: tuple[int, int] | None = None) -> Shot:
    shot = await settings(theme, size=size)
    page = shot.desk.settings
    page.show_http(HttpStatus(True, True, "http://127.0.0.1:7717/mcp", True, None, True, "http://127.0.0.1:7717/api/mcp", trusted))
    if not trusted:
        page.api.show_token("tooltray_api_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
    area = page.findChild(QScrollArea)
    QTimer.singleShot(20, area, lambda: area.ensureWidgetVisible(page.api, 0, 40))
    return shot


async def settings_programs_small(theme: Theme) -> Shot:
    return await settings_programs(theme, False, (900, 600))


async def new_token(theme: Theme) -> Shot:
    shot = await settings_programs(theme)
    shot.desk.settings.api.rotation_requested.emit()
    return shot


SCENES = (
    settings,
    settings_small,
    settings_bottom,
    settings_diagnostics,
    settings_empty,
    add_registry,
    reset,
    import_setup,
    settings_programs,
    settings_programs_small,
    new_token,
)
