"""A presenter without an engine: McpPresenter's verbs over snapshots in memory, and its bus.

Tests set what it knows, look at `calls` to see what was asked of it, and let a verb fail with `failures`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tooltray.errors import TooltrayError
from tooltray.events import (
    ApprovalAsked,
    ApprovalEnded,
    ConfigChanged,
    ElicitationEnded,
    EventBus,
    FeedbackAsked,
    FeedbackEnded,
    ServerChanged,
    ServerFilesChanged,
    ServerRemoved,
    SessionsChanged,
    ToolListChanged,
)
from tooltray.snapshots.approvals import ApprovalSnapshot, GrantSnapshot, ToolChange
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse, RecentCall
from tooltray.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.snapshots.feedback import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot
from tooltray.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.snapshots.http import ClientTokenSnapshot, HttpStatus
from tooltray.snapshots.hub import HubSnapshot
from tooltray.snapshots.questions import SignInSnapshot
from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.snapshots.removals import ServerRemoval
from tooltray.snapshots.servers import McpClientSnapshot, ServerEntry, ServerSnapshot, ServerState
from tooltray.snapshots.setup import SettingsDocument, SetupChange
from tooltray.snapshots.tools import ToolCosts, ToolSnapshot
from tooltray.snapshots.trust import TrustedEntry, TrustRequest

STARTED_AT = 1_700_000_000.0


def server(name: str, state: ServerState = ServerState.RUNNING, **fields: Any) -> ServerSnapshot:
    """A server as the engine would tell of it."""
    return ServerSnapshot(**{"name": name, "transport": "stdio", "target": f"npx -y @example/{name}", "state": state, **fields})


def tool(name: str, of: str, **fields: Any) -> ToolSnapshot:
    known = {"description": f"What {name} does.", "category": "read", "is_enabled": True, "is_approved": True}
    return ToolSnapshot(**{"name": name, "server": of, "original_name": name, **known, **fields})


BUILTIN = server("hub", transport="inmemory", target="", is_builtin=True, tool_count=2)


class FakePresenter:
    """Belongs to one event loop, as the real one does."""

    def __init__(self, servers: Sequence[ServerSnapshot] = (), tools: Sequence[ToolSnapshot] = (), **fields: Any) -> None:
        self.bus = EventBus()
        self.calls: list[tuple[Any, ...]] = []
        self.failures: dict[str, TooltrayError] = {}
        self.entries: dict[str, dict[str, Any]] = {each.name: {"command": "npx"} for each in servers if not each.is_builtin}
        self.names_in_files: dict[str, str] = {}  # of servers of other files that have another one there
        self.chosen: dict[str, dict[str, Any]] = {}  # beside the entries of such servers
        self.defaults: list[str] = [each.name for each in servers if each.is_default]
        self.secrets: dict[str, str] = {}
        self.logs: dict[str, list[str]] = {}
        self.tools = list(tools)
        self.http = HttpStatus()
        self.api_token = "api-token-of-a-fake"
        self.files: list[ServerFileSnapshot] = []
        self.trust_requests: list[TrustRequest] = []
        self.trusted: list[TrustedEntry] = []
        self.reload_changes: list[ReloadChange] = []
        self.registry = NpmRegistryStatus()
        self.setup_changes: list[SetupChange] = []
        self.diagnoses: list[Any] = []
        self.client_names: set[str] = set()
        self.sessions: list[SessionSnapshot] = []
        self.client_modes: list[ClientModeSnapshot] = []
        self.profiles: list[ProfileSnapshot] = []
        self.costs = ToolCosts("", 0, 0, ())
        self.allowed_folders: list[str] = []
        self.approvals: list[ApprovalSnapshot] = []
        self.grants: list[GrantSnapshot] = []
        self.tool_changes: list[ToolChange] = []
        self.feedback: list[FeedbackSnapshot] = []
        self.feedback_history: list[FeedbackEntry] = []
        self.ready_answers: list[str] = []
        known = {"pid": 1, "version": "0", "is_paused": False, "session_count": 0, "started_at": STARTED_AT}
        self.snapshot = HubSnapshot(**{**known, "servers": (*servers, BUILTIN), **fields})

    # what a test does in place of the world

    def tell(self, changed: ServerSnapshot) -> None:
        """A server changed, or is new."""
        names = [each.name for each in self.snapshot.servers]
        others = tuple(changed if each.name == changed.name else each for each in self.snapshot.servers)
        self.snapshot = replace(self.snapshot, servers=others if changed.name in names else (*others, changed))
        self.bus.publish(ServerChanged(changed))

    def set_state(self, name: str, state: ServerState, **fields: Any) -> None:
        self.tell(replace(self.find(name), state=state, **fields))

    def set_sessions(self, count: int) -> None:
        self.snapshot = replace(self.snapshot, session_count=count)
        self.bus.publish(SessionsChanged(count))

    def set_tools(self, tools: Sequence[ToolSnapshot], of: str) -> None:
        self.tools = [each for each in self.tools if each.server != of] + list(tools)
        self.bus.publish(ToolListChanged(of))

    def ask_approval(self, request: ApprovalSnapshot) -> None:
        """A call waits, or what it waits for is another thing now."""
        self.approvals = [*(each for each in self.approvals if each.id != request.id), request]
        self.bus.publish(ApprovalAsked(request))

    def end_approval(self, id: str) -> None:
        self.approvals = [each for each in self.approvals if each.id != id]
        self.bus.publish(ApprovalEnded(id))

    def ask_feedback(self, request: FeedbackSnapshot) -> None:
        """A model reports, or reports again."""
        self.feedback = [*(each for each in self.feedback if each.id != request.id), request]
        self.bus.publish(FeedbackAsked(request))

    def end_feedback(self, id: str) -> None:
        self.feedback = [each for each in self.feedback if each.id != id]
        self.bus.publish(FeedbackEnded(id))

    def find(self, name: str) -> ServerSnapshot:
        return next(each for each in self.snapshot.servers if each.name == name)

    def _note(self, verb: str, *arguments: Any) -> None:
        self.calls.append((verb, *arguments))
        if verb in self.failures:
            raise self.failures[verb]

    def _publish_config(self) -> None:
        self.bus.publish(ConfigChanged(self.entries, tuple(self.defaults), not self.snapshot.is_paused))

    # the verbs

    async def get_snapshot(self) -> HubSnapshot:
        return self.snapshot

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

    def _removal(self, name: str) -> ServerRemoval:
        """What is named after a server is its own; there are no others."""
        return ServerRemoval(name, tuple(secret for secret in self.secrets if secret.startswith(f"{name}/")))

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

    async def get_mcp_enabled(self) -> bool:
        return not self.snapshot.is_paused

    async def set_mcp_enabled(self, enabled: bool) -> None:
        self._note("set_mcp_enabled", enabled)
        self.snapshot = replace(self.snapshot, is_paused=not enabled)
        self._publish_config()

    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        return [{"name": each.name} for each in await self.get_tools(server)]

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        self._note("get_tools", server)
        return [each for each in self.tools if server in (None, each.server)]

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        self._note("set_tool_enabled", server, tool, enabled)
        self.tools = [
            replace(each, is_enabled=enabled) if (each.server, each.original_name) == (server, tool) else each for each in self.tools
        ]
        self.bus.publish(ToolListChanged(server))

    async def call_tool(self, name: str, arguments: Mapping[str, Any], project: str | None = None) -> dict[str, Any]:
        self._note("call_tool", name, dict(arguments))
        return {"content": []}

    async def get_secret_names(self) -> list[str]:
        self._note("get_secret_names")
        return sorted(self.secrets)

    async def set_secret(self, name: str, value: str) -> None:
        self._note("set_secret", name)
        self.secrets[name] = value

    async def remove_secret(self, name: str) -> None:
        self._note("remove_secret", name)
        del self.secrets[name]

    async def preview_removal(self, name: str) -> ServerRemoval:
        self._note("preview_removal", name)
        return self._removal(name)

    async def get_unused_secrets(self) -> list[str]:
        self._note("get_unused_secrets")
        return [secret for secret in sorted(self.secrets) if secret.partition("/")[0] not in self.entries]

    async def remove_unused_secrets(self, names: list[str]) -> list[str]:
        self._note("remove_unused_secrets", names)
        removed = [secret for secret in await self.get_unused_secrets() if secret in names]
        self.secrets = {secret: value for secret, value in self.secrets.items() if secret not in removed}
        return removed

    async def check_secrets(self) -> str:
        self._note("check_secrets")
        return "keyring"

    async def unlock_secrets(self, passphrase: str) -> None:
        self._note("unlock_secrets", passphrase)

    async def set_secret_backend(self, kind: str) -> None:
        self._note("set_secret_backend", kind)

    async def diagnose(self, server: str | None = None) -> list[Any]:
        self._note("diagnose", server)
        return list(self.diagnoses)

    async def reset_tool_names(self) -> None:
        self._note("reset_tool_names")

    async def answer_elicitation(self, id: str, action: str, content: dict[str, Any] | None = None) -> None:
        self._note("answer_elicitation", id, action, content)
        self.bus.publish(ElicitationEnded(id))

    async def get_http_status(self) -> HttpStatus:
        return self.http

    async def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        self._note("set_http_enabled", enabled, port)
        self.http = HttpStatus(enabled, enabled, f"http://127.0.0.1:{port or 7717}/mcp" if enabled else "")
        return self.http

    async def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return [ClientTokenSnapshot(name, STARTED_AT) for name in sorted(self.client_names)]

    async def create_client_token(self, name: str) -> str:
        self._note("create_client_token", name)
        self.client_names.add(name)
        return f"token of {name}"

    async def remove_client_token(self, name: str) -> None:
        self._note("remove_client_token", name)
        self.client_names.remove(name)

    async def initialize(self) -> None:
        self._note("initialize")

    async def is_server_running(self, name: str) -> bool:
        self._note("is_server_running", name)
        return self.find(name).state is ServerState.RUNNING

    async def get_mcp_clients(self) -> list[McpClientSnapshot]:
        self._note("get_mcp_clients")
        return []

    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        self._note("run_tool_call", call)
        return MCPToolResponse(call.name, call.server, "fake", "ok", 0.0, 0, 0, call.id, {"content": []})

    async def get_all_prompts(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("get_all_prompts", server)
        return []

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        self._note("get_prompt", name, arguments)
        return {}

    async def get_all_resources(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("get_all_resources", server)
        return []

    async def get_all_resource_templates(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("get_all_resource_templates", server)
        return []

    async def read_resource(self, uri: str) -> dict[str, Any]:
        self._note("read_resource", uri)
        return {}

    async def mcp_tools_to_openai_tools(self, server: str | None = None, api: str = "chat") -> list[dict[str, Any]]:
        self._note("mcp_tools_to_openai_tools", server, api)
        return []

    async def openai_tools_to_mcp_tool(self, call: Mapping[str, Any]) -> MCPToolCall:
        self._note("openai_tools_to_mcp_tool", call)
        return MCPToolCall("1", "", {})

    async def mcp_tools_to_anthropic_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("mcp_tools_to_anthropic_tools", server)
        return []

    async def anthropic_tool_use_to_mcp_tool(self, tool_use: Mapping[str, Any]) -> MCPToolCall:
        self._note("anthropic_tool_use_to_mcp_tool", tool_use)
        return MCPToolCall("1", "", {})

    async def mcp_tools_to_gemini_tools(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("mcp_tools_to_gemini_tools", server)
        return []

    async def gemini_function_call_to_mcp_tool(self, function_call: Mapping[str, Any]) -> MCPToolCall:
        self._note("gemini_function_call_to_mcp_tool", function_call)
        return MCPToolCall("1", "", {})

    async def mcp_response_to_openai(self, response: MCPToolResponse, api: str = "chat") -> dict[str, Any]:
        self._note("mcp_response_to_openai", response, api)
        return {}

    async def mcp_response_to_anthropic(self, response: MCPToolResponse) -> dict[str, Any]:
        self._note("mcp_response_to_anthropic", response)
        return {}

    async def mcp_response_to_gemini(self, response: MCPToolResponse) -> dict[str, Any]:
        self._note("mcp_response_to_gemini", response)
        return {}

    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        self._note("get_npm_registry_status")
        return self.registry

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        self._note("refresh_npm_registry")
        return self.registry

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        self._note("test_npm_registry", url)
        return RegistryMeasurement(url, url, "custom", milliseconds=10.0)

    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        self._note("set_custom_npm_registry", url)
        return self.registry

    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        self._note("set_auto_detect_npm_registry", enabled)
        return self.registry

    async def clear_npm_registry_cache(self) -> None:
        self._note("clear_npm_registry_cache")

    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        self._note("apply_remedy", server, kind, value)
        return "done"

    async def begin_sign_in(self, name: str) -> SignInSnapshot:
        self._note("begin_sign_in", name)
        return SignInSnapshot(name, f"https://sign.in.example/{name}", STARTED_AT + 600)

    async def finish_sign_in(self, name: str, callback_url: str | None = None) -> None:
        self._note("finish_sign_in", name, callback_url)

    async def cancel_sign_in(self, name: str) -> None:
        self._note("cancel_sign_in", name)

    async def sign_out(self, name: str) -> None:
        self._note("sign_out", name)

    async def export_setup(self) -> dict[str, Any]:
        self._note("export_setup")
        return {}

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        self._note("preview_import", setup, replace)
        return list(self.setup_changes)

    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        self._note("import_setup", setup, replace)
        return list(self.setup_changes)

    async def preview_reset(self) -> list[SetupChange]:
        self._note("preview_reset")
        return list(self.setup_changes)

    async def reset_to_default_servers(self) -> list[SetupChange]:
        self._note("reset_to_default_servers")
        return list(self.setup_changes)

    # what AI clients see, projects, approvals, feedback

    async def get_sessions(self) -> list[SessionSnapshot]:
        self._note("get_sessions")
        return list(self.sessions)

    async def get_client_modes(self) -> list[ClientModeSnapshot]:
        self._note("get_client_modes")
        return list(self.client_modes)

    async def set_client_mode(self, client: str, mode: str = "") -> None:
        self._note("set_client_mode", client, mode)

    async def set_client_profile(self, client: str, profile: str = "") -> None:
        self._note("set_client_profile", client, profile)

    async def set_client_auto_approve(self, client: str, rules: list[str] | None = None) -> None:
        self._note("set_client_auto_approve", client, rules)

    async def get_profiles(self) -> list[ProfileSnapshot]:
        self._note("get_profiles")
        return list(self.profiles)

    async def set_profile(self, name: str, profile: Mapping[str, Any]) -> None:
        self._note("set_profile", name, profile)

    async def remove_profile(self, name: str) -> None:
        self._note("remove_profile", name)

    async def set_lazy_load(self, enabled: bool | None = None, server: str | None = None) -> None:
        self._note("set_lazy_load", enabled, server)

    async def set_tool_override(self, server: str, tool: str, name: str | None = None, description: str | None = None) -> None:
        self._note("set_tool_override", server, tool, name, description)

    async def get_tool_costs(self, client: str | None = None, session: str | None = None) -> ToolCosts:
        self._note("get_tool_costs", client, *([session] if session else []))
        return self.costs

    async def get_allowed_folders(self) -> list[str]:
        self._note("get_allowed_folders")
        return list(self.allowed_folders)

    async def allow_folder(self, path: str) -> str:
        self._note("allow_folder", path)
        return path

    async def disallow_folder(self, path: str) -> None:
        self._note("disallow_folder", path)

    async def start_for_project(self, server: str, path: str) -> None:
        self._note("start_for_project", server, path)

    async def start_without_project(self, server: str) -> None:
        self._note("start_without_project", server)

    async def set_session_project(self, session: str, path: str) -> None:
        self._note("set_session_project", session, path)

    async def reset_deferred_state(self) -> None:
        self._note("reset_deferred_state")

    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None = None) -> None:
        self._note("set_deferred", server, deferred, template)

    async def get_approvals(self) -> list[ApprovalSnapshot]:
        self._note("get_approvals")
        return list(self.approvals)

    async def answer_approval(self, id: str, answer: str) -> None:
        self._note("answer_approval", id, answer)
        self.end_approval(id)

    async def get_grants(self) -> list[GrantSnapshot]:
        self._note("get_grants")
        return list(self.grants)

    async def preview_grant(self, server: str, kind: str = "tool", tool: str = "", client: str = "") -> list[ToolSnapshot]:
        self._note("preview_grant", server, kind, tool, client)
        return [
            each
            for each in self.tools
            if each.server == server and (each.original_name == tool if kind == "tool" else each.category == "read")
        ]

    async def add_grant(
        self, server: str, kind: str = "tool", tool: str = "", client: str = "", expires_in_s: float | None = None
    ) -> GrantSnapshot:
        self._note("add_grant", server, kind, tool, client, expires_in_s)
        return GrantSnapshot("g", kind, server, tool, client)

    async def remove_grant(self, id: str) -> None:
        self._note("remove_grant", id)

    async def set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        self._note("set_server_auto_approve", server, rules)

    async def get_tool_changes(self) -> list[ToolChange]:
        self._note("get_tool_changes")
        return list(self.tool_changes)

    async def accept_tool_change(self, server: str, tool: str) -> None:
        self._note("accept_tool_change", server, tool)

    async def get_feedback_requests(self) -> list[FeedbackSnapshot]:
        self._note("get_feedback_requests")
        return list(self.feedback)

    async def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        self._note("answer_feedback", id, text, attachments)
        self.end_feedback(id)

    async def dismiss_feedback(self, id: str) -> None:
        self._note("dismiss_feedback", id)
        self.end_feedback(id)

    async def get_feedback_history(self, project_path: str = "", limit: int = 50) -> list[FeedbackEntry]:
        self._note("get_feedback_history", project_path, limit)
        return list(self.feedback_history)

    async def get_ready_answers(self) -> list[str]:
        self._note("get_ready_answers")
        return list(self.ready_answers)

    async def set_ready_answers(self, answers: list[str]) -> None:
        self._note("set_ready_answers", answers)

    async def get_server_files(self) -> list[ServerFileSnapshot]:
        self._note("get_server_files")
        return list(self.files)

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        self._note("get_trust_requests", project)
        return [request for request in self.trust_requests if project in ("", request.project)]

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        self._note("trust_entries", project, dict(entries))
        self.trust_requests = [each for each in self.trust_requests if each.project != project or each.entry not in entries]
        self.bus.publish(ServerFilesChanged())
        return list(entries)

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        self._note("distrust_entries", project, entry)
        self.trusted = [each for each in self.trusted if each.project != project or entry not in ("", each.entry)]
        self.bus.publish(ServerFilesChanged())

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        self._note("get_trusted_entries")
        return list(self.trusted)

    async def preview_reload(self) -> list[ReloadChange]:
        self._note("preview_reload")
        return list(self.reload_changes)

    async def reload(self) -> list[ReloadChange]:
        self._note("reload")
        made, self.reload_changes = list(self.reload_changes), []
        self.bus.publish(ServerFilesChanged())
        return made

    async def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        self._note("set_api_enabled", enabled, trusted)
        is_trusted = self.http.is_api_trusted if trusted is None else trusted
        url = self.http.url.replace("/mcp", "/api/mcp") if enabled else ""
        self.http = replace(self.http, is_api_enabled=enabled, api_url=url, is_api_trusted=is_trusted)
        return self.http

    async def get_api_token(self) -> str:
        self._note("get_api_token")
        return self.api_token

    async def rotate_api_token(self) -> str:
        self._note("rotate_api_token")
        self.api_token += "-new"
        return self.api_token

    async def get_settings(self) -> SettingsDocument:
        self._note("get_settings")
        return SettingsDocument({}, "0")

    async def change_settings(self, changes: Mapping[str, Any], revision: str = "") -> SettingsDocument:
        self._note("change_settings", dict(changes), revision)
        return SettingsDocument(changes, "1")

    async def get_recent_calls(self, limit: int = 200) -> list[RecentCall]:
        self._note("get_recent_calls", limit)
        return []
