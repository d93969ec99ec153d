"""QtMcpPresenter: the engine's McpPresenter for the GUI thread."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Property, QObject, Signal

from tooltray.events import (
    ClientListUpdated,
    ClientTokenSnapshot,
    ConfigChanged,
    ElicitationAsked,
    ElicitationEnded,
    HttpStatus,
    HubSnapshot,
    ProblemReported,
    ServerChanged,
    ServerRemoved,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    SessionsChanged,
    ToolCallResult,
    ToolSnapshot,
)
from tooltray.ui.presenter.link import EngineLink


class QtMcpPresenter(QObject):
    """The hub's last snapshot, its events as signals, and the engine's verbs under their own names.

    The verbs are awaited in the GUI thread and raise TooltrayError as the engine's do.
    """

    snapshot_changed = Signal()
    server_started = Signal(str)
    server_stopped = Signal(str)
    tool_call_result = Signal(object)  # MCPToolResponse
    config_changed = Signal(object)  # ConfigChanged
    server_status_changed = Signal(object)  # ServerStatusChanged
    client_list_updated = Signal()
    problem_reported = Signal(object)  # ProblemReported
    elicitation_asked = Signal(object)  # ElicitationSnapshot
    elicitation_ended = Signal(str)

    def __init__(self, link: EngineLink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._snapshot: HubSnapshot | None = None
        link.news_arrived.connect(self._on_news)

    def _get_snapshot(self) -> HubSnapshot | None:
        return self._snapshot

    snapshot: HubSnapshot | None = Property(object, _get_snapshot, notify=snapshot_changed)  # type: ignore[assignment]
    """The hub as it was last told of; None until then."""

    def forget(self) -> None:
        """The engine is gone; what is known of it says nothing any more."""
        if self._snapshot is not None:
            self._snapshot = None
            self.snapshot_changed.emit()

    def _on_news(self, news: tuple[object, ...]) -> None:
        before = self._snapshot
        for item in news:
            self._snapshot = applied(self._snapshot, item)
        if self._snapshot != before:
            self.snapshot_changed.emit()
        for item in news:
            self._tell(item)

    def _tell(self, item: object) -> None:
        match item:
            case ToolCallResult(response=response):
                self.tool_call_result.emit(response)
            case ServerStarted(server_name=name):
                self.server_started.emit(name)
            case ServerStopped(server_name=name):
                self.server_stopped.emit(name)
            case ConfigChanged():
                self.config_changed.emit(item)
            case ServerStatusChanged():
                self.server_status_changed.emit(item)
            case ClientListUpdated():
                self.client_list_updated.emit()
            case ProblemReported():
                self.problem_reported.emit(item)
            case ElicitationAsked(question=question):
                self.elicitation_asked.emit(question)
            case ElicitationEnded(id=id):
                self.elicitation_ended.emit(id)

    # the verbs

    async def get_snapshot(self) -> HubSnapshot:
        return await self._link.run(lambda engine: engine.get_snapshot())

    async def get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_mcp_servers())

    async def add_mcp_server(self, name: str, config: Mapping[str, Any], is_default: bool = True) -> None:
        await self._link.run(lambda engine: engine.add_mcp_server(name, config, is_default))

    async def update_mcp_server(self, name: str, config: Mapping[str, Any]) -> None:
        await self._link.run(lambda engine: engine.update_mcp_server(name, config))

    async def remove_mcp_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_mcp_server(name))

    async def start_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.start_server(name))

    async def stop_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.stop_server(name))

    async def restart_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.restart_server(name))

    async def get_server_log(self, name: str, lines: int = 200) -> list[str]:
        return await self._link.run(lambda engine: engine.get_server_log(name, lines))

    async def get_mcp_default_servers(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_mcp_default_servers())

    async def add_mcp_default_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.add_mcp_default_server(name))

    async def remove_mcp_default_server(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_mcp_default_server(name))

    async def toggle_mcp_default_server(self, name: str) -> bool:
        return await self._link.run(lambda engine: engine.toggle_mcp_default_server(name))

    async def get_mcp_enabled(self) -> bool:
        return await self._link.run(lambda engine: engine.get_mcp_enabled())

    async def set_mcp_enabled(self, enabled: bool) -> None:
        await self._link.run(lambda engine: engine.set_mcp_enabled(enabled))

    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_tool_definitions(server))

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        return await self._link.run(lambda engine: engine.get_tools(server))

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        await self._link.run(lambda engine: engine.set_tool_enabled(server, tool, enabled))

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.call_tool(name, arguments))

    async def get_secret_names(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_secret_names())

    async def set_secret(self, name: str, value: str) -> None:
        await self._link.run(lambda engine: engine.set_secret(name, value))

    async def remove_secret(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_secret(name))

    async def check_secrets(self) -> str:
        return await self._link.run(lambda engine: engine.check_secrets())

    async def unlock_secrets(self, passphrase: str) -> None:
        await self._link.run(lambda engine: engine.unlock_secrets(passphrase))

    async def set_secret_backend(self, kind: str) -> None:
        await self._link.run(lambda engine: engine.set_secret_backend(kind))

    async def diagnose(self, server: str | None = None) -> list[Any]:
        return list(await self._link.run(lambda engine: engine.diagnose(server)))

    async def reset_tool_names(self) -> None:
        await self._link.run(lambda engine: engine.reset_tool_names())

    async def answer_elicitation(self, id: str, action: str, content: dict[str, Any] | None = None) -> None:
        await self._link.run(lambda engine: engine.answer_elicitation(id, action, content))

    async def get_http_status(self) -> HttpStatus:
        return await self._link.run(lambda engine: engine.get_http_status())

    async def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        return await self._link.run(lambda engine: engine.set_http_enabled(enabled, port))

    async def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return await self._link.run(lambda engine: engine.list_client_tokens())

    async def create_client_token(self, name: str) -> str:
        return await self._link.run(lambda engine: engine.create_client_token(name))

    async def remove_client_token(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_client_token(name))


def applied(snapshot: HubSnapshot | None, news: object) -> HubSnapshot | None:
    """Returns a hub's snapshot after a piece of news; a server that is not in it comes last."""
    if isinstance(news, HubSnapshot):
        return news
    if snapshot is None:
        return None
    match news:
        case ServerChanged(server=changed):
            servers = tuple(changed if server.name == changed.name else server for server in snapshot.servers)
            return replace(snapshot, servers=servers if changed in servers else (*servers, changed))
        case ServerRemoved(name=name):
            return replace(snapshot, servers=tuple(server for server in snapshot.servers if server.name != name))
        case SessionsChanged(session_count=count):
            return replace(snapshot, session_count=count)
        case ConfigChanged(mcp_enabled=is_enabled):
            return replace(snapshot, is_paused=not is_enabled)
        case _:
            return snapshot
