"""Carries out the user's actions on registries and HTTP access, and reports the outcome. Knows no widget."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, Place, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


def at_section(name: str) -> Place:
    """Returns a place for errors: the top of a section of the tab."""

    def show(commands: "NetworkCommands", problem: Problem | None, *_arguments: object) -> None:
        commands.section_failed.emit(name, problem)

    return show


class NetworkCommands(Commands):
    registry_changed = Signal(object)  # NpmRegistryStatus
    http_changed = Signal(object)  # HttpStatus
    servers_changed = Signal(object)  # RegistryStatus of the registry of MCP servers
    address_changed = Signal(object)  # its address: text, True for the official one, or False for none
    section_failed = Signal(str, object)  # "registry", "servers" or "http"; Problem, or None once it is over
    registry_saved = Signal()
    registry_refused = Signal(object)  # Problem

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        hub.npm_registry_changed.connect(self.registry_changed)

    def look(self) -> None:
        """Reads everything that the tab shows."""
        self.look_registry()
        self.look_servers()
        self.look_http()

    @action(at_section("registry"))
    async def look_registry(self) -> None:
        await self._look_registry()

    @action(at_section("servers"), clears=False)
    async def look_servers(self) -> None:
        await self._look_servers()

    @action(at_section("http"))
    async def look_http(self) -> None:
        await self._look_http()

    async def _look_registry(self) -> None:
        self.registry_changed.emit(await self._hub.registries.get_npm_registry_status())

    async def _look_http(self) -> None:
        self.http_changed.emit(await self._hub.access.get_http_status())

    # npm registries

    @action(at_section("registry"))
    async def measure(self) -> None:
        self.registry_changed.emit(await self._hub.registries.refresh_npm_registry())

    @action(at_section("registry"))
    async def set_auto_detect(self, is_on: bool) -> None:
        try:
            await self._hub.registries.set_auto_detect_npm_registry(is_on)
        finally:
            await self._look_registry()  # the switch then stands where it truly is

    @action(at_section("registry"))
    async def use_registry(self, url: str) -> None:
        """Measures a registry and uses it from now on; emits `registry_saved` or `registry_refused`."""
        try:
            status = await self._hub.registries.set_custom_npm_registry(url)
        except TooltrayError as error:
            self.registry_refused.emit(error.problem)
            return
        self.registry_changed.emit(status)
        self.registry_saved.emit()
        self.done.emit(tr("Servers now use this registry"))

    @action(at_section("registry"))
    async def clear_registry(self) -> None:
        self.registry_changed.emit(await self._hub.registries.set_custom_npm_registry(""))

    # the registry of MCP servers

    @action(at_section("servers"), clears=False)
    async def choose_servers(self, address: str | bool) -> None:
        """Changes the registry of servers: an address, True for the official one, False for none."""
        try:
            await self._hub.settings.change_settings({"discovery": {"registry": None if address is True else address}})
        finally:
            await self._look_servers()

    @action(at_section("servers"), clears=False)
    async def refresh_servers(self) -> None:
        """Downloads the registry's changes."""
        self.servers_changed.emit(await self._hub.discovery.refresh_registry())

    async def _look_servers(self) -> None:
        discovery = (await self._hub.settings.get_settings()).settings.get("discovery")
        address = discovery.get("registry") if isinstance(discovery, Mapping) else None
        self.address_changed.emit(address if isinstance(address, str) and address.strip() else address not in (False, ""))
        self.servers_changed.emit((await self._hub.discovery.search_registry("", 0)).status)

    # HTTP

    @action(at_section("http"))
    async def set_http(self, is_on: bool, port: int | None = None) -> None:
        try:
            await self._hub.access.set_http_enabled(is_on, port)
        finally:
            await self._look_http()
