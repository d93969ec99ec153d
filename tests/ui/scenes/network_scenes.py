"""Scenes of the Network tab: HTTP access with its tokens, programs, registries."""

import time

from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QScrollArea, QWidget
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot
from tests.ui.seen import control

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.ui.i18n import tr
from tooltray.ui.settings.network_tab import NetworkTab
from tooltray.ui.settings.registries import AddRegistrySheet
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
OPEN = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
LONG_ADDRESS = "https://packages.corp.example/artifactory/api/npm/the-virtual-repository-of-all-teams/"
SMALL = (900, 600)


async def opened(
    theme: Theme, status: NpmRegistryStatus = REGISTRIES, http: HttpStatus = OPEN, size: tuple[int, int] | None = None
) -> tuple[Shot, NetworkTab]:
    result = await desk(theme)
    result.engine.registry = status
    result.engine.http = http
    result.engine.client_names = {"cursor", "n8n"}
    result.engine.registry_status = RegistryStatus(12_345, time.time() - 3000)
    tab = result.open_network()
    await until(lambda: tab.registries.status is status and tab.http.status is http and not len(result.tasks))
    return Shot(result, size=size), tab


def scrolled_to(tab: NetworkTab, part: QWidget) -> None:
    area = tab.findChild(QScrollArea)
    QTimer.singleShot(20, area, lambda: area.verticalScrollBar().setValue(part.y() - 20))


async def network(theme: Theme) -> Shot:
    return (await opened(theme))[0]


async def network_small(theme: Theme) -> Shot:
    return (await opened(theme, replace(REGISTRIES, custom_url=LONG_ADDRESS), size=SMALL))[0]


async def network_registries(theme: Theme) -> Shot:
    shot, tab = await opened(theme, replace(REGISTRIES, custom_url=LONG_ADDRESS))
    scrolled_to(tab, tab.registries)
    return shot


async def network_empty(theme: Theme) -> Shot:
    return (await opened(theme, NpmRegistryStatus(is_measuring=True), HttpStatus()))[0]


async def add_registry(theme: Theme) -> Shot:
    shot, tab = await opened(theme)
    control(tab, tr("Add registry")).click()
    panel = shot.desk.window.context.sheets.panel
    assert isinstance(panel, AddRegistrySheet)
    panel.show_problem(Problem("This is no npm registry", "it answered with an HTML page", "Correct the address"))
    return shot


async def network_programs(theme: Theme, trusted: bool = True, size: tuple[int, int] | None = None) -> Shot:
    http = replace(OPEN, is_api_enabled=True, api_url="http://127.0.0.1:7717/api/mcp", is_api_trusted=trusted)
    shot, tab = await opened(theme, http=http, size=size)
    if not trusted:
        tab.api.show_token("tooltray_api_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
    scrolled_to(tab, tab.api)
    return shot


async def network_programs_small(theme: Theme) -> Shot:
    return await network_programs(theme, False, SMALL)


async def new_token(theme: Theme) -> Shot:
    shot = await network_programs(theme)
    control(shot.desk.open_network(), tr("Make another…")).click()
    await until(lambda: shot.desk.window.sheet is not None)
    return shot


SCENES = (
    network,
    network_small,
    network_registries,
    network_empty,
    add_registry,
    network_programs,
    network_programs_small,
    new_token,
)
