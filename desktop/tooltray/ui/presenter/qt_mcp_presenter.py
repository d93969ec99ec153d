"""QtMcpPresenter: the engine's McpPresenter for the GUI thread."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Property, QObject, Signal

from tooltray.events import (
    ApprovalAsked,
    ApprovalEnded,
    ClientListUpdated,
    ConfigChanged,
    ElicitationAsked,
    ElicitationEnded,
    FeedbackAsked,
    FeedbackEnded,
    GrantsChanged,
    NpmRegistryChanged,
    ProblemReported,
    ServerChanged,
    ServerFilesChanged,
    ServerRemoved,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    SessionListChanged,
    SessionsChanged,
    ToolCallResult,
)
from tooltray.snapshots import (
    ApprovalSnapshot,
    ClientModeSnapshot,
    ClientTokenSnapshot,
    FeedbackAttachment,
    FeedbackEntry,
    FeedbackSnapshot,
    GrantSnapshot,
    HttpStatus,
    HubSnapshot,
    McpClientSnapshot,
    MCPToolCall,
    MCPToolResponse,
    NpmRegistryStatus,
    ProfileSnapshot,
    RecentCall,
    RegistryMeasurement,
    ReloadChange,
    ServerEntry,
    ServerFileSnapshot,
    SessionSnapshot,
    SettingsDocument,
    SetupChange,
    SignInSnapshot,
    ToolChange,
    ToolCosts,
    ToolSnapshot,
    TrustedEntry,
    TrustRequest,
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
    npm_registry_changed = Signal(object)  # NpmRegistryStatus
    elicitation_asked = Signal(object)  # ElicitationSnapshot
    elicitation_ended = Signal(str)
    session_list_changed = Signal()
    approval_asked = Signal(object)  # ApprovalSnapshot
    approval_ended = Signal(str)
    grants_changed = Signal()
    feedback_asked = Signal(object)  # FeedbackSnapshot
    feedback_ended = Signal(str)
    server_files_changed = Signal()

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
            case NpmRegistryChanged(status=status):
                self.npm_registry_changed.emit(status)
            case ElicitationAsked(question=question):
                self.elicitation_asked.emit(question)
            case ElicitationEnded(id=id):
                self.elicitation_ended.emit(id)
            case SessionListChanged():
                self.session_list_changed.emit()
            case ApprovalAsked(request=approval):
                self.approval_asked.emit(approval)
            case ApprovalEnded(id=id):
                self.approval_ended.emit(id)
            case GrantsChanged():
                self.grants_changed.emit()
            case FeedbackAsked(request=feedback):
                self.feedback_asked.emit(feedback)
            case FeedbackEnded(id=id):
                self.feedback_ended.emit(id)
            case ServerFilesChanged():
                self.server_files_changed.emit()

    # the verbs

    async def get_snapshot(self) -> HubSnapshot:
        return await self._link.run(lambda engine: engine.get_snapshot())

    async def get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_mcp_servers())

    async def get_server_entry(self, name: str) -> ServerEntry:
        return await self._link.run(lambda engine: engine.get_server_entry(name))

    async def add_mcp_server(self, name: str, config: Mapping[str, Any], is_default: bool = True, project: str = "") -> str:
        return await self._link.run(lambda engine: engine.add_mcp_server(name, config, is_default, project))

    async def update_mcp_server(self, name: str, config: Mapping[str, Any], revision: str = "") -> None:
        await self._link.run(lambda engine: engine.update_mcp_server(name, config, revision))

    async def remove_mcp_server(self, name: str, revision: str = "") -> None:
        await self._link.run(lambda engine: engine.remove_mcp_server(name, revision))

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

    async def call_tool(self, name: str, arguments: Mapping[str, Any], project: str | None = None) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.call_tool(name, arguments, project))

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

    async def initialize(self) -> None:
        await self._link.run(lambda engine: engine.initialize())

    async def is_server_running(self, name: str) -> bool:
        return await self._link.run(lambda engine: engine.is_server_running(name))

    async def get_mcp_clients(self) -> list[McpClientSnapshot]:
        return await self._link.run(lambda engine: engine.get_mcp_clients())

    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        return await self._link.run(lambda engine: engine.run_tool_call(call))

    async def get_all_prompts(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_prompts(server))

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.get_prompt(name, arguments))

    async def get_all_resources(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_resources(server))

    async def get_all_resource_templates(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_resource_templates(server))

    async def read_resource(self, uri: str) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.read_resource(uri))

    async def mcp_tools_to_openai_tools(self, server: str | None = None, api: str = "chat") -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.mcp_tools_to_openai_tools(server, api))

    async def openai_tools_to_mcp_tool(self, call: Mapping[str, Any]) -> MCPToolCall:
        return await self._link.run(lambda engine: engine.openai_tools_to_mcp_tool(call))

    async def mcp_tools_to_anthropic_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.mcp_tools_to_anthropic_tools(server))

    async def anthropic_tool_use_to_mcp_tool(self, tool_use: Mapping[str, Any]) -> MCPToolCall:
        return await self._link.run(lambda engine: engine.anthropic_tool_use_to_mcp_tool(tool_use))

    async def mcp_tools_to_gemini_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.mcp_tools_to_gemini_tools(server))

    async def gemini_function_call_to_mcp_tool(self, function_call: Mapping[str, Any]) -> MCPToolCall:
        return await self._link.run(lambda engine: engine.gemini_function_call_to_mcp_tool(function_call))

    async def mcp_response_to_openai(self, response: MCPToolResponse, api: str = "chat") -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.mcp_response_to_openai(response, api))

    async def mcp_response_to_anthropic(self, response: MCPToolResponse) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.mcp_response_to_anthropic(response))

    async def mcp_response_to_gemini(self, response: MCPToolResponse) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.mcp_response_to_gemini(response))

    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.get_npm_registry_status())

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.refresh_npm_registry())

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        return await self._link.run(lambda engine: engine.test_npm_registry(url))

    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.set_custom_npm_registry(url))

    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.set_auto_detect_npm_registry(enabled))

    async def clear_npm_registry_cache(self) -> None:
        await self._link.run(lambda engine: engine.clear_npm_registry_cache())

    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        return await self._link.run(lambda engine: engine.apply_remedy(server, kind, value))

    async def begin_sign_in(self, name: str) -> SignInSnapshot:
        return await self._link.run(lambda engine: engine.begin_sign_in(name))

    async def finish_sign_in(self, name: str, callback_url: str | None = None) -> None:
        await self._link.run(lambda engine: engine.finish_sign_in(name, callback_url))

    async def cancel_sign_in(self, name: str) -> None:
        await self._link.run(lambda engine: engine.cancel_sign_in(name))

    async def sign_out(self, name: str) -> None:
        await self._link.run(lambda engine: engine.sign_out(name))

    async def export_setup(self) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.export_setup())

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.preview_import(setup, replace))

    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.import_setup(setup, replace))

    async def preview_reset(self) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.preview_reset())

    async def reset_to_default_servers(self) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.reset_to_default_servers())

    async def get_sessions(self) -> list[SessionSnapshot]:
        return await self._link.run(lambda engine: engine.get_sessions())

    async def get_client_modes(self) -> list[ClientModeSnapshot]:
        return await self._link.run(lambda engine: engine.get_client_modes())

    async def set_client_mode(self, client: str, mode: str = "") -> None:
        await self._link.run(lambda engine: engine.set_client_mode(client, mode))

    async def set_client_profile(self, client: str, profile: str = "") -> None:
        await self._link.run(lambda engine: engine.set_client_profile(client, profile))

    async def set_client_auto_approve(self, client: str, rules: list[str] | None = None) -> None:
        await self._link.run(lambda engine: engine.set_client_auto_approve(client, rules))

    async def get_profiles(self) -> list[ProfileSnapshot]:
        return await self._link.run(lambda engine: engine.get_profiles())

    async def set_profile(self, name: str, profile: Mapping[str, Any]) -> None:
        await self._link.run(lambda engine: engine.set_profile(name, profile))

    async def remove_profile(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_profile(name))

    async def set_lazy_load(self, enabled: bool | None = None, server: str | None = None) -> None:
        await self._link.run(lambda engine: engine.set_lazy_load(enabled, server))

    async def set_tool_override(self, server: str, tool: str, name: str | None = None, description: str | None = None) -> None:
        await self._link.run(lambda engine: engine.set_tool_override(server, tool, name, description))

    async def get_tool_costs(self, client: str | None = None, session: str | None = None) -> ToolCosts:
        return await self._link.run(lambda engine: engine.get_tool_costs(client, session))

    async def get_allowed_folders(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_allowed_folders())

    async def allow_folder(self, path: str) -> str:
        return await self._link.run(lambda engine: engine.allow_folder(path))

    async def disallow_folder(self, path: str) -> None:
        await self._link.run(lambda engine: engine.disallow_folder(path))

    async def start_for_project(self, server: str, path: str) -> None:
        await self._link.run(lambda engine: engine.start_for_project(server, path))

    async def start_without_project(self, server: str) -> None:
        await self._link.run(lambda engine: engine.start_without_project(server))

    async def set_session_project(self, session: str, path: str) -> None:
        await self._link.run(lambda engine: engine.set_session_project(session, path))

    async def reset_deferred_state(self) -> None:
        await self._link.run(lambda engine: engine.reset_deferred_state())

    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None = None) -> None:
        await self._link.run(lambda engine: engine.set_deferred(server, deferred, template))

    async def get_approvals(self) -> list[ApprovalSnapshot]:
        return await self._link.run(lambda engine: engine.get_approvals())

    async def answer_approval(self, id: str, answer: str) -> None:
        await self._link.run(lambda engine: engine.answer_approval(id, answer))

    async def get_grants(self) -> list[GrantSnapshot]:
        return await self._link.run(lambda engine: engine.get_grants())

    async def preview_grant(self, server: str, kind: str = "tool", tool: str = "", client: str = "") -> list[ToolSnapshot]:
        return await self._link.run(lambda engine: engine.preview_grant(server, kind, tool, client))

    async def add_grant(
        self, server: str, kind: str = "tool", tool: str = "", client: str = "", expires_in_s: float | None = None
    ) -> GrantSnapshot:
        return await self._link.run(lambda engine: engine.add_grant(server, kind, tool, client, expires_in_s))

    async def remove_grant(self, id: str) -> None:
        await self._link.run(lambda engine: engine.remove_grant(id))

    async def set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        await self._link.run(lambda engine: engine.set_server_auto_approve(server, rules))

    async def get_tool_changes(self) -> list[ToolChange]:
        return await self._link.run(lambda engine: engine.get_tool_changes())

    async def accept_tool_change(self, server: str, tool: str) -> None:
        await self._link.run(lambda engine: engine.accept_tool_change(server, tool))

    async def get_feedback_requests(self) -> list[FeedbackSnapshot]:
        return await self._link.run(lambda engine: engine.get_feedback_requests())

    async def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        await self._link.run(lambda engine: engine.answer_feedback(id, text, attachments))

    async def dismiss_feedback(self, id: str) -> None:
        await self._link.run(lambda engine: engine.dismiss_feedback(id))

    async def get_feedback_history(self, project_path: str = "", limit: int = 50) -> list[FeedbackEntry]:
        return await self._link.run(lambda engine: engine.get_feedback_history(project_path, limit))

    async def get_ready_answers(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_ready_answers())

    async def set_ready_answers(self, answers: list[str]) -> None:
        await self._link.run(lambda engine: engine.set_ready_answers(answers))

    async def get_server_files(self) -> list[ServerFileSnapshot]:
        return await self._link.run(lambda engine: engine.get_server_files())

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        return await self._link.run(lambda engine: engine.get_trust_requests(project))

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        return await self._link.run(lambda engine: engine.trust_entries(project, entries))

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        await self._link.run(lambda engine: engine.distrust_entries(project, entry))

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        return await self._link.run(lambda engine: engine.get_trusted_entries())

    async def preview_reload(self) -> list[ReloadChange]:
        return await self._link.run(lambda engine: engine.preview_reload())

    async def reload(self) -> list[ReloadChange]:
        return await self._link.run(lambda engine: engine.reload())

    async def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        return await self._link.run(lambda engine: engine.set_api_enabled(enabled, trusted))

    async def get_api_token(self) -> str:
        return await self._link.run(lambda engine: engine.get_api_token())

    async def rotate_api_token(self) -> str:
        return await self._link.run(lambda engine: engine.rotate_api_token())

    async def get_settings(self) -> SettingsDocument:
        return await self._link.run(lambda engine: engine.get_settings())

    async def change_settings(self, changes: Mapping[str, Any], revision: str = "") -> SettingsDocument:
        return await self._link.run(lambda engine: engine.change_settings(changes, revision))

    async def get_recent_calls(self, limit: int = 200) -> list[RecentCall]:
        return await self._link.run(lambda engine: engine.get_recent_calls(limit))


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
