"""FakePresenter's verbs about servers: their entries, their runs, those that start by themselves. Mixed into it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory
from tests.fakes.server_snapshots import server

from tooltray.events import ServerRemoved
from tooltray.snapshots.removals import ServerRemoval
from tooltray.snapshots.servers import McpClientSnapshot, ServerEntry, ServerState


class ServerVerbs(HubInMemory):
    async def get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        self._note("get_mcp_servers")
        return {name: dict(entry) for name, entry in self.entries.items()}

    async def get_server_entry(self, name: str) -> ServerEntry:
        self._note("get_server_entry", name)
        entry = self.entries.get(name, {})
        return ServerEntry(self.names_in_files.get(name, name), dict(entry), {**entry, **self.chosen.get(name, {})})

    async def add_mcp_server(self, name: str, config: Mapping[str, Any], is_default: bool = True, project: str = "") -> str:
        self._note("add_mcp_server", name, dict(config), is_default, *([project] if project else []))
        self.entries[name] = dict(config)
        if is_default:
            self.defaults.append(name)
        self.tell(server(name, ServerState.STARTING if is_default else ServerState.ON_DEMAND, is_default=is_default))
        self._publish_config()
        return name

    async def update_mcp_server(self, name: str, config: Mapping[str, Any], revision: str = "") -> None:
        self._note("update_mcp_server", name, dict(config), *([revision] if revision else []))
        self.entries[name] = dict(config)
        self.tell(replace(self.find(name), is_disabled=bool(config.get("disable"))))
        self._publish_config()

    async def remove_mcp_server(self, name: str, revision: str = "", keep_secrets: bool = False) -> ServerRemoval:
        self._note("remove_mcp_server", name, *([revision] if revision else []))
        removal = self._removal(name)
        del self.entries[name]
        self.defaults = [each for each in self.defaults if each != name]
        self.snapshot = replace(self.snapshot, servers=tuple(each for each in self.snapshot.servers if each.name != name))
        self.bus.publish(ServerRemoved(name))
        self._publish_config()
        if not keep_secrets:
            self.secrets = {secret: value for secret, value in self.secrets.items() if secret not in removal.secrets}
        return removal

    async def start_server(self, name: str) -> None:
        self._note("start_server", name)
        self.set_state(name, ServerState.RUNNING, problem=None)

    async def stop_server(self, name: str) -> None:
        self._note("stop_server", name)
        self.set_state(name, ServerState.STOPPED, problem=None)

    async def restart_server(self, name: str) -> None:
        self._note("restart_server", name)
        self.set_state(name, ServerState.RUNNING, problem=None)

    async def get_server_log(self, name: str, lines: int = 200) -> list[str]:
        self._note("get_server_log", name, lines)
        return self.logs.get(name, [])[-lines:]

    async def get_mcp_default_servers(self) -> list[str]:
        return list(self.defaults)

    async def add_mcp_default_server(self, name: str) -> None:
        self._note("add_mcp_default_server", name)
        self.defaults.append(name)
        self.tell(replace(self.find(name), is_default=True))

    async def remove_mcp_default_server(self, name: str) -> None:
        self._note("remove_mcp_default_server", name)
        self.defaults.remove(name)
        self.tell(replace(self.find(name), is_default=False))

    async def toggle_mcp_default_server(self, name: str) -> bool:
        is_default = name not in self.defaults
        await (self.add_mcp_default_server(name) if is_default else self.remove_mcp_default_server(name))
        return is_default

    async def is_server_running(self, name: str) -> bool:
        self._note("is_server_running", name)
        return self.find(name).state is ServerState.RUNNING

    async def get_mcp_clients(self) -> list[McpClientSnapshot]:
        self._note("get_mcp_clients")
        return []
